//! Every service of the standard: results, codes, unknown names, wrong arguments. The codes are the numbers of the .msg and .srv files of
//! simulation_interfaces 2.1.
use super::rig::{Rig, assert_result, commands, pose, pose_of, request, resource, stamped};
use rfly_bridge::frames::{Attitude, Euler, Frd, Ned, Vector};
use rfly_bridge::msgs::geometry_msgs::msg::Pose;
use rfly_bridge::msgs::simulation_interfaces::msg::{
    EntityCategory, EntityInfo, EntityState, Resource, Result as Outcome, SpawnEntity,
};
use rfly_bridge::msgs::simulation_interfaces::srv::*;
use rfly_bridge::scene::{Entities, EntityMotion, Extent, Library, MapPose, SceneCall, standard};
use rfly_bridge::time::RosTime;

const UNSUPPORTED: u8 = 0;
const OK: u8 = 1;
const NOT_FOUND: u8 = 2;
const FAILED: u8 = 4;

const IDENTITY: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

fn spawn_result(change: impl Fn(&mut SpawnEntityRequest)) -> Outcome {
    let mut rig = Rig::new();
    rig.spawn("taken", "rflysim://3");
    let mut wish = request("new", "rflysim://3");
    change(&mut wish);
    let (response, sent) = rig.call(standard::spawn_entity, wish);
    let spawned = response.result.result == OK;
    assert_eq!(spawned, !response.entity_name.is_empty());
    assert_eq!(spawned, sent.len() == 1, "only what was spawned is sent");
    response.result
}

#[test]
fn spawning_refuses_with_the_codes_of_the_standard() {
    type Change = fn(&mut SpawnEntityRequest);
    let cases: [(Change, u8, &[&str]); 25] = [
        (|_| {}, OK, &[]),
        (|r| r.name = "taken".into(), 101, &["taken", "allow_renaming"]),
        (|r| r.name = String::new(), 102, &["allow_renaming"]),
        (|r| r.name = "two words".into(), 102, &["' '", "letters"]),
        (|r| r.name = "a\nb".into(), 102, &["letters"]),
        (|r| r.name = "x".repeat(65), 102, &["64", "65"]),
        (|r| r.name = "17".into(), 102, &["number"]),
        (|r| r.name = "copter7".into(), 102, &["vehicles"]),
        (|r| r.name = "sensor0".into(), 102, &["cameras"]),
        (|r| r.name = "a//b".into(), 102, &["//"]),
        (|r| r.entity_resource = resource("file:///box.sdf"), 103, &["rflysim://"]),
        (|r| r.entity_resource = resource("box.urdf"), 103, &["rflysim://"]),
        (|r| r.entity_resource = Resource::default(), 104, &["uri", "rflysim://3"]),
        (
            |r| {
                r.entity_resource =
                    Resource { uri: String::new(), resource_string: "<sdf/>".into() }
            },
            UNSUPPORTED,
            &["resource_string", "rflysim://3"],
        ),
        (|r| r.entity_namespace = "9a".into(), 105, &["9a", "letters"]),
        (|r| r.entity_namespace = "a b".into(), 105, &["letters"]),
        (|r| r.entity_resource = resource("rflysim://0"), 106, &["1 to 2147483647"]),
        (|r| r.entity_resource = resource("rflysim://3?style=x"), 106, &["style", "0 to 64"]),
        (|r| r.entity_resource = resource("rflysim://3?styl=1"), 106, &["style"]),
        (|r| r.entity_resource = resource("rflysim://3?scale=0"), 106, &["scale", "0.01"]),
        (|r| r.entity_resource = resource("rflysim://3?scale=1,2"), 106, &["scale", "three"]),
        (|r| r.entity_resource = resource("rflysim://3?ground=maybe"), 106, &["true or false"]),
        (
            |r| r.entity_resource = resource("rflysim://Standard_Car_Bleu"),
            NOT_FOUND,
            &["Standard_Car_Blue", "GetSpawnables"],
        ),
        (|r| r.initial_pose.pose = pose([0.0; 3], [0.0; 4]), 109, &["norm 0", "w: 1.0"]),
        (|r| r.initial_pose.header.frame_id = "odom".into(), 109, &["odom", "map"]),
    ];
    for (i, (change, code, words)) in cases.into_iter().enumerate() {
        println!("case {i}");
        assert_result(&spawn_result(change), code, words);
    }
    for bad in [f64::NAN, f64::INFINITY, 1.1e6] {
        let result = spawn_result(|r| r.initial_pose.pose = pose([0.0, bad, 0.0], IDENTITY));
        assert_result(&result, 109, &["finite", "1000000 m"]);
    }
    for bad in [[0.5, 0.5, 0.0, 0.0], [f64::NAN, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]] {
        let result = spawn_result(|r| r.initial_pose.pose = pose([0.0; 3], bad));
        assert_result(&result, 109, &["norm 1"]);
    }
}

