//! One task per autopilot: receives its datagrams and runs timed work.
use super::{map_centre::MapCentre, peer::Peer, serial, truth::TruthRelay};
use crate::frames::{Geodetic, Ned, Vector, VehiclePose};
use crate::node::datagrams::{arrival, wait};
use crate::node::tf::{StaticTf, Tf};
use crate::node::{cause::Cause, clock::host_now, stats::SourceStats, tasks::CountedTask};
use crate::transport::{Datagram, Received, UdpReceiver};
use crate::vehicle::{Counter, CounterKind, Handle, Sink};
use crate::{doctor::SourceRole, time::RosTime, wire::mavlink::ByteStream};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, io::IoSliceMut, net::SocketAddrV4, sync::Arc};
use tokio::sync::Notify;

/// Bytes of the receive buffer: longer than any datagram of MAVLink frames.
const BUFFER_BYTES: usize = 4096;
/// Datagrams per batch, after which callbacks of other threads may use the autopilot.
const BATCH_SIZE: usize = 64;
/// Maximum number of batches before due timed work runs: more than a socket buffer usually holds.
const MAX_BATCHES: usize = 16;
/// Period of reading the autopilot's counters.
const REPORT_PERIOD: Duration = Duration::from_millis(500);

/// Time over which the rate of setpoints is measured.
const SETPOINT_WINDOW: Duration = Duration::from_secs(3);

/// Receives the datagrams of one autopilot and runs its timed work.
pub(super) struct AutopilotTask {
    pub(super) handle: Handle,
    pub(super) wake: Arc<Notify>,
    pub(super) stats: Arc<SourceStats>,
    pub(super) start: Instant,
    /// Gets the estimated pose; `None` if TF is not from estimates.
    pub(super) tf: Option<Tf>,
    /// Holds the origin of the autopilot's local positions.
    pub(super) static_tf: Option<StaticTf>,
    pub(super) map_centre: MapCentre,
    /// Gets the true states received on the autopilot's link.
    pub(super) relay: Option<TruthRelay>,
    pub(super) vehicle: u16,
    pub(super) peer: Peer,
    /// The autopilot's origin at the last check.
    pub(super) origin: Option<Geodetic>,
    /// Whether the log has reported that the origin is outside the map.
    pub(super) is_outside_map: bool,
    pub(super) last_report: Instant,
    /// When setpoints were last counted, and how many there were.
    pub(super) setpoints: (Instant, u64),
}

pub(super) enum LinkTransport {
    Udp(UdpReceiver, SocketAddrV4),
    Serial(serial::SerialLine),
}

impl LinkTransport {
    /// Sends bytes to the vehicle.
    pub(super) fn sink(&self) -> Sink {
        match self {
            Self::Udp(socket, peer) => {
                let (sender, peer) = (socket.sender(), *peer);
                Box::new(move |bytes| sender.send_to(bytes, peer).is_ok())
            }
            Self::Serial(port) => port.sink(),
        }
    }
}

/// The task of one autopilot on its transport.
pub(super) struct LinkTask(pub(super) AutopilotTask, pub(super) LinkTransport);

impl CountedTask for LinkTask {
    async fn run(&mut self) {
        match &mut self.1 {
            LinkTransport::Udp(socket, _) => self.0.run_udp(socket).await,
            LinkTransport::Serial(line) => self.0.run_serial(line).await,
        }
    }
}

impl AutopilotTask {
    async fn run_udp(&mut self, socket: &mut UdpReceiver) {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let (deadline, is_urgent) = self.poll();
            tokio::select! {
                ready = wait(socket, is_urgent) => {
                    if ready.is_err() || !self.drain(socket, &mut buffer) {
                        self.stats.lock().count(Cause::Socket);
                        // Keeps a permanently failing socket from spinning.
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                }
                () = self.wake.notified() => {}
                // After a stall of this process, an awaited datagram may be queued: it is read before timeouts are checked.
                () = sleep_until(deadline), if is_urgent => {
                    tokio::task::yield_now().await;
                    self.drain(socket, &mut buffer);
                }
            }
        }
    }

