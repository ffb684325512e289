//! Files of the renderer: models in XML, objects that it created.
use super::rig::{Rig, commands};
use rfly_bridge::frames::WorldConvention;
use rfly_bridge::msgs::simulation_interfaces::srv::*;
use rfly_bridge::scene::{
    CreatedObject, Library, MapFrame, ModelXml, Scene, SceneSettings, own, standard,
};
use rfly_bridge::wire::{Packet, ScaledStatePacket};

/// The elements that public tools write for RflySim3D.
fn xml(class: i32, order: i32, name: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<vehicle>
  <ClassID>{class}</ClassID>
  <DisplayOrder>{order}</DisplayOrder>
  <Name>{name}</Name>
  <Scale><x>1</x><y>1.5</y><z>2</z></Scale>
  <AngEulerDeg><roll>0</roll><pitch>0</pitch><yaw>0</yaw></AngEulerDeg>
  <body>
    <isAnimationMesh>0</isAnimationMesh>
    <MeshPath>/Game/Own/Body</MeshPath>
    <MaterialPath></MaterialPath><AnimationPath></AnimationPath>
    <CenterHeightAboveGroundCm>12.5</CenterHeightAboveGroundCm>
    <NumberHeigthAboveCenterCm>20</NumberHeigthAboveCenterCm>
  </body>
  <ActuatorList>
    <Actuator><MeshPath>/Game/Own/Rotor</MeshPath></Actuator>
    <Actuator><MeshPath>/Game/Own/Rotor</MeshPath></Actuator>
  </ActuatorList>
  <OnboardCameras>
    <camera><name>Chase_Camera</name><RelativePosToBodyCm><x>-100</x><y>0</y><z>50</z></RelativePosToBodyCm></camera>
    <camera><name>Nose</name></camera>
  </OnboardCameras>
</vehicle>"#
    )
}

fn library(files: &[String]) -> (Library, Vec<String>) {
    let mut library = Library::default();
    let read = |text: &String| ModelXml::read(text).expect("XML").expect("of a vehicle");
    let left_out = library.add_models(files.iter().map(read).collect());
    (library, left_out)
}

/// The number that the renderer gets for a model.
fn drawn(library: &Library, name: &str) -> i32 {
    let mut rig = Rig::with(10_001..=20_000, library.clone());
    let (response, sent) = rig.spawn("x", &format!("rflysim://{name}"));
    assert_eq!(response.result.result, 1, "{name}: {:?}", response.result);
    let packet = ScaledStatePacket::parse(&sent[0].bytes).expect("a state");
    packet.vehicle_type.get()
}

#[test]
fn classes_of_the_documents_can_all_be_spawned_by_name() {
    let (library, _) = library(&[]);
    for (name, number) in [("Hexarotor_5", 5), ("Hexarotor_6", 6), ("Class_40", 40)] {
        assert_eq!(drawn(&library, name), number);
    }
    for class in [3, 5, 6, 30, 40, 50, 60, 100, 150, 151, 152] {
        assert!(library.models.iter().any(|model| model.class == class), "{class}");
    }
}

#[test]
fn models_of_xml_files_have_the_number_that_their_place_in_the_list_makes() {
    // Two come behind the three built-in ones of class 151; one takes the place of a built-in one.
    let (library, left_out) = library(&[
        xml(151, 2000, "Last one"),
        xml(151, 1000, "Before"),
        xml(901, 1, "\u{65e0}\u{4eba}\u{673a}"),
        xml(100_000, 1, "Large"),
        xml(100_000, 2, "Second"),
    ]);
    assert_eq!(drawn(&library, "Quad_Target_Blue"), 2151);
    assert_eq!(drawn(&library, "Before"), 3151);
    assert_eq!(drawn(&library, "Last_one"), 4151);
    assert_eq!(drawn(&library, "class901_style0"), 901);
    assert_eq!(drawn(&library, "Large"), 100_000);
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(left_out[0].contains("Second") && left_out[0].contains("100000"));
}

#[test]
fn a_whole_folder_replaces_the_list_of_a_class() {
    let (library, _) = library(&[
        xml(151, 3, "Quad_Target_Red"),
        xml(151, 2, "Quad_Target_Blue"),
        xml(151, 1, "Quad_Target_Green"),
    ]);
    let numbers =
        ["Green", "Blue", "Red"].map(|name| drawn(&library, &format!("Quad_Target_{name}")));
    assert_eq!(numbers, [151, 1151, 2151]);
}

#[test]
fn an_entry_of_the_users_file_keeps_its_style_beside_files_of_its_class() {
    let text = r#"{"models": [{"name": "F450_Default", "class": 3, "style": 20}]}"#;
    let with = |name: &str| {
        let mut library = Library::with_file("scene.json", text).expect("a scene file");
        let model = ModelXml::read(&xml(3, 1, name)).expect("XML").expect("of a vehicle");
        assert!(library.add_models(vec![model]).is_empty());
        library
    };
    // The built-in model that the entry replaces keeps its place in the renderer's list.
    let other = with("Own");
    let names = ["F450_Default", "Droneyee_QuadX330", "Own"];
    assert_eq!(names.map(|name| drawn(&other, name)), [20_003, 1003, 11_003]);
    let same = with("F450_Default");
    let names = ["F450_Default", "Droneyee_QuadX330", "class3_style10"];
    assert_eq!(names.map(|name| drawn(&same, name)), [20_003, 3, 10_003]);
}

