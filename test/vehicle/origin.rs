//! Where the autopilot counts from: asked for where it is not said, taken from home meanwhile, and forgotten with the
//! autopilot.
use super::rig::Rig;
use rfly_bridge::frames::Geodetic;
use rfly_bridge::frames::Geoid;
use rfly_bridge::msgs::geographic_msgs::msg::GeoPointStamped;
use rfly_bridge::msgs::mavros_msgs::msg::GlobalPositionTarget;
use rfly_bridge::msgs::mavros_msgs::srv::{CommandLong as Call, CommandLongRequest};
use rfly_bridge::msgs::nav_msgs::msg::Odometry;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::dialect::{
    GLOBAL_POSITION_INT_DATA, GPS_GLOBAL_ORIGIN_DATA, HOME_POSITION_DATA,
};
use rfly_bridge::wire::mavlink::raw::{CommandAck, CommandLong};
use rfly_bridge::wire::mavlink::{MavMessage, frames};
use std::time::Duration;

const REQUEST: u16 = 512;
const CENTRE: [i32; 3] = [401_540_302, 1_162_593_683, 50_000];

fn rig() -> Rig {
    Rig::new(VehicleSettings { geoid: Geoid::Constant(17.0), ..VehicleSettings::default() })
}

/// What was asked for by MAV_CMD_REQUEST_MESSAGE since the last call, but for HOME_POSITION.
fn asked(rig: &Rig) -> Vec<u32> {
    let bytes = rig.sent_bytes();
    let commands = frames(&bytes).filter_map(|frame| CommandLong::parse(&frame.unwrap()));
    let requests = commands.filter(|command| command.command == REQUEST);
    let asked = requests.map(|command| command.params[0] as u32);
    asked.filter(|id| *id != 242).collect()
}

fn answer(rig: &mut Rig, result: u8) {
    rig.say(CommandAck { command: REQUEST, result, ..CommandAck::default() });
}

/// Lives so many seconds; every request gets this result. Returns when GPS_GLOBAL_ORIGIN was asked for, in tenths.
fn live(rig: &mut Rig, seconds: u32, result: u8) -> Vec<u32> {
    let mut at = Vec::new();
    for tenth in 0..seconds * 10 {
        if tenth % 10 == 0 {
            rig.beat();
        }
        rig.pass(Duration::from_millis(100));
        for id in asked(rig) {
            answer(rig, result);
            if id == 49 {
                at.push(tenth);
            }
        }
    }
    at
}

fn origin([latitude, longitude, altitude]: [i32; 3]) -> MavMessage {
    MavMessage::GPS_GLOBAL_ORIGIN(GPS_GLOBAL_ORIGIN_DATA {
        latitude,
        longitude,
        altitude,
        ..GPS_GLOBAL_ORIGIN_DATA::default()
    })
}

/// Home, so many m north and below the origin.
fn home(north: f32, down: f32) -> MavMessage {
    let [latitude, longitude, altitude] = CENTRE;
    MavMessage::HOME_POSITION(HOME_POSITION_DATA {
        latitude,
        longitude,
        altitude,
        x: north,
        z: down,
        q: [1.0, 0.0, 0.0, 0.0],
        ..HOME_POSITION_DATA::default()
    })
}

fn known(rig: &Rig) -> Option<Geodetic> {
    rig.handle().with(|autopilot| autopilot.fcu.origin())?
}

#[test]
fn who_comes_late_asks_until_it_is_said() {
    let mut rig = rig();
    // Denied: the estimator has no origin yet.
    let at = live(&mut rig, 25, 2);
    assert_eq!(at.len(), 3, "{at:?}");
    assert!((9..=12).contains(&at[0]), "{at:?}");
    assert!((95..=105).contains(&(at[1] - at[0])), "{at:?}");
    rig.say(origin(CENTRE));
    assert_eq!(live(&mut rig, 25, 0), [0; 0]);
    let said = rig.messages::<GeoPointStamped>("global_position/gp_origin");
    assert_eq!(said.len(), 1);
    assert!((said[0].position.altitude - 67.0).abs() < 1e-9);
    // The next autopilot may count from elsewhere.
    rig.pass(Duration::from_secs(10));
    assert_eq!(known(&rig), None);
    asked(&rig);
    assert_eq!(live(&mut rig, 5, 0).len(), 1);
}