    /// Receives all queued datagrams, up to a limit; false if the socket fails.
    fn drain(&mut self, socket: &UdpReceiver, buffer: &mut [u8]) -> bool {
        for _ in 0..MAX_BATCHES {
            match self.receive(socket, buffer) {
                Some(BATCH_SIZE) => {}
                received => return received.is_some(),
            }
        }
        true
    }

    /// Receives one batch and returns its size; `None` if the socket fails.
    fn receive(&mut self, socket: &UdpReceiver, buffer: &mut [u8]) -> Option<usize> {
        let (mut accepted, mut count) = (Vec::new(), 0);
        let (mut refused, mut others) = (0, 0);
        let Self { handle, peer, .. } = self;
        let result = handle.with(|autopilot| {
            for _ in 0..BATCH_SIZE {
                let datagram = match socket.try_recv(&mut [IoSliceMut::new(buffer)]) {
                    Ok(Some(Received::Datagram(datagram))) => datagram,
                    Ok(Some(Received::Refused)) => {
                        (count, refused) = (count + 1, refused + 1);
                        continue;
                    }
                    Ok(None) => return true,
                    Err(_) => return false,
                };
                count += 1;
                if peer.accepts(
                    datagram.from,
                    autopilot.fcu.is_connected(),
                    autopilot.fcu.settings.id,
                ) {
                    autopilot.fcu.waited = queueing_time(&datagram);
                    autopilot.receive(buffer.get(..datagram.len).unwrap_or(buffer));
                    peer.record(datagram.from, autopilot.fcu.is_connected());
                    accepted.push(datagram);
                } else {
                    others += 1;
                }
            }
            true
        });
        let mut figures = self.stats.lock();
        figures.count_many(Cause::Refused, refused);
        figures.count_many(Cause::OtherSender, others);
        for datagram in accepted {
            figures.received += 1;
            figures.bytes += datagram.len as u64;
            if datagram.overflows > 0 {
                figures.set_overflows(datagram.overflows);
            }
        }
        result.unwrap_or(true).then_some(count)
    }

    async fn run_serial(&mut self, port: &mut serial::SerialLine) {
        let mut stream = ByteStream::default();
        loop {
            let (deadline, _) = self.poll();
            tokio::select! {
                bytes = port.read() => {
                    self.handle.with(|autopilot| stream.push(bytes, |frame| match frame {
                        Ok(frame) => autopilot.frame(&frame),
                        Err(error) => autopilot.fcu.count(error.into()),
                    }));
                    let mut figures = self.stats.lock();
                    figures.received += 1;
                    figures.bytes += bytes.len() as u64;
                }
                () = self.wake.notified() => {}
                () = sleep_until(deadline) => {}
            }
        }
    }

    /// Runs due work and periodically copies the autopilot's counters; returns the next due time, and whether datagrams must be
    /// read as soon as they arrive.
    fn poll(&mut self) -> (Option<Instant>, bool) {
        let is_report_due = self.last_report.elapsed() >= REPORT_PERIOD;
        let is_read = self.relay.as_ref().is_some_and(TruthRelay::is_wanted)
            || self.tf.as_ref().is_some_and(Tf::is_read);
        let Some((deadline, is_urgent, estimate, truths, frames, origin, report_figures)) =
            self.handle.with(|autopilot| {
                let deadline = autopilot.poll();
                let estimate = autopilot.fcu.estimate.take();
                (
                    deadline,
                    is_read || autopilot.is_used(),
                    estimate,
                    autopilot.fcu.take_truths(),
                    std::mem::take(&mut autopilot.fcu.body_frames),
                    autopilot.fcu.origin(),
                    is_report_due.then(|| AutopilotFigures {
                        counts: autopilot.fcu.counts().clone(),
                        not_ready: autopilot.fcu.not_ready(),
                        link_warnings: autopilot.fcu.link_warnings(),
                        setpoints: autopilot.fcu.setpoints,
                    }),
                )
            })
        else {
            return (None, false);
        };
        if let Some(static_tf) = self.static_tf.as_ref().filter(|_| !frames.is_empty()) {
            static_tf.fix_to_body(self.vehicle, frames);
        }
        if let Some(relay) = &self.relay {
            for (truth, waited) in truths {
                let waited = i64::try_from(waited.as_nanos()).unwrap_or(i64::MAX);
                let arrival = RosTime(host_now().0.saturating_sub(waited));
                relay.publish(&truth, arrival);
            }
        }
        if let (Some(tf), Some(estimate)) = (&self.tf, estimate) {
            let pose = VehiclePose {
                vehicle: self.vehicle,
                position: self.to_map(estimate.position, origin),
                attitude: estimate.attitude,
            };
            tf.publish(&pose, estimate.stamp);
        }
        // The map's geodetic origin may become known later.
        if is_report_due || origin != self.origin {
            self.publish_origin(origin);
        }
        if let Some(report_figures) = report_figures {
            self.report(report_figures);
        }
        (deadline.map(|at| self.start + at), is_urgent)
    }

