//! Messages for models, against every datagram that the vendor's SDK sends.
use crate::support::golden::{self, Vector, numbers};
use rfly_bridge::config::params::FaultNumbers;
use rfly_bridge::frames::WorldConvention;
use rfly_bridge::model::{self, Datagrams, FaultTime, Faults, InputError};
use rfly_bridge::msgs::geometry_msgs::msg::{Point, Vector3};
use rfly_bridge::msgs::rfly_bridge_msgs::msg::{
    CustomData, ModelCommand, ModelDoubles, ModelInputs, ModelParameters, ModelRays, ModelUorb,
    ModelValues,
};
use rfly_bridge::msgs::rfly_bridge_msgs::srv::InjectFaultRequest;
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::Surroundings;
use serde_json::Value;
use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

const ENU: WorldConvention = WorldConvention::Enu;

/// A list, padded with zeros or cut.
fn list<const N: usize>(value: &Value) -> [f64; N] {
    let given = numbers(value);
    std::array::from_fn(|i| given.get(i).copied().unwrap_or_default())
}

fn floats<const N: usize>(value: &Value) -> [f32; N] {
    list(value).map(|x| x as f32)
}

fn ints(value: &Value) -> [i32; 8] {
    list(value).map(|x| x as i32)
}

fn number(value: &Value) -> u8 {
    u8::try_from(value.as_u64().unwrap()).unwrap()
}

/// A vector in NED, as a ROS user gives it.
fn enu(value: &Value) -> [f64; 3] {
    let [north, east, down] = list(value);
    [east, north, -down]
}

fn vector3(value: &Value) -> Vector3 {
    let [x, y, z] = enu(value);
    Vector3 { x, y, z }
}

/// The datagrams of vehicle 2 for the message that has the arguments of a recorded call. `None`: the SDK writes vehicle -1
/// there, or sends nothing.
fn made(vector: &Vector) -> Option<Result<Datagrams, InputError>> {
    let args = &vector["args"]["positional"];
    let last = |i: usize| args[i].as_i64() == Some(2);
    let values = || numbers(&args[0]);
    Some(match vector.function() {
        "sendCustomData" if args[0] == 2 => {
            model::custom_data(2, &CustomData { checksum: 0, data: list(&args[1]) })
        }
        "sendSILIntFloat" if last(2) => {
            model::sil(2, &ModelInputs { set: 0, ints: ints(&args[0]), floats: floats(&args[1]) })
        }
        "sendInCtrlExt" if last(3) => model::sil(
            2,
            &ModelInputs { set: number(&args[2]), ints: ints(&args[0]), floats: floats(&args[1]) },
        ),
        "sendSILIntDouble" if last(2) => model::doubles(
            2,
            &ModelDoubles {
                values: [numbers(&args[0]), numbers(&args[1])].concat(),
                ..ModelDoubles::default()
            },
        ),
        "sendInDoubCtrls" if last(1) => {
            model::doubles(2, &ModelDoubles { values: values(), ..ModelDoubles::default() })
        }
        "sendInCtrlExtDoub" if last(2) => model::doubles(
            2,
            &ModelDoubles { set: number(&args[1]), wait: args[3] == false, values: values() },
        ),
        "sendInitInParams" if last(2) => {
            let mut values = numbers(&args[1]);
            values.resize(32, 0.0);
            let mask = args[0].as_u64().unwrap();
            model::initial_parameters(2, &ModelParameters { mask, values })
        }
        "sendDynModiParams" if last(2) => {
            let mask = args[0].as_u64().unwrap();
            let values = numbers(&args[1]);
            model::dynamic_parameters(2, &ModelParameters { mask, values })
        }
        "sendModelInParams" if last(2) => {
            let request = InjectFaultRequest {
                kind: "parameters".to_owned(),
                mask: u32::try_from(args[0].as_u64().unwrap()).unwrap(),
                parameters: numbers(&args[1]),
                ..InjectFaultRequest::default()
            };
            let now = FaultTime { sim: None, host: Duration::ZERO, stamp: RosTime(0) };
            let sent = Faults::new(2, FaultNumbers::Sdk).inject(&request, now);
            Ok(vec![sent.unwrap().unwrap()])
        }
        "sendUE2Coptersim" if last(1) => model::renderer(2, &ModelValues { values: values() }),
        "sendColl20d" if last(1) => {
            model::surroundings(2, Surroundings::Collision, &ModelValues { values: values() })
        }
        "sendTerrIn15d" if last(1) => {
            model::surroundings(2, Surroundings::Terrain, &ModelValues { values: values() })
        }
        "sendFloatsColl" if last(4) => {
            let [front, back, left, right, up, down] = floats(&args[2]);
            let [x, y, z] = enu(&args[3]);
            let message = ModelRays {
                size: args[0].as_f64().unwrap() as f32,
                velocity: vector3(&args[1]),
                position: Point { x, y, z },
                front,
                back,
                left,
                right,
                up,
                down,
            };
            model::rays(2, ENU, &message)
        }
        _ => return None,
    })
}

#[test]
fn every_recorded_input_is_made_from_its_message_byte_for_byte() {
    let mut seen = 0;
    for vector in golden::load("dll_send") {
        let Some(made) = made(&vector) else {
            continue;
        };
        let made: Vec<_> = made.unwrap().iter().map(|b| golden::hex(b)).collect();
        let sent: Vec<_> = vector.sent().iter().map(|(_, b)| golden::hex(b)).collect();
        assert_eq!(made, sent, "{}", vector.name());
        seen += 1;
    }
    assert_eq!(seen, 20, "all that name vehicle 2");
}

