//! Emulates the simulator: renderer windows and vehicle simulators over the same wire types as the bridge.
//!
//! It shares only `wire` and `transport` with the bridge, so that it is an independent reference for tests of the bridge.
//!
//! ```no_run
//! use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults};
//! let emulator = Emulator::start(EmulatorOptions::default(), Faults::default())?;
//! println!("window 0 listens on {}", emulator.windows()[0]);
//! let stats = emulator.stop();
//! # Ok::<(), rfly_bridge::emulator::EmulatorError>(())
//! ```
pub mod autopilot;
pub mod clock;
mod cloud_format;
mod control;
mod engine;
mod faults;
mod model;
mod options;
mod pacer;
mod random;
mod render;
mod renderer;
mod report_requests;
mod sender;
mod sensor;
mod servers;
mod shared;
mod streams;
mod truth;
pub mod world;

pub use autopilot::ControlMode;
pub use cloud_format::{BodyAxes, CloudForm, CloudFormat, FourthSent, WireAxes};
pub use faults::{FaultCounts, FaultInjector, FaultScope, Faults};
pub use options::{AngleUnit, EmulatorOptions, LivoxPattern, StatePacket};
pub use render::class_colour;
pub use sensor::{LiveSensor, SensorRefusal, SensorTable, Tick};
pub use shared::{SensorStats, Stats};
pub use streams::{DueSensor, SensorFrame, Streams};

use crate::wire::{HOST_GROUP, NETWORK_GROUP};
use engine::Engine;
use sender::DelayedSender;
use servers::Role;
use shared::SharedState;
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread::{self, JoinHandle};
use std::{io, sync::Arc};
use truth::Truth;

