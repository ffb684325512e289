//! Objects that state packets spawn: the vendor's recorded bytes, and what sensors see of them.
use super::rig::{Rig, block, near, pose, still, wait};
use crate::support::golden;
use crate::support::wait::wait_for;
use nalgebra::{Rotation3, Vector3};
use rfly_bridge::emulator::world::{Pose, Scene, World};
use rfly_bridge::emulator::{CloudFormat, EmulatorOptions, Faults, class_colour};
use rfly_bridge::wire::{
    AttachPacket, Attachment, BoxEntry, Height, IntoBytes as _, ListView, ObjectStatePacket,
    Packet as _, RangeRecord, ScaledStatePacket, SensorRequest, TargetEntry, console_command,
};
use serde_json::Value;

/// Nothing but the ground.
fn nothing() -> World {
    World { scene: Scene::of(&[]), vehicles: Vec::new(), walkers: Vec::new() }
}

pub(super) fn command(rig: &Rig, text: &str) {
    let before = rig.emulator.stats().commands;
    let mut buffer = [0; 256];
    rig.to_window(console_command(text, &mut buffer).unwrap());
    wait(|| rig.emulator.stats().commands > before);
}

/// Sends a packet and waits until it is obeyed.
pub(super) fn tell(rig: &Rig, packet: &[u8]) {
    let before = rig.emulator.stats().scene_packets;
    rig.to_window(packet);
    wait(|| rig.emulator.stats().scene_packets > before);
}

/// What a range finder at `position` measures that looks along a yaw and a pitch in degrees.
pub(super) fn range(rig: &Rig, position: [f64; 3], [pitch, yaw]: [f32; 2]) -> RangeRecord {
    let request = SensorRequest {
        mount_type: 2,
        position: position.map(|x| x as f32),
        euler: [0.0, pitch, yaw],
        ..rig.request(1, 5)
    };
    *RangeRecord::parse(&rig.shoot(&request).payload).unwrap()
}

/// Where a ray enters a box that is turned by roll, pitch and yaw: arithmetic of its own.
fn to_box(
    from: [f64; 3],
    toward: [f64; 3],
    centre: [f64; 3],
    [roll, pitch, yaw]: [f64; 3],
    half: [f64; 3],
) -> f64 {
    let back = Rotation3::from_euler_angles(roll, pitch, yaw).inverse();
    let o = back * (Vector3::from(from) - Vector3::from(centre));
    let d = back * Vector3::from(toward);
    let ends = (0..3).map(|i| {
        let (a, b) = ((-half[i] - o[i]) / d[i], (half[i] - o[i]) / d[i]);
        (a.min(b), a.max(b))
    });
    let (enter, leave) =
        ends.fold((f64::MIN, f64::MAX), |(enter, leave), (a, b)| (enter.max(a), leave.min(b)));
    assert!(enter < leave, "the ray passes by");
    enter
}

/// Place and angles of every recorded state.
const PLACE: [f64; 3] = [1.5, -2.25, -8.125];
const ANGLES: [f64; 3] = [0.1, -0.2, 1.57];
const QUADROTOR: [f64; 3] = [0.4, 0.4, 0.15];

