//! Requests sensors from the renderer until they deliver, and detects when they stop.
use super::liveness::{LinkChange, Liveness};
use super::{delivery_hint::delivery_hint, sensor_request::sensor_request};
use crate::config::params::{Foreign, RequestFormat, TfSource};
use crate::node::settings::{RESENDS, SettingsWatch};
use crate::node::stats::{LinkState, SourceStats};
use crate::node::tasks::{Endless, next_moment};
use crate::node::{
    cause::Cause, context::Context, error::NodeError, sensor_views::SensorViews, tf::Tf,
};
use crate::wire::{CONSOLE_LONG_LEN, console_command};
use crate::{config::SensorConfig, reports::ReportSubject, transport::UdpSender};
use parking_lot::Mutex;
use std::time::{Duration, Instant};
use std::{net::SocketAddrV4, sync::Arc};
use tokio::sync::watch;

/// Interval of link checks.
const CHECK_PERIOD: Duration = Duration::from_millis(200);
/// Interval while all sensors deliver.
const UP_CHECK_PERIOD: Duration = Duration::from_millis(400);
/// Longest delay of the first requests, so that TF has the pose of each vehicle before its first image.
const MAX_POSE_WAIT: Duration = Duration::from_secs(1);

/// Time that the renderer takes to load another map; the vendor's client waits as long.
const MAP_LOAD_TIME: Duration = Duration::from_secs(1);

pub(super) struct SensorLink {
    sensor: SensorConfig,
    stats: Arc<SourceStats>,
    liveness: Liveness,
    /// How many times a new or changed request is still sent; requests are not acknowledged.
    resends: u8,
    /// When the bridge first requested the sensor. Data before that may be due to another program's request.
    first_request: Option<Instant>,
}

impl SensorLink {
    /// Creates the link of a sensor that counts as lost after `timeout` without data. A sensor added at run time is requested
    /// at once, [`RESENDS`] times.
    pub(super) fn new(
        sensor: &SensorConfig,
        stats: Arc<SourceStats>,
        timeout: Duration,
        is_added: bool,
    ) -> Self {
        let mut figures = stats.lock();
        figures.asked_hz = Some(sensor.asked_hz().into());
        figures.state = Some(LinkState::Waiting);
        drop(figures);
        Self {
            sensor: sensor.clone(),
            stats,
            liveness: Liveness::new(timeout),
            resends: if is_added { RESENDS } else { 0 },
            first_request: None,
        }
    }

    /// Returns the probable reason why the sensor delivers nothing, or less than requested.
    fn hint(&self, now: Instant, any_delivers: bool) -> Option<&'static str> {
        let since_request = self.first_request.map_or(Duration::ZERO, |first| now - first);
        delivery_hint(self.sensor.kind, self.liveness.state(), any_delivers, since_request)
    }
}

/// Added sensors that the supervisor does not watch yet.
pub(super) type AddedLinks = Arc<Mutex<Vec<SensorLink>>>;

pub(super) struct Supervisor {
    socket: UdpSender,
    renderer: SocketAddrV4,
    links: Vec<SensorLink>,
    added: AddedLinks,
    request_period: Duration,
    /// Whether a lost stream is left to the program that may have requested it (`request.foreign`).
    yields: bool,
    format: RequestFormat,
    clear_first: bool,
    /// Source of the poses, and the number of vehicles to wait for; `None` if the bridge publishes no TF of them.
    poses: Option<(Tf, usize)>,
    views: SensorViews,
    settings: SettingsWatch,
    /// Changes when the renderer shows another map, which ends running captures.
    maps: watch::Receiver<u64>,
}

impl Endless for Supervisor {
    fn name(&self) -> String {
        "requests to the simulator".to_owned()
    }

    async fn work(&mut self) {
        let mut next_request = Instant::now();
        let poses_deadline = next_request + MAX_POSE_WAIT;
        if self.clear_first {
            self.command("RflyClearCapture");
        }
        loop {
            tokio::select! {
                () = tokio::time::sleep(next_moment(self.pause())) => {}
                Ok(()) = self.settings.changed() => {
                    self.apply_settings();
                    next_request = next_request.min(Instant::now() + self.request_period);
                }
                Ok(()) = self.maps.changed() => {
                    self.start_again();
                    next_request = Instant::now() + MAP_LOAD_TIME;
                }
            }
            let now = Instant::now();
            self.check_links(now);
            self.restore();
            self.resend();
            if now >= next_request && (now >= poses_deadline || self.has_poses()) {
                next_request = now + self.request_period;
                self.request(now);
            }
        }
    }
}

