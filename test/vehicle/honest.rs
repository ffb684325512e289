//! Answers that are true: of take-offs that are none, items that are not there, values that are no numbers, and links
//! that have no modes.
use super::fcu::Fcu;
use super::rig::{Answer, Rig};
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::mavros_msgs::msg::StatusText as Text;
use rfly_bridge::msgs::mavros_msgs::srv::*;
use rfly_bridge::msgs::rcl_interfaces::msg::ParameterValue;
use rfly_bridge::vehicle::{UdpFullLink, UdpSimpleLink, VehicleSettings};
use rfly_bridge::wire::mavlink::dialect::{GLOBAL_POSITION_INT_DATA, LOCAL_POSITION_NED_DATA};
use rfly_bridge::wire::mavlink::raw::{
    CommandAck as Ack, CommandLong, ExtendedSysState, MissionItemInt, MissionSetCurrent, ParamSet,
    StatusText,
};
use rfly_bridge::wire::mavlink::{MavMessage, Outbound, frames};
use rfly_bridge::wire::{FullEstimatePacket, IntoBytes as _, SimpleEstimatePacket};
use std::time::Duration;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn text(severity: u8, words: &str) -> Outbound {
    let mut text = [0; 50];
    text[..words.len()].copy_from_slice(words.as_bytes());
    StatusText { severity, text, id: 9, chunk: 0 }.into()
}

/// What was said on `statustext/recv`.
fn said(rig: &Rig) -> Vec<String> {
    let texts = rig.messages::<Text>("statustext/recv");
    rig.recorder.clear();
    texts.into_iter().map(|text| text.text).collect()
}

fn height(metres: f32) -> MavMessage {
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        z: -metres,
        ..LOCAL_POSITION_NED_DATA::default()
    })
}

fn landed(landed_state: u8) -> ExtendedSysState {
    ExtendedSysState { landed_state, vtol_state: 3 }
}

/// A vehicle on the ground that is connected and has been asked everything that the bridge asks by itself.
fn connected(armed: bool) -> (Rig, Fcu) {
    let mut rig = Rig::new(VehicleSettings::default());
    let mut fcu = Fcu::new();
    if armed {
        fcu.heartbeat.base_mode |= 128;
    }
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(2500));
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(2600));
    fcu.beat(&mut rig);
    rig.say(height(0.02));
    rig.say(landed(1));
    rig.recorder.clear();
    (rig, fcu)
}

fn take_off(rig: &Rig) -> Answer<CommandTOLResponse> {
    let request = CommandTOLRequest { altitude: 50.0, ..CommandTOLRequest::default() };
    rig.call_later::<CommandTOL>("cmd/takeoff", request)
}

/// Time passes with heartbeats of the autopilot.
fn live(rig: &mut Rig, fcu: &mut Fcu, time: Duration) {
    let mut left = time;
    while !left.is_zero() {
        let step = left.min(ms(1000));
        fcu.beat(rig);
        fcu.serve(rig, step);
        left -= step;
    }
}

/// The autopilot is in AUTO.TAKEOFF from now on.
fn switch_to_takeoff(fcu: &mut Fcu) {
    fcu.heartbeat.custom_mode = 4 << 16 | 2 << 24;
}

#[test]
fn a_take_off_answers_when_the_vehicle_has_left_the_ground() {
    let (mut rig, mut fcu) = connected(true);
    let answer = take_off(&rig);
    switch_to_takeoff(&mut fcu);
    live(&mut rig, &mut fcu, ms(2000));
    rig.say(height(0.3));
    assert!(answer.get().is_none(), "that is noise");
    rig.say(height(0.7));
    let answer = answer.expect();
    assert_eq!((answer.success, answer.result), (true, 0));
    // Or says so itself.
    let (mut rig, mut fcu) = connected(true);
    let answer = take_off(&rig);
    switch_to_takeoff(&mut fcu);
    live(&mut rig, &mut fcu, ms(500));
    rig.say(landed(3));
    assert!(answer.expect().success);
}

#[test]
fn a_take_off_that_leads_to_none_is_no_success() {
    let (mut rig, mut fcu) = connected(true);
    let answer = take_off(&rig);
    switch_to_takeoff(&mut fcu);
    live(&mut rig, &mut fcu, ms(14_000));
    assert!(answer.get().is_none());
    live(&mut rig, &mut fcu, ms(1500));
    let answer = answer.expect();
    assert_eq!((answer.success, answer.result), (false, 4));
    assert_eq!(
        said(&rig),
        [
            "cmd/takeoff: accepted, but the vehicle does not take off; the requested altitude is measured from sea level"
        ]
    );
    // A fixed wing that nobody launches.
    let (mut rig, mut fcu) = connected(true);
    fcu.heartbeat.kind = 1;
    let answer = take_off(&rig);
    switch_to_takeoff(&mut fcu);
    live(&mut rig, &mut fcu, ms(15_500));
    assert!(!answer.expect().success);
    assert!(said(&rig)[0].contains("RWTO_TKOFF"));
}

