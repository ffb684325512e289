//! Control of the vehicles: the link to each autopilot and its topics, named as in mavros. All vehicles share one thread.
use super::autopilot_task::{AutopilotTask, LinkTask, LinkTransport};
use super::{map_centre::MapCentre, peer::Peer, serial, truth::TruthRelay};
use crate::config::params::{HeartbeatKind, TfSource};
use crate::config::{ControlLink, SimMode};
use crate::doctor::{AutopilotFacts, SourceRole};
use crate::node::{
    assembly::Assembly, clock::elapsed, context::Context, error::NodeError, settings::Settings,
    tasks,
};
use crate::transport::BindOptions;
use crate::vehicle::{
    Autopilot, Link, MavlinkLink, Now, Sink, UdpFullLink, UdpSimpleLink, UdpUltraSimpleLink,
    VehicleInterface, VehicleNames, VehicleSettings,
};
use std::{collections::BTreeMap, net::SocketAddrV4, sync::Arc, time::Instant};
use tokio::sync::Notify;

/// The thread of all autopilots.
const CONTROL_THREAD: &str = "rfly-control";

/// Opens the link and the topics of every controlled vehicle; the relays get the true states received on the links.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    map_centre: &MapCentre,
    relays: &BTreeMap<u16, TruthRelay>,
) -> Result<(), NodeError> {
    let params = &context.settings.params;
    let controlled = controlled(context.settings);
    if controlled.is_empty() {
        return Ok(());
    }
    let runtime = assembly.threads.runtime(CONTROL_THREAD)?;
    let _entered = runtime.enter();
    for (id, link) in controlled {
        let what = format!("control of vehicle {id} ({link})");
        let transport = match link {
            ControlLink::Off => continue,
            ControlLink::Serial { device, baud } => {
                LinkTransport::Serial(serial::SerialLine::new(device, *baud))
            }
            ControlLink::Direct { local, address, port } => {
                let address = address.unwrap_or_else(|| params.copter_sim(id));
                let options = context.senders.port(*local);
                let Some(socket) = assembly.binder.bind(&options, &what) else { continue };
                LinkTransport::Udp(socket, SocketAddrV4::new(address, *port))
            }
            ControlLink::Simulator(_) => {
                let ports = &context.settings.ports;
                let options = BindOptions {
                    buffer_bytes: 1 << 20,
                    ..context.senders.port(ports.autopilot_client(id))
                };
                let Some(socket) = assembly.binder.bind(&options, &what) else { continue };
                let peer = SocketAddrV4::new(params.copter_sim(id), ports.autopilot(id));
                LinkTransport::Udp(socket, peer)
            }
        };
        let kind =
            SourceRole::Autopilot(AutopilotFacts { vehicle: id, ..AutopilotFacts::default() });
        let stats = assembly.add_source_of(kind, format!("autopilot of vehicle {id}"));
        let wake = Arc::new(Notify::new());
        let interface = interface(context, id, link, transport.sink(), wake.clone())?;
        if *link == ControlLink::Simulator(SimMode::UdpUltraSimple)
            && let Some(relay) = relays.get(&id)
        {
            relay.feed(interface.handle());
        }
        let task = AutopilotTask {
            handle: interface.handle(),
            wake,
            stats,
            start: context.start,
            tf: match params.frames.tf_source {
                TfSource::Estimate => context.tf.clone(),
                TfSource::Truth | TfSource::External => None,
            },
            static_tf: context.static_tf.clone(),
            map_centre: map_centre.clone(),
            relay: relays.get(&id).cloned(),
            vehicle: id,
            peer: Peer::default(),
            origin: None,
            is_outside_map: false,
            last_report: Instant::now(),
            setpoints: (Instant::now(), 0),
        };
        tasks::start_counted(&runtime, task.stats.clone(), LinkTask(task, transport));
        assembly.guards.push(Box::new(interface));
    }
    Ok(())
}

fn controlled(settings: &Settings) -> Vec<(u16, &ControlLink)> {
    let vehicles = settings.vehicles().into_iter();
    let links = vehicles.map(|id| (id, settings.params.control_link(id)));
    links.filter(|(_, link)| **link != ControlLink::Off).collect()
}

/// Absolute prefixes of the topics named as in mavros.
pub(super) fn prefixes(context: &Context<'_>) -> Vec<String> {
    let controlled = controlled(context.settings).into_iter();
    let prefixes = controlled.map(|(id, _)| context.settings.params.control_prefix(id));
    prefixes.filter_map(|prefix| context.middleware.resolve(&prefix).ok()).collect()
}

fn interface(
    context: &Context<'_>,
    id: u16,
    link: &ControlLink,
    sink: Sink,
    wake: Arc<Notify>,
) -> Result<VehicleInterface, NodeError> {
    // CopterSim gives its autopilot the CopterID as system id; any other autopilot has a system id of its own.
    let adopt_system = !matches!(link, ControlLink::Simulator(_));
    let link: Box<dyn Link> = match link {
        ControlLink::Simulator(SimMode::UdpFull) => Box::new(UdpFullLink::new(id, sink)),
        ControlLink::Simulator(SimMode::UdpSimple) => Box::new(UdpSimpleLink::new(id, sink)),
        ControlLink::Simulator(SimMode::UdpUltraSimple) => {
            Box::new(UdpUltraSimpleLink::new(id, sink))
        }
        _ => Box::new(MavlinkLink::new(sink)),
    };
    let names = context.tree.names();
    let params = &context.settings.params;
    let control = &params.control;
    let settings = VehicleSettings {
        id,
        adopt_system,
        map: names.map.clone(),
        local: context.tree.local_origin(id),
        odom: names.of_vehicle(id, &names.odom),
        base_link: context.tree.base_link(id),
        system: (control.system_id != 0).then_some(control.system_id),
        component: control.component_id,
        ground_station: control.heartbeat == HeartbeatKind::GroundStation,
        read_only: control.read_only,
        timeout: control.timeout,
        keep_alive: control.keep_alive,
        read_parameters: control.read_parameters,
        quirks: params.mavros_quirks,
        px4_checks: control.px4_checks,
        max_position: control.max_position,
        max_speed: control.max_speed,
        geoid: control.geoid,
        position_frame: params.setpoint.position_frame,
        velocity_frame: params.setpoint.velocity_frame,
        send_force: params.setpoint.accel_is_force,
        use_quaternion: params.setpoint.use_quaternion,
        reverse_thrust: params.setpoint.reverse_thrust,
        thrust_scaling: params.setpoint.thrust_scaling,
    };
    let (start, headers) = (context.start, context.clocks.headers(Some(id)));
    Ok(VehicleInterface::open(
        context.middleware,
        VehicleNames { id, prefix: &params.control_prefix(id), plugins: &control.plugins },
        &|group, topic| context.qos(group, topic),
        Arc::new(move || Now { mono: elapsed(start), ros: headers.now() }),
        move || wake.notify_one(),
        |open| Autopilot::open(open, settings, link),
    )?)
}
