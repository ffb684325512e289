//! Small sensors whose every topic has a reader.
#[path = "../../test/support/sensor.rs"]
#[allow(dead_code, reason = "tests look at what was published")]
mod sensor;

use rfly_bridge::config::TransportMode;
use rfly_bridge::sensors::{Options, SensorSpec};
pub use sensor::Rig;

pub const WIDTH: u16 = 16;
pub const HEIGHT: u16 = 8;
/// The second other parameter: pixel step of a depth cloud, longest list.
pub const SECOND: f32 = 2.0;

pub fn open(spec: &SensorSpec, transport: TransportMode) -> Rig {
    let config =
        sensor::config(spec.kind.type_id(), WIDTH, HEIGHT, transport.number(), &[100.0, SECOND]);
    let rig = Rig::open(&config, Options::default());
    rig.recorder.count_only();
    rig
}