#[test]
fn each_of_the_vendors_state_packets_spawns_an_object_that_is_seen_and_can_be_deleted() {
    // File, vector, id, half the size of the documented model, whether it stands on the ground.
    type Row = (&'static str, &'static str, u16, [f64; 3], bool);
    let rows: [Row; 10] = [
        ("ue4_send", "pos", 1, QUADROTOR, false),
        ("ue4_send", "pos_new", 2, [0.6, 0.9, 0.15], false),
        ("ue4_send", "pos2ground", 3, [0.2, 0.3, 0.9], true),
        ("ue4_send", "pos_scale", 4, [0.5, 1.0, 1.5], false),
        ("ue4_send", "pos_scale2ground", 5, [0.8, 0.8, 0.3], true),
        ("ue4_send", "pos_full", 6, QUADROTOR, false),
        ("ue4_send", "pos_simple", 7, QUADROTOR, false),
        ("ue4_send_other", "px4_sendUE4PosNew", 1, QUADROTOR, false),
        ("ue4_send_other", "vehicleapi_sendUE4PosNew_104", 1, QUADROTOR, false),
        ("ue4_send_other", "vehicleapi_all_windows_6", 1, QUADROTOR, false),
    ];
    let rig = Rig::start(nothing());
    for (file, name, id, half, grounded) in rows {
        let sent = golden::load_one(file, name).sent();
        tell(&rig, &sent[0].1);
        let (mut place, mut angles) = (PLACE, ANGLES);
        if name == "vehicleapi_all_windows_6" {
            (place, angles) = ([0.0; 3], [0.0; 3]); // that call gives no place
        }
        if grounded {
            place[2] = -half[2];
        }
        let from = [place[0], place[1] - 5.0, place[2]];
        let seen = range(&rig, from, [0.0, 90.0]);
        assert_eq!(seen.copter_id.get(), i32::from(id), "{name}");
        let expected = to_box(from, [0.0, 1.0, 0.0], place, angles, half);
        near(seen.distance.get().into(), expected, 1e-4, name);
        let depth = SensorRequest {
            mount_type: 2,
            position: from.map(|x| x as f32),
            euler: [0.0, 0.0, 90.0],
            width: 65,
            height: 49,
            ..rig.request(2, 2)
        };
        let image = rig.shoot(&depth).payload;
        let centre = 2 * (24 * 65 + 32);
        let counts = u16::from_le_bytes([image[centre], image[centre + 1]]);
        near(f64::from(counts) / 1e3, expected, 6e-4, "depth");
        command(&rig, &format!("RflyDelVehicles {id}"));
        assert_eq!(range(&rig, from, [0.0, 90.0]).copter_id.get(), -1, "{name}");
    }
    assert_eq!(rig.emulator.stats().refused, 0);
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(golden::number).collect()
}

#[test]
fn packets_for_many_place_every_object_where_the_vendors_call_put_it() {
    let rig = Rig::start(nothing());
    for name in ["scale100", "pwm20", "scale100_short_lists"] {
        let vector = golden::load_one("ue4_send", name);
        tell(&rig, &vector.sent()[0].1);
        let told = &vector["args"]["positional"];
        let (ids, places) = (numbers(&told[0]), numbers(&told[2]));
        let state = rig.emulator.state();
        let objects = state["objects"].as_array().unwrap();
        assert_eq!(objects.len(), ids.len(), "{name}");
        for ((object, id), place) in objects.iter().zip(&ids).zip(places.chunks(3)) {
            assert_eq!(object["id"].as_f64(), Some(*id));
            let centre = numbers(&object["centre"]);
            assert_eq!(&centre[..2], &place[..2], "{name} {id}");
            let half = numbers(&object["half"])[2];
            let height = if name == "scale100_short_lists" { -half } else { place[2] };
            near(centre[2], height, 1e-6, name);
        }
        // One of many is seen as a single one is.
        let (id, place) = (ids[1], &places[3..6]);
        command(&rig, &format!("RflyDelVehicles {}", list_without(&ids, id)));
        let height = numbers(&rig.emulator.state()["objects"][0]["centre"])[2];
        let from = [place[0] - 8.0, place[1], height];
        assert_eq!(f64::from(range(&rig, from, [0.0; 2]).copter_id.get()), id, "{name}");
        command(&rig, "RflyChangeMapbyName Grasslands");
    }
}

/// At most as many ids as fit into a command.
fn list_without(ids: &[f64], kept: f64) -> String {
    let others = ids.iter().filter(|id| **id != kept).take(60);
    others.map(f64::to_string).collect::<Vec<_>>().join(",")
}

fn cube(id: i32, place: [f32; 3]) -> ObjectStatePacket {
    ObjectStatePacket::new(id, 150, place, [0.0; 3])
}

