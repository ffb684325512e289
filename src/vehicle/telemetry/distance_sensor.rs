//! `distance_sensor/hrlv_ez4_pub`, `distance_sensor/lidarlite_pub`: the vehicle's range finders (DISTANCE_SENSOR), with
//! the names and ids of mavros' configuration for PX4.
use super::{plugin::plugin, topic::RosResult};
use crate::frames::{Attitude, Euler, Flu};
use crate::msgs::sensor_msgs::msg::Range;
use crate::vehicle::{BodyFrame, Counter, Fcu, VehicleSettings};
use crate::wire::mavlink::numbers::MAV_DISTANCE_SENSOR_ULTRASOUND;
use crate::wire::mavlink::raw::DistanceSensor;
use std::f64::consts::{FRAC_PI_2, PI};

/// Frames; the index is the id.
const FRAMES: [&str; 2] = ["hrlv_ez4_sonar", "lidarlite_laser"];

plugin! { DistanceSensorPlugin(settings) {
    publish {
        hrlv_ez4: Range("distance_sensor/hrlv_ez4_pub", Telemetry, "range finder 0 of the vehicle (DISTANCE_SENSOR)") in vehicle_frame(settings, FRAMES[0]);
        lidarlite: Range("distance_sensor/lidarlite_pub", Telemetry, "range finder 1 of the vehicle (DISTANCE_SENSOR)") in vehicle_frame(settings, FRAMES[1]);
    }
    state {
        /// MAV_SENSOR_ORIENTATION of each published frame.
        orientations: [Option<u8>; FRAMES.len()];
    }
    receive { any raw::DistanceSensor => distance_sensor, }
} }

impl DistanceSensorPlugin {
    fn distance_sensor(&mut self, fcu: &mut Fcu, _component: u8, m: &DistanceSensor) -> RosResult {
        let id = usize::from(m.id);
        let topic = match id {
            0 => &mut self.hrlv_ez4,
            1 => &mut self.lidarlite,
            _ => {
                fcu.count(Counter::DistanceSensorId);
                return Ok(());
            }
        };
        let Some(attitude) = attitude(m.orientation) else {
            fcu.count(Counter::DistanceSensorOrientation);
            return Ok(());
        };
        if self.orientations[id] != Some(m.orientation) {
            self.orientations[id] = Some(m.orientation);
            let name = vehicle_frame(&fcu.settings, FRAMES[id]);
            fcu.body_frames.push(BodyFrame { name, attitude });
        }
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let metres = |centimetres: u16| f32::from(centimetres) / 100.0;
        topic.publish_if_subscribed(stamp, |range| {
            range.radiation_type = match m.kind {
                MAV_DISTANCE_SENSOR_ULTRASOUND => Range::ULTRASOUND,
                _ => Range::INFRARED,
            };
            range.field_of_view = m.horizontal_fov;
            (range.min_range, range.max_range) = (metres(m.min_distance), metres(m.max_distance));
            // REP 117.
            range.range = match m.current_distance {
                near if near < m.min_distance => f32::NEG_INFINITY,
                far if far > m.max_distance => f32::INFINITY,
                measured => metres(measured),
            };
        })
    }
}

/// The name of a vehicle's frame, with the prefix of its body frame.
fn vehicle_frame(settings: &VehicleSettings, name: &str) -> String {
    match settings.base_link.rsplit_once('/') {
        Some((prefix, _)) => format!("{prefix}/{name}"),
        None => name.to_owned(),
    }
}

/// Attitude for a MAV_SENSOR_ORIENTATION: x of the frame is the direction of measurement.
fn attitude(orientation: u8) -> Option<Attitude<Flu, Flu>> {
    // MAVLink's angles are in FRD: yaw to the right, pitch nose up.
    let (pitch_up, yaw_right) = match orientation {
        0 => (0.0, 0.0),
        2 => (0.0, FRAC_PI_2),
        4 | 12 => (0.0, PI),
        6 => (0.0, -FRAC_PI_2),
        24 => (FRAC_PI_2, 0.0),
        25 => (-FRAC_PI_2, 0.0),
        _ => return None,
    };
    Some(Attitude::from_euler(Euler { roll: 0.0, pitch: -pitch_up, yaw: -yaw_right }))
}
