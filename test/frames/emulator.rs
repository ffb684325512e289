//! The emulator's log of true poses against the tree, for every type of mount. The two share no code.
use crate::support::{geometry as g, golden};
use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults, world};
use rfly_bridge::frames::{
    Attitude, FrameNames, FrameTree, Mount, MountOrientation, SensorMount, Vector, VehiclePose,
};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{Ports, RequestLayout, SendProtocol, SensorRequest};
use serde_json::Value;
use std::net::UdpSocket;

const RANGE_FINDER: u16 = 5;

/// Numbers that a request, which has f32, holds exactly.
fn cases() -> Vec<(SensorMount, [f32; 3], [f32; 4])> {
    let case = |seq_id, mount, position: [f32; 3], degrees: [f32; 3], quaternion: [f32; 4]| {
        let orientation = match quaternion {
            [0.0, 0.0, 0.0, 0.0] => {
                MountOrientation::Euler(degrees.map(|d| f64::from(d).to_radians()))
            }
            q => MountOrientation::Quaternion(q.map(f64::from)),
        };
        let sensor = SensorMount {
            seq_id,
            mount,
            position_frd: position.map(f64::from),
            orientation,
            optical: false,
            moving: false,
            link: None,
            optical_frame: None,
        };
        (sensor, degrees, quaternion)
    };
    let none = [0.0; 4];
    vec![
        case(0, Mount::VehicleCentre(1), [0.25, -0.5, 0.125], [0.0, -30.0, 45.0], none),
        case(1, Mount::VehicleBottom(1), [0.25, 0.5, 0.0], [10.0, -90.0, 0.0], none),
        case(2, Mount::Ground(1), [4.0, -8.0, -2.5], [0.0, 15.0, 120.0], none),
        case(3, Mount::VehicleLevel(1), [0.5, 1.0, -0.75], [0.0, -20.0, 60.0], none),
        case(4, Mount::Sensor(0), [0.125, 0.0, 0.25], [5.0, 25.0, -70.0], none),
        case(5, Mount::Sensor(3), [1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.5, 0.5, -0.5, 0.5]),
        case(6, Mount::VehicleCentre(1), [0.0, 0.0, 0.0], [0.0; 3], [0.75, -0.25, 0.5, 0.25]),
    ]
}

fn request(
    sensor: &SensorMount,
    degrees: [f32; 3],
    quaternion: [f32; 4],
    port: u16,
) -> SensorRequest {
    let (mount_type, target_copter) = match sensor.mount {
        Mount::VehicleCentre(id) => (0, id),
        Mount::VehicleBottom(id) => (1, id),
        Mount::Ground(_) => (2, 1),
        Mount::VehicleLevel(id) => (3, id),
        Mount::Sensor(seq_id) => (4, seq_id),
    };
    let mut other_params = [0.0; 16];
    other_params[0] = 200.0;
    SensorRequest {
        layout: RequestLayout::New,
        seq_id: sensor.seq_id,
        bitmask: 0,
        type_id: RANGE_FINDER,
        target_copter,
        mount_type,
        width: 1,
        height: 1,
        check_freq: 30,
        send_protocol: SendProtocol { mode: 2, port, ..Default::default() },
        fov_deg: 90.0,
        position: sensor.position_frd.map(|v| v as f32),
        eular_or_quat: if quaternion == [0.0; 4] { 0.0 } else { 1.0 },
        euler: degrees,
        quaternion,
        other_params,
    }
}

#[test]
fn the_tree_has_every_sensor_where_the_emulator_rendered_it() {
    let log = std::env::temp_dir().join(format!("rfly_frames_{}.jsonl", std::process::id()));
    let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = sink.local_addr().unwrap().port();
    let ports = Ports {
        window: 0,
        coptersim: 0,
        true_state: port,
        heartbeat: port,
        report: port,
        imu: port,
        ..Default::default()
    };
    let emulator = Emulator::start(
        EmulatorOptions { ports, truth: Some(log.clone()), ..Default::default() },
        Faults::default(),
    )
    .unwrap();
    let sensors = cases();
    for (sensor, degrees, quaternion) in &sensors {
        let request = request(sensor, *degrees, *quaternion, port);
        sink.send_to(request.emit(&mut [0; 148]), emulator.windows()[0]).unwrap();
    }
    // Enough of the flight for all of its attitudes to differ.
    let enough = || {
        let stats = emulator.stats().sensors;
        stats.len() == sensors.len() && stats.values().all(|s| s.frames >= 60)
    };
    let mut patience = 2_400;
    while !enough() {
        std::thread::sleep(std::time::Duration::from_millis(50));
        patience -= 1;
        assert!(patience > 0, "the emulator sends nothing: {:?}", emulator.stats());
    }
    emulator.stop();
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();

    let mounts: Vec<SensorMount> = sensors.into_iter().map(|s| s.0).collect();
    let names = FrameNames { bottom_m: world::VEHICLE_HALF.z, ..Default::default() };
    let mut tree = FrameTree::new(names, &[1], &mounts).unwrap();
    let mut checked = vec![0; mounts.len()];
    let mut poses = std::collections::BTreeMap::new();
    let frames: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let three = |v: &Value| <[f64; 3]>::try_from(golden::numbers(v)).unwrap();
    let four = |v: &Value| <[f64; 4]>::try_from(golden::numbers(v)).unwrap();
    for frame in frames.iter().filter(|f| f["kind"] == "frame" && !f["vehicle"].is_null()) {
        poses.insert(frame["sim_ns"].as_i64().unwrap(), frame["vehicle"].clone());
    }
    let mut tilted = false;
    for frame in frames.iter().filter(|f| f["kind"] == "frame") {
        // Sensors on the ground have no vehicle, and need none.
        if let Some(vehicle) = poses.get(&frame["sim_ns"].as_i64().unwrap()) {
            let attitude = Attitude::from_wxyz(four(&vehicle["quaternion"])).unwrap();
            let euler = attitude.euler();
            tilted |= euler.roll.abs() > 0.01 || euler.pitch.abs() > 0.01;
            let position = Vector::from(three(&vehicle["position"]));
            tree.update(&VehiclePose { vehicle: 1, position, attitude }, RosTime(1));
        }
        let seq_id = frame["seq_id"].as_u64().unwrap() as u16;
        let link = tree.sensor(seq_id).unwrap().link.clone();
        let seen = tree.lookup("map", &link).unwrap();

        let (position, quaternion) =
            (three(&frame["sensor"]["position"]), four(&frame["sensor"]["quaternion"]));
        let turn = g::quaternion_matrix(quaternion);
        // A point 3 m ahead, 2 m right and 1 m below, by way of the simulator's axes and of ROS' own.
        let [north, east, down] = g::add(position, g::apply(&turn, [3.0, 2.0, 1.0]));
        let by_tf = seen.apply([3.0, -2.0, -1.0]);
        assert!(g::difference(&by_tf, &[east, north, -down]) < 1e-9, "sensor {seq_id}: {by_tf:?}");
        checked[usize::from(seq_id)] += 1;
    }
    assert!(tilted, "a vehicle that never tilts proves nothing");
    assert!(checked.iter().all(|n| *n >= 60), "{checked:?}");
}
