//! Converts messages of the simulated network between vehicles to datagrams and back.
use super::inputs::{InputCause, InputError, InputResult, check_finite, to_f32};
use crate::frames::{Attitude, Euler, Frd, Ned, Vector, WorldConvention};
use crate::msgs::geometry_msgs::msg::{Point, Quaternion, Vector3};
use crate::msgs::rfly_bridge_msgs::msg::{NetSimData, NetSimRequest, NetSimState};
use crate::wire::{IntoBytes as _, NetSimHeader, NetSimMessage, NetSimState as Packet, WireError};
use std::collections::{BTreeMap, BTreeSet};
use zerocopy::little_endian::{F32, F64};

/// Number of receivers that one header can name.
const MASK_BITS: u16 = 64;

/// A received message.
#[derive(Clone, Debug, PartialEq)]
pub enum NetSimReceived {
    /// A vehicle requests states.
    Request(NetSimRequest),
    /// A state.
    State(Box<NetSimState>),
    /// User data.
    Data(NetSimData),
}

/// The served vehicles in the simulated network, and the vehicles that requested their states.
#[derive(Clone, Debug)]
pub struct NetSim {
    world: WorldConvention,
    served: BTreeSet<u16>,
    /// Requesting vehicles by requested vehicle.
    requesters: BTreeMap<u16, BTreeSet<u16>>,
}

impl NetSim {
    /// `served`: the vehicles for which this bridge sends.
    pub fn new(world: WorldConvention, served: impl IntoIterator<Item = u16>) -> Self {
        Self { world, served: served.into_iter().collect(), requesters: BTreeMap::new() }
    }

    /// Returns the datagrams of a state. A state without receivers goes to the vehicles that requested it.
    pub fn state(&self, message: &NetSimState, unix_time: f64) -> InputResult {
        self.check_sender(message.sender)?;
        let q = &message.orientation;
        let Some(attitude) = self.world.ned_attitude([q.w, q.x, q.y, q.z]) else {
            let text = "orientation: must be a quaternion of length 1, is 0 0 0 0 or not finite";
            return Err(InputError { cause: InputCause::Orientation, text: text.to_owned() });
        };
        let ned = |x, y, z| self.world.ned([x, y, z]).to_array();
        let velocity = ned(message.velocity.x, message.velocity.y, message.velocity.z);
        let position = ned(message.position.x, message.position.y, message.position.z);
        let global = &message.global_position;
        let global_position = ned(global.x, global.y, global.z);
        let home = [message.home_latitude, message.home_longitude, message.home_altitude];
        check_finite("time", &[message.time])?;
        check_finite("home_latitude, home_longitude, home_altitude", &home)?;
        check_finite("position", &position)?;
        check_finite("global_position", &global_position)?;
        let packet = Packet {
            time: message.time.into(),
            euler: attitude.euler().to_array().map(|x| F32::new(x as f32)),
            velocity: to_f32("velocity", velocity)?.map(F32::new),
            home: home.map(F64::new),
            position: position.map(F64::new),
            global_position: global_position.map(F64::new),
        };
        let receivers: BTreeSet<u16> = if message.receivers.is_empty() {
            let requesters = self.requesters.get(&message.sender);
            requesters.cloned().unwrap_or_default()
        } else {
            message.receivers.iter().copied().collect()
        };
        Ok(datagrams(message.sender, &receivers, unix_time, packet.as_bytes()))
    }

    /// Returns the datagrams of user data.
    pub fn data(&self, message: &NetSimData, unix_time: f64) -> InputResult {
        self.check_sender(message.sender)?;
        let len = message.data.len();
        if len == 0 || len == size_of::<Packet>() || len > 65_000 {
            let text = format!(
                "data: must have 1 to 65000 bytes, but not {}, the length of a state; has {len}",
                size_of::<Packet>()
            );
            return Err(InputError { cause: InputCause::Length, text });
        }
        let receivers = message.receivers.iter().copied().collect();
        Ok(datagrams(message.sender, &receivers, unix_time, &message.data))
    }

    /// Returns the datagrams that request states of other vehicles.
    pub fn request(&self, message: &NetSimRequest, unix_time: f64) -> InputResult {
        self.check_sender(message.sender)?;
        let wanted: BTreeSet<u16> = message.wanted.iter().copied().collect();
        let headers = masks(&wanted).into_iter().map(|mask| {
            let header = NetSimHeader::new(message.sender.into(), mask, unix_time).into_request();
            header.as_bytes().to_vec()
        });
        Ok(headers.collect())
    }

