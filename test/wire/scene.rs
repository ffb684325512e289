//! States, labels, attachments and blueprint inputs for the renderer, against everything the vendor's SDK sends; reports of the
//! renderer, against what it reads.
use crate::support::golden::{self, Vector, numbers};
use rfly_bridge::wire::*;
use serde_json::Value;
use zerocopy::IntoBytes;

/// Arguments of a call.
struct Args<'a>(&'a Value);

impl Args<'_> {
    fn int(&self, i: usize) -> i32 {
        i32::try_from(self.0[i].as_i64().unwrap()).unwrap()
    }

    fn float(&self, i: usize) -> f32 {
        self.0[i].as_f64().unwrap() as f32
    }

    /// A list, padded with zeros; a scalar is its first element.
    fn list<const N: usize>(&self, i: usize) -> [f32; N] {
        let given = if self.0[i].is_array() {
            numbers(&self.0[i])
        } else {
            vec![self.0[i].as_f64().unwrap()]
        };
        std::array::from_fn(|at| given.get(at).copied().unwrap_or_default() as f32)
    }

    fn height(&self, i: usize) -> Height {
        if self.0[i].as_bool().unwrap() { Height::Ground } else { Height::Given }
    }

    fn ints(&self, i: usize) -> Vec<i32> {
        let list = if self.0[i].is_array() {
            numbers(&self.0[i])
        } else {
            vec![self.0[i].as_f64().unwrap()]
        };
        list.into_iter().map(|x| x as i32).collect()
    }
}

fn bytes_of(packet: &impl Packet) -> Option<Vec<u8>> {
    Some(packet.as_bytes().to_vec())
}

/// The bytes that this crate makes of a vendor's call; `None` for calls that other tests check.
fn made(vector: &Vector) -> Option<Vec<u8>> {
    let args = Args(&vector["args"]["positional"]);
    match vector.function() {
        "sendUE4LabelID" => {
            let colour = args.list::<3>(3).map(|c| c as u8);
            let text = vector["args"]["positional"][1].as_str().unwrap();
            let style = (colour, args.float(2));
            bytes_of(&LabelPacket::new(Some(args.int(0)), LabelRow::Id, text, style, 1.0)?)
        }
        "sendUE4LabelMsg" => {
            let given = &vector["args"]["positional"];
            let text = given[1].as_str().unwrap();
            // Defaults of the vendor: size 30, red, for ever, appended.
            let size = given[2].as_f64().unwrap_or(30.0) as f32;
            let colour =
                if given[3].is_null() { [255, 0, 0] } else { args.list::<3>(3).map(|c| c as u8) };
            let duration = given[4].as_f64().unwrap_or(0.0) as f32;
            let id = Some(args.int(0)).filter(|id| *id > 0);
            let fits = &text[..text.len().min(120)];
            let label = LabelPacket::new(id, LabelRow::Append, fits, (colour, size), duration);
            if text.len() > 120 {
                let whole = LabelPacket::new(id, LabelRow::Append, text, (colour, size), duration);
                assert_eq!(whole, None, "the vendor cuts a text, here it is refused");
            }
            bytes_of(&label?)
        }
        "sendUE4Attatch" => {
            let lists = [0, 1, 2].map(|i| args.ints(i));
            let kind = |n| match n {
                0 => Attachment::None,
                1 => Attachment::Position,
                2 => Attachment::PositionYaw,
                _ => Attachment::Pose,
            };
            let at = |i: usize| (lists[0][i], lists[1][i], kind(lists[2][i]));
            let all: Vec<_> = (0..lists[0].len()).map(at).collect();
            assert_eq!(AttachPacket::new(&all).is_some(), all.len() <= 25);
            bytes_of(&AttachPacket::new(&all[..all.len().min(25)])?)
        }
        "sendUE4ExtAct" => {
            let (_, sent) = vector.sent().remove(0);
            let time = ExtActuatorsPacket::parse(&sent).unwrap().time.get();
            let values = args.list::<16>(1).map(f64::from);
            bytes_of(&ExtActuatorsPacket::new(args.int(0), time, values))
        }
        "sendUE4Pos2Ground" => {
            let state = object(&args).with_height(Height::Ground);
            bytes_of(&state)
        }
        "sendUE4PosScale" => bytes_of(&ScaledStatePacket::new(object(&args), args.list(5))),
        "sendUE4PosScale2Ground" => {
            let state = object(&args).with_height(Height::Ground);
            bytes_of(&ScaledStatePacket::new(state, args.list(5)))
        }
        "sendUE4PosSimple" => {
            let state =
                ObjectStatePacket::new(args.int(0), args.int(1), args.list(4), args.list(5));
            let time = vector["args"]["positional"][6].as_f64().unwrap();
            bytes_of(&MotorStatePacket::new(state, args.list(2), args.list(3), time))
        }
        "sendUE4PosScale100" => {
            let motors = numbers(&args.0[4]);
            let states = swarm(&args, 5, |i| [motors[i] as f32; 8]);
            bytes_of(&Swarm100Packet::new(&states, args.height(6)))
        }
        "sendUE4PosScalePwm20" => {
            let motors = numbers(&args.0[5]);
            let states = swarm(&args, 4, |i| std::array::from_fn(|m| motors[8 * i + m] as f32));
            bytes_of(&Swarm20Packet::new(&states, args.height(6)))
        }
        _ => None,
    }
}

