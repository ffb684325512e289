//! Inputs of vehicles' models and requests to CopterSim: the vendor's recorded bytes, and what they do to a flight.
use super::pilot_rig::PilotRig;
use super::rig::{Rig, near, pose, socket, still, wait};
use crate::support::golden;
use crate::support::wait::wait_for;
use rfly_bridge::emulator::autopilot::{ControlMode, Damage};
use rfly_bridge::emulator::world::Vec3;
use rfly_bridge::emulator::{EmulatorOptions, Faults};
use rfly_bridge::wire::mavlink::{frames, raw::GpsRawInt};
use rfly_bridge::wire::{
    CopterSimLoad, CopterSimLoadPacket, CopterSimRequestPacket, FullEstimatePacket, ImuPacket,
    ImuRequestPacket, InputSet, IntoBytes as _, ModelOutputPacket, ModelParameters,
    ModelParametersPacket, Packet as _, SceneReport, SilInputsPacket, TruthDatagram,
    UorbInputsPacket,
};
use serde_json::{Value, json};

fn two() -> Rig {
    two_with(|_| {})
}

fn two_with(change: impl FnOnce(&mut EmulatorOptions)) -> Rig {
    let change = |o: &mut EmulatorOptions| {
        // Nobody listens to the autopilots.
        (o.ports.autopilot, o.ports.autopilot_client) = (0, 9);
        change(o);
    };
    let world = still(&[pose([0.0, 0.0, -5.0], [0.0; 3]), pose([3.0, 0.0, -5.0], [0.0; 3])], &[]);
    Rig::with(world, change, Faults::default())
}

/// Sends a datagram to a vehicle's CopterSim and waits until the model has it.
fn input(rig: &Rig, id: usize, bytes: &[u8]) {
    let before = rig.emulator.stats().model_inputs;
    rig.client.send_to(bytes, rig.emulator.coptersims()[id - 1]).unwrap();
    wait(|| rig.emulator.stats().model_inputs > before);
}

fn model(rig: &Rig, id: &str) -> Value {
    rig.emulator.state()["models"][id].clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(golden::number).collect()
}

#[test]
fn every_recorded_input_of_the_vendors_client_reaches_its_model() {
    let rig = two();
    let mut count = 0;
    for vector in golden::load("dll_send") {
        for (port, bytes) in vector.sent() {
            let id = match port {
                30_100 => 1,
                30_102 => 2,
                _ => continue, // data for a program of the user
            };
            input(&rig, id, &bytes);
            count += 1;
        }
    }
    assert_eq!(rig.emulator.stats().model_inputs, count);
    assert_eq!(rig.emulator.stats().refused, 0);
    let argument = |name: &str, place: usize| {
        numbers(&golden::load_one("dll_send", name)["args"]["positional"][place])
    };
    let told = model(&rig, "2");
    let first = |field: &str, expected: &[f64]| {
        assert_eq!(&numbers(&told[field])[..expected.len()], expected, "{field}");
    };
    first("inputs", &argument("InDoubCtrls/2", 0));
    first("renderer", &argument("UE2Coptersim/2", 0));
    first("rays", &argument("FloatsColl/2", 2));
    first("collision", &argument("Coll20d/2", 0));
    first("terrain", &argument("TerrIn15d/2", 0));
    assert_eq!(numbers(&told["extended"][2]), argument("InCtrlExtDoub3/2", 0));
    for (name, field) in [
        ("ModelInParams/2", "fault_parameters"),
        ("InitInParams/2", "initial"),
        ("DynModiParams/2", "dynamic"),
    ] {
        let vector = golden::load_one("dll_send", name);
        let mask = vector["args"]["positional"][0].as_u64().unwrap();
        let (values, kept) = (argument(name, 1), numbers(&told[field]));
        for (i, value) in values.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1) {
            assert_eq!(kept[i], *value, "{name} {i}");
        }
    }
    // 140 values come in five packets, of which the last applies them all.
    let told = model(&rig, "1");
    let all: Vec<f64> = (0..5).flat_map(|n| numbers(&told["extended"][n])).collect();
    let expected = argument("InCtrlExtAll_150", 0);
    assert_eq!(all, expected[..140]);
}

