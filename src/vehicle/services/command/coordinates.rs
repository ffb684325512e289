//! Coordinates in commands: latitude and longitude 0 mean "here", as in mavros' own examples and in the UDP modes.
//!
//! PX4 expects NaN for "here"; with zeros it flies to 0, 0.
use crate::vehicle::Fcu;
use crate::wire::mavlink::numbers::*;

/// Commands with latitude and longitude.
#[rustfmt::skip] // a table
const WITH_COORDINATES: [u16; 5] = [
    MAV_CMD_NAV_LAND, MAV_CMD_NAV_TAKEOFF, MAV_CMD_NAV_VTOL_TAKEOFF, MAV_CMD_NAV_VTOL_LAND, MAV_CMD_DO_REPOSITION,
];
/// Commands with an altitude to which PX4 flies.
const WITH_ALTITUDE: [u16; 3] =
    [MAV_CMD_NAV_TAKEOFF, MAV_CMD_NAV_VTOL_TAKEOFF, MAV_CMD_DO_REPOSITION];
/// The value that MAVLink and PX4 read as NaN in `x` and `y` of a COMMAND_INT. PX4 denies 0x7ff80000, the upper half of a NaN.
pub(super) const UNSET: i32 = i32::MAX;
/// Frames whose altitude is above sea level.
const ABOVE_SEA: [u8; 2] = [MAV_FRAME_GLOBAL, MAV_FRAME_GLOBAL_INT];

/// Returns the latitude and longitude to send; for PX4 `unset` replaces zeros, which mean "here".
pub(super) fn here<T: Default + PartialEq + Copy>(
    fcu: &Fcu,
    command: u16,
    coordinates: [T; 2],
    unset: T,
) -> [T; 2] {
    let means_here = coordinates == [T::default(); 2] && WITH_COORDINATES.contains(&command);
    if means_here && flies_px4(fcu) { [unset; 2] } else { coordinates }
}

/// Why a COMMAND_INT is not sent: PX4 reads its altitude as above sea level in every frame. Landings are sent in every frame,
/// because PX4 ignores their altitude.
pub(super) fn misread_frame(fcu: &Fcu, command: u16, frame: u8) -> Option<String> {
    let is_misread = WITH_ALTITUDE.contains(&command) && !ABOVE_SEA.contains(&frame);
    (is_misread && fcu.settings.px4_checks && flies_px4(fcu)).then(|| {
        format!(
            "frame {frame}: PX4 reads z as the altitude above sea level in every frame; send that altitude, with frame 5 \
             (MAV_FRAME_GLOBAL_INT)"
        )
    })
}

/// Whether PX4 itself gets the commands, as far as is known, and mavros' errors are not reproduced.
pub(super) fn flies_px4(fcu: &Fcu) -> bool {
    fcu.may_be_px4() && fcu.abilities().acks && !fcu.settings.quirks
}
