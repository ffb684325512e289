//! The command protocol against a peer that loses, delays and repeats.
use super::protocol::{long, secs};
use proptest::prelude::*;
use rfly_bridge::session::*;
use rfly_bridge::wire::mavlink::dialect::MavCmd;
use rfly_bridge::wire::mavlink::raw::{CommandAck, CommandInt, CommandLong, SetMode};
use std::time::Duration;

const ARM: u16 = MavCmd::MAV_CMD_COMPONENT_ARM_DISARM as u16;
const TAKE_OFF: u16 = MavCmd::MAV_CMD_NAV_TAKEOFF as u16;
const SET_MODE: u16 = MavCmd::MAV_CMD_DO_SET_MODE as u16;
const REQUEST_MESSAGE: u16 = MavCmd::MAV_CMD_REQUEST_MESSAGE as u16;

type End = (&'static str, CommandEnd);

fn commands() -> CommandClient<&'static str> {
    CommandClient::new(CommandSettings::default(), 255, 190)
}

fn arm(value: f32) -> CommandLong {
    let params = [value, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    CommandLong { params, command: ARM, target_system: 1, target_component: 1, confirmation: 0 }
}

fn ack(command: u16, result: u8) -> CommandAck {
    CommandAck { command, result, target_system: 255, target_component: 190, ..Default::default() }
}

const ACCEPTED: CommandEnd = CommandEnd::Acked { result: 0, result_param2: 0 };

/// A request for a message: commands of this number do not override each other.
fn request(message: f32) -> CommandLong {
    CommandLong { command: REQUEST_MESSAGE, ..arm(message) }
}

/// Sends of a command, in s, until the machine has no work.
fn run_out(commands: &mut CommandClient<&'static str>, from: f64) -> Vec<(f64, CommandLong)> {
    let (mut log, mut now) = (Vec::new(), secs(from));
    loop {
        let (sent, _) = drain(commands);
        log.extend(sent.into_iter().map(|s| (now.as_secs_f64(), s)));
        let Some(deadline) = commands.deadline() else {
            return log;
        };
        assert!(deadline > now, "{deadline:?} at {now:?}");
        now = deadline;
        commands.tick(now);
    }
}

/// A command on its way, or its answer: command and result.
type Wire = Result<CommandLong, (u16, i32)>;

/// What was sent (COMMAND_LONG only) and what ended.
fn drain<T>(commands: &mut CommandClient<T>) -> (Vec<CommandLong>, Vec<(T, CommandEnd)>) {
    let (mut sent, mut ended) = (Vec::new(), Vec::new());
    while let Some(event) = commands.next_event() {
        match event {
            CommandEvent::Send { message, .. } => sent.push(long(&message)),
            CommandEvent::Ended { token, end, .. } => ended.push((token, end)),
            CommandEvent::Progress { .. } | CommandEvent::Late { .. } => {}
        }
    }
    (sent, ended)
}

#[test]
fn an_answer_ends_a_command_with_its_result_and_parameter() {
    let mut commands = commands();
    commands.start(secs(10.0), arm(1.0), "arm");
    assert_eq!(drain(&mut commands), (vec![arm(1.0)], vec![]));
    let denied = CommandAck { result_param2: -7, ..ack(ARM, 2) };
    commands.acknowledge(secs(10.01), 1, 1, &denied);
    let end = CommandEnd::Acked { result: 2, result_param2: -7 };
    assert_eq!(drain(&mut commands), (vec![], vec![("arm", end)]));
    assert_eq!(commands.deadline(), None);
}

#[test]
fn without_an_answer_it_is_sent_again_with_a_higher_confirmation_until_5_s_are_over() {
    let mut commands = commands();
    let first = CommandLong { confirmation: 1, ..arm(1.0) };
    commands.start(secs(10.0), first, "arm");
    let mut log = Vec::new();
    let mut ends: Vec<End> = Vec::new();
    let mut now = secs(10.0);
    loop {
        let (sent, ended) = drain(&mut commands);
        log.extend(sent.iter().map(|s| (now, s.confirmation)));
        ends.extend(ended);
        let Some(deadline) = commands.deadline() else {
            break;
        };
        assert!(deadline > now);
        now = deadline;
        commands.tick(now);
    }
    let expected = [(10.0, 1), (10.5, 2), (11.5, 3), (13.0, 4)].map(|(t, n)| (secs(t), n));
    assert_eq!(log, expected);
    let end = CommandEnd::TimedOut { sent: 4, in_progress: false };
    assert_eq!((now, ends), (secs(15.0), vec![("arm", end)]));
}

#[test]
fn a_repeated_command_int_is_the_same_message() {
    let mut commands = commands();
    let int = CommandInt {
        command: MavCmd::MAV_CMD_DO_REPOSITION as u16,
        target_system: 1,
        target_component: 1,
        x: 473_977_420,
        ..CommandInt::default()
    };
    commands.start(secs(0.0), int, "reposition");
    commands.tick(secs(0.5));
    let mut sent = Vec::new();
    while let Some(CommandEvent::Send { message, id: 0 }) = commands.next_event() {
        sent.push(message);
    }
    assert_eq!(sent, [int.into(), int.into()]);
}

#[test]
fn a_mode_is_answered_as_the_command_of_that_name() {
    let mut commands = commands();
    let mode = SetMode { custom_mode: 6 << 16, target_system: 1, base_mode: 1 };
    commands.start(secs(0.0), mode, "mode");
    commands.acknowledge(secs(0.1), 1, 1, &ack(SET_MODE, 0));
    let sent = CommandEvent::Send { id: 0, message: mode.into() };
    assert_eq!(commands.next_event(), Some(sent));
    assert_eq!(drain(&mut commands).1, [("mode", ACCEPTED)]);
}

#[test]
fn what_cannot_be_sent_ends_at_once() {
    let mut commands = commands();
    let id = commands.start(secs(0.0), arm(1.0), "arm");
    drain(&mut commands);
    commands.not_sent(secs(0.0), id);
    assert_eq!(drain(&mut commands), (vec![], vec![("arm", CommandEnd::NotSent)]));
    assert_eq!(commands.deadline(), None);
}

#[test]
fn in_progress_is_no_result_and_prolongs_the_wait() {
    let mut commands = commands();
    let id = commands.start(secs(0.0), arm(1.0), "arm");
    drain(&mut commands);
    for t in 1..30 {
        let progress = CommandAck { progress: if t == 1 { 255 } else { 3 * t }, ..ack(ARM, 5) };
        let now = Duration::from_secs((4 * t - 4).into()) + secs(0.1);
        commands.tick(now);
        commands.acknowledge(now, 1, 1, &progress);
        let reported =
            CommandEvent::Progress { command: ARM, id, percent: (t != 1).then_some(3 * t) };
        assert_eq!(commands.next_event(), Some(reported));
        assert_eq!(commands.next_event(), None, "at {t}: no end, no repetition");
    }
    commands.acknowledge(secs(113.0), 1, 1, &ack(ARM, 0));
    assert_eq!(drain(&mut commands).1, [("arm", ACCEPTED)]);
}

#[test]
fn progress_that_stops_or_never_ends_is_given_up() {
    let mut stops = commands();
    stops.start(secs(0.0), arm(1.0), "arm");
    stops.acknowledge(secs(0.1), 1, 1, &ack(ARM, 5));
    assert_eq!(stops.deadline(), Some(secs(5.1)));
    stops.tick(secs(5.1));
    let end = CommandEnd::TimedOut { sent: 1, in_progress: true };
    assert_eq!(drain(&mut stops).1, [("arm", end)]);

    let mut never = commands();
    never.start(secs(0.0), arm(1.0), "arm");
    let mut ended_at = None;
    for t in 1..1000 {
        let now = secs(f64::from(t));
        never.acknowledge(now, 1, 1, &ack(ARM, 5));
        never.tick(now);
        if !drain(&mut never).1.is_empty() {
            ended_at.get_or_insert(t);
        }
    }
    assert_eq!(ended_at, Some(120));
}

#[test]
fn answers_to_others_and_duplicates_are_counted_and_change_nothing() {
    let mut commands = commands();
    commands.start(secs(0.0), arm(1.0), "arm");
    let foreign = [(7, 190), (255, 1), (0, 191)];
    for (target_system, target_component) in foreign {
        let ack = CommandAck { target_system, target_component, ..ack(ARM, 2) };
        commands.acknowledge(secs(0.1), 1, 1, &ack);
    }
    commands.acknowledge(secs(0.1), 2, 1, &ack(ARM, 2)); // another vehicle
    commands.acknowledge(secs(0.1), 1, 1, &ack(TAKE_OFF, 2)); // another command
    assert_eq!(drain(&mut commands).1, []);
    // An autopilot that does not say whom it answers.
    let anonymous = CommandAck { target_system: 0, target_component: 0, ..ack(ARM, 0) };
    commands.acknowledge(secs(0.2), 1, 1, &anonymous);
    assert_eq!(drain(&mut commands).1, [("arm", ACCEPTED)]);
    commands.acknowledge(secs(0.2), 1, 1, &anonymous);
    assert_eq!(drain(&mut commands), (vec![], vec![]));
    let counters = commands.counters();
    assert_eq!((counters.foreign, counters.unexpected), (3, 3));
}

#[test]
fn different_commands_and_vehicles_are_served_at_the_same_time() {
    let mut commands = commands();
    let other_vehicle = CommandLong { target_system: 2, ..arm(1.0) };
    let other_command = CommandLong { command: TAKE_OFF, ..arm(0.0) };
    commands.start(secs(0.0), arm(1.0), "one");
    commands.start(secs(0.0), other_vehicle, "two");
    commands.start(secs(0.0), other_command, "take off");
    assert_eq!(drain(&mut commands).0, [arm(1.0), other_vehicle, other_command]);
    commands.acknowledge(secs(0.1), 1, 1, &ack(TAKE_OFF, 0));
    commands.acknowledge(secs(0.1), 2, 1, &ack(ARM, 0));
    commands.acknowledge(secs(0.1), 1, 1, &ack(ARM, 0));
    let ended: Vec<_> = drain(&mut commands).1.iter().map(|e| e.0).collect();
    assert_eq!(ended, ["take off", "two", "one"]);
}

#[test]
fn the_newest_of_a_kind_is_sent_at_once_and_ends_those_before() {
    let mut commands = commands();
    commands.start(secs(0.0), arm(1.0), "arm");
    commands.start(secs(0.0), arm(0.0), "disarm");
    assert_eq!(
        drain(&mut commands),
        (vec![arm(1.0), arm(0.0)], vec![("arm", CommandEnd::Overridden)])
    );
    // The answers differ, so one of them is that to "arm": which, only the vehicle knows. It is asked again, alone.
    commands.acknowledge(secs(0.1), 1, 1, &ack(ARM, 1));
    assert_eq!(drain(&mut commands), (vec![], vec![]), "one of two");
    commands.acknowledge(secs(0.1), 1, 1, &ack(ARM, 0));
    let again = CommandLong { confirmation: 1, ..arm(0.0) };
    assert_eq!(drain(&mut commands), (vec![again], vec![]));
    commands.acknowledge(secs(0.2), 1, 1, &ack(ARM, 0));
    assert_eq!(drain(&mut commands), (vec![], vec![("disarm", ACCEPTED)]));
    assert_eq!(commands.deadline(), None);
}

#[test]
fn answers_that_are_the_same_are_those_of_all() {
    let mut commands = commands();
    commands.start(secs(0.0), request(1.0), "one");
    commands.start(secs(0.0), request(2.0), "two");
    assert_eq!(drain(&mut commands).0, [request(1.0), request(2.0)]);
    commands.acknowledge(secs(0.1), 1, 1, &ack(REQUEST_MESSAGE, 0));
    assert_eq!(drain(&mut commands).1, []);
    commands.acknowledge(secs(0.2), 1, 1, &ack(REQUEST_MESSAGE, 0));
    assert_eq!(drain(&mut commands).1, [("one", ACCEPTED), ("two", ACCEPTED)]);
}

#[test]
fn where_an_answer_is_missing_each_is_sent_again_alone() {
    let mut commands = commands();
    commands.start(secs(0.0), request(1.0), "one");
    commands.start(secs(0.1), request(2.0), "two");
    commands.acknowledge(secs(0.2), 1, 1, &ack(REQUEST_MESSAGE, 2));
    drain(&mut commands);
    // The second transmission may be answered until 0.6 s.
    commands.tick(secs(0.5));
    assert_eq!(drain(&mut commands), (vec![], vec![]));
    assert_eq!(commands.deadline(), Some(secs(0.6)));
    commands.tick(secs(0.6));
    let again = |message| CommandLong { confirmation: 1, ..request(message) };
    assert_eq!(drain(&mut commands).0, [again(1.0)]);
    commands.acknowledge(secs(0.7), 1, 1, &ack(REQUEST_MESSAGE, 2));
    let denied = CommandEnd::Acked { result: 2, result_param2: 0 };
    assert_eq!(drain(&mut commands), (vec![again(2.0)], vec![("one", denied)]));
    commands.acknowledge(secs(0.8), 1, 1, &ack(REQUEST_MESSAGE, 0));
    assert_eq!(drain(&mut commands), (vec![], vec![("two", ACCEPTED)]));
}

#[test]
fn the_second_answer_to_a_repeated_command_is_not_taken_for_that_of_the_next() {
    let mut commands = commands();
    commands.start(secs(0.0), arm(1.0), "arm");
    commands.tick(secs(0.5)); // both transmissions arrive, and both are answered
    commands.acknowledge(secs(0.6), 1, 1, &ack(ARM, 1));
    commands.start(secs(0.6), arm(0.0), "disarm");
    drain(&mut commands);
    commands.acknowledge(secs(0.7), 1, 1, &ack(ARM, 1));
    assert_eq!(drain(&mut commands), (vec![], vec![]), "whose is it?");
    commands.acknowledge(secs(0.8), 1, 1, &ack(ARM, 0));
    assert_eq!(drain(&mut commands).0.len(), 1, "they differ: once more");
    commands.acknowledge(secs(0.9), 1, 1, &ack(ARM, 0));
    assert_eq!(drain(&mut commands).1, [("disarm", ACCEPTED)]);
    commands.start(secs(1.0), arm(1.0), "arm");
    commands.tick(secs(1.5));
    commands.acknowledge(secs(1.6), 1, 1, &ack(ARM, 0));
    commands.start(secs(1.6), arm(0.0), "disarm");
    commands.acknowledge(secs(1.7), 1, 1, &ack(ARM, 0));
    drain(&mut commands);
    commands.tick(secs(2.1));
    assert_eq!(drain(&mut commands).0.len(), 1);
    commands.acknowledge(secs(2.2), 1, 1, &ack(ARM, 0));
    assert_eq!(drain(&mut commands).1, [("disarm", ACCEPTED)]);
}

#[test]
fn equal_calls_are_one_command_and_each_later_call_sends_it_again() {
    let mut commands = commands();
    let first = commands.start(secs(0.0), arm(0.0), "one");
    assert_eq!(commands.start(secs(0.01), arm(0.0), "two"), first);
    assert_eq!(drain(&mut commands).0.len(), 1, "a burst");
    commands.start(secs(0.1), arm(0.0), "three");
    assert_eq!(drain(&mut commands).0.len(), 1, "on the wire at once");
    commands.acknowledge(secs(0.2), 1, 1, &ack(ARM, 0));
    let ended = drain(&mut commands).1;
    assert_eq!(ended, ["one", "two", "three"].map(|name| (name, ACCEPTED)));
    // Each call waits for an answer as long as any.
    for ms in 0..200 {
        let now = secs(1.0) + Duration::from_millis(50 * ms);
        commands.start(now, arm(0.0), "again");
        commands.tick(now);
    }
    let ended = drain(&mut commands).1;
    let timed_out = |end: &End| matches!(end.1, CommandEnd::TimedOut { .. });
    assert!(ended.len() >= 100 && ended.iter().all(timed_out));
}

#[test]
fn commands_of_one_number_do_not_wait_for_each_other_where_nothing_comes() {
    let mut commands = commands();
    commands.start(secs(0.0), request(1.0), "one");
    commands.start(secs(0.0), request(2.0), "two");
    let sent = run_out(&mut commands, 0.0);
    for message in [1.0, 2.0] {
        let of = sent.iter().filter(|(_, s)| s.params[0] == message);
        let times: Vec<f64> = of.map(|(t, _)| *t).collect();
        assert_eq!(times, [0.0, 0.5, 1.5, 3.0], "{message}");
    }
}

#[test]
fn an_equal_call_has_a_schedule_of_its_own() {
    let mut commands = commands();
    commands.start(secs(0.0), arm(0.0), "old");
    for t in [0.5, 1.5, 3.0] {
        commands.tick(secs(t));
    }
    commands.start(secs(4.9), arm(0.0), "new");
    drain(&mut commands);
    commands.tick(secs(5.0));
    let (sent, ended) = drain(&mut commands);
    assert_eq!((sent.len(), ended.len(), ended[0].0), (0, 1, "old"));
    let times: Vec<f64> = run_out(&mut commands, 5.0).iter().map(|s| s.0).collect();
    assert_eq!(times, [5.4, 6.4, 7.9]);
    commands.start(secs(20.0), arm(1.0), "arm");
    commands.acknowledge(secs(20.1), 1, 1, &ack(ARM, 0));
    commands.acknowledge(secs(20.2), 1, 1, &ack(ARM, 0));
    let late = |event: &CommandEvent<_>| matches!(event, CommandEvent::Late { .. });
    assert!(!std::iter::from_fn(|| commands.next_event()).any(|event| late(&event)));
}

#[test]
fn what_is_asked_for_once_is_not_repeated() {
    let mut commands = commands();
    commands.start_once(secs(0.0), request(1.0), "ask");
    assert_eq!(run_out(&mut commands, 0.0), [(0.0, request(1.0))]);
    let calls = [(0.0, 0), (0.5, 1), (1.5, 2), (3.0, 3)];
    commands.start_once(secs(0.0), request(1.0), "ask");
    commands.start(secs(0.0), request(1.0), "call");
    let expected = calls.map(|(t, confirmation)| {
        let command = CommandLong { confirmation, ..request(1.0) };
        (t, command)
    });
    assert_eq!(run_out(&mut commands, 0.0), expected);
}

#[test]
fn what_the_vehicle_shows_is_an_answer_and_ends_the_repetitions() {
    let mut commands = commands();
    commands.start(secs(0.0), arm(1.0), "arm");
    commands.confirm(&arm(1.0).into());
    assert_eq!(drain(&mut commands), (vec![arm(1.0)], vec![("arm", ACCEPTED)]));
    assert_eq!(commands.deadline(), None);
}

#[test]
fn an_answer_after_the_call_was_answered_is_told() {
    let mut commands = commands();
    commands.start(secs(0.0), arm(1.0), "arm");
    commands.lose_link(secs(0.4));
    assert_eq!(drain(&mut commands).1, [("arm", CommandEnd::LinkLost)]);
    commands.acknowledge(secs(6.0), 1, 1, &ack(TAKE_OFF, 0));
    assert_eq!(commands.next_event(), None);
    commands.acknowledge(secs(6.0), 1, 1, &ack(ARM, 0));
    let late = CommandEvent::Late { command: arm(1.0).into(), result: 0 };
    assert_eq!(commands.next_event(), Some(late));
    commands.acknowledge(secs(6.0), 1, 1, &ack(ARM, 0));
    assert_eq!(commands.next_event(), None, "once");
}

#[test]
fn what_makes_a_vehicle_safer_is_repeated_without_a_link() {
    let mut commands = commands();
    commands.start(secs(0.0), arm(0.0), "disarm");
    commands.lose_link(secs(0.1));
    let times = run_out(&mut commands, 0.1).into_iter().map(|s| s.0);
    assert_eq!(times.collect::<Vec<_>>(), [0.1, 0.5, 1.5, 3.0]);
}

#[test]
fn a_broadcast_is_not_waited_for() {
    let mut commands = commands();
    let all = CommandLong { target_system: 0, target_component: 0, ..arm(1.0) };
    commands.start(secs(0.0), all, "all");
    assert_eq!(drain(&mut commands), (vec![all], vec![("all", CommandEnd::Broadcast)]));
    assert_eq!(commands.pending(), 0);
}

#[test]
fn a_flood_of_calls_is_bounded_and_a_lost_link_ends_all() {
    let mut commands = commands();
    for _ in 0..1000 {
        commands.start(secs(0.0), arm(1.0), "arm");
    }
    let (sent, refused) = drain(&mut commands);
    assert_eq!((sent.len(), refused.len(), commands.pending()), (1, 872, 128));
    assert!(refused.iter().all(|r| r.1 == CommandEnd::Overridden));
    commands.lose_link(secs(0.0));
    let (sent, ended) = drain(&mut commands);
    assert_eq!((sent.len(), ended.len(), commands.pending()), (0, 128, 0));
    assert!(ended.iter().all(|r| r.1 == CommandEnd::LinkLost));
    // Others' floods do not end what makes a vehicle safer.
    commands.start(secs(1.0), arm(0.0), "disarm");
    for message in 0..1000_u16 {
        commands.start(secs(1.0), request(message.into()), "request");
    }
    let (sent, ended) = drain(&mut commands);
    assert_eq!((sent.len(), ended.len()), (1001, 873));
    assert!(ended.iter().all(|r| r.0 == "request"));
}

proptest! {
    /// Commands and answers are lost and delayed (by less than the first wait): each call gets exactly one end, and
    /// never the answer to another call.
    #[test]
    fn every_call_gets_its_own_answer(
        calls in prop::collection::vec((0u64..3000, 0u16..3), 1..40),
        fate in prop::collection::vec((any::<bool>(), any::<bool>(), 0u64..200, 0u64..200), 200),
    ) {
        let mut commands = CommandClient::new(CommandSettings::default(), 255, 190);
        let mut wire = Vec::<(u64, Wire)>::new();
        let mut fates = fate.iter().cycle();
        let mut ends = vec![0; calls.len()];
        for ms in 0..600_000 {
            let now = Duration::from_millis(ms);
            for (call, (_, command)) in calls.iter().enumerate().filter(|(_, c)| c.0 == ms) {
                let command = CommandLong { command: *command, ..arm(call as f32) };
                commands.start(now, command, call);
            }
            let mut arrived = Vec::new();
            wire.retain(|(at, what)| {
                let due = *at <= ms;
                if due { arrived.push(*what); }
                !due
            });
            for what in arrived {
                match what {
                    Ok(command) => {
                        let (_, lost, _, delay) = fates.next().unwrap();
                        if !lost { wire.push((ms + delay, Err((command.command, command.params[0] as i32)))); }
                    }
                    Err((command, call)) => {
                        let ack = CommandAck { result_param2: call, ..ack(command, 0) };
                        commands.acknowledge(now, 1, 1, &ack);
                    }
                }
            }
            if commands.deadline().is_some_and(|d| d <= now) {
                commands.tick(now);
            }
            let (sent, ended) = drain(&mut commands);
            for command in sent {
                let (lost, _, delay, _) = fates.next().unwrap();
                if !lost { wire.push((ms + delay, Ok(command))); }
            }
            for (call, end) in ended {
                ends[call] += 1;
                match end {
                    CommandEnd::Acked { result_param2, .. } => prop_assert_eq!(result_param2, call as i32),
                    CommandEnd::TimedOut { sent, .. } => prop_assert!(sent >= 1, "{}", sent),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            if ms > 3000 && commands.pending() == 0 {
                break;
            }
        }
        prop_assert!(ends.iter().all(|n| *n == 1), "{ends:?}");
    }
}
