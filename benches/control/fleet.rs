//! Autopilots that send telemetry at PX4's rates, answer TIMESYNC requests, and note the arrival of setpoints.
use super::Result;
use super::flight::{Flight, timesync};
use rfly_bridge::wire::mavlink::raw::Timesync;
use rfly_bridge::wire::mavlink::{Encoder, frames};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(10);
/// Time since boot of each vehicle at the start of the fleet.
const BOOTED: Duration = Duration::from_secs(60);

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
        let start = Instant::now();
        let mut threads = Vec::new();
        for (id, socket) in (1..).zip(&sockets) {
            let (socket, arrivals, end) = (socket.try_clone()?, arrivals.clone(), stop.clone());
            socket.set_read_timeout(Some(Duration::from_millis(100)))?;
            let listen = move || listen(id, &socket, start, &arrivals, &end);
            threads.push(thread("autopilot", listen)?);
        }
        let flight = Flight::new()?;
        let (end, count, lost) = (stop.clone(), sent.clone(), refused.clone());
        threads.push(thread("telemetry", move || {
            report(&sockets, flight, start, &end, &count, &lost);
        })?);
        Ok(Self { stop, sent, refused, threads })
    }

    /// Datagrams sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Datagrams that the system refused to send, for example because the bridge has not bound its port yet.
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
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// Time since the vehicle booted.
fn boot_time(start: Instant) -> Duration {
    BOOTED + start.elapsed()
}

fn listen(id: u8, socket: &UdpSocket, start: Instant, arrivals: &Arrivals, stop: &AtomicBool) {
    let mut encoder = Encoder::new(id, 1);
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
            // A TIMESYNC request; PX4 answers it at once.
            if let Some(Timesync { tc1: 0, ts1, .. }) = Timesync::parse(&frame) {
                let answer = timesync(ts1, boot_time(start));
                // Like any datagram, it may be lost.
                let _lost = socket.send(encoder.encode(&answer.into()).as_bytes());
            }
        }
    }
}

fn report(
    sockets: &[UdpSocket],
    mut flight: Flight,
    start: Instant,
    stop: &AtomicBool,
    sent: &AtomicU64,
    refused: &AtomicU64,
) {
    let mut encoders: Vec<_> = (1..=sockets.len()).map(|id| Encoder::new(id as u8, 1)).collect();
    let mut tick = 0;
    while !stop.load(Ordering::Relaxed) {
        tick += 1;
        for message in &flight.step(TICK, boot_time(start)) {
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
