use super::rig::{Rig, near, pose, still};
use rfly_bridge::emulator::AngleUnit;
use rfly_bridge::emulator::Faults;
use rfly_bridge::wire::{Packet as _, RangeRecord, RequestLayout, SensorRequest};

/// Where a range finder says that its ray starts, and its roll, pitch, yaw in degrees.
fn ray(rig: &Rig, request: &SensorRequest) -> ([f64; 3], [f64; 3]) {
    let payload = rig.shoot(request).payload;
    let record = RangeRecord::parse(&payload).unwrap();
    (
        record.ray_start.map(|v| v.get().into()),
        record.ray_angles.map(|v| f64::from(v.get()).to_degrees()),
    )
}

fn assert_ray(found: ([f64; 3], [f64; 3]), position: [f64; 3], degrees: [f64; 3], mount: &str) {
    for i in 0..3 {
        near(found.0[i], position[i], 1e-5, &format!("{mount}: position {i}"));
        near(found.1[i], degrees[i], 1e-4, &format!("{mount}: angle {i}"));
    }
}

/// Nose to the east, lying on its right side.
fn rig() -> Rig {
    Rig::start(still(&[pose([1.0, 2.0, -5.0], [90.0, 0.0, 90.0])], &[]))
}

fn mounted(rig: &Rig, mount_type: u16) -> SensorRequest {
    SensorRequest { mount_type, position: [0.3, 0.2, 0.1], ..rig.request(1, 5) }
}

#[test]
fn mount_0_follows_the_vehicle_in_position_and_attitude() {
    let rig = rig();
    // Forward (0.3) is east, right (0.2) is down, and down (0.1) = forward x right = east x down = north.
    let (position, angles) = ray(&rig, &mounted(&rig, 0));
    assert_ray(
        (position, angles),
        [1.0 + 0.1, 2.0 + 0.3, -5.0 + 0.2],
        [90.0, 0.0, 90.0],
        "vehicle centre",
    );
}

#[test]
fn mount_1_starts_at_the_bottom_of_the_vehicle() {
    let rig = rig();
    // The bottom is 0.15 m along the body's z axis, which points north here.
    let found = ray(&rig, &mounted(&rig, 1));
    assert_ray(
        found,
        [1.0 + 0.15 + 0.1, 2.0 + 0.3, -5.0 + 0.2],
        [90.0, 0.0, 90.0],
        "vehicle bottom",
    );
}

#[test]
fn mount_2_stands_on_the_ground_at_world_coordinates() {
    let rig = rig();
    let request = SensorRequest { euler: [0.0, -45.0, 10.0], ..mounted(&rig, 2) };
    assert_ray(ray(&rig, &request), [0.3, 0.2, 0.1], [0.0, -45.0, 10.0], "ground");
}

#[test]
fn mount_3_keeps_its_attitude_and_offset_in_the_ground_frame() {
    let rig = rig();
    let request = SensorRequest { euler: [0.0, -20.0, 0.0], ..mounted(&rig, 3) };
    assert_ray(ray(&rig, &request), [1.3, 2.2, -4.9], [0.0, -20.0, 0.0], "level");
}

#[test]
fn mount_4_rides_on_another_sensor() {
    let rig = Rig::start(still(&[pose([1.0, 2.0, -5.0], [0.0; 3])], &[]));
    let carrier = SensorRequest {
        check_freq: 1, // its own frames are of no interest
        euler: [0.0, 0.0, 90.0],
        position: [0.5, 0.0, 0.0],
        ..rig.request(7, 5)
    };
    let mut silent = carrier;
    silent.send_protocol.port = 9; // `discard`
    rig.send(&silent);
    let rider = SensorRequest {
        mount_type: 4,
        target_copter: 7,
        position: [0.0, 0.2, 0.0],
        euler: [0.0, -30.0, 0.0],
        ..rig.request(8, 5)
    };
    // The carrier looks east, so that its right is south.
    assert_ray(ray(&rig, &rider), [1.5 - 0.2, 2.0, -5.0], [0.0, -30.0, 90.0], "sensor on sensor");
}