#[test]
fn a_take_off_to_below_is_denied_with_px4s_own_words() {
    for armed in [true, false] {
        let (mut rig, mut fcu) = connected(armed);
        let answer = take_off(&rig);
        switch_to_takeoff(&mut fcu);
        fcu.serve(&mut rig, ms(50));
        rig.say(text(2, "Already higher than takeoff altitude\t"));
        fcu.beat(&mut rig);
        rig.pass(ms(20));
        assert!(!answer.expect().success, "armed: {armed}");
        let said = said(&rig);
        assert!(
            said.iter()
                .any(|text| text.starts_with("cmd/takeoff: ") && text.contains("Already higher")),
            "{said:?}"
        );
    }
}

#[test]
fn a_take_off_to_an_altitude_that_is_not_above_the_vehicle_is_not_even_sent() {
    for (amsl, refused) in [(488_000, true), (50_000, true), (49_800, true), (49_000, false)] {
        let (mut rig, _) = connected(false);
        rig.say(MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
            lat: 401_540_302,
            lon: 1_162_593_683,
            alt: amsl,
            ..GLOBAL_POSITION_INT_DATA::default()
        }));
        rig.sent_bytes();
        rig.recorder.clear();
        let answer = take_off(&rig);
        let bytes = rig.sent_bytes();
        let sent = frames(&bytes).filter_map(|f| CommandLong::parse(&f.unwrap()));
        assert_eq!(sent.filter(|c| c.command == 22).count(), usize::from(!refused));
        rig.poll();
        let answer = answer.get();
        assert_eq!(answer.is_some(), refused, "{amsl}");
        if let Some(answer) = answer {
            assert_eq!((answer.success, answer.result), (false, 2));
            assert!(said(&rig)[0].starts_with("cmd/takeoff to 50.0 m: not above the vehicle"));
        }
    }
}

#[test]
fn a_take_off_before_arming_is_a_promise_that_px4_keeps_when_it_is_armed() {
    let (mut rig, mut fcu) = connected(false);
    let answer = take_off(&rig);
    switch_to_takeoff(&mut fcu);
    fcu.serve(&mut rig, ms(100));
    assert!(answer.get().is_none(), "it may still complain");
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(100));
    assert!(answer.expect().success);
    // One that does not even change its mode.
    let (mut rig, mut fcu) = connected(false);
    let answer = take_off(&rig);
    live(&mut rig, &mut fcu, ms(15_500));
    assert!(!answer.expect().success);
}

#[test]
fn a_take_off_that_is_refused_or_of_which_nothing_can_be_seen_ends_with_its_answer() {
    let (mut rig, mut fcu) = connected(true);
    fcu.results.insert(22, 1);
    let answer = take_off(&rig);
    fcu.serve(&mut rig, ms(300));
    let answer = answer.expect();
    assert_eq!((answer.success, answer.result), (false, 1));
    // Neither heights nor landed states come.
    let mut rig = Rig::new(VehicleSettings::default());
    let mut fcu = Fcu::new();
    fcu.beat(&mut rig);
    let answer = take_off(&rig);
    fcu.serve(&mut rig, ms(100));
    assert!(answer.expect().success);
}

fn set_current(rig: &Rig, wp_seq: u16) -> Answer<WaypointSetCurrentResponse> {
    let request = WaypointSetCurrentRequest { wp_seq };
    rig.call_later::<WaypointSetCurrent>("mission/set_current", request)
}

#[test]
fn an_item_beyond_the_list_is_refused_with_the_number_of_items_and_px4s_words() {
    let mut rig = Rig::new(VehicleSettings::default());
    let mut fcu = Fcu::new();
    fcu.mission = vec![MissionItemInt::default(); 3];
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(2500));
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(2600));
    fcu.beat(&mut rig);
    rig.recorder.clear();
    rig.sent_bytes();
    let answer = set_current(&rig, 7);
    let bytes = rig.sent_bytes();
    let asked = frames(&bytes).filter_map(|frame| MissionSetCurrent::parse(&frame.unwrap()));
    assert_eq!(asked.map(|m| m.seq).collect::<Vec<_>>(), [7]);
    rig.say(text(2, "WPM: WP CURR CMD: Not in list\t"));
    assert!(!answer.expect().success);
    assert_eq!(
        said(&rig)[1..],
        [
            "mission/set_current: there is no item 7: the mission has 3, counted from 0: WPM: WP CURR CMD: Not in list"
        ]
    );
    // Where texts do not come it is known all the same.
    let answer = set_current(&rig, 3);
    live_alone(&mut rig, &mut fcu, 5);
    assert!(!answer.expect().success);
    assert!(said(&rig)[0].ends_with("there is no item 3: the mission has 3, counted from 0"));
    // A text beside one that is there is no refusal.
    let answer = set_current(&rig, 1);
    rig.say(text(4, "wind is strong"));
    assert!(answer.get().is_none());
    fcu.serve(&mut rig, ms(50));
    assert!(answer.expect().success);
}

