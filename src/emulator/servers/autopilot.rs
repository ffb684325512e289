//! One thread flies all vehicles: it polls their sockets, steps their autopilots and sends their output.
use super::Role;
use crate::emulator::autopilot::{Autopilot, ControlMode, Damage, DatagramQueue, VehicleSetup};
use crate::emulator::clock::Steps;
use crate::emulator::model::ModelState;
use crate::emulator::shared::{SharedState, VehicleRequest};
use crate::emulator::world::{Kinematics, Pose, ScriptedMotion};
use crate::transport::{try_recv_from, wait_readable};
use crate::wire::{IntoBytes as _, Packet as _, Px4ExtPacket, RebootPacket};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::{sync::Arc, time::Duration};

/// Datagrams per turn of one vehicle's socket.
const BATCH: usize = 64;

/// A vehicle and its link to the controlling host.
struct PilotedVehicle {
    id: u16,
    socket: Arc<UdpSocket>,
    /// Destination of its output; an autopilot without `CopterSim` has none until it receives a datagram.
    client: Option<SocketAddr>,
    control: ControlMode,
    /// Pose set by a request, at which the vehicle starts.
    placed: Option<ScriptedMotion>,
    /// Whether it flies as a fixed wing.
    is_wing: bool,
    /// Damage that was passed to the autopilot.
    damage: Damage,
    pilot: Autopilot,
}

/// Flies all vehicles until the emulator stops.
pub(in crate::emulator) fn run(shared: &SharedState, sockets: &[(Role, Arc<UdpSocket>)]) {
    let Some(control) = shared.options.autopilot else { return };
    let vehicle = |(role, socket): &(Role, Arc<UdpSocket>)| match role {
        Role::Autopilot(id) => Some(PilotedVehicle::new(shared, *id, Arc::clone(socket), control)),
        _ => None,
    };
    let mut vehicles: Vec<PilotedVehicle> = sockets.iter().filter_map(vehicle).collect();
    let mut out = DatagramQueue::default();
    let mut buffer = [0u8; 2048];
    let mut run = shared.clock().run;
    let mut steps = Steps::default();
    while !shared.is_stopped() {
        // Taken before the run is read, so that requests made after a restart are executed after it.
        let requests = std::mem::take(&mut *shared.requests.lock());
        if run != shared.clock().run {
            run = shared.clock().run;
            steps = Steps::default();
            for vehicle in &mut vehicles {
                vehicle.placed = None;
                vehicle.is_wing = shared.options.fixed_wing;
                vehicle.restart(shared);
            }
        }
        for (id, request) in requests {
            for vehicle in vehicles.iter_mut().filter(|vehicle| vehicle.id == id) {
                vehicle.execute(shared, request);
            }
        }
        wait(shared, sockets, steps.next());
        // Steps come first, so that simulation time is up to date when a datagram is answered.
        while let Some(now) = shared.due(run, &mut steps) {
            for vehicle in &mut vehicles {
                vehicle.step(shared, now, &mut out);
            }
            shared.clock.lock().reach(run, steps.next());
        }
        for vehicle in &mut vehicles {
            vehicle.listen(shared, &mut buffer, &mut out);
        }
    }
}

/// Waits for a datagram or until the next step is due.
fn wait(shared: &SharedState, sockets: &[(Role, Arc<UdpSocket>)], next: f64) {
    const LONGEST: Duration = Duration::from_millis(20);
    let nap = shared.clock().until(next).map_or(LONGEST, |d| d.min(LONGEST));
    // Polling sockets has a resolution of 1 ms.
    if nap.as_millis() == 0 {
        std::thread::sleep(nap);
    } else {
        wait_readable(sockets.iter().map(|(_, s)| &**s), nap);
    }
}

impl PilotedVehicle {
    fn new(shared: &SharedState, id: u16, socket: Arc<UdpSocket>, control: ControlMode) -> Self {
        let port = shared.options.ports.autopilot_client(id);
        let has_client = control != ControlMode::Direct && !shared.options.restricted;
        Self {
            id,
            socket,
            client: has_client.then(|| SocketAddr::new(shared.options.client, port)),
            control,
            placed: None,
            is_wing: shared.options.fixed_wing,
            damage: Damage::default(),
            pilot: new_autopilot(shared, id, control, shared.options.fixed_wing),
        }
    }

    fn restart(&mut self, shared: &SharedState) {
        shared.place_vehicle(self.id, self.placed);
        self.damage = Damage::default();
        self.pilot = new_autopilot(shared, self.id, self.control, self.is_wing);
    }

