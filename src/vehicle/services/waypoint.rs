//! Converts between ROS waypoints and MAVLink mission items.
use crate::wire::mavlink::raw::MissionItemInt;
use crate::{msgs::mavros_msgs::msg::Waypoint, session::mission_scale};

/// Converts an item as mavros does.
pub(super) fn to_ros(item: &MissionItemInt, is_current: bool) -> Waypoint {
    let scale = mission_scale(item.frame);
    let [param1, param2, param3, param4] = item.params;
    Waypoint {
        frame: item.frame,
        command: item.command,
        is_current,
        autocontinue: item.autocontinue != 0,
        param1,
        param2,
        param3,
        param4,
        x_lat: f64::from(item.x) / scale,
        y_long: f64::from(item.y) / scale,
        z_alt: item.z.into(),
    }
}

/// Converts a waypoint; rounds its coordinates. With `as_mavros` it truncates them, an error of up to a centimetre.
pub(super) fn to_mavlink(waypoint: &Waypoint, as_mavros: bool) -> MissionItemInt {
    let scale = mission_scale(waypoint.frame);
    let int = |value: f64| {
        let scaled = value * scale;
        let whole = if as_mavros { scaled } else { scaled.round() };
        // The cast saturates; NaN becomes 0.
        whole as i32
    };
    MissionItemInt {
        params: [waypoint.param1, waypoint.param2, waypoint.param3, waypoint.param4],
        x: int(waypoint.x_lat),
        y: int(waypoint.y_long),
        z: waypoint.z_alt as f32,
        command: waypoint.command,
        frame: waypoint.frame,
        current: waypoint.is_current.into(),
        autocontinue: waypoint.autocontinue.into(),
        ..MissionItemInt::default()
    }
}
