//! Readiness of a fleet.
use rfly_bridge::model::{Fleet, LastHeartbeat};
use rfly_bridge::time::RosTime;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const THERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 7);

fn fleet() -> Fleet {
    Fleet::new([(1, HERE), (2, HERE)], 20005, Duration::from_secs(3))
}

fn heartbeat(from: Ipv4Addr, at: u64) -> LastHeartbeat {
    LastHeartbeat { from, expected: from == HERE, at: Duration::from_secs(at) }
}

#[test]
fn a_fleet_is_ready_when_all_are_and_says_so_once() {
    let mut fleet = fleet();
    let mut seen = BTreeMap::new();
    let mut look =
        |seen: &BTreeMap<_, _>, at| fleet.changed(seen, Duration::from_secs(at), RosTime(0));
    let first = look(&seen, 0).expect("the first look is published");
    assert!(!first.ready);
    seen.insert(1, heartbeat(HERE, 1));
    let second = look(&seen, 1).expect("vehicle 1 is there");
    let ready: Vec<_> = second.vehicles.iter().map(|v| (v.id, v.ready)).collect();
    assert_eq!((second.ready, ready), (false, vec![(1, true), (2, false)]));
    seen.insert(1, heartbeat(HERE, 2));
    assert_eq!(look(&seen, 2), None, "nothing changed");
    seen.insert(2, heartbeat(HERE, 2));
    assert!(look(&seen, 2).expect("all are there").ready);
    assert_eq!(look(&seen, 3), None);
    seen.insert(1, heartbeat(HERE, 6));
    let silent = look(&seen, 6).expect("vehicle 2 is silent");
    assert!(!silent.ready && silent.vehicles[0].ready && !silent.vehicles[1].ready);
    assert_eq!(look(&seen, 7), None, "still silent");
}

#[test]
fn what_is_missing_is_said_with_what_to_look_at() {
    let seen = BTreeMap::from([(1, heartbeat(THERE, 10))]);
    let texts = [
        fleet().readiness(&BTreeMap::new(), Duration::from_secs(9))[1].missing.clone(),
        fleet().readiness(&seen, Duration::from_secs(10))[0].missing.clone(),
        fleet().readiness(&seen, Duration::from_secs(20))[0].missing.clone(),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn absent_vehicles_are_those_that_are_not_ready() {
    let seen = BTreeMap::from([(1, heartbeat(THERE, 10)), (2, heartbeat(HERE, 10))]);
    let absent = |at| {
        let absences = fleet().absences(&seen, Duration::from_secs(at));
        absences.into_iter().map(|(id, absence)| (id, absence.is_elsewhere)).collect::<Vec<_>>()
    };
    assert_eq!(absent(10), [(1, true)]);
    assert_eq!(absent(20), [(1, false), (2, false)], "both are silent");
    let remedy = &fleet().absences(&seen, Duration::from_secs(10))[0].1.remedy;
    assert_eq!(remedy, "set vehicle1.address:=10.0.0.7");
}
