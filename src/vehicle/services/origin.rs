//! Origin of the autopilot's local positions. PX4 sends it once, when its estimator sets it; a bridge that starts later
//! has to request it.
use super::Part;
use crate::ros::RosError;
use crate::vehicle::link::Abilities;
use crate::vehicle::{Fcu, Open};
use crate::wire::mavlink::MessageData as _;
use crate::wire::mavlink::dialect::GPS_GLOBAL_ORIGIN_DATA;
use std::time::Duration;

/// Time after the connection for the autopilot to send it unasked.
const PATIENCE: Duration = Duration::from_secs(1);
/// Period and limit of the requests: an estimator that starts later sends it then.
const PERIOD: Duration = Duration::from_secs(10);
const TRIES: u32 = 6;

#[derive(Default)]
pub(super) struct Origin {
    ask: Option<Duration>,
    asked: u32,
}

impl Part for Origin {
    fn open(_: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        Ok(Self::default())
    }

    fn connected(&mut self, fcu: &Fcu) {
        self.asked = 0;
        self.ask = fcu.abilities().acks.then_some(fcu.now.mono + PATIENCE);
    }

    fn lost(&mut self, _: &mut Fcu) -> Result<(), RosError> {
        self.ask = None;
        Ok(())
    }

    /// Sends the request through the command queue: a second request waits for the answer to the first.
    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        if fcu.origin_is_reported() {
            self.ask = None;
        }
        if self.ask.is_none_or(|at| fcu.now.mono < at) {
            return Ok(());
        }
        self.asked += 1;
        self.ask = (self.asked < TRIES).then_some(fcu.now.mono + PERIOD);
        fcu.requests.push(GPS_GLOBAL_ORIGIN_DATA::ID);
        Ok(())
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        self.ask
    }
}
