//! Coordinate frames as types, after REP 103 and REP 105.
//!
//! The simulator uses NED (world) and FRD (body), ROS uses ENU and FLU, and a camera image has its optical frame.
//! [`Vector`] and [`Attitude`] carry their frame as a type, so a forgotten conversion does not compile.
//! Conversions between frames that differ by a constant rotation are [`From`] impls; those of vectors between ENU, NWU and
//! NED, and between FLU, FRD and Optical, only permute and negate, so a round trip is bit-exact.
//!
//! [`FrameTree`] holds every named frame below `map`, its parent, and whether the edge is static, moving or another node's.
//!
//! ```
//! use rfly_bridge::frames::{Attitude, Enu, Euler, Flu, Frd, Ned, Vector};
//! let north_up = Vector::<Ned>::new(2.0, 0.0, -5.0);
//! assert_eq!(Vector::<Enu>::from(north_up), Vector::new(0.0, 2.0, 5.0));
//! let facing_north = Attitude::<Frd, Ned>::from_euler(Euler::default());
//! let yaw = Attitude::<Flu, Enu>::from(facing_north).euler().yaw;
//! assert!((yaw - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
//! ```
mod attitude;
mod covariance;
mod geodetic;
mod mount;
mod transform;
mod tree;
mod vector;
mod world;

pub use attitude::{Attitude, Euler, raw_enu_ned};
pub use covariance::{Covariance, Covariance3, Covariance6};
pub use geodetic::{Geodetic, Geoid, Separation};
pub use mount::{Mount, MountOrientation, MountReference, mount_transform, pose_in_mount};
pub use transform::Transform;
pub use tree::{
    FrameError, FrameNames, FrameTree, MissingPath, SensorFrames, SensorMount, VehiclePose,
};
pub use vector::{CoordinateFrame, Ecef, Enu, Flu, Frd, Ned, Nwu, Optical, Vector};
pub use world::WorldConvention;
