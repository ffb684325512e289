//! The mission protocol against an autopilot that loses, repeats and refuses.
use super::protocol::{received, secs};
use proptest::prelude::*;
use rfly_bridge::session::*;
use rfly_bridge::wire::mavlink::Outbound;
use rfly_bridge::wire::mavlink::dialect::MavCmd;
use rfly_bridge::wire::mavlink::raw::*;
use std::time::Duration;

const OWN: (u8, u8) = (255, 190);
const PLAN: MissionList = MissionList::Plan;
const FENCE: MissionList = MissionList::Fence;

fn mission() -> MissionClient<u32> {
    MissionClient::new(MissionSettings::default(), OWN, (1, 1))
}

fn item(seq: u16, x: i32) -> MissionItemInt {
    MissionItemInt {
        x,
        y: -x,
        z: 12.5,
        seq,
        command: MavCmd::MAV_CMD_NAV_WAYPOINT as u16,
        target_system: OWN.0,
        target_component: OWN.1,
        frame: 3,
        autocontinue: 1,
        ..MissionItemInt::default()
    }
}

fn plan(count: u16) -> Vec<MissionItemInt> {
    (0..count).map(|seq| item(seq, 1000 + i32::from(seq))).collect()
}

fn count(count: u16, opaque_id: u32) -> MissionCount {
    MissionCount {
        count,
        target_system: OWN.0,
        target_component: OWN.1,
        mission_type: 0,
        opaque_id,
    }
}

fn ack(result: u8, opaque_id: u32) -> MissionAck {
    MissionAck { target_system: OWN.0, target_component: OWN.1, result, mission_type: 0, opaque_id }
}

fn current(seq: u16, mission_id: u32) -> MissionCurrent {
    MissionCurrent { seq, mission_id, ..MissionCurrent::default() }
}

type Done = (u32, Result<MissionDone, MissionError>);

#[derive(Debug, Default)]
struct Drained {
    sent: Vec<Outbound>,
    done: Vec<Done>,
    items: usize,
    changed: usize,
    current: Vec<u16>,
    reached: Vec<u16>,
    /// Lists other than the plan that became known or changed.
    others: Vec<MissionList>,
}

fn drain(mission: &mut MissionClient<u32>) -> Drained {
    let mut all = Drained::default();
    while let Some(event) = mission.next_event() {
        match event {
            MissionEvent::Send(message) => all.sent.push(message),
            MissionEvent::Done { token, result } => all.done.push((token, result)),
            MissionEvent::Items(PLAN) => all.items += 1,
            MissionEvent::ChangedElsewhere(PLAN) => all.changed += 1,
            MissionEvent::Current(seq) => all.current.push(seq),
            MissionEvent::Reached(seq) => all.reached.push(seq),
            MissionEvent::Items(list) => all.others.push(list),
            MissionEvent::ChangedElsewhere(list) => all.others.push(list),
        }
    }
    all
}

fn request_int(seq: u16) -> Outbound {
    MissionRequestInt { seq, target_system: 1, target_component: 1, mission_type: 0 }.into()
}

fn final_ack() -> Outbound {
    MissionAck { target_system: 1, target_component: 1, ..MissionAck::default() }.into()
}

#[test]
fn a_download_asks_for_every_item_and_ends_with_an_acknowledgement() {
    let mut mission = mission();
    mission.pull(secs(0.0), PLAN, 7);
    let list = MissionRequestList { target_system: 1, target_component: 1, mission_type: 0 };
    assert_eq!(drain(&mut mission).sent, [list.into()]);
    mission.count(secs(0.1), &count(2, 0));
    assert_eq!(drain(&mut mission).sent, [request_int(0)]);
    mission.count(secs(0.1), &count(2, 0)); // a second answer to the first question
    mission.item(secs(0.2), item(1, 5)); // not the one asked for
    mission.item(secs(0.2), item(0, 5));
    assert_eq!(drain(&mut mission).sent, [request_int(1)]);
    mission.item(secs(0.2), item(0, 5));
    assert_eq!(drain(&mut mission).sent, []);
    mission.item(secs(0.3), item(1, 6));
    let end = drain(&mut mission);
    assert_eq!(end.sent, [final_ack()]);
    assert_eq!((end.done, end.items), (vec![(7, Ok(MissionDone::Pulled(2)))], 1));
    assert_eq!(mission.items(PLAN), Some(&[item(0, 5), item(1, 6)][..]));
    assert_eq!((mission.counters().ignored, mission.deadline()), (3, None));
}

