//! The operator's hand: nothing that makes a vehicle safer waits for other calls, or for the link.
use super::rig::{Answer, Rig};
use rfly_bridge::msgs::Service;
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::mavros_msgs::msg::{State, StatusText as Text};
use rfly_bridge::msgs::mavros_msgs::srv::*;
use rfly_bridge::time::RosTime;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::dialect::LOCAL_POSITION_NED_DATA;
use rfly_bridge::wire::mavlink::raw::{self, CommandAck as Ack, Heartbeat, SetMode as Mode};
use rfly_bridge::wire::mavlink::{Frame, MavMessage, Outbound, frames};
use std::collections::VecDeque;
use std::time::Duration;

pub(super) const OFFBOARD: u32 = 6 << 16;
pub(super) const LOITER: u32 = 4 << 16 | 3 << 24;
pub(super) const LAND: u32 = 4 << 16 | 6 << 24;
const RTL: u32 = 4 << 16 | 5 << 24;

pub(super) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(super) fn beat(rig: &mut Rig, custom_mode: u32, armed: bool) {
    rig.say(Heartbeat {
        custom_mode,
        kind: 2,
        autopilot: 12,
        base_mode: if armed { 209 } else { 81 },
        system_status: 4,
        mavlink_version: 3,
    });
}

/// Armed, in AUTO.LOITER, and asked everything that the bridge asks by itself.
pub(super) fn flying() -> Rig {
    let mut rig = Rig::new(VehicleSettings::default());
    beat(&mut rig, LOITER, true);
    rig.pass(ms(100));
    rig.sent_bytes();
    rig
}

pub(super) fn ack(command: u16, result: u8) -> Outbound {
    Ack { command, result, target_system: 1, target_component: 191, ..Ack::default() }.into()
}

pub(super) fn mode(rig: &Rig, name: &str) -> Answer<SetModeResponse> {
    let request = SetModeRequest { custom_mode: name.to_owned(), ..SetModeRequest::default() };
    rig.call_later::<SetMode>("set_mode", request)
}

fn arming(rig: &Rig, value: bool) -> Answer<CommandBoolResponse> {
    rig.call_later::<CommandBool>("cmd/arming", CommandBoolRequest { value })
}

/// What the vehicle was told to do since the last call: SET_MODE by its mode, commands by their number and first parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    Mode(u32),
    Command(u16, f32),
}

pub(super) fn told(rig: &Rig) -> Vec<Told> {
    let bytes = rig.sent_bytes();
    let read = |frame: Frame<'_>| match Mode::parse(&frame) {
        Some(mode) => Some(Told::Mode(mode.custom_mode)),
        None => raw::CommandLong::parse(&frame).map(|c| Told::Command(c.command, c.params[0])),
    };
    let known = |told: &Told| !matches!(told, Told::Command(410 | 511 | 512, _));
    frames(&bytes).filter_map(|frame| read(frame.expect("a frame"))).filter(known).collect()
}

fn position() -> MavMessage {
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA::default())
}

fn notices(rig: &Rig) -> Vec<String> {
    let texts = rig.messages::<Text>("statustext/recv").into_iter();
    texts.map(|text| text.text).collect()
}

