use crate::support::golden;
use rfly_bridge::config::params::{BoundsAxes, WorldConvention};
use rfly_bridge::msgs::rfly_bridge_msgs::msg::Collision;
use rfly_bridge::reports::{CollisionState, MapConversion, Obstacle, collision};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{CrashPacket, Packet as _, SceneReport, VehicleReportPacket};

fn report(kind: i32, sim_time: f64) -> VehicleReportPacket {
    let first = golden::load("recv_ue4msg").swap_remove(0).input_packets().remove(0);
    let mut report = *VehicleReportPacket::parse(&first).unwrap();
    report.crash_type = kind.into();
    report.sim_time = sim_time.into();
    report
}

fn message(latch: &CollisionState) -> Collision {
    let world = MapConversion { convention: WorldConvention::Enu, bounds: BoundsAxes::Own };
    collision(1, latch, &world, ("map", RosTime(2_500_000_000)))
}

#[test]
fn recorded_reports_of_vehicles_begin_collisions_that_the_vendor_decodes_alike() {
    let mut seen = 0;
    for vector in golden::load("recv_ue4msg") {
        let Some(decoded) = vector["decoded"]["inReqVect"].as_array() else {
            continue;
        };
        let packets = vector.input_packets();
        let reports: Vec<_> = packets
            .iter()
            .filter_map(|bytes| match SceneReport::parse(bytes) {
                Ok(SceneReport::Vehicle(report)) => Some(*report),
                _ => None,
            })
            .collect();
        for known in decoded {
            let id = known["copterID"].as_i64().unwrap();
            let mut latch = CollisionState::default();
            for report in reports.iter().filter(|r| i64::from(r.copter_id.get()) == id) {
                latch.report(report);
            }
            let message = message(&latch);
            let crash = known["CrashType"].as_i64().unwrap();
            let (kind, other) = match crash {
                -2 => (1, 0),
                -1 => (2, 0),
                0 => (0, 0),
                id => (3, id),
            };
            assert_eq!(
                (message.kind, i64::from(message.other)),
                (kind, other),
                "{}",
                vector.name()
            );
            if kind != 0 {
                let numbers = |key: &str| golden::numbers(&known[key]);
                let [n, e, d] = numbers("CrashPos").try_into().unwrap();
                let p = &message.position;
                assert_eq!([p.x, p.y, p.z], [e, n, -d]);
                let [n, e, d] = numbers("targetPos").try_into().unwrap();
                let c = &message.centre;
                assert_eq!([c.x, c.y, c.z], [e, n, -d]);
                assert!(message.located);
                assert_eq!(message.name, known["CrashedName"].as_str().unwrap());
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn a_collision_is_held_until_the_vehicle_is_free() {
    let mut latch = CollisionState::default();
    assert!(!latch.report(&report(0, 1.0)), "nothing has changed");
    assert!(latch.report(&report(-2, 1.1)));
    assert!(!latch.report(&report(-2, 1.2)), "the same collision");
    let held = message(&latch);
    assert_eq!((held.kind, held.count, held.vehicle), (1, 1, 1));
    assert_eq!((held.header.stamp.sec, held.header.frame_id.as_str()), (2, "map"));
    assert!(latch.report(&report(7, 1.3)), "another one");
    assert_eq!((message(&latch).kind, message(&latch).other), (3, 7));
    assert!(latch.report(&report(0, 1.4)));
    let free = message(&latch);
    assert_eq!((free.kind, free.count, free.located, free.name.as_str()), (0, 2, false, ""));
    assert!(!latch.report(&report(0, 1.5)));
}

#[test]
fn a_late_report_neither_begins_nor_ends_a_collision_and_a_restart_ends_it() {
    let mut latch = CollisionState::default();
    latch.report(&report(-1, 10.0));
    assert!(!latch.report(&report(0, 9.5)), "late");
    assert!(latch.contact().is_some());
    assert!(latch.report(&report(0, 0.1)), "a new simulation");
    assert!(latch.contact().is_none());
    // It begins with a collision: a new one.
    latch.report(&report(-1, 20.0));
    assert!(latch.report(&report(-1, 0.2)));
    assert_eq!((message(&latch).kind, message(&latch).count), (2, 3));
}

#[test]
fn the_short_datagram_tells_of_collisions_with_vehicles_and_of_their_end() {
    let event = |with: i32| CrashPacket::new(1, with);
    let mut latch = CollisionState::default();
    assert!(!latch.event(&event(-1)));
    assert!(latch.event(&event(4)));
    assert_eq!(latch.contact().unwrap().obstacle, Obstacle::Vehicle(4));
    assert!(!message(&latch).located);
    assert!(!latch.event(&event(4)));
    // The long one adds the place; it is one collision.
    assert!(latch.report(&report(4, 1.0)));
    assert!(message(&latch).located);
    assert_eq!(message(&latch).count, 1);
    assert!(!latch.event(&event(-1)), "the long one says when it is over");
    assert!(latch.report(&report(0, 1.1)));
    // It knows nothing of the ground.
    assert!(latch.report(&report(-2, 1.2)));
    assert!(!latch.event(&event(-1)));
    assert_eq!(message(&latch).kind, 1);
    assert!(latch.event(&event(9)));
    assert!(latch.event(&event(-1)));
    assert_eq!(message(&latch).kind, 0);
}

#[test]
fn points_that_are_no_numbers_are_left_out() {
    let mut bad = report(-1, 1.0);
    bad.contact[1] = f32::NAN.into();
    let mut latch = CollisionState::default();
    assert!(latch.report(&bad));
    assert!(!message(&latch).located);
    bad.sim_time = f64::NAN.into();
    assert!(!latch.report(&bad));
}