/// Why the emulator cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum EmulatorError {
    /// A port cannot be bound.
    #[error("cannot listen on {address} for {what}")]
    Bind { what: String, address: SocketAddr, source: io::Error },
    /// The truth log cannot be written.
    #[error("cannot write the truth log")]
    Truth(#[source] io::Error),
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

/// A running emulator; stops on drop.
pub struct Emulator {
    shared: Arc<SharedState>,
    windows: Vec<SocketAddr>,
    coptersims: Vec<SocketAddr>,
    autopilots: Vec<SocketAddr>,
    control: Option<SocketAddr>,
    threads: Vec<JoinHandle<()>>,
}

impl Emulator {
    /// Binds every port and starts the simulation.
    pub fn start(options: EmulatorOptions, faults: Faults) -> Result<Self, EmulatorError> {
        let (bind, ports) = (options.bind, options.ports);
        let mut sockets = Vec::new();
        let mut open = |role: Role, what: String, port: u16| -> Result<(), EmulatorError> {
            sockets.push((role, listen(what, (bind, port).into())?));
            Ok(())
        };
        for window in 0..options.windows {
            open(Role::Window(window.into()), format!("window {window}"), ports.window(window))?;
        }
        for id in options.world.vehicles.iter().map(|vehicle| vehicle.id) {
            let what = format!("CopterSim of vehicle {id}");
            open(Role::CopterSim(id), what, ports.coptersim(id))?;
        }
        for id in options.world.vehicles.iter().map(|vehicle| vehicle.id) {
            let port = match options.autopilot {
                Some(ControlMode::Direct) => ports.direct(id),
                Some(_) => ports.autopilot(id),
                None => break,
            };
            open(Role::Autopilot(id), format!("the autopilot of vehicle {id}"), port)?;
        }
        if let Some(port) = options.control {
            open(Role::Control, "commands".to_owned(), port)?;
        }
        let groups = [
            (ports.host_windows, HOST_GROUP, Role::Group),
            (ports.network_windows, NETWORK_GROUP, Role::Group),
            (ports.requests, NETWORK_GROUP, Role::Requests),
        ];
        for (port, group, role) in groups.into_iter().filter(|_| options.multicast) {
            sockets.push((role, listen_group(group, port)?));
        }
        let truth = Truth::open(&options).map_err(EmulatorError::Truth)?;
        let addresses = |is_role: fn(&Role) -> bool| -> Vec<SocketAddr> {
            sockets_of(&sockets, is_role).iter().filter_map(|s| s.local_addr().ok()).collect()
        };
        let mut emulator = Self {
            windows: addresses(|role| matches!(role, Role::Window(_))),
            coptersims: addresses(|role| matches!(role, Role::CopterSim(_))),
            autopilots: addresses(|role| matches!(role, Role::Autopilot(_))),
            control: addresses(|role| *role == Role::Control).first().copied(),
            shared: Arc::new(SharedState::new(options, faults)),
            threads: Vec::new(),
        };
        emulator.launch(sockets, truth)?;
        Ok(emulator)
    }

    fn launch(
        &mut self,
        mut sockets: Vec<(Role, Arc<UdpSocket>)>,
        truth: Truth,
    ) -> Result<(), EmulatorError> {
        let delayed = Arc::new(DelayedSender::default());
        let engine = Engine::new(
            Arc::clone(&self.shared),
            sockets_of(&sockets, |role| matches!(role, Role::Window(_))),
            Arc::clone(&delayed),
            truth,
        );
        self.spawn("emu-render", move |_| engine.run())?;
        let sender = Arc::clone(&delayed);
        self.spawn("emu-delay", move |shared| sender.run(|| shared.is_stopped()))?;
        let coptersims = sockets_of(&sockets, |role| matches!(role, Role::CopterSim(_)));
        if let Some(socket) = coptersims.into_iter().next() {
            self.spawn("emu-copter", move |shared| {
                servers::coptersim::run(shared, &socket, &delayed);
            })?;
        }
        let pilots: Vec<_> =
            sockets.extract_if(.., |(role, _)| matches!(role, Role::Autopilot(_))).collect();
        if !pilots.is_empty() {
            self.spawn("emu-pilot", move |shared| servers::autopilot::run(shared, &pilots))?;
        }
        self.spawn("emu-serve", move |shared| servers::run(shared, &sockets))
    }

    fn spawn(
        &mut self,
        name: &str,
        body: impl FnOnce(&SharedState) + Send + 'static,
    ) -> Result<(), EmulatorError> {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || body(&shared));
        self.threads.push(thread.map_err(EmulatorError::Thread)?);
        Ok(())
    }

    /// Returns the addresses of the windows.
    pub fn windows(&self) -> &[SocketAddr] {
        &self.windows
    }

    /// Returns the address of each vehicle's `CopterSim`, in the order of their ids.
    pub fn coptersims(&self) -> &[SocketAddr] {
        &self.coptersims
    }

    /// Returns the address of each vehicle's autopilot, in the order of their ids.
    pub fn autopilots(&self) -> &[SocketAddr] {
        &self.autopilots
    }

    /// Returns the address for commands to the emulator.
    pub fn control(&self) -> Option<SocketAddr> {
        self.control
    }

    /// Restarts the simulation: time 0, no sensors, frame ids from the beginning.
    pub fn restart(&self) {
        self.shared.restart();
    }

    /// Pauses or resumes simulation time and all data.
    pub fn set_paused(&self, paused: bool) {
        self.shared.set_clock(|clock| clock.set_paused(paused));
    }

    /// Returns simulation time in s.
    pub fn sim_time(&self) -> f64 {
        self.shared.clock().now()
    }

    /// Returns the counters.
    pub fn stats(&self) -> Stats {
        self.shared.stats.lock().clone()
    }

    /// Returns the state of the renderer and of the vehicles' models, as the command `state` does.
    pub fn state(&self) -> serde_json::Value {
        control::state(&self.shared)
    }

    /// Stops the emulator and returns the counters.
    pub fn stop(mut self) -> Stats {
        self.finish();
        self.stats()
    }

    fn finish(&mut self) {
        self.shared.stop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the emulator panicked");
            }
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.finish();
    }
}

fn sockets_of(all: &[(Role, Arc<UdpSocket>)], is_role: fn(&Role) -> bool) -> Vec<Arc<UdpSocket>> {
    all.iter().filter(|(role, _)| is_role(role)).map(|(_, socket)| Arc::clone(socket)).collect()
}

/// Opens a socket for datagrams to a multicast group on loopback.
fn listen_group(group: Ipv4Addr, port: u16) -> Result<Arc<UdpSocket>, EmulatorError> {
    let address = SocketAddr::from((group, port));
    let open = || -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?; // receives only the group's datagrams
        socket.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)?;
        Ok(socket.into())
    };
    let bind =
        |source| EmulatorError::Bind { what: "multicast requests".to_owned(), address, source };
    open().map(Arc::new).map_err(bind)
}

/// Opens a socket for receiving and answering.
fn listen(what: String, address: SocketAddr) -> Result<Arc<UdpSocket>, EmulatorError> {
    let open = || -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
        if address.is_ipv4() {
            // Keeps multicast off real networks; where the interface cannot be set (qemu-user), a TTL of 0 does.
            let set = socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST);
            set.or_else(|_| socket.set_multicast_ttl_v4(0))?;
        }
        socket.bind(&address.into())?;
        Ok(socket.into())
    };
    open().map(Arc::new).map_err(|source| EmulatorError::Bind { what, address, source })
}