#[test]
fn a_spawned_box_is_in_lidar_segmentation_boxes_targets_and_reports() {
    let reports = super::rig::socket();
    let port = reports.local_addr().unwrap().port();
    let change = |o: &mut EmulatorOptions| {
        o.ports.report = port;
        o.cloud_format = CloudFormat::I16;
    };
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let rig = Rig::with(world, change, Faults::default());
    tell(&rig, cube(1000, [6.0, 0.0, -2.0]).as_bytes());

    let lidar = SensorRequest {
        width: 4,
        height: 1,
        other_params: [
            50.0, 0.0, -2.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ],
        ..rig.request(1, 20)
    };
    let cloud = rig.shoot(&lidar).payload;
    let points = cloud[28..].chunks_exact(8).map(|point| {
        let word = |i: usize| i16::from_le_bytes([point[2 * i], point[2 * i + 1]]);
        (f64::from(word(0)) * 50.0 / 32767.0, word(3))
    });
    for (x, class) in points {
        near(x, 5.5, 2e-3, "front of the box");
        assert_eq!(class, 238, "200 + 150 modulo 56");
    }

    let colours = rig.shoot(&rig.request(2, 4)).payload;
    let centre = 3 * (24 * 64 + 32);
    assert_eq!(colours[centre..centre + 3], class_colour(238));
    command(&rig, "RflySetStencilValueByCopterID 1000 7");
    let colours = rig.shoot(&rig.request(2, 4)).payload;
    assert_eq!(colours[centre..centre + 3], class_colour(7));

    let boxes = rig.shoot(&rig.request(3, 30)).payload;
    let boxes = ListView::<BoxEntry>::parse(&boxes).unwrap();
    let ids: Vec<i32> = boxes.entries().iter().map(|e| e.copter_id.get()).collect();
    assert_eq!(ids, [1000]);
    let targets = rig.shoot(&rig.request(4, 31)).payload;
    let targets = ListView::<TargetEntry>::parse(&targets).unwrap();
    assert_eq!(targets.entries()[0].copter_id.get(), 1000);

    command(&rig, "RflyReqObjData 1 1000 0");
    let mut buffer = [0; 256];
    let len = reports.recv(&mut buffer).unwrap();
    assert_eq!(len, 80);
    let float = |at: usize| f32::from_le_bytes(buffer[at..at + 4].try_into().unwrap());
    assert_eq!([float(48), float(52), float(56)], [6.0, 0.0, -2.0]);
    assert_eq!([float(60), float(64), float(68)], [0.5; 3]);
}

#[test]
fn the_latest_packet_moves_scales_and_changes_an_object() {
    let rig = Rig::start(nothing());
    let seen = |rig: &Rig| f64::from(range(rig, [0.0, 0.0, -1.0], [0.0; 2]).distance.get());
    tell(&rig, cube(1, [5.0, 0.0, -1.0]).as_bytes());
    near(seen(&rig), 4.5, 1e-5, "spawned");
    tell(&rig, cube(1, [8.0, 0.0, -1.0]).as_bytes());
    near(seen(&rig), 7.5, 1e-5, "moved");
    let scaled = ScaledStatePacket::new(cube(1, [8.0, 0.0, -1.0]), [4.0, 1.0, 1.0]);
    tell(&rig, scaled.as_bytes());
    near(seen(&rig), 6.0, 1e-5, "four times as long");
    command(&rig, "RflyChangeVehicleSize 1 2");
    near(seen(&rig), 4.0, 1e-5, "twice as large");
    command(&rig, "RflyChange3DModel 1 60");
    near(seen(&rig), 8.0 - 0.15 * 8.0, 1e-5, "a lamp of that size");
    command(&rig, "RflySetVehiclePosAng 1 0 9 0 -1 0 0 0");
    near(seen(&rig), 9.0 - 0.15 * 8.0, 1e-5, "put elsewhere");
    command(&rig, "RflyMoveVehiclePosAng 1 0 1 0 0 0 0 0");
    near(seen(&rig), 10.0 - 0.15 * 8.0, 1e-5, "one metre further");
    command(&rig, "RflyDisableVeMove 1 1");
    tell(&rig, cube(1, [3.0, 0.0, -1.0]).as_bytes());
    near(seen(&rig), 10.0 - 0.15 * 8.0, 1e-5, "it ignores packets");
    command(&rig, "RflyDisableVeMove 1 0");
    command(&rig, "RflySetPosScale 2");
    tell(&rig, cube(1, [3.0, 0.0, -0.5]).as_bytes());
    near(seen(&rig), 6.0 - 0.15 * 2.0, 1e-5, "twice as far away");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let rig = Rig::start(nothing());
    let wrong = [
        cube(0, [0.0; 3]),
        cube(-3, [0.0; 3]),
        cube(70_000, [0.0; 3]),
        cube(1, [f32::NAN, 0.0, 0.0]),
    ];
    for (packet, count) in wrong.iter().zip(1..) {
        rig.to_window(packet.as_bytes());
        wait(|| rig.emulator.stats().refused == count);
    }
    let mut tag = cube(1, [0.0; 3]);
    tag.checksum = 1_234_567_892.into();
    rig.to_window(tag.as_bytes());
    wait(|| rig.emulator.stats().refused == 5);
    assert_eq!(rig.emulator.state()["objects"], serde_json::json!([]));
}

