//! What is asked of the renderer, and when.
use crate::config::SensorConfig;
use crate::wire::{RequestLayout, SendProtocol, SensorRequest};
use std::time::{Duration, Instant};

/// Returns the datagram's content for a sensor.
pub fn sensor_request(sensor: &SensorConfig) -> SensorRequest {
    SensorRequest {
        layout: if sensor.layout_new {
            RequestLayout::New
        } else {
            RequestLayout::Old
        },
        seq_id: sensor.seq_id,
        bitmask: 0,
        type_id: sensor.kind.type_id(),
        target_copter: sensor.mount.target(),
        mount_type: sensor.mount.number(),
        width: sensor.width,
        height: sensor.height,
        check_freq: sensor.rate_hz,
        send_protocol: SendProtocol {
            mode: sensor.transport.number(),
            ip: sensor.ip.map(u16::from),
            port: sensor.port,
            reserved: sensor.reserved,
        },
        fov_deg: sensor.fov_deg,
        position: sensor.raw_position(),
        eular_or_quat: sensor.eular_or_quat,
        euler: sensor.raw_euler,
        quaternion: sensor.raw_quaternion,
        other_params: sensor.other_params,
    }
}

/// Whether a source delivers; decides when to ask again.
#[derive(Clone, Copy, Debug)]
pub struct Liveness {
    timeout: Duration,
    state: LinkState,
}

/// State of one source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkState {
    /// Nothing has come yet.
    Waiting,
    /// Data flows.
    Up,
    /// Data flowed once, and stopped.
    Lost,
}

/// What changed since the last look.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkChange {
    /// Nothing.
    None,
    /// The first data.
    Started,
    /// Silence for longer than the timeout.
    Lost,
    /// Data again after [`Self::Lost`].
    Returned,
}

impl Liveness {
    /// Creates a source that has not delivered yet.
    pub fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            state: LinkState::Waiting,
        }
    }

    /// Changes the silence after which a source counts as lost.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Returns the state as of the last [`Self::look`].
    pub fn state(&self) -> LinkState {
        self.state
    }

    /// Whether the source should be asked for data (again).
    pub fn needs_request(&self) -> bool {
        self.state != LinkState::Up
    }

    /// Judges by the time of the last data.
    pub fn look(&mut self, now: Instant, last_data: Option<Instant>) -> LinkChange {
        let alive = last_data.is_some_and(|at| now.saturating_duration_since(at) < self.timeout);
        let (state, change) = match (self.state, alive) {
            (LinkState::Waiting, true) => (LinkState::Up, LinkChange::Started),
            (LinkState::Lost, true) => (LinkState::Up, LinkChange::Returned),
            (LinkState::Up, false) => (LinkState::Lost, LinkChange::Lost),
            (state, _) => (state, LinkChange::None),
        };
        self.state = state;
        change
    }
}
