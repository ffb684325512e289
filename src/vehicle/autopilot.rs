//! One vehicle behind mavros-style topics: passes frames from the link and messages from ROS to the parts.
use super::telemetry::Telemetry;
use super::{Counter, Open};
use super::{fcu::Fcu, heartbeat_sender::HeartbeatSender, link::Link, services::Services};
use super::{setpoint::Setpoints, settings::VehicleSettings, state::StateTopic};
use crate::wire::mavlink::{Frame, frames};
use crate::{ros::RosError, wire::TrueState, wire::mavlink::raw::Heartbeat};
use std::time::Duration;

/// The vehicle counts as used for this time after the last message or call of a program.
const USE_TIMEOUT: Duration = Duration::from_secs(60);

/// Counts the subscribers of a topic.
pub(super) type SubscriberCount = Box<dyn Fn() -> usize + Send>;

/// The parts of one vehicle. Each part is a file; it publishes its topics, handles its messages, and shares only [`Fcu`].
pub struct Autopilot {
    /// State that the parts share.
    pub fcu: Fcu,
    pub(super) state: StateTopic,
    pub(super) setpoints: Setpoints,
    pub(super) telemetry: Telemetry,
    pub(super) services: Services,
    heartbeat_sender: HeartbeatSender,
    /// One for each published topic.
    pub(super) subscriber_counts: Vec<SubscriberCount>,
    /// Memory for the frames of a link that translates.
    buffer: Vec<u8>,
}

impl Autopilot {
    /// Opens every topic and service.
    pub fn open(
        open: &Open<'_>,
        settings: VehicleSettings,
        link: Box<dyn Link>,
    ) -> Result<Self, RosError> {
        Ok(Self {
            setpoints: Setpoints::open(open, &settings)?,
            services: Services::open(open, link.abilities())?,
            state: StateTopic::open(open)?,
            telemetry: Telemetry::open(open, &settings)?,
            fcu: Fcu::new(settings, link),
            heartbeat_sender: HeartbeatSender::default(),
            subscriber_counts: Vec::new(),
            buffer: Vec::new(),
        })
    }

    /// Whether a program subscribes to a topic, or published or called a service in the last minute. If not, its datagrams
    /// may be handled later.
    pub fn is_used(&self) -> bool {
        let is_recent = |at: Duration| self.fcu.now.mono.saturating_sub(at) <= USE_TIMEOUT;
        self.fcu.last_call.is_some_and(is_recent) || self.subscriber_counts.iter().any(|n| n() > 0)
    }

    /// Handles received bytes: a datagram, or part of a stream.
    pub fn receive(&mut self, datagram: &[u8]) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for frame in frames(self.fcu.incoming(datagram, &mut buffer)) {
            match frame {
                Ok(frame) => self.frame(&frame),
                Err(error) => self.fcu.count(error.into()),
            }
        }
        self.buffer = buffer;
    }

    /// Handles a true state; some links have no other data of the vehicle.
    pub fn true_state(&mut self, state: &TrueState) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for frame in frames(self.fcu.true_state(state, &mut buffer)).flatten() {
            self.frame(&frame);
        }
        self.buffer = buffer;
    }

    /// Runs due work; returns the next deadline.
    pub fn poll(&mut self) -> Option<Duration> {
        let was_connected = self.fcu.is_connected();
        let published = self.state.poll(&mut self.fcu);
        self.count_unpublished(published);
        if was_connected && !self.fcu.is_connected() {
            self.telemetry.lost(&mut self.fcu);
        }
        let published = self.telemetry.poll(&mut self.fcu);
        self.count_unpublished(published);
        let requests = [self.telemetry.take_request(&self.fcu), self.fcu.take_reasons_request()];
        for command in requests.into_iter().flatten() {
            // Requests are repeated; failures are counted.
            let _counted = self.services.ask(&mut self.fcu, command);
        }
        self.poll_setpoints();
        let published = self.services.poll(&mut self.fcu);
        self.count_unpublished(published);
        let published = self.telemetry.publish_notices(&mut self.fcu);
        self.count_unpublished(published);
        let deadlines = [
            self.state.deadline(&self.fcu),
            self.telemetry.deadline(),
            self.setpoints.deadline(),
            self.heartbeat_sender.poll(&mut self.fcu),
            self.services.deadline(&self.fcu),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Handles a frame.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        if self.fcu.settings.adopt_system {
            self.fcu.adopt(frame);
        }
        if frame.system != self.fcu.system {
            if let Some(heartbeat) = Heartbeat::parse(frame) {
                let (now, fcu) = (self.fcu.now.mono, &mut self.fcu);
                let text = fcu.link_warnings.check_system(now, frame.system, heartbeat.autopilot);
                fcu.log_link_warning(text);
            }
            return self.fcu.count(Counter::ForeignSystem);
        }
        self.fcu.count(Counter::Frames);
        if frame.component == self.fcu.component {
            self.state.record_message(&self.fcu);
        }
        let published = self.telemetry.publish_frame(&self.fcu, frame);
        self.count_unpublished(published);
        let published = self.dispatch(frame);
        self.count_unpublished(published);
    }

    fn dispatch(&mut self, frame: &Frame<'_>) -> Result<(), RosError> {
        let fcu = &mut self.fcu;
        if let Some(heartbeat) = Heartbeat::parse(frame) {
            if frame.component != fcu.component {
                fcu.count(Counter::ForeignComponent);
                return Ok(());
            }
            self.state.heartbeat(fcu, heartbeat)?;
            self.telemetry.connected(fcu);
            if fcu.is_connected() {
                self.services.heartbeat(fcu);
            }
            return Ok(());
        }
        self.services.frame(fcu, frame)?;
        // The id is checked first: most messages are decoded once or not at all.
        if frame.component == fcu.component
            && Setpoints::OBSERVED.contains(&frame.id)
            && let Ok(message) = frame.message()
        {
            self.setpoints.observe(&message, fcu.arrival());
        }
        self.telemetry.frame(fcu, frame)
    }

    pub(super) fn count_unpublished(&mut self, published: Result<(), RosError>) {
        if published.is_err() {
            self.fcu.count(Counter::NotPublished);
        }
    }
}
