//! Readiness of the fleet: a latched topic, and a status in `/diagnostics`.
use super::fleet_name;
use crate::config::{ControlLink, params::QosGroup};
use crate::doctor::{AbsentVehicle, BridgeFacts};
use crate::model::{Absence, Fleet, Heartbeats, LastHeartbeat};
use crate::node::section::{Finding, Level, Section, value};
use crate::node::tasks::{self, Endless, next_moment};
use crate::node::{
    assembly::Assembly, clock::HeaderClock, context::Context, error::NodeError, presence::Presence,
    settings::Settings,
};
use crate::{msgs::rfly_bridge_msgs::msg::FleetReady, ros::Publisher};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

const CHECK_PERIOD: Duration = Duration::from_millis(200);

pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    runtime: &Handle,
) -> Result<(), NodeError> {
    let Settings { params, ports, .. } = context.settings;
    // An autopilot that is reached directly may fly without CopterSim.
    let is_simulated = |id: &u16| {
        let link = params.control_link(*id);
        matches!(link, ControlLink::Simulator(_) | ControlLink::Off)
    };
    let vehicles = context.settings.vehicles().into_iter().filter(is_simulated);
    let fleet = Fleet::new(
        vehicles.map(|id| (id, params.copter_sim(id))),
        ports.heartbeat,
        params.request.timeout,
    );
    let fleet = FleetReader { fleet, presence: context.presence.clone(), start: context.start };
    let script = context.settings.origin.fleet.as_ref().map(|part| part.fleet.script(&part.host));
    assembly.add_section("fleet", FleetStatus { reader: fleet.clone(), script });
    let publisher = context.publisher(QosGroup::Latched, &fleet_name(context, "fleet/ready"))?;
    let headers = context.clocks.headers(None);
    tasks::start(runtime, FleetTask { reader: fleet, publisher, headers });
    Ok(())
}

#[derive(Clone)]
struct FleetReader {
    fleet: Fleet,
    presence: Presence,
    start: Instant,
}

impl FleetReader {
    /// Returns the heartbeats by vehicle, on the monotonic clock of the bridge.
    fn heartbeats(&self) -> Heartbeats {
        let all = self.presence.heartbeats().into_iter();
        all.map(|(id, beat)| {
            let at = beat.at.saturating_duration_since(self.start);
            (id, LastHeartbeat { from: beat.from, expected: beat.is_expected, at })
        })
        .collect()
    }
}

struct FleetTask {
    reader: FleetReader,
    publisher: Publisher<FleetReady>,
    headers: HeaderClock,
}

impl Endless for FleetTask {
    fn name(&self) -> String {
        "fleet".to_owned()
    }

    async fn work(&mut self) {
        loop {
            let (heartbeats, now) = (self.reader.heartbeats(), self.reader.start.elapsed());
            let changed = self.reader.fleet.changed(&heartbeats, now, self.headers.now());
            if let Some(message) = changed {
                // The publisher counts failures.
                let _counted = self.publisher.publish(&message);
            }
            tokio::time::sleep(next_moment(CHECK_PERIOD)).await;
        }
    }
}

/// The status in `/diagnostics`.
struct FleetStatus {
    reader: FleetReader,
    /// Settings that the platform's script on this PC needs by the fleet file.
    script: Option<String>,
}

impl Section for FleetStatus {
    fn check(&mut self) -> Finding {
        let Self { reader, .. } = self;
        let vehicles = reader.fleet.readiness(&reader.heartbeats(), reader.start.elapsed());
        let missing = vehicles.iter().filter(|vehicle| !vehicle.ready);
        let missing: Vec<_> = missing.map(|vehicle| vehicle.id.to_string()).collect();
        let values = vehicles.iter().map(|vehicle| {
            let ready = format!("ready at {}", vehicle.address);
            let text = if vehicle.ready { ready } else { vehicle.missing.clone() };
            value(format!("vehicle {}", vehicle.id), text)
        });
        let (all, ready) = (vehicles.len(), vehicles.len() - missing.len());
        let mut message = format!("{ready} of {all} vehicles are simulated");
        let level = if missing.is_empty() { Level::Ok } else { Level::Warn };
        if !missing.is_empty() {
            message += &format!("; missing: {}", missing.join(", "));
        }
        Finding { level, message, values: values.collect() }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        let Self { reader, script } = self;
        let absences = reader.fleet.absences(&reader.heartbeats(), reader.start.elapsed());
        facts.absent_vehicles.extend(absences.into_iter().map(|(vehicle, absence)| {
            let Absence { is_elsewhere, what, mut remedy } = absence;
            if let Some(script) = script {
                remedy += &format!("; by the fleet file, the script on its PC needs {script}");
            }
            AbsentVehicle { vehicle, is_elsewhere, what, remedy }
        }));
    }
}
