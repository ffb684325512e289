//! The bytes that services send, against those of the vendor's calls.
use super::rig::{Rig, commands, pose, pose_of, request, resource, stamped};
use crate::support::golden::{load, load_one, numbers, unhex};
use rfly_bridge::msgs::geometry_msgs::msg::Vector3;
use rfly_bridge::msgs::rfly_bridge_msgs::msg::{Attachment, EntityStates};
use rfly_bridge::msgs::rfly_bridge_msgs::srv::*;
use rfly_bridge::msgs::simulation_interfaces::msg::EntityState;
use rfly_bridge::msgs::simulation_interfaces::srv::*;
use rfly_bridge::msgs::std_msgs::msg::{ColorRGBA, Header};
use rfly_bridge::scene::{Datagram, Library, Recipient, own, standard};
use rfly_bridge::scene::{SceneCall, check_command};
use rfly_bridge::wire::parse_console_command;
use serde_json::Value;

/// The first datagram of a vendor's call.
fn golden(name: &str) -> Vec<u8> {
    bytes_of("ue4_send", name)
}

fn bytes_of(file: &str, name: &str) -> Vec<u8> {
    load_one(file, name).sent().swap_remove(0).1
}

fn single(sent: Vec<Datagram>, to: Recipient) -> Vec<u8> {
    let [datagram] = &sent[..] else { panic!("{} datagrams", sent.len()) };
    assert_eq!(datagram.to, to);
    datagram.bytes.clone()
}

/// All datagrams for the windows.
fn to_windows(sent: &[Datagram]) -> Vec<Vec<u8>> {
    let windows = sent.iter().filter(|datagram| datagram.to == Recipient::Windows);
    windows.map(|datagram| datagram.bytes.clone()).collect()
}

fn rig_with_id(id: i32) -> Rig {
    Rig::with(id..=20_000, Library::default())
}

const POSITION: [f64; 3] = [1.5, -2.25, -8.125];
const EULER: [f64; 3] = [0.1, -0.2, 1.57];

#[test]
fn a_spawned_object_is_what_the_vendor_sends() {
    for (name, id, uri) in [
        ("pos_scale", 4, "rflysim://150?scale=1,2,3"),
        ("pos_scale2ground", 5, "rflysim://3?scale=2&ground=true"),
    ] {
        let mut wish = request("box", uri);
        wish.initial_pose = stamped("map", pose_of(POSITION, EULER));
        let (response, sent) = rig_with_id(id).call(standard::spawn_entity, wish);
        assert_eq!((response.result.result, &*response.entity_name), (1, "box"));
        let mut wanted = golden(name);
        wanted[12..16].fill(0); // motors at rest
        assert_eq!(single(sent, Recipient::Windows), wanted, "{name}");
    }
}

#[test]
fn an_object_that_is_moved_keeps_class_and_size() {
    let mut rig = rig_with_id(4);
    rig.spawn("ring", "rflysim://150?scale=1,2,3");
    let request = SetEntityStateRequest {
        entity: "ring".to_owned(),
        state: EntityState { pose: pose_of(POSITION, EULER), ..EntityState::default() },
        set_pose: true,
        ..SetEntityStateRequest::default()
    };
    let (response, sent) = rig.call(standard::set_entity_state, request);
    assert_eq!(response.result.result, 1, "{response:?}");
    let mut wanted = golden("pos_scale");
    wanted[12..16].fill(0);
    assert_eq!(single(sent, Recipient::Windows), wanted);
}

#[test]
fn a_flown_vehicle_is_moved_by_its_coptersim() {
    let degrees = [10.0_f64, 20.0, 30.0].map(f64::to_radians);
    let request = SetEntityStateRequest {
        entity: "copter1".to_owned(),
        state: EntityState { pose: pose_of([1.0, 2.0, -3.0], degrees), ..EntityState::default() },
        set_pose: true,
        ..SetEntityStateRequest::default()
    };
    let (response, sent) = Rig::new().call(standard::set_entity_state, request);
    assert_eq!(response.result.result, 1, "{response:?}");
    let wanted = bytes_of("coptersim_send", "reXyzRPYaw/multicast");
    assert_eq!(single(sent, Recipient::CopterSim(1)), wanted);
}

