//! The parameter protocol against an autopilot that loses, clamps and stays silent.
use super::parameter_rig::{Drained, Vehicle, drain, message, name, parameters};
use super::protocol::{received, secs};
use ParameterValue::{Float, Int};
use proptest::prelude::*;
use rfly_bridge::session::{ParameterClient as Client, *};
use rfly_bridge::wire::mavlink::raw::*;
use std::time::Duration;

#[test]
fn the_whole_list_is_pulled_with_one_question() {
    let mut vehicle = Vehicle::new(250);
    let mut parameters = parameters();
    parameters.pull(secs(0.0), Some(1));
    parameters.pull(secs(0.0), Some(2)); // gets the same answer
    let asked = drain(&mut parameters).sent;
    assert_eq!(asked.len(), 1);
    for value in vehicle.answer(&asked[0]) {
        parameters.value(secs(0.1), &value);
    }
    let end = drain(&mut parameters);
    assert_eq!(end.sent, []);
    assert_eq!(end.pulled, [(Some(1), Ok(250)), (Some(2), Ok(250))]);
    assert_eq!((end.values, end.changed, parameters.known().len()), (250, 250, 250));
    assert!(parameters.is_complete() && parameters.deadline().is_none());
    assert_eq!(parameters.get("P7").unwrap().value, Int(-43));
    assert_eq!(parameters.get("SPEED").unwrap().value, Float(2.5));
}

#[test]
fn gaps_are_asked_for_by_index_a_few_at_a_time() {
    let mut vehicle = Vehicle::new(100);
    let mut parameters = parameters();
    parameters.pull(secs(0.0), Some(1));
    drain(&mut parameters);
    for index in (0..100).filter(|i| i % 3 == 0) {
        parameters.value(secs(0.1), &vehicle.value(index));
    }
    assert_eq!(drain(&mut parameters).sent, []);
    assert_eq!(parameters.deadline(), Some(secs(0.6)));
    parameters.tick(secs(0.6));
    let mut asked = drain(&mut parameters).sent;
    assert_eq!(asked.len(), 16);
    let first = received(&asked[0], ParamRequestRead::parse).unwrap();
    assert_eq!((first.index, first.target_system, first.id), (1, 1, [0; 16]));
    let mut total = asked.len();
    let pulled = loop {
        for message in std::mem::take(&mut asked) {
            for value in vehicle.answer(&message) {
                parameters.value(secs(0.7), &value);
            }
        }
        let drained = drain(&mut parameters);
        total += drained.sent.len();
        asked = drained.sent;
        if !drained.pulled.is_empty() {
            break drained.pulled;
        }
    };
    assert_eq!((pulled, total), (vec![(Some(1), Ok(100))], 66));
}

#[test]
fn an_autopilot_that_says_nothing_or_not_all_fails_the_pull() {
    let mut silent = parameters();
    silent.pull(secs(0.0), Some(1));
    let mut lists = 0;
    let mut now = secs(0.0);
    while let Some(deadline) = silent.deadline() {
        now = deadline;
        silent.tick(now);
        lists += silent.counters().retransmitted;
    }
    assert_eq!(now, secs(4.0));
    assert!(lists > 0);
    let end = drain(&mut silent);
    assert_eq!((end.sent.len(), end.pulled), (4, vec![(Some(1), Err(ParameterError::TimedOut))]));

    let vehicle = Vehicle::new(20);
    let mut partly = parameters();
    partly.pull(secs(0.0), Some(1));
    for index in 0..19 {
        partly.value(secs(0.1), &vehicle.value(index));
    }
    while let Some(deadline) = partly.deadline() {
        partly.tick(deadline);
    }
    let incomplete = ParameterError::Incomplete { received: 19, total: 20 };
    assert_eq!(drain(&mut partly).pulled, [(Some(1), Err(incomplete))]);
    assert!(!partly.is_complete());
}

#[test]
fn a_list_of_which_names_are_missing_is_no_success_whatever_its_indices_say() {
    // Ten of 65535, and then silence.
    let vehicle = Vehicle::new(10);
    let announced = |index: usize| ParamValue {
        count: 65_535,
        index: index as u16,
        ..vehicle.value(index % 10)
    };
    let mut few = parameters();
    few.pull(secs(0.0), Some(1));
    for index in 0..10 {
        few.value(secs(0.1), &announced(index));
    }
    while let Some(deadline) = few.deadline() {
        few.tick(deadline);
    }
    let incomplete = ParameterError::Incomplete { received: 10, total: 65_535 };
    assert_eq!(drain(&mut few).pulled, [(Some(1), Err(incomplete))]);
    assert!(!few.is_complete());
    // The same ten under every index.
    let mut again = parameters();
    again.pull(secs(0.0), Some(1));
    for index in 0..65_535 {
        again.value(secs(0.1), &announced(index));
    }
    while let Some(deadline) = again.deadline() {
        again.tick(deadline);
    }
    let pulled = drain(&mut again).pulled;
    assert!(matches!(pulled[..], [(Some(1), Err(_))]), "{pulled:?}");
    assert!(!again.is_complete());
}

