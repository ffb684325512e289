//! Readiness of the fleet: a latched topic, and a status of `/diagnostics`.
use super::of_fleet;
use crate::config::ControlLink;
use crate::config::params::QosGroup;
use crate::doctor::{AbsentVehicle, BridgeFacts};
use crate::model::{Absence, Fleet, LastHeartbeat};
use crate::msgs::rfly_bridge_msgs::msg::FleetReady;
use crate::node::assembly::Assembly;
use crate::node::clock::HeaderClock;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::presence::Presence;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::settings::Settings;
use crate::node::tasks::{self, Endless, next_moment};
use crate::ros::Publisher;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Interval of checks.
const CHECK_PERIOD: Duration = Duration::from_millis(200);

/// Opens the topic.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    runtime: &Handle,
) -> Result<(), NodeError> {
    let Settings { params, ports, .. } = context.settings;
    // An autopilot that is reached directly may fly without CopterSim.
    let simulated = |id: &u16| {
        let link = params.control_link(*id);
        matches!(link, ControlLink::Simulator(_) | ControlLink::Off)
    };
    let vehicles = context.settings.vehicles().into_iter().filter(simulated);
    let fleet = Fleet::new(
        vehicles.map(|id| (id, params.copter_sim(id))),
        ports.heartbeat,
        params.request.timeout,
    );
    let heartbeats = HeartbeatReader { presence: context.presence.clone(), start: context.start };
    assembly
        .sections
        .push(Box::new(FleetStatus { fleet: fleet.clone(), heartbeats: heartbeats.clone() }));
    let topic = of_fleet(context, "fleet/ready");
    let task = FleetTask {
        fleet,
        heartbeats,
        publisher: context.publisher(QosGroup::Latched, &topic)?,
        headers: context.clocks.headers(None),
    };
    tasks::start(runtime, task);
    Ok(())
}

/// Heartbeats by vehicle, on the monotonic clock of the bridge.
#[derive(Clone)]
struct HeartbeatReader {
    presence: Presence,
    start: Instant,
}

impl HeartbeatReader {
    fn heartbeats(&self) -> BTreeMap<u16, LastHeartbeat> {
        let all = self.presence.heartbeats().into_iter();
        let heartbeats = all.map(|(id, beat)| {
            let last = LastHeartbeat {
                from: beat.from,
                expected: beat.expected,
                at: beat.at.saturating_duration_since(self.start),
            };
            (id, last)
        });
        heartbeats.collect()
    }
}

/// Task that publishes changes.
struct FleetTask {
    fleet: Fleet,
    heartbeats: HeartbeatReader,
    publisher: Publisher<FleetReady>,
    headers: HeaderClock,
}

impl Endless for FleetTask {
    fn name(&self) -> String {
        "fleet".to_owned()
    }

    async fn work(&mut self) {
        loop {
            let (heartbeats, now) = (self.heartbeats.heartbeats(), self.heartbeats.start.elapsed());
            if let Some(message) = self.fleet.changed(&heartbeats, now, self.headers.now()) {
                // The publisher counts failures.
                let _counted = self.publisher.publish(&message);
            }
            tokio::time::sleep(next_moment(CHECK_PERIOD)).await;
        }
    }
}

/// The status of `/diagnostics`.
struct FleetStatus {
    fleet: Fleet,
    heartbeats: HeartbeatReader,
}

impl Section for FleetStatus {
    fn name(&self) -> &'static str {
        "fleet"
    }

    fn check(&mut self) -> Finding {
        let vehicles =
            self.fleet.readiness(&self.heartbeats.heartbeats(), self.heartbeats.start.elapsed());
        let missing = vehicles.iter().filter(|vehicle| !vehicle.ready);
        let missing: Vec<_> = missing.map(|vehicle| vehicle.id.to_string()).collect();
        let values = vehicles.iter().map(|vehicle| {
            let text = if vehicle.ready {
                format!("ready at {}", vehicle.address)
            } else {
                vehicle.missing.clone()
            };
            value(format!("vehicle {}", vehicle.id), text)
        });
        let (level, message) = if missing.is_empty() {
            (Level::Ok, format!("{} of {0} vehicles are simulated", vehicles.len()))
        } else {
            (
                Level::Warn,
                format!(
                    "{} of {} vehicles are simulated; missing: {}",
                    vehicles.len() - missing.len(),
                    vehicles.len(),
                    missing.join(", ")
                ),
            )
        };
        Finding { level, message, values: values.collect() }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        let now = self.heartbeats.start.elapsed();
        let absences = self.fleet.absences(&self.heartbeats.heartbeats(), now).into_iter();
        facts.absent_vehicles.extend(absences.map(|(vehicle, absence)| {
            let Absence { is_elsewhere, what, remedy } = absence;
            AbsentVehicle { vehicle, is_elsewhere, what, remedy }
        }));
    }
}
