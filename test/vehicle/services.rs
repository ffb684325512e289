//! Services tell the truth: they answer when the vehicle is as asked, and say why where it is not.
use super::fcu::Fcu;
use super::rig::{Answer, Rig};
use rfly_bridge::msgs::mavros_msgs::msg::{
    State, StatusText as Text, TimesyncStatus, WaypointList,
};
use rfly_bridge::msgs::mavros_msgs::srv::*;
use rfly_bridge::msgs::rcl_interfaces::{msg as rcl, srv};
use rfly_bridge::msgs::std_srvs::srv::{Trigger, TriggerRequest};
use rfly_bridge::vehicle::{MavlinkLink, VehicleSettings};
use rfly_bridge::wire::mavlink::raw::{
    self, CommandAck as Ack, Heartbeat, MissionCurrent, ParamRequestList, ParamRequestRead,
    StatusText, SystemTime, Timesync,
};
use rfly_bridge::wire::mavlink::{Frame, Outbound, frames};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const OFFBOARD: u32 = 6 << 16;
/// What the clock of an autopilot shows that booted a few seconds ago.
const BOOT_NS: i64 = 4_000_000_000;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A vehicle that is connected and has been asked everything that the bridge asks by itself.
fn connected() -> (Rig, Fcu) {
    let mut rig = Rig::new(VehicleSettings::default());
    let mut fcu = Fcu::new();
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(2500));
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(2600));
    fcu.beat(&mut rig);
    rig.recorder.clear();
    (rig, fcu)
}

fn arm(rig: &Rig, value: bool) -> Answer<CommandBoolResponse> {
    rig.call_later::<CommandBool>("cmd/arming", CommandBoolRequest { value })
}

fn set_mode(rig: &Rig, name: &str) -> Answer<SetModeResponse> {
    let request = SetModeRequest { custom_mode: name.to_owned(), ..SetModeRequest::default() };
    rig.call_later::<SetMode>("set_mode", request)
}

fn text(severity: u8, id: u16, chunk: u8, words: &str) -> Outbound {
    let mut text = [0; 50];
    text[..words.len()].copy_from_slice(words.as_bytes());
    StatusText { severity, text, id, chunk }.into()
}

fn ack(command: u16, result: u8) -> Outbound {
    Ack { command, result, ..Ack::default() }.into()
}

/// What the bridge itself said about the vehicle.
fn notices(rig: &Rig) -> Vec<String> {
    let texts = rig.messages::<Text>("statustext/recv").into_iter();
    let own = |text: &String| text.starts_with("arm: ") || text.starts_with("set_mode ");
    texts.map(|text| text.text).filter(own).collect()
}