fn object(args: &Args<'_>) -> ObjectStatePacket {
    ObjectStatePacket::new(args.int(0), args.int(1), args.list(3), args.list(4))
        .with_motor_rpm(args.float(2))
}

/// The states of a call for many; `scales` is the place of its sizes.
fn swarm(args: &Args<'_>, scales: usize, motors: impl Fn(usize) -> [f32; 8]) -> Vec<SwarmState> {
    let [ids, types, positions, eulers, scales] = [0, 1, 2, 3, scales].map(|i| numbers(&args.0[i]));
    let three = |list: &[f64], i: usize| std::array::from_fn(|axis| list[3 * i + axis]);
    let state = |i: usize| SwarmState {
        id: ids[i] as u16,
        vehicle_type: types[i] as u16,
        position: three(&positions, i).map(|x| x as f32),
        euler: three(&eulers, i).map(|x| x as f32),
        scale_percent: three(&scales, i).map(|x| x as u16),
        motor_rpm: motors(i),
    };
    (0..ids.len()).map(state).collect()
}

#[test]
fn every_recorded_scene_datagram_is_made_from_its_arguments_byte_for_byte() {
    let mut seen = 0;
    for vector in golden::load("ue4_send") {
        let Some(made) = made(&vector) else { continue };
        seen += 1;
        for (_, sent) in vector.sent() {
            assert_eq!(golden::hex(&made), golden::hex(&sent), "{}", vector.name());
        }
    }
    assert_eq!(seen, 16);
}

#[test]
fn point_mass_vehicles_are_drawn_by_the_bytes_that_the_vendor_sends() {
    let mut seen = 0;
    for vector in golden::load("ue4_send_other") {
        let name = vector.name();
        for (_, sent) in vector.sent() {
            if sent.len() != PointMassStatePacket::LEN {
                continue;
            }
            let packet = PointMassStatePacket::parse(&sent).unwrap();
            let args = Args(&vector["args"]["positional"]);
            let given = &vector["args"]["positional"];
            if given.as_array().unwrap().len() == 8 {
                let position = args.list::<3>(2).map(f64::from);
                let mut made = PointMassStatePacket::new(
                    args.int(0),
                    args.int(1),
                    position,
                    args.list(3),
                    args.list(4),
                );
                made.motor_rpm = args.list::<8>(5).map(Into::into);
                made.sim_time = given[6].as_f64().unwrap().into();
                assert_eq!(golden::hex(made.as_bytes()), golden::hex(&sent), "{name}");
            }
            assert_eq!(packet.vehicle_type.get(), args.int(1), "{name}");
            seen += 1;
        }
    }
    assert_eq!(seen, 9);
}

#[test]
fn a_swarm_packet_is_read_as_it_was_written_and_hides_the_rest() {
    let state = |id: u16| SwarmState {
        id,
        vehicle_type: 3,
        position: [f32::from(id), 2.0, -3.0],
        euler: [0.1, 0.2, 0.3],
        scale_percent: [100; 3],
        motor_rpm: [800.0; 8],
    };
    let states: Vec<_> = (1..=7).map(state).collect();
    let twenty = Swarm20Packet::new(&states, Height::Ground);
    assert_eq!(twenty.states().collect::<Vec<_>>(), states);
    assert_eq!(twenty.height(), Height::Ground);
    let hundred = Swarm100Packet::new(&states, Height::Given);
    assert_eq!(hundred.states().collect::<Vec<_>>(), states);
    assert_eq!(hundred.height(), Height::Given);
}

#[test]
fn labels_of_all_vehicles_are_removed_as_the_protocol_says() {
    let clear = LabelPacket::clear(None);
    assert_eq!((clear.copter_id.get(), clear.row.get()), (0, -1));
    assert!(clear.duration.get() < 0.0);
}

fn floats<const N: usize>(value: &Value) -> [f32; N] {
    let list = numbers(value);
    std::array::from_fn(|i| list[i] as f32)
}

/// The datagrams of a recording that are read, and how.
fn reports(vector: &Vector) -> Vec<Vec<u8>> {
    let packets = vector.input_packets();
    packets.into_iter().filter(|bytes| SceneReport::parse(bytes).is_ok()).collect()
}

