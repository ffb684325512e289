//! `distance_sensor/hrlv_ez4_pub`, `distance_sensor/lidarlite_pub`: the vehicle's range finders (DISTANCE_SENSOR), with
//! the names and ids of mavros' configuration for PX4.
use super::topic::Topic;
use crate::frames::{Attitude, Euler, Flu};
use crate::msgs::sensor_msgs::msg::Range;
use crate::ros::RosError;
use crate::vehicle::{BodyFrame, Counter, Fcu, Open, VehicleSettings};
use crate::wire::mavlink::raw::DistanceSensor;
use std::f64::consts::{FRAC_PI_2, PI};

/// Topic and frame; the index is the id.
const SENSORS: [(&str, &str); 2] = [
    ("distance_sensor/hrlv_ez4_pub", "hrlv_ez4_sonar"),
    ("distance_sensor/lidarlite_pub", "lidarlite_laser"),
];
const ULTRASOUND: u8 = 1;

pub(super) struct Ranges {
    topics: Vec<Topic<Range>>,
    /// Orientations published as frames.
    placed: [Option<u8>; SENSORS.len()],
}

impl Ranges {
    pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        let topic = |(name, frame): &(&'static str, &str)| {
            let mut message = Range::default();
            message.header.frame_id = below_base(settings, frame);
            Topic::open(open, name, message)
        };
        Ok(Self {
            topics: SENSORS.iter().map(topic).collect::<Result<_, _>>()?,
            placed: [None; SENSORS.len()],
        })
    }

    pub(super) fn distance(&mut self, fcu: &mut Fcu, m: &DistanceSensor) -> Result<(), RosError> {
        let id = usize::from(m.id);
        let (Some(topic), Some((_, frame))) = (self.topics.get_mut(id), SENSORS.get(id)) else {
            fcu.count(Counter::DistanceSensorId);
            return Ok(());
        };
        let Some(attitude) = attitude(m.orientation) else {
            fcu.count(Counter::DistanceSensorOrientation);
            return Ok(());
        };
        if self.placed[id] != Some(m.orientation) {
            self.placed[id] = Some(m.orientation);
            let name = below_base(&fcu.settings, frame);
            fcu.body_frames.push(BodyFrame { name, attitude });
        }
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        let metres = |centimetres: u16| f32::from(centimetres) / 100.0;
        topic.publish_if_subscribed(stamp, |range| {
            range.radiation_type = match m.kind {
                ULTRASOUND => Range::ULTRASOUND,
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
fn below_base(settings: &VehicleSettings, name: &str) -> String {
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
