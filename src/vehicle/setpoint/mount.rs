//! `mount_control/command`: the direction of a gimbal, as MAV_CMD_DO_MOUNT_CONTROL.
use super::{reject::Reject, subscriptions::subscriptions};
use crate::msgs::mavros_msgs::msg::MountControl;
use crate::vehicle::Fcu;
use crate::wire::mavlink::numbers::MAV_CMD_DO_MOUNT_CONTROL;
use crate::wire::mavlink::raw::CommandLong;

subscriptions! {
    MountControl("mount_control/command", "MAV_CMD_DO_MOUNT_CONTROL")
        => |autopilot, topic, message| autopilot.pass(topic, convert(&autopilot.fcu, message));
}

/// Passes the numbers unchanged, as mavros does: PX4 expects angles in degrees. No retransmission: the topic is a stream.
fn convert(fcu: &Fcu, m: &MountControl) -> Result<CommandLong, Reject> {
    let [pitch, roll, yaw] = [m.pitch, m.roll, m.yaw];
    let params = [pitch, roll, yaw, m.altitude, m.latitude, m.longitude, f32::from(m.mode)];
    if params.iter().any(|value| !value.is_finite()) {
        return Err(Reject::NotFinite);
    }
    Ok(fcu.command(MAV_CMD_DO_MOUNT_CONTROL, 0, params))
}
