//! PX4's modes: their numbers in HEARTBEAT, their requirements, and rules of arming, disarming and failsafe.
use super::failsafe::{Actions, Breach, Charge, Failsafe, Reaction};
use super::outbox::{CRITICAL, INFO, Texts};

/// MAV_RESULT.
pub const ACCEPTED: u8 = 0;
/// MAV_RESULT.
pub const REJECTED: u8 = 1;

/// A mode of PX4.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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
    /// Hovers; shown as hold.
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
    /// Sinks without a position: a failsafe.
    Descend,
    /// Motors stop permanently.
    Termination,
}

impl Mode {
    /// The mode that carries out a reaction.
    fn of(reaction: Reaction) -> Option<Self> {
        match reaction {
            Reaction::Nothing | Reaction::Warn => None,
            Reaction::Hold => Some(Self::Loiter),
            Reaction::Return => Some(Self::Return),
            Reaction::Land => Some(Self::Land),
            Reaction::Terminate => Some(Self::Termination),
        }
    }

    /// Main mode and sub mode, as in `custom_mode`.
    pub fn numbers(self) -> (u8, u8) {
        match self {
            Self::Manual => (1, 0),
            Self::Altitude => (2, 0),
            Self::Position => (3, 0),
            Self::Orbit => (3, 1),
            Self::PositionSlow => (3, 2),
            Self::Takeoff => (4, 2),
            Self::Loiter => (4, 3),
            Self::Mission => (4, 4),
            Self::Return => (4, 5),
            Self::Land | Self::Descend => (4, 6),
            Self::Follow => (4, 8),
            Self::PrecisionLand => (4, 9),
            Self::VtolTakeoff => (4, 10),
            Self::External(n) => (4, 11 + n),
            Self::Acro => (5, 0),
            Self::Offboard => (6, 0),
            Self::Stabilized => (7, 0),
            Self::Termination => (10, 0),
        }
    }

    /// `custom_mode` of HEARTBEAT.
    pub fn custom(self) -> u32 {
        let (main, sub) = self.numbers();
        u32::from(sub) << 24 | u32::from(main) << 16
    }

    /// The bits of `base_mode` besides armed; `attitude`: setpoints in OFFBOARD use the attitude
    /// controller.
    pub fn base(self, attitude: bool) -> u8 {
        match self {
            Self::Manual
            | Self::Altitude
            | Self::Position
            | Self::PositionSlow
            | Self::Stabilized => 0x51,
            Self::Acro => 0x41,
            Self::Offboard if attitude => 0x11,
            Self::Offboard | Self::Termination => 0x01,
            Self::Follow | Self::Orbit | Self::External(_) => 0x11,
            _ => 0x1d,
        }
    }

    fn needs_sticks(self) -> bool {
        matches!(
            self,
            Self::Manual
                | Self::Altitude
                | Self::Position
                | Self::PositionSlow
                | Self::Acro
                | Self::Stabilized
        )
    }

    /// Whether the vehicle can neither arm in this mode nor keep it after a flight.
    fn prevents_arming(self) -> bool {
        matches!(
            self,
            Self::Return | Self::Land | Self::PrecisionLand | Self::Descend | Self::Termination
        )
    }

    /// Whether the mode needs a position.
    fn needs_position(self) -> bool {
        !matches!(
            self,
            Self::Manual
                | Self::Altitude
                | Self::Acro
                | Self::Stabilized
                | Self::Descend
                | Self::Termination
        )
    }
}

/// EXTENDED_SYS_STATE's `landed_state`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Landed {
    /// On the ground.
    Ground = 1,
    /// In the air.
    Air = 2,
    /// Taking off.
    Takeoff = 3,
    /// Landing.
    Landing = 4,
}