#[test]
fn a_list_that_moved_while_it_came_is_asked_for_once_more() {
    let mut vehicle = Vehicle::new(20);
    let mut parameters = parameters();
    parameters.pull(secs(0.0), Some(1));
    drain(&mut parameters);
    // The one at 19 has moved there from 4, where another one came into use after it was sent.
    for index in 0..19 {
        let of = if index == 4 { 19 } else { index };
        let value = ParamValue { index: index as u16, ..vehicle.value(of) };
        parameters.value(secs(0.1), &value);
    }
    parameters.value(secs(0.1), &vehicle.value(19));
    let drained = drain(&mut parameters);
    assert_eq!(drained.pulled, []);
    assert_eq!(drained.sent.len(), 1, "the list");
    for value in vehicle.answer(&drained.sent[0]) {
        parameters.value(secs(0.2), &value);
    }
    assert_eq!(drain(&mut parameters).pulled, [(Some(1), Ok(20))]);
}

#[test]
fn what_is_no_number_is_never_sent() {
    let (_, mut parameters) = learnt();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        parameters.set(secs(1.0), name("SPEED"), Float(value), 9);
        let drained = drain(&mut parameters);
        assert_eq!(drained.sent, []);
        assert_eq!(drained.done, [(9, Err(ParameterError::NotFinite))]);
    }
}

#[test]
fn the_checksum_is_no_parameter_and_unsolicited_values_are_told() {
    let mut parameters = parameters();
    let hash = message("_HASH_CHECK", ParameterKind::Uint32, Int(77), 65_535, 9);
    parameters.value(secs(0.0), &hash);
    let first = message("SPEED", ParameterKind::Real32, Float(1.0), 3, 9);
    parameters.value(secs(0.0), &first);
    parameters.value(secs(0.0), &first);
    let by_itself = message("SPEED", ParameterKind::Real32, Float(2.0), 65_535, 9);
    parameters.value(secs(0.0), &by_itself);
    let drained = drain(&mut parameters);
    assert_eq!((drained.values, drained.changed), (3, 2));
    assert_eq!(parameters.known().len(), 1);
    let known = parameters.get("SPEED").unwrap();
    assert_eq!((known.value, known.index), (Float(2.0), Some(3)));
    parameters.value(secs(0.0), &ParamValue { kind: 77, ..first });
    parameters.value(secs(0.0), &ParamValue { id: [0xff; 16], ..first });
    assert_eq!(parameters.counters().unusable, 2);
}

/// A vehicle that has sent everything, and the parameters that were learnt.
fn learnt() -> (Vehicle, Client<u32>) {
    let mut vehicle = Vehicle::new(5);
    let mut parameters = parameters();
    parameters.pull(secs(0.0), None);
    for message in drain(&mut parameters).sent {
        for value in vehicle.answer(&message) {
            parameters.value(secs(0.0), &value);
        }
    }
    assert_eq!(drain(&mut parameters).pulled, [(None, Ok(5))]);
    (vehicle, parameters)
}

fn exchange(vehicle: &mut Vehicle, parameters: &mut Client<u32>, now: Duration) -> Drained {
    let asked = drain(parameters);
    for message in &asked.sent {
        for value in vehicle.answer(message) {
            parameters.value(now, &value);
        }
    }
    let mut end = drain(parameters);
    end.done.splice(0..0, asked.done);
    end
}

#[test]
fn a_value_is_set_in_the_type_that_the_parameter_has() {
    let (mut vehicle, mut parameters) = learnt();
    parameters.set(secs(1.0), name("SPEED"), Int(7), 1);
    parameters.set(secs(1.0), name("P1"), Float(-3.0), 2);
    let done = exchange(&mut vehicle, &mut parameters, secs(1.0)).done;
    assert_eq!(done, [(1, Ok(Float(7.0))), (2, Ok(Int(-3)))]);
    assert_eq!(vehicle.0[4].2, Float(7.0));
    assert_eq!(vehicle.0[0].2, Int(-3));
    // What cannot be is not sent.
    parameters.set(secs(1.0), name("P1"), Float(0.5), 3);
    parameters.set(secs(1.0), name("P1"), Int(1 << 40), 4);
    parameters.set(secs(1.0), name("SPEED"), Float(1e300), 5);
    let refused = drain(&mut parameters);
    assert_eq!(refused.sent, []);
    let does_not_fit = |kind| Err(ParameterError::DoesNotFit(kind));
    assert_eq!(
        refused.done,
        [
            (3, does_not_fit(ParameterKind::Int32)),
            (4, does_not_fit(ParameterKind::Int32)),
            (5, does_not_fit(ParameterKind::Real32))
        ]
    );
}

