//! Which vehicles of the fleet are simulated: each `CopterSim` sends heartbeats.
use crate::msgs::rfly_bridge_msgs::msg::{FleetReady, VehicleReady};
use crate::time::RosTime;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

/// The newest heartbeat of a vehicle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Heard {
    /// Its sender.
    pub from: Ipv4Addr,
    /// Whether the bridge expects it from there.
    pub expected: bool,
    /// Arrival on the host's monotonic clock.
    pub at: Duration,
}

/// The vehicles that heartbeats are expected of.
#[derive(Clone, Debug)]
pub struct Fleet {
    vehicles: BTreeMap<u16, Ipv4Addr>,
    /// Port of the heartbeats.
    port: u16,
    /// Silence that ends readiness.
    timeout: Duration,
    published: Option<Vec<VehicleReady>>,
}

impl Fleet {
    /// Vehicles with the host that each one's `CopterSim` is expected at.
    pub fn new(
        vehicles: impl IntoIterator<Item = (u16, Ipv4Addr)>,
        port: u16,
        timeout: Duration,
    ) -> Self {
        Self {
            vehicles: vehicles.into_iter().collect(),
            port,
            timeout,
            published: None,
        }
    }

    /// The state of every vehicle.
    pub fn look(&self, heard: &BTreeMap<u16, Heard>, now: Duration) -> Vec<VehicleReady> {
        let look = |(id, address): (&u16, &Ipv4Addr)| {
            let missing = self.missing(*id, *address, heard.get(id), now);
            VehicleReady {
                id: *id,
                ready: missing.is_empty(),
                address: address.to_string(),
                missing,
            }
        };
        self.vehicles.iter().map(look).collect()
    }

    /// The message to publish if the readiness of a vehicle changed.
    pub fn changed(
        &mut self,
        heard: &BTreeMap<u16, Heard>,
        now: Duration,
        stamp: RosTime,
    ) -> Option<FleetReady> {
        let vehicles = self.look(heard, now);
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

    /// Missing heartbeats, and where to look for the cause. The text of a state does not change with time.
    fn missing(&self, id: u16, address: Ipv4Addr, heard: Option<&Heard>, now: Duration) -> String {
        let Self { port, timeout, .. } = self;
        match heard {
            Some(heard) if now.saturating_sub(heard.at) > *timeout => format!(
                "CopterSim {id} sends no heartbeats any more: look whether it still runs on {}",
                heard.from
            ),
            Some(heard) if !heard.expected => format!(
                "CopterSim {id} runs on {}, not on {address}: set vehicle{id}.address:={}",
                heard.from, heard.from
            ),
            Some(_) => String::new(),
            None => format!(
                "CopterSim {id} never sent a heartbeat to UDP port {port}: look on {address} whether its window (CopterID {id}) came \
                 up and its simulation was started, and on another host whether it sends to the network and no firewall \
                 drops port {port}"
            ),
        }
    }
}