/// A controller asks for OFFBOARD at 20 Hz for a minute without waiting for answers, and the vehicle refuses each after `delay`,
/// or answers nothing. Meanwhile LAND, a disarm and RTL are asked for in turn.
fn hammer(delay: Option<u64>) {
    let mut rig = flying();
    let mut acks = VecDeque::new();
    let mut answers = Vec::new();
    let wishes = [
        ("AUTO.LAND", Told::Mode(LAND)),
        ("", Told::Command(400, 0.0)),
        ("AUTO.RTL", Told::Mode(RTL)),
    ];
    let mut next = wishes.iter().cycle();
    for step in 0..6000_u64 {
        if step % 100 == 0 {
            beat(&mut rig, LOITER, true);
        }
        if step % 5 == 0 {
            answers.push(mode(&rig, "OFFBOARD"));
            answers.push(mode(&rig, "OFFBOARD"));
        }
        let mut sent = told(&rig);
        if step % 13 == 7 {
            let (name, wanted) = next.next().unwrap();
            match *name {
                "" => drop(arming(&rig, false)),
                name => drop(mode(&rig, name)),
            }
            rig.poll();
            let now = told(&rig);
            assert!(now.contains(wanted), "{name} at {step}0 ms: {now:?}");
            sent.extend(now);
        }
        for one in sent {
            let command = if matches!(one, Told::Mode(_)) { 176 } else { 400 };
            acks.extend(delay.map(|delay| (step + delay, command)));
        }
        while acks.front().is_some_and(|(at, _)| *at <= step) {
            let (_, command) = acks.pop_front().unwrap();
            rig.say(ack(command, 1));
        }
        rig.pass(ms(10));
    }
    for _ in 0..60 {
        beat(&mut rig, LOITER, true);
        rig.pass(ms(100));
    }
    assert!(answers.iter().all(|a| !a.expect().mode_sent), "delay {delay:?}");
    assert!(notices(&rig).iter().any(|n| n.starts_with("set_mode OFFBOARD: ")));
    let services = rig.ros.services();
    let unanswered: u64 = services.iter().map(|s| s.stats.unanswered).sum();
    assert_eq!(unanswered, 0, "every call has its answer");
}

#[test]
fn land_disarm_and_return_leave_at_once_whatever_a_controller_asks_for() {
    for delay in [Some(0), Some(3), Some(17), Some(120), None] {
        hammer(delay);
    }
}

#[test]
fn a_disarm_never_waits_for_refused_arming_and_each_refusal_says_so() {
    let mut rig = flying();
    beat(&mut rig, LOITER, false);
    let mut arms = Vec::new();
    for _ in 0..160 {
        arms.push(arming(&rig, true));
        let disarm = arming(&rig, false);
        let mode = mode(&rig, "AUTO.LOITER");
        rig.poll();
        let sent = told(&rig);
        assert!(sent.contains(&Told::Command(400, 0.0)), "{sent:?}");
        assert!(sent.contains(&Told::Mode(LOITER)), "{sent:?}");
        rig.say(ack(400, 1));
        rig.say(ack(400, 0));
        rig.say(ack(176, 0));
        for one in told(&rig) {
            assert_eq!(one, Told::Command(400, 0.0), "the answers differed");
            rig.say(ack(400, 0));
        }
        beat(&mut rig, LOITER, false);
        rig.pass(ms(50));
        assert!(disarm.expect().success);
        assert!(mode.expect().mode_sent);
    }
    for arm in arms {
        let answer = arm.expect();
        assert!(!answer.success && answer.result != 0, "{answer:?}");
    }
}

#[test]
fn a_wish_that_is_older_than_a_change_of_the_mode_is_not_sent() {
    let mut rig = flying();
    let offboard = mode(&rig, "OFFBOARD");
    rig.poll();
    assert_eq!(told(&rig), [Told::Mode(OFFBOARD)]);
    // The ground station lands the vehicle on a link of its own.
    rig.pass(ms(300));
    beat(&mut rig, LAND, true);
    rig.pass(ms(6000));
    assert_eq!(told(&rig), []);
    assert!(!offboard.expect().mode_sent);
    let text = "set_mode OFFBOARD: overridden by a newer command or another change of the mode";
    assert!(notices(&rig).contains(&text.to_owned()), "{:?}", notices(&rig));
}

#[test]
fn a_landing_is_repeated_also_when_others_change_the_mode() {
    let mut rig = flying();
    let land = mode(&rig, "AUTO.LAND");
    rig.pass(ms(300));
    beat(&mut rig, RTL, true);
    rig.pass(ms(300));
    assert_eq!(told(&rig), [Told::Mode(LAND); 2]);
    beat(&mut rig, LAND, true);
    rig.poll();
    assert!(land.expect().mode_sent, "the vehicle shows it");
    rig.pass(ms(5000));
    assert_eq!(told(&rig), [], "and it is not sent again");
}

#[test]
fn a_mode_that_this_bridge_chose_before_is_no_change_by_others() {
    let mut rig = flying();
    mode(&rig, "POSCTL");
    let land = mode(&rig, "OFFBOARD");
    rig.poll();
    told(&rig);
    beat(&mut rig, 3 << 16, true);
    rig.pass(ms(600));
    assert_eq!(told(&rig), [Told::Mode(OFFBOARD)], "the first was lost");
    assert!(land.get().is_none());
}