#[test]
fn every_recorded_report_is_read_as_the_vendor_reads_it() {
    for vector in golden::load("recv_ue4msg") {
        let (name, decoded) = (vector.name().to_owned(), vector["decoded"].clone());
        let packets = reports(&vector);
        // The last of several about the same thing counts.
        let Some(last) = packets.last() else {
            let ignored =
                ["crash160_bad_checksum", "pod148_wrong_checksum_12345", "wrong_checksums"];
            assert!(ignored.contains(&&*name), "{name} is read");
            continue;
        };
        match SceneReport::parse(last).unwrap() {
            SceneReport::Vehicle(report) if decoded["inReqVect"].is_array() => {
                let wanted = decoded["inReqVect"].as_array().unwrap().last().unwrap();
                assert_eq!(report.copter_id.get(), wanted["copterID"], "{name}");
                assert_eq!(report.vehicle_type.get(), wanted["vehicleType"], "{name}");
                assert_eq!(report.crash_type.get(), wanted["CrashType"], "{name}");
                assert_eq!(report.sim_time.get(), wanted["runnedTime"], "{name}");
                assert_eq!(report.velocity.map(|x| x.get()), floats(&wanted["VelE"]), "{name}");
                assert_eq!(report.position.map(|x| x.get()), floats(&wanted["PosE"]), "{name}");
                assert_eq!(report.contact.map(|x| x.get()), floats(&wanted["CrashPos"]), "{name}");
                assert_eq!(report.target.map(|x| x.get()), floats(&wanted["targetPos"]), "{name}");
                assert_eq!(report.euler.map(|x| x.get()), floats(&wanted["AngEuler"]), "{name}");
                assert_eq!(
                    report.motor_rpm.map(|x| x.get()),
                    floats(&wanted["MotorRPMS"]),
                    "{name}"
                );
                assert_eq!(report.rays.map(|x| x.get()), floats(&wanted["ray"]), "{name}");
                assert_eq!(report.target_name(), wanted["CrashedName"].as_str().unwrap(), "{name}");
            }
            // The vendor stops listening.
            SceneReport::Vehicle(report) => assert!(!report.target_name().is_empty(), "{name}"),
            // The vendor's listener ended before it.
            SceneReport::ModelInputs(_) if decoded["inSilVect"].is_null() => {
                assert_eq!(decoded["aborted_with_unread_packets"], 1, "{name}");
            }
            SceneReport::ModelInputs(inputs) => {
                let wanted = &decoded["inSilVect"][0];
                assert_eq!(inputs.copter_id.get(), wanted["CopterID"], "{name}");
                assert_eq!(
                    inputs.floats.map(|x| x.get()),
                    floats(&wanted["inSILFLoats"]),
                    "{name}"
                );
                assert_eq!(
                    inputs.ints.map(|x| x.get() as f32),
                    floats(&wanted["inSILInts"]),
                    "{name}"
                );
            }
            SceneReport::Camera(camera) => {
                let wanted = decoded["CamDataVect"].as_array().unwrap().last().unwrap();
                assert_eq!(camera.seq_id, wanted["SeqID"], "{name}");
                assert_eq!(camera.type_id, wanted["TypeID"], "{name}");
                let size = [&wanted["DataWidth"], &wanted["DataHeight"]];
                assert_eq!(camera.size.map(Value::from), size.map(Value::clone), "{name}");
                assert_eq!(camera.fov_deg, golden::number(&wanted["CameraFOV"]) as f32, "{name}");
                check_pose(&name, &camera.pose, wanted);
                assert_eq!(camera.sim_time, golden::number(&wanted["timestmp"]), "{name}");
            }
            SceneReport::Entity(entity) => {
                let (list, named) = match &entity.name {
                    EntityName::Id(id) => ("CoptDataVect", Value::from(*id)),
                    EntityName::Object(text) => ("ObjDataVect", Value::from(text.clone())),
                };
                let wanted = decoded[list].as_array().unwrap().last().unwrap();
                let key = if list == "ObjDataVect" { "ObjName" } else { "CopterID" };
                assert_eq!(named, wanted[key], "{name}");
                check_pose(&name, &entity.pose, wanted);
                assert_eq!(entity.centre, floats(&wanted["boxOrigin"]), "{name}");
                assert_eq!(entity.half_size, floats(&wanted["BoxExtent"]), "{name}");
                assert_eq!(entity.sim_time, golden::number(&wanted["timestmp"]), "{name}");
            }
            SceneReport::Pod(pod) => {
                let wanted = &decoded["CamDataVect1"][0];
                assert_eq!(pod.seq_id, wanted["SeqID"], "{name}");
                assert_eq!(pod.bitmask, wanted["bitmask"], "{name}");
                assert_eq!(pod.position, floats(&wanted["SensorPosXYZ"]), "{name}");
            }
            // The vendor's listener dies of one, and ignores one without a target.
            SceneReport::Collision(crash) => {
                assert_eq!(crash.target_id.get() >= 0, name == "crash12_kills_listener", "{name}");
            }
        }
    }
}

fn check_pose(name: &str, pose: &DescribedPose, wanted: &Value) {
    assert_eq!(pose.position, floats(&wanted["PosUE"]), "{name}");
    assert_eq!(pose.euler, floats(&wanted["angEuler"]), "{name}");
    // Where none is sent, the vendor has zeros.
    let quaternion = pose.quaternion.unwrap_or_default();
    assert_eq!(quaternion, floats(&wanted["angQuat"]), "{name}");
}
