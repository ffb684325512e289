//! Console commands, labels and settings: the vendor's recorded bytes, and what they change.
use super::rig::{Rig, block, near, pose, socket, still, wait};
use super::stage::{command, range, tell};
use crate::support::golden;
use rfly_bridge::emulator::{EmulatorOptions, Faults, class_colour};
use rfly_bridge::wire::{IntoBytes as _, ObjectStatePacket, SensorRequest};
use serde_json::{Value, json};

fn rig() -> Rig {
    Rig::start(still(
        &[pose([0.0, 0.0, -2.0], [0.0; 3])],
        &[block([10.0, 0.0, -2.0], [1.0, 1.0, 2.0])],
    ))
}

/// Plays a recorded call; returns how many datagrams it has.
fn play(rig: &Rig, name: &str) -> u64 {
    let sent = golden::load_one("ue4_send", name).sent();
    for (_, bytes) in &sent {
        let stats = rig.emulator.stats();
        let before = stats.commands + stats.scene_packets;
        rig.to_window(bytes);
        wait(|| {
            let stats = rig.emulator.stats();
            stats.commands + stats.scene_packets > before
        });
    }
    sent.len() as u64
}

#[test]
fn every_recorded_command_and_packet_of_the_vendors_client_is_understood() {
    let rig = rig();
    // Objects that the commands name.
    for id in [5, 1000, 1001] {
        tell(&rig, ObjectStatePacket::new(id, 3, [0.0, 30.0, -2.0], [0.0; 3]).as_bytes());
    }
    // Texts that are no commands, and maps that the emulator does not have.
    let unknown = ["cmd_xxx", "cmd_yyy", "cmd_zzz", "cmd__0", "cmd_net_91"];
    let no_map = ["cmd_RflyChangeMapbyID_19"];
    let (mut unknown_count, mut wrong_count) = (0, 0);
    for vector in golden::load("ue4_send") {
        let name = vector.name();
        // A map ends all that was spawned.
        if name.contains("ChangeMapbyNam") || name.contains("DelVehicles") {
            continue;
        }
        if vector.sent().is_empty() || name == "cmd_all_windows" || name == "cmd_net" {
            continue;
        }
        let count = play(&rig, name);
        if unknown.iter().any(|start| name.starts_with(start)) {
            unknown_count += count;
        } else if no_map.contains(&name) || name == "cmd_RflyChangeViewKeyC_24" {
            wrong_count += count;
        }
        let stats = rig.emulator.stats();
        assert_eq!(stats.refused, 0, "{name}");
        assert_eq!(stats.unknown_commands, unknown_count, "{name}");
        assert_eq!(stats.wrong_commands, wrong_count, "{name}");
    }
    assert!(unknown_count >= 5);
}

#[test]
fn recorded_labels_and_messages_are_kept() {
    let rig = rig();
    play(&rig, "label_id");
    play(&rig, "label_msg");
    play(&rig, "cmd_RflyShowTextTime_25");
    play(&rig, "cmd_RflySetIDLabel_34");
    play(&rig, "cmd_RflySetMsgLabel_40");
    let state = rig.emulator.state();
    let label = |text: &str, colour: [u8; 3], size: f64| json!({"text": text, "colour": colour, "size": size});
    assert_eq!(state["messages"], json!(["hello"]));
    assert_eq!(state["labels"]["1"]["id"], label("UAV-1", [255, 0, 0], 30.0));
    assert_eq!(state["labels"]["2"]["rows"], json!([label("hello world", [0, 255, 128], 20.0)]));
    assert_eq!(state["labels"]["1000"]["id"], label("Hi", [255, 255, 0], 20.0));
    assert_eq!(state["labels"]["1000"]["rows"], json!([label("Hi", [255, 0, 255], 20.0)]));
    play(&rig, "label_msg_default_all_windows");
    assert_eq!(rig.emulator.state()["labels"]["0"]["rows"][0]["text"], "abc");
}

