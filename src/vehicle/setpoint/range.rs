//! `distance_sensor/sonar_1_sub`, `distance_sensor/laser_1_sub`: range finders of the companion computer, as
//! DISTANCE_SENSOR. Names, ids and orientation are those of mavros' configuration for PX4.
use super::{geometry::stamp_ms, reject::Reject, subscriptions::subscriptions};
use crate::wire::mavlink::numbers::*;
use crate::{msgs::sensor_msgs::msg::Range, wire::mavlink::raw::DistanceSensor};

/// Unknown variance.
const UNKNOWN: u8 = u8::MAX;

subscriptions! {
    Range("distance_sensor/sonar_1_sub", "DISTANCE_SENSOR 2, looking down")
        => |autopilot, topic, message| autopilot.pass(topic, convert(message, 2, 1.0));
    Range("distance_sensor/laser_1_sub", "DISTANCE_SENSOR 3, looking down")
        => |autopilot, topic, message| autopilot.pass(topic, convert(message, 3, 0.0));
}

/// `fov_scale` is the fraction of the field of view that is sent.
fn convert(m: &Range, id: u8, fov_scale: f32) -> Result<DistanceSensor, Reject> {
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
        kind: match m.radiation_type {
            Range::ULTRASOUND => MAV_DISTANCE_SENSOR_ULTRASOUND,
            _ => MAV_DISTANCE_SENSOR_LASER,
        },
        id,
        orientation: MAV_SENSOR_ROTATION_PITCH_270,
        covariance: UNKNOWN,
        horizontal_fov: m.field_of_view * fov_scale,
        vertical_fov: m.field_of_view * fov_scale,
        quaternion: [0.0; 4],
        signal_quality: 0,
    })
}