#[test]
fn up_to_140_doubles_go_over_the_extended_inputs_as_the_vendor_cuts_them() {
    let mut seen = 0;
    for vector in golden::load("dll_send") {
        if vector.function() != "sendInCtrlExtAll" {
            continue;
        }
        let message = ModelDoubles {
            set: 255,
            wait: false,
            values: numbers(&vector["args"]["positional"][0]),
        };
        // The vendor's object is vehicle 1.
        match (message.values.len(), model::doubles(1, &message)) {
            (..=140, made) => {
                let made: Vec<_> = made.unwrap().iter().map(|b| golden::hex(b)).collect();
                let sent: Vec<_> = vector.sent().iter().map(|(_, b)| golden::hex(b)).collect();
                assert_eq!(made, sent, "{}", vector.name());
            }
            // The vendor cuts it.
            (_, made) => assert_eq!(made.unwrap_err().cause.name(), "too_long"),
        }
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn values_for_a_modified_autopilot_are_those_of_the_vendor() {
    let mut seen = 0;
    for (file, function) in
        [("coptersim_send", "sendPX4UorbRflyCtrl"), ("redis_send", "sendPX4UorbRflyCtrl")]
    {
        for vector in golden::load(file) {
            if vector.function() != function {
                continue;
            }
            let sent = golden::unhex(vector["hex"].as_str().unwrap());
            let word = |at: usize| u32::from_le_bytes(sent[at..at + 4].try_into().unwrap());
            let vehicle = u16::try_from(word(4)).unwrap();
            let message = ModelUorb {
                modes: word(8),
                flags: word(12),
                data: floats(&vector["args"]["positional"][0]),
            };
            let made = model::uorb(vehicle, &message).unwrap();
            assert_eq!(golden::hex(&made[0]), golden::hex(&sent), "{}", vector.name());
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn commands_in_axes_of_ros_have_the_numbers_that_the_vendor_computes_in_ned() {
    for vector in golden::load("rflysimcp") {
        let args = &vector["args"];
        let fourth = args.get(3).and_then(Value::as_f64);
        let [x, y, z] = list(args);
        // The simulator's yaw is clockwise from north.
        let yaw = FRAC_PI_2 - fourth.unwrap_or_default();
        let yaw_rate = -fourth.unwrap_or_default();
        let message = ModelCommand {
            value: vector3(args),
            yaw,
            has_yaw_rate: fourth.is_some(),
            yaw_rate,
            ..ModelCommand::default()
        };
        let message = match vector.name() {
            "getPosNED" => message,
            "getPosLocal" => ModelCommand { kind: 1, ..message },
            "getVelNedNoYaw" | "getVelNED" => ModelCommand { kind: 2, ..message },
            // Forward, right, down.
            "getVelFRD" => ModelCommand { kind: 3, value: Vector3 { x, y: -y, z: -z }, ..message },
            other => panic!("unknown function {other}"),
        };
        let made = model::command(7, ENU, &message).unwrap();
        assert_eq!(made[0].len(), 232);
        let doubles = made[0][8..].chunks_exact(8);
        let doubles: Vec<_> = doubles.map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
        let wanted = numbers(&vector["decoded"]["inSILDoub28"]);
        assert_eq!(doubles, wanted, "{}", vector.name());
    }
}

#[test]
fn what_a_model_could_not_use_is_refused_with_what_would_be_right() {
    let doubles = |set, wait, count| ModelDoubles { set, wait, values: vec![1.0; count] };
    let parameters = |mask, count| ModelParameters { mask, values: vec![1.0; count] };
    let wrong = |made: Result<Datagrams, InputError>| made.unwrap_err().text;
    let texts = [
        wrong(model::doubles(1, &doubles(6, false, 1))),
        wrong(model::doubles(1, &doubles(0, true, 1))),
        wrong(model::doubles(1, &doubles(0, false, 29))),
        wrong(model::doubles(1, &doubles(255, false, 0))),
        wrong(model::initial_parameters(1, &parameters(1 << 32, 1))),
        wrong(model::dynamic_parameters(1, &parameters(0b111, 2))),
        wrong(model::renderer(1, &ModelValues { values: vec![f64::NAN] })),
        wrong(model::surroundings(
            1,
            Surroundings::Terrain,
            &ModelValues { values: vec![0.0; 16] },
        )),
        wrong(model::surroundings(1, Surroundings::Collision, &ModelValues { values: vec![1e39] })),
        wrong(model::command(1, ENU, &ModelCommand { kind: 4, ..ModelCommand::default() })),
        wrong(model::command(1, ENU, &ModelCommand { yaw_rate: 1e39, ..ModelCommand::default() })),
        wrong(model::sil(1, &ModelInputs { set: 9, ..ModelInputs::default() })),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn parameters_may_be_given_one_per_bit_or_all() {
    let all: Vec<_> = (0..64).map(f64::from).collect();
    let mask = 1 << 3 | 1 << 40;
    let whole = ModelParameters { mask, values: all };
    let chosen = ModelParameters { mask, values: vec![3.0, 40.0] };
    let value =
        |made: &[u8], i: usize| f64::from_le_bytes(made[16 + 8 * i..][..8].try_into().unwrap());
    for message in [whole, chosen] {
        let made = &model::dynamic_parameters(1, &message).unwrap()[0];
        assert_eq!([value(made, 3), value(made, 40)], [3.0, 40.0]);
    }
}