    fn execute(&mut self, shared: &SharedState, request: VehicleRequest) {
        let is_direct = self.control == ControlMode::Direct;
        match request {
            VehicleRequest::Control(control) if self.control == control || is_direct => {}
            VehicleRequest::Control(control) => {
                self.control = control;
                self.restart(shared);
            }
            VehicleRequest::Place(pose) => {
                self.placed = Some(ScriptedMotion::Hover(pose));
                self.restart(shared);
            }
            VehicleRequest::Model { is_wing } => {
                self.is_wing = is_wing;
                self.restart(shared);
            }
            VehicleRequest::Outputs(outputs) => self.pilot.set_outputs(outputs),
            VehicleRequest::Origin => self.restart(shared),
            VehicleRequest::Client(_) if is_direct => {}
            VehicleRequest::Client(ip) => {
                let port = shared.options.ports.autopilot_client(self.id);
                let port = self.client.map_or(port, |client| client.port());
                self.client = Some(SocketAddr::new(ip, port));
            }
            VehicleRequest::Battery(percent) => self.pilot.override_battery(percent),
            VehicleRequest::Fence(limits) => self.pilot.set_fence(limits),
        }
    }

    /// Motion of the vehicle until it is first armed.
    fn scripted(&self, shared: &SharedState, now: f64) -> Option<Kinematics> {
        let vehicle = shared.options.world.vehicle(self.id)?;
        Some(self.placed.unwrap_or(vehicle.motion).at(now))
    }

    fn listen(&mut self, shared: &SharedState, buffer: &mut [u8], out: &mut DatagramQueue) {
        for _ in 0..BATCH {
            let Some((len, source)) = try_recv_from(&self.socket, buffer) else { break };
            let ip = match source.ip() {
                IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4),
                ip => ip,
            };
            let has_coptersim = self.control != ControlMode::Direct;
            if has_coptersim {
                self.client.iter_mut().for_each(|to| to.set_ip(ip));
            } else {
                self.client = Some(SocketAddr::new(ip, source.port()));
            }
            if has_coptersim && RebootPacket::parse(&buffer[..len]).is_ok() {
                self.restart(shared);
                continue;
            }
            self.pilot.set_clock(shared.clock().now());
            self.pilot.receive(&buffer[..len], out);
            self.send(out);
        }
    }

    fn step(&mut self, shared: &SharedState, now: f64, out: &mut DatagramQueue) {
        let Some(scripted) = self.scripted(shared, now) else { return };
        let damage = shared.damage(self.id);
        if damage != self.damage {
            self.damage = damage;
            self.pilot.set_damage(damage);
        }
        let command = { shared.models.lock() }.get_mut(&self.id).and_then(ModelState::take_command);
        if let Some(command) = command {
            self.pilot.steer(&command);
        }
        self.pilot.step(now, &scripted, out);
        self.send(out);
        self.forward_outputs(shared, now);
        if let Some(segment) = self.pilot.segment() {
            shared.push_motion(self.id, segment);
        }
    }

    /// `CopterSim` forwards the outputs of a model in the autopilot.
    fn forward_outputs(&mut self, shared: &SharedState, now: f64) {
        let client = self.client.filter(|_| self.control != ControlMode::Direct);
        if let (Some(controls), Some(client)) = (self.pilot.take_outputs(), client) {
            let port = shared.options.ports.outputs(self.id);
            let packet = Px4ExtPacket::new(self.id.into(), now, controls);
            let _ = self.socket.send_to(packet.as_bytes(), (client.ip(), port)); // there may be no listener
        }
    }

    fn send(&self, out: &mut DatagramQueue) {
        if let Some(client) = self.client {
            for datagram in out.datagrams() {
                let _ = self.socket.send_to(datagram, client); // there may be no listener
            }
        }
        out.clear();
    }
}

fn new_autopilot(shared: &SharedState, id: u16, control: ControlMode, is_wing: bool) -> Autopilot {
    let clock = shared.clock();
    let now = clock.now();
    let mut setup = VehicleSetup::new(id as u8, clock.start_ns / 1000, control);
    setup.geo = *shared.geo.lock();
    setup.wing = is_wing;
    setup.battery = shared.options.battery;
    setup.fence = shared.options.fence;
    let at_centre = ScriptedMotion::Hover(Pose::new([0.0; 3], [0.0; 3]));
    let motion = shared.motion(id, now);
    Autopilot::new(setup, now, &motion.unwrap_or_else(|| at_centre.at(now)))
}