#[test]
fn an_object_that_fits_to_the_ground_stands_on_the_slope() {
    let world = World { scene: Scene::yard(), ..nothing() };
    let rig = Rig::start(world);
    // The slope begins at north 14 m and rises by 12 degrees.
    let place = [18.0, 16.0, -30.0];
    tell(&rig, cube(5, place).with_height(Height::Ground).as_bytes());
    let height = |rig: &Rig| numbers(&rig.emulator.state()["objects"][0]["centre"])[2];
    let rise = 4.0 * 12f64.to_radians().tan();
    near(height(&rig), -rise - 0.5, 1e-6, "on the slope");
    tell(&rig, cube(5, [0.0, 10.0, -30.0]).with_height(Height::Ground).as_bytes());
    near(height(&rig), -0.5, 1e-6, "on the ground");
}

#[test]
fn an_attached_object_follows_its_carrier_by_kind() {
    let rig = Rig::start(nothing());
    let carrier = |yaw: f32, roll: f32, place| {
        let packet = ObjectStatePacket::new(1, 3, place, [roll, 0.0, yaw]);
        tell(&rig, packet.as_bytes());
    };
    let half_turn = std::f32::consts::PI;
    let moved: [(Attachment, [f64; 3]); 4] = [
        (Attachment::None, [2.0, 0.0, -6.0]),
        (Attachment::Position, [12.0, 0.0, -6.0]),
        (Attachment::PositionYaw, [8.0, 0.0, -6.0]),
        (Attachment::Pose, [8.0, 0.0, -4.0]),
    ];
    for (kind, expected) in moved {
        carrier(0.0, 0.0, [0.0, 0.0, -5.0]);
        tell(&rig, AttachPacket::new(&[(2, 1, Attachment::None)]).unwrap().as_bytes());
        tell(&rig, cube(2, [2.0, 0.0, -6.0]).as_bytes());
        tell(&rig, AttachPacket::new(&[(2, 1, kind)]).unwrap().as_bytes());
        let centre = || numbers(&rig.emulator.state()["objects"][1]["centre"]);
        assert_eq!(centre(), [2.0, 0.0, -6.0], "{kind:?}: it stays where it is");
        // Half a turn of yaw puts it behind, and half a turn of roll below.
        carrier(half_turn, half_turn, [10.0, 0.0, -5.0]);
        for (found, expected) in centre().into_iter().zip(expected) {
            near(found, expected, 1e-5, &format!("{kind:?}"));
        }
    }
    // Packets of what is attached are relative to the carrier.
    tell(&rig, cube(2, [3.0, 0.0, 0.0]).as_bytes());
    let centre = numbers(&rig.emulator.state()["objects"][1]["centre"]);
    near(centre[0], 7.0, 1e-5, "3 m ahead of a carrier that looks south");
}

