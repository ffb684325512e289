//! `mount_control/orientation` and `mount_control/status`: the direction of a gimbal.
use super::topic::Topic;
use crate::frames::{Attitude, Euler, Frd};
use crate::msgs::geometry_msgs::msg::{Quaternion, Vector3, Vector3Stamped};
use crate::ros::RosError;
use crate::vehicle::{Counter, Fcu, Open};
use crate::wire::mavlink::raw::MountOrientation;

pub(super) struct Mount {
    orientation: Topic<Quaternion>,
    status: Topic<Vector3Stamped>,
}

impl Mount {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        Ok(Self {
            orientation: Topic::open(open, "mount_control/orientation", Quaternion::default())?,
            status: Topic::open(open, "mount_control/status", Vector3Stamped::default())?,
        })
    }

    /// Roll, pitch and yaw stay FRD, as in mavros.
    pub(super) fn orientation(
        &mut self,
        fcu: &mut Fcu,
        component: u8,
        m: &MountOrientation,
    ) -> Result<(), RosError> {
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
            // As in mavros: the gimbal's component id.
            message.header.frame_id = component.to_string();
            message.vector = Vector3 { x: roll, y: pitch, z: yaw };
        })
    }
}
