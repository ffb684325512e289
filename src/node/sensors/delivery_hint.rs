//! Known reasons why a sensor does not deliver, for `/diagnostics`; the simulator reports no reason.
use crate::node::stats::LinkState;
use crate::wire::SensorKind;
use std::time::Duration;

/// A simulator that has just started may need more than 10 s for its first frame.
const PATIENCE: Duration = Duration::from_secs(15);

/// Returns the probable reason for the state of a sensor; shown while it delivers nothing, or less than requested.
/// `since_request`: time since the bridge first requested the sensor.
pub fn delivery_hint(
    kind: SensorKind,
    state: LinkState,
    others_deliver: bool,
    since_request: Duration,
) -> Option<&'static str> {
    match (state, others_deliver) {
        (LinkState::Waiting, _) if since_request < PATIENCE => None,
        (LinkState::Waiting, true) if kind == SensorKind::Mid360 => Some(
            "other sensors deliver; some maps give no cloud of TypeID 23, and some editions of RflySim3D lack types or limit \
             the number of sensors",
        ),
        (LinkState::Waiting, true) => Some(
            "other sensors deliver; some editions of RflySim3D lack types or limit the number of sensors",
        ),
        (LinkState::Waiting, false) => Some(
            "no sensor delivers: check that RflySim3D runs at the address that gets the requests; from WSL that is the default gateway",
        ),
        (LinkState::Lost, _) => Some(
            "RflyChangeMapbyName, RflyClearCapture and another program's request for its SeqID end captures",
        ),
        (LinkState::Idle, _) => None,
        (LinkState::Up, _) => Some("RflySim3D slows down with many or large cameras"),
    }
}
