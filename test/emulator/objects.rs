use super::rig::{Rig, block, near, pose, still};
use crate::support::wait::wait_for;
use rfly_bridge::emulator::class_colour;
use rfly_bridge::emulator::world::World;
use rfly_bridge::wire::{
    BoxEntry, ListView, Packet as _, RangeRecord, SensorRequest, TargetEntry, TrueState,
};

#[test]
fn a_range_finder_measures_along_its_axis_and_names_what_it_hits() {
    let world =
        still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[block([10.0, 0.0, -2.0], [1.0, 1.0, 2.0])]);
    let rig = Rig::start(world);
    let shoot = |pitch: f32, limit: f32| {
        let mut request = SensorRequest { euler: [0.0, pitch, 0.0], ..rig.request(1, 5) };
        request.other_params[0] = limit;
        *RangeRecord::parse(&rig.shoot(&request).payload).unwrap()
    };
    let ahead = shoot(0.0, 200.0);
    near(ahead.distance.get().into(), 9.0, 1e-5, "distance of the box");
    assert_eq!(ahead.copter_id.get(), 1001, "the first box of the scene");
    assert_eq!(ahead.impact_point.map(|v| v.get()), [9.0, 0.0, -2.0]);
    assert_eq!(ahead.box_origin.map(|v| v.get()), [10.0, 0.0, -2.0]);
    let below = shoot(-30.0, 200.0);
    near(below.distance.get().into(), 4.0, 1e-5, "2 m / sin 30 degrees");
    assert_eq!(below.copter_id.get(), 1000, "the ground");
    for beyond in [shoot(30.0, 200.0), shoot(0.0, 5.0)] {
        assert_eq!(beyond.copter_id.get(), -1, "nothing in range");
    }
    assert_eq!(shoot(0.0, 5.0).distance.get(), 5.0);
}

#[test]
fn a_box_frames_exactly_the_pixels_of_its_vehicle() {
    let world =
        still(&[pose([0.0, 0.0, -2.0], [0.0; 3]), pose([5.0, 1.0, -2.5], [10.0, -5.0, 30.0])], &[]);
    let rig = Rig::start(world);
    let size = |request| SensorRequest { width: 640, height: 480, ..request };
    let image = rig.shoot(&size(rig.request(1, 4))).payload;
    let colour = class_colour(102);
    let hits: Vec<_> = (0..640 * 480usize).filter(|i| image[3 * i..3 * i + 3] == colour).collect();
    let payload = rig.shoot(&size(rig.request(1, 30))).payload;
    let list = ListView::<BoxEntry>::parse(&payload).unwrap();
    let [entry] = list.entries() else { panic!("one other vehicle") };
    assert_eq!(entry.copter_id.get(), 2);
    assert_eq!(entry.credibility.get(), 1.0, "nothing stands in front of it");
    // Every pixel is inside; the gap to the edge is less than two, because the tip of a corner can be thin.
    let columns = || hits.iter().map(|i| (i % 640) as f64);
    let rows = || hits.iter().map(|i| (i / 640) as f64);
    let tight =
        |outward: f64, what: &str| assert!((0.0..2.0).contains(&outward), "{what}: {outward} px");
    tight(columns().reduce(f64::min).unwrap() - f64::from(entry.min_x.get()), "left");
    tight(f64::from(entry.max_x.get()) - columns().reduce(f64::max).unwrap(), "right");
    tight(rows().reduce(f64::min).unwrap() - f64::from(entry.min_y.get()), "top");
    tight(f64::from(entry.max_y.get()) - rows().reduce(f64::max).unwrap(), "bottom");
}

#[test]
fn what_hides_behind_a_box_or_the_camera_is_not_detected() {
    let world = still(
        &[
            pose([0.0, 0.0, -2.0], [0.0; 3]),
            pose([8.0, 0.0, -2.0], [0.0; 3]),  // behind the box
            pose([-5.0, 0.0, -2.0], [0.0; 3]), // behind the camera
            pose([4.0, 3.0, -2.0], [0.0; 3]),
        ],
        &[block([5.0, 0.0, -2.0], [0.5, 1.0, 2.0])],
    );
    let rig = Rig::start(world);
    let payload =
        rig.shoot(&SensorRequest { width: 640, height: 480, ..rig.request(1, 30) }).payload;
    let ids: Vec<_> = ListView::<BoxEntry>::parse(&payload)
        .unwrap()
        .entries()
        .iter()
        .map(|e| e.copter_id.get())
        .collect();
    assert_eq!(ids, [4]);
}

#[test]
fn targets_are_positions_in_the_sensor_frame_nearest_first_within_limits() {
    let world = still(
        &[
            pose([1.0, 1.0, -5.0], [0.0, 0.0, 90.0]),
            pose([1.0, 7.0, -7.0], [0.0; 3]), // 6 m ahead of the nose, 2 m higher
            pose([4.0, 1.0, -5.0], [0.0; 3]), // 3 m to the left
            pose([1.0, 41.0, -5.0], [0.0; 3]),
        ],
        &[],
    );
    let rig = Rig::start(world);
    let list = |distance: f32, number: f32| {
        let mut request = rig.request(1, 31);
        request.other_params[..2].copy_from_slice(&[distance, number]);
        let payload = rig.shoot(&request).payload;
        let list = ListView::<TargetEntry>::parse(&payload).unwrap();
        list.entries()
            .iter()
            .map(|e| (e.copter_id.get(), e.position.map(|v| v.get().round())))
            .collect::<Vec<_>>()
    };
    let all = [(3, [0.0, 3.0, 0.0]), (2, [6.0, 0.0, 2.0]), (4, [40.0, 0.0, 0.0])];
    let found = list(0.0, 0.0);
    assert_eq!(found, all);
    assert_eq!(list(20.0, 0.0), all[..2]);
    assert_eq!(list(0.0, 1.0), all[..1]);
}

#[test]
fn sensors_of_one_tick_agree_with_each_other_and_with_the_true_state() {
    let rig = Rig::start(World::flying(2));
    // The position of the other vehicle, and that of the carrier in the true state of the very same time.
    // At 20 Hz, so that the receive buffers hold ten seconds.
    rig.send(&SensorRequest { check_freq: 20, ..rig.request(1, 31) });
    let mut compared = 0;
    let mut buffer = [0; 256];
    while compared < 20 {
        let frame = rig.frame();
        let list = ListView::<TargetEntry>::parse(&frame.payload).unwrap();
        let target =
            list.entries().iter().find(|e| e.copter_id.get() == 2).expect("the other vehicle");
        let frd = nalgebra::Vector3::from(target.position.map(|v| f64::from(v.get())));
        let frd = nalgebra::Vector3::new(frd.x, -frd.y, -frd.z);
        let own = wait_for("the true state of the frame's tick", || {
            let len = rig.states.recv(&mut buffer).expect("a true state");
            let state = TrueState::parse(&buffer[..len]).unwrap();
            assert!(
                state.sim_time <= frame.sim_time,
                "the state of this tick was sent before the frame"
            );
            (state.sim_time == frame.sim_time && state.copter_id == 1).then_some(state)
        });
        let [w, x, y, z] = own.quaternion.unwrap();
        let attitude =
            nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z));
        let other = nalgebra::Vector3::from(own.position) + attitude * frd;
        let truth = World::flying(2).at(frame.sim_time).vehicle(2).unwrap().pose.position;
        assert!((other - truth).norm() < 1e-4, "{other} instead of {truth}");
        compared += 1;
    }
}