#[test]
fn names_are_unique_generated_where_allowed_and_carry_the_namespace() {
    let mut rig = Rig::new();
    let mut spawn = |name: &str, uri: &str, namespace: &str| {
        let mut wish = request(name, uri);
        wish.allow_renaming = true;
        wish.entity_namespace = namespace.to_owned();
        let (response, _) = rig.call(standard::spawn_entity, wish);
        assert_result(&response.result, OK, &[]);
        response.entity_name
    };
    assert_eq!(spawn("box", "rflysim://3", ""), "box");
    assert_eq!(spawn("box", "rflysim://3", ""), "box_1");
    assert_eq!(spawn("box", "rflysim://3", ""), "box_2");
    assert_eq!(spawn("box", "rflysim://3", "/yard/"), "yard/box");
    assert_eq!(spawn("", "rflysim://60?style=2", ""), "class60_1");
    assert_eq!(spawn("", "rflysim://light_red", "yard"), "yard/Light_Red_1");
}

#[test]
fn what_was_spawned_in_a_namespace_is_found_without_it_if_only_one_has_the_name() {
    let mut rig = Rig::new();
    let spawn = |rig: &mut Rig, namespace: &str| {
        let mut wish = request("dingo", "rflysim://3");
        wish.entity_namespace = namespace.to_owned();
        let (response, _) = rig.call(standard::spawn_entity, wish);
        assert_result(&response.result, OK, &[]);
    };
    let found = |rig: &Rig| match rig.scene.entities.find("dingo") {
        Ok((name, _)) => name.to_owned(),
        Err(refusal) => refusal.message,
    };
    assert!(found(&rig).contains("no entity is called"));
    spawn(&mut rig, "a");
    assert_eq!(found(&rig), "a/dingo");
    spawn(&mut rig, "b");
    assert!(found(&rig).contains("no entity is called"), "two are meant");
    spawn(&mut rig, "");
    assert_eq!(found(&rig), "dingo");
}

#[test]
fn ids_are_of_the_range_and_used_again_late() {
    let mut rig = Rig::with(7..=9, Library::default());
    let id = |rig: &mut Rig, name: &str| {
        let (response, _) = rig.spawn(name, "rflysim://3");
        assert_result(&response.result, OK, &[]);
        rig.scene.entities.find(name).unwrap().1.id
    };
    assert_eq!(id(&mut rig, "a"), Some(7));
    let entity = "a".to_owned();
    let (response, sent) = rig.call(standard::delete_entity, DeleteEntityRequest { entity });
    assert_result(&response.result, OK, &[]);
    assert_eq!(commands(&sent), ["RflyDelVehicles 7"]);
    assert_eq!(id(&mut rig, "b"), Some(8));
    assert_eq!(id(&mut rig, "c"), Some(9));
    assert_eq!(id(&mut rig, "d"), Some(7));
    let (response, sent) = rig.spawn("e", "rflysim://3");
    assert_result(&response.result, FAILED, &["7 to 9", "scene.last_id"]);
    assert_eq!(sent, []);
}

#[test]
fn ids_of_vehicles_are_left_out() {
    let mut rig = Rig::with(1..=3, Library::default());
    rig.scene.entities.add_vehicle(3);
    let (response, _) = rig.spawn("a", "rflysim://3");
    assert_result(&response.result, FAILED, &["1 to 3"]);
}

