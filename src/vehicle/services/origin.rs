//! Requests the origin of the autopilot's local positions. PX4 sends it once, when its estimator sets it; a bridge that starts
//! later has to request it.
use super::{ServicePart, repeated_request::RepeatedRequest};
use crate::vehicle::link::Abilities;
use crate::vehicle::{Fcu, Open};
use crate::wire::mavlink::MessageData as _;
use crate::{ros::RosError, wire::mavlink::dialect::GPS_GLOBAL_ORIGIN_DATA};
use std::time::Duration;

/// Time after the connection in which the autopilot may send its origin unasked.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// Period of the requests. Their number is limited: an estimator that starts later sends the origin unasked.
const PERIOD: Duration = Duration::from_secs(10);

pub(super) struct OriginPart {
    requests: RepeatedRequest,
}

impl ServicePart for OriginPart {
    fn open(_: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        Ok(Self { requests: RepeatedRequest::new(GPS_GLOBAL_ORIGIN_DATA::ID, PERIOD) })
    }

    fn connected(&mut self, fcu: &Fcu) {
        self.requests.start(fcu, FIRST_DELAY);
    }

    fn lost(&mut self, _: &mut Fcu) -> Result<(), RosError> {
        self.requests.stop();
        Ok(())
    }

    /// Sends the request through the command queue: a second request waits for the answer to the first.
    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        if fcu.is_origin_reported() {
            self.requests.stop();
        }
        self.requests.poll(fcu);
        Ok(())
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        self.requests.next
    }
}
