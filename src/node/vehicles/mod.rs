//! The vehicles: heartbeats, true states, IMUs, and the links to their autopilots.
mod autopilot_task;
mod control;
mod discovery;
mod heartbeat_directory;
mod heartbeats;
mod imu;
mod map_centre;
mod model_output;
mod peer;
mod requester;
mod serial;
mod source_choice;
mod truth;
mod unserved;

pub(super) use discovery::with_discovered;
pub use heartbeat_directory::{Announcement, HeartbeatDirectory, VehicleAddress};
pub use peer::Peer;
pub use unserved::{Endpoint, Unserved};

use crate::node::subsystem::{SERVICE_HEAD, Subsystem, TopicPage};
use crate::node::{assembly::Assembly, context::Context, error::NodeError, threads::PROMPT};
use crate::vehicle::{GPS_TOPIC, SERVICES, TOPICS, TRUTH_TOPICS};
use map_centre::MapCentre;
use std::{collections::BTreeMap, sync::Arc};
use truth::{TruthRelay, VehicleContext};

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let map_centre = MapCentre::default();
    let relays = open_sources(context, assembly, &map_centre)?;
    control::open(context, assembly, &map_centre, &relays)?;
    requester::open(context, assembly)?;
    let prefixes = control::prefixes(context);
    assembly.topic_groups.extend(prefixes.iter().cloned());
    let unserved = unserved::UnservedStatus::new(context.middleware, prefixes);
    assembly.add_section("unserved", unserved);
    for vehicle in context.settings.vehicles() {
        assembly.frame_ids.extend([
            context.settings.imu_frame(&context.tree, vehicle),
            context.tree.local_origin(vehicle),
            context.tree.base_link(vehicle),
        ]);
    }
    Ok(())
}

/// Opens heartbeats, true states and IMUs; returns the relays for true states received on the autopilots' links.
fn open_sources(
    context: &Context<'_>,
    assembly: &mut Assembly,
    map_centre: &MapCentre,
) -> Result<BTreeMap<u16, TruthRelay>, NodeError> {
    let runtime = assembly.threads.runtime(PROMPT)?;
    let _entered = runtime.enter();
    heartbeats::open(context, assembly, &runtime);
    let mut relays = BTreeMap::new();
    for vehicle in context.settings.vehicles() {
        let Some(clock) = context.clocks.of(Some(vehicle)) else { continue };
        let shared = VehicleContext { id: vehicle, clock, motion: Arc::default() };
        if let Some(relay) = truth::open(context, assembly, &runtime, &shared, map_centre)? {
            relays.insert(vehicle, relay);
        }
        if context.settings.params.imu.enabled {
            imu::open(context, assembly, &runtime, shared)?;
        }
    }
    Ok(relays)
}

fn topics(page: &mut TopicPage) {
    page.sensors += IMU;
    for topic in TRUTH_TOPICS.iter().chain([&GPS_TOPIC]) {
        let name = format!("/rflysim/{}", topic.name);
        page.topic(&[&name], topic.interface, &[topic.group], topic.doc);
    }
    page.chapters += MAVROS;
    page.topic_rows("", &TOPICS);
    page.chapters += SERVICE_HEAD;
    page.service_rows("", &SERVICES);
}

const IMU: &str = "\
| IMU | imu | `/rflysim/imu` | `sensor_msgs/msg/Imu` | `<prefix>imu_link` | `imu` | all | FLU, m/s², rad/s; no orientation (REP 145) unless `imu.orientation` is `truth` |
";

const MAVROS: &str = "
# Control of vehicles, as mavros has it

Below the prefix of the vehicle (`control.prefix`; `/mavros`, `/mavros2`, ...), made from the table `TOPICS` of
`src/vehicle/topics.rs`. What differs from mavros and why: [mavros.md](mavros.md). Subscriptions are best effort, volatile,
depth 5: they match every writer.

| Topic | | Type | QoS | Content |
|---|---|---|---|---|
";
