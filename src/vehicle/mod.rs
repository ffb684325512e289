//! Telemetry, setpoints and services of a vehicle in mavros' style, and its true state.
//!
//! Internally everything is MAVLink; other links ([`Link`]) translate. [`Autopilot`] handles one datagram or ROS message
//! per call and receives the time with it; it reads no clock and opens no socket.
mod autopilot;
mod counter;
mod fcu;
mod ground_truth;
mod heartbeat_sender;
pub mod link;
mod link_warnings;
pub mod mode;
mod open;
mod preflight;
mod readiness;
mod reasons;
mod service_table;
mod services;
mod setpoint;
mod settings;
mod stamp;
mod state;
mod telemetry;
mod throttle;
mod topics;

pub use crate::config::params::SetpointFrame;
pub use autopilot::Autopilot;
pub use counter::{Counter, CounterKind};
pub use fcu::{BodyFrame, Estimate, Fcu, Now, Orientation};
pub use ground_truth::{
    Crashes, GPS_TOPIC, GpsReceiver, GroundTruth, PATH_LENGTH, PATH_PERIOD, PATH_STEP_M,
    TRUTH_TOPICS, Trail, TruthPublishers, TruthTopic, accel_stamped, motor_speeds, nav_sat_fix,
    noisy_fix, odometry, pose_stamped, twist_stamped,
};
pub use link::{
    Abilities, Link, MavlinkLink, SendError, Sink, UdpFullLink, UdpSimpleLink, UdpUltraSimpleLink,
};
pub use open::{Clock, Handle, Open, VehicleInterface, VehicleNames};
pub use settings::VehicleSettings;
pub use stamp::{Stamp, StampOrder};
pub use topics::{SERVICES, TOPICS};