#[test]
fn an_empty_download_is_a_success() {
    let mut mission = mission();
    mission.pull(secs(0.0), PLAN, 7);
    drain(&mut mission);
    mission.count(secs(0.1), &count(0, 0));
    let end = drain(&mut mission);
    assert_eq!((end.sent, end.done), (vec![final_ack()], vec![(7, Ok(MissionDone::Pulled(0)))]));
    assert_eq!(mission.items(PLAN), Some(&[][..]));
}

#[test]
fn items_as_floats_are_taken_too() {
    let mut mission = mission();
    mission.pull(secs(0.0), PLAN, 7);
    mission.count(secs(0.1), &count(2, 0));
    let float = MissionItem {
        x: 47.5,
        y: -8.25,
        z: 3.0,
        target_system: OWN.0,
        target_component: OWN.1,
        frame: 3,
        ..MissionItem::default()
    };
    mission.item_float(secs(0.1), &float);
    let local = MissionItem { seq: 1, x: -2.5, frame: 1, ..float };
    mission.item_float(secs(0.1), &local);
    let items = mission.items(PLAN).unwrap();
    assert_eq!((items[0].x, items[0].y), (475_000_000, -82_500_000));
    assert_eq!(items[1].x, -25_000);
}

#[test]
fn silence_is_asked_three_times_more_and_then_given_up() {
    let mut mission = mission();
    mission.pull(secs(0.0), PLAN, 7);
    mission.count(secs(0.5), &count(3, 0));
    drain(&mut mission);
    let mut sent = Vec::new();
    let end = loop {
        let now = mission.deadline().unwrap();
        mission.tick(now);
        let drained = drain(&mut mission);
        sent.extend(drained.sent.into_iter().map(|m| (now, m)));
        if let Some(done) = drained.done.first() {
            break (now, *done);
        }
    };
    let again = [1.5, 2.5, 3.5].map(|t| (secs(t), request_int(0)));
    assert_eq!(sent, again);
    assert_eq!(end, (secs(4.5), (7, Err(MissionError::TimedOut))));
    assert_eq!(mission.items(PLAN), None);
}

#[test]
fn an_upload_answers_any_order_and_repeated_requests_of_both_kinds() {
    let mut mission = mission();
    mission.push(secs(0.0), PLAN, plan(3), 9);
    let first = drain(&mut mission).sent;
    let asked = received(&first[0], MissionCount::parse).unwrap();
    assert_eq!((asked.count, asked.target_system, asked.mission_type), (3, 1, 0));
    let mut given = Vec::new();
    for seq in [0, 2, 2, 1, 77] {
        mission.requested(secs(0.1), seq, OWN, 0);
        let sent = drain(&mut mission).sent;
        given.extend(sent.iter().map(|m| received(m, MissionItemInt::parse).unwrap().seq));
        if seq == 0 {
            // Of an earlier exchange: not all items were asked for.
            mission.acknowledge(secs(0.1), &ack(0, 0));
            assert_eq!(drain(&mut mission).done, []);
        }
    }
    assert_eq!(given, [0, 2, 2, 1]);
    mission.acknowledge(secs(0.2), &ack(0, 0));
    let end = drain(&mut mission);
    assert_eq!((end.done, end.items), (vec![(9, Ok(MissionDone::Pushed(3)))], 1));
    let items = mission.items(PLAN).unwrap();
    assert_eq!(
        items.iter().map(|i| (i.seq, i.target_system)).collect::<Vec<_>>(),
        [(0, 1), (1, 1), (2, 1)]
    );
}

