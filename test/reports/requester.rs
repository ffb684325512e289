use rfly_bridge::reports::{ReportRequester, ReportSubject};
use std::collections::BTreeSet;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(3);

fn due(requester: &mut ReportRequester, ms: u64) -> Vec<String> {
    requester.take_due(Duration::from_millis(ms), PERIOD, TIMEOUT)
}

fn wanted(subjects: &[ReportSubject]) -> BTreeSet<ReportSubject> {
    subjects.iter().cloned().collect()
}

#[test]
fn each_subject_has_the_commands_of_the_vendors_documents() {
    let object = |name: &str| ReportSubject::Object(name.to_owned());
    let all = [
        (ReportSubject::Vehicles, "RflyReqVehicleData 1", "RflyReqVehicleData 0"),
        (ReportSubject::Camera(0), "RflyReqObjData 0 0 0", "RflyReqObjData 10 0 0"),
        (ReportSubject::Vehicle(1000), "RflyReqObjData 1 1000 0", "RflyReqObjData 11 1000 0"),
        (
            object("Landscape_1"),
            "RflyReqObjData 2 Landscape_1 0",
            "RflyReqObjData 12 Landscape_1 0",
        ),
        (object("a b"), "RflyReqObjData 2 \"a b\" 0", "RflyReqObjData 12 \"a b\" 0"),
    ];
    for (subject, request, end) in all {
        assert_eq!((subject.request(), subject.end()), (request.to_owned(), end.to_owned()));
    }
}

#[test]
fn what_is_wanted_is_asked_for_until_it_comes_and_again_after_silence() {
    let mut requester = ReportRequester::default();
    assert_eq!(due(&mut requester, 0), [""; 0]);
    requester.set_wanted(wanted(&[ReportSubject::Vehicle(1)]));
    assert_eq!(due(&mut requester, 100), ["RflyReqObjData 1 1 0"]);
    assert_eq!(due(&mut requester, 1000), [""; 0]);
    assert_eq!(due(&mut requester, 1100), ["RflyReqObjData 1 1 0"]);
    requester.answered(&ReportSubject::Vehicle(1), Duration::from_millis(1200));
    assert_eq!(due(&mut requester, 4100), [""; 0]);
    requester.answered(&ReportSubject::Vehicle(1), Duration::from_millis(4150));
    assert_eq!(due(&mut requester, 7100), [""; 0], "it still comes");
    assert_eq!(due(&mut requester, 7150), ["RflyReqObjData 1 1 0"]);
    assert_eq!(due(&mut requester, 8200), [""; 0], "an answer gave it time");
}

#[test]
fn what_nobody_wants_any_more_is_ended_once() {
    let mut requester = ReportRequester::default();
    requester.set_wanted(wanted(&[ReportSubject::Vehicles, ReportSubject::Camera(3)]));
    assert_eq!(due(&mut requester, 0), ["RflyReqVehicleData 1", "RflyReqObjData 0 3 0"]);
    requester.set_wanted(wanted(&[ReportSubject::Vehicles]));
    assert!(!requester.is_idle(), "a camera is to be switched off");
    assert_eq!(due(&mut requester, 100), ["RflyReqObjData 10 3 0"]);
    assert_eq!(due(&mut requester, 200), [""; 0]);
    // Wanted again before it was ended: nothing to end.
    requester.set_wanted(wanted(&[]));
    assert!(!requester.is_idle());
    requester.set_wanted(wanted(&[ReportSubject::Vehicles]));
    assert_eq!(due(&mut requester, 300), ["RflyReqVehicleData 1"]);
    assert_eq!(requester.end(), ["RflyReqVehicleData 0"]);
    assert_eq!(requester.end(), [""; 0]);
    assert!(requester.is_idle());
}

#[test]
fn a_hundred_vehicles_are_asked_for_in_turns() {
    let mut requester = ReportRequester::default();
    let all: BTreeSet<_> = (1..=100).map(ReportSubject::Vehicle).collect();
    requester.set_wanted(all.clone());
    let mut sent = BTreeSet::new();
    for turn in 0..10 {
        let commands = due(&mut requester, turn * 50);
        assert!(commands.len() <= 16);
        sent.extend(commands);
    }
    let expected: BTreeSet<_> = all.iter().map(ReportSubject::request).collect();
    assert_eq!(sent, expected);
}
