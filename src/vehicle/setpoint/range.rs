//! `distance_sensor/sonar_1_sub`, `distance_sensor/laser_1_sub`: range finders of the companion computer, as
//! DISTANCE_SENSOR. Names, ids and orientation are those of mavros' configuration for PX4.
use super::geometry::stamp_ms;
use super::reject::{Checked, Reject};
use crate::msgs::sensor_msgs::msg::Range;
use crate::ros::RosError;
use crate::vehicle::Open;
use crate::wire::mavlink::raw::DistanceSensor;

/// Topic, id, and the transmitted fraction of the field of view.
const INPUTS: [(&str, u8, f32); 2] =
    [("distance_sensor/sonar_1_sub", 2, 1.0), ("distance_sensor/laser_1_sub", 3, 0.0)];
/// MAV_SENSOR_ROTATION_PITCH_270: looks down.
const DOWN: u8 = 25;
/// MAV_DISTANCE_SENSOR_LASER and MAV_DISTANCE_SENSOR_ULTRASOUND.
const LASER: u8 = 0;
const ULTRASOUND: u8 = 1;
/// Unknown variance.
const UNKNOWN: u8 = u8::MAX;

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    for (topic, id, fov) in INPUTS {
        open.subscribe(topic, move |autopilot, message: Range| {
            let converted = convert(&message, id, fov);
            autopilot.pass(topic, converted.map(Checked::fine));
        })?;
    }
    Ok(())
}

fn convert(m: &Range, id: u8, fov: f32) -> Result<DistanceSensor, Reject> {
    let numbers = [m.min_range, m.max_range, m.field_of_view];
    // REP 117: -Inf is below the minimum, +Inf is no return, NaN is no measurement.
    if m.range.is_nan() || numbers.iter().any(|value| !value.is_finite()) {
        return Err(Reject::NotFinite);
    }
    let centimetres = |metres: f32| (metres * 100.0).round() as u16;
    let beyond = centimetres(m.max_range).saturating_add(1);
    Ok(DistanceSensor {
        time_boot_ms: stamp_ms(&m.header.stamp),
        min_distance: centimetres(m.min_range),
        max_distance: centimetres(m.max_range),
        current_distance: match m.range {
            f32::INFINITY => beyond,
            range => centimetres(range),
        },
        kind: if m.radiation_type == Range::ULTRASOUND { ULTRASOUND } else { LASER },
        id,
        orientation: DOWN,
        covariance: UNKNOWN,
        horizontal_fov: m.field_of_view * fov,
        vertical_fov: m.field_of_view * fov,
        quaternion: [0.0; 4],
        signal_quality: 0,
    })
}