#[test]
fn a_refusal_has_a_name() {
    let mut mission = mission();
    mission.push(secs(0.0), PLAN, plan(1), 9);
    mission.requested(secs(0.0), 0, OWN, 0);
    mission.acknowledge(secs(0.1), &ack(5, 0));
    let done = drain(&mut mission).done;
    assert_eq!(done, [(9, Err(MissionError::Refused(5)))]);
    assert_eq!(done[0].1.unwrap_err().to_string(), "the vehicle refused it: 5 (INVALID)");
    assert_eq!(mission.items(PLAN), None);
}

#[test]
fn an_empty_upload_is_a_success() {
    let mut mission = mission();
    mission.push(secs(0.0), PLAN, vec![], 9);
    drain(&mut mission);
    mission.acknowledge(secs(0.1), &ack(0, 0));
    assert_eq!(drain(&mut mission).done, [(9, Ok(MissionDone::Pushed(0)))]);
}

#[test]
fn who_asks_for_ever_is_not_answered_for_ever() {
    let mut mission = mission();
    mission.push(secs(0.0), PLAN, plan(2), 9);
    drain(&mut mission);
    let mut answers = 0;
    for _ in 0..1000 {
        mission.requested(secs(0.0), 0, OWN, 0);
        let drained = drain(&mut mission);
        answers += drained.sent.len();
        if let Some(done) = drained.done.first() {
            assert_eq!(*done, (9, Err(MissionError::TimedOut)));
            break;
        }
    }
    assert_eq!(answers, 32);
}

#[test]
fn clearing_and_choosing_an_item_wait_for_their_own_answers() {
    let mut mission = mission();
    mission.clear(secs(0.0), PLAN, 1);
    mission.set_current(secs(0.0), 2, 2);
    let clear = MissionClearAll { target_system: 1, target_component: 1, mission_type: 0 };
    assert_eq!(drain(&mut mission).sent, [clear.into()]);
    mission.acknowledge(secs(0.1), &ack(0, 0));
    let then = drain(&mut mission);
    assert_eq!(then.done, [(1, Ok(MissionDone::Cleared))]);
    let set = MissionSetCurrent { seq: 2, target_system: 1, target_component: 1 };
    assert_eq!(then.sent, [set.into()]);
    // MISSION_CURRENT comes all the time; only the wanted item is an answer, and others do not prolong the wait.
    for t in 1..4 {
        mission.current_item(secs(f64::from(t)), &current(0, 0));
        mission.tick(secs(f64::from(t) + 0.15));
    }
    let waiting = drain(&mut mission);
    assert_eq!((waiting.sent.len(), waiting.done, waiting.current), (3, vec![], vec![0]));
    mission.current_item(secs(3.5), &current(2, 0));
    let end = drain(&mut mission);
    assert_eq!((end.done, end.current), (vec![(2, Ok(MissionDone::Current(2)))], vec![2]));
    mission.set_current(secs(10.0), 77, 3);
    while let Some(deadline) = mission.deadline() {
        mission.current_item(deadline, &current(2, 0));
        mission.tick(deadline);
    }
    let error = MissionError::NotInList { seq: 77, items: 0 };
    assert_eq!(drain(&mut mission).done, [(3, Err(error))]);
}

#[test]
fn a_mission_that_somebody_else_changed_is_noticed_once() {
    let mut mission = mission();
    mission.current_item(secs(0.0), &current(0, 0xaaaa));
    mission.pull(secs(0.0), PLAN, 1);
    mission.count(secs(0.1), &count(1, 0xaaaa));
    mission.item(secs(0.1), item(0, 1));
    drain(&mut mission);
    mission.current_item(secs(1.0), &current(0, 0xaaaa));
    assert_eq!(drain(&mut mission).changed, 0);
    mission.current_item(secs(2.0), &current(0, 0xbbbb));
    mission.current_item(secs(3.0), &current(0, 0xbbbb));
    assert_eq!(drain(&mut mission).changed, 1);
    // Our own upload is no such change, also if the acknowledgement does not name it.
    mission.push(secs(4.0), PLAN, plan(1), 2);
    mission.requested(secs(4.0), 0, OWN, 0);
    mission.acknowledge(secs(4.1), &ack(0, 0));
    mission.current_item(secs(5.0), &current(0, 0xcccc));
    assert_eq!(drain(&mut mission).changed, 0);
    // Who does not name missions changes none.
    mission.current_item(secs(6.0), &current(1, 0));
    mission.reached(1);
    let drained = drain(&mut mission);
    assert_eq!((drained.changed, drained.current, drained.reached), (0, vec![1], vec![1]));
}

