//! Queries of entities.
use super::rig::{Rig, pose, request, stamped};
use rfly_bridge::msgs::geometry_msgs::msg::Vector3;
use rfly_bridge::msgs::simulation_interfaces::msg::{
    Bounds, EntityCategory, EntityFilters, EntityInfo, TagsFilter,
};
use rfly_bridge::msgs::simulation_interfaces::srv::*;
use rfly_bridge::scene::{Extent, MapPose, standard};
use rfly_bridge::time::RosTime;

/// Two vehicles without a place, a person at (10, 0, 0), a light at (0, 10, 0) with the tag `red`, an object of the map.
fn rig() -> Rig {
    let mut rig = Rig::new();
    for (name, uri, at) in
        [("person", "rflysim://30", [10.0, 0.0, 0.0]), ("light", "rflysim://60", [0.0, 10.0, 0.0])]
    {
        let mut wish = request(name, uri);
        wish.initial_pose = stamped("", pose(at, [1.0, 0.0, 0.0, 0.0]));
        rig.call(standard::spawn_entity, wish);
    }
    let info = EntityInfo {
        category: EntityCategory { category: 5 },
        tags: vec!["red".to_owned(), "lamp".to_owned()],
        ..EntityInfo::default()
    };
    let entity = "light".to_owned();
    rig.call(standard::set_entity_info, SetEntityInfoRequest { entity, info });
    rig.scene.entities.object("Wall_1", MapPose::default(), None, RosTime(0));
    rig
}

fn names(rig: &mut Rig, filters: EntityFilters) -> Vec<String> {
    let (response, _) = rig.call(standard::entities, GetEntitiesRequest { filters });
    assert_eq!(response.result.result, 1, "{:?}", response.result);
    response.entities
}

fn by_name(filter: &str) -> EntityFilters {
    EntityFilters { filter: filter.to_owned(), ..EntityFilters::default() }
}

#[test]
fn names_match_a_regular_expression() {
    let mut rig = rig();
    let all = ["copter1", "copter2", "light", "person", "scene/Wall_1"];
    assert_eq!(names(&mut rig, EntityFilters::default()), all);
    assert_eq!(names(&mut rig, by_name("copter.*")), ["copter1", "copter2"]);
    assert_eq!(names(&mut rig, by_name("^(light|person)$")), ["light", "person"]);
    assert_eq!(names(&mut rig, by_name("[[:digit:]]$")), ["copter1", "copter2", "scene/Wall_1"]);
    assert_eq!(names(&mut rig, by_name("p{2}")), [""; 0]);
    for bad in ["(", "[a", "*", &"a".repeat(1001)] {
        let filters = by_name(bad);
        let (response, _) = rig.call(standard::entities, GetEntitiesRequest { filters });
        assert_eq!((response.result.result, response.entities), (4, vec![]), "{bad}");
        assert!(response.result.error_message.contains("filters.filter"));
    }
}

#[test]
fn categories_and_tags_narrow_the_list() {
    let mut rig = rig();
    let of = |numbers: &[u8]| EntityFilters {
        categories: numbers.iter().map(|category| EntityCategory { category: *category }).collect(),
        ..EntityFilters::default()
    };
    assert_eq!(names(&mut rig, of(&[1])), ["copter1", "copter2"]);
    assert_eq!(names(&mut rig, of(&[2, 5])), ["light", "person", "scene/Wall_1"]);
    let tagged = |tags: &[&str], filter_mode: u8| EntityFilters {
        tags: TagsFilter { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), filter_mode },
        ..EntityFilters::default()
    };
    assert_eq!(names(&mut rig, tagged(&["red", "green"], 0)), ["light"]);
    assert_eq!(names(&mut rig, tagged(&["red", "green"], 1)), [""; 0]);
    assert_eq!(names(&mut rig, tagged(&["red", "lamp"], 1)), ["light"]);
    for (filters, word) in [(of(&[3]), "category"), (tagged(&[], 2), "filter_mode")] {
        let (response, _) = rig.call(standard::entities, GetEntitiesRequest { filters });
        assert_eq!(response.result.result, 4);
        assert!(response.result.error_message.contains(word));
    }
}

fn bounds(type_: u8, points: &[[f64; 3]]) -> EntityFilters {
    let points = points.iter().map(|[x, y, z]| Vector3 { x: *x, y: *y, z: *z });
    EntityFilters { bounds: Bounds { type_, points: points.collect() }, ..EntityFilters::default() }
}

#[test]
fn bounds_take_what_overlaps() {
    let mut rig = rig();
    let sphere = |x: f64, radius: f64| bounds(3, &[[x, 0.0, 0.0], [radius, 0.0, 0.0]]);
    assert_eq!(names(&mut rig, sphere(7.0, 2.9)), [""; 0]);
    assert_eq!(names(&mut rig, sphere(7.0, 3.1)), ["person"]);
    assert_eq!(names(&mut rig, sphere(0.0, 10.5)), ["light", "person", "scene/Wall_1"]);
    let around = bounds(1, &[[1.0, 11.0, 1.0], [-1.0, 9.0, -1.0]]);
    assert_eq!(names(&mut rig, around), ["light"]);
    // A body of 4 m x 1 m x 1 m, of which only the tip is inside.
    let extent = Extent { centre: [0.0; 3], half: [2.0, 0.5, 0.5] };
    rig.scene.entities.describe(10_001, MapPose::default(), Some(extent), RosTime(0));
    assert_eq!(names(&mut rig, sphere(7.0, 1.1)), ["person"]);
    for (filters, code, word) in [
        (bounds(2, &[[0.0; 3]; 4]), 0, "TYPE_CONVEX_HULL"),
        (bounds(4, &[]), 4, "4"),
        (bounds(1, &[[0.0; 3]]), 4, "two points"),
        (bounds(3, &[[0.0; 3], [-1.0, 0.0, 0.0]]), 4, "radius"),
        (bounds(3, &[[f64::NAN, 0.0, 0.0], [1.0, 0.0, 0.0]]), 4, "finite"),
        (bounds(0, &[[0.0; 3]]), 4, "no points"),
    ] {
        let (response, _) = rig.call(standard::entities, GetEntitiesRequest { filters });
        assert_eq!(response.result.result, code, "{word}");
        assert!(response.result.error_message.contains(word), "{:?}", response.result);
    }
}

#[test]
fn states_are_given_of_all_whose_place_is_known() {
    let mut rig = rig();
    let filters = EntityFilters::default();
    let (response, _) = rig.call(standard::entities_states, GetEntitiesStatesRequest { filters });
    assert_eq!(response.result.result, 1);
    assert_eq!(response.entities, ["light", "person", "scene/Wall_1"]);
    let x: Vec<_> = response.states.iter().map(|state| state.pose.position.x).collect();
    assert_eq!(x, [0.0, 10.0, 0.0]);
    let filters = by_name("(");
    let (response, _) = rig.call(standard::entities_states, GetEntitiesStatesRequest { filters });
    assert_eq!(response.result.result, 4);
}
