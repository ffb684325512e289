//! Where the simulator's datagrams come from and arrive, according to the settings.
use super::settings::Settings;
use crate::config::{ControlLink, params::VehicleParams};
use crate::doctor::{AutopilotFacts, SourceRole};
use std::{collections::BTreeSet, net::Ipv4Addr};

/// Returns the address of a source's sender and the port of this host; `None` for a source without datagrams of the simulator.
pub(super) fn awaited(settings: &Settings, role: &SourceRole) -> Option<(Ipv4Addr, u16)> {
    let Settings { params, ports, .. } = settings;
    let from_vehicle =
        |id: u16, port: u16| is_simulated(settings, id).then(|| (params.copter_sim(id), port));
    match role {
        SourceRole::Sensor(seq_id) => {
            let mut sensors = settings.sensors.iter();
            let sensor = sensors.find(|s| s.seq_id == *seq_id && s.transport.is_udp())?;
            Some((params.simulator_address, sensor.port))
        }
        SourceRole::Heartbeats => {
            let vehicle = settings.vehicles().into_iter().find(|id| is_simulated(settings, *id))?;
            Some((params.copter_sim(vehicle), ports.heartbeat))
        }
        SourceRole::TrueState(id) => from_vehicle(*id, ports.true_state(*id)),
        SourceRole::Imu(id) => from_vehicle(*id, ports.imu(*id)),
        SourceRole::Autopilot(facts) => {
            from_vehicle(facts.vehicle, ports.autopilot_client(facts.vehicle))
        }
        SourceRole::Other => None,
    }
}

/// Returns the ports of the simulator that the bridge sends to.
pub(super) fn sends_to(settings: &Settings) -> BTreeSet<u16> {
    let ports = &settings.ports;
    let vehicles = settings.vehicles().into_iter().filter(|id| is_simulated(settings, *id));
    let vehicles = vehicles.flat_map(|id| [ports.coptersim(id), ports.autopilot(id)]);
    vehicles.chain([settings.renderer().port(), ports.requests]).collect()
}

/// Returns the UDP ports of this host that the simulator sends to.
pub(super) fn listens(settings: &Settings) -> BTreeSet<u16> {
    let sensors = settings.sensors.iter().map(|sensor| SourceRole::Sensor(sensor.seq_id));
    let vehicles = settings.vehicles().into_iter().flat_map(|vehicle| {
        let autopilot = AutopilotFacts { vehicle, ..AutopilotFacts::default() };
        [SourceRole::TrueState(vehicle), SourceRole::Imu(vehicle), SourceRole::Autopilot(autopilot)]
    });
    let roles = sensors.chain(vehicles).chain([SourceRole::Heartbeats]);
    roles.filter_map(|role| Some(awaited(settings, &role)?.1)).collect()
}

/// Whether a CopterSim simulates the vehicle.
fn is_simulated(settings: &Settings, id: u16) -> bool {
    let own = settings.params.per_vehicle.get(&id);
    let is_elsewhere = matches!(
        settings.params.control_link(id),
        ControlLink::Direct { .. } | ControlLink::Serial { .. }
    );
    !is_elsewhere && !own.is_some_and(VehicleParams::is_flown_here)
}