#[test]
fn what_was_spawned_is_deleted_as_the_vendor_does() {
    let mut rig = rig_with_id(1000);
    for name in ["a", "b"] {
        rig.spawn(name, "rflysim://3");
    }
    let request = ResetSimulationRequest { scope: ResetSimulationRequest::SCOPE_SPAWNED };
    let (response, sent) = rig.call(standard::reset_simulation, request);
    assert_eq!(response.result.result, 1);
    assert_eq!(single(sent, Recipient::Windows), golden("cmd_RflyDelVehicles_25"));
}

#[test]
fn maps_are_changed_in_renderer_and_coptersim() {
    let load = |uri: &str| {
        let mut rig = Rig::new();
        let request =
            LoadWorldRequest { world_resource: resource(uri), ..LoadWorldRequest::default() };
        let (response, sent) = rig.call(standard::load_world, request);
        assert_eq!(response.result.result, 1, "{response:?}");
        assert!(rig.map_changed);
        sent
    };
    // To all vehicles instead of one.
    let to_all = |name: &str| {
        let mut bytes = bytes_of("coptersim_send", name);
        bytes[4..8].fill(0xff);
        bytes
    };
    let [renderer, coptersim] =
        <[Datagram; 2]>::try_from(load("rflysim://map/grasslands")).unwrap();
    assert_eq!(renderer.bytes, golden("cmd_RflyChangeMapbyNam_30"));
    assert_eq!(coptersim.bytes, to_all("mapName/multicast"));
    assert_eq!(coptersim.to, Recipient::CopterSim(1));
    let [renderer, _] = <[Datagram; 2]>::try_from(load("rflysim://map/5")).unwrap();
    assert_eq!(renderer.bytes, golden("cmd_RflyChangeMapbyID_19"));
    let [_, coptersim] = <[Datagram; 2]>::try_from(load("rflysim://map/0")).unwrap();
    assert_eq!(coptersim.bytes, to_all("mapIdx/multicast"));
}

#[test]
fn a_reset_of_the_state_restarts_every_vehicle() {
    let request = ResetSimulationRequest { scope: ResetSimulationRequest::SCOPE_STATE };
    let (_, sent) = Rig::new().call(standard::reset_simulation, request);
    let wanted = bytes_of("coptersim_send", "reboot");
    let wanted =
        [1, 2].map(|vehicle| Datagram { to: Recipient::Autopilot(vehicle), bytes: wanted.clone() });
    assert_eq!(sent, wanted);
}

fn label(entity: &str, text: &str) -> SetLabelRequest {
    SetLabelRequest {
        entity: entity.to_owned(),
        text: text.to_owned(),
        ..SetLabelRequest::default()
    }
}

#[test]
fn labels_are_those_of_the_vendor() {
    let text_120 = load_one("ue4_send", "label_msg_120")["args"]["positional"][1].clone();
    let requests = [
        ("label_id", label("copter1", "UAV-1")),
        (
            "label_msg",
            SetLabelRequest {
                row: -1,
                size: 20.0,
                duration: 5.5,
                color: ColorRGBA { r: 0.0, g: 1.0, b: 128.0 / 255.0, a: 1.0 },
                ..label("copter2", "hello world")
            },
        ),
        ("label_msg_default_all_windows", SetLabelRequest { row: -1, ..label("", "abc") }),
        (
            "label_msg_120",
            SetLabelRequest {
                row: -1,
                // The vendor cuts what is longer.
                ..label("copter1", &text_120.as_str().unwrap()[..120])
            },
        ),
    ];
    for (name, request) in requests {
        let (response, sent) = Rig::new().call(own::set_label, request);
        assert!(response.success, "{name}: {}", response.message);
        assert_eq!(single(sent, Recipient::Windows), golden(name), "{name}");
    }
}

#[test]
fn attachments_are_those_of_the_vendor() {
    let pair = |entity: i32, carrier: i32, kind: u8| Attachment {
        entity: entity.to_string(),
        carrier: carrier.to_string(),
        kind,
    };
    for (name, attachments) in [
        ("attach_scalar", vec![pair(2, 1, 3)]),
        ("attach_lists", vec![pair(2, 1, 1), pair(3, 1, 2), pair(4, 2, 3)]),
        // The vendor leaves out the 26th.
        ("attach_26_truncated", (1..=25).map(|id| pair(id, 100, 3)).collect()),
    ] {
        let (response, sent) = Rig::new().call(own::attach, AttachRequest { attachments });
        assert!(response.success, "{name}: {}", response.message);
        assert_eq!(single(sent, Recipient::Windows), golden(name), "{name}");
    }
}

