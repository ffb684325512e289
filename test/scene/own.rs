//! Services beyond the standard: what is wrong with a request is said, and nothing is sent.
use super::rig::{Rig, commands, pose, stamped};
use rfly_bridge::msgs::geometry_msgs::msg::Vector3;
use rfly_bridge::msgs::rfly_bridge_msgs::msg::{Attachment, ThermalClass};
use rfly_bridge::msgs::rfly_bridge_msgs::srv::*;
use rfly_bridge::msgs::std_msgs::msg::ColorRGBA;
use rfly_bridge::scene::own;

/// Asserts that a request is refused with these words, and sends nothing.
macro_rules! refused {
    ($service:ident, $request:expr, $($word:literal),+) => {{
        let (response, sent) = Rig::new().call(own::$service, $request);
        assert!(!response.success);
        $(assert!(response.message.contains($word), "{:?} is missing: {}", $word, response.message);)+
        assert_eq!(sent, []);
    }};
}

#[test]
fn labels() {
    let label = SetLabelRequest {
        entity: "copter1".to_owned(),
        text: "a".to_owned(),
        ..SetLabelRequest::default()
    };
    let with = |change: fn(&mut SetLabelRequest)| {
        let mut request = label.clone();
        change(&mut request);
        request
    };
    refused!(set_label, with(|r| r.entity = "nobody".into()), "nobody", "GetEntities");
    refused!(set_label, with(|r| r.row = 6), "row", "1 to 5", "6");
    refused!(set_label, with(|r| r.row = -2), "row", "-1");
    refused!(set_label, with(|r| r.text = "é".repeat(61)), "120", "122");
    refused!(set_label, with(|r| r.text = "a\nb".into()), "control characters", "\\n");
    refused!(set_label, with(|r| r.size = -1.0), "size", "1 to 1000");
    refused!(set_label, with(|r| (r.row, r.duration) = (-1, f32::NAN)), "duration", "NaN");
    refused!(
        set_label,
        with(|r| r.color = ColorRGBA { r: 2.0, g: 0.0, b: 0.0, a: 1.0 }),
        "color",
        "0 to 1"
    );
    let (response, sent) = Rig::new().call(own::set_label, with(|r| r.clear = true));
    assert!(response.success);
    // Row -1 with a negative duration removes all messages of vehicle 1.
    assert_eq!(sent[0].bytes[4..12], [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(sent[0].bytes[24..28], (-1.0_f32).to_le_bytes());
}

#[test]
fn messages() {
    let text =
        |text: &str| ShowMessageRequest { text: text.to_owned(), ..ShowMessageRequest::default() };
    refused!(show_message, text(""), "empty");
    refused!(show_message, text("a\"b"), "'\"'");
    refused!(show_message, text(&"x".repeat(240)), "249", "too long");
    refused!(show_message, ShowMessageRequest { duration: -1.0, ..text("a") }, "duration");
    let nobody = vec!["copter1".to_owned(), "nobody".to_owned()];
    refused!(show_message, ShowMessageRequest { entities: nobody, ..text("a") }, "nobody");
    let (_, sent) = Rig::new().call(own::show_message, text("take off"));
    assert_eq!(commands(&sent), ["RflyShowTextTime \"take off\" 5"]);
    let entities = vec!["copter1".to_owned(), "copter2".to_owned()];
    let request = ShowMessageRequest { entities, ..text("take off") };
    let (_, sent) = Rig::new().call(own::show_message, request);
    let ids: Vec<_> = sent.iter().map(|datagram| datagram.bytes[4]).collect();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn attachments() {
    let pair = |entity: &str, carrier: &str, kind: u8| Attachment {
        entity: entity.to_owned(),
        carrier: carrier.to_owned(),
        kind,
    };
    let request = |attachments: Vec<Attachment>| AttachRequest { attachments };
    refused!(attach, request(vec![]), "1 to 25", "0");
    refused!(attach, request(vec![pair("1", "2", 3); 26]), "1 to 25", "26");
    refused!(attach, request(vec![pair("1", "2", 4)]), "attachments[0]", "kind", "4");
    refused!(
        attach,
        request(vec![pair("1", "2", 3), pair("1", "nobody", 3)]),
        "attachments[1]",
        "nobody"
    );
    refused!(attach, request(vec![pair("copter1", "1", 3)]), "itself");
}

#[test]
fn sizes() {
    let size = |entity: &str, [x, y, z]: [f64; 3]| SetSizeRequest {
        entity: entity.to_owned(),
        scale: Vector3 { x, y, z },
    };
    refused!(set_size, size("nobody", [1.0; 3]), "nobody");
    refused!(set_size, size("copter1", [0.0; 3]), "0.01", "655");
    refused!(set_size, size("copter1", [f64::NAN, 1.0, 1.0]), "scale");
    refused!(set_size, size("copter1", [1.0, 2.0, 3.0]), "one factor");
    let mut rig = Rig::new();
    rig.spawn("box", "rflysim://3");
    let (response, sent) = rig.call(own::set_size, size("box", [1.0, 2.0, 3.0]));
    assert!(response.success, "{}", response.message);
    let factor =
        |i: usize| f32::from_le_bytes(sent[0].bytes[40 + 4 * i..][..4].try_into().unwrap());
    assert_eq!([0, 1, 2].map(factor), [1.0, 2.0, 3.0]);
}

#[test]
fn actuators() {
    let inputs = |entity: &str, inputs: Vec<f64>, extended: Vec<f64>| SetActuatorsRequest {
        entity: entity.to_owned(),
        inputs,
        extended,
    };
    refused!(set_actuators, inputs("copter1", vec![], vec![]), "both empty");
    refused!(set_actuators, inputs("nobody", vec![1.0], vec![]), "nobody");
    refused!(set_actuators, inputs("copter1", vec![0.0; 9], vec![]), "at most 8", "9");
    refused!(set_actuators, inputs("copter1", vec![], vec![0.0; 17]), "at most 16", "17");
    refused!(set_actuators, inputs("copter1", vec![f64::NAN], vec![]), "finite");
    refused!(set_actuators, inputs("copter1", vec![1e300], vec![]), "digits", "249");
    let (_, sent) = Rig::new().call(own::set_actuators, inputs("copter1", vec![0.5], vec![1.0]));
    assert_eq!(sent.len(), 2);
    assert_eq!(commands(&sent), ["RflySetActuatorPWMs 1 0.5 0 0 0 0 0 0 0"]);
}

#[test]
fn stencils_and_temperatures() {
    let stencil = |by: u8, name: &str, regex: bool| SetStencilRequest {
        by,
        name: name.to_owned(),
        regex,
        value: 1,
    };
    refused!(set_stencil, stencil(0, "", false), "empty");
    refused!(set_stencil, stencil(0, "nobody", false), "nobody");
    refused!(set_stencil, stencil(0, "copter1", true), "regex");
    refused!(set_stencil, stencil(3, "a", false), "0 (entity)", "3");
    refused!(set_stencil, stencil(1, "a\"b", false), "'\"'");
    refused!(set_stencil, stencil(1, &"x".repeat(230), false), "249");
    let (_, sent) = Rig::new().call(own::set_stencil, stencil(1, "two words", false));
    assert_eq!(commands(&sent), ["RflySetStencilValueByActorName \"two words\" 1 False"]);
    let class = |name: &str, temperature: f64, emissivity: f64| SetTemperaturesRequest {
        classes: vec![ThermalClass { name: name.to_owned(), temperature, emissivity, actor: true }],
    };
    refused!(set_temperatures, class("", 300.0, 0.9), "classes[0]", "name");
    refused!(set_temperatures, class("a b", 300.0, 0.9), "letters");
    refused!(set_temperatures, class("a", -1.0, 0.9), "temperature", "K");
    refused!(set_temperatures, class("a", 300.0, 1.1), "emissivity", "1.1");
    refused!(set_temperatures, class("a", f64::NAN, 0.5), "temperature");
    let (response, sent) = Rig::new().call(own::set_temperatures, class("Car", 350.0, 0.9));
    assert_eq!((response.values, sent.len()), (vec![255], 1));
}

#[test]
fn views() {
    refused!(set_view, SetViewRequest::default(), "nothing", "set_pose");
    let nobody = SetViewRequest { entity: "nobody".to_owned(), ..Default::default() };
    refused!(set_view, nobody, "nobody");
    refused!(set_view, SetViewRequest { fov_deg: 180.0, ..Default::default() }, "fov_deg", "179");
    refused!(set_view, SetViewRequest { relative: true, ..Default::default() }, "set_pose");
    let no_attitude = SetViewRequest {
        set_pose: true,
        pose: stamped("", pose([0.0; 3], [0.0; 4])),
        ..Default::default()
    };
    refused!(set_view, no_attitude, "norm");
    let elsewhere = SetViewRequest {
        set_pose: true,
        pose: stamped("nowhere", pose([0.0; 3], [1.0, 0.0, 0.0, 0.0])),
        ..Default::default()
    };
    refused!(set_view, elsewhere, "nowhere", "map");
    let focus = SetViewRequest { entity: "copter2".to_owned(), ..Default::default() };
    let (_, sent) = Rig::new().call(own::set_view, focus);
    assert_eq!(commands(&sent), ["RflyChangeViewKeyCmd B 2"]);
}

#[test]
fn commands_go_where_they_are_sent() {
    let command =
        |command: &str, window: i16| SceneCommandRequest { command: command.to_owned(), window };
    refused!(command, command("stat fps", 20), "0 to 19", "-1", "-2");
    refused!(command, command("stat fps", -3), "-3");
    refused!(command, command(&"x".repeat(92), -2), "91", "92");
    refused!(command, command("RflyChangeMapbyNam Grasslands", 0), "RflyChangeMapbyName");
    let mut rig = Rig::new();
    let (response, _) = rig.call(own::command, command("rflychangemapbyname MyMap", 0));
    assert!(response.success && rig.map_changed, "{}", response.message);
}

#[test]
fn what_is_for_the_windows_goes_to_the_network_if_that_is_wanted() {
    use rfly_bridge::scene::{Outbox, Recipient};
    let mut out = Outbox { to_network: true, ..Outbox::default() };
    assert!(out.command(Recipient::Windows, "stat fps"));
    assert!(out.command(Recipient::Windows, &"x".repeat(92)));
    assert!(!out.command(Recipient::Windows, &"x".repeat(250)));
    assert!(!out.command(Recipient::Network, &"x".repeat(92)));
    assert!(out.command(Recipient::Window(3), "stat fps"));
    let sent: Vec<_> =
        { out.datagrams.iter() }.map(|datagram| (datagram.to, datagram.bytes.len())).collect();
    let wanted = [(Recipient::Network, 96), (Recipient::Network, 256), (Recipient::Window(3), 56)];
    assert_eq!(sent, wanted);
}

#[test]
fn descriptions_of_all_are_asked_for_with_the_doubt() {
    let request = |kind: u8| DescribeAllRequest { kind };
    refused!(describe_all, request(5), "0 (cameras)", "4 (all)", "5");
    let (response, sent) = Rig::new().call(own::describe_all, request(4));
    assert!(response.success && response.message.contains("disagree"));
    assert_eq!(commands(&sent), ["RflyReqObjData 24 all 0"]);
}
