//! Mission items: their meaning for this vehicle, and which of them PX4 accepts.
use super::geo::Geo;
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::MavMissionResult;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{MissionItem, MissionItemInt};

/// Items with a goal.
#[rustfmt::skip] // a table
const MOTIONS: [u16; 5] = [
    MAV_CMD_NAV_WAYPOINT, MAV_CMD_NAV_LOITER_UNLIM, MAV_CMD_NAV_LOITER_TIME, MAV_CMD_NAV_LAND, MAV_CMD_NAV_TAKEOFF,
];
/// Items that change the sequence or the speed of the mission.
#[rustfmt::skip] // a table
const CONTROLS: [u16; 4] =
    [MAV_CMD_NAV_RETURN_TO_LAUNCH, MAV_CMD_NAV_DELAY, MAV_CMD_DO_JUMP, MAV_CMD_DO_CHANGE_SPEED];
#[rustfmt::skip] // a table
const GLOBAL_FRAMES: [u8; 4] = [
    MAV_FRAME_GLOBAL, MAV_FRAME_GLOBAL_RELATIVE_ALT, MAV_FRAME_GLOBAL_INT, MAV_FRAME_GLOBAL_RELATIVE_ALT_INT,
];
/// Items that PX4 accepts and this vehicle ignores: camera, gimbal, gripper, conditions, home.
#[rustfmt::skip] // a table
const IGNORED: [u16; 17] = [
    MAV_CMD_CONDITION_DELAY, MAV_CMD_CONDITION_YAW, MAV_CMD_DO_SET_HOME, MAV_CMD_DO_SET_ACTUATOR, MAV_CMD_DO_LAND_START,
    MAV_CMD_DO_SET_ROI_LOCATION, MAV_CMD_DO_SET_ROI_NONE, MAV_CMD_DO_SET_ROI, MAV_CMD_DO_DIGICAM_CONTROL,
    MAV_CMD_DO_MOUNT_CONTROL, MAV_CMD_DO_SET_CAM_TRIGG_DIST, MAV_CMD_DO_GRIPPER, MAV_CMD_SET_CAMERA_MODE,
    MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW, MAV_CMD_IMAGE_START_CAPTURE, MAV_CMD_IMAGE_STOP_CAPTURE,
    MAV_CMD_VIDEO_START_CAPTURE,
];
/// Geofence and rally items.
const OTHER_LISTS: std::ops::RangeInclusive<u16> = 5000..=5100;

/// Goal of the current item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leg {
    /// Position in m, NED from the map centre.
    pub(super) position: Vec3,
    /// Yaw in rad; NaN: towards the position.
    pub(super) yaw: f64,
    /// Acceptance radius in m.
    pub(super) radius: f64,
    /// Speed in m/s, if an item or a command changed it.
    pub(super) speed: Option<f64>,
    /// Whether it ends on the ground.
    pub(super) is_landing: bool,
    /// Whether it begins on the ground.
    pub(super) is_takeoff: bool,
}

impl Leg {
    /// Reads an item; relative altitudes are above `home`, which is in m, NED from the map centre.
    pub(super) fn of(item: &MissionItemInt, geo: Geo, home: &Vec3, speed: Option<f64>) -> Self {
        let altitude = f64::from(item.z);
        let reference = if item.frame == MAV_FRAME_GLOBAL_RELATIVE_ALT_INT {
            geo.to_degrees(home)[2]
        } else {
            0.0
        };
        let [latitude, longitude] = [item.x, item.y].map(|v| f64::from(v) * 1e-7);
        let radius = f64::from(item.params[1]);
        Self {
            position: geo.to_ned([latitude, longitude, altitude + reference]),
            yaw: f64::from(item.params[3]).to_radians(),
            radius: if radius > 0.05 { radius } else { 2.0 },
            speed,
            is_landing: item.command == MAV_CMD_NAV_LAND,
            is_takeoff: item.command == MAV_CMD_NAV_TAKEOFF,
        }
    }
}

pub(super) fn is_motion(command: u16) -> bool {
    MOTIONS.contains(&command)
}

/// Returns why PX4 rejects an item, if it does.
pub(super) fn refusal(item: &MissionItemInt) -> Option<MavMissionResult> {
    let is_known =
        [&MOTIONS[..], &CONTROLS, &IGNORED].iter().any(|known| known.contains(&item.command))
            || OTHER_LISTS.contains(&item.command);
    let is_global = GLOBAL_FRAMES.contains(&item.frame);
    if !is_known {
        Some(MavMissionResult::MAV_MISSION_UNSUPPORTED)
    } else if !is_global && (item.frame != MAV_FRAME_MISSION || is_motion(item.command)) {
        Some(MavMissionResult::MAV_MISSION_UNSUPPORTED_FRAME)
    } else {
        None
    }
}

/// Gives an item the frame that PX4 stores, that of integer coordinates. Fence items lose relative altitude and autocontinue.
pub(super) fn to_stored(item: MissionItemInt, list: u8) -> MissionItemInt {
    let is_fence = list == MAV_MISSION_TYPE_FENCE;
    let frame = match item.frame {
        MAV_FRAME_GLOBAL => MAV_FRAME_GLOBAL_INT,
        MAV_FRAME_GLOBAL_RELATIVE_ALT | MAV_FRAME_GLOBAL_RELATIVE_ALT_INT if is_fence => {
            MAV_FRAME_GLOBAL_INT
        }
        MAV_FRAME_GLOBAL_RELATIVE_ALT => MAV_FRAME_GLOBAL_RELATIVE_ALT_INT,
        frame => frame,
    };
    let autocontinue = if is_fence { 0 } else { item.autocontinue };
    MissionItemInt { frame, autocontinue, ..item }
}

pub(super) fn to_int(item: &MissionItem) -> MissionItemInt {
    let scale = |v: f32| (f64::from(v) * 1e7).round() as i32;
    item.to_int(scale(item.x), scale(item.y))
}

pub(super) fn to_float(item: &MissionItemInt) -> MissionItem {
    let scale = |v: i32| (f64::from(v) * 1e-7) as f32;
    let frame = match item.frame {
        MAV_FRAME_GLOBAL_INT => MAV_FRAME_GLOBAL,
        MAV_FRAME_GLOBAL_RELATIVE_ALT_INT => MAV_FRAME_GLOBAL_RELATIVE_ALT,
        frame => frame,
    };
    MissionItem {
        params: item.params,
        x: scale(item.x),
        y: scale(item.y),
        z: item.z,
        seq: item.seq,
        command: item.command,
        target_system: item.target_system,
        target_component: item.target_component,
        frame,
        current: item.current,
        autocontinue: item.autocontinue,
        mission_type: item.mission_type,
    }
}
