//! The other hosts of a fleet: their bridges are heard on `/diagnostics`.
use crate::doctor::BridgeFacts;
use crate::msgs::diagnostic_msgs::msg::DiagnosticArray;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::{assembly::Assembly, context::Context, error::NodeError};
use crate::ros::Qos;
use crate::session::{PeerNews, PeerState, PeerWatch};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name of the status, and key of the host that publishes it.
const STATUS: &str = "hosts";
const HOST: &str = "host";
/// Silence after which a host is lost: with a report per second, the others say so within 5 s.
const SILENCE: Duration = Duration::from_millis(3500);
/// The same in periods of the reports, where these are longer.
const SILENT_REPORTS: f64 = 3.5;

/// The status in `/diagnostics`.
struct HostStatus {
    host: String,
    start: Instant,
    watch: Arc<Mutex<PeerWatch>>,
    states: Vec<PeerState>,
}

/// Adds the status if the bridge is one of a fleet.
pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let Some(part) = &context.settings.origin.fleet else { return Ok(()) };
    let (host, start) = (part.host.name.clone(), context.start);
    let hosts = part.fleet.hosts.iter().map(|other| other.name.clone());
    let limit = context.settings.params.diagnostics_period.mul_f64(SILENT_REPORTS).max(SILENCE);
    let peers = hosts.filter(|name| *name != host);
    let watch = Arc::new(Mutex::new(PeerWatch::new(peers, limit, start.elapsed())));
    let heard = watch.clone();
    let note = move |message: DiagnosticArray| {
        let statuses = message.status.iter().filter(|status| status.name.ends_with(": hosts"));
        let values = statuses.flat_map(|status| &status.values);
        for name in values.filter(|value| value.key == HOST) {
            heard.lock().hear(&name.value, start.elapsed());
        }
    };
    let subscription = context.middleware.subscribe("/diagnostics", Qos::DEFAULT, note)?;
    assembly.guards.push(Box::new(subscription));
    assembly.add_section(STATUS, HostStatus { host, start, watch, states: Vec::new() });
    Ok(())
}

impl Section for HostStatus {
    fn check(&mut self) -> Finding {
        let (states, news) = self.watch.lock().check(self.start.elapsed());
        for news in news {
            match news {
                PeerNews::Lost(name) => tracing::warn!(
                    "nothing is heard of the bridge on {name}: it, its PC, a router or the link between is down"
                ),
                PeerNews::Returned(name) => tracing::info!("the bridge on {name} is heard"),
            }
        }
        self.states = states;
        let text = |peer: &PeerState| match (peer.is_lost, peer.was_heard) {
            (true, true) => format!("silent for {} s", peer.silence.as_secs()),
            (true, false) => format!("never heard in {} s", peer.silence.as_secs()),
            (false, true) => "heard".to_owned(),
            (false, false) => "not heard yet".to_owned(),
        };
        let lost: Vec<_> = self.states.iter().filter(|peer| peer.is_lost).collect();
        let level = match self.states.iter().all(|peer| peer.was_heard) {
            _ if !lost.is_empty() => Level::Error,
            true => Level::Ok,
            false => Level::Stale,
        };
        let lost: Vec<_> =
            lost.iter().map(|peer| format!("{} {}", peer.name, text(peer))).collect();
        let message = match lost.as_slice() {
            [] => format!("{} other hosts", self.states.len()),
            lost => lost.join("; "),
        };
        let peers = self.states.iter().map(|peer| value(&peer.name, text(peer)));
        Finding {
            level,
            message,
            values: [value(HOST, &self.host)].into_iter().chain(peers).collect(),
        }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        let lost = self.states.iter().filter(|peer| peer.is_lost);
        facts.silent_hosts.extend(lost.map(|peer| (peer.name.clone(), peer.silence)));
    }
}