#[test]
fn a_transfer_hears_neither_other_lists_nor_other_stations() {
    let mut mission = mission();
    mission.pull(secs(0.0), PLAN, 1);
    drain(&mut mission);
    mission.count(secs(0.1), &MissionCount { mission_type: 1, ..count(2, 0) });
    mission.count(secs(0.1), &MissionCount { target_system: 7, ..count(2, 0) });
    mission.count(secs(0.1), &MissionCount { target_component: 1, ..count(2, 0) });
    assert_eq!(drain(&mut mission).sent, []);
    assert_eq!(mission.counters().ignored, 3);
}

#[test]
fn the_fence_waits_for_the_plan_and_is_another_list() {
    let mut mission = mission();
    mission.pull(secs(0.0), PLAN, 1);
    let command = MavCmd::MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION as u16;
    let fence = vec![MissionItemInt { command, ..item(0, 7) }];
    mission.push(secs(0.0), FENCE, fence, 2);
    assert_eq!(drain(&mut mission).sent.len(), 1, "one transfer at a time");
    mission.count(secs(0.1), &count(0, 0));
    let sent = drain(&mut mission).sent;
    let asked: MissionCount = received(&sent[1], |f| MissionCount::parse(f).unwrap());
    assert_eq!((asked.count, asked.mission_type), (1, 1));
    mission.requested(secs(0.2), 0, OWN, 0);
    assert_eq!(drain(&mut mission).sent, [], "of the plan nothing is asked");
    mission.requested(secs(0.2), 0, OWN, 1);
    let item: MissionItemInt =
        received(&drain(&mut mission).sent[0], |f| MissionItemInt::parse(f).unwrap());
    assert_eq!((item.command, item.x, item.mission_type), (5001, 7, 1));
    mission.acknowledge(secs(0.3), &ack(0, 0));
    assert!(mission.is_busy(), "that was for the plan");
    let accepted = MissionAck { mission_type: 1, ..ack(0, 3) };
    mission.acknowledge(secs(0.3), &accepted);
    let drained = drain(&mut mission);
    assert_eq!(drained.done, [(2, Ok(MissionDone::Pushed(1)))]);
    assert_eq!((drained.items, drained.others), (0, vec![FENCE]));
    assert_eq!(mission.items(PLAN).map(<[_]>::len), Some(0));
    assert_eq!(mission.items(FENCE).map(<[_]>::len), Some(1));
    // Another station changes the fence, and nothing else.
    let tell = |fence_id| MissionCurrent { fence_id, rally_points_id: 9, ..current(0, 8) };
    mission.current_item(secs(1.0), &tell(3));
    assert_eq!(drain(&mut mission).others, []);
    mission.current_item(secs(2.0), &tell(4));
    let drained = drain(&mut mission);
    assert_eq!((drained.changed, drained.others), (0, vec![FENCE]));
}

#[test]
fn too_long_missions_and_too_many_requests_are_refused() {
    let mut mission = mission();
    mission.push(secs(0.0), PLAN, plan(10_001), 1);
    let too_long = MissionError::TooLong { items: 10_001, most: 10_000 };
    assert_eq!(drain(&mut mission).done, [(1, Err(too_long))]);
    mission.pull(secs(0.0), PLAN, 2);
    mission.count(secs(0.0), &count(65_535, 0));
    let end = drain(&mut mission);
    assert!(matches!(end.done[..], [(2, Err(MissionError::TooLong { items: 65_535, .. }))]));
    assert_eq!(received(end.sent.last().unwrap(), MissionAck::parse).unwrap().result, 4);
    for token in 0..100 {
        mission.clear(secs(1.0), PLAN, token);
    }
    let refused = drain(&mut mission).done;
    assert_eq!(refused.len(), 83);
    assert!(refused.iter().all(|r| r.1 == Err(MissionError::TooMany)));
    mission.lose_link();
    let lost = drain(&mut mission).done;
    assert_eq!(lost.len(), 17);
    assert!(
        lost.iter().all(|r| r.1 == Err(MissionError::LinkLost)) && mission.deadline().is_none()
    );
}