    /// Reads a datagram. Stores a request for states of a served vehicle.
    pub fn receive(&mut self, bytes: &[u8], unix_time: f64) -> Result<NetSimReceived, WireError> {
        let message = NetSimMessage::parse(bytes)?;
        let (NetSimMessage::Request(header)
        | NetSimMessage::State(header, _)
        | NetSimMessage::Data(header, _)) = message;
        let sender = u16::try_from(header.copter_id.get()).map_err(|_range| WireError::Field {
            what: "header of the simulated network",
            field: "copter_id",
            found: header.copter_id.get().into(),
        })?;
        let receivers = receivers(header);
        let delay = unix_time - header.unix_time.get();
        Ok(match message {
            NetSimMessage::Request(_) => {
                for id in receivers.iter().filter(|id| self.served.contains(id)) {
                    self.requesters.entry(*id).or_default().insert(sender);
                }
                NetSimReceived::Request(NetSimRequest { sender, wanted: receivers })
            }
            NetSimMessage::State(_, state) => {
                NetSimReceived::State(Box::new(self.decode(sender, receivers, delay, state)))
            }
            NetSimMessage::Data(_, data) => {
                NetSimReceived::Data(NetSimData { sender, receivers, delay, data: data.to_vec() })
            }
        })
    }

    fn decode(&self, sender: u16, receivers: Vec<u16>, delay: f64, state: &Packet) -> NetSimState {
        let vector = |ned: [f64; 3]| self.world.vector(Vector::<Ned>::from(ned));
        let [roll, pitch, yaw] = state.euler.map(|x| f64::from(x.get()));
        let attitude = Attitude::<Frd, Ned>::from_euler(Euler { roll, pitch, yaw });
        let [w, x, y, z] = self.world.attitude(attitude);
        let velocity = vector(state.velocity.map(|x| x.get().into()));
        let position = vector(state.position.map(|x| x.get()));
        let global = vector(state.global_position.map(|x| x.get()));
        let [home_latitude, home_longitude, home_altitude] = state.home.map(|x| x.get());
        NetSimState {
            sender,
            receivers,
            delay,
            time: state.time.get(),
            orientation: Quaternion { x, y, z, w },
            velocity: vector3(velocity),
            home_latitude,
            home_longitude,
            home_altitude,
            position: vector3(position),
            global_position: Point { x: global[0], y: global[1], z: global[2] },
        }
    }

    fn check_sender(&self, sender: u16) -> Result<(), InputError> {
        if self.served.contains(&sender) {
            return Ok(());
        }
        let served: Vec<_> = self.served.iter().map(u16::to_string).collect();
        let served = served.join(", ");
        let text = format!("sender: must be a vehicle of this bridge ({served}), is {sender}");
        Err(InputError { cause: InputCause::Sender, text })
    }
}

fn vector3([x, y, z]: [f64; 3]) -> Vector3 {
    Vector3 { x, y, z }
}

/// Returns the receivers that a header names.
fn receivers(header: &NetSimHeader) -> Vec<u16> {
    let first = i64::from(header.first_id.get());
    let bits = (0..MASK_BITS).filter(|bit| header.mask.get() >> bit & 1 == 1);
    bits.filter_map(|bit| u16::try_from(first + i64::from(bit)).ok()).collect()
}

/// Returns first vehicle and mask of each required header; one empty mask if there are no vehicles.
fn masks(vehicles: &BTreeSet<u16>) -> Vec<(i32, u64)> {
    let mut masks: Vec<(i32, u64)> = Vec::new();
    for id in vehicles.iter().map(|id| i32::from(*id)) {
        match masks.last_mut() {
            Some((first, mask)) if id - *first < MASK_BITS.into() => *mask |= 1 << (id - *first),
            _ => masks.push((id, 1)),
        }
    }
    if masks.is_empty() {
        masks.push((0, 0));
    }
    masks
}

fn datagrams(sender: u16, to: &BTreeSet<u16>, unix_time: f64, payload: &[u8]) -> Vec<Vec<u8>> {
    let datagram = |mask| {
        let header = NetSimHeader::new(sender.into(), mask, unix_time);
        [header.as_bytes(), payload].concat()
    };
    masks(to).into_iter().map(datagram).collect()
}