#[test]
fn inputs_of_the_vendors_model_loader_are_taken_and_others_are_refused() {
    let rig = two();
    for name in ["sil_120", "doub_232", "ray_60"] {
        for packet in golden::load_one("recv_modelload", name).input_packets() {
            input(&rig, 1, &packet);
        }
    }
    // The check word that the loader refuses is that of a further set.
    let plain = model(&rig, "1")["inputs"].clone();
    for packet in golden::load_one("recv_modelload", "wrong_checksum").input_packets() {
        input(&rig, 1, &packet);
    }
    assert_eq!(model(&rig, "1")["inputs"], plain);
    assert_eq!(numbers(&model(&rig, "1")["extended"][0])[..3], [0.0, 1.0, 2.0]);
    let mut packet = faults([0; 8], &[]);
    packet.checksum = 1_234_567_810.into();
    rig.client.send_to(packet.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    wait(|| rig.emulator.stats().refused == 1);
}

#[test]
fn a_vehicle_of_the_vendors_model_loader_is_drawn() {
    let rig = Rig::start(still(&[], &[]));
    let vector = golden::load_one("modelload_send", "modelload_Send3DData");
    super::stage::tell(&rig, &vector.sent()[0].1);
    let object = rig.emulator.state()["objects"][0].clone();
    assert_eq!((&object["id"], &object["type"]), (&json!(1), &json!(3)));
    let packet = &vector.sent()[0].1;
    let position: Vec<f64> = (0..3)
        .map(|i| f64::from_le_bytes(packet[120 + 8 * i..128 + 8 * i].try_into().unwrap()))
        .collect();
    assert_eq!(numbers(&object["centre"]), position);
}

#[test]
fn coptersim_repeats_plain_inputs_and_sends_the_outputs_of_the_model() {
    let reports = socket();
    let port = reports.local_addr().unwrap().port();
    let rig = two_with(|o| o.ports.report = port);
    let ints = [1, 2, 3, 4, 5, 6, 7, 8];
    let packet = SilInputsPacket::new(1, InputSet::Plain, ints, [0.5; 20]);
    input(&rig, 1, packet.as_bytes());
    let mut buffer = [0; 512];
    let len = reports.recv(&mut buffer).unwrap();
    assert_eq!(SceneReport::parse(&buffer[..len]), Ok(SceneReport::ModelInputs(&packet)));
    let outputs = wait_for("outputs of the model", || {
        let len = rig.states.recv(&mut buffer).unwrap();
        let Ok(TruthDatagram::ModelOutput(outputs)) = TruthDatagram::parse(&buffer[..len]) else {
            return None;
        };
        let ModelOutputPacket { copter_id, data, .. } = *outputs;
        Some((copter_id.get(), data.map(|x| x.get())))
    });
    assert_eq!(outputs.0, 1);
    assert_eq!(outputs.1[..8], ints.map(f64::from));
    assert_eq!(outputs.1[8..28], [0.5; 20]);
    assert_eq!(outputs.1[29], 1.0, "one datagram");
}

#[test]
fn values_for_a_modified_autopilot_come_back_as_its_outputs() {
    let outputs = socket();
    let port = outputs.local_addr().unwrap().port();
    let rig = two_with(|o| {
        (o.autopilot, o.ports.outputs) = (Some(ControlMode::MavlinkFull), port);
    });
    let vector = golden::load_one("coptersim_send", "px4_rfly_ctrl");
    input(&rig, 1, &vector.sent()[0].1);
    let mut buffer = [0; 64];
    let len = outputs.recv(&mut buffer).unwrap();
    let told = rfly_bridge::wire::Px4ExtPacket::parse(&buffer[..len]).unwrap();
    let sent = UorbInputsPacket::parse(&vector.sent()[0].1).unwrap().data;
    assert_eq!(told.controls.as_slice(), &sent[..8]);
}

fn faults(ids: [i32; 8], floats: &[f32]) -> SilInputsPacket {
    let mut all = [0.0; 20];
    all[..floats.len()].copy_from_slice(floats);
    SilInputsPacket::new(1, InputSet::Plain, ids, all)
}

#[test]
fn faults_of_the_vendors_library_damage_the_vehicle_and_stay_until_they_are_taken_back() {
    let rig = two();
    let damage = || model(&rig, "1")["damage"].clone();
    let motors = |ids, floats: &[f32]| {
        input(&rig, 1, faults(ids, floats).as_bytes());
        numbers(&damage()["motors"])
    };
    let m = 123_450;
    let harmed = motors([m, m, 0, 0, 0, 0, 0, 0], &[0.5, 1.0, 0.25, 1.0]);
    assert_eq!(harmed, [0.5, 1.0, 0.25, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(motors([0; 8], &[]), harmed, "what is not named stays");
    let wind = [123_458, 123_458, 123_453, 0, 0, 0, 0, 0];
    let still_harmed = motors(wind, &[3.0, -4.0, 0.5, 0.0, 0.75, 0.0]);
    assert_eq!(still_harmed, harmed);
    assert_eq!(numbers(&damage()["wind"]), [3.0, -4.0, 0.5]);
    assert_eq!(damage()["voltage"], 0.75);
    assert_eq!(motors([m, m, m, m, 0, 0, 0, 0], &[1.0; 8]), [1.0; 8]);
    // The model's own parameters do the same.
    let parameters = |mask, values: [f64; 32]| {
        let packet = ModelParametersPacket::new(ModelParameters::Faults, mask, values);
        input(&rig, 1, packet.as_bytes());
        damage()
    };
    let third = parameters(0b100, [0.5; 32]);
    assert_eq!(numbers(&third["motors"])[..4], [1.0, 1.0, 0.5, 1.0]);
    assert_eq!(numbers(&parameters(0xff, [1.0; 32])["motors"]), [1.0; 8]);
    assert_eq!(model(&rig, "2"), Value::Null, "the other vehicle is sound");
    // Whoever restarts the vehicle gets a sound one.
    let _ = motors([m, m, 0, 0, 0, 0, 0, 0], &[0.0; 4]);
    let requests = rig.emulator.stats().requests;
    let place = CopterSimRequestPacket::new(1).at([1.0, 2.0], 0.0);
    rig.client.send_to(place.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    wait(|| rig.emulator.stats().requests > requests);
    assert_eq!(numbers(&damage()["motors"]), [1.0; 8]);
}

#[test]
fn a_noisy_accelerometer_is_noisy_until_the_fault_is_taken_back() {
    let rig = two();
    let reader = socket();
    let port = reader.local_addr().unwrap().port();
    let request = ImuRequestPacket::new(200, [127, 0, 0, 1], port);
    rig.client.send_to(request.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    let sample = || {
        let mut buffer = [0; 64];
        let len = reader.recv(&mut buffer).unwrap();
        let sample = ImuPacket::parse(&buffer[..len]).unwrap();
        let wide = |v: [zerocopy::little_endian::F32; 3]| v.map(|x| f64::from(x.get()));
        (sample.sim_time.get(), wide(sample.acc), wide(sample.rate))
    };
    let after = |time: f64| std::iter::repeat_with(sample).skip_while(move |s| s.0 <= time);
    let fault = |gain: f32| {
        let ids = [123_542, 123_543, 0, 0, 0, 0, 0, 0];
        input(&rig, 1, faults(ids, &[gain, 0.0, gain, 0.0]).as_bytes());
        rig.emulator.sim_time()
    };
    assert_eq!(sample().2, [0.0; 3]);
    let time = fault(2.0);
    let noisy: Vec<_> = after(time).take(400).collect();
    let deviation = |values: Vec<f64>| {
        let sum: f64 = values.iter().map(|value| value.powi(2)).sum();
        (sum / values.len() as f64).sqrt()
    };
    // 400 samples: the deviation is known to 3.5 percent, five times that is allowed.
    near(deviation(noisy.iter().map(|s| s.1[0]).collect()), 0.2, 0.035, "accelerometer");
    near(deviation(noisy.iter().map(|s| s.2[1]).collect()), 0.02, 0.0035, "gyroscope");
    let time = fault(0.0);
    let quiet = after(time + 0.1).next().unwrap();
    near(quiet.1[2], -9.81, 1e-5, "sound again");
    assert_eq!(quiet.2, [0.0; 3]);
}

/// Vehicles 5 m up, with this damage from then on.
fn damaged(damage: Damage) -> PilotRig {
    let mut rig = PilotRig::fly(5.0);
    rig.pilot.set_damage(damage);
    rig
}

fn motors(motors: [f64; 4]) -> Damage {
    let mut damage = Damage::default();
    damage.motors[..4].copy_from_slice(&motors);
    damage
}

#[test]
fn a_vehicle_that_loses_a_motor_falls_over_it_and_to_the_ground() {
    let mut rig = damaged(motors([0.0, 1.0, 1.0, 1.0]));
    rig.run(0.15);
    let [roll, pitch, _] = rig.pilot.flown().unwrap().pose.roll_pitch_yaw();
    assert!(roll > 0.1 && pitch < -0.1, "motor 1 is at the front right: {roll} {pitch}");
    assert!(rig.run_until(10.0, |rig| rig.pilot.local().z > -0.1), "{}", rig.pilot.local());
}

#[test]
fn weak_motors_are_not_missed_while_they_are_not_needed() {
    let mut rig = damaged(motors([0.8, 1.0, 0.9, 0.7]));
    rig.run(5.0);
    assert!((rig.pilot.local() - Vec3::new(0.0, 0.0, -5.0)).norm() < 0.1);
    // Hovering takes half of the thrust: with less of all motors a vehicle sinks, and flies again when they are sound.
    rig.pilot.set_damage(motors([0.45; 4]));
    assert!(rig.run_until(10.0, |rig| rig.pilot.local().z > -3.0), "{}", rig.pilot.local());
    rig.pilot.set_damage(Damage::default());
    assert!(rig.run_until(20.0, |rig| rig.pilot.local().z < -4.8), "{}", rig.pilot.local());
}

#[test]
fn wind_pushes_a_vehicle_that_then_leans_against_it() {
    let wind = Vec3::new(0.0, 4.0, 0.0);
    let mut rig = damaged(Damage { wind, ..Damage::default() });
    rig.run(0.8);
    assert!(rig.pilot.local().y > 0.3, "{}", rig.pilot.local());
    rig.run(40.0);
    near(rig.pilot.local().y, 0.0, 0.2, "it holds its place");
    let roll = rig.pilot.flown().unwrap().pose.roll_pitch_yaw()[0];
    // Drag is 1 m/s² per m/s.
    near(roll.to_degrees(), -(4f64 / 9.81).atan().to_degrees(), 2.0, "into the wind");
}

#[test]
fn without_satellites_there_is_no_position() {
    let mut rig = damaged(Damage { gps: [0, 0], ..Damage::default() });
    let positions = rig.count(32);
    rig.run(3.0);
    assert_eq!(rig.count(32), positions, "LOCAL_POSITION_NED");
    rig.pilot.set_damage(Damage::default());
    rig.run(1.0);
    assert!(rig.count(32) > positions);
}

#[test]
fn the_gps_says_the_fix_type_and_the_satellites_of_its_fault() {
    for fix_type in [3, 5] {
        let mut rig = damaged(Damage { gps: [fix_type, 7], ..Damage::default() });
        rig.run(1.0);
        let sent = rig.sent.iter().rfind(|sent| sent.id == GpsRawInt::ID).unwrap();
        let frame = frames(&sent.bytes).next().unwrap().unwrap();
        let gps = GpsRawInt::parse(&frame).unwrap();
        assert_eq!((gps.fix_type, gps.satellites_visible), (fix_type, 7));
    }
    let mut rig = PilotRig::ready(ControlMode::UdpFull);
    rig.pilot.set_damage(Damage { gps: [0, 2], ..Damage::default() });
    rig.run(1.0);
    let state = FullEstimatePacket::parse(&rig.sent.last().unwrap().bytes).unwrap();
    assert_eq!((state.fix_type.get(), state.satellites.get()), (0, 2));
}

#[test]
fn a_model_without_an_autopilot_flies_as_the_vendors_helper_says() {
    for vector in golden::load("rflysimcp") {
        let name = vector.name();
        let inputs = numbers(&vector["decoded"]["inSILDoub28"]);
        let given = numbers(&vector["args"]);
        let mut rig = PilotRig::ready(ControlMode::MavlinkFull);
        rig.pilot.steer(&inputs.try_into().unwrap());
        rig.run(25.0);
        let motion = rig.pilot.flown().expect("it is armed and flies");
        let wanted = Vec3::new(given[0], given[1], given[2]);
        if name.starts_with("getPos") {
            // It starts on the ground at the map centre: 15 cm below its own centre.
            let start = if name == "getPosLocal" { 0.15 } else { 0.0 };
            let expected = wanted - Vec3::new(0.0, 0.0, start);
            assert!(
                (motion.pose.position - expected).norm() < 0.2,
                "{name}: {}",
                motion.pose.position
            );
            near(motion.pose.roll_pitch_yaw()[2], given[3], 0.02, name);
        } else {
            near(motion.velocity.z, -3.0, 0.2, name);
            let turned = name == "getVelFRD" || given.len() == 4;
            near(motion.velocity.xy().norm(), wanted.xy().norm(), 0.4, name);
            near(motion.rate.z, if turned { given[3] } else { 0.0 }, 0.05, name);
        }
    }
}

#[test]
fn coptersim_loads_models_and_maps() {
    let rig = two();
    let send = |packet: &CopterSimLoadPacket| {
        let requests = rig.emulator.stats().requests;
        rig.client.send_to(packet.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
        wait(|| rig.emulator.stats().requests > requests);
    };
    send(&CopterSimLoadPacket::by_name(2, CopterSimLoad::Model, "FixedWing").unwrap());
    assert_eq!(model(&rig, "2")["model"], "FixedWing");
    assert_eq!(model(&rig, "1"), Value::Null);
    send(&CopterSimLoadPacket::by_index(-1, CopterSimLoad::Model, 3));
    assert_eq!(
        (&model(&rig, "1")["model"], &model(&rig, "2")["model"]),
        (&json!("3"), &json!("3"))
    );
    send(&CopterSimLoadPacket::by_name(1, CopterSimLoad::Map, "Grasslands").unwrap());
    assert_eq!(rig.emulator.state()["map"], "Grasslands");
    send(&CopterSimLoadPacket::by_index(1, CopterSimLoad::Map, 0));
    assert_eq!(rig.emulator.state()["map"], "yard");
    let nobody = CopterSimLoadPacket::by_index(0, CopterSimLoad::Model, 0);
    rig.client.send_to(nobody.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    wait(|| rig.emulator.stats().refused == 1);
}

#[test]
fn every_recorded_request_for_a_vehicle_is_obeyed() {
    let rig = two();
    let mut count = 0;
    for vector in golden::load("coptersim_send") {
        let name = vector.name().to_owned();
        if !name.ends_with("/nomulticast") {
            continue;
        }
        let (_, bytes) = vector.sent()[0].clone();
        // Names that are cut off, and modes that the emulator does not have, are no maps and models of it.
        rig.client.send_to(&bytes, rig.emulator.coptersims()[0]).unwrap();
        count += 1;
        wait(|| {
            let stats = rig.emulator.stats();
            stats.requests + stats.refused == count
        });
    }
    assert!(count >= 14);
    assert_eq!(rig.emulator.stats().refused, 0);
}

#[test]
fn a_vehicle_can_be_put_into_the_air() {
    let rig = two_with(|o| {
        (o.autopilot, o.state_rate) = (Some(ControlMode::MavlinkFull), 50);
    });
    let vector = golden::load_one("coptersim_send", "reXyzRPYaw/multicast");
    rig.client.send_to(&vector.sent()[0].1, rig.emulator.coptersims()[0]).unwrap();
    let mut buffer = [0; 512];
    let euler = wait_for("the vehicle where it was put", || {
        let len = rig.states.recv(&mut buffer).unwrap();
        match TruthDatagram::parse(&buffer[..len]) {
            Ok(TruthDatagram::State(state)) if state.position == [1.0, 2.0, -3.0] => {
                Some(state.euler)
            }
            _ => None,
        }
    });
    for (found, degrees) in euler.iter().zip([10.0, 20.0, 30.0]) {
        near(found.to_degrees(), degrees, 1e-4, "roll, pitch, yaw");
    }
}

#[test]
fn a_vehicle_can_be_put_at_a_latitude_and_longitude_with_a_heading() {
    let rig = two_with(|o| {
        (o.autopilot, o.state_rate) = (Some(ControlMode::MavlinkFull), 50);
    });
    // The map centre is at 40.1540302, 116.2593683; a degree there is 111.0 km to the north and 85.2 km to the east.
    let request = CopterSimRequestPacket::new(1).at_geodetic(40.155_030_2, 116.260_368_3, 90.0);
    rig.client.send_to(request.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    let mut buffer = [0; 512];
    let (position, yaw) = wait_for("the vehicle where it was put", || {
        let len = rig.states.recv(&mut buffer).unwrap();
        match TruthDatagram::parse(&buffer[..len]) {
            Ok(TruthDatagram::State(state)) if state.copter_id == 1 && state.position[0] > 50.0 => {
                Some((state.position, state.euler[2]))
            }
            _ => None,
        }
    });
    near(position[0], 111.0, 0.2, "north");
    near(position[1], 85.2, 0.2, "east");
    near(position[2], -0.15, 0.3, "on the ground");
    near(yaw.to_degrees(), 90.0, 1e-3, "heading");
}