/// Heartbeats, and no answer to anything.
fn live_alone(rig: &mut Rig, fcu: &mut Fcu, seconds: u32) {
    for _ in 0..seconds {
        fcu.beat(rig);
        rig.pass(ms(1000));
    }
}

#[test]
fn the_reason_of_a_mission_that_is_refused_is_said_also_where_nobody_reads_the_log() {
    let (mut rig, mut fcu) = connected(false);
    fcu.mission_result = 14;
    let waypoints = vec![Default::default(); 2];
    let request = WaypointPushRequest { start_index: 0, waypoints };
    let answer = rig.call_later::<WaypointPush>("mission/push", request.clone());
    rig.say(text(3, "Mission rejected: too far\t"));
    fcu.serve(&mut rig, ms(200));
    assert!(!answer.expect().success);
    let texts = said(&rig);
    assert_eq!(
        texts[1..],
        ["mission/push: the vehicle refused it: 14 (DENIED): Mission rejected: too far"]
    );
    let part = WaypointPushRequest { start_index: 1, ..request };
    rig.call::<WaypointPush>("mission/push", &part);
    rig.poll();
    assert!(said(&rig)[0].contains("start_index must be 0"));
}

fn set(rig: &Rig, name: &str, value: f64, force_set: bool) -> Answer<ParamSetV2Response> {
    let request = ParamSetV2Request {
        force_set,
        param_id: name.to_owned(),
        value: ParameterValue { type_: 3, double_value: value, ..ParameterValue::default() },
    };
    rig.call_later::<ParamSetV2>("param/set", request)
}

#[test]
fn what_is_no_number_is_no_value_of_a_parameter() {
    let (rig, _) = connected(false);
    rig.sent_bytes();
    for (value, force) in [(f64::NAN, false), (f64::INFINITY, true)] {
        assert!(!set(&rig, "MPC_XY_VEL_MAX", value, force).expect().success);
        rig.poll();
        let text =
            "param/set: \"MPC_XY_VEL_MAX\": the value is NaN or infinite; send a finite number";
        assert_eq!(said(&rig), [text]);
    }
    let bytes = rig.sent_bytes();
    let sets = frames(&bytes).filter_map(|frame| ParamSet::parse(&frame.unwrap()));
    assert_eq!(sets.count(), 0);
}

#[test]
fn a_pull_of_some_parameters_is_no_success_and_says_how_many_were_announced() {
    let (mut rig, mut fcu) = connected(false);
    let answer = rig.call_later::<ParamPull>("param/pull", ParamPullRequest::default());
    for index in 0..5u16 {
        let Outbound::Raw(raw) = fcu.parameter(index.into()) else { panic!("raw") };
        let mut payload = raw.payload().to_vec();
        // param_count is at 4.
        payload[4..6].copy_from_slice(&u16::MAX.to_le_bytes());
        let value = rfly_bridge::wire::mavlink::raw::RawMessage::new(22, &payload).unwrap();
        rig.say(value);
    }
    live_alone(&mut rig, &mut fcu, 6);
    let answer = answer.expect();
    assert_eq!((answer.success, answer.param_received), (false, 5));
    let said = said(&rig);
    assert!(said[0].starts_with("parameters: no answer for the indices 5, 6, 7, "));
    assert!(said[0].ends_with(" and 16359 more"), "{said:?}");
    assert_eq!(said[1..], ["param/pull: only 5 of 65535 arrived"]);
}

fn udp(full: bool) -> Rig {
    let rig = Rig::with_link(VehicleSettings::default(), |sink| {
        if full {
            Box::new(UdpFullLink::new(1, sink))
        } else {
            Box::new(UdpSimpleLink::new(1, sink))
        }
    });
    state(&rig, full, 5000, 0.0);
    rig.recorder.clear();
    rig
}

