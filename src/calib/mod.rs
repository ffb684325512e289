//! Configuration files for algorithms that read the bridge's topics: one file and one row of [`CONSUMERS`] each.
//!
//! Names, types and conventions are those of the consumer's own source at the commit of its row; `docs/calib.md` names the
//! file that reads each key. Poses come from the frame tree, intrinsics from `camera_info`, so that a file says what the
//! topics say.
mod camera;
mod fast_lio;
mod faster_lio;
mod imu;
mod kalibr;
mod lidar;
mod lio_sam;
mod needs;
mod nvblox;
mod openvins;
mod output;
mod px4ctrl;
mod rig;
mod rtabmap;
mod vins;
mod yaml;

pub use needs::Need;
pub use output::{BRIDGE_FILE, File, Output};

use crate::config::{Problem, Problems};
use crate::node::{NodeError, Settings};
use crate::ros::names::Resolver;
use rig::Rig;

/// One row: who reads the files.
#[derive(Clone, Copy)]
pub struct Consumer {
    /// Word of `--for`.
    pub name: &'static str,
    /// Repository and commit that names, types and conventions were read from.
    pub source: &'static str,
    write: fn(&Rig<'_>, &mut Output) -> Result<(), Problems>,
}

/// Every consumer.
pub const CONSUMERS: [Consumer; 9] = [
    fast_lio::CONSUMER,
    faster_lio::CONSUMER,
    lio_sam::CONSUMER,
    vins::CONSUMER,
    openvins::CONSUMER,
    rtabmap::CONSUMER,
    nvblox::CONSUMER,
    kalibr::CONSUMER,
    px4ctrl::CONSUMER,
];

/// Which of the sensors; what is not chosen is the first that fits.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// CopterID.
    pub vehicle: Option<u16>,
    /// SeqID.
    pub lidar: Option<u16>,
    /// SeqIDs of a camera, or of the left and the right one.
    pub cameras: Vec<u16>,
}

/// Writes the files of a consumer, all or none.
///
/// # Errors
/// Everything that the consumer needs and that is not configured.
pub fn files_for(
    consumer: &Consumer,
    settings: &Settings,
    names: &Resolver,
    choice: &Choice,
) -> Result<Output, NodeError> {
    let rig = Rig::new(settings, names, choice)?;
    let mut output = Output::default();
    (consumer.write)(&rig, &mut output)?;
    rig.common(&mut output);
    Ok(output)
}

/// The value, or `None` and one problem more.
fn keep<T>(problems: &mut Problems, found: Result<T, Problem>) -> Option<T> {
    match found {
        Ok(value) => Some(value),
        Err(problem) => {
            problems.0.push(problem);
            None
        }
    }
}
