//! Readiness of the fleet: whether the `CopterSim` of each vehicle sends heartbeats.
use crate::msgs::rfly_bridge_msgs::msg::{FleetReady, VehicleReady};
use crate::time::RosTime;
use std::collections::BTreeMap;
use std::fmt;
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

/// Reason why a vehicle is not ready.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Absence {
    /// Whether its heartbeats arrive from another address.
    pub is_elsewhere: bool,
    /// What is wrong.
    pub what: String,
    /// What to do, and where.
    pub remedy: String,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

/// The vehicles whose `CopterSim` must send heartbeats.
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
    /// Creates a fleet from its vehicles and the expected address of each `CopterSim`.
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
            let absence = self.absence(*id, *address, heartbeats.get(id), now);
            VehicleReady {
                id: *id,
                ready: absence.is_none(),
                address: address.to_string(),
                missing: absence.map(|absence| absence.to_string()).unwrap_or_default(),
            }
        };
        self.vehicles.iter().map(state).collect()
    }

    /// Returns the message to publish if the readiness of a vehicle changed since the last call, or at the first call.
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

    /// Returns the vehicles that are not ready, with the reason.
    pub fn absences(&self, heartbeats: &Heartbeats, now: Duration) -> Vec<(u16, Absence)> {
        let absence = |(id, address): (&u16, &Ipv4Addr)| {
            Some((*id, self.absence(*id, *address, heartbeats.get(id), now)?))
        };
        self.vehicles.iter().filter_map(absence).collect()
    }

    /// Describes missing heartbeats, and those from another address. The text has no time, so it changes with the state only.
    fn absence(
        &self,
        id: u16,
        address: Ipv4Addr,
        last: Option<&LastHeartbeat>,
        now: Duration,
    ) -> Option<Absence> {
        let Self { port, timeout, .. } = self;
        let is_elsewhere = last.is_some_and(|last| !last.expected);
        Some(match last {
            Some(last) if now.saturating_sub(last.at) > *timeout => Absence {
                is_elsewhere: false,
                what: format!("CopterSim {id} no longer sends heartbeats"),
                remedy: format!("check that it still runs on {}", last.from),
            },
            Some(last) if is_elsewhere => Absence {
                is_elsewhere,
                what: format!("CopterSim {id} runs on {}, not on {address}", last.from),
                remedy: format!("set vehicle{id}.address:={}", last.from),
            },
            Some(_) => return None,
            None => Absence {
                is_elsewhere,
                what: format!("CopterSim {id} has sent no heartbeat to UDP port {port}"),
                remedy: format!(
                    "check on {address} that its window (CopterID {id}) is open and its simulation runs; if it runs on another \
                     host, that it sends to the network and no firewall drops port {port}"
                ),
            },
        })
    }
}