impl Supervisor {
    pub(super) fn open(
        context: &Context<'_>,
        links: Vec<SensorLink>,
        added: AddedLinks,
    ) -> Result<Self, NodeError> {
        let params = &context.settings.params;
        let socket = UdpSender::open()
            .map_err(|source| NodeError::Start { what: "the request socket", source })?;
        let poses = match params.frames.tf_source {
            TfSource::Truth | TfSource::Estimate => context.tf.clone(),
            TfSource::External => None,
        };
        Ok(Self {
            socket,
            renderer: context.settings.renderer(),
            links,
            added,
            request_period: params.request.period,
            yields: params.request.foreign == Foreign::Yield,
            format: params.request.format,
            clear_first: params.clear_capture_on_start,
            poses: poses.map(|tf| (tf, context.settings.vehicles().len())),
            views: context.views.clone(),
            settings: context.watch(),
            maps: context.scene.maps(),
        })
    }

    fn pause(&self) -> Duration {
        let is_up = |link: &SensorLink| link.liveness.state() == LinkState::Up && link.resends == 0;
        if self.links.iter().all(is_up) { UP_CHECK_PERIOD } else { CHECK_PERIOD }
    }

    fn has_poses(&self) -> bool {
        let is_complete = |(tf, vehicles): &(Tf, usize)| tf.vehicle_count() >= *vehicles;
        self.poses.as_ref().is_none_or(is_complete)
    }

    /// Detects changed links; logs one line per kind of change, for any number of sensors.
    fn check_links(&mut self, now: Instant) {
        let (mut lost, mut up) = (Vec::new(), Vec::new());
        let any_delivers = self.any_delivers();
        for link in &mut self.links {
            let mut figures = link.stats.lock();
            let change = link.liveness.update(now, figures.last_frame);
            let state = link.liveness.state();
            figures.state = Some(state);
            figures.hint = link.hint(now, any_delivers);
            drop(figures);
            if state != LinkState::Up
                && let Some(slot) = self.views.slot(link.sensor.seq_id)
            {
                self.views.settle(&slot);
            }
            match change {
                LinkChange::Lost => lost.push((link.stats.name(), link.sensor.seq_id)),
                LinkChange::Started | LinkChange::Returned => up.push(link.stats.name()),
                LinkChange::None => {}
            }
        }
        if !up.is_empty() {
            tracing::info!(renderer = %self.renderer, "receiving {}", up.join(", "));
        }
        if !lost.is_empty() {
            let (names, seq_ids): (Vec<_>, Vec<_>) = lost.into_iter().unzip();
            let (names, renderer) = (names.join(", "), self.renderer);
            if !self.any_delivers() {
                tracing::warn!(%renderer, "no data any more from {names}; requesting again");
            } else if self.yields {
                tracing::warn!(
                    %renderer,
                    "no data any more from {names} while others deliver: left to the program that may have requested SeqIDs {seq_ids:?} \
                    (request.foreign)"
                );
            } else {
                tracing::warn!(
                    %renderer,
                    "no data any more from {names} while others deliver; requesting again. If another program has requested SeqIDs \
                    {seq_ids:?}, it gets no data from now on: give it other SeqIDs, or leave these to it with request.foreign:=yield"
                );
            }
        }
    }

    fn any_delivers(&self) -> bool {
        let delivers = |link: &SensorLink| link.liveness.state() == LinkState::Up;
        self.links.iter().any(delivers)
    }

    /// Treats all sensors as silent until the new map delivers data.
    fn start_again(&mut self) {
        self.maps.mark_unchanged();
        let now = Instant::now();
        for link in &mut self.links {
            link.liveness.start_again(now);
            link.stats.lock().state = Some(link.liveness.state());
        }
    }