/// A vehicle as the protocol wants it, with a mission of its own.
struct Vehicle {
    mission: Vec<MissionItemInt>,
    upload: Option<(u16, Vec<MissionItemInt>)>,
}

impl Vehicle {
    fn answer(&mut self, message: &Outbound) -> Vec<Outbound> {
        received(message, |frame| {
            if MissionRequestList::parse(frame).is_some() {
                return vec![count(self.mission.len() as u16, 0).into()];
            }
            if let Some(request) = MissionRequestInt::parse(frame) {
                let item = self.mission.get(usize::from(request.seq));
                return item.map(|item| vec![(*item).into()]).unwrap_or_default();
            }
            if let Some(count) = MissionCount::parse(frame) {
                self.upload = Some((count.count, vec![]));
            } else if let Some(item) = MissionItemInt::parse(frame) {
                if let Some((_, items)) = &mut self.upload
                    && usize::from(item.seq) == items.len()
                {
                    items.push(item);
                }
            } else {
                return vec![];
            }
            let Some((count, items)) = &self.upload else {
                // The acknowledgement was lost: who repeats the last item gets it again.
                return vec![ack(0, 0).into()];
            };
            if items.len() < usize::from(*count) {
                let seq = items.len() as u16;
                return vec![
                    MissionRequestInt {
                        seq,
                        target_system: OWN.0,
                        target_component: OWN.1,
                        mission_type: 0,
                    }
                    .into(),
                ];
            }
            self.mission = self.upload.take().unwrap().1;
            vec![ack(0, 0).into()]
        })
    }
}

fn hear(mission: &mut MissionClient<u32>, now: Duration, message: &Outbound) {
    received(message, |frame| {
        if let Some(m) = MissionCount::parse(frame) {
            mission.count(now, &m);
        } else if let Some(m) = MissionItemInt::parse(frame) {
            mission.item(now, m);
        } else if let Some(m) = MissionRequestInt::parse(frame) {
            mission.requested(now, m.seq, (m.target_system, m.target_component), m.mission_type);
        } else if let Some(m) = MissionAck::parse(frame) {
            mission.acknowledge(now, &m);
        }
    });
}

proptest! {
    /// Whatever is lost and repeated: each request ends once, and a success means that both sides have the same.
    #[test]
    fn both_sides_agree_after_a_success(
        there in 0u16..6,
        pushed in prop::option::of(0u16..6),
        fates in prop::collection::vec((any::<u8>(), any::<u8>()), 64),
        loss in 0u8..120,
    ) {
        let mut vehicle = Vehicle { mission: plan(there), upload: None };
        let mut mission = mission();
        let mut fates = fates.into_iter().cycle();
        match pushed {
            Some(count) => mission.push(secs(0.0), PLAN, plan(count), 1),
            None => mission.pull(secs(0.0), PLAN, 1),
        }
        let mut done = Vec::new();
        let mut now = secs(0.0);
        for _ in 0..1000 {
            let drained = drain(&mut mission);
            done.extend(drained.done);
            for message in drained.sent {
                let (to, back) = fates.next().unwrap();
                if to < loss { continue; }
                for answer in vehicle.answer(&message) {
                    if back < loss { continue; }
                    hear(&mut mission, now, &answer);
                    if back > 200 { hear(&mut mission, now, &answer); }
                }
            }
            if mission.deadline().is_some_and(|d| d > now) && mission.next_event().is_none() {
                now = mission.deadline().unwrap();
                mission.tick(now);
            }
            if mission.deadline().is_none() {
                done.extend(drain(&mut mission).done);
                break;
            }
        }
        prop_assert_eq!(done.len(), 1);
        if done[0].1.is_ok() {
            let ours: Vec<_> = mission.items(PLAN).unwrap().iter().map(|i| (i.seq, i.x)).collect();
            let theirs: Vec<_> = vehicle.mission.iter().map(|i| (i.seq, i.x)).collect();
            prop_assert_eq!(ours, theirs);
        } else {
            prop_assert!(loss > 0, "failed without loss: {:?}", done);
        }
    }
}