/// Messages sent since the last call, read by `read`.
fn sent<R>(rig: &Rig, read: impl Fn(&Frame<'_>) -> Option<R>) -> Vec<R> {
    let bytes = rig.sent_bytes();
    let read = |frame: Result<Frame<'_>, _>| read(&frame.expect("a frame"));
    frames(&bytes).filter_map(read).collect()
}

#[test]
fn arming_answers_when_the_heartbeat_shows_it_and_does_not_wait_for_the_next_one() {
    let (mut rig, mut fcu) = connected();
    let answer = arm(&rig, true);
    fcu.serve(&mut rig, ms(30));
    let answer = answer.expect();
    assert_eq!((answer.success, answer.result), (true, 0));
    let armed = rig.messages::<State>("state").last().unwrap().armed;
    assert!(armed, "the state was published before the answer");
}

#[test]
fn an_acknowledgement_alone_is_no_success() {
    let (mut rig, _) = connected();
    let answer = arm(&rig, true);
    rig.say(ack(400, 0));
    rig.pass(ms(2400));
    assert!(answer.get().is_none(), "still waits for the heartbeat");
    rig.pass(ms(200));
    let answer = answer.expect();
    assert_eq!((answer.success, answer.result), (false, 4));
    assert_eq!(notices(&rig), ["arm: accepted, but the vehicle did not arm"]);
}

#[test]
fn a_refusal_comes_with_the_vehicles_reason() {
    let (mut rig, _) = connected();
    let answer = arm(&rig, true);
    rig.say(text(2, 7, 0, "Arming denied: Resolve system health failures firs"));
    rig.say(ack(400, 1));
    rig.say(text(6, 8, 0, "Something harmless\t"));
    rig.pass(ms(20));
    rig.say(text(2, 7, 1, "t\t"));
    rig.pass(ms(200));
    let answer = answer.expect();
    assert_eq!((answer.success, answer.result), (false, 1));
    assert_eq!(
        notices(&rig),
        [
            "arm: the vehicle answered TEMPORARILY_REJECTED: Arming denied: Resolve system health failures first"
        ]
    );
}

#[test]
fn a_long_reason_is_limited_by_its_characters() {
    let (mut rig, _) = connected();
    let answer = arm(&rig, true);
    for chunk in 0..16 {
        rig.say(text(2, 7, chunk, &"ä".repeat(25)));
    }
    rig.say(ack(400, 1));
    rig.pass(ms(220));
    assert!(!answer.expect().success);
    assert!(notices(&rig)[0].ends_with(&format!(": {}", "ä".repeat(400))), "{:?}", notices(&rig));
}

#[test]
fn without_an_answer_the_command_is_repeated_and_then_given_up() {
    let (mut rig, mut fcu) = connected();
    let answer = arm(&rig, true);
    let mut confirmations = Vec::new();
    for _ in 0..53 {
        rig.pass(ms(100));
        fcu.beat(&mut rig);
        let long = |frame: &Frame<'_>| raw::CommandLong::parse(frame).filter(|m| m.command == 400);
        confirmations.extend(sent(&rig, long).iter().map(|m| m.confirmation));
    }
    assert_eq!(confirmations, [1, 2, 3, 4]);
    let answer = answer.expect();
    assert_eq!((answer.success, answer.result), (false, 4));
    assert_eq!(notices(&rig), ["arm: no answer; sent 4 times"]);
}

#[test]
fn equal_calls_all_get_the_reason_of_a_link_that_fails() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let state = is_broken.clone();
    let mut rig = Rig::with_link(VehicleSettings::default(), move |mut sink| {
        let sink = move |bytes: &[u8]| !state.load(Ordering::Relaxed) && sink(bytes);
        Box::new(MavlinkLink::new(Box::new(sink)))
    });
    rig.beat();
    let first = arm(&rig, true);
    rig.pass(ms(30));
    is_broken.store(true, Ordering::Relaxed);
    let ends = [first, arm(&rig, true)].map(|call| call.expect().result);
    assert_eq!(ends, [4, 4]);
    rig.poll();
    assert_eq!(notices(&rig), ["arm: the link could not send the datagram"; 2]);
}

#[test]
fn of_calls_at_the_same_time_the_newest_wins_and_the_others_are_told() {
    let (mut rig, mut fcu) = connected();
    let calls = [arm(&rig, true), arm(&rig, false), arm(&rig, true)];
    let mode = set_mode(&rig, "AUTO.LOITER");
    fcu.serve(&mut rig, ms(300));
    assert!(mode.expect().mode_sent);
    let ends = calls.map(|call| call.expect()).map(|a| (a.success, a.result));
    assert_eq!(ends, [(false, 6), (false, 6), (true, 0)]);
    let overridden = "overridden by a newer command or another change of the mode";
    assert_eq!(notices(&rig), [format!("arm: {overridden}")]);
}

#[test]
fn a_mode_that_is_acknowledged_and_not_taken_is_a_failure() {
    let (mut rig, mut fcu) = connected();
    fcu.stubborn = true;
    let answer = set_mode(&rig, "RATTITUDE");
    fcu.serve(&mut rig, ms(1000));
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(1600));
    assert!(!answer.expect().mode_sent);
    assert_eq!(notices(&rig), ["set_mode RATTITUDE: accepted, but the vehicle stays in POSCTL"]);
}

#[test]
fn offboard_without_setpoints_is_not_active() {
    let (mut rig, mut fcu) = connected();
    // As PX4 shows it on the ground: the mode is there, but it could not be armed.
    let idle = Heartbeat { custom_mode: OFFBOARD, base_mode: 1, system_status: 0, ..fcu.heartbeat };
    let answer = set_mode(&rig, "OFFBOARD");
    rig.say(ack(176, 0));
    rig.say(idle);
    rig.pass(ms(2600));
    assert!(!answer.expect().mode_sent);
    assert!(notices(&rig)[0].contains("setpoints must stream"), "{:?}", notices(&rig));
    // With setpoints it is.
    let answer = set_mode(&rig, "offboard");
    fcu.heartbeat.system_status = 3;
    fcu.serve(&mut rig, ms(100));
    assert!(answer.expect().mode_sent);
}

