//! Faults on virtual time.
use rfly_bridge::config::params::FaultNumbers;
use rfly_bridge::model::{FAULT_KINDS, FaultParameters, FaultTime, Faults};
use rfly_bridge::msgs::rfly_bridge_msgs::srv::InjectFaultRequest;
use rfly_bridge::time::{RosTime, SimTime};
use rfly_bridge::wire::{ModelInput, ModelParameters};
use std::collections::BTreeSet;
use std::time::Duration;

/// At `sim` seconds of the simulation and `host` seconds of the host.
fn at(sim: f64, host: f64) -> FaultTime {
    FaultTime {
        sim: Some(SimTime::from_secs(sim)),
        host: Duration::from_secs_f64(host),
        stamp: RosTime(SimTime::from_secs(sim).0),
    }
}

fn faults() -> Faults {
    Faults::new(1, FaultNumbers::Sdk)
}

fn request(kind: &str, parameters: &[f64]) -> InjectFaultRequest {
    InjectFaultRequest {
        kind: kind.to_owned(),
        parameters: parameters.to_vec(),
        ..InjectFaultRequest::default()
    }
}

/// Numbers and floats of a datagram.
fn sil(bytes: &[u8]) -> (Vec<i32>, Vec<f32>) {
    let ModelInput::Sil(packet) = ModelInput::parse(bytes).unwrap() else {
        panic!("integers and floats");
    };
    let floats = packet.floats.map(|x| x.get()).to_vec();
    (packet.ints.map(|x| x.get()).to_vec(), floats)
}

/// How a model of the vendor's library reads a fault: the floats at the places of its number, in order.
fn extracted(bytes: &[u8], id: i32) -> Vec<f32> {
    let (ints, floats) = sil(bytes);
    let places = (0..8).filter(|i| ints[*i] == id);
    places.flat_map(|i| [floats[2 * i], floats[2 * i + 1]]).collect()
}

