//! Vehicles that announce themselves after the start are told once, with what is to be done.
use rfly_bridge::node::{Announcement, HeartbeatDirectory, VehicleAddress};
use std::net::Ipv4Addr;

fn at(last: u8) -> VehicleAddress {
    VehicleAddress { address: Ipv4Addr::new(192, 168, 1, last), local: false }
}

const LOOPBACK: VehicleAddress = VehicleAddress { address: Ipv4Addr::LOCALHOST, local: true };

const NEW: Announcement = Announcement::NotServed { first: true };
const KNOWN: Announcement = Announcement::NotServed { first: false };

#[test]
fn a_vehicle_that_is_not_served_is_told_once() {
    let mut announced = HeartbeatDirectory::new([(1, Some(at(10)))], []);
    assert_eq!(announced.hear(1, at(10)), Announcement::Served);
    assert_eq!(announced.hear(2, at(10)), NEW);
    assert_eq!(announced.hear(3, at(10)), NEW);
    for id in [2, 3] {
        assert_eq!(announced.hear(id, at(11)), KNOWN);
    }
}

#[test]
fn a_vehicle_at_another_address_than_it_is_sent_to_is_told_once() {
    let mut announced =
        HeartbeatDirectory::new([(1, Some(at(10))), (2, Some(LOOPBACK)), (3, None)], []);
    let elsewhere = |sent_to: VehicleAddress, first| Announcement::Elsewhere {
        sent_to: sent_to.address,
        first,
    };
    assert_eq!(announced.hear(1, at(11)), elsewhere(at(10), true));
    assert_eq!(announced.hear(1, at(12)), elsewhere(at(10), false));
    assert_eq!(announced.hear(1, at(10)), Announcement::Served);
    // On this host it may send from any of the host's addresses.
    let here = VehicleAddress { local: true, ..at(1) };
    assert_eq!(announced.hear(2, here), Announcement::Served);
    assert_eq!(announced.hear(2, at(9)), elsewhere(LOOPBACK, true));
    // Behind a line of its own it may be anywhere.
    assert_eq!(announced.hear(3, at(9)), Announcement::Served);
}

#[test]
fn a_vehicle_that_another_bridge_serves_is_expected() {
    let mut announced = HeartbeatDirectory::new([(1, Some(at(10)))], [1, 2]);
    assert_eq!(announced.hear(2, at(10)), Announcement::OfAnotherBridge);
    assert_eq!(announced.hear(3, at(10)), NEW);
    assert_eq!(announced.hear(1, at(10)), Announcement::Served);
}

#[test]
fn a_flood_of_ids_is_counted_and_not_told() {
    let mut announced = HeartbeatDirectory::new([(1, Some(LOOPBACK))], []);
    for id in [i32::MIN, -1, 0, 10_001, i32::MAX] {
        assert_eq!(announced.hear(id, LOOPBACK), KNOWN, "{id} is no CopterID");
    }
    let told = (2..=10_000).filter(|id| announced.hear(*id, LOOPBACK) == NEW);
    assert_eq!(told.count(), 100);
}