#[test]
fn a_mode_that_does_not_exist_is_refused_at_once() {
    let (rig, _) = connected();
    rig.sent_bytes();
    let answer = rig.call::<SetMode>(
        "set_mode",
        &SetModeRequest { custom_mode: "HOVER".into(), ..SetModeRequest::default() },
    );
    rig.poll();
    assert!(!answer.mode_sent);
    assert_eq!(sent(&rig, raw::SetMode::parse), []);
    assert!(notices(&rig)[0].contains("known: MANUAL, ALTCTL, POSCTL"), "{:?}", notices(&rig));
}

#[test]
fn nobody_waits_for_a_vehicle_that_is_not_there() {
    let rig = Rig::new(VehicleSettings::default());
    assert!(!rig.call::<WaypointPull>("mission/pull", &WaypointPullRequest::default()).success);
    assert!(!rig.call::<ParamPull>("param/pull", &ParamPullRequest::default()).success);
    let command = rig.call::<CommandLong>("cmd/command", &CommandLongRequest::default());
    assert_eq!((command.success, command.result), (false, 1));
    let home = rig.call::<Trigger>("home_position/req_update", &TriggerRequest::default());
    assert!(!home.success && home.message.contains("not connected"));
    let arming = arm(&rig, true);
    rig.pass(ms(200));
    assert!(!arming.expect().success);
    // And who waits when it goes is told.
    let (rig, _) = connected();
    let arming = arm(&rig, true);
    let pull = rig.call_later::<WaypointPull>("mission/pull", WaypointPullRequest::default());
    rig.pass(ms(11_000));
    assert!(!arming.expect().success);
    assert!(!pull.expect().success);
}

#[test]
fn the_answer_to_a_request_for_home_is_not_taken_for_that_to_a_command_of_a_caller() {
    const REQUEST_MESSAGE: u16 = 512;
    let (mut rig, _) = connected();
    rig.sent_bytes();
    let home = rig.call_later::<Trigger>("home_position/req_update", TriggerRequest::default());
    let request = CommandLongRequest {
        command: REQUEST_MESSAGE,
        param1: 7.0,
        ..CommandLongRequest::default()
    };
    let command = rig.call_later::<CommandLong>("cmd/command", request);
    let asked = |rig: &Rig| {
        let commands = sent(rig, raw::CommandLong::parse);
        let requests = commands.iter().filter(|c| c.command == REQUEST_MESSAGE);
        requests.map(|c| c.params[0]).collect::<Vec<_>>()
    };
    assert_eq!(asked(&rig), [242.0, 7.0]);
    rig.say(ack(REQUEST_MESSAGE, 0));
    rig.say(ack(REQUEST_MESSAGE, 2));
    // Whose is which is not known, so each is sent again, alone.
    let mut again = asked(&rig);
    while let [one] = again[..] {
        rig.say(ack(REQUEST_MESSAGE, if one == 7.0 { 2 } else { 0 }));
        again = asked(&rig);
    }
    let command = command.expect();
    assert_eq!((command.success, command.result), (false, 2));
    rig.pass(ms(3000));
    assert!(!home.expect().success, "it was accepted, and no home came");
}

#[test]
fn what_px4_would_misunderstand_is_refused() {
    let (rig, _) = connected();
    rig.sent_bytes();
    for service in ["cmd/takeoff_local", "cmd/land_local"] {
        let answer = rig.call::<CommandTOLLocal>(service, &CommandTOLLocalRequest::default());
        assert_eq!((answer.success, answer.result), (false, 3), "{service}");
    }
    assert_eq!(sent(&rig, raw::CommandLong::parse), []);
}

#[test]
fn a_command_int_waits_for_its_result_too() {
    let (mut rig, mut fcu) = connected();
    fcu.results.insert(192, 2);
    let request = CommandIntRequest { command: 192, ..CommandIntRequest::default() };
    let answer = rig.call_later::<CommandInt>("cmd/command_int", request);
    fcu.serve(&mut rig, ms(50));
    assert!(!answer.expect().success);
}