#[test]
fn several_are_spawned_and_each_has_its_result() {
    let wish = |name: &str, uri: &str| {
        let SpawnEntityRequest { name, entity_resource, initial_pose, .. } = request(name, uri);
        SpawnEntity { name, entity_resource, initial_pose, ..SpawnEntity::default() }
    };
    let mut rig = Rig::new();
    let all = |spawn_requests| SpawnEntitiesRequest { spawn_requests };
    let good = all(vec![wish("a", "rflysim://3"), wish("b", "rflysim://60")]);
    let (response, sent) = rig.call(standard::spawn_entities, good);
    assert_result(&response.result, OK, &[]);
    assert_eq!((response.results.len(), sent.len()), (2, 2));
    let mixed = all(vec![wish("c", "rflysim://3"), wish("a", "rflysim://3"), wish("d", "")]);
    let (response, sent) = rig.call(standard::spawn_entities, mixed);
    assert_result(&response.result, 150, &["2 of 3", "[1, 2]"]);
    let codes: Vec<_> = response.results.iter().map(|r| r.result.result).collect();
    assert_eq!((codes, sent.len()), (vec![OK, 101, 104], 1));
    let (response, _) = rig.call(standard::spawn_entities, all(vec![]));
    assert_result(&response.result, OK, &[]);
}

#[test]
fn what_its_client_no_longer_asks_for_is_removed() {
    let mut rig = Rig::with(7..=9, Library::default());
    for (name, uri) in [
        ("left", "rflysim://3?keep_alive=5"),
        ("kept", "rflysim://3?keep_alive=5"),
        ("free", "rflysim://3"),
    ] {
        assert_result(&rig.spawn(name, uri).0.result, OK, &[]);
    }
    let remove = |rig: &mut Rig| {
        let remove = |call: &mut SceneCall<'_>, (): ()| call.remove_abandoned();
        rig.call(remove, ())
    };
    rig.uptime_s += 4.0;
    let entity = "kept".to_owned();
    let (response, _) = rig.call(standard::entity_state, GetEntityStateRequest { entity });
    assert_result(&response.result, OK, &[]);
    assert_eq!(remove(&mut rig).0, [""; 0]);
    rig.uptime_s += 2.0;
    let (names, sent) = remove(&mut rig);
    assert_eq!(names, ["left"]);
    assert_eq!(commands(&sent), ["RflyDelVehicles 7"]);
    assert!(!rig.scene.entities.has("left"));
    rig.uptime_s += 1000.0;
    assert_eq!(remove(&mut rig).0, ["kept"]);
    assert!(rig.scene.entities.has("free"));
    let (response, _) = rig.spawn("a", "rflysim://3?keep_alive=soon");
    assert_result(&response.result, 106, &["keep_alive", "0.1", "86400", "soon"]);
}

#[test]
fn only_what_was_spawned_is_deleted() {
    let mut rig = Rig::new();
    rig.scene.entities.object("Cube_2", MapPose::default(), None, RosTime(0));
    rig.scene.entities.camera(4, MapPose::default(), RosTime(0));
    for (entity, code, words) in [
        ("", NOT_FOUND, "GetEntities"),
        ("nobody", NOT_FOUND, "nobody"),
        ("copter3", NOT_FOUND, "did you mean"),
        ("copter1", FAILED, "CopterSim"),
        ("scene/Cube_2", FAILED, "map"),
        ("sensor4", FAILED, "camera"),
    ] {
        let entity = entity.to_owned();
        let (response, sent) = rig.call(standard::delete_entity, DeleteEntityRequest { entity });
        assert_result(&response.result, code, &[words]);
        assert_eq!(sent, []);
    }
}

#[test]
fn information_is_kept_as_it_was_set() {
    let mut rig = Rig::new();
    rig.spawn("box", "rflysim://60?style=2");
    let get = |rig: &mut Rig, entity: &str| {
        let entity = entity.to_owned();
        rig.call(standard::entity_info, GetEntityInfoRequest { entity }).0
    };
    let light = get(&mut rig, "box");
    assert_eq!(light.info.category.category, EntityCategory::CATEGORY_STATIC_OBJECT);
    assert_eq!(light.info.description, "rflysim://60?style=2");
    let vehicle = get(&mut rig, "copter2").info;
    assert_eq!(vehicle.category.category, EntityCategory::CATEGORY_ROBOT);
    assert!(vehicle.description.contains("CopterID 2"));
    assert_result(&get(&mut rig, "boxx").result, NOT_FOUND, &["\"box\""]);
    let info = EntityInfo {
        category: EntityCategory { category: 2 },
        description: "somebody".to_owned(),
        tags: vec!["a".to_owned()],
    };
    let set = |rig: &mut Rig, entity: &str, info: EntityInfo| {
        let entity = entity.to_owned();
        let request = SetEntityInfoRequest { entity, info };
        rig.call(standard::set_entity_info, request).0.result
    };
    assert_result(&set(&mut rig, "box", info.clone()), OK, &[]);
    assert_eq!(get(&mut rig, "box").info, info);
    let mut wrong = info.clone();
    wrong.category.category = 3;
    assert_result(&set(&mut rig, "box", wrong), FAILED, &["0, 1, 2, 4 or 5"]);
    assert_eq!(get(&mut rig, "box").info, info);
    assert_result(&set(&mut rig, "", info), NOT_FOUND, &["GetEntities"]);
}

