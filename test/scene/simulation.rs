//! Maps and the simulation as a whole, by the standard's codes.
use super::rig::{Rig, assert_result};
use rfly_bridge::msgs::simulation_interfaces::msg::{SimulationState, TagsFilter};
use rfly_bridge::msgs::simulation_interfaces::srv::*;
use rfly_bridge::scene::standard;

const UNSUPPORTED: u8 = 0;
const OK: u8 = 1;
const NOT_FOUND: u8 = 2;
const FAILED: u8 = 4;

#[test]
fn worlds_are_found_by_name_and_number_and_all_else_is_refused() {
    type Change = fn(&mut LoadWorldRequest);
    let cases: [(Change, u8, &[&str]); 9] = [
        (|r| r.world_resource.uri = "rflysim://map/3DDisplay".into(), OK, &[]),
        (|r| r.world_resource.uri = "rflysim://map/12".into(), OK, &[]),
        (|_| {}, 102, &["rflysim://map/Grasslands"]),
        (|r| r.world_resource.resource_string = "<sdf/>".into(), UNSUPPORTED, &["uri"]),
        (|r| r.world_resource.uri = "Grasslands".into(), 101, &["rflysim://map/Grasslands"]),
        (|r| r.world_resource.uri = "file:///a.world".into(), 101, &["own maps"]),
        (|r| r.world_resource.uri = "rflysim://Grasslands".into(), 103, &["rflysim://map/"]),
        (|r| r.world_resource.uri = "rflysim://map/70000".into(), 103, &["65535"]),
        (
            |r| r.world_resource.uri = "rflysim://map/Graslands".into(),
            NOT_FOUND,
            &["Grasslands", "GetAvailableWorlds"],
        ),
    ];
    for (i, (change, code, words)) in cases.into_iter().enumerate() {
        let mut rig = Rig::new();
        rig.spawn("box", "rflysim://3");
        let mut request = LoadWorldRequest::default();
        change(&mut request);
        let uri = request.world_resource.uri.clone();
        let (response, sent) = rig.call(standard::load_world, request);
        assert_result(&response.result, code, words);
        // What was spawned is removed first.
        let loaded = code == OK;
        assert_eq!((rig.map_changed, sent.len()), (loaded, if loaded { 3 } else { 0 }), "case {i}");
        assert_eq!(rig.scene.entities.has("box"), !loaded);
        let (current, _) = rig.call(standard::current_world, GetCurrentWorldRequest::default());
        if loaded {
            assert_eq!(response.world.world_resource.uri, uri);
            assert_result(&current.result, OK, &[]);
            assert_eq!(current.world, response.world);
        } else {
            assert_result(&current.result, FAILED, &["scene.world", "LoadWorld"]);
        }
    }
    let (response, _) = Rig::new().call(standard::unload_world, UnloadWorldRequest::default());
    assert_result(&response.result, UNSUPPORTED, &["LoadWorld"]);
}

#[test]
fn worlds_and_spawnables_that_are_listed_can_be_used() {
    let (worlds, _) = Rig::new().call(standard::available_worlds, Default::default());
    assert_result(&worlds.result, OK, &[]);
    assert!(worlds.worlds.len() >= 24);
    for world in worlds.worlds {
        let mut rig = Rig::new();
        let request = LoadWorldRequest {
            world_resource: world.world_resource.clone(),
            ..LoadWorldRequest::default()
        };
        let (response, _) = rig.call(standard::load_world, request);
        assert_result(&response.result, OK, &[]);
        assert_eq!(response.world, world);
    }
    let (spawnables, _) = Rig::new().call(standard::spawnables, Default::default());
    assert_result(&spawnables.result, OK, &[]);
    assert!(spawnables.spawnables.len() > 50);
    for spawnable in spawnables.spawnables {
        let (response, _) = Rig::new().spawn("x", &spawnable.entity_resource.uri);
        assert_result(&response.result, OK, &[]);
    }
    let sources = vec!["elsewhere".to_owned()];
    let (found, _) = Rig::new().call(standard::spawnables, GetSpawnablesRequest { sources });
    assert_result(&found.result, OK, &["elsewhere"]);
    for (continue_on_error, code) in [(false, FAILED), (true, OK)] {
        let request = GetAvailableWorldsRequest {
            additional_sources: vec!["elsewhere".to_owned()],
            continue_on_error,
            ..GetAvailableWorldsRequest::default()
        };
        let (found, _) = Rig::new().call(standard::available_worlds, request);
        assert_result(&found.result, code, &["elsewhere"]);
        assert_eq!(found.worlds.is_empty(), code == FAILED);
    }
    let request = GetAvailableWorldsRequest {
        filter: TagsFilter { tags: vec!["indoor".to_owned()], filter_mode: 0 },
        ..GetAvailableWorldsRequest::default()
    };
    let (found, _) = Rig::new().call(standard::available_worlds, request);
    assert_eq!((found.result.result, found.worlds), (OK, vec![]));
}

#[test]
fn features_are_those_whose_services_do_not_refuse() {
    let (response, _) = Rig::new().call(standard::features, Default::default());
    let features = response.features.features;
    // Numbers of SimulatorFeatures.msg.
    for served in [0, 1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13, 14, 20, 22, 23, 24, 40, 42, 44, 45, 50] {
        assert!(features.contains(&served), "{served}");
    }
    // Convex bounds, text resources, time, setting of the state, pause, steps, unloading.
    for refused in [7, 9, 21, 25, 26, 31, 32, 33, 41, 43] {
        assert!(!features.contains(&refused), "{refused}");
    }
    let (step, _) = Rig::new().call(standard::step_simulation, Default::default());
    assert_result(&step.result, UNSUPPORTED, &["paused"]);
}

#[test]
fn the_simulation_plays_or_has_not_been_heard_and_cannot_be_changed() {
    for (playing, now, wanted) in [
        (
            true,
            1,
            [(0, UNSUPPORTED), (1, 101), (2, UNSUPPORTED), (3, UNSUPPORTED), (4, 103), (9, FAILED)],
        ),
        (false, 0, [(0, 101), (1, 102), (2, 103), (3, UNSUPPORTED), (5, 103), (6, FAILED)]),
    ] {
        let mut rig = Rig::new();
        rig.playing = playing;
        let (response, _) = rig.call(standard::simulation_state, Default::default());
        assert_eq!((response.result.result, response.state.state), (OK, now));
        for (state, code) in wanted {
            let state = SimulationState { state };
            let request = SetSimulationStateRequest { state };
            let (response, sent) = rig.call(standard::set_simulation_state, request);
            assert_result(&response.result, code, &[]);
            assert_eq!(sent, []);
        }
    }
}

#[test]
fn a_reset_does_what_its_scope_says() {
    for (scope, code, remark, sent, left) in [
        (0, OK, "time", 3, false),
        (255, OK, "time", 3, false),
        (1, UNSUPPORTED, "time", 0, true),
        (2, OK, "", 2, true),
        (4, OK, "", 1, false),
        (5, OK, "time", 1, false),
        (8, FAILED, "scope", 0, true),
    ] {
        let mut rig = Rig::new();
        rig.spawn("box", "rflysim://3");
        let request = ResetSimulationRequest { scope };
        let (response, datagrams) = rig.call(standard::reset_simulation, request);
        assert_result(&response.result, code, &[remark]);
        assert_eq!(datagrams.len(), sent, "scope {scope}");
        assert_eq!(rig.scene.entities.has("box"), left, "scope {scope}");
    }
}