/// Inputs of the state machine at each step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Time of the last valid setpoint in s.
    pub setpoint: Option<f64>,
    /// Sticks are in use.
    pub sticks: bool,
    /// The position is valid.
    pub position: bool,
    /// The sensors have settled since the start.
    pub ready: bool,
    /// There is a mission.
    pub mission: bool,
    /// The vehicle has taken off: motors lift it or it is in the air.
    pub lifted: bool,
    /// The vehicle stands and does not climb.
    pub resting: bool,
    /// The vehicle is in the air.
    pub airborne: bool,
    /// The task is landing the vehicle.
    pub landing: bool,
    /// The mission is taking off.
    pub taking_off: bool,
    /// Setpoints use the attitude controller.
    pub attitude: bool,
    /// Charge level.
    pub charge: Charge,
    /// Geofence breach.
    pub breach: Option<Breach>,
}

/// Parameters of the state machine.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// COM_OF_LOSS_T.
    pub offboard_loss: f64,
    /// COM_DISARM_LAND.
    pub disarm_land: f64,
    /// COM_DISARM_PRFLT.
    pub disarm_preflight: f64,
    /// COM_OBL_RC_ACT.
    pub offboard_loss_action: i32,
    /// Reactions to battery and fence.
    pub actions: Actions,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            offboard_loss: 1.0,
            disarm_land: 2.0,
            disarm_preflight: 10.0,
            offboard_loss_action: 0,
            actions: Actions::default(),
        }
    }
}

/// Arming state and mode.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Motors may turn.
    pub armed: bool,
    /// Mode chosen by the user.
    pub wanted: Mode,
    /// Active mode.
    pub active: Mode,
    /// A failsafe is active.
    pub failsafe: bool,
    /// State of the land detector.
    pub landed: Landed,
    /// Setpoints arrive, as of the last check.
    pub offboard: bool,
    /// Time of arming in s.
    pub armed_at: f64,
    /// Has been airborne since arming.
    pub flew: bool,
    /// The take-off started on the ground.
    from_ground: bool,
    after_disarming: Mode,
    resting_since: Option<f64>,
    landed_at: f64,
    checked: f64,
    grounded_at: f64,
    terminated_at: f64,
    failsafes: Failsafe,
    seen: Seen,
    now: f64,
}

/// Period in s of checking a mode's requirements, as in PX4; delays the detection of a loss.
const CHECK_PERIOD: f64 = 0.5;
/// Time in s that a vehicle must rest until PX4's land detector reports it.
const LAND_TIME: f64 = 2.0;
/// Time in s from flight termination to disarming.
const LOCKDOWN: f64 = 5.0;

impl Modes {
    /// Disarmed, in hold.
    pub fn new(now: f64) -> Self {
        Self {
            armed: false,
            wanted: Mode::Loiter,
            active: Mode::Loiter,
            failsafe: false,
            landed: Landed::Ground,
            offboard: false,
            armed_at: now,
            flew: false,
            from_ground: true,
            after_disarming: Mode::Loiter,
            resting_since: None,
            landed_at: now,
            checked: now,
            grounded_at: now,
            terminated_at: now,
            failsafes: Failsafe::default(),
            seen: Seen::default(),
            now,
        }
    }

    /// Records whether a mission is loaded.
    pub fn note_mission(&mut self, ready: bool) {
        self.seen.mission = ready;
    }

    /// Whether the vehicle may be armed in this mode, or enter it in flight.
    pub fn can_run(&self, mode: Mode) -> bool {
        self.seen.ready
            && (!mode.needs_position() || self.seen.position)
            && (!mode.needs_sticks() || self.seen.sticks)
            && match mode {
                Mode::Offboard => self.offboard,
                Mode::Mission => self.seen.mission,
                Mode::External(_) => false,
                _ => true,
            }
    }

    /// Whether the vehicle can be armed now.
    pub fn can_arm(&self) -> bool {
        self.can_run(self.wanted)
            && !self.wanted.prevents_arming()
            && self.wanted != Mode::Follow
            && !self.failsafes.prevents_arming()
    }

    /// HEARTBEAT's `system_status`.
    pub fn status(&self) -> u8 {
        match (self.armed, self.failsafe) {
            _ if self.active == Mode::Termination => 8,
            (true, true) => 5,
            (true, false) => 4,
            (false, _) if self.can_arm() => 3,
            (false, _) => 0,
        }
    }