fn set_state(rig: &mut Rig, change: impl Fn(&mut SetEntityStateRequest)) -> (Outcome, usize) {
    let mut request = SetEntityStateRequest {
        entity: "box".to_owned(),
        state: EntityState { pose: pose([1.0, 2.0, 3.0], IDENTITY), ..EntityState::default() },
        set_pose: true,
        ..SetEntityStateRequest::default()
    };
    change(&mut request);
    let (response, sent) = rig.call(standard::set_entity_state, request);
    (response.result, sent.len())
}

#[test]
fn states_are_set_or_refused_with_the_codes_of_the_standard() {
    type Change = fn(&mut SetEntityStateRequest);
    let cases: [(Change, u8, usize, &[&str]); 13] = [
        (|_| {}, OK, 1, &[]),
        (|r| r.entity = "copter1".into(), OK, 1, &[]),
        (|r| r.set_twist = true, OK, 1, &[]),
        (|r| r.set_pose = false, OK, 0, &["set_pose"]),
        (|r| r.entity = "nobody".into(), NOT_FOUND, 0, &["nobody"]),
        (|r| r.state.header.frame_id = "nowhere".into(), 101, 0, &["nowhere", "map"]),
        (|r| r.state.header.frame_id = "copter2".into(), 101, 0, &["copter2", "known pose"]),
        (|r| r.state.pose.position.z = f64::NAN, 101, 0, &["finite"]),
        (|r| r.state.pose.orientation.w = 0.0, 101, 0, &["norm 1"]),
        (
            |r| (r.set_twist, r.state.twist.linear.x) = (true, 1.0),
            FAILED,
            0,
            &["twist", "set_states"],
        ),
        (
            |r| (r.set_acceleration, r.state.acceleration.angular.z) = (true, f64::NAN),
            FAILED,
            0,
            &["acceleration"],
        ),
        (
            |r| {
                r.entity = "copter1".into();
                (r.set_twist, r.state.twist.linear.x) = (true, 1.0);
            },
            UNSUPPORTED,
            0,
            &["twist", "CopterSim"],
        ),
        (|r| r.entity = "scene/Cube_2".into(), FAILED, 0, &["map"]),
    ];
    for (i, (change, code, sent, words)) in cases.into_iter().enumerate() {
        let mut rig = Rig::new();
        rig.spawn("box", "rflysim://3");
        rig.scene.entities.object("Cube_2", MapPose::default(), None, RosTime(0));
        let (result, count) = set_state(&mut rig, change);
        assert_result(&result, code, words);
        assert_eq!(count, sent, "case {i}");
    }
}

fn state(rig: &mut Rig, entity: &str) -> GetEntityStateResponse {
    let entity = entity.to_owned();
    rig.call(standard::entity_state, GetEntityStateRequest { entity }).0
}

fn moving() -> EntityMotion {
    EntityMotion {
        pose: MapPose {
            position: Vector::new(10.0, 20.0, -5.0),
            attitude: Attitude::<Frd, Ned>::from_euler(Euler::new(0.0, 0.0, 0.0)),
        },
        velocity: Vector::<Ned>::new(1.0, 2.0, 3.0),
        rate: Some(Vector::<Frd>::new(0.1, 0.2, 0.3)),
        stamp: RosTime(5_000_000_000),
    }
}

