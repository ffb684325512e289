//! Mission items: their meaning for this vehicle, and which of them PX4 accepts.
use super::geo::Geo;
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::MavMissionResult;
use crate::wire::mavlink::raw::{MissionItem, MissionItemInt};

/// MAV_CMD.
pub(super) const WAYPOINT: u16 = 16;
pub(super) const LOITER: u16 = 17;
pub(super) const LOITER_TIME: u16 = 19;
pub(super) const RETURN: u16 = 20;
pub(super) const LAND: u16 = 21;
pub(super) const TAKEOFF: u16 = 22;
pub(super) const DELAY: u16 = 93;
pub(super) const JUMP: u16 = 177;
pub(super) const CHANGE_SPEED: u16 = 178;
/// Items that PX4 accepts and this vehicle ignores: camera, gimbal, gripper, conditions, home.
const IGNORED: [u16; 17] =
    [112, 115, 179, 187, 189, 195, 197, 201, 203, 205, 206, 211, 530, 1000, 2000, 2001, 2500];
/// Geofence and rally items.
const OTHER_LISTS: std::ops::RangeInclusive<u16> = 5000..=5100;

/// Goal of the current item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Position in m, NED from the map centre.
    pub position: Vec3,
    /// Yaw in rad; NaN: along the way.
    pub yaw: f64,
    /// Acceptance radius in m.
    pub radius: f64,
    /// Speed in m/s, if an item changed it.
    pub speed: Option<f64>,
    /// Ends on the ground.
    pub land: bool,
    /// Begins on the ground.
    pub takeoff: bool,
}

impl Leg {
    /// Reads an item; heights over home are relative to `home` in m, NED from the map centre.
    pub(super) fn of(item: &MissionItemInt, geo: Geo, home: &Vec3, speed: Option<f64>) -> Self {
        let altitude = f64::from(item.z);
        let above = if item.frame == 6 { geo.to_degrees(home)[2] } else { 0.0 };
        let [latitude, longitude] = [item.x, item.y].map(|v| f64::from(v) * 1e-7);
        let radius = f64::from(item.params[1]);
        Self {
            position: geo.to_ned([latitude, longitude, altitude + above]),
            yaw: f64::from(item.params[3]).to_radians(),
            radius: if radius > 0.05 { radius } else { 2.0 },
            speed,
            land: item.command == LAND,
            takeoff: item.command == TAKEOFF,
        }
    }
}

/// Whether the item moves the vehicle.
pub(super) fn moves(command: u16) -> bool {
    matches!(command, WAYPOINT | LOITER | LOITER_TIME | LAND | TAKEOFF)
}

/// Why PX4 rejects an item.
pub(super) fn refusal(item: &MissionItemInt) -> Option<MavMissionResult> {
    let known = moves(item.command)
        || matches!(item.command, RETURN | DELAY | JUMP | CHANGE_SPEED)
        || IGNORED.contains(&item.command)
        || OTHER_LISTS.contains(&item.command);
    if !known {
        return Some(MavMissionResult::MAV_MISSION_UNSUPPORTED);
    }
    let placed = matches!(item.frame, 0 | 3 | 5 | 6);
    if !placed && (item.frame != 2 || moves(item.command)) {
        return Some(MavMissionResult::MAV_MISSION_UNSUPPORTED_FRAME);
    }
    None
}

/// The form that PX4 stores: integer coordinates, and the matching frames.
pub(super) fn kept(item: MissionItemInt, list: u8) -> MissionItemInt {
    /// Fence items have no heights.
    const FENCE: u8 = 1;
    let frame = match item.frame {
        0 => 5,
        3 | 6 if list == FENCE => 5,
        3 => 6,
        frame => frame,
    };
    let autocontinue = if list == FENCE { 0 } else { item.autocontinue };
    MissionItemInt { frame, autocontinue, ..item }
}

/// MISSION_ITEM as MISSION_ITEM_INT.
pub(super) fn exact(item: &MissionItem) -> MissionItemInt {
    let scale = |v: f32| (f64::from(v) * 1e7).round() as i32;
    MissionItemInt {
        params: item.params,
        x: scale(item.x),
        y: scale(item.y),
        z: item.z,
        seq: item.seq,
        command: item.command,
        target_system: item.target_system,
        target_component: item.target_component,
        frame: item.frame,
        current: item.current,
        autocontinue: item.autocontinue,
        mission_type: item.mission_type,
    }
}

/// MISSION_ITEM_INT as MISSION_ITEM.
pub(super) fn rounded(item: &MissionItemInt) -> MissionItem {
    let scale = |v: i32| (f64::from(v) * 1e-7) as f32;
    let frame = match item.frame {
        5 => 0,
        6 => 3,
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
