//! The user's file.
use super::rig::{Rig, request};
use rfly_bridge::msgs::simulation_interfaces::srv::*;
use rfly_bridge::scene::{Category, Library, standard};

const FILE: &str = r#"{
  "models": [
    {"name": "forklift", "class": 800, "style": 2, "category": "dynamic_object", "description": "a forklift", "size": [2, 1, 2.2]},
    {"name": "light_red", "class": 61}
  ],
  "worlds": [{"name": "Hangar", "tags": ["indoor"]}],
  "poses": [
    {"name": "pad", "tags": ["spawn", "drone"], "position": [1, 2, 3], "yaw_deg": 90, "bounds": {"box": [[-1, -1, 0], [1, 1, 2]]}},
    {"name": "gate", "position": [0, 0, 0], "orientation": [0, 0, 0, 1], "bounds": {"sphere": {"centre": [0, 0, 0], "radius": 2}}},
    {"name": "home", "position": [0, 0, 0]}
  ]
}"#;

fn rig() -> Rig {
    Rig::with(10_001..=20_000, Library::with_file("scene.json", FILE).unwrap())
}

#[test]
fn models_and_maps_of_the_file_are_used_like_the_built_in_ones() {
    let mut rig = rig();
    let (response, sent) = rig.spawn("f", "rflysim://forklift?scale=2");
    assert_eq!(response.result.result, 1, "{:?}", response.result);
    let word = |at: usize| i32::from_le_bytes(sent[0].bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(4), word(8)), (10_001, 2800));
    assert_eq!(rig.scene.entities.find("f").unwrap().1.info.category, Category::DynamicObject);
    // Replaces the built-in one, in any case.
    let (_, sent) = rig.spawn("l", "rflysim://Light_Red");
    assert_eq!(i32::from_le_bytes(sent[0].bytes[8..12].try_into().unwrap()), 61);
    let (spawnables, _) = rig.call(standard::spawnables, Default::default());
    let forklift =
        spawnables.spawnables.iter().find(|s| s.entity_resource.uri.ends_with("forklift"));
    let forklift = forklift.unwrap();
    assert_eq!(forklift.description, "a forklift");
    assert_eq!(forklift.spawn_bounds.points[0].x, 1.0);
    let lights = spawnables
        .spawnables
        .iter()
        .filter(|s| s.entity_resource.uri.eq_ignore_ascii_case("rflysim://light_red"));
    assert_eq!(lights.count(), 1);
    let request = GetAvailableWorldsRequest {
        filter: rfly_bridge::msgs::simulation_interfaces::msg::TagsFilter {
            tags: vec!["indoor".to_owned()],
            filter_mode: 0,
        },
        ..GetAvailableWorldsRequest::default()
    };
    let (worlds, _) = rig.call(standard::available_worlds, request);
    let names: Vec<_> = worlds.worlds.iter().map(|world| world.name.as_str()).collect();
    assert_eq!(names, ["Hangar"]);
}

#[test]
fn named_poses_have_tags_and_bounds() {
    let mut rig = rig();
    let (all, _) = rig.call(standard::named_poses, Default::default());
    assert_eq!(all.result.result, 1);
    let names: Vec<_> = all.poses.iter().map(|pose| pose.name.as_str()).collect();
    assert_eq!(names, ["pad", "gate", "home"]);
    let turned = &all.poses[0].pose.orientation;
    assert!((turned.z - 0.5_f64.sqrt()).abs() < 1e-12 && (turned.w - 0.5_f64.sqrt()).abs() < 1e-12);
    let mut tagged = GetNamedPosesRequest::default();
    tagged.tags.tags = vec!["drone".to_owned(), "car".to_owned()];
    assert_eq!(rig.call(standard::named_poses, tagged.clone()).0.poses.len(), 1);
    tagged.tags.filter_mode = 1;
    assert_eq!(rig.call(standard::named_poses, tagged.clone()).0.poses.len(), 0);
    tagged.tags.filter_mode = 7;
    assert_eq!(rig.call(standard::named_poses, tagged).0.result.result, 4);
    let mut bounds = |name: &str| {
        let name = name.to_owned();
        rig.call(standard::named_pose_bounds, GetNamedPoseBoundsRequest { name }).0
    };
    for (name, type_, count) in [("pad", 1, 2), ("gate", 3, 2), ("home", 0, 0)] {
        let found = bounds(name);
        assert_eq!(
            (found.result.result, found.bounds.type_, found.bounds.points.len()),
            (1, type_, count)
        );
    }
    let unknown = bounds("padd");
    assert_eq!(unknown.result.result, 2);
    assert!(unknown.result.error_message.contains("\"pad\""));
    let name = "pad".to_owned();
    let (none, _) =
        Rig::new().call(standard::named_pose_bounds, GetNamedPoseBoundsRequest { name });
    assert!(none.result.error_message.contains("scene.file"));
}

