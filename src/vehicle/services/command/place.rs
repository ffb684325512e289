//! Places in commands: latitude and longitude 0 mean "here", as in the requests of mavros's own examples and in the UDP modes.
//!
//! PX4 takes NaN for that. It flies to 0, 0 otherwise.
use super::goal::PX4;
use crate::vehicle::Fcu;

/// MAV_CMD_NAV_LAND, NAV_TAKEOFF, NAV_VTOL_TAKEOFF, NAV_VTOL_LAND, DO_REPOSITION.
const WITH_PLACE: [u16; 5] = [21, 22, 84, 85, 192];
/// Those of them that PX4 flies to the altitude of.
const FLIES_TO: [u16; 3] = [22, 84, 192];
/// What MAVLink and PX4 read as NaN in `x` and `y` of a COMMAND_INT. PX4 denies 0x7ff80000, the upper half of a NaN.
const UNSET: i32 = i32::MAX;
/// MAV_FRAME_GLOBAL, MAV_FRAME_GLOBAL_INT.
const ABOVE_SEA: [u8; 2] = [0, 5];

/// Whether the vehicle flies to the place in this command.
pub(super) fn has_place(command: u16) -> bool {
    WITH_PLACE.contains(&command)
}

/// The place for PX4.
pub(super) fn here(fcu: &Fcu, place: [f32; 2]) -> [f32; 2] {
    match place == [0.0; 2] && flies_px4(fcu) {
        true => [f32::NAN; 2],
        false => place,
    }
}

/// The same for COMMAND_INT.
pub(super) fn here_int(fcu: &Fcu, place: [i32; 2]) -> [i32; 2] {
    match place == [0; 2] && flies_px4(fcu) {
        true => [UNSET; 2],
        false => place,
    }
}

/// Why a COMMAND_INT is not sent: PX4 takes its altitude as above sea level in every frame. A landing is sent in any: PX4 lands
/// where it is.
pub(super) fn misread_frame(fcu: &Fcu, command: u16, frame: u8) -> Option<String> {
    let misread = FLIES_TO.contains(&command) && !ABOVE_SEA.contains(&frame);
    (misread && fcu.settings.px4_checks && flies_px4(fcu)).then(|| {
        format!(
            "frame {frame}: PX4 takes z as the altitude above sea level whatever the frame says; send that, with frame 5 \
             (MAV_FRAME_GLOBAL_INT)"
        )
    })
}

/// Whether the receiver is PX4, as far as is known, and mavros is not imitated.
pub(super) fn flies_px4(fcu: &Fcu) -> bool {
    let px4 = fcu.heartbeat.is_none_or(|h| h.autopilot == PX4);
    px4 && fcu.abilities().acks && !fcu.settings.quirks
}
