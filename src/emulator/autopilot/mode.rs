//! PX4's modes: names, numbers in HEARTBEAT, requirements.
use super::failsafe::FailsafeAction;
use crate::wire::mavlink::numbers::*;

/// Bits of `base_mode` besides armed.
const CUSTOM: u8 = MAV_MODE_FLAG_CUSTOM_MODE_ENABLED;
const STABILIZED: u8 = CUSTOM | MAV_MODE_FLAG_STABILIZE_ENABLED;
const RATES: u8 = CUSTOM | MAV_MODE_FLAG_MANUAL_INPUT_ENABLED;
const MANUAL: u8 = STABILIZED | RATES;
const AUTO: u8 = STABILIZED | MAV_MODE_FLAG_GUIDED_ENABLED | MAV_MODE_FLAG_AUTO_ENABLED;

/// The mode requires manual control.
const STICKS: u8 = 1;
/// The mode requires a position.
const POSITION: u8 = 2;
/// The vehicle cannot arm in this mode, nor keep it after a flight.
const NO_ARMING: u8 = 4;

/// A mode of PX4.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Sticks are thrust and attitude.
    Manual,
    /// Sticks are climb rate and attitude.
    Altitude,
    /// Sticks are velocities.
    Position,
    /// As `Position`, slower.
    PositionSlow,
    /// Sticks are body rates.
    Acro,
    /// Follows external setpoints.
    Offboard,
    /// Sticks are attitude and thrust.
    Stabilized,
    /// Climbs and hovers.
    Takeoff,
    /// Climbs and waits for a transition, which a multirotor never makes.
    VtolTakeoff,
    /// Hovers.
    #[default]
    Loiter,
    /// Flies the mission.
    Mission,
    /// Flies home and lands.
    Return,
    /// Lands in place.
    Land,
    /// Lands precisely.
    PrecisionLand,
    /// Follows a target.
    Follow,
    /// Flies a circle.
    Orbit,
    /// A mode of an external program, by number from 0.
    External(u8),
    /// Descends without a position: a failsafe.
    Descend,
    /// Motors stop permanently.
    Termination,
}

impl Mode {
    /// PX4's name, main and sub mode in `custom_mode`, bits of `base_mode`, requirements.
    fn row(self) -> (&'static str, (u8, u8), u8, u8) {
        match self {
            Self::Manual => ("Manual", (1, 0), MANUAL, STICKS),
            Self::Altitude => ("Altitude", (2, 0), MANUAL, STICKS),
            Self::Position => ("Position", (3, 0), MANUAL, STICKS | POSITION),
            Self::Orbit => ("Orbit", (3, 1), STABILIZED, POSITION),
            Self::PositionSlow => ("Position Slow", (3, 2), MANUAL, STICKS | POSITION),
            Self::Takeoff => ("Takeoff", (4, 2), AUTO, POSITION),
            Self::Loiter => ("Hold", (4, 3), AUTO, POSITION),
            Self::Mission => ("Mission", (4, 4), AUTO, POSITION),
            Self::Return => ("Return", (4, 5), AUTO, POSITION | NO_ARMING),
            Self::Land => ("Land", (4, 6), AUTO, POSITION | NO_ARMING),
            Self::Descend => ("Descend", (4, 6), AUTO, NO_ARMING),
            Self::Follow => ("Follow Target", (4, 8), STABILIZED, POSITION),
            Self::PrecisionLand => ("Precision Landing", (4, 9), AUTO, POSITION | NO_ARMING),
            Self::VtolTakeoff => ("VTOL Takeoff", (4, 10), AUTO, POSITION),
            Self::External(n) => ("External", (4, 11 + n), STABILIZED, POSITION),
            Self::Acro => ("Acro", (5, 0), RATES, STICKS),
            Self::Offboard => ("Offboard", (6, 0), CUSTOM, POSITION),
            Self::Stabilized => ("Stabilized", (7, 0), MANUAL, STICKS),
            Self::Termination => ("Termination", (10, 0), CUSTOM, NO_ARMING),
        }
    }

    /// The mode that carries out a failsafe action.
    pub(super) fn of(action: FailsafeAction) -> Option<Self> {
        match action {
            FailsafeAction::Nothing | FailsafeAction::Warn => None,
            FailsafeAction::Hold => Some(Self::Loiter),
            FailsafeAction::Return => Some(Self::Return),
            FailsafeAction::Land => Some(Self::Land),
            FailsafeAction::Terminate => Some(Self::Termination),
        }
    }

    /// PX4's name of the mode.
    pub fn title(self) -> &'static str {
        self.row().0
    }

    /// Main mode and sub mode, as in `custom_mode`.
    pub fn numbers(self) -> (u8, u8) {
        self.row().1
    }

    /// `custom_mode` of HEARTBEAT.
    pub fn custom(self) -> u32 {
        let (main, sub) = self.numbers();
        u32::from(sub) << 24 | u32::from(main) << 16
    }

    /// The bits of `base_mode` besides armed; `uses_attitude`: setpoints in OFFBOARD use the attitude controller.
    pub fn base(self, uses_attitude: bool) -> u8 {
        if self == Self::Offboard && uses_attitude { STABILIZED } else { self.row().2 }
    }

    pub(super) fn needs_sticks(self) -> bool {
        self.row().3 & STICKS != 0
    }

    pub(super) fn needs_position(self) -> bool {
        self.row().3 & POSITION != 0
    }

    /// Whether the vehicle can neither arm in this mode nor keep it after a flight.
    pub(super) fn prevents_arming(self) -> bool {
        self.row().3 & NO_ARMING != 0
    }
}