/// A state of a vehicle at home, so many m up.
fn state(rig: &Rig, full: bool, time_ms: u32, up: f32) {
    const HOME: [i32; 3] = [401_540_302, 1_162_593_683, 50_000];
    if full {
        let mut packet = FullEstimatePacket::new(time_ms, 1);
        packet.home = HOME.map(Into::into);
        packet.position = [0.0, 0.0, -up].map(Into::into);
        rig.receive(packet.as_bytes());
    } else {
        let packet = SimpleEstimatePacket::state(HOME, [0.0; 3], [0.0, 0.0, -up], [0.0; 3]);
        rig.receive(packet.as_bytes());
    }
}

/// States go on coming.
fn states(rig: &Rig, full: bool, from_ms: u32, time: Duration, up: f32) {
    for step in 0..time.as_millis() as u32 / 100 {
        rig.pass(ms(100));
        state(rig, full, from_ms + 100 * step, up);
    }
}

#[test]
fn offboard_without_setpoints_is_refused_where_the_simulator_decides_on_modes() {
    for full in [true, false] {
        let rig = udp(full);
        let set_mode = || {
            let request =
                SetModeRequest { custom_mode: "OFFBOARD".into(), ..SetModeRequest::default() };
            rig.call_later::<SetMode>("set_mode", request)
        };
        assert!(!set_mode().expect().mode_sent);
        rig.poll();
        assert!(said(&rig)[0].contains("no setpoint was sent in the last second"));
        let setpoint = PoseStamped::default();
        let send = || {
            let mut pose = setpoint.clone();
            pose.pose.orientation.w = 1.0;
            pose.pose.position.z = 2.0;
            rig.publish("setpoint_position/local", &pose);
        };
        send();
        let answer = set_mode();
        states(&rig, full, 5100, ms(1500), 0.0);
        assert!(answer.expect().mode_sent);
        // They have stopped.
        assert!(!set_mode().expect().mode_sent);
    }
}

#[test]
fn reasons_of_links_without_modes_are_said_and_nothing_is_asked_for_that_nobody_wants() {
    for full in [true, false] {
        let rig = udp(full);
        let armed = rig.call_later::<CommandBool>("cmd/arming", CommandBoolRequest { value: true });
        states(&rig, full, 5100, ms(3000), 0.0);
        assert!(armed.expect().success);
        assert_eq!(said(&rig), [""; 0], "no warning of a command that nobody gave");
        assert_eq!(rig.counted("unsupported"), 0);
        rig.call::<CommandTOL>("cmd/land", &CommandTOLRequest::default());
        rig.poll();
        assert!(said(&rig)[0].contains("there is no landing in the UDP modes"));
        rig.call::<WaypointPull>("mission/pull", &WaypointPullRequest::default());
        rig.poll();
        assert_eq!(said(&rig), ["mission/pull: the link carries no missions"]);
        // A setpoint that has no datagram, which no service answers.
        let target = rfly_bridge::msgs::mavros_msgs::msg::AttitudeTarget {
            type_mask: 128,
            thrust: 0.5,
            ..Default::default()
        };
        rig.publish("setpoint_raw/attitude", &target);
        rig.poll();
        assert_eq!(said(&rig).len(), usize::from(!full));
    }
}

#[test]
fn a_take_off_in_the_udp_modes_is_seen_by_its_height() {
    for full in [true, false] {
        let rig = udp(full);
        let at = |altitude: f32| {
            let request = CommandTOLRequest { altitude, ..CommandTOLRequest::default() };
            rig.call_later::<CommandTOL>("cmd/takeoff", request)
        };
        // Home is at 50 m.
        for below in [3.0, 50.0] {
            let answer = at(below);
            rig.pass(ms(200));
            let answer = answer.expect();
            assert_eq!((answer.success, answer.result), (false, 3));
            assert!(said(&rig)[0].contains("not above the vehicle"));
        }
        let answer = at(55.0);
        states(&rig, full, 5100, ms(3000), 0.1);
        assert!(answer.get().is_none());
        states(&rig, full, 8200, ms(200), 1.0);
        assert!(answer.expect().success);
        let answer = at(60.0);
        states(&rig, full, 8500, ms(15_500), 1.0);
        assert!(!answer.expect().success);
    }
}

#[test]
fn an_acknowledgement_of_somebody_else_ends_no_take_off() {
    let (mut rig, mut fcu) = connected(true);
    let answer = take_off(&rig);
    rig.say(Ack {
        command: 22,
        result: 0,
        target_system: 255,
        target_component: 190,
        ..Ack::default()
    });
    rig.pass(ms(100));
    assert!(answer.get().is_none());
    switch_to_takeoff(&mut fcu);
    live(&mut rig, &mut fcu, ms(1000));
    rig.say(height(1.0));
    assert!(answer.expect().success);
}
