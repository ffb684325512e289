//! PX4's flight modes by mavros' names.
use crate::wire::mavlink::numbers::*;

/// Name, and main and sub mode in `custom_mode` (sub << 24 | main << 16).
#[rustfmt::skip] // a table
const MODES: &[(&str, u8, u8)] = &[
    ("MANUAL", 1, 0), ("ALTCTL", 2, 0), ("POSCTL", 3, 0), ("ORBIT", 3, 1), ("POSCTL.SLOW", 3, 2), ("ACRO", 5, 0),
    ("OFFBOARD", 6, 0), ("STABILIZED", 7, 0), ("RATTITUDE", 8, 0), ("SIMPLE", 9, 0), ("TERMINATION", 10, 0),
    ("AUTO.READY", 4, 1), ("AUTO.TAKEOFF", 4, 2), ("AUTO.LOITER", 4, 3), ("AUTO.MISSION", 4, 4), ("AUTO.RTL", 4, 5),
    ("AUTO.LAND", 4, 6), ("AUTO.RTGS", 4, 7), ("AUTO.FOLLOW_TARGET", 4, 8), ("AUTO.PRECLAND", 4, 9),
    ("AUTO.VTOL_TAKEOFF", 4, 10), ("EXTERNAL1", 4, 11), ("EXTERNAL2", 4, 12), ("EXTERNAL3", 4, 13),
    ("EXTERNAL4", 4, 14), ("EXTERNAL5", 4, 15), ("EXTERNAL6", 4, 16), ("EXTERNAL7", 4, 17), ("EXTERNAL8", 4, 18),
];
/// `custom_mode` of OFFBOARD.
pub(super) const OFFBOARD: u32 = 6 << 16;

/// Returns the name of a mode; formats an unknown number as mavros does.
pub fn name(base_mode: u8, custom_mode: u32, autopilot: u8) -> String {
    if base_mode & MAV_MODE_FLAG_CUSTOM_MODE_ENABLED == 0 {
        return format!("MODE(0x{base_mode:2X})");
    }
    if autopilot == MAV_AUTOPILOT_PX4 {
        let [low, high, main, sub] = custom_mode.to_le_bytes();
        let found = MODES.iter().find(|(_, m, s)| (*m, *s) == (main, sub));
        if let Some((name, ..)) = found.filter(|_| low == 0 && high == 0) {
            return (*name).to_owned();
        }
    }
    format!("CMODE({custom_mode})")
}

/// Returns the `custom_mode` of a name (case-insensitive) or of a number.
pub fn number(name: &str) -> Option<u32> {
    let upper = name.trim().to_ascii_uppercase();
    let found = MODES.iter().find(|(known, ..)| *known == upper);
    found.map(|(_, main, sub)| u32::from(*sub) << 24 | u32::from(*main) << 16).or_else(|| {
        match upper.strip_prefix("0X") {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => upper.parse().ok(),
        }
    })
}

/// All names, for error texts.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODES.iter().map(|(name, ..)| *name)
}