/// Numbers of start scripts and scenes of 2026 (sendUE4Pos): an injured person is class 30, style 116.
#[test]
fn classes_have_32_bits() {
    let file = r#"{"models": [
        {"name": "injured", "class": 116000030}, {"name": "injured_too", "class": 30, "style": 116}, {"name": "car", "class": 100000821}
    ]}"#;
    let library = Library::with_file("scene.json", file).unwrap();
    let mut rig = Rig::with(10_001..=20_000, library);
    let spawn = |rig: &mut Rig, resource: &str| {
        let mut wanted = request("", &format!("rflysim://{resource}"));
        wanted.allow_renaming = true;
        rig.call(standard::spawn_entity, wanted)
    };
    for (resource, number) in [
        ("116000030", 116_000_030),
        ("30?style=116", 116_000_030),
        ("injured", 116_000_030),
        ("injured_too", 116_000_030),
        ("100000821", 100_000_821),
        ("car", 100_000_821),
        ("825?style=101", 101_000_825),
        ("2147000999?style=0&scale=2", 2_147_000_999),
        ("1003", 1003),
        ("100003", 100_003),
        ("3?style=64", 64_003),
        ("969", 969),
        ("30?style=2&factor=100000", 200_030),
        ("3?factor=1000&style=65", 65_003),
        ("821?style=100&factor=1000000", 100_000_821),
        ("1000", 1000),
        ("1000813", 1_000_813),
        ("2147483647", i32::MAX),
    ] {
        let (response, sent) = spawn(&mut rig, resource);
        assert_eq!(response.result.result, 1, "{resource}: {:?}", response.result);
        assert_eq!(sent[0].bytes[8..12], i32::to_le_bytes(number), "{resource}");
    }
    for (resource, word) in [
        ("30?style=65", "from 100 to 2147"),
        ("30?style=2148", "from 100 to 2147"),
        ("116000030?style=2", "0 with a class above 999"),
        ("injured?style=2", "0 with a class above 999"),
        ("1000?style=2", "0 with a class above 999"),
        ("3?style=-1", "from 0"),
        ("3?style=1&factor=7", "one of [1000, 100000, 1000000]"),
        ("2003?style=1&factor=1000", "factor=100000"),
        ("3?style=30000&factor=100000", "style-factor"),
        ("0", "1 to 2147483647"),
        ("2147483648", "1 to 2147483647"),
    ] {
        let (response, sent) = spawn(&mut rig, resource);
        assert_eq!((response.result.result, sent), (106, vec![]), "{resource}");
        let message = &response.result.error_message;
        assert!(message.contains(word), "{resource}: {message}");
    }
    let (person, _) =
        (rig.scene.entities.iter()).find(|(_, entity)| entity.vehicle_type == 116_000_030).unwrap();
    assert_eq!(person, "class116000030_1");
    let kind = rig.scene.entities.find(person).unwrap().1.info.category;
    assert_eq!(kind, Category::Human, "the category is that of the class");
}

#[test]
fn all_problems_of_a_file_are_said_at_once() {
    let text = r#"{
      "models": [{"name": "a b", "class": 3}, {"name": "5", "class": 3}, {"name": "c", "class": 0}, {"name": "d", "class": 3, "style": 65},
                 {"name": "e", "class": 3, "size": [0, 1, 1]}, {"name": "f", "class": 3}, {"name": "F", "class": 3}],
      "worlds": [{"name": ""}],
      "poses": [{"name": "p", "position": [0, 0, 1e9]}, {"name": "q", "position": [0, 0, 0], "orientation": [0, 0, 0, 2]},
                {"name": "r", "position": [0, 0, 0], "orientation": [0, 0, 0, 1], "yaw_deg": 1},
                {"name": "s", "position": [0, 0, 0], "bounds": {"sphere": {"centre": [0, 0, 0], "radius": -1}}}]
    }"#;
    let problems = Library::with_file("scene.json", text).unwrap_err().to_string();
    for wanted in [
        "models[0]",
        "models[1]",
        "models[2]",
        "models[3]",
        "models[4]",
        "\"F\" occurs twice",
        "worlds[0]",
        "poses[0]",
        "poses[1]",
        "poses[2]",
        "poses[3]",
    ] {
        assert!(problems.contains(wanted), "{wanted} is missing:\n{problems}");
    }
    for (bad, word) in [
        ("", "line 1"),
        ("[]", "scene.json"),
        (r#"{"model": []}"#, "unknown field"),
        (r#"{"models": [{"name": "a"}]}"#, "class"),
        (r#"{"models": [{"name": "a", "class": 3, "category": "car"}]}"#, "dynamic_object"),
    ] {
        let problems = Library::with_file("scene.json", bad).unwrap_err().to_string();
        assert!(problems.contains(word), "{bad}: {problems}");
    }
}
