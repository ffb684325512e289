//! `setpoint_raw/*`.
use crate::frames::{Enu, Flu, Frd, Ned, Vector};
use crate::msgs::geometry_msgs::msg::{Point, Vector3};
use crate::msgs::mavros_msgs::msg::PositionTarget;
use crate::vehicle::Autopilot;
use crate::wire::mavlink::MavMessage;
use crate::wire::mavlink::dialect::{
    MavFrame, PositionTargetTypemask, SET_POSITION_TARGET_LOCAL_NED_DATA,
};
use std::f32::consts::FRAC_PI_2;

/// Takes `setpoint_raw/local`.
#[expect(
    deprecated,
    reason = "the frame that PX4 takes has the number of this name"
)]
pub(in crate::vehicle) fn local(autopilot: &mut Autopilot, message: PositionTarget) {
    let fcu = &mut autopilot.fcu;
    let (frame, body) = match message.coordinate_frame {
        1 => (MavFrame::MAV_FRAME_LOCAL_NED, false),
        8 => (MavFrame::MAV_FRAME_BODY_NED, true),
        _ => return fcu.count("setpoint_refused"),
    };
    let vector = |x: f64, y: f64, z: f64| -> [f32; 3] {
        let out = if body {
            Vector::<Frd>::from(Vector::<Flu>::new(x, y, z)).to_array()
        } else {
            Vector::<Ned>::from(Vector::<Enu>::new(x, y, z)).to_array()
        };
        out.map(|v| v as f32)
    };
    let Point { x, y, z } = message.position;
    let position = vector(x, y, z);
    let Vector3 { x, y, z } = message.velocity;
    let velocity = vector(x, y, z);
    let Vector3 { x, y, z } = message.acceleration_or_force;
    let acceleration = vector(x, y, z);
    let stamp = message.header.stamp;
    let sent = fcu.send(MavMessage::SET_POSITION_TARGET_LOCAL_NED(
        SET_POSITION_TARGET_LOCAL_NED_DATA {
            time_boot_ms: (stamp.sec as u32)
                .wrapping_mul(1000)
                .wrapping_add(stamp.nanosec / 1_000_000),
            x: position[0],
            y: position[1],
            z: position[2],
            vx: velocity[0],
            vy: velocity[1],
            vz: velocity[2],
            afx: acceleration[0],
            afy: acceleration[1],
            afz: acceleration[2],
            yaw: if body {
                -message.yaw
            } else {
                FRAC_PI_2 - message.yaw
            },
            yaw_rate: -message.yaw_rate,
            type_mask: PositionTargetTypemask::from_bits_retain(message.type_mask),
            target_system: fcu.system,
            target_component: fcu.component,
            coordinate_frame: frame,
        },
    ));
    // A failure is in the counters.
    let _counted = sent;
}
