//! UDP_UltraSimple: the commands of UDP_Simple. The layout of its states is not published; the true state, which CopterSim
//! sends to a separate port in every mode, replaces them.
use super::{Abilities, Link, SendError, Sink, UdpSimpleLink, udp::UdpState};
use crate::vehicle::Counter;
use crate::wire::mavlink::raw::SetAttitudeTarget;
use crate::wire::mavlink::{MavMessage, Outbound};
use crate::{frames::Geodetic, wire::TrueState, wire::mavlink::dialect::GLOBAL_POSITION_INT_DATA};

/// HEARTBEAT period in s.
const HEARTBEAT: f64 = 1.0;
/// The vehicle restarted if its time goes back by more than this, in s.
const RESTART: f64 = 1.0;
/// A vehicle whose motors turn faster than this, in rpm, may be in flight.
const MAX_IDLE_RPM: f64 = 100.0;

/// A link to CopterSim in UDP_UltraSimple.
pub struct UdpUltraSimpleLink {
    simple: UdpSimpleLink,
    id: u16,
    start: Option<StartPose>,
    /// Times of the last state and the last HEARTBEAT, in s.
    last: f64,
    last_heartbeat: f64,
}

/// The first received pose of the vehicle, which is used as its home.
#[derive(Clone, Copy)]
struct StartPose {
    /// North, east, down in m, in the map.
    position: [f64; 3],
    home: [i32; 3],
}

impl UdpUltraSimpleLink {
    /// Creates a link that sends datagrams for vehicle `id` to `sink`.
    pub fn new(id: u16, sink: Sink) -> Self {
        Self {
            simple: UdpSimpleLink::named("UDP_UltraSimple", id, sink),
            id,
            start: None,
            last: 0.0,
            last_heartbeat: f64::NEG_INFINITY,
        }
    }

    /// Returns the pose that positions are relative to; detects a restart.
    fn start_pose(&mut self, state: &TrueState) -> StartPose {
        if state.sim_time < self.last - RESTART {
            self.simple.udp.restarted();
            self.start = None;
            self.last_heartbeat = f64::NEG_INFINITY;
        }
        self.last = state.sim_time;
        *self.start.get_or_insert_with(|| {
            let vehicle = self.id;
            let [north, east, down] = state.position;
            tracing::info!(
                vehicle,
                north,
                east,
                down,
                "UDP_UltraSimple: reports the true state; home is the present position of the vehicle"
            );
            if state.motor_rpm.iter().any(|rpm| *rpm > MAX_IDLE_RPM) {
                tracing::warn!(
                    vehicle,
                    "UDP_UltraSimple: the motors turn, so the vehicle may be away from its home, and its positions would be relative \
                     to a wrong origin: start the bridge before the vehicle flies"
                );
            }
            StartPose {
                position: state.position,
                home: e7(state.gps),
            }
        })
    }
}

fn e7([latitude, longitude, altitude]: [f64; 3]) -> [i32; 3] {
    let geo = Geodetic::new(latitude, longitude, altitude).to_e7();
    geo.unwrap_or_default()
}

impl Link for UdpUltraSimpleLink {
    fn abilities(&self) -> Abilities {
        self.simple.abilities()
    }

    fn send(&mut self, message: &Outbound, system: u8, component: u8) -> Result<(), SendError> {
        self.simple.send(message, system, component)
    }

    fn send_throttle_step(&mut self, target: &SetAttitudeTarget) -> Result<(), SendError> {
        self.simple.send_throttle_step(target)
    }

    fn incoming<'a>(&mut self, _: &'a [u8], _: &'a mut Vec<u8>) -> Result<&'a [u8], Counter> {
        Err(Counter::UltraSimpleState)
    }

    fn true_state<'a>(
        &mut self,
        state: &TrueState,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Counter> {
        let StartPose { position, home } = self.start_pose(state);
        let udp = &mut self.simple.udp;
        udp.begin();
        if state.sim_time - self.last_heartbeat >= HEARTBEAT {
            self.last_heartbeat = state.sim_time;
            udp.is_heartbeat_due = true;
        }
        let [north, east, down] = [0, 1, 2].map(|axis| state.position[axis] - position[axis]);
        let time_boot_ms = (state.sim_time * 1e3) as u32;
        udp.push_pose(&UdpState {
            time_boot_ms,
            euler: state.euler.map(|angle| angle as f32),
            position: [north, east, down].map(|metres| metres as f32),
            velocity: state.velocity.map(|speed| speed as f32),
            home,
        })?;
        let [lat, lon, alt] = e7(state.gps);
        if (lat, lon) != (0, 0) {
            // `as` saturates.
            let [vx, vy, vz] = state.velocity.map(|speed| (speed * 100.0).round() as i16);
            udp.push(MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
                time_boot_ms,
                lat,
                lon,
                alt,
                relative_alt: (down * -1e3).round() as i32,
                vx,
                vy,
                vz,
                hdg: u16::MAX,
            }));
        }
        Ok(udp.frames(buffer))
    }

    fn lost(&mut self) {
        self.simple.lost();
    }
}
