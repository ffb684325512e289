//! PX4's failsafes for low battery and geofence breach: texts and automatic mode changes.
use super::parameters::{Parameters, px4_parameters};
use super::queues::{CRITICAL, EMERGENCY, Texts};

/// Charge level, with the numbers of MAV_BATTERY_CHARGE_STATE.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum ChargeLevel {
    #[default]
    Fine = 1,
    /// Below BAT_LOW_THR.
    Low = 2,
    /// Below BAT_CRIT_THR.
    Critical = 3,
    /// Below BAT_EMERGEN_THR.
    Emergency = 4,
}

impl ChargeLevel {
    /// The level of a battery with this charge in percent.
    pub(super) fn of(percent: f64, parameters: &Parameters) -> Self {
        let below = |name| percent < 100.0 * parameters.number(name);
        match () {
            () if below("BAT_EMERGEN_THR") => Self::Emergency,
            () if below("BAT_CRIT_THR") => Self::Critical,
            () if below("BAT_LOW_THR") => Self::Low,
            () => Self::Fine,
        }
    }

    fn text(self) -> Option<&'static str> {
        match self {
            Self::Fine => None,
            Self::Low => Some("Low battery\t"),
            Self::Critical => Some("Critical battery\t"),
            Self::Emergency => Some("Emergency battery level\t"),
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FenceBreach {
    /// GF_MAX_HOR_DIST from home.
    Distance,
    /// GF_MAX_VER_DIST above home.
    Height,
    /// The uploaded areas.
    Area,
}

impl FenceBreach {
    fn text(self) -> &'static str {
        match self {
            Self::Distance => "Geofence violation: exceeding maximum distance to Home",
            Self::Height => "Geofence violation: exceeding maximum altitude above Home",
            Self::Area => "Geofence violation: approaching or outside geofence",
        }
    }
}

/// Actions, the mildest first.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum FailsafeAction {
    #[default]
    Nothing,
    Warn,
    Hold,
    Return,
    Land,
    Terminate,
}

impl FailsafeAction {
    /// COM_LOW_BAT_ACT: 0 only warns. From the critical level on, 1 returns, 2 lands, 3 returns and lands at the emergency level.
    fn for_charge(charge: ChargeLevel, action: i32) -> Self {
        match (charge, action) {
            (ChargeLevel::Fine, _) => Self::Nothing,
            (ChargeLevel::Critical, 1 | 3) | (ChargeLevel::Emergency, 1) => Self::Return,
            (ChargeLevel::Critical, 2) | (ChargeLevel::Emergency, 2 | 3) => Self::Land,
            _ => Self::Warn,
        }
    }

    /// GF_ACTION.
    fn for_breach(action: i32) -> Self {
        match action {
            0 => Self::Nothing,
            2 => Self::Hold,
            3 => Self::Return,
            4 => Self::Terminate,
            5 => Self::Land,
            _ => Self::Warn,
        }
    }
}

px4_parameters! {
    pub(super) FailsafeParameters {
        low_battery: i32 = integer("COM_LOW_BAT_ACT"), "";
        fence: i32 = integer("GF_ACTION"), "";
        delay: f64 = number("COM_FAIL_ACT_T"), " in s";
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failsafe {
    charge: ChargeLevel,
    breach: Option<FenceBreach>,
    /// Reactions to battery and fence.
    reactions: [FailsafeAction; 2],
    /// Whether the user has changed the mode since the last reaction.
    is_overruled: bool,
    /// Time in s at which the hover before the reaction ends.
    hover_until: Option<f64>,
    last_action: FailsafeAction,
}

impl Failsafe {
    pub(super) fn prevents_arming(&self) -> bool {
        self.charge >= ChargeLevel::Critical || self.breach.is_some()
    }

    /// Notes that the user has changed the mode, which then stays until another failsafe triggers.
    pub(super) fn overrule(&mut self) {
        self.is_overruled = true;
    }

    /// Returns the reaction at `now` in s.
    pub(super) fn step(
        &mut self,
        now: f64,
        is_armed: bool,
        (charge, breach): (ChargeLevel, Option<FenceBreach>),
        actions: &FailsafeParameters,
        texts: &mut Texts,
    ) -> FailsafeAction {
        let is_worse = charge > self.charge;
        if is_worse && let Some(text) = charge.text() {
            texts.push(EMERGENCY, text);
        }
        let is_new_breach = breach.is_some() && breach != self.breach;
        if is_new_breach
            && actions.fence != 0
            && let Some(breach) = breach
        {
            texts.push(CRITICAL, breach.text());
        }
        (self.charge, self.breach) = (charge, breach);
        if !is_armed {
            *self = Self { charge, breach, ..Self::default() };
            return FailsafeAction::Nothing;
        }
        let battery = FailsafeAction::for_charge(charge, actions.low_battery);
        let fence =
            breach.map_or(FailsafeAction::Nothing, |_| FailsafeAction::for_breach(actions.fence));
        // The reaction to a breach continues even inside the fence, until the user changes the mode.
        let kept = if self.is_overruled { FailsafeAction::Nothing } else { self.reactions[1] };
        let reactions = [battery, fence.max(kept)];
        let is_escalated = (0..2).any(|i| reactions[i] > self.reactions[i]);
        let is_warning = (is_worse && battery == FailsafeAction::Warn)
            || (is_new_breach && fence == FailsafeAction::Warn);
        if is_escalated {
            self.is_overruled = false;
            if (0..2).any(|i| reactions[i] > self.reactions[i] && hovers_first(reactions[i])) {
                self.hover_until.get_or_insert(now + actions.delay);
            }
        }
        self.reactions = reactions;
        let action =
            if self.is_overruled { FailsafeAction::Nothing } else { battery.max(reactions[1]) };
        let is_waiting = hovers_first(action) && self.hover_until.is_some_and(|until| now < until);
        let chosen = if is_waiting { FailsafeAction::Hold } else { action };
        if chosen > self.last_action || is_warning {
            let text = match self.hover_until.filter(|_| is_waiting) {
                Some(until) => {
                    format!("Failsafe activated: entering Hold for {:.0} seconds\t", until - now)
                }
                None => "Failsafe activated\t".to_owned(),
            };
            texts.push(CRITICAL, text);
        }
        self.last_action = chosen;
        if action < FailsafeAction::Return {
            self.hover_until = None;
        }
        chosen
    }
}

/// Whether a hover first gives the user time to take over.
fn hovers_first(reaction: FailsafeAction) -> bool {
    matches!(reaction, FailsafeAction::Return | FailsafeAction::Land)
}