#[test]
fn inputs_of_blueprints_are_those_of_the_vendor() {
    let values = |name: &str| numbers(&load_one("ue4_send", name)["args"]["positional"][1]);
    for name in ["ext_act", "ext_act_short"] {
        let request = SetActuatorsRequest {
            entity: "1".to_owned(),
            extended: values(name),
            ..SetActuatorsRequest::default()
        };
        let (response, sent) = Rig::new().call(own::set_actuators, request);
        assert!(response.success, "{name}: {}", response.message);
        assert_eq!(single(sent, Recipient::Windows), golden(name), "{name}");
    }
    let request = SetActuatorsRequest {
        entity: "1000".to_owned(),
        inputs: vec![10.0; 4],
        ..SetActuatorsRequest::default()
    };
    let (_, sent) = Rig::new().call(own::set_actuators, request);
    assert_eq!(single(sent, Recipient::Windows), golden("cmd_RflySetActuatorPWM_44"));
}

#[test]
fn sizes_stencils_views_and_texts_are_those_of_the_vendor() {
    let mut rig = Rig::new();
    let scale = Vector3 { x: 10.0, y: 10.0, z: 10.0 };
    let entity = "1000".to_owned();
    let (_, sent) = rig.call(own::set_size, SetSizeRequest { entity, scale });
    assert_eq!(to_windows(&sent), [golden("cmd_RflyChangeVehicleS_29")]);

    for (name, by, what, regex, value) in [
        ("stencil_actor", 1, "Floor", true, 120),
        ("stencil_mesh", 2, "SK_Man_Head", false, 200),
        ("stencil_copter", 0, "5", false, 7),
    ] {
        let request = SetStencilRequest { by, name: what.to_owned(), regex, value };
        let (response, sent) = rig.call(own::set_stencil, request);
        assert!(response.success, "{name}: {}", response.message);
        assert_eq!(to_windows(&sent), [golden(name)], "{name}");
    }

    let (response, sent) = rig.call(own::set_temperatures, SetTemperaturesRequest::default());
    let wanted = load_one("ue4_send", "radiance_all").sent();
    let wanted: Vec<_> = wanted.into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(to_windows(&sent), wanted);
    assert_eq!(response.values.len(), wanted.len());

    let down_30 = pose_of([0.0, 0.0, -10.0], [0.0, -30.0_f64.to_radians(), 0.0]);
    let absolute = SetViewRequest {
        set_pose: true,
        pose: stamped("map", down_30),
        ..SetViewRequest::default()
    };
    let (response, sent) = rig.call(own::set_view, absolute);
    assert!(response.success, "{}", response.message);
    assert_eq!(to_windows(&sent), [golden("cmd_RflyCameraPosAng_32")]);
    // 10 m up and 30 degrees down: a positive pitch in FLU, a negative one in FRD.
    let half = 15.0_f64.to_radians();
    let relative = SetViewRequest {
        set_pose: true,
        relative: true,
        pose: stamped("", pose([0.0, 0.0, 10.0], [half.cos(), 0.0, half.sin(), 0.0])),
        fov_deg: 120.0,
        ..SetViewRequest::default()
    };
    let (_, sent) = rig.call(own::set_view, relative);
    let wanted = ["cmd_RflyCameraPosAngAd_35", "cmd_RflyCameraFovDegre_24"];
    assert_eq!(to_windows(&sent), wanted.map(golden));

    let hello = ShowMessageRequest {
        text: "hello".to_owned(),
        duration: 10.0,
        ..ShowMessageRequest::default()
    };
    let (_, sent) = rig.call(own::show_message, hello);
    assert_eq!(to_windows(&sent), [golden("cmd_RflyShowTextTime_25")]);
}

#[test]
fn every_command_of_the_vendor_passes_and_becomes_its_bytes() {
    let mut passed = 0;
    for vector in load("ue4_send").into_iter().chain(load("ue4_send_other")) {
        let to = match vector.function() {
            "sendUE4Cmd" => Recipient::Windows,
            "sendUE4CmdNet" => Recipient::Network,
            _ => continue,
        };
        let window = if to == Recipient::Network { -2 } else { -1 };
        let given = &vector["args"]["positional"][0];
        let text = match given {
            Value::String(text) => text.clone(),
            bytes => String::from_utf8(unhex(bytes["bytes_hex"].as_str().unwrap())).unwrap(),
        };
        let request = SceneCommandRequest { command: text.clone(), window };
        let (response, sent) = Rig::new().call(own::command, request);
        match vector.sent().first() {
            Some((_, bytes)) if !text.is_empty() => {
                assert!(response.success, "{text}: {}", response.message);
                assert_eq!(single(sent, to), *bytes, "{text}");
                passed += 1;
            }
            // Too long, or nothing to do.
            _ => assert!(!response.success && sent.is_empty(), "{text}"),
        }
    }
    assert!(passed > 30, "{passed}");
}