    /// HEARTBEAT's `base_mode`.
    pub fn base(&self) -> u8 {
        self.active.base(self.seen.attitude) | if self.armed { 0x80 } else { 0 }
    }

    /// Changes the mode as PX4 does: on the ground to any, in flight only to one that can run.
    pub fn change(&mut self, mode: Mode, texts: &mut Texts) -> u8 {
        let over = self.active == Mode::Termination;
        if over || self.armed && !self.can_run(mode) {
            texts.say(
                CRITICAL,
                &format!("Switching to {} is currently not available\t", mode.title()),
            );
            return REJECTED;
        }
        self.wanted = mode;
        self.failsafe = false;
        self.failsafes.overrule();
        if !mode.prevents_arming() || mode == Mode::Termination {
            self.after_disarming = mode;
        }
        if mode == Mode::Termination {
            self.terminated_at = self.now;
        }
        self.active = mode;
        self.from_ground = self.landed == Landed::Ground;
        ACCEPTED
    }

    /// Enters OFFBOARD and arms at once, as `CopterSim` does for clients that send structs.
    pub fn take_over(&mut self, texts: &mut Texts) -> u8 {
        self.offboard = true;
        let result = self.change(Mode::Offboard, texts);
        if result == ACCEPTED && !self.armed {
            return self.arm("Armed by external command\t", texts);
        }
        result
    }

    /// Arms or refuses.
    pub fn arm(&mut self, text: &str, texts: &mut Texts) -> u8 {
        if self.armed {
            return ACCEPTED;
        }
        if !self.can_arm() {
            texts.say(CRITICAL, "Arming denied: Resolve system health failures first\t");
            return REJECTED;
        }
        self.armed = true;
        self.armed_at = self.now;
        self.flew = false;
        self.resting_since = None;
        self.from_ground = true;
        texts.say(INFO, text);
        ACCEPTED
    }

    /// A vehicle that flies its script is about to be commanded: it is armed, and in the air.
    pub fn join(&mut self) {
        (self.armed, self.armed_at) = (true, self.now);
        (self.landed, self.flew, self.from_ground) = (Landed::Air, true, false);
        self.resting_since = None;
    }

    /// It was not commanded after all: the script goes on.
    pub fn leave(&mut self) {
        (self.armed, self.landed) = (false, Landed::Ground);
        (self.flew, self.from_ground) = (false, true);
    }

    /// Disarms; in the air only if forced.
    pub fn disarm(&mut self, forced: bool, texts: &mut Texts) -> u8 {
        if !self.armed {
            return ACCEPTED;
        }
        if self.landed != Landed::Ground && !forced {
            texts.say(CRITICAL, "Disarming denied: not landed\t");
            return REJECTED;
        }
        self.stop("Disarmed by external command\t", texts);
        ACCEPTED
    }

    /// Leaves a completed mode for hover.
    pub fn done(&mut self, mode: Mode) {
        if self.active == mode {
            self.active = Mode::Loiter;
            if self.wanted == mode {
                self.wanted = Mode::Loiter;
                self.after_disarming = Mode::Loiter;
            }
        }
    }

    fn stop(&mut self, reason: &str, texts: &mut Texts) {
        self.armed = false;
        self.failsafe = false;
        self.wanted = self.after_disarming;
        self.active = self.wanted;
        texts.say(INFO, reason);
    }