#[test]
fn the_vendors_attachments_are_obeyed() {
    let rig = Rig::start(nothing());
    for name in ["attach_scalar", "attach_lists", "attach_26_truncated"] {
        tell(&rig, &golden::load_one("ue4_send", name).sent()[0].1);
    }
    let state = rig.emulator.state();
    let attached = state["attached"].as_object().unwrap();
    assert_eq!(attached.len(), 25);
    assert_eq!(attached["25"]["carrier"], 100);
}

#[test]
fn coptersims_own_vehicle_is_where_another_sender_moves_it_until_that_one_stops() {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3]), pose([6.0, 0.0, -2.0], [0.0; 3])], &[]);
    let rig = Rig::start(world);
    let own = super::rig::socket();
    let mut request = rig.request(1, 5);
    request.send_protocol.port = own.local_addr().unwrap().port();
    rig.send(&request);
    let told = ObjectStatePacket::new(2, 3, [9.0, 0.0, -2.0], [0.0; 3]);
    tell(&rig, told.as_bytes());
    let first = rig.emulator.sim_time();
    let range = || {
        let frame = super::rig::frame(&own);
        let record = RangeRecord::parse(&frame.payload).unwrap();
        (frame.sim_time, f64::from(record.distance.get()))
    };
    wait_for("frames of a second and more, of states that come", || {
        tell(&rig, told.as_bytes());
        let last = rig.emulator.sim_time();
        let (time, distance) = range();
        if time > first && time < last {
            near(distance, 8.6, 1e-5, "where the packet put it");
        }
        (time > first + 1.5).then_some(())
    });
    let last = rig.emulator.sim_time();
    wait_for("frames after the last state", || {
        let (time, distance) = range();
        if time > last + 1.0 {
            near(distance, 5.6, 1e-5, "where CopterSim has it");
            return Some(());
        }
        None
    });
}

#[test]
fn a_vehicle_that_ignores_states_stays_and_can_be_put_elsewhere() {
    let poses: [Pose; 2] = [pose([0.0, 0.0, -2.0], [0.0; 3]), pose([6.0, 0.0, -2.0], [0.0; 3])];
    let rig = Rig::start(still(&poses, &[block([0.0, 20.0, -1.0], [1.0; 3])]));
    command(&rig, "RflySetVehiclePosAng 2 0 9 0 -2 0 0 0");
    let seen = || f64::from(range(&rig, [0.0, 0.0, -2.0], [0.0; 2]).distance.get());
    // The vehicle is put back at once. The range finder looks from inside of vehicle 1, which no ray from inside meets.
    near(seen(), 5.6, 1e-5, "CopterSim moves it");
    command(&rig, "RflyDisableVeMove 2 1");
    command(&rig, "RflySetVehiclePosAng 2 0 9 0 -2 0 0 0");
    near(seen(), 8.6, 1e-5, "nobody moves it back");
    command(&rig, "RflyDisableVeMove 2 0");
    near(seen(), 5.6, 1e-5, "CopterSim moves it again");
}

#[test]
fn groups_take_states_as_windows_do() {
    let world = nothing();
    let change = |o: &mut EmulatorOptions| {
        o.multicast = true;
        (o.ports.host_windows, o.ports.network_windows, o.ports.requests) =
            (28_608, 28_609, 28_602);
    };
    let rig = Rig::with(world, change, Faults::default());
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let socket = socket2::Socket::from(socket);
    socket.set_multicast_if_v4(&std::net::Ipv4Addr::LOCALHOST).unwrap();
    let socket: std::net::UdpSocket = socket.into();
    for (id, group) in [(1, "224.0.0.11:28608"), (2, "224.0.0.10:28609")] {
        socket.send_to(cube(id, [5.0, 0.0, -1.0]).as_bytes(), group).unwrap();
    }
    wait(|| rig.emulator.stats().scene_packets >= 2);
}