#[test]
fn an_autopilot_without_a_place_is_not_asked_for_ever() {
    let mut rig = rig();
    assert_eq!(live(&mut rig, 120, 2).len(), 6);
}

#[test]
fn a_request_of_the_user_gets_its_own_answer() {
    let mut rig = rig();
    rig.beat();
    rig.pass(Duration::from_millis(1100));
    assert_eq!(asked(&rig), [49]);
    let request =
        CommandLongRequest { command: REQUEST, param1: 148.0, ..CommandLongRequest::default() };
    let call = rig.call_later::<Call>("cmd/command", request);
    rig.poll();
    assert_eq!(asked(&rig), [148], "it waits for nothing");
    // The answers differ, so each is asked for once more, alone: the bridge's own request, which is not repeated, and the call.
    answer(&mut rig, 2);
    answer(&mut rig, 0);
    assert!(call.get().is_none(), "whose answer is it?");
    while let [one] = asked(&rig)[..] {
        answer(&mut rig, if one == 148 { 0 } else { 2 });
    }
    assert!(call.expect().success);
}

#[test]
fn home_tells_the_origin_until_the_autopilot_does() {
    let mut rig = rig();
    rig.say(home(100.0, -2.0));
    let inferred = known(&rig).expect("by home");
    // Home is 100 m north of it and 2 m above.
    let there = Geodetic::from_e7(CENTRE).to_ned(inferred).to_array();
    for (seen, wanted) in there.iter().zip([100.0, 0.0, -2.0]) {
        // The earth is 0.8 mm lower in 100 m, seen from either.
        assert!((seen - wanted).abs() < 2e-3, "{there:?}");
    }
    rig.say(origin(CENTRE));
    rig.say(home(100.0, -2.0));
    assert_eq!(known(&rig), Some(Geodetic::from_e7(CENTRE)));
}

#[test]
fn global_positions_in_metres_count_from_the_origin_and_not_from_home() {
    for (quirks, wanted) in [(false, [0.0, 100.0, 2.0 + 5.0]), (true, [0.0, 0.0, 5.0])] {
        let mut rig = Rig::new(VehicleSettings {
            geoid: Geoid::Constant(17.0),
            quirks,
            ..VehicleSettings::default()
        });
        rig.say(home(100.0, -2.0));
        // 5 m above home.
        let [lat, lon, alt] = CENTRE;
        rig.say(MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
            lat,
            lon,
            alt: alt + 5000,
            relative_alt: 5000,
            ..GLOBAL_POSITION_INT_DATA::default()
        }));
        let [odometry] = &rig.messages::<Odometry>("global_position/local")[..] else {
            panic!("one message")
        };
        let frame = if quirks { "map" } else { "local_origin" };
        assert_eq!(odometry.header.frame_id, frame);
        let p = &odometry.pose.pose.position;
        for (seen, wanted) in [p.x, p.y, p.z].into_iter().zip(wanted) {
            assert!((seen - wanted).abs() < 2e-3, "{p:?}");
        }
    }
}

#[test]
fn heights_above_home_are_sent_with_a_warning_where_px4_misreads_them() {
    let mut rig = rig();
    rig.beat();
    for (height, frame, warnings) in [(1.0, 6, 0), (10.0, 5, 0), (10.0, 6, 1), (-10.0, 6, 2)] {
        rig.say(home(0.0, -height));
        rig.sent_bytes();
        let target = GlobalPositionTarget {
            coordinate_frame: frame,
            type_mask: 0b1001_1111_1000,
            latitude: 40.154,
            longitude: 116.259,
            altitude: 15.0,
            ..GlobalPositionTarget::default()
        };
        rig.publish("setpoint_raw/global", &target);
        assert!(!rig.sent_bytes().is_empty(), "it is sent in any case");
        let counted = rig.counted("setpoint_doubtful");
        assert_eq!(counted, warnings, "home {height} m up, frame {frame}");
    }
}
