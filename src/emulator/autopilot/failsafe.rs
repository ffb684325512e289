//! PX4's failsafes for low battery and geofence breach: texts and automatic mode changes.
use super::outbox::{CRITICAL, EMERGENCY, Texts};

/// Charge level, as in BATTERY_STATUS.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Charge {
    /// No warning.
    #[default]
    Fine = 1,
    /// Below BAT_LOW_THR.
    Low = 2,
    /// Below BAT_CRIT_THR.
    Critical = 3,
    /// Below BAT_EMERGEN_THR.
    Emergency = 4,
}

impl Charge {
    fn text(self) -> Option<&'static str> {
        match self {
            Self::Fine => None,
            Self::Low => Some("Low battery\t"),
            Self::Critical => Some("Critical battery\t"),
            Self::Emergency => Some("Emergency battery level\t"),
        }
    }
}

/// Kind of geofence breach.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Breach {
    /// GF_MAX_HOR_DIST from home.
    Distance,
    /// GF_MAX_VER_DIST above home.
    Height,
    /// The areas of the plan.
    Area,
}

impl Breach {
    fn text(self) -> &'static str {
        match self {
            Self::Distance => "Geofence violation: exceeding maximum distance to Home",
            Self::Height => "Geofence violation: exceeding maximum altitude above Home",
            Self::Area => "Geofence violation: approaching or outside geofence",
        }
    }
}

/// Reactions, the mildest first.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Reaction {
    /// Nothing.
    #[default]
    Nothing,
    /// A text.
    Warn,
    /// Hover.
    Hold,
    /// Fly home and land.
    Return,
    /// Land here.
    Land,
    /// Stop the motors.
    Terminate,
}

impl Reaction {
    /// COM_LOW_BAT_ACT: 0 only warns, 1 returns, 2 lands, 3 returns and, at the emergency level, lands.
    fn to_charge(charge: Charge, action: i32) -> Self {
        match (charge, action) {
            (Charge::Fine, _) => Self::Nothing,
            (Charge::Critical, 1 | 3) | (Charge::Emergency, 1) => Self::Return,
            (Charge::Critical, 2) | (Charge::Emergency, 2 | 3) => Self::Land,
            _ => Self::Warn,
        }
    }

    /// GF_ACTION.
    fn to_breach(action: i32) -> Self {
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

/// Failsafe actions, by PX4's parameter names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actions {
    /// COM_LOW_BAT_ACT.
    pub low_battery: i32,
    /// GF_ACTION.
    pub fence: i32,
    /// COM_FAIL_ACT_T in s.
    pub delay: f64,
}

impl Default for Actions {
    fn default() -> Self {
        Self { low_battery: 3, fence: 2, delay: 5.0 }
    }
}

/// State of the battery and geofence failsafes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failsafe {
    charge: Charge,
    breach: Option<Breach>,
    /// Reactions requested by battery and fence.
    asked: [Reaction; 2],
    /// The user has changed the mode since.
    overruled: bool,
    /// End in s of the hover before the reaction.
    waits_until: Option<f64>,
    done: Reaction,
}

impl Failsafe {
    /// Whether arming is denied.
    pub fn prevents_arming(&self) -> bool {
        self.charge >= Charge::Critical || self.breach.is_some()
    }

    /// The user has changed the mode: that mode stays until another failsafe triggers.
    pub fn overrule(&mut self) {
        self.overruled = true;
    }

    /// Returns the reaction at `now` in s.
    pub fn step(
        &mut self,
        now: f64,
        armed: bool,
        (charge, breach): (Charge, Option<Breach>),
        actions: &Actions,
        texts: &mut Texts,
    ) -> Reaction {
        let worse = charge > self.charge;
        if worse && let Some(text) = charge.text() {
            texts.say(EMERGENCY, text);
        }
        let left = breach.is_some() && breach != self.breach;
        if left
            && actions.fence != 0
            && let Some(breach) = breach
        {
            texts.say(CRITICAL, breach.text());
        }
        (self.charge, self.breach) = (charge, breach);
        if !armed {
            *self = Self { charge, breach, ..Self::default() };
            return Reaction::Nothing;
        }
        let battery = Reaction::to_charge(charge, actions.low_battery);
        let fence = breach.map_or(Reaction::Nothing, |_| Reaction::to_breach(actions.fence));
        // After a breach the reaction stays even inside the fence, until the user changes the mode.
        let kept = if self.overruled { Reaction::Nothing } else { self.asked[1] };
        let asked = [battery, fence.max(kept)];
        let more = (0..2).any(|i| asked[i] > self.asked[i]);
        let warned = (worse && battery == Reaction::Warn) || (left && fence == Reaction::Warn);
        if more {
            self.overruled = false;
            if (0..2).any(|i| asked[i] > self.asked[i] && delays(asked[i])) {
                self.waits_until.get_or_insert(now + actions.delay);
            }
        }
        self.asked = asked;
        let all = if self.overruled { Reaction::Nothing } else { battery.max(asked[1]) };
        let waits = delays(all) && self.waits_until.is_some_and(|until| now < until);
        let chosen = if waits { Reaction::Hold } else { all };
        if chosen > self.done || warned {
            let text = match self.waits_until.filter(|_| waits) {
                Some(until) => {
                    format!("Failsafe activated: entering Hold for {:.0} seconds\t", until - now)
                }
                None => "Failsafe activated\t".to_owned(),
            };
            texts.say(CRITICAL, &text);
        }
        self.done = chosen;
        if all < Reaction::Return {
            self.waits_until = None;
        }
        chosen
    }
}

/// Whether a hover first gives the user time to take over.
fn delays(reaction: Reaction) -> bool {
    matches!(reaction, Reaction::Return | Reaction::Land)
}