#[test]
fn the_entity_is_described_on_demand_as_the_vendor_asks() {
    let describe = |call: &mut SceneCall<'_>, (): ()| standard::describe(call, "1000");
    let ((), sent) = Rig::new().call(describe, ());
    assert_eq!(to_windows(&sent), [golden("reqCamCoptObj_1_1000")]);
    assert!(check_command(&commands(&sent)[0], 249).is_ok());
}

/// What the vendor's call says, as a message.
fn states(name: &str, motors: usize) -> EntityStates {
    let args = load_one("ue4_send", name)["args"]["positional"].clone();
    let list = |i: usize| numbers(&args[i]);
    let count = list(0).len();
    let three = |list: &[f64], i: usize| [list[3 * i], list[3 * i + 1], list[3 * i + 2]];
    // Ids, types, positions, angles, then scales and motors in one order or the other.
    let (scale, rpm) = if motors == 8 { (4, 5) } else { (5, 4) };
    EntityStates {
        header: Header::default(),
        ids: list(0).iter().map(|id| *id as u16).collect(),
        vehicle_types: list(1).iter().map(|class| *class as u32).collect(),
        poses: (0..count).map(|i| pose_of(three(&list(2), i), three(&list(3), i))).collect(),
        scale: list(scale).iter().map(|percent| (*percent / 100.0) as f32).collect(),
        motor_rpm: list(rpm).iter().map(|rpm| *rpm as f32).collect(),
        fit_to_ground: args[6].as_bool().unwrap(),
        ..EntityStates::default()
    }
}

#[test]
fn streams_of_states_are_those_of_the_vendor() {
    for (name, motors) in [("scale100", 1), ("pwm20", 8)] {
        let message = states(name, motors);
        let ((drawn, skipped), sent) = Rig::new().call(own::set_states, &message);
        assert_eq!((drawn, skipped), (message.poses.len(), vec![]), "{name}");
        assert_close(&single(sent, Recipient::Windows), &golden(name), name);
    }
}

/// Angles pass a quaternion: the same attitude, not the same angles, where the pitch is beyond a right angle.
fn assert_close(made: &[u8], wanted: &[u8], name: &str) {
    assert_eq!(made.len(), wanted.len(), "{name}");
    let slots = if made.len() == 1324 { 20 } else { 100 };
    let angles = 4 + 16 * slots..4 + 28 * slots;
    assert_eq!(made[..angles.start], wanted[..angles.start], "{name}");
    assert_eq!(made[angles.end..], wanted[angles.end..], "{name}");
    for slot in 0..slots {
        let attitude = |bytes: &[u8]| {
            let angle = |i: usize| {
                let at = angles.start + 12 * slot + 4 * i;
                f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
            };
            rotation([0, 1, 2].map(angle))
        };
        let (a, b) = (attitude(made), attitude(wanted));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-6, "{name}: {a} instead of {b} in slot {slot}");
        }
    }
}

/// The matrix of roll, pitch, yaw, row by row.
fn rotation([r, p, y]: [f64; 3]) -> [f64; 9] {
    let ((sr, cr), (sp, cp), (sy, cy)) = (r.sin_cos(), p.sin_cos(), y.sin_cos());
    [
        cy * cp,
        cy * sp * sr - sy * cr,
        cy * sp * cr + sy * sr,
        sy * cp,
        sy * sp * sr + cy * cr,
        sy * sp * cr - cy * sr,
        -sp,
        cp * sr,
        cp * cr,
    ]
}

#[test]
fn a_console_command_is_readable_as_it_was_sent() {
    let (_, sent) = Rig::new().call(
        own::command,
        SceneCommandRequest {
            command: "  RflyShowText \"Grüße aus 北京\"  ".to_owned(),
            window: 3,
        },
    );
    let bytes = single(sent, Recipient::Window(3));
    let text = parse_console_command(&bytes).unwrap();
    assert_eq!(text, "RflyShowText \"Grüße aus 北京\"");
}