#[test]
fn a_value_that_the_vehicle_did_not_take_is_told_with_the_one_it_kept() {
    let (mut vehicle, mut parameters) = learnt();
    parameters.set(secs(1.0), name("SPEED"), Float(-1.0), 1);
    let done = exchange(&mut vehicle, &mut parameters, secs(1.0)).done;
    assert_eq!(done, [(1, Err(ParameterError::Kept(Float(2.5))))]);
    parameters.set(secs(1.0), name("P2"), Int(9), 2);
    drain(&mut parameters);
    let error = ParamError { id: name("P2").field(), error: 3, ..ParamError::default() };
    parameters.error(secs(1.0), &error);
    assert_eq!(drain(&mut parameters).done, [(2, Err(ParameterError::Refused(3)))]);
}

#[test]
fn while_the_list_comes_an_old_value_is_no_answer_to_a_change() {
    let (_, mut parameters) = learnt();
    parameters.pull(secs(1.0), None);
    parameters.set(secs(1.0), name("P1"), Int(9), 1);
    drain(&mut parameters);
    parameters.value(secs(1.0), &message("P1", ParameterKind::Int32, Int(-49), 0, 5));
    assert_eq!(drain(&mut parameters).done, []);
    parameters.value(secs(1.0), &message("P1", ParameterKind::Int32, Int(9), 0, 5));
    assert_eq!(drain(&mut parameters).done, [(1, Ok(Int(9)))]);
}

#[test]
fn questions_without_an_answer_are_repeated_and_given_up() {
    let (_, mut parameters) = learnt();
    parameters.set(secs(10.0), name("NOSUCH"), Float(1.5), 1);
    parameters.read(secs(10.0), name("NEITHER"), 2);
    let mut sent = drain(&mut parameters).sent.len();
    let mut now = secs(10.0);
    while let Some(deadline) = parameters.deadline() {
        now = deadline;
        parameters.tick(now);
        if parameters.deadline().is_some() {
            sent += drain(&mut parameters).sent.len();
        }
    }
    assert_eq!((sent, now), (8, secs(14.0)));
    let timed_out = Err(ParameterError::TimedOut);
    assert_eq!(drain(&mut parameters).done, [(1, timed_out), (2, timed_out)]);
}

#[test]
fn many_questions_wait_for_their_turn_and_the_same_name_for_its_predecessor() {
    let (mut vehicle, mut parameters) = learnt();
    parameters.set(secs(1.0), name("P1"), Int(1), 1);
    parameters.set(secs(1.0), name("P1"), Int(2), 2);
    let asked = drain(&mut parameters).sent;
    assert_eq!(asked.len(), 1, "{asked:?}");
    for value in vehicle.answer(&asked[0]) {
        parameters.value(secs(1.0), &value);
    }
    let then = exchange(&mut vehicle, &mut parameters, secs(1.0));
    assert_eq!(then.done, [(1, Ok(Int(1))), (2, Ok(Int(2)))]);
    for token in 0..10_000 {
        parameters.read(secs(2.0), name(&format!("Q{token}")), token);
    }
    let flood = drain(&mut parameters);
    assert_eq!((flood.sent.len(), flood.done.len()), (16, 10_000 - 16 - 4096));
    parameters.lose_link();
    let lost = drain(&mut parameters).done;
    assert_eq!(lost.len(), 16 + 4096);
    assert!(lost.iter().all(|d| d.1 == Err(ParameterError::LinkLost)));
}

#[test]
fn integers_travel_as_px4_sends_them_or_as_a_cast() {
    use ParameterEncoding::{Bytewise, Cast};
    // PX4: COM_RC_IN_MODE 4 reads 5.6e-45 as a float; -87 is not-a-number.
    let four = ParameterKind::Int32.encode(Int(4), Bytewise).unwrap();
    assert_eq!(f32::from_le_bytes(four).to_bits(), 4);
    assert!(f32::from_le_bytes(ParameterKind::Int32.encode(Int(-87), Bytewise).unwrap()).is_nan());
    assert_eq!(ParameterKind::Int32.encode(Int(4), Cast), Some(4f32.to_le_bytes()));
    assert_eq!(ParameterKind::Int8.encode(Int(-2), Bytewise), Some([0xfe, 0, 0, 0]));
    assert_eq!(ParameterKind::Uint8.encode(Int(256), Bytewise), None);
    assert_eq!(ParameterKind::Uint8.decode(f32::NAN.to_le_bytes(), Cast), Int(0));
}

