//! Links in the UDP modes, against what the vendor's client sends for the same call as MAVLink and as datagram.
use crate::support::golden::{self, hex, number};
use rfly_bridge::vehicle::{Counter, Link, SendError, UdpFullLink, UdpSimpleLink};
use rfly_bridge::wire::mavlink::dialect::STATUSTEXT_DATA;
use rfly_bridge::wire::mavlink::raw::{CommandLong, GpsRawInt, Heartbeat, RawMessage, SetMode};
use rfly_bridge::wire::mavlink::{MavMessage, Outbound, frames};
use rfly_bridge::wire::{
    FullEstimatePacket, IntoBytes as _, Packet as _, SimpleCommand, SimpleCommandPacket,
    SimpleEstimatePacket,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

mod calls;
mod rows;
mod states;
mod throttle;
mod ultra;

type Sent = Arc<Mutex<Vec<Vec<u8>>>>;

fn sink(sent: &Sent) -> rfly_bridge::vehicle::Sink {
    let sent = sent.clone();
    Box::new(move |bytes| {
        sent.lock().unwrap().push(bytes.to_vec());
        true
    })
}

fn full() -> (UdpFullLink, Sent) {
    let sent = Sent::default();
    (UdpFullLink::new(1, sink(&sent)), sent)
}

fn simple() -> (UdpSimpleLink, Sent) {
    let sent = Sent::default();
    (UdpSimpleLink::new(1, sink(&sent)), sent)
}
