//! Asks the renderer for sensors until they deliver, notices when they stop, and reports.
use super::health::Health;
use super::live::SettingsWatch;
use super::request::{LinkChange, Liveness, sensor_request};
use super::senders::Senders;
use super::stats::SourceStats;
use super::tasks::Endless;
use super::vehicle::Tf;
use crate::config::SensorConfig;
use crate::wire::{CONSOLE_LONG_LEN, console_command};
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the links are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long sensors are not asked for, so that every image finds the pose of its vehicle in TF.
const POSES_FIRST: Duration = Duration::from_secs(1);
/// How many times a request is sent that changes a running source.
pub(super) const RESENDS: u8 = 3;

/// One requested sensor.
pub(crate) struct Link {
    pub(crate) sensor: SensorConfig,
    pub(crate) stats: Arc<SourceStats>,
    pub(crate) liveness: Liveness,
    /// How many times a changed request is still to be sent; nothing acknowledges it.
    pub(crate) resend: u8,
}

/// The task that watches everything.
pub(crate) struct Supervisor {
    pub(crate) socket: UdpSocket,
    pub(crate) renderer: SocketAddrV4,
    pub(crate) links: Vec<Link>,
    pub(crate) request_period: Duration,
    pub(crate) clear_first: bool,
    /// Where poses are published, and of how many vehicles.
    pub(crate) poses: Option<(Tf, usize)>,
    pub(crate) health: Health,
    pub(crate) health_period: Duration,
    pub(crate) senders: Arc<Senders>,
    pub(crate) settings: SettingsWatch,
}

impl Endless for Supervisor {
    fn name(&self) -> String {
        "supervision".to_owned()
    }

    async fn work(&mut self) {
        self.run().await;
    }
}

impl Supervisor {
    /// Works until the task is dropped.
    pub(crate) async fn run(&mut self) {
        let mut tick = tokio::time::interval(LOOK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut next_request = Instant::now();
        let mut next_health = next_request + self.health_period;
        let at_the_latest = next_request + POSES_FIRST;
        if self.clear_first {
            self.clear_captures();
        }
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                Ok(()) = self.settings.changed() => {
                    self.take_over();
                    let now = Instant::now();
                    next_request = next_request.min(now + self.request_period);
                    next_health = next_health.min(now + self.health_period);
                }
            }
            let now = Instant::now();
            self.senders.tell();
            self.look(now);
            self.resend();
            if now >= next_request && (now >= at_the_latest || self.has_poses()) {
                next_request = now + self.request_period;
                self.request();
            }
            if now >= next_health {
                next_health += self.health_period;
                let links: Vec<_> = self
                    .links
                    .iter()
                    .map(|l| (&*l.stats, l.liveness.state()))
                    .collect();
                self.health.report(&links);
            }
        }
    }

    fn has_poses(&self) -> bool {
        let all = |(tf, vehicles): &(Tf, usize)| tf.vehicles() >= *vehicles;
        self.poses.as_ref().is_none_or(all)
    }

    /// Notes which links changed; says so in few lines, however many sensors there are.
    fn look(&mut self, now: Instant) {
        let (mut lost, mut up) = (Vec::new(), Vec::new());
        for link in &mut self.links {
            let last = link.stats.lock().last_frame;
            match link.liveness.look(now, last) {
                LinkChange::Lost => lost.push(link.stats.name.as_str()),
                LinkChange::Started | LinkChange::Returned => up.push(link.stats.name.as_str()),
                LinkChange::None => {}
            }
        }
        if !up.is_empty() {
            tracing::info!(renderer = %self.renderer, "receiving {}", up.join(", "));
        }
        if !lost.is_empty() {
            tracing::warn!(renderer = %self.renderer, "no data any more from {}; asking again", lost.join(", "));
        }
    }

    /// Takes over what parameters have changed.
    fn take_over(&mut self) {
        let settings = self.settings.borrow_and_update();
        let params = &settings.params;
        (self.request_period, self.health_period) =
            (params.request.period, params.diagnostics_period);
        for link in &mut self.links {
            link.liveness.set_timeout(params.request.timeout);
            let sensor = settings
                .sensors
                .iter()
                .find(|s| s.seq_id == link.sensor.seq_id);
            if let Some(sensor) = sensor.filter(|sensor| **sensor != link.sensor) {
                (link.sensor, link.resend) = (sensor.clone(), RESENDS);
                link.stats.lock().asked_hz = Some(sensor.rate_hz.into());
            }
        }
    }

    /// Sends a request for every silent sensor, carriers first as in the file.
    fn request(&self) {
        for link in self.links.iter().filter(|l| l.liveness.needs_request()) {
            self.ask(link);
        }
    }

    /// Sends the requests that change live sensors.
    fn resend(&mut self) {
        for link in self.links.iter().filter(|l| l.resend > 0) {
            self.ask(link);
        }
        for link in &mut self.links {
            link.resend = link.resend.saturating_sub(1);
        }
    }

    fn ask(&self, link: &Link) {
        let mut buffer = [0; 148];
        let request = sensor_request(&link.sensor);
        if let Err(error) = self
            .socket
            .send_to(request.emit(&mut buffer), self.renderer)
        {
            tracing::debug!(%error, source = link.stats.name, "request not sent");
            link.stats.lock().drop_one("request_not_sent");
        }
    }

    fn clear_captures(&self) {
        let mut buffer = [0; CONSOLE_LONG_LEN];
        if let Some(datagram) = console_command("RflyClearCapture", &mut buffer)
            && let Err(error) = self.socket.send_to(datagram, self.renderer)
        {
            tracing::warn!(%error, "RflyClearCapture not sent");
        }
    }
}
