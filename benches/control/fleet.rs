//! Autopilots that report at PX4's rates and note which setpoints arrive.
use super::Result;
use mavlink::Message as _;
use rfly_bridge::wire::mavlink::dialect::MavSeverity;
use rfly_bridge::wire::mavlink::raw::Heartbeat;
use rfly_bridge::wire::mavlink::{Encoder, MavMessage, Outbound, frames};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Message and rate in Hz, measured on PX4 1.16 with an onboard link; 398 a second in all.
const RATES: [(u32, f64); 26] = [
    (30, 100.0),
    (31, 50.0),
    (105, 50.0),
    (33, 50.0),
    (32, 30.0),
    (331, 30.0),
    (141, 10.0),
    (132, 10.0),
    (83, 10.0),
    (85, 10.0),
    (36, 10.0),
    (74, 10.0),
    (24, 8.0),
    (245, 5.0),
    (1, 5.0),
    (42, 1.0),
    (230, 1.0),
    (4, 1.0),
    (29, 1.0),
    (2, 1.0),
    (147, 0.5),
    (242, 0.5),
    (241, 0.5),
    (111, 10.0),
    (253, 0.1),
    (410, 0.1),
];
const TICK: Duration = Duration::from_millis(10);

/// Number and time of each setpoint that arrived.
pub(crate) type Arrivals = Arc<Mutex<Vec<(u32, Instant)>>>;

/// Running autopilots; they end when this is dropped.
pub(crate) struct Fleet {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    refused: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Fleet {
    /// Starts vehicles 1 to `count`.
    pub(crate) fn start(count: u16, arrivals: Arrivals) -> Result<Self> {
        let mut sockets = Vec::new();
        for id in 1..=count {
            let socket = UdpSocket::bind(("127.0.0.1", 20_098 + 2 * id))?;
            socket.connect(("127.0.0.1", 20_099 + 2 * id))?;
            sockets.push(socket);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let sent = Arc::new(AtomicU64::new(0));
        let refused = Arc::new(AtomicU64::new(0));
        let listener = sockets
            .first()
            .ok_or("a fleet has a vehicle")?
            .try_clone()?;
        listener.set_read_timeout(Some(Duration::from_millis(100)))?;
        let end = stop.clone();
        let listen = thread("setpoints", move || listen(&listener, &arrivals, &end))?;
        let (end, count, lost) = (stop.clone(), sent.clone(), refused.clone());
        let report = thread("telemetry", move || report(&sockets, &end, &count, &lost))?;
        Ok(Self {
            stop,
            sent,
            refused,
            threads: vec![listen, report],
        })
    }

    /// Datagrams sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Datagrams that the network did not take, for example while the bridge is not there yet.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
}

fn listen(socket: &UdpSocket, arrivals: &Arrivals, stop: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        let Ok(len) = socket.recv(&mut buffer) else {
            continue;
        };
        let now = Instant::now();
        for frame in frames(&buffer[..len]).flatten() {
            // SET_POSITION_TARGET_LOCAL_NED begins with time_boot_ms.
            if frame.id == 84
                && let Ok(mut arrivals) = arrivals.lock()
            {
                arrivals.push((u32::from_le_bytes(frame.bytes_at(0)), now));
            }
        }
    }
}

fn report(sockets: &[UdpSocket], stop: &AtomicBool, sent: &AtomicU64, refused: &AtomicU64) {
    let start = Instant::now();
    let mut encoders: Vec<_> = (1..=sockets.len())
        .map(|id| Encoder::new(id as u8, 1))
        .collect();
    let mut due = vec![0.0; RATES.len() + 1];
    let mut tick = 0;
    while !stop.load(Ordering::Relaxed) {
        tick += 1;
        let mut messages: Vec<Outbound> = Vec::new();
        for (due, (id, rate)) in due.iter_mut().zip(RATES) {
            *due += rate * TICK.as_secs_f64();
            while *due >= 1.0 {
                *due -= 1.0;
                messages.extend(example(id));
            }
        }
        if tick % 100 == 1 {
            messages.push(heartbeat().into());
        }
        for message in &messages {
            for (socket, encoder) in sockets.iter().zip(&mut encoders) {
                let count = match socket.send(encoder.encode(message).as_bytes()) {
                    Ok(_) => sent,
                    Err(_) => refused,
                };
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        let next = start + TICK * tick;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

fn heartbeat() -> Heartbeat {
    Heartbeat {
        custom_mode: 6 << 16,
        kind: 2,
        autopilot: 12,
        base_mode: 157,
        system_status: 4,
        mavlink_version: 3,
    }
}

/// A message with values that a vehicle can have.
fn example(id: u32) -> Option<Outbound> {
    let mut message = MavMessage::default_message_from_id(id)?;
    match &mut message {
        MavMessage::ATTITUDE_QUATERNION(attitude) => attitude.q1 = 1.0,
        MavMessage::STATUSTEXT(text) => text.severity = MavSeverity::MAV_SEVERITY_INFO,
        _ => (),
    }
    Some(message.into())
}
