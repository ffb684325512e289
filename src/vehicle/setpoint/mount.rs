//! `mount_control/command`: the direction of a gimbal, as MAV_CMD_DO_MOUNT_CONTROL.
use super::reject::{Checked, Reject};
use crate::msgs::mavros_msgs::msg::MountControl;
use crate::ros::RosError;
use crate::vehicle::{Fcu, Open};
use crate::wire::mavlink::raw::CommandLong;

const COMMAND: &str = "mount_control/command";
const DO_MOUNT_CONTROL: u16 = 205;

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    open.subscribe(COMMAND, |autopilot, message: MountControl| {
        let converted = convert(&autopilot.fcu, &message);
        autopilot.pass(COMMAND, converted.map(Checked::fine));
    })
}

/// Passes the numbers as mavros does: PX4 takes the angles in degrees. No retransmission: the topic is a stream.
fn convert(fcu: &Fcu, m: &MountControl) -> Result<CommandLong, Reject> {
    let [pitch, roll, yaw] = [m.pitch, m.roll, m.yaw];
    let params = [pitch, roll, yaw, m.altitude, m.latitude, m.longitude, f32::from(m.mode)];
    if params.iter().any(|value| !value.is_finite()) {
        return Err(Reject::NotFinite);
    }
    Ok(CommandLong {
        params,
        command: DO_MOUNT_CONTROL,
        target_system: fcu.system,
        target_component: fcu.component,
        confirmation: 0,
    })
}