#[test]
fn rows_of_labels_are_appended_changed_and_removed() {
    use rfly_bridge::wire::{LabelPacket, LabelRow};
    let rig = rig();
    let put = |row, text: &str, seconds: f32| {
        let packet = LabelPacket::new(Some(7), row, text, ([1, 2, 3], 12.0), seconds).unwrap();
        tell(&rig, packet.as_bytes());
    };
    let rows = || -> Vec<String> {
        let state = rig.emulator.state();
        let rows = state["labels"]["7"]["rows"].as_array().cloned();
        rows.unwrap_or_default()
            .iter()
            .map(|row| row["text"].as_str().unwrap().to_owned())
            .collect()
    };
    put(LabelRow::Append, "a", 0.0);
    put(LabelRow::Append, "b", 0.0);
    put(LabelRow::Message(1), "c", 0.0);
    assert_eq!(rows(), ["c", "b"]);
    put(LabelRow::Message(5), "d", 0.0);
    assert_eq!(rows(), ["c", "b", "d"], "a row that is not there is appended");
    put(LabelRow::Message(2), "", -1.0);
    assert_eq!(rows(), ["c", "d"]);
    put(LabelRow::Append, "soon gone", 0.05);
    assert_eq!(rows().last().unwrap(), "soon gone");
    wait(|| rows() == ["c", "d"]);
    tell(&rig, LabelPacket::clear(Some(7)).as_bytes());
    assert!(rows().is_empty());
}

#[test]
fn recorded_views_keys_blueprints_and_settings_are_kept() {
    let rig = rig();
    for name in [
        "cmd_RflyCameraPosAng_32",
        "cmd_RflyCameraPosAngAd_35",
        "cmd_RflyCameraFovDegre_24",
        "cmd_RflySetActuatorPWM_44",
        "ext_act",
        "cmd_t.MaxFPS_11",
        "cmd_RflyEnImgSync_15",
        "cmd_RflyCesiumOriPos_36",
        "cmd_RflyScanTerrainH_44",
        "cmd_RflyDisableVeMove_21",
        "cmd_RflySetPosScale_19",
    ] {
        play(&rig, name);
    }
    command(&rig, "RflyChangeViewKeyCmd V 2");
    command(&rig, "RflyChangeViewKeyCmd P 3");
    command(&rig, "RflySetCopterLine 1 00FF80");
    let state = rig.emulator.state();
    assert_eq!(state["view"]["position"], json!([0.0, 0.0, -20.0]));
    assert_eq!(state["view"]["euler_deg"], json!([0.0, -60.0, 0.0]));
    assert_eq!(state["view"]["fov_deg"], 120.0);
    assert_eq!(state["keys"]["V"], json!({"number": 2.0, "pressed": 1}));
    assert_eq!(state["collides"], true);
    assert_eq!(state["lines"]["1"], json!([0, 255, 128]));
    assert_eq!(state["settings"]["t.MaxFPS"], "30");
    assert_eq!(state["settings"]["RflyEnImgSync"], "1");
    assert_eq!(state["settings"]["RflyCesiumOriPos"], "39.9042 116.4074 50");
    assert_eq!(state["settings"]["RflyScanTerrainH"], "-1000 -1000 1000 1000 200 1");
    assert_eq!(state["held"], json!([1]));
    assert_eq!(state["position_scale"], 100.0);
    let inputs = |id: &str| -> Vec<f64> {
        let list = state["blueprints"][id].as_array().unwrap();
        list.iter().map(|v| v.as_f64().unwrap()).collect()
    };
    assert_eq!(inputs("1000")[..8], [10.0, 10.0, 10.0, 10.0, 0.0, 0.0, 0.0, 0.0]);
    let expected: Vec<f64> = (0..16).map(|i| f64::from(i) / 2.0).collect();
    assert_eq!(inputs("1")[8..], expected, "inputs 9 to 24");
}

