//! Configuration files for algorithms that read the bridge's topics: one module and one row of [`CONSUMERS`] each.
//!
//! Keys, types and conventions follow the consumer's source at the commit in its row; `docs/calib.md` names the file
//! that reads each key. Poses are from the frame tree, intrinsics from `camera_info`, so that files and topics agree.
mod camera;
mod fast_lio;
mod faster_lio;
mod imu;
mod kalibr;
mod lidar;
mod lio_sam;
mod nvblox;
mod openvins;
mod output;
mod px4ctrl;
mod rig;
mod rtabmap;
mod vins;
mod yaml;

pub use output::{BRIDGE_FILE, CalibOutput, Need, OutputFile};

use crate::node::{NodeError, Settings};
use crate::{config::Problems, ros::names::Resolver};
use rig::Rig;

/// A program that reads the files.
#[derive(Clone, Copy)]
pub struct Consumer {
    /// Value of `--for`.
    pub name: &'static str,
    /// Repository and commit of its source.
    pub source: &'static str,
    write: fn(&Rig<'_>, &mut CalibOutput) -> Result<(), Problems>,
}

/// All consumers.
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

/// The chosen vehicle and sensors; by default the first that fit.
#[derive(Clone, Debug, Default)]
pub struct SensorChoice {
    /// CopterID.
    pub vehicle: Option<u16>,
    /// SeqID.
    pub lidar: Option<u16>,
    /// SeqIDs of a camera, or of the left and the right one.
    pub cameras: Vec<u16>,
}

/// Generates the files of a consumer in memory, all or none.
///
/// # Errors
/// Lists what the consumer needs but the configuration lacks, and choices that do not exist.
pub fn files_for(
    consumer: &Consumer,
    settings: &Settings,
    names: &Resolver,
    choice: &SensorChoice,
) -> Result<CalibOutput, NodeError> {
    let rig = Rig::new(settings, names, choice)?;
    let mut output = CalibOutput::default();
    (consumer.write)(&rig, &mut output)?;
    rig.add_common_warnings(&mut output);
    Ok(output)
}
