//! `cmd/land`: answered when PX4 shows that it lands.
use super::operator::{LAND, LOITER, OFFBOARD, Told, ack, beat, flying, mode, ms, told};
use super::rig::{Answer, Rig};
use rfly_bridge::msgs::mavros_msgs::srv::{
    CommandInt, CommandIntRequest, CommandTOL, CommandTOLRequest, CommandTOLResponse,
};
use rfly_bridge::wire::mavlink::{frames, raw};

const POSITION: u32 = 3 << 16;
/// MAV_CMD_NAV_LAND.
const LANDS: Told = Told::Command(21, 0.0);

fn land(rig: &Rig) -> Answer<CommandTOLResponse> {
    rig.call_later::<CommandTOL>("cmd/land", CommandTOLRequest::default())
}

#[test]
fn a_landing_is_answered_when_the_vehicle_shows_it() {
    let mut rig = flying();
    let answer = land(&rig);
    rig.poll();
    assert_eq!(told(&rig), [LANDS]);
    rig.say(ack(21, 0));
    beat(&mut rig, LOITER, true);
    rig.pass(ms(100));
    assert!(answer.get().is_none(), "an acknowledgement proves nothing");
    beat(&mut rig, LAND, true);
    rig.pass(ms(20));
    let answer = answer.expect();
    assert!(answer.success && answer.result == 0, "{answer:?}");
}

#[test]
fn a_landing_that_the_vehicle_accepts_and_does_not_show_is_a_failure() {
    let mut rig = flying();
    let answer = land(&rig);
    rig.poll();
    rig.say(ack(21, 0));
    beat(&mut rig, LOITER, true);
    rig.pass(ms(3000));
    let answer = answer.expect();
    assert!(!answer.success && answer.result != 0, "{answer:?}");
}

#[test]
fn a_landing_is_not_sent_again_when_the_pilot_has_taken_over() {
    // Its acknowledgement is lost, or the pilot is faster than the heartbeat that would show it.
    for acked in [false, true] {
        let mut rig = flying();
        let answer = land(&rig);
        rig.poll();
        if acked {
            rig.say(ack(21, 0));
        } else {
            beat(&mut rig, LAND, true);
        }
        rig.pass(ms(100));
        assert_eq!(told(&rig), [LANDS]);
        beat(&mut rig, POSITION, true);
        rig.pass(ms(5000));
        assert_eq!(told(&rig), []);
        assert_eq!(answer.expect().success, !acked, "it was shown, or not");
    }
}

#[test]
fn a_landing_that_was_lost_survives_a_mode_that_the_vehicle_refuses() {
    let mut rig = flying();
    let answer = land(&rig);
    rig.pass(ms(30));
    let offboard = mode(&rig, "OFFBOARD");
    rig.pass(ms(30));
    assert_eq!(told(&rig), [LANDS, Told::Mode(OFFBOARD)]);
    rig.say(ack(176, 2));
    rig.poll();
    assert_eq!(told(&rig), [LANDS]);
    rig.say(ack(21, 0));
    beat(&mut rig, LAND, true);
    rig.pass(ms(200));
    assert!(answer.expect().success && !offboard.expect().mode_sent);
}

#[test]
fn a_landing_is_sent_whatever_its_frame_because_px4_lands_where_it_is() {
    for command in [20, 21, 85] {
        let rig = flying();
        let request = CommandIntRequest { command, frame: 6, ..CommandIntRequest::default() };
        let _answer = rig.call_later::<CommandInt>("cmd/command_int", request);
        let bytes = rig.sent_bytes();
        let sent =
            frames(&bytes).filter_map(|frame| raw::CommandInt::parse(&frame.expect("a frame")));
        assert_eq!(sent.map(|c| c.command).collect::<Vec<_>>(), [command]);
    }
}