#[test]
fn what_makes_a_vehicle_safer_is_sent_without_a_connection_and_arming_is_not() {
    let mut rig = flying();
    rig.pass(ms(11_000));
    let state = rig.messages::<State>("state");
    assert!(!state.last().unwrap().connected);
    told(&rig);
    let arm = arming(&rig, true);
    let answer = arm.expect();
    assert!(!answer.success && answer.result != 0);
    assert_eq!(told(&rig), []);
    let disarm = arming(&rig, false);
    let land = rig.call_later::<CommandTOL>("cmd/land", CommandTOLRequest::default());
    rig.poll();
    assert_eq!(told(&rig), [Told::Command(400, 0.0), Told::Command(21, 0.0)]);
    rig.pass(ms(5300));
    let (disarm, land) = (disarm.expect(), land.expect());
    assert!(!disarm.success && disarm.result != 0 && !land.success && land.result != 0);
    let told_why = |what: &str| {
        let text = format!("{what}: no answer; sent 4 times; the vehicle is not connected");
        notices(&rig).contains(&text)
    };
    assert!(told_why("disarm") && told_why("cmd/land"), "{:?}", notices(&rig));
    // A vehicle that comes back obeys, and shows it.
    let disarm = arming(&rig, false);
    rig.say(ack(400, 0));
    beat(&mut rig, LOITER, false);
    rig.pass(ms(20));
    assert!(disarm.expect().success);
}

#[test]
fn an_answer_that_comes_after_the_call_was_answered_is_named() {
    let mut rig = flying();
    beat(&mut rig, LOITER, false);
    let arm = arming(&rig, true);
    rig.pass(ms(11_000));
    assert!(!arm.expect().success);
    rig.recorder.clear();
    told(&rig);
    rig.say(ack(400, 0));
    rig.pass(ms(10));
    let text = "command 400 with [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]: the vehicle answered ACCEPTED after the call had been \
                answered without success";
    assert_eq!(notices(&rig), [text]);
    assert_eq!(rig.counted("ack_late"), 1);
    assert_eq!(told(&rig), [], "nothing is sent for a call that was answered");
}

#[test]
fn any_message_is_life_and_a_slow_simulation_has_slow_heartbeats() {
    let connected = |rig: &Rig| rig.messages::<State>("state").iter().all(|s| s.connected);
    // A quarter of real time: a heartbeat each 4 s, poses between them.
    let mut rig = flying();
    for second in 0..60 {
        if second % 4 == 0 {
            beat(&mut rig, LOITER, true);
        }
        rig.say(position());
        rig.pass(ms(1000));
    }
    assert!(connected(&rig));
    // Only heartbeats, and a twentieth of real time.
    for _ in 0..6 {
        beat(&mut rig, LOITER, true);
        rig.pass(ms(9500));
    }
    for _ in 0..3 {
        beat(&mut rig, LOITER, true);
        rig.pass(ms(20_000));
    }
    assert!(connected(&rig));
    // It is lost all the same.
    rig.pass(ms(200_000));
    assert!(!connected(&rig));
}

/// What is sent for a call of a command with a place: latitude and longitude.
fn place<S: Service>(rig: &Rig, service: &str, request: S::Request) -> Vec<[f32; 2]> {
    rig.sent_bytes();
    rig.call_later::<S>(service, request);
    rig.poll();
    let bytes = rig.sent_bytes();
    let long = |frame: Frame<'_>| raw::CommandLong::parse(&frame);
    frames(&bytes)
        .filter_map(|frame| long(frame.expect("a frame")))
        .filter(|c| matches!(c.command, 21 | 22 | 192))
        .map(|c| [c.params[4], c.params[5]])
        .collect()
}