#[test]
fn another_map_is_another_scene_and_ends_captures() {
    let rig = rig();
    let ahead = |rig: &Rig| range(rig, [0.0, 0.0, -2.0], [0.0; 2]);
    assert_eq!(ahead(&rig).copter_id.get(), 1001);
    tell(&rig, ObjectStatePacket::new(1000, 150, [5.0, 0.0, -2.0], [0.0; 3]).as_bytes());
    rig.send(&rig.request(1, 1));
    wait(|| rig.emulator.stats().requests > 0);
    let _ = rig.frame();
    play(&rig, "cmd_RflyChangeMapbyNam_30");
    let state = rig.emulator.state();
    assert_eq!((&state["map"], &state["objects"]), (&json!("Grasslands"), &json!([])));
    rig.settle(); // a tick may have been under way
    let frames = rig.emulator.stats().sensors[&1].frames;
    rig.settle();
    rig.settle();
    assert_eq!(rig.emulator.stats().sensors[&1].frames, frames, "nobody has asked again");
    assert_eq!(ahead(&rig).copter_id.get(), -1, "grass has no boxes");
    command(&rig, "RflyChangeMapbyID 1");
    // The first box of `simple` is at 0, 0 and 1 m to each side.
    let from = [-5.0, 0.0, -2.0];
    let found = range(&rig, from, [0.0; 2]);
    assert_eq!(found.copter_id.get(), 1001);
    near(found.distance.get().into(), 4.0, 1e-5, "another box");
    command(&rig, "RflyChangeViewKeyCmd M 0");
    assert_eq!(rig.emulator.state()["map"], "yard");
    command(&rig, "RflyChangeMapbyName OldFactory");
    assert_eq!(rig.emulator.state()["map"], "yard", "there is no such map");
    assert_eq!(rig.emulator.stats().wrong_commands, 1);
}

#[test]
fn stencil_values_by_name_colour_segmentation_and_thermal_images() {
    let rig = rig();
    let shoot = |type_id: u16| {
        let request = SensorRequest { ..rig.request(1, type_id) };
        rig.shoot(&request).payload
    };
    let centre = 24 * 64 + 32;
    let colour = |rows: &[u8]| <[u8; 3]>::try_from(&rows[3 * centre..3 * centre + 3]).unwrap();
    assert_eq!(colour(&shoot(4)), class_colour(10), "the first box");
    command(&rig, "RflySetStencilValueByActorName Box_0 120");
    assert_eq!(colour(&shoot(4)), class_colour(120));
    assert_eq!(shoot(40)[centre], 120, "its warmth follows");
    command(&rig, r"RflySetStencilValueByMeshComponentName [\w]*ox[\w]* 33 True");
    assert_eq!(colour(&shoot(4)), class_colour(33), "the last command counts");
    let last = 3 * (47 * 64 + 32);
    assert_eq!(shoot(4)[last..last + 3], class_colour(1), "the ground is as it was");
    command(&rig, "RflySetStencilValueByActorName Floor 99 True");
    assert_eq!(shoot(4)[last..last + 3], class_colour(99));
    // What is spawned later has the stencil of its name, and keeps its colour in daylight.
    command(&rig, "RflySetStencilValueByActorName Copter_8 44");
    let spawned = |id: i32| {
        let packet = ObjectStatePacket::new(id, 150, [5.0, 0.0, -2.0], [0.0; 3]);
        tell(&rig, packet.as_bytes());
        let images = (colour(&shoot(4)), colour(&shoot(1)));
        command(&rig, &format!("RflyDelVehicles {id}"));
        images
    };
    let (named, other) = (spawned(8), spawned(9));
    assert_eq!(named.0, class_colour(44));
    assert_ne!(other.0, class_colour(44));
    assert_eq!(named.1, other.1, "daylight");
}

#[test]
fn the_control_port_answers_with_the_state() {
    let control = |o: &mut EmulatorOptions| o.control = Some(0);
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let rig = Rig::with(world, control, Faults::default());
    tell(&rig, ObjectStatePacket::new(1000, 30, [5.0, 0.0, -2.0], [0.0; 3]).as_bytes());
    let client = socket();
    client.send_to(b"state", rig.emulator.control().unwrap()).unwrap();
    let mut buffer = vec![0; 65_536];
    let len = client.recv(&mut buffer).unwrap();
    let state: Value = serde_json::from_slice(&buffer[..len]).unwrap();
    assert_eq!(state["ok"], true);
    assert_eq!(state["objects"][0]["type"], 30);
    assert_eq!(state["objects"][0]["shape"], "box");
}

#[test]
fn after_a_restart_nothing_is_left_of_what_was_told() {
    let rig = rig();
    tell(&rig, ObjectStatePacket::new(1000, 3, [5.0, 0.0, -2.0], [0.0; 3]).as_bytes());
    command(&rig, "RflyChangeMapbyName yard");
    rig.emulator.restart();
    let state = rig.emulator.state();
    assert_eq!((&state["map"], &state["objects"]), (&json!(""), &json!([])));
    assert_eq!(range(&rig, [0.0, 0.0, -2.0], [0.0; 2]).copter_id.get(), 1001);
}