    /// Returns the rate of the setpoints in Hz at the end of each window; `None` before.
    fn setpoint_rate(&mut self, now: u64) -> Option<f64> {
        let (since, before) = self.setpoints;
        let seconds = since.elapsed();
        if seconds < SETPOINT_WINDOW {
            return None;
        }
        self.setpoints = (Instant::now(), now);
        Some((now - before) as f64 / seconds.as_secs_f64())
    }

    /// Publishes the frame of local positions at the autopilot's origin.
    fn publish_origin(&mut self, origin: Option<Geodetic>) {
        self.origin = origin;
        let (Some(static_tf), Some(origin)) = (&self.static_tf, origin) else { return };
        match self.map_centre.position_of(origin) {
            Some(position) => static_tf.place_origin(self.vehicle, position),
            None if !std::mem::replace(&mut self.is_outside_map, true) => tracing::warn!(
                vehicle = self.vehicle,
                latitude = origin.latitude_deg,
                longitude = origin.longitude_deg,
                "the autopilot's origin is outside the simulator's map: the frame of its local positions \
                 stays at the origin of the map"
            ),
            None => {}
        }
    }

    /// Converts an estimate, which is relative to the autopilot's origin, to the map: the origins differ if the vehicle does not
    /// start at the map's origin.
    fn to_map(&self, position: Vector<Ned>, origin: Option<Geodetic>) -> Vector<Ned> {
        match origin.and_then(|origin| self.map_centre.position_of(origin)) {
            Some(origin) => origin + position,
            None => position,
        }
    }

    /// Copies the autopilot's counters and facts into the figures.
    fn report(&mut self, report_figures: AutopilotFigures) {
        self.last_report = Instant::now();
        let rate = self.setpoint_rate(report_figures.setpoints);
        let mut figures = self.stats.lock();
        if let SourceRole::Autopilot(facts) = &mut figures.kind {
            facts.not_ready = report_figures.not_ready;
            facts.link_warnings = report_figures.link_warnings;
            if let Some(rate) = rate {
                facts.setpoint_hz = (rate > 0.0).then_some(rate);
            }
        }
        for (counter, count) in report_figures.counts {
            match counter.kind() {
                CounterKind::Frames if count > figures.frames => {
                    figures.frames = count;
                    figures.converted = count;
                    figures.last_frame = Some(Instant::now());
                }
                CounterKind::Frames | CounterKind::Hidden => {}
                _ => drop(figures.counts.insert(Cause::Vehicle(counter), count)),
            }
        }
    }
}

/// Figures of an autopilot at one instant.
struct AutopilotFigures {
    counts: BTreeMap<Counter, u64>,
    /// Why the autopilot would refuse to arm.
    not_ready: Option<String>,
    /// Faults of its link.
    link_warnings: Option<String>,
    /// Setpoints sent so far.
    setpoints: u64,
}

/// How long a datagram waited in the socket.
fn queueing_time(datagram: &Datagram) -> Duration {
    let waited = host_now().0.saturating_sub(arrival(datagram).0);
    Duration::from_nanos(u64::try_from(waited).unwrap_or(0))
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