#[test]
fn latitude_and_longitude_zero_mean_here() {
    let rig = flying();
    let is_here = |sent: Vec<[f32; 2]>| sent.len() == 1 && sent[0].iter().all(|x| x.is_nan());
    let here = CommandTOLRequest::default();
    assert!(is_here(place::<CommandTOL>(&rig, "cmd/land", here.clone())));
    let up = CommandTOLRequest { altitude: 500.0, ..here };
    assert!(is_here(place::<CommandTOL>(&rig, "cmd/takeoff", up)));
    let reposition =
        CommandLongRequest { command: 192, param7: 500.0, ..CommandLongRequest::default() };
    assert!(is_here(place::<CommandLong>(&rig, "cmd/command", reposition)));
    let there = CommandTOLRequest { latitude: 47.0, ..CommandTOLRequest::default() };
    assert_eq!(place::<CommandTOL>(&rig, "cmd/land", there), [[47.0, 0.0]]);
    let int = CommandIntRequest { command: 192, frame: 5, ..CommandIntRequest::default() };
    rig.call_later::<CommandInt>("cmd/command_int", int);
    let bytes = rig.sent_bytes();
    let sent: Vec<_> = frames(&bytes)
        .filter_map(|frame| raw::CommandInt::parse(&frame.expect("a frame")))
        .map(|c| [c.x, c.y])
        .collect();
    assert_eq!(sent, [[i32::MAX; 2]]);
}

#[test]
fn a_take_off_of_a_vehicle_that_is_disarmed_meanwhile_is_a_failure() {
    const TAKE_OFF: u32 = 4 << 16 | 2 << 24;
    let mut rig = flying();
    let request = CommandTOLRequest { altitude: 500.0, ..CommandTOLRequest::default() };
    rig.say(position());
    let answer = rig.call_later::<CommandTOL>("cmd/takeoff", request);
    rig.say(ack(22, 0));
    beat(&mut rig, TAKE_OFF, true);
    rig.pass(ms(1000));
    assert!(answer.get().is_none());
    beat(&mut rig, TAKE_OFF, false);
    rig.pass(ms(200));
    let answer = answer.expect();
    assert!(!answer.success && answer.result != 0);
    let text = "cmd/takeoff: accepted, but the vehicle was disarmed before it took off";
    assert!(notices(&rig).contains(&text.to_owned()), "{:?}", notices(&rig));
}

#[test]
fn a_frame_that_px4_ignores_is_refused() {
    let rig = flying();
    rig.sent_bytes();
    let request =
        CommandIntRequest { command: 192, frame: 6, z: 20.0, ..CommandIntRequest::default() };
    let answer = rig.call_later::<CommandInt>("cmd/command_int", request);
    assert!(!answer.expect().success);
    rig.poll();
    assert!(rig.nothing_sent());
    assert!(notices(&rig)[0].contains("frame 6"), "{:?}", notices(&rig));
}

#[test]
fn what_is_odd_on_the_link_is_known_while_it_lasts() {
    let mut rig = flying();
    let odd = |rig: &Rig| rig.handle().with(|a| a.fcu.link_warnings()).unwrap();
    assert_eq!(odd(&rig), None);
    // The vehicle was started again with another number.
    let mut other = rfly_bridge::wire::mavlink::Encoder::new(7, 1);
    for _ in 0..5 {
        let beat = Heartbeat { autopilot: 12, ..Heartbeat::default() };
        rig.receive(other.encode(&beat.into()).as_bytes());
        rig.pass(ms(1000));
    }
    // A companion computer is none.
    let station = Heartbeat { autopilot: 8, ..Heartbeat::default() };
    let mut companion = rfly_bridge::wire::mavlink::Encoder::new(9, 1);
    rig.receive(companion.encode(&station.into()).as_bytes());
    let found = odd(&rig).unwrap();
    assert!(found.contains("system 7") && !found.contains('9'), "{found}");
    rig.pass(ms(11_000));
    assert_eq!(odd(&rig), None, "it is over");
    // Measurements of another clock.
    for (seconds, text) in [(-10, "10.0 s old"), (3600, "3600.0 s in the future")] {
        beat(&mut rig, LOITER, true);
        for n in 0..3_i64 {
            let mut message = PoseStamped::default();
            let now = super::rig::START.0 + i64::try_from(rig.now().as_nanos()).unwrap();
            message.header.stamp = RosTime(now + seconds * 1_000_000_000 + n).to_msg();
            message.pose.orientation.w = 1.0;
            rig.publish("vision_pose/pose", &message);
        }
        rig.poll();
        assert!(odd(&rig).unwrap().contains(text), "{:?}", odd(&rig));
    }
    // ArduPilot.
    let mut rig = Rig::new(VehicleSettings::default());
    for _ in 0..3 {
        rig.say(Heartbeat { autopilot: 3, ..Heartbeat::default() });
    }
    assert!(odd(&rig).unwrap().contains("ArduPilot"));
}