#[test]
fn one_parameter_is_read_when_it_is_asked_for_and_all_when_they_are_listed() {
    let (mut rig, mut fcu) = connected();
    let names =
        vec!["COM_RC_IN_MODE".to_owned(), "NOPE".to_owned(), "much too long a name".to_owned()];
    let request = srv::GetParametersRequest { names };
    let answer = rig.call_later::<srv::GetParameters>("param/get_parameters", request);
    rig.poll();
    let asked = fcu.serve(&mut rig, ms(100));
    let read = |bytes: &Vec<u8>| {
        frames(bytes).filter_map(|f| ParamRequestRead::parse(&f.unwrap())).count()
    };
    assert_eq!(asked.iter().map(read).sum::<usize>(), 2);
    for _ in 0..5 {
        fcu.beat(&mut rig);
        fcu.serve(&mut rig, ms(1000));
    }
    let kinds: Vec<_> = answer.expect().values.iter().map(|v| (v.type_, v.integer_value)).collect();
    assert_eq!(kinds, [(2, 1), (0, 0), (0, 0)]);
    let request = srv::ListParametersRequest::default();
    let list = rig.call_later::<srv::ListParameters>("param/list_parameters", request);
    fcu.serve(&mut rig, ms(100));
    let names = list.expect().result.names;
    assert_eq!(
        names,
        ["BAT1_N_CELLS", "COM_RC_IN_MODE", "MIS_TAKEOFF_ALT", "MPC_XY_VEL_MAX", "SYS_AUTOSTART"]
    );
    // From now on an unknown name needs no question.
    let request =
        srv::GetParameterTypesRequest { names: vec!["NOPE".into(), "SYS_AUTOSTART".into()] };
    assert_eq!(
        rig.call::<srv::GetParameterTypes>("param/get_parameter_types", &request).types,
        [0, 2]
    );
}

#[test]
fn all_parameters_are_read_some_time_after_the_connection_unless_somebody_was_faster() {
    let lists = |sent: &[Vec<u8>]| {
        let all = |bytes: &Vec<u8>| {
            let list = |frame: Frame<'_>| ParamRequestList::parse(&frame);
            frames(bytes).filter_map(|f| list(f.unwrap())).count()
        };
        sent.iter().map(all).sum::<usize>()
    };
    for faster in [false, true] {
        let mut rig =
            Rig::new(VehicleSettings { read_parameters: ms(5000), ..VehicleSettings::default() });
        let mut fcu = Fcu::new();
        fcu.beat(&mut rig);
        if faster {
            rig.call_later::<ParamPull>("param/pull", ParamPullRequest::default());
        }
        let mut sent = Vec::new();
        for _ in 0..4 {
            sent.extend(fcu.serve(&mut rig, ms(1000)));
            fcu.beat(&mut rig);
        }
        assert_eq!(lists(&sent), usize::from(faster));
        for _ in 0..4 {
            sent.extend(fcu.serve(&mut rig, ms(1000)));
            fcu.beat(&mut rig);
        }
        assert_eq!(lists(&sent), 1);
        let request = srv::ListParametersRequest::default();
        let list = rig.call::<srv::ListParameters>("param/list_parameters", &request);
        assert_eq!(list.result.names.len(), 5);
    }
}

fn parameter(name: &str, value: rcl::ParameterValue) -> rcl::Parameter {
    rcl::Parameter { name: name.to_owned(), value }
}

fn double(value: f64) -> rcl::ParameterValue {
    rcl::ParameterValue { type_: 3, double_value: value, ..Default::default() }
}

#[test]
fn each_parameter_of_a_call_gets_its_own_result() {
    let (mut rig, mut fcu) = connected();
    let text = rcl::ParameterValue { type_: 4, string_value: "fast".into(), ..Default::default() };
    let request = srv::SetParametersRequest {
        parameters: vec![
            parameter("MPC_XY_VEL_MAX", double(7.0)),
            parameter("SYS_AUTOSTART", double(0.5)),
            parameter("BAT1_N_CELLS", text),
        ],
    };
    let answer = rig.call_later::<srv::SetParameters>("param/set_parameters", request);
    fcu.serve(&mut rig, ms(100));
    let results: Vec<_> =
        answer.expect().results.into_iter().map(|r| (r.successful, r.reason)).collect();
    assert_eq!(results[0], (true, String::new()));
    assert_eq!(results[1], (false, "the value does not fit into Int32".to_owned()));
    assert_eq!(results[2], (false, "the value is neither an integer nor a double".to_owned()));
    assert_eq!(fcu.parameters[1].1, 7f32.to_le_bytes());
    // Atomically: what can be known before is checked before anything is sent.
    let request = srv::SetParametersAtomicallyRequest {
        parameters: vec![
            parameter("MPC_XY_VEL_MAX", double(9.0)),
            parameter("BAT1_N_CELLS", rcl::ParameterValue::default()),
        ],
    };
    let name = "param/set_parameters_atomically";
    assert!(!rig.call::<srv::SetParametersAtomically>(name, &request).result.successful);
    let parameters = vec![parameter("MPC_XY_VEL_MAX", double(9.0)); 2049];
    let request = srv::SetParametersAtomicallyRequest { parameters };
    let result = rig.call::<srv::SetParametersAtomically>(name, &request).result;
    assert_eq!(result.reason, "not set: more than 2048 parameters in one call");
    fcu.serve(&mut rig, ms(100));
    assert_eq!(fcu.parameters[1].1, 7f32.to_le_bytes());
}