#[test]
fn what_the_file_says_is_in_the_description() {
    let (library, _) = library(&[xml(900, 1, "Own")]);
    let mut rig = Rig::with(10_001..=20_000, library);
    let (listed, _) = rig.call(standard::spawnables, Default::default());
    let own = listed.spawnables.iter().find(|s| s.entity_resource.uri == "rflysim://Own");
    let text = &own.expect("it is listed").description;
    for words in [
        "class 900, style 0",
        "12.5 cm above the ground",
        "vehicle_bottom_m 0.125",
        "scale 1, 1.5, 2",
        "camera Chase_Camera at -100, 0, 50 cm",
        "camera Nose",
    ] {
        assert!(text.contains(words), "{words} is missing: {text}");
    }
}

#[test]
fn other_xml_is_no_vehicle_and_broken_xml_is_refused() {
    assert_eq!(ModelXml::read("<project><name>a</name></project>"), Ok(None));
    assert_eq!(ModelXml::read(""), Ok(None));
    for text in [
        "<vehicle><ClassID>three</ClassID></vehicle>".to_owned(),
        "<vehicle><ClassID>-3</ClassID></vehicle>".to_owned(),
        xml(3, 1, "a").replace("</vehicle>", ""),
    ] {
        let why = ModelXml::read(&text).expect_err("it is broken");
        assert!(why.len() > 10, "{why}");
    }
}

const LOG: &str = "\
RflyChangeMapbyName Grasslands
CreateVehicle,1000,30,10.5,-20,-1.25,0,0,1.5
createvehicle, 1001 , 116000030, 0, 0, 0, 0.1, -0.2, 0.3;
10.0,20.0,-3.0
CreateVehicle,1000,1003,11.5,-20,-1.25,0,0,1.5
CreateVehicle,1,3,0,0,0,0,0,0
";

fn with_objects() -> Rig {
    let mut rig = Rig::new();
    rig.scene = Scene::new(SceneSettings {
        library: Library::default(),
        frame: MapFrame { name: "map".to_owned(), world: WorldConvention::Enu },
        ids: 1001..=20_000,
        world: None,
        vehicles: vec![1],
        created: CreatedObject::read("CreateLog.txt", LOG).expect("right lines"),
    });
    rig
}

fn names(rig: &mut Rig) -> Vec<String> {
    let (listed, _) = rig.call(standard::entities, Default::default());
    listed.entities
}

#[test]
fn objects_that_the_renderer_created_are_listed_moved_and_deleted() {
    let mut rig = with_objects();
    assert_eq!(names(&mut rig), ["copter1", "created1000", "created1001"]);
    let entity = "created1000".to_owned();
    let (state, _) =
        rig.call(standard::entity_state, GetEntityStateRequest { entity: entity.clone() });
    let position = &state.state.pose.position;
    // The newest line; east, north, up.
    assert_eq!([position.x, position.y, position.z], [-20.0, 11.5, 1.25]);

    let mut put =
        SetEntityStateRequest { entity: entity.clone(), set_pose: true, ..Default::default() };
    put.state.pose = super::rig::pose([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0]);
    let (done, sent) = rig.call(standard::set_entity_state, put);
    assert_eq!(done.result.result, 1, "{done:?}");
    let packet = ScaledStatePacket::parse(&sent[0].bytes).expect("a state");
    assert_eq!((packet.copter_id.get(), packet.vehicle_type.get()), (1000, 1003));

    // Its id is not given to another one.
    rig.spawn("mine", "rflysim://3");
    assert_eq!(rig.scene.entities.id_of("mine").ok(), Some(1002));
    let reset = ResetSimulationRequest { scope: ResetSimulationRequest::SCOPE_SPAWNED };
    let (_, sent) = rig.call(standard::reset_simulation, reset);
    assert_eq!(commands(&sent), ["RflyDelVehicles 1002"], "only what was spawned here");
    let (done, sent) = rig.call(standard::delete_entity, DeleteEntityRequest { entity });
    assert_eq!((done.result.result, commands(&sent)), (1, vec!["RflyDelVehicles 1000".to_owned()]));
    assert_eq!(names(&mut rig), ["copter1", "created1001"]);
}

#[test]
fn another_map_has_no_objects_of_the_last_one() {
    use rfly_bridge::msgs::rfly_bridge_msgs::srv::SceneCommandRequest;
    let mut rig = with_objects();
    let command = SceneCommandRequest { command: "RflyChangeMapbyID(5);".to_owned(), window: -1 };
    let (done, sent) = rig.call(own::command, command);
    assert!(done.success, "{}", done.message);
    assert_eq!(commands(&sent), ["RflyChangeMapbyID 5"]);
    assert_eq!(names(&mut rig), ["copter1"]);
    rig.spawn("mine", "rflysim://3");
    assert_eq!(rig.scene.entities.id_of("mine").ok(), Some(1001));
}

#[test]
fn lines_that_create_nothing_known_are_named_together() {
    let text = "CreateVehicle,1000,30,0,0,0,0,0\nCreateVehicle,a,3,0,0,0,0,0,0\nCreateVehicle,5,3,0,nan,0,0,0,0\nCreateVehicle\nstat fps\n";
    let problems = CreatedObject::read("a.txt", text).expect_err("wrong lines");
    let text: Vec<_> = problems.0.iter().map(ToString::to_string).collect();
    assert_eq!(text.len(), 4, "{text:?}");
    for (problem, words) in text.iter().zip(["line 1", "line 2", "line 3", "line 4"]) {
        assert!(problem.contains("a.txt") && problem.contains(words), "{problem}");
    }
    assert!(text[0].contains("8 numbers") && text[0].contains('7'), "{}", text[0]);
}