    fn apply_settings(&mut self) {
        let settings = self.settings.borrow_and_update();
        let params = &settings.params;
        self.request_period = params.request.period;
        self.yields = params.request.foreign == Foreign::Yield;
        self.links.append(&mut self.added.lock());
        for link in &mut self.links {
            link.liveness.set_timeout(params.request.timeout);
            let sensor = settings.sensors.iter().find(|s| s.seq_id == link.sensor.seq_id);
            if let Some(sensor) = sensor.filter(|sensor| **sensor != link.sensor) {
                (link.sensor, link.resends) = (sensor.clone(), RESENDS);
                link.stats.lock().asked_hz = Some(sensor.asked_hz().into());
            }
        }
    }

    /// Requests each sensor once, then the silent ones, in the order of Config.json: a sensor follows the sensor that carries it.
    fn request(&mut self, now: Instant) {
        let yields = self.yields && self.any_delivers();
        let is_left = |link: &SensorLink| yields && link.liveness.state() == LinkState::Lost;
        let is_due = |link: &SensorLink| {
            link.first_request.is_none() || (link.liveness.needs_request() && !is_left(link))
        };
        for link in self.links.iter().filter(|link| is_due(link)) {
            self.send_request(link);
        }
        for link in &mut self.links {
            link.first_request.get_or_insert(now);
        }
    }

    /// Repeats the requests of sensors that were added or changed at run time.
    fn resend(&mut self) {
        for link in self.links.iter().filter(|l| l.resends > 0) {
            self.send_request(link);
        }
        for link in &mut self.links {
            link.resends = link.resends.saturating_sub(1);
        }
    }

    /// Repeats the requests of sensors that another program has requested with other values.
    fn restore(&self) {
        for link in &self.links {
            let slot = self.views.slot(link.sensor.seq_id);
            if slot.is_some_and(|slot| slot.take_repeat()) {
                self.send_request(link);
            }
        }
    }

    fn send_request(&self, link: &SensorLink) {
        let mut buffer = [0; 148];
        let mut request = sensor_request(&link.sensor, self.format);
        let slot = self.views.slot(link.sensor.seq_id);
        if let Some(slot) = &slot {
            request.fov_deg = slot.request_fov(request.fov_deg);
        }
        if let Err(error) = self.socket.send_to(request.emit(&mut buffer), self.renderer) {
            tracing::debug!(%error, source = %link.stats.name(), "request not sent");
            link.stats.lock().count(Cause::RequestNotSent);
        }
        if let Some(slot) = slot.filter(|slot| slot.is_pending()) {
            slot.record_description_request();
            self.command(&ReportSubject::Camera(request.seq_id).request());
        }
    }

    fn command(&self, text: &str) {
        let mut buffer = [0; CONSOLE_LONG_LEN];
        if let Some(datagram) = console_command(text, &mut buffer)
            && let Err(error) = self.socket.send_to(datagram, self.renderer)
        {
            tracing::warn!(%error, "{text} not sent");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Params, config_json};
    use crate::doctor::SourceRole;

    #[test]
    fn an_added_sensor_is_given_time_from_its_own_first_request() {
        let text = r#"{"VisionSensors": [{"SeqID": 0, "TypeID": 1, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 64,
            "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,127,0,0,1,9999,0,0], "CameraFOV": 90,
            "SensorPosXYZ": [0.3, 0, 0], "SensorAngEular": [0, 0, 0], "otherParams": [0,0,0,0,0,0,0,0]}]}"#;
        let files = [("Config.json".to_owned(), text.to_owned())];
        let loaded = config_json::load(&files, &Params::default().vendor_overrides());
        let loaded = loaded.unwrap_or_else(|problems| panic!("{problems}"));
        let stats = Arc::new(SourceStats::new(SourceRole::Other, "sensor0".to_owned()));
        let timeout = Duration::from_secs(2);
        let mut link = SensorLink::new(&loaded.sensors[0], stats, timeout, true);
        let now = Instant::now();
        let long = now + Duration::from_secs(60);
        assert_eq!(link.hint(long, true), None);
        link.first_request = Some(now);
        assert_eq!(link.hint(now + Duration::from_secs(12), true), None);
        assert!(link.hint(long, true).is_some());
    }
}
