//! A command that ends a flight or disarms, and a newer one of its kind that the vehicle refuses.
use super::protocol::secs;
use rfly_bridge::session::*;
use rfly_bridge::wire::mavlink::Outbound;
use rfly_bridge::wire::mavlink::dialect::MavCmd;
use rfly_bridge::wire::mavlink::raw::{CommandAck, CommandLong, SetMode};

const SET_MODE: u16 = MavCmd::MAV_CMD_DO_SET_MODE as u16;
const NAV_LAND: u16 = MavCmd::MAV_CMD_NAV_LAND as u16;
const ARM_DISARM: u16 = MavCmd::MAV_CMD_COMPONENT_ARM_DISARM as u16;

const OFFBOARD: u32 = 6 << 16;
const POSITION: u32 = 3 << 16;
const LAND: u32 = 4 << 16 | 6 << 24;
const RTL: u32 = 4 << 16 | 5 << 24;

const ACCEPTED: CommandEnd = CommandEnd::Acked { result: 0, result_param2: 0 };
const DENIED: CommandEnd = CommandEnd::Acked { result: 2, result_param2: 0 };

struct Sender(CommandClient<&'static str>);

impl Sender {
    fn new() -> Self {
        Self(CommandClient::new(CommandSettings::default(), 255, 190))
    }

    fn start(&mut self, at: f64, command: impl Into<MavCommand>, token: &'static str) {
        self.0.start(secs(at), command, token);
    }

    fn answer(&mut self, at: f64, command: u16, result: u8) {
        let ack = CommandAck { command, result, ..CommandAck::default() };
        self.0.acknowledge(secs(at), 1, 1, &ack);
    }

    /// What was sent and what ended since the last call.
    fn news(&mut self) -> (Vec<Outbound>, Vec<(&'static str, CommandEnd)>) {
        let (mut sent, mut ended) = (Vec::new(), Vec::new());
        while let Some(event) = self.0.next_event() {
            match event {
                CommandEvent::Send { message, .. } => sent.push(message),
                CommandEvent::Ended { token, end, .. } => ended.push((token, end)),
                other => panic!("{other:?}"),
            }
        }
        (sent, ended)
    }
}

fn mode(custom_mode: u32) -> SetMode {
    SetMode { custom_mode, target_system: 1, base_mode: 1 }
}

/// MAV_CMD_NAV_LAND.
fn land(confirmation: u8) -> CommandLong {
    CommandLong {
        command: NAV_LAND,
        target_system: 1,
        target_component: 1,
        confirmation,
        ..CommandLong::default()
    }
}

#[test]
fn a_lost_landing_is_sent_again_when_the_newer_mode_is_refused() {
    let mut sender = Sender::new();
    sender.start(10.0, land(0), "land");
    sender.start(10.03, mode(OFFBOARD), "offboard");
    let (sent, ended) = sender.news();
    assert_eq!(sent, [land(0).into(), mode(OFFBOARD).into()]);
    assert_eq!(ended, [], "the vehicle has not decided yet");
    sender.answer(10.06, SET_MODE, 2);
    let (sent, ended) = sender.news();
    assert_eq!((sent, ended), (vec![land(1).into()], vec![("offboard", DENIED)]));
    sender.answer(10.09, NAV_LAND, 0);
    assert_eq!(sender.news(), (vec![], vec![("land", ACCEPTED)]));
    assert_eq!(sender.0.deadline(), None);
}

#[test]
fn one_that_the_vehicle_takes_overrides_the_landing() {
    let mut sender = Sender::new();
    sender.start(10.0, land(0), "land");
    sender.start(10.03, mode(POSITION), "position");
    sender.news();
    sender.answer(10.06, SET_MODE, 0);
    let ended = vec![("position", ACCEPTED), ("land", CommandEnd::Overridden)];
    assert_eq!(sender.news(), (vec![], ended));
    assert_eq!(sender.0.deadline(), None);
}

#[test]
fn nothing_is_sent_while_nobody_knows_which_one_counts() {
    let mut sender = Sender::new();
    sender.start(10.0, land(0), "land");
    sender.start(10.03, mode(POSITION), "position");
    sender.news();
    let mut ended = Vec::new();
    while let Some(deadline) = sender.0.deadline() {
        sender.0.tick(deadline);
        let (sent, ends) = sender.news();
        assert!(sent.iter().all(|s| *s == mode(POSITION).into()), "{sent:?}");
        ended.extend(ends.into_iter().map(|(token, _)| token));
    }
    assert_eq!(ended, ["land", "position"], "each after its 5 s");
}

/// The modes have one number, so their acknowledgements are told apart by sending each alone.
#[test]
fn the_newest_of_several_landings_goes_on() {
    let mut sender = Sender::new();
    sender.start(10.0, mode(LAND), "land");
    sender.start(10.01, mode(RTL), "return");
    sender.start(10.02, mode(OFFBOARD), "offboard");
    sender.start(10.03, mode(POSITION), "position");
    let (sent, ended) = sender.news();
    assert_eq!(sent, [LAND, RTL, OFFBOARD, POSITION].map(|m| mode(m).into()));
    assert_eq!(ended, [("offboard", CommandEnd::Overridden)]);
    // The landings and OFFBOARD were lost.
    sender.answer(10.05, SET_MODE, 2);
    let (mut at, mut log, mut ended) = (10.05, Vec::new(), Vec::new());
    while at < 12.0 {
        at += 0.05;
        sender.0.tick(secs(at));
        let (sent, ends) = sender.news();
        ended.extend(ends);
        for message in &sent {
            let refused = *message == mode(POSITION).into();
            sender.answer(at + 0.01, SET_MODE, if refused { 2 } else { 0 });
        }
        log.extend(sent);
    }
    ended.extend(sender.news().1);
    assert_eq!(log, [POSITION, RTL].map(|m| mode(m).into()), "POSITION to ask which was refused");
    let last = ("land", CommandEnd::Overridden);
    assert_eq!(ended, [("position", DENIED), ("return", ACCEPTED), last]);
    assert_eq!(sender.0.deadline(), None);
}

#[test]
fn a_landing_that_is_wished_again_is_the_newest() {
    let mut sender = Sender::new();
    sender.start(10.0, land(0), "land");
    sender.start(10.01, mode(OFFBOARD), "offboard");
    sender.start(10.015, land(0), "again");
    let (sent, ended) = sender.news();
    assert_eq!(sent, [land(0).into(), mode(OFFBOARD).into(), land(1).into()]);
    assert_eq!(ended, [("offboard", CommandEnd::Overridden)]);
    sender.answer(10.04, SET_MODE, 0);
    sender.answer(10.05, NAV_LAND, 0);
    let (sent, mut ended) = sender.news();
    ended.sort_unstable_by_key(|(token, _)| *token);
    assert_eq!((sent, ended), (vec![], vec![("again", ACCEPTED), ("land", ACCEPTED)]));
}

#[test]
fn a_lost_disarm_is_sent_again_when_the_newer_arming_is_refused() {
    let arm = |value, confirmation| CommandLong {
        params: [value, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        command: ARM_DISARM,
        ..land(confirmation)
    };
    let mut sender = Sender::new();
    sender.start(10.0, arm(0.0, 0), "disarm");
    sender.start(10.03, arm(1.0, 0), "arm");
    sender.news();
    sender.answer(10.05, ARM_DISARM, 1);
    let mut at = 10.05;
    let (mut sent, mut ended) = (Vec::new(), Vec::new());
    while at < 12.0 {
        at += 0.05;
        sender.0.tick(secs(at));
        let (more, ends) = sender.news();
        for message in &more {
            let disarm = *message == arm(0.0, 1).into();
            sender.answer(at + 0.01, ARM_DISARM, if disarm { 0 } else { 1 });
        }
        sent.extend(more);
        ended.extend(ends.into_iter().map(|(token, _)| token));
    }
    ended.extend(sender.news().1.into_iter().map(|(token, _)| token));
    assert_eq!(sent, [arm(1.0, 1).into(), arm(0.0, 1).into()]);
    assert_eq!(ended, ["arm", "disarm"]);
}
