//! What is known to keep a sensor from delivering, for `/diagnostics`. The simulator never says why.
use crate::node::stats::LinkState;
use crate::wire::SensorKind;
use std::time::Duration;

/// A simulator that starts takes more than 10 s to its first frame.
const PATIENCE: Duration = Duration::from_secs(15);

/// Returns what may be the matter with a sensor in this state, `asked` after its first request; shown while it delivers
/// nothing, or less than asked.
pub fn hint(
    kind: SensorKind,
    state: LinkState,
    others_deliver: bool,
    asked: Duration,
) -> Option<&'static str> {
    match (state, others_deliver) {
        (LinkState::Waiting, _) if asked < PATIENCE => None,
        (LinkState::Waiting, true) if kind == SensorKind::Mid360 => Some(
            "other sensors deliver; some maps give no cloud of TypeID 23, and some editions of RflySim3D lack types or limit \
             the number of sensors",
        ),
        (LinkState::Waiting, true) => Some(
            "other sensors deliver; some editions of RflySim3D lack types or limit the number of sensors",
        ),
        (LinkState::Waiting, false) => Some(
            "no sensor delivers; does RflySim3D run where it is asked? From WSL it is at the default gateway",
        ),
        (LinkState::Lost, _) => Some(
            "it is requested again; RflyChangeMapbyName, RflyClearCapture and another program that asks for its SeqID end captures",
        ),
        (LinkState::Idle, _) => None,
        (LinkState::Up, _) => Some("RflySim3D slows down with many or large cameras"),
    }
}
