//! PX4's arming state and mode: commands, the land detector, failsafes.
use super::failsafe::{ChargeLevel, Failsafe, FailsafeAction, FailsafeParameters, FenceBreach};
use super::queues::{CRITICAL, INFO, Texts};
use super::{mode::Mode, parameters::px4_parameters};
use crate::wire::mavlink::dialect::{MavResult, MavState};
use crate::wire::mavlink::numbers::MAV_MODE_FLAG_SAFETY_ARMED;

pub(super) const ACCEPTED: MavResult = MavResult::MAV_RESULT_ACCEPTED;
pub(super) const REJECTED: MavResult = MavResult::MAV_RESULT_TEMPORARILY_REJECTED;

/// MAV_LANDED_STATE.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Landed {
    /// On the ground.
    #[default]
    Ground = 1,
    /// In the air.
    Air = 2,
    /// Taking off.
    Takeoff = 3,
    /// Landing.
    Landing = 4,
}

px4_parameters! {
    pub(super) ModeParameters {
        offboard_loss: f64 = number("COM_OF_LOSS_T"), " in s";
        disarm_land: f64 = number("COM_DISARM_LAND"), " in s";
        disarm_preflight: f64 = number("COM_DISARM_PRFLT"), " in s";
        offboard_loss_action: i32 = integer("COM_OBL_RC_ACT"), "";
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ModeInputs {
    /// Time of the last valid setpoint in s.
    pub(super) setpoint: Option<f64>,
    pub(super) has_sticks: bool,
    pub(super) has_position: bool,
    /// Whether the sensors have settled since the start.
    pub(super) is_ready: bool,
    pub(super) has_mission: bool,
    /// Whether the vehicle has taken off: motors lift it or it is in the air.
    pub(super) is_lifted: bool,
    /// Whether the vehicle is on the ground and its controller commands a descent.
    pub(super) is_resting: bool,
    pub(super) is_airborne: bool,
    pub(super) is_landing: bool,
    pub(super) is_taking_off: bool,
    /// Whether setpoints use the attitude controller.
    pub(super) uses_attitude: bool,
    pub(super) charge: ChargeLevel,
    pub(super) breach: Option<FenceBreach>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    pub(super) is_armed: bool,
    /// Mode chosen by the user.
    pub(super) requested: Mode,
    pub(super) active: Mode,
    pub(super) is_failsafe_active: bool,
    pub(super) landed: Landed,
    /// Whether setpoints arrive, as of the last check.
    pub(super) has_setpoints: bool,
    /// Time of arming in s.
    pub(super) armed_at: f64,
    /// Whether the vehicle has been airborne since arming.
    pub(super) has_flown: bool,
    /// Whether the take-off started on the ground.
    is_from_ground: bool,
    mode_after_disarming: Mode,
    resting_since: Option<f64>,
    landed_at: f64,
    checked_at: f64,
    grounded_at: f64,
    terminated_at: f64,
    failsafes: Failsafe,
    inputs: ModeInputs,
    now: f64,
}

/// Period in s of checks for setpoints while disarmed, as in PX4; it is 0.1 s while armed.
const CHECK_PERIOD: f64 = 0.5;
/// Time in s that a vehicle must rest until PX4's land detector reports a landing.
const LAND_TIME: f64 = 2.0;
/// Time in s from flight termination to disarming.
const LOCKDOWN: f64 = 5.0;

impl Modes {
    /// Creates the state after boot: disarmed, in hold.
    pub(super) fn new(now: f64) -> Self {
        Self {
            armed_at: now,
            is_from_ground: true,
            landed_at: now,
            checked_at: now,
            grounded_at: now,
            terminated_at: now,
            now,
            ..Self::default()
        }
    }

    pub(super) fn note_mission(&mut self, is_ready: bool) {
        self.inputs.has_mission = is_ready;
    }

    /// Whether the vehicle may be armed in this mode, or enter it in flight.
    pub(super) fn can_run(&self, mode: Mode) -> bool {
        self.inputs.is_ready
            && (!mode.needs_position() || self.inputs.has_position)
            && (!mode.needs_sticks() || self.inputs.has_sticks)
            && match mode {
                Mode::Offboard => self.has_setpoints,
                Mode::Mission => self.inputs.has_mission,
                Mode::External(_) => false,
                _ => true,
            }
    }

    pub(super) fn can_arm(&self) -> bool {
        self.can_run(self.requested)
            && !self.requested.prevents_arming()
            && self.requested != Mode::Follow
            && !self.failsafes.prevents_arming()
    }

    /// HEARTBEAT's `system_status`.
    pub(super) fn status(&self) -> MavState {
        match (self.is_armed, self.is_failsafe_active) {
            _ if self.active == Mode::Termination => MavState::MAV_STATE_FLIGHT_TERMINATION,
            (true, true) => MavState::MAV_STATE_CRITICAL,
            (true, false) => MavState::MAV_STATE_ACTIVE,
            (false, _) if self.can_arm() => MavState::MAV_STATE_STANDBY,
            (false, _) => MavState::MAV_STATE_UNINIT,
        }
    }

    /// HEARTBEAT's `base_mode`.
    pub(super) fn base(&self) -> u8 {
        let armed = MAV_MODE_FLAG_SAFETY_ARMED;
        self.active.base(self.inputs.uses_attitude) | if self.is_armed { armed } else { 0 }
    }

    /// Changes the mode as PX4 does: while disarmed to any, while armed only to one that can run, after termination to none.
    pub(super) fn change(&mut self, mode: Mode, texts: &mut Texts) -> MavResult {
        let is_terminated = self.active == Mode::Termination;
        if is_terminated || self.is_armed && !self.can_run(mode) {
            let title = mode.title();
            texts.push(CRITICAL, format!("Switching to {title} is currently not available\t"));
            return REJECTED;
        }
        self.requested = mode;
        self.is_failsafe_active = false;
        self.failsafes.overrule();
        if !mode.prevents_arming() || mode == Mode::Termination {
            self.mode_after_disarming = mode;
        }
        self.activate(mode);
        self.is_from_ground = self.landed == Landed::Ground;
        ACCEPTED
    }

    fn activate(&mut self, mode: Mode) {
        if mode == Mode::Termination && self.active != mode {
            self.terminated_at = self.now;
        }
        self.active = mode;
    }

    /// Enters OFFBOARD and arms at once, as `CopterSim` does for clients of UDP_Full and UDP_Simple.
    pub(super) fn take_over(&mut self, texts: &mut Texts) -> MavResult {
        self.has_setpoints = true;
        let result = self.change(Mode::Offboard, texts);
        if result == ACCEPTED && !self.is_armed {
            return self.arm("Armed by external command\t", texts);
        }
        result
    }

    pub(super) fn arm(&mut self, text: &str, texts: &mut Texts) -> MavResult {
        if self.is_armed {
            return ACCEPTED;
        }
        if !self.can_arm() {
            texts.push(CRITICAL, "Arming denied: Resolve system health failures first\t");
            return REJECTED;
        }
        self.is_armed = true;
        self.armed_at = self.now;
        self.has_flown = false;
        self.resting_since = None;
        self.is_from_ground = true;
        texts.push(INFO, text);
        ACCEPTED
    }

    /// Interrupts the scripted flight for a command: the vehicle is armed, and in the air.
    pub(super) fn start_from_script(&mut self) {
        (self.is_armed, self.armed_at) = (true, self.now);
        (self.landed, self.has_flown, self.is_from_ground) = (Landed::Air, true, false);
        self.resting_since = None;
    }

    /// Continues the scripted flight, because the command was rejected.
    pub(super) fn return_to_script(&mut self) {
        (self.is_armed, self.landed) = (false, Landed::Ground);
        (self.has_flown, self.is_from_ground) = (false, true);
    }

    /// Disarms; in the air only if forced.
    pub(super) fn disarm(&mut self, is_forced: bool, texts: &mut Texts) -> MavResult {
        if !self.is_armed {
            return ACCEPTED;
        }
        if self.landed != Landed::Ground && !is_forced {
            texts.push(CRITICAL, "Disarming denied: not landed\t");
            return REJECTED;
        }
        self.stop("Disarmed by external command\t", texts);
        ACCEPTED
    }

    /// Leaves a completed mode for hold.
    pub(super) fn complete(&mut self, mode: Mode) {
        if self.active == mode {
            self.active = Mode::Loiter;
            if self.requested == mode {
                self.requested = Mode::Loiter;
                self.mode_after_disarming = Mode::Loiter;
            }
        }
    }

    fn stop(&mut self, reason: &str, texts: &mut Texts) {
        self.is_armed = false;
        self.is_failsafe_active = false;
        self.requested = self.mode_after_disarming;
        self.active = self.requested;
        texts.push(INFO, reason);
    }

    /// Advances to time `now` in s.
    pub(super) fn step(
        &mut self,
        now: f64,
        inputs: ModeInputs,
        (parameters, reactions): (&ModeParameters, &FailsafeParameters),
        texts: &mut Texts,
    ) {
        self.now = now;
        self.inputs = inputs;
        if now - self.checked_at >= if self.is_armed { 0.1 } else { CHECK_PERIOD } {
            self.checked_at = now;
            self.has_setpoints =
                inputs.setpoint.is_some_and(|last| now - last < parameters.offboard_loss);
        }
        let conditions = (inputs.charge, inputs.breach);
        let action = self.failsafes.step(now, self.is_armed, conditions, reactions, texts);
        if !self.is_armed {
            self.active = self.requested;
            if inputs.is_airborne {
                self.grounded_at = now;
            } else if now - self.grounded_at >= 0.5 {
                self.landed = Landed::Ground; // a vehicle disarmed in the air falls first
            }
            return;
        }
        if self.active == Mode::Termination {
            if now - self.terminated_at >= LOCKDOWN {
                self.mode_after_disarming = Mode::Termination;
                self.stop("Disarmed by lockdown\t", texts);
            }
            return;
        }
        self.watch_ground(texts);
        self.fail_safe(parameters, action, texts);
        if self.landed != Landed::Ground {
            self.has_flown = true;
            self.landed_at = now;
        } else if self.has_flown
            && parameters.disarm_land > 0.0
            && now - self.landed_at
                >= if self.active == Mode::Mission { 0.1 } else { parameters.disarm_land }
        {
            if self.active == Mode::Mission {
                texts.push(INFO, "Mission finished, landed\t");
                self.mode_after_disarming = Mode::Mission;
            }
            self.stop("Disarmed by landing\t", texts);
        } else if !self.has_flown
            && parameters.disarm_preflight > 0.0
            && now - self.armed_at >= parameters.disarm_preflight + 1.4
        {
            self.stop("Disarmed by auto preflight disarming\t", texts);
        }
    }

    fn watch_ground(&mut self, texts: &mut Texts) {
        if self.landed == Landed::Ground {
            if self.inputs.is_lifted {
                self.landed = Landed::Air;
                self.resting_since = None;
                texts.push(INFO, "Takeoff detected\t");
            }
            return;
        }
        self.landed = match self.active {
            Mode::Takeoff | Mode::VtolTakeoff if self.is_from_ground => Landed::Takeoff,
            Mode::Mission if self.inputs.is_taking_off => Landed::Takeoff,
            _ if self.inputs.is_landing => Landed::Landing,
            _ => Landed::Air,
        };
        if !self.inputs.is_resting {
            self.resting_since = None;
            return;
        }
        let since = *self.resting_since.get_or_insert(self.now);
        if self.now - since >= LAND_TIME {
            self.landed = Landed::Ground;
            self.landed_at = self.now;
            texts.push(INFO, "Landing detected\t");
        }
    }

    /// Executes a failsafe action, or leaves a mode whose requirements are lost; resumes the mode when the cause is gone.
    fn fail_safe(
        &mut self,
        parameters: &ModeParameters,
        action: FailsafeAction,
        texts: &mut Texts,
    ) {
        if let Some(mode) = Mode::of(action) {
            self.is_failsafe_active = true;
            self.activate(mode);
            return;
        }
        let is_lost = match self.requested {
            Mode::Offboard => !self.has_setpoints,
            mode => mode.needs_position() && !self.inputs.has_position,
        };
        if !is_lost {
            if self.is_failsafe_active {
                self.is_failsafe_active = false;
                self.active = self.requested;
            }
            return;
        }
        if self.is_failsafe_active {
            return;
        }
        self.is_failsafe_active = true;
        self.activate(match parameters.offboard_loss_action {
            _ if !self.inputs.has_position => Mode::Descend,
            1 => Mode::Altitude,
            2 => Mode::Stabilized,
            3 => Mode::Return,
            4 => Mode::Land,
            5 => Mode::Loiter,
            6 => Mode::Termination,
            _ => Mode::Position,
        });
        texts.push(CRITICAL, "Failsafe activated\t");
    }
}
