//! `mount_control/orientation` and `mount_control/status`: the direction of a gimbal.
use super::{plugin::plugin, topic::RosResult};
use crate::frames::{Attitude, Euler, Frd};
use crate::msgs::geometry_msgs::msg::{Quaternion, Vector3, Vector3Stamped};
use crate::vehicle::{Counter, Fcu};
use crate::wire::mavlink::raw::MountOrientation;

plugin! { MountControlPlugin {
    publish {
        orientation: Quaternion("mount_control/orientation", Telemetry, "roll, pitch and yaw of the gimbal, FRD (MOUNT_ORIENTATION)");
        status: Vector3Stamped("mount_control/status", Telemetry, "the same as angles in rad; `frame_id` is the component id, as in mavros") in "";
    }
    receive { any raw::MountOrientation => orientation, }
} }

impl MountControlPlugin {
    /// Roll, pitch and yaw stay FRD, as in mavros.
    fn orientation(&mut self, fcu: &mut Fcu, component: u8, m: &MountOrientation) -> RosResult {
        let [roll, pitch, yaw] = [m.roll, m.pitch, m.yaw].map(|deg| f64::from(deg).to_radians());
        if ![roll, pitch, yaw].iter().all(|angle| angle.is_finite()) {
            fcu.count(Counter::MountWithoutAngles);
            return Ok(());
        }
        let attitude = Attitude::<Frd, Frd>::from_euler(Euler { roll, pitch, yaw });
        let [w, x, y, z] = attitude.wxyz();
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.orientation
            .publish_if_subscribed(stamp, |message| *message = Quaternion { x, y, z, w })?;
        self.status.publish_if_subscribed(stamp, |message| {
            message.header.frame_id = component.to_string();
            message.vector = Vector3 { x: roll, y: pitch, z: yaw };
        })
    }
}