#[test]
fn a_sensor_on_a_missing_carrier_comes_to_life_with_it() {
    let rig = rig();
    let rider = SensorRequest { mount_type: 4, target_copter: 3, ..rig.request(8, 5) };
    rig.send(&rider);
    super::rig::wait(|| rig.emulator.stats().requests == 1);
    let mut carrier =
        SensorRequest { mount_type: 2, position: [4.0, 0.0, -1.0], ..rig.request(3, 5) };
    carrier.send_protocol.port = 9;
    rig.send(&carrier);
    let frame = rig.frame();
    let record = RangeRecord::parse(&frame.payload).unwrap();
    assert_eq!(record.ray_start.map(|v| v.get()), [4.0, 0.0, -1.0]);
}

#[test]
fn angles_are_degrees_or_radians_as_chosen_but_always_degrees_for_the_pod() {
    let start = |unit| {
        let world = still(&[pose([0.0, 0.0, -5.0], [0.0; 3])], &[]);
        Rig::with(world, |o| o.angle_unit = unit, Faults::default())
    };
    let rig = start(AngleUnit::Radians);
    let request = SensorRequest { euler: [0.0, -0.5, 0.25], ..rig.request(1, 5) };
    assert_ray(
        ray(&rig, &request),
        [0.0, 0.0, -5.0],
        [0.0, (-0.5f64).to_degrees(), 0.25f64.to_degrees()],
        "radians",
    );
    // The pod looks straight down: 5 m everywhere, seen by a range finder that rides on it.
    let mut pod = SensorRequest { euler: [0.0, -90.0, 0.0], ..rig.request(2, 9) };
    pod.send_protocol.port = 9;
    rig.send(&pod);
    let rider = SensorRequest { mount_type: 4, target_copter: 2, ..rig.request(3, 5) };
    let payload = rig.shoot(&rider).payload;
    near(RangeRecord::parse(&payload).unwrap().distance.get().into(), 5.0, 1e-5, "distance");
}

#[test]
fn a_quaternion_counts_when_the_request_says_so() {
    let rig = Rig::start(still(&[pose([0.0, 0.0, -5.0], [0.0; 3])], &[]));
    let half = 0.5f32.sqrt();
    let request = SensorRequest {
        euler: [0.0, -10.0, 0.0],
        quaternion: [half, 0.0, 0.0, half],
        eular_or_quat: 1.0,
        ..rig.request(1, 5)
    };
    assert_ray(ray(&rig, &request), [0.0, 0.0, -5.0], [0.0, 0.0, 90.0], "quaternion");
    let euler = SensorRequest { eular_or_quat: 0.5, ..request };
    assert_ray(ray(&rig, &euler), [0.0, 0.0, -5.0], [0.0, -10.0, 0.0], "Euler");
}

#[test]
fn a_masked_update_changes_only_what_its_bits_name() {
    for (type_id, layout) in
        [(9, RequestLayout::Gimbal), (9, RequestLayout::Long), (1, RequestLayout::Long)]
    {
        masked_update(type_id, layout);
    }
}

fn masked_update(type_id: u16, layout: RequestLayout) {
    let rig = Rig::start(still(&[pose([0.0, 0.0, -5.0], [0.0; 3])], &[]));
    let mut pod = SensorRequest { euler: [0.0, -90.0, 0.0], layout, ..rig.request(2, type_id) };
    pod.send_protocol.port = 9;
    rig.send(&pod);
    // Field of view only (bit 6): the angle in the same datagram must not count.
    let update = SensorRequest { bitmask: 1 << 6, euler: [0.0; 3], fov_deg: 30.0, ..pod };
    rig.send(&update);
    super::rig::wait(|| rig.emulator.stats().requests == 2);
    let rider = SensorRequest { mount_type: 4, target_copter: 2, ..rig.request(3, 5) };
    assert_ray(ray(&rig, &rider), [0.0, 0.0, -5.0], [0.0, -90.0, 0.0], "pod after a zoom");
}