#[test]
fn the_mission_is_read_by_itself_and_again_when_another_station_changed_it() {
    let mut rig = Rig::new(VehicleSettings::default());
    let mut fcu = Fcu::new();
    let item = |x| raw::MissionItemInt { x, frame: 3, command: 16, ..Default::default() };
    fcu.mission = vec![item(100_000_000), item(200_000_000)];
    let current = |mission_id| MissionCurrent { seq: 1, mission_id, ..MissionCurrent::default() };
    fcu.beat(&mut rig);
    fcu.serve(&mut rig, ms(2800));
    fcu.beat(&mut rig);
    rig.say(current(5));
    fcu.serve(&mut rig, ms(2500));
    rig.say(current(5));
    let lists = rig.messages::<WaypointList>("mission/waypoints");
    let seen = |list: &WaypointList| -> (u16, Vec<(f64, bool)>) {
        let points = list.waypoints.iter().map(|w| (w.x_lat, w.is_current));
        (list.current_seq, points.collect())
    };
    assert_eq!(seen(lists.last().unwrap()), (1, vec![(10.0, false), (20.0, true)]));
    rig.recorder.clear();
    fcu.mission = vec![item(300_000_000)];
    fcu.beat(&mut rig);
    rig.say(current(6));
    fcu.serve(&mut rig, ms(100));
    let lists = rig.messages::<WaypointList>("mission/waypoints");
    assert_eq!(seen(lists.last().unwrap()), (1, vec![(30.0, false)]));
}

#[test]
fn the_clock_of_the_vehicle_is_known_within_a_second_and_again_after_a_restart() {
    let (mut rig, mut fcu) = connected();
    let handle = rig.handle();
    let offset = || {
        let clock = handle.with(|autopilot| autopilot.fcu.clock).flatten();
        clock.map(|clock| clock.host_ns(BOOT_NS) - BOOT_NS)
    };
    let ros = || handle.with(|autopilot| autopilot.fcu.now.ros.0).unwrap();
    assert_eq!(offset(), None);
    // Answers after 2 ms; the vehicle booted 3 s ago.
    let mut exchange = |rig: &mut Rig, boot: i64, seconds: u64| {
        let mut first = None;
        for step in 0..seconds * 100 {
            rig.pass(ms(8));
            let questions = sent(rig, Timesync::parse);
            rig.pass(ms(1));
            let tc1 = ros() - boot;
            rig.pass(ms(1));
            for question in questions {
                rig.say(Timesync { tc1, ..question });
            }
            if offset().is_some_and(|o| (o - boot).abs() < 10_000_000) {
                first.get_or_insert(step * 10);
            }
            if step % 100 == 0 {
                fcu.beat(rig);
            }
        }
        first
    };
    let boot = ros() - 3_000_000_000;
    let first = exchange(&mut rig, boot, 2).unwrap();
    assert!(first < 1000, "{first} ms");
    let off = offset().unwrap() - boot;
    assert!(off.abs() < 10_000_000, "{off} ns");
    let status = rig.messages::<TimesyncStatus>("timesync_status");
    assert!(status.len() > 15);
    let last = status.last().unwrap();
    assert!((9.0..12.0).contains(&last.round_trip_time_ms), "{}", last.round_trip_time_ms);
    let again = ros() - 100_000_000;
    exchange(&mut rig, again, 2);
    let off = offset().unwrap() - again;
    assert!(off.abs() < 10_000_000, "{off} ns");
    assert_eq!(rig.counted("autopilot_restarted"), 1);
    // It asks and is told our time.
    rig.sent_bytes();
    rig.say(Timesync { ts1: 77, ..Timesync::default() });
    let replies: Vec<_> = sent(&rig, Timesync::parse).into_iter().filter(|m| m.ts1 == 77).collect();
    assert_eq!(replies.len(), 1);
    assert!((replies[0].tc1 - ros()).abs() < 1_000_000);
    let own = sent(&rig, SystemTime::parse);
    assert!(own.len() <= 1);
}
