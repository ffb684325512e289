//! Readiness of the fleet: whether the `CopterSim` of each vehicle sends heartbeats.
use crate::msgs::rfly_bridge_msgs::msg::{FleetReady, VehicleReady};
use crate::time::RosTime;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

/// The last heartbeat of a vehicle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LastHeartbeat {
    /// Address of its sender.
    pub from: Ipv4Addr,
    /// Whether the bridge expects heartbeats from this address.
    pub expected: bool,
    /// Arrival on the host's monotonic clock.
    pub at: Duration,
}

/// The last heartbeats by vehicle.
pub type Heartbeats = BTreeMap<u16, LastHeartbeat>;

/// The vehicles that must send heartbeats.
#[derive(Clone, Debug)]
pub struct Fleet {
    vehicles: BTreeMap<u16, Ipv4Addr>,
    /// Port of the heartbeats.
    port: u16,
    /// Silence after which a vehicle is no longer ready.
    timeout: Duration,
    published: Option<Vec<VehicleReady>>,
}

impl Fleet {
    /// Takes each vehicle with the expected address of its `CopterSim`.
    pub fn new(
        vehicles: impl IntoIterator<Item = (u16, Ipv4Addr)>,
        port: u16,
        timeout: Duration,
    ) -> Self {
        Self { vehicles: vehicles.into_iter().collect(), port, timeout, published: None }
    }

    /// Returns the readiness of every vehicle.
    pub fn readiness(&self, heartbeats: &Heartbeats, now: Duration) -> Vec<VehicleReady> {
        let state = |(id, address): (&u16, &Ipv4Addr)| {
            let missing = self.missing(*id, *address, heartbeats.get(id), now);
            let (ready, address) = (missing.is_empty(), address.to_string());
            VehicleReady { id: *id, ready, address, missing }
        };
        self.vehicles.iter().map(state).collect()
    }

    /// Returns the message to publish if the readiness of a vehicle changed.
    pub fn changed(
        &mut self,
        heartbeats: &Heartbeats,
        now: Duration,
        stamp: RosTime,
    ) -> Option<FleetReady> {
        let vehicles = self.readiness(heartbeats, now);
        if self.published.as_ref() == Some(&vehicles) {
            return None;
        }
        let mut message = FleetReady {
            ready: vehicles.iter().all(|vehicle| vehicle.ready),
            vehicles: vehicles.clone(),
            ..FleetReady::default()
        };
        message.header.stamp = stamp.to_msg();
        self.published = Some(vehicles);
        Some(message)
    }

    /// Describes missing heartbeats and where to look for the cause. The text contains no time, so it changes with the state only.
    fn missing(
        &self,
        id: u16,
        address: Ipv4Addr,
        last: Option<&LastHeartbeat>,
        now: Duration,
    ) -> String {
        let Self { port, timeout, .. } = self;
        match last {
            Some(last) if now.saturating_sub(last.at) > *timeout => format!(
                "CopterSim {id} no longer sends heartbeats: check that it still runs on {}",
                last.from
            ),
            Some(last) if !last.expected => format!(
                "CopterSim {id} runs on {}, not on {address}: set vehicle{id}.address:={}",
                last.from, last.from
            ),
            Some(_) => String::new(),
            None => format!(
                "CopterSim {id} has sent no heartbeat to UDP port {port}: check on {address} that its window (CopterID {id}) is \
                 open and its simulation runs; if it runs on another host, that it sends to the network and no firewall \
                 drops port {port}"
            ),
        }
    }
}