#[test]
fn a_heartbeat_from_before_the_call_proves_nothing() {
    // The vehicle is shown disarmed, and stands still: nothing comes from it any more.
    let mut rig = flying();
    beat(&mut rig, LOITER, false);
    let (disarm, loiter) = (arming(&rig, false), mode(&rig, "AUTO.LOITER"));
    rig.pass(ms(5300));
    let answer = disarm.expect();
    assert!(!answer.success && answer.result == 4, "{answer:?}");
    assert!(!loiter.expect().mode_sent);
    // An acknowledgement alone is no success either.
    beat(&mut rig, OFFBOARD, true);
    rig.pass(ms(500));
    told(&rig);
    let offboard = mode(&rig, "OFFBOARD");
    rig.say(ack(176, 0));
    beat(&mut rig, LAND, true);
    rig.pass(ms(2600));
    assert!(!offboard.expect().mode_sent);
}

#[test]
fn the_acknowledgement_of_another_command_ends_no_disarm() {
    for service in [false, true] {
        let mut rig = flying();
        beat(&mut rig, LOITER, false);
        arming(&rig, true);
        rig.pass(ms(100));
        // The disarm is lost; the acknowledgement of the arming comes late, or twice.
        let request = CommandLongRequest { command: 400, ..CommandLongRequest::default() };
        let by_command = service.then(|| rig.call_later::<CommandLong>("cmd/command", request));
        let by_arming = (!service).then(|| arming(&rig, false));
        rig.pass(ms(700));
        rig.say(ack(400, 0));
        beat(&mut rig, LOITER, true);
        told(&rig);
        rig.pass(ms(300));
        assert!(by_command.as_ref().is_none_or(|answer| answer.get().is_none()));
        assert!(by_arming.as_ref().is_none_or(|answer| answer.get().is_none()));
        beat(&mut rig, LOITER, true);
        rig.pass(ms(500));
        assert!(told(&rig).contains(&Told::Command(400, 0.0)), "it is sent again");
        rig.say(ack(400, 0));
        beat(&mut rig, LOITER, false);
        rig.pass(ms(20));
        assert!(by_command.is_none_or(|answer| answer.expect().success));
        assert!(by_arming.is_none_or(|answer| answer.expect().success));
    }
}

#[test]
fn a_take_off_is_not_proved_by_a_climb_that_goes_on_anyway() {
    let mut rig = flying();
    rig.say(position());
    let request = CommandTOLRequest { altitude: 500.0, ..CommandTOLRequest::default() };
    let answer = rig.call_later::<CommandTOL>("cmd/takeoff", request);
    rig.say(ack(22, 2));
    for climbed in 1..5_u8 {
        let higher = LOCAL_POSITION_NED_DATA {
            z: -f32::from(climbed),
            ..LOCAL_POSITION_NED_DATA::default()
        };
        rig.say(MavMessage::LOCAL_POSITION_NED(higher));
        beat(&mut rig, OFFBOARD, true);
        rig.pass(ms(50));
    }
    let answer = answer.expect();
    assert!(!answer.success && answer.result == 2, "{answer:?}");
}

#[test]
fn what_was_shown_before_explains_no_later_change() {
    let mut rig = flying();
    mode(&rig, "POSCTL");
    rig.say(ack(176, 0));
    beat(&mut rig, 3 << 16, true);
    rig.pass(ms(100));
    mode(&rig, "AUTO.LOITER");
    rig.say(ack(176, 0));
    beat(&mut rig, LOITER, true);
    rig.pass(ms(1000));
    mode(&rig, "OFFBOARD");
    rig.pass(ms(200));
    told(&rig);
    beat(&mut rig, 3 << 16, true); // another station
    rig.pass(ms(5000));
    assert_eq!(told(&rig), []);
}