#[test]
fn a_motor_of_a_mask_gets_its_efficiency_and_the_others_stay_healthy() {
    let mut faults = faults();
    let one = InjectFaultRequest { mask: 0b10, ..request("motor", &[0.25]) };
    let sent = faults.inject(&one, at(0.0, 0.0)).unwrap().unwrap();
    assert_eq!(extracted(&sent, 123_450), [1.0, 0.25, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let both = InjectFaultRequest { mask: 0b1010, ..request("motor", &[0.5, 0.0]) };
    let sent = faults.inject(&both, at(0.0, 0.0)).unwrap().unwrap();
    assert_eq!(extracted(&sent, 123_450), [1.0, 0.5, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    let all = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
    let of_all = InjectFaultRequest { mask: 0b101, ..request("motor", &all) };
    let sent = faults.inject(&of_all, at(0.0, 0.0)).unwrap().unwrap();
    assert_eq!(extracted(&sent, 123_450), [0.1, 1.0, 0.3, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let first = request("motor", &[0.9, 0.8]);
    let sent = faults.inject(&first, at(0.0, 0.0)).unwrap().unwrap();
    assert_eq!(extracted(&sent, 123_450)[..3], [0.9, 0.8, 1.0]);
    assert_eq!(faults.active(at(0.0, 0.0)).len(), 1, "each replaces the one before");
}

#[test]
fn a_fault_with_a_number_of_the_users_own_is_sent_as_the_vendors_tool_does() {
    // AutoMavCmd.FaultInject([123450, 0]) writes one number and one parameter.
    let own = InjectFaultRequest { id: 123_450, ..request("id", &[0.0]) };
    let sent = faults().inject(&own, at(0.0, 0.0)).unwrap().unwrap();
    assert_eq!(sil(&sent), ([vec![123_450], vec![0; 7]].concat(), vec![0.0; 20]));
}

#[test]
fn a_fault_ends_after_its_time_of_the_simulation_by_the_parameters_that_end_it() {
    let mut faults = faults();
    let wind = InjectFaultRequest { duration: 5.0, ..request("wind", &[3.0, 4.0, 0.0]) };
    let sent = faults.inject(&wind, at(100.0, 0.0)).unwrap().unwrap();
    assert_eq!(extracted(&sent, 123_458), [3.0, 4.0, 0.0, 0.0]);
    // The host's clock is faster.
    assert!(faults.poll(at(104.9, 1000.0)).datagrams.is_empty());
    let active = faults.active(at(104.9, 1000.0));
    assert!((active[0].remaining - 0.1).abs() < 1e-6, "{active:?}");
    let ended = faults.poll(at(105.0, 1001.0));
    assert_eq!(ended.faults.len(), 1);
    assert_eq!(extracted(&ended.datagrams[0], 123_458), [0.0; 4]);
    assert!(faults.is_empty() && faults.poll(at(106.0, 1002.0)).datagrams.is_empty());
}

#[test]
fn without_a_time_of_the_simulation_that_of_the_host_counts() {
    let mut faults = faults();
    let blind = |host| FaultTime { sim: None, ..at(0.0, host) };
    let wind = InjectFaultRequest { duration: 5.0, ..request("wind", &[3.0, 4.0, 0.0]) };
    faults.inject(&wind, blind(10.0)).unwrap();
    assert!(faults.poll(blind(14.0)).faults.is_empty());
    // The first tick comes: from then on the simulation's time counts.
    assert!(faults.poll(at(700.0, 14.5)).faults.is_empty());
    assert!(faults.poll(at(700.4, 99.0)).faults.is_empty());
    assert_eq!(faults.poll(at(700.5, 99.1)).faults.len(), 1);
}

#[test]
fn a_client_that_does_not_repeat_its_call_in_time_has_gone() {
    let mut faults = faults();
    let kept = InjectFaultRequest { keep_alive: 1.0, ..request("gps", &[2.0, 1.0, 3.0]) };
    assert!(faults.inject(&kept, at(0.0, 0.0)).unwrap().is_some());
    for host in [0.9, 1.8, 2.7] {
        assert_eq!(faults.inject(&kept, at(0.0, host)), Ok(None), "kept alive, not sent again");
        assert!(faults.poll(at(0.0, host)).faults.is_empty());
    }
    // A paused simulation does not keep the client alive.
    let ended = faults.poll(at(0.0, 3.7));
    assert_eq!(extracted(&ended.datagrams[0], 123_546)[..3], [1.0, 3.0, 10.0]);
}

#[test]
fn clearing_chooses_by_kind_and_number_and_leaves_the_others() {
    let mut faults = faults();
    let now = at(1.0, 1.0);
    faults.inject(&request("wind", &[1.0, 2.0, 3.0]), now).unwrap();
    faults.inject(&request("accelerometer_noise", &[4.0]), now).unwrap();
    let own = InjectFaultRequest { id: 7, restore: vec![9.0], ..request("id", &[5.0]) };
    let sent = faults.inject(&own, now).unwrap().unwrap();
    // The other two are told again, for a model that does not keep them.
    assert_eq!(extracted(&sent, 7), [5.0, 0.0]);
    assert_eq!(extracted(&sent, 123_542), [4.0, 0.0]);
    assert_eq!(extracted(&sent, 123_458), [1.0, 2.0, 3.0, 0.0]);
    let cleared = faults.clear("", 7, now);
    assert_eq!(extracted(&cleared.datagrams[0], 7), [9.0, 0.0]);
    assert_eq!(faults.clear("wind", 0, now).faults[0].kind, "wind");
    let kinds: Vec<_> = faults.active(now).into_iter().map(|fault| fault.kind).collect();
    assert_eq!(kinds, ["accelerometer_noise"]);
    assert_eq!(faults.clear("", 0, now).faults.len(), 1);
    assert!(faults.is_empty());
    let nothing = faults.clear("", 0, now);
    assert!(nothing.faults.is_empty() && nothing.error.is_empty());
}

#[test]
fn a_fault_that_nothing_ends_stays_until_the_simulation_starts_anew() {
    let mut faults = faults();
    let now = at(1.0, 1.0);
    faults.inject(&request("battery_off", &[]), now).unwrap();
    let cleared = faults.clear("", 0, now);
    assert!(cleared.datagrams.is_empty());
    assert!(
        cleared.error.contains("battery_off") && cleared.error.contains("coptersim/restart"),
        "{}",
        cleared.error
    );
    assert_eq!(faults.active(now).len(), 1, "it is not said to be gone");
    assert!(faults.forget_all());
    assert!(faults.is_empty() && !faults.forget_all());
}

#[test]
fn parameters_of_the_model_are_set_by_mask_and_restored() {
    let mut faults = faults();
    let now = at(0.0, 0.0);
    let set = InjectFaultRequest {
        mask: 0b1001,
        restore: vec![0.5, 0.25],
        duration: 2.0,
        ..request("parameters", &[3.0, 4.0])
    };
    let read = |bytes: &[u8]| {
        let ModelInput::Parameters(packet) = ModelInput::parse(bytes).unwrap() else {
            panic!("parameters");
        };
        assert_eq!(packet.which(), ModelParameters::Faults);
        let values = packet.values.map(|x| x.get());
        (packet.mask.get(), [values[0], values[1], values[3]])
    };
    let sent = faults.inject(&set, now).unwrap().unwrap();
    assert_eq!(read(&sent), (0b1001, [3.0, 0.0, 4.0]));
    let other = InjectFaultRequest { mask: 0b1000, ..request("parameters", &[1.0]) };
    let refused = faults.inject(&other, now).unwrap_err();
    assert!(refused.contains("0x9 is in use"), "{refused}");
    let ended = faults.poll(at(2.0, 0.0));
    assert_eq!(read(&ended.datagrams[0]), (0b1001, [0.5, 0.0, 0.25]));
}

#[test]
fn all_that_is_wrong_with_a_request_is_said_at_once_with_what_would_be_right() {
    let with = |request: InjectFaultRequest| faults().inject(&request, at(0.0, 0.0)).unwrap_err();
    let texts = [
        with(request("moter", &[0.5])),
        with(InjectFaultRequest {
            duration: -1.0,
            keep_alive: f64::NAN,
            ..request("motor", &[1.5])
        }),
        with(InjectFaultRequest { mask: 0x100, ..request("motor", &[0.5]) }),
        with(InjectFaultRequest { mask: 0b111, ..request("motor", &[0.5, 0.5]) }),
        with(InjectFaultRequest { mask: 1, ..request("wind", &[1.0, 2.0, 3.0]) }),
        with(request("wind", &[1.0])),
        with(request("battery_off", &[1.0])),
        with(InjectFaultRequest { duration: 1.0, ..request("battery_off", &[]) }),
        with(request("id", &[1.0])),
        with(InjectFaultRequest { id: 5, duration: 1.0, ..request("id", &[1.0]) }),
        with(InjectFaultRequest { id: 5, ..request("id", &[0.0; 17]) }),
        with(InjectFaultRequest { id: 5, ..request("parameters", &[f64::INFINITY]) }),
        with(request("parameters", &[])),
        with(request("", &[])),
        faults().clear("moter", 0, at(0.0, 0.0)).error,
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn every_kind_has_its_own_numbers_and_is_ended_by_what_the_table_says() {
    for numbers in [FaultNumbers::Sdk, FaultNumbers::Template] {
        let ids: BTreeSet<_> = FAULT_KINDS.iter().map(|kind| kind.id(numbers)).collect();
        assert_eq!(ids.len(), FAULT_KINDS.len(), "{numbers:?}");
        for kind in FAULT_KINDS {
            let healthy: Vec<_> = match kind.parameters {
                FaultParameters::Rotors(parameter) => vec![parameter.healthy; 8],
                FaultParameters::List(list) => list.iter().map(|p| p.healthy).collect(),
            };
            let worst: Vec<_> = match kind.parameters {
                FaultParameters::Rotors(parameter) => vec![parameter.min; 8],
                FaultParameters::List(list) => list.iter().map(|p| p.max).collect(),
            };
            let mut faults = Faults::new(1, numbers);
            let now = at(0.0, 0.0);
            let sent = faults.inject(&request(kind.name, &worst), now).unwrap().unwrap();
            let id = kind.id(numbers);
            let narrow = |list: &[f64]| list.iter().map(|x| *x as f32).collect::<Vec<_>>();
            assert_eq!(extracted(&sent, id)[..worst.len()], narrow(&worst), "{}", kind.name);
            let cleared = faults.clear(kind.name, id, now);
            match healthy.is_empty() {
                true => assert!(!cleared.error.is_empty()),
                false => assert_eq!(
                    extracted(&cleared.datagrams[0], id)[..healthy.len()],
                    narrow(&healthy),
                    "{}",
                    kind.name
                ),
            }
        }
    }
}

#[test]
fn a_fault_whose_end_is_not_sent_stays_active_and_the_others_are_cleared() {
    let mut faults = faults();
    let kinds = ["wind", "accelerometer_noise", "gyroscope_noise"];
    for (second, kind) in kinds.iter().enumerate() {
        let parameters = if *kind == "wind" { &[3.0, 4.0, 0.0][..] } else { &[2.0] };
        let now = at(second as f64, 0.0);
        assert!(faults.inject(&request(kind, parameters), now).is_ok(), "{kind}");
    }
    let now = at(10.0, 0.0);
    let of = |faults: &mut Faults| {
        faults.active(now).into_iter().map(|fault| fault.kind).collect::<Vec<_>>()
    };
    let mut cleared = faults.clear("", 0, now);
    let mut sent = 0;
    let result = faults.send_cleared(&mut cleared, |_| {
        sent += 1;
        if sent == 2 { Ok(()) } else { Err(format!("failure {sent}")) }
    });
    assert_eq!((sent, result), (3, Err("failure 1".to_owned())), "all are sent");
    let told: Vec<_> = cleared.faults.iter().map(|fault| &*fault.kind).collect();
    assert_eq!(told, ["accelerometer_noise"], "newest first");
    assert_eq!(of(&mut faults), ["wind", "gyroscope_noise"], "oldest first");
    // The next attempt clears the rest.
    let mut cleared = faults.clear("", 0, now);
    assert_eq!(faults.send_cleared(&mut cleared, |_| Ok(())), Ok(()));
    assert_eq!((cleared.faults.len(), of(&mut faults).len()), (2, 0));
}