proptest! {
    #[test]
    fn every_integer_in_range_survives_the_field(value in any::<i64>(), number in 1u8..7) {
        let kind = ParameterKind::of(number).unwrap();
        let shift = [0, 24, 56, 48, 40, 32][usize::from(number) % 6];
        for value in [value, value >> shift, value >> 57] {
            if let Some(field) = kind.encode(Int(value), ParameterEncoding::Bytewise) {
                prop_assert_eq!(kind.decode(field, ParameterEncoding::Bytewise), Int(value));
            }
        }
    }

    /// Any loss: a pull that succeeds has all, and it ends.
    #[test]
    fn a_pull_that_succeeds_has_everything(
        count in 1usize..60,
        fates in prop::collection::vec(any::<u8>(), 101),
        loss in 0u8..150,
    ) {
        let mut vehicle = Vehicle::new(count);
        let mut parameters = parameters();
        let mut fates = fates.into_iter().cycle();
        parameters.pull(secs(0.0), Some(1));
        let mut now = secs(0.0);
        let mut pulled = Vec::new();
        for _ in 0..10_000 {
            let drained = drain(&mut parameters);
            pulled.extend(drained.pulled);
            for message in &drained.sent {
                if fates.next().unwrap() < loss { continue; }
                for value in vehicle.answer(message) {
                    if fates.next().unwrap() >= loss { parameters.value(now, &value); }
                }
            }
            match parameters.deadline() {
                Some(deadline) => { now = now.max(deadline); parameters.tick(now); }
                None => { pulled.extend(drain(&mut parameters).pulled); break; }
            }
        }
        prop_assert_eq!(pulled.len(), 1);
        match pulled[0].1 {
            Ok(n) => {
                prop_assert_eq!(n, count);
                prop_assert_eq!(parameters.known().len(), count);
            }
            Err(_) => prop_assert!(loss > 0),
        }
    }
}

/// Downloads a list where each answer is lost that `lost` says; returns what was missing, and the result.
fn pull_with(
    vehicle: &mut Vehicle,
    mut lost: impl FnMut(u16) -> bool,
) -> (Vec<u16>, Result<usize, ParameterError>) {
    let mut parameters = parameters();
    parameters.pull(secs(0.0), Some(1));
    let mut now = secs(0.0);
    let mut missing = Vec::new();
    loop {
        let drained = drain(&mut parameters);
        missing.extend(drained.missing);
        if let Some((_, result)) = drained.pulled.first() {
            return (missing, *result);
        }
        for asked in drained.sent {
            for value in vehicle.answer(&asked) {
                if !lost(value.index) {
                    parameters.value(now, &value);
                }
            }
        }
        if let Some(deadline) = parameters.deadline() {
            assert!(now < secs(600.0), "it does not end");
            now = deadline.max(now + Duration::from_millis(1));
        }
        parameters.tick(now);
    }
}

#[test]
fn a_list_is_whole_also_where_every_third_answer_is_lost() {
    let mut vehicle = Vehicle::new(908);
    for seed in 1..20_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let lost = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % 100 < 33
        };
        assert_eq!(pull_with(&mut vehicle, lost), (vec![], Ok(908)), "seed {seed}");
    }
}

#[test]
fn what_never_comes_is_listed_and_the_rest_is_there() {
    let mut vehicle = Vehicle::new(908);
    let (received, total) = (906, 908);
    let incomplete = Err(ParameterError::Incomplete { received, total });
    let lost = |index| matches!(index, 17 | 401);
    assert_eq!(pull_with(&mut vehicle, lost), (vec![17, 401], incomplete));
}

#[test]
fn what_was_read_before_the_encoding_is_known_is_decoded_anew() {
    let mut parameters = parameters();
    let sent = ParamValue {
        value: (-7.0_f32).to_le_bytes(),
        ..message("I_I32", ParameterKind::Int32, Int(0), 0, 1)
    };
    parameters.value(secs(0.0), &sent);
    assert_ne!(parameters.get("I_I32").unwrap().value, Int(-7));
    parameters.set(secs(0.0), name("I_I32"), Int(42), 1);
    drain(&mut parameters);
    parameters.set_target(1, 1, ParameterEncoding::Cast);
    assert_eq!(parameters.get("I_I32").unwrap().value, Int(-7));
    let told = drain(&mut parameters);
    assert_eq!((told.values, told.changed), (1, 1), "it is published again");
    // What is being set is repeated in the new encoding.
    parameters.tick(secs(1.0));
    let again = drain(&mut parameters).sent;
    let set = received(&again[0], ParamSet::parse).unwrap();
    assert_eq!(set.value, 42.0_f32.to_le_bytes());
}