#[test]
fn the_state_of_a_vehicle_is_its_true_one_in_the_map() {
    let mut rig = Rig::new();
    assert_result(&state(&mut rig, "copter1").result, FAILED, &["CopterSim", "true states"]);
    rig.scene.entities.set_motion(1, moving());
    let response = state(&mut rig, "copter1");
    assert_result(&response.result, OK, &[]);
    let EntityState { header, pose, twist, .. } = response.state;
    assert_eq!((header.frame_id.as_str(), header.stamp.sec), ("map", 5));
    let p = pose.position;
    assert_eq!([p.x, p.y, p.z], [20.0, 10.0, 5.0]);
    // It faces north: +90 degrees.
    assert!((pose.orientation.z - 0.5_f64.sqrt()).abs() < 1e-12);
    let v = twist.linear;
    assert_eq!([v.x, v.y, v.z], [2.0, 1.0, -3.0]);
    // Forward is north, right is east, down is down.
    let w = twist.angular;
    for (made, wanted) in [w.x, w.y, w.z].into_iter().zip([0.2, 0.1, -0.3]) {
        assert!((made - wanted).abs() < 1e-12, "{w:?}");
    }
    assert_result(&state(&mut rig, "copter").result, NOT_FOUND, &["did you mean"]);
}

#[test]
fn a_pose_in_the_frame_of_an_entity_is_turned_and_moved_with_it() {
    let mut rig = Rig::new();
    rig.scene.entities.set_motion(1, moving());
    let mut wish = request("ahead", "rflysim://3");
    wish.initial_pose = stamped("copter1", pose([2.0, 0.0, 1.0], IDENTITY));
    let (response, _) = rig.call(standard::spawn_entity, wish);
    assert_result(&response.result, OK, &[]);
    let p = state(&mut rig, "ahead").state.pose.position;
    // 2 m north of the vehicle, which is at (20, 10, 5) in ENU, and 1 m above.
    for (made, wanted) in [p.x, p.y, p.z].into_iter().zip([20.0, 12.0, 6.0]) {
        assert!((made - wanted).abs() < 1e-9, "{p:?}");
    }
}

#[test]
fn a_pose_comes_back_as_it_was_set() {
    let mut rig = Rig::new();
    rig.spawn("box", "rflysim://3");
    let wanted = pose_of([3.0, -4.0, -5.0], [0.3, -0.4, 2.0]);
    let again = wanted.clone();
    let (result, _) = set_state(&mut rig, move |r| r.state.pose = again.clone());
    assert_result(&result, OK, &[]);
    let made = state(&mut rig, "box").state.pose;
    let numbers = |pose: &Pose| {
        let (p, q) = (&pose.position, &pose.orientation);
        [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
    };
    let same = numbers(&made).iter().zip(numbers(&wanted)).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(same, "{made:?} instead of {wanted:?}");
}

#[test]
fn bounds_are_those_that_the_renderer_described() {
    let mut rig = Rig::new();
    rig.spawn("box", "rflysim://3");
    rig.scene.entities.object("Cube_2", MapPose::default(), None, RosTime(0));
    let bounds = |rig: &Rig, entity: &str| {
        let entity = entity.to_owned();
        standard::entity_bounds(&rig.scene, &GetEntityBoundsRequest { entity })
    };
    assert_eq!(bounds(&rig, "box"), None, "the renderer has to be asked");
    let unknown = bounds(&rig, "boxx").unwrap().result;
    assert_result(&unknown, NOT_FOUND, &["\"box\""]);
    let none = bounds(&rig, "scene/Cube_2").unwrap().result;
    assert_result(&none, FAILED, &["no bounds"]);
    let extent = Extent { centre: [0.0, 0.0, 0.5], half: [1.0, 2.0, 0.5] };
    let entities: &mut Entities = &mut rig.scene.entities;
    entities.describe(10_001, MapPose::default(), Some(extent), RosTime(0));
    let response = bounds(&rig, "box").unwrap();
    assert_result(&response.result, OK, &[]);
    assert_eq!(response.bounds.type_, 1);
    // Upper right corner first.
    let points = response.bounds.points.iter().map(|p| [p.x, p.y, p.z]);
    let points: Vec<_> = points.collect();
    assert_eq!(points, [[1.0, 2.0, 1.0], [-1.0, -2.0, 0.0]]);
    assert_result(&standard::no_bounds("box", 2.0).result, FAILED, &["box", "2 s", "20006"]);
}
