//! Texts of the autopilot and to it, in chunks.
use super::rig::Rig;
use rfly_bridge::msgs::mavros_msgs::msg::StatusText as StatusTextMessage;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::frames;
use rfly_bridge::wire::mavlink::raw::StatusText;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn rig() -> Rig {
    Rig::new(VehicleSettings::default())
}

fn text(id: u16, chunk: u8, text: &str) -> StatusText {
    let mut bytes = [0; 50];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    StatusText { severity: 4, text: bytes, id, chunk }
}

fn texts(rig: &Rig) -> Vec<String> {
    let messages = rig.messages::<StatusTextMessage>("statustext/recv");
    rig.recorder.clear();
    messages.into_iter().map(|message| message.text).collect()
}

#[test]
fn chunks_of_a_text_are_joined_whatever_their_order() {
    let mut rig = rig();
    let (a, b) = ("a".repeat(50), "b".repeat(50));
    for (chunk, part) in [(1, &*b), (0, &*a), (2, "end")] {
        assert!(texts(&rig).is_empty());
        rig.say(text(7, chunk, part));
    }
    assert_eq!(texts(&rig), [format!("{a}{b}end")]);
    // Two at a time, one of them without an end, and PX4's short ones, which have a number as well.
    rig.say(text(8, 0, &a));
    rig.say(text(9, 0, &b));
    rig.say(text(10, 0, "short\t"));
    rig.say(text(9, 1, ""));
    assert_eq!(texts(&rig), ["short\t".to_owned(), b.clone()]);
    rig.pass(2 * SECOND);
    assert_eq!(texts(&rig), [format!("{a}[...]")]);
    // A chunk is lost.
    rig.say(text(11, 0, &a));
    rig.say(text(11, 2, "end"));
    assert!(texts(&rig).is_empty());
    rig.pass(2 * SECOND);
    assert_eq!(texts(&rig), [format!("{a}[...]end")]);
    // The number is used again.
    rig.say(text(12, 0, &a));
    rig.say(text(12, 0, &b));
    rig.say(text(12, 1, "!"));
    assert_eq!(texts(&rig), [format!("{a}[...]"), format!("{b}!")]);
}

#[test]
fn the_first_text_of_px4_after_its_start_has_the_number_0_and_is_joined() {
    let mut rig = rig();
    let (a, b) = ("a".repeat(50), "b".repeat(50));
    rig.say(text(0, 0, &a));
    rig.say(text(0, 1, &b));
    rig.say(text(0, 2, "end"));
    assert_eq!(texts(&rig), [format!("{a}{b}end")]);
    // Other autopilots say by it that this is all, also of 50 characters: nothing is lost, and the order holds.
    rig.say(text(0, 0, &a));
    assert!(texts(&rig).is_empty());
    rig.say(text(0, 0, &b));
    assert_eq!(texts(&rig), std::slice::from_ref(&a));
    rig.say(text(0, 0, "short"));
    assert_eq!(texts(&rig), [b, "short".to_owned()]);
    rig.say(text(0, 0, &a));
    rig.pass(SECOND / 5);
    assert_eq!(texts(&rig), [a]);
    assert_eq!(rig.counted("statustext_incomplete"), 0);
}

#[test]
fn unfinished_texts_take_bounded_memory_and_none_is_forgotten() {
    let mut rig = rig();
    for id in 1..=100 {
        rig.say(text(id, 255, "end"));
    }
    assert_eq!(texts(&rig).len(), 92);
    rig.pass(2 * SECOND);
    assert_eq!(texts(&rig).len(), 8);
}

#[test]
fn texts_of_every_length_arrive_on_the_other_side() {
    let rig = rig();
    for length in [0, 1, 49, 50, 51, 99, 100, 101, 150, 400, 5000] {
        let sent: String = "abcdefghijklmnopqrstuvwxyz".chars().cycle().take(length).collect();
        let message =
            StatusTextMessage { severity: 6, text: sent.clone(), ..StatusTextMessage::default() };
        rig.publish("statustext/send", &message);
        let bytes = rig.sent_bytes();
        let chunks = frames(&bytes).filter_map(|frame| StatusText::parse(&frame.unwrap()));
        let expected = if length <= 50 { 1 } else { length / 50 + 1 };
        assert_eq!(chunks.count(), expected, "{length}");
        rig.recorder.clear();
        // The bridge has the ids of the vehicle, so that it can be its own other side.
        rig.receive(&bytes);
        // After one full chunk without a number there might be more.
        rig.pass(SECOND / 5);
        assert_eq!(texts(&rig), [sent], "{length}");
    }
}
