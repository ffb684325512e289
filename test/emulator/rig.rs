//! An emulator on free ports and a reader that knows nothing of the bridge's reassembly.
use crate::support;
use crate::support::wait::wait_for;
use rfly_bridge::emulator::world::{Pose, Scene, SceneBox, ScriptedMotion, Vec3, Vehicle, World};
use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults};
use rfly_bridge::wire::{FragmentHeader, Ports, SensorRequest};
use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Long enough for a loaded machine; only a test that fails waits for it.
const HANG: Duration = Duration::from_secs(120);

pub(super) struct Rig {
    pub(super) emulator: Emulator,
    pub(super) client: UdpSocket,
    pub(super) heartbeats: UdpSocket,
    pub(super) states: UdpSocket,
}

/// A frame as a reader has it.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) payload: Vec<u8>,
    pub(super) sim_time: f64,
    pub(super) frame_id: Option<i32>,
    /// Length of each datagram, by number.
    pub(super) datagrams: Vec<usize>,
}

pub(super) fn socket() -> UdpSocket {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap();
    socket.set_recv_buffer_size(8 << 20).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    socket.set_read_timeout(Some(HANG)).unwrap();
    socket.into()
}

/// Vehicles that stand still among these boxes, numbered from 1.
pub(super) fn still(poses: &[Pose], blocks: &[SceneBox]) -> World {
    let vehicle = |(id, pose): (u16, &Pose)| Vehicle { id, motion: ScriptedMotion::Hover(*pose) };
    World {
        scene: Scene::of(blocks),
        vehicles: (1..).zip(poses).map(vehicle).collect(),
        walkers: Vec::new(),
    }
}

pub(super) fn block(centre: [f64; 3], half: [f64; 3]) -> SceneBox {
    SceneBox { centre: Vec3::from(centre), half: Vec3::from(half) }
}

/// Vehicle at `position` (NED, m), roll, pitch, yaw in degrees.
pub(super) fn pose(position: [f64; 3], degrees: [f64; 3]) -> Pose {
    Pose::new(position, degrees.map(f64::to_radians))
}

impl Rig {
    pub(super) fn start(world: World) -> Self {
        Self::with(world, |_| {}, Faults::default())
    }

    pub(super) fn with(
        world: World,
        change: impl FnOnce(&mut EmulatorOptions),
        faults: Faults,
    ) -> Self {
        let (heartbeats, states) = (socket(), socket());
        let port = |s: &UdpSocket| s.local_addr().unwrap().port();
        let mut options = EmulatorOptions {
            ports: Ports {
                window: 0,
                coptersim: 0,
                heartbeat: port(&heartbeats),
                true_state: port(&states),
                report: 9, // nobody listens to `discard`
                ..Ports::default()
            },
            state_rate: 0,
            // Leaves the reader time between two datagrams, of which a default receive buffer holds only a few.
            link_gbit_per_s: 1.0,
            world,
            ..EmulatorOptions::default()
        };
        change(&mut options);
        let emulator = Emulator::start(options, faults).unwrap();
        Self { emulator, client: socket(), heartbeats, states }
    }

    /// A request for a sensor on vehicle 1 that this rig's client will get; change what matters.
    pub(super) fn request(&self, seq_id: u16, type_id: u16) -> SensorRequest {
        let mut request = support::request::request(type_id, 64, 48);
        request.seq_id = seq_id;
        request.check_freq = 50;
        request.send_protocol.port = self.client.local_addr().unwrap().port();
        request
    }

    pub(super) fn send(&self, request: &SensorRequest) {
        let mut buffer = [0; 148];
        self.to_window(request.emit(&mut buffer));
    }

    pub(super) fn to_window(&self, bytes: &[u8]) {
        self.client.send_to(bytes, self.emulator.windows()[0]).unwrap();
    }

    /// Waits for the next whole frame of whatever was requested.
    pub(super) fn frame(&self) -> Frame {
        frame(&self.client)
    }

    /// Requests one sensor, takes one of its frames and forgets it.
    pub(super) fn shoot(&self, request: &SensorRequest) -> Frame {
        // A socket of its own: what others have sent meanwhile is not taken for it.
        let own = socket();
        let mut request = *request;
        request.send_protocol.port = own.local_addr().unwrap().port();
        self.send(&request);
        let frame = frame(&own);
        self.clear();
        frame
    }

    /// Returns once everything is sent that is due by now.
    pub(super) fn settle(&self) {
        let rounds = || self.emulator.stats().rounds;
        let before = rounds();
        wait(|| rounds() > before);
    }

    /// Forgets all sensors, and drops what they have sent.
    pub(super) fn clear(&self) {
        let mut buffer = [0; 256];
        let before = self.emulator.stats().commands;
        self.to_window(
            rfly_bridge::wire::console_command("RflyClearCapture", &mut buffer).unwrap(),
        );
        wait(|| self.emulator.stats().commands > before);
        // A tick may be on its way; the next frame of another sensor must not be mixed up with it.
        self.settle();
        self.client.set_nonblocking(true).unwrap();
        while self.client.recv(&mut [0; 1]).is_ok() {}
        self.client.set_nonblocking(false).unwrap();
    }
}

/// Waits for the next whole frame that arrives at a socket.
pub(super) fn frame(client: &UdpSocket) -> Frame {
    let mut parts: BTreeMap<u64, BTreeMap<u32, Vec<u8>>> = BTreeMap::new();
    let mut buffer = vec![0; 70_000];
    wait_for("a whole frame", || {
        let len = client.recv(&mut buffer).expect("a datagram of the emulator");
        let header = FragmentHeader::parse(&buffer[..len], len).expect("a fragment of an image");
        let pieces = parts.entry(header.sim_time.to_bits()).or_default();
        pieces.insert(header.seq, buffer[header.variant.len()..len].to_vec());
        if pieces.len() == header.count as usize {
            let overhead = header.variant.len();
            return Some(Frame {
                payload: pieces.values().flatten().copied().collect(),
                sim_time: header.sim_time,
                frame_id: header.frame_id,
                datagrams: pieces.values().map(|p| p.len() + overhead).collect(),
            });
        }
        None
    })
}

/// Datagrams that the system has dropped because this socket's receive buffer was full.
pub(super) fn overflows(socket: &UdpSocket) -> u64 {
    let address = format!("0100007F:{:04X}", socket.local_addr().unwrap().port());
    let table = std::fs::read_to_string("/proc/self/net/udp").unwrap();
    let mut rows = table.lines().map(|line| line.split_whitespace());
    let mut row = rows.find(|row| row.clone().nth(1) == Some(&address));
    let count = row.as_mut().and_then(Iterator::last);
    count.unwrap().parse().unwrap()
}

/// Waits until `done` says so.
pub(super) fn wait(done: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !done() {
        assert!(start.elapsed() < HANG, "the emulator hangs");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(super) fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
}