    /// Advances to time `now` in s.
    pub fn step(&mut self, now: f64, seen: Seen, rules: &Rules, texts: &mut Texts) {
        self.now = now;
        self.seen = seen;
        if now - self.checked >= if self.armed { 0.1 } else { CHECK_PERIOD } {
            self.checked = now;
            self.offboard = seen.setpoint.is_some_and(|last| now - last < rules.offboard_loss);
        }
        let trouble = (seen.charge, seen.breach);
        let armed = self.armed;
        let reaction = self.failsafes.step(now, armed, trouble, &rules.actions, texts);
        if !armed {
            self.active = self.wanted;
            if seen.airborne {
                self.grounded_at = now;
            } else if now - self.grounded_at >= 0.5 {
                self.landed = Landed::Ground; // delayed after a fall
            }
            return;
        }
        if self.active == Mode::Termination {
            if now - self.terminated_at >= LOCKDOWN {
                self.after_disarming = Mode::Termination;
                self.stop("Disarmed by lockdown\t", texts);
            }
            return;
        }
        self.watch_ground(texts);
        self.fail_safe(rules, reaction, texts);
        if self.landed != Landed::Ground {
            self.flew = true;
            self.landed_at = now;
        } else if self.flew
            && rules.disarm_land > 0.0
            && now - self.landed_at
                >= if self.active == Mode::Mission { 0.1 } else { rules.disarm_land }
        {
            if self.active == Mode::Mission {
                texts.say(INFO, "Mission finished, landed\t");
                self.after_disarming = Mode::Mission;
            }
            self.stop("Disarmed by landing\t", texts);
        } else if !self.flew
            && rules.disarm_preflight > 0.0
            && now - self.armed_at >= rules.disarm_preflight + 1.4
        {
            self.stop("Disarmed by auto preflight disarming\t", texts);
        }
    }

    fn watch_ground(&mut self, texts: &mut Texts) {
        if self.landed == Landed::Ground {
            if self.seen.lifted {
                self.landed = Landed::Air;
                self.resting_since = None;
                texts.say(INFO, "Takeoff detected\t");
            }
            return;
        }
        self.landed = match self.active {
            Mode::Takeoff | Mode::VtolTakeoff if self.from_ground => Landed::Takeoff,
            Mode::Mission if self.seen.taking_off => Landed::Takeoff,
            _ if self.seen.landing => Landed::Landing,
            _ => Landed::Air,
        };
        if !self.seen.resting {
            self.resting_since = None;
            return;
        }
        let since = *self.resting_since.get_or_insert(self.now);
        if self.now - since >= LAND_TIME {
            self.landed = Landed::Ground;
            self.landed_at = self.now;
            texts.say(INFO, "Landing detected\t");
        }
    }

    /// Leaves a mode whose requirements are lost, and resumes it later.
    fn fail_safe(&mut self, rules: &Rules, reaction: Reaction, texts: &mut Texts) {
        if let Some(mode) = Mode::of(reaction) {
            if mode == Mode::Termination && self.active != mode {
                self.terminated_at = self.now;
            }
            self.failsafe = true;
            self.active = mode;
            return;
        }
        let lost = match self.wanted {
            Mode::Offboard => !self.offboard,
            mode => mode.needs_position() && !self.seen.position,
        };
        if !lost {
            if self.failsafe {
                self.failsafe = false;
                self.active = self.wanted;
            }
            return;
        }
        if self.failsafe {
            return;
        }
        self.failsafe = true;
        self.active = if !self.seen.position {
            Mode::Descend
        } else {
            match rules.offboard_loss_action {
                1 => Mode::Altitude,
                2 => Mode::Stabilized,
                6 => Mode::Termination,
                3 => Mode::Return,
                4 => Mode::Land,
                5 => Mode::Loiter,
                _ => Mode::Position,
            }
        };
        if self.active == Mode::Termination {
            self.terminated_at = self.now;
        }
        texts.say(CRITICAL, "Failsafe activated\t");
    }
}

impl Mode {
    /// PX4's name of the mode.
    pub fn title(self) -> &'static str {
        match self {
            Self::Manual => "Manual",
            Self::Altitude => "Altitude",
            Self::Position => "Position",
            Self::PositionSlow => "Position Slow",
            Self::Acro => "Acro",
            Self::Offboard => "Offboard",
            Self::Stabilized => "Stabilized",
            Self::Takeoff => "Takeoff",
            Self::Loiter => "Hold",
            Self::Mission => "Mission",
            Self::Return => "Return",
            Self::Land => "Land",
            Self::PrecisionLand => "Precision Landing",
            Self::VtolTakeoff => "VTOL Takeoff",
            Self::Follow => "Follow Target",
            Self::Orbit => "Orbit",
            Self::External(_) => "External",
            Self::Descend => "Descend",
            Self::Termination => "Termination",
        }
    }
}
