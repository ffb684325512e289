//! Reports of the renderer: who asks for them, and what becomes of them.
use super::rig::{IMAGE, INFO, Rig, start_in};
use crate::support::golden;
use crate::support::wait::wait_until;
use rfly_bridge::emulator::world::{Object, Scene, World};
use rfly_bridge::msgs::rfly_bridge_msgs::msg::{CameraReport, Collision, VehicleReport};
use rfly_bridge::msgs::vision_msgs::msg::{Detection3D, Detection3DArray};
use rfly_bridge::msgs::visualization_msgs::msg::MarkerArray;
use rfly_bridge::ros::Recorder;
use rfly_bridge::wire::{CrashPacket, IntoBytes as _, Packet as _, VehicleReportPacket};
use std::net::UdpSocket;

const REPORTS: &str = "/rflysim/scene/vehicle_reports";
const CAMERAS: &str = "/rflysim/scene/cameras";
const VEHICLES: &str = "/rflysim/scene/vehicles";
const OBJECTS: &str = "/rflysim/scene/objects";
const MARKERS: &str = "/rflysim/scene/markers";
const COLLISIONS: &str = "/rflysim/collisions";

fn still(more: &[&str], prepare: impl FnOnce(&Recorder)) -> Rig {
    start_in(World::still(1), None, more, |_, recorder| prepare(recorder))
}

impl Rig {
    /// Commands that the renderer got so far.
    fn commands(&self) -> u64 {
        self.emulator.stats().commands
    }

    fn report(&self, packet: &[u8]) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let to = ("127.0.0.1", self.ports.report);
        socket.send_to(packet, to).expect("it is sent");
    }

    fn described(&self, topic: &str, id: &str) -> Option<Detection3D> {
        let last = self.messages::<Detection3DArray>(topic).pop()?;
        last.detections.into_iter().find(|d| d.id == id)
    }
}

#[test]
fn nothing_is_asked_for_until_somebody_subscribes_and_it_ends_with_the_last_one() {
    // A camera that is read is described, in case another program changes it.
    let rig = still(&[], |recorder| {
        for topic in [IMAGE, INFO] {
            recorder.set_subscribers(topic, 0);
        }
    });
    wait_until(|| rig.messages::<Collision>(COLLISIONS).len() == 1);
    assert_eq!(rig.messages::<Collision>(COLLISIONS)[0].kind, 0);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(rig.commands(), 0);
    rig.recorder.set_subscribers(VEHICLES, 1);
    wait_until(|| rig.described(VEHICLES, "1").is_some());
    assert!(rig.commands() >= 1);
    assert!(rig.messages::<VehicleReport>(REPORTS).is_empty());
    rig.recorder.set_subscribers(VEHICLES, 0);
    let asked = rig.commands();
    wait_until(|| rig.commands() > asked);
    // The renderer describes it no more.
    rig.recorder.set_subscribers(REPORTS, 1);
    wait_until(|| !rig.messages::<VehicleReport>(REPORTS).is_empty());
    rig.recorder.clear();
    wait_until(|| rig.messages::<VehicleReport>(REPORTS).len() > 1);
    assert!(rig.messages::<Detection3DArray>(VEHICLES).is_empty());
}

#[test]
fn vehicles_cameras_and_objects_of_the_world_are_where_the_emulator_has_them() {
    let rig = still(&["reports.objects:=[Box_0, Nothing]", "reports.vehicles:=[7]"], |recorder| {
        for topic in [REPORTS, CAMERAS, VEHICLES, OBJECTS, MARKERS] {
            recorder.set_subscribers(topic, 1);
        }
    });
    // In `still` the vehicle is at 6 m south, 2 m high, and faces north.
    wait_until(|| rig.described(VEHICLES, "1").is_some());
    let vehicle = rig.described(VEHICLES, "1").unwrap();
    let pose = &vehicle.bbox.center;
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    near(pose.position.x, 0.0);
    near(pose.position.y, -6.0);
    near(pose.position.z, 2.0);
    near(pose.orientation.z, 0.5f64.sqrt());
    near(pose.orientation.w, 0.5f64.sqrt());
    near(vehicle.bbox.size.x, 0.8);
    near(vehicle.bbox.size.z, 0.3);
    assert_eq!(vehicle.header.frame_id, "map");

    wait_until(|| rig.described(OBJECTS, "Box_0").is_some());
    let found = rig.described(OBJECTS, "Box_0").unwrap();
    let scene = Scene::yard();
    let known = scene.bodies().iter().find(|b| b.object == Object::Block(0)).unwrap();
    near(found.bbox.center.position.x, known.pose.position.y);
    near(found.bbox.center.position.y, known.pose.position.x);
    near(found.bbox.center.position.z, -known.pose.position.z);
    near(found.bbox.size.y, 2.0 * known.half.y);
    assert!(rig.described(VEHICLES, "7").is_none(), "there is no such vehicle");

    wait_until(|| !rig.messages::<CameraReport>(CAMERAS).is_empty());
    let camera = &rig.messages::<CameraReport>(CAMERAS)[0];
    assert_eq!((camera.sensor, camera.type_id, camera.width, camera.height), (0, 1, 64, 48));
    assert_eq!(camera.fov_deg, 90.0);
    // Mounted 0.3 m in front.
    near(camera.pose.position.y, -5.7);
    wait_until(|| !rig.messages::<VehicleReport>(REPORTS).is_empty());
    let report = &rig.messages::<VehicleReport>(REPORTS)[0];
    near(report.clearance[5], 2.0);
    assert_eq!((report.vehicle, report.class_id), (1, 3));
    wait_until(|| {
        let markers = rig.messages::<MarkerArray>(MARKERS).pop();
        markers.is_some_and(|m| m.markers.iter().any(|m| m.text == "Box_0"))
    });
}

#[test]
fn stamps_of_reports_are_those_of_the_simulators_time() {
    let rig = still(&["time.mode:=sim"], |recorder| {
        recorder.set_subscribers(REPORTS, 1);
        recorder.set_subscribers("/clock", 1);
    });
    wait_until(|| rig.messages::<VehicleReport>(REPORTS).len() > 2);
    let last = rig.messages::<VehicleReport>(REPORTS).pop().unwrap();
    let stamp = f64::from(last.header.stamp.sec) + f64::from(last.header.stamp.nanosec) * 1e-9;
    assert!(stamp > 0.5 && stamp <= rig.emulator.sim_time(), "{stamp}");
}

#[test]
fn a_collision_is_latched_until_the_vehicle_is_free() {
    let rig = still(&[], |recorder| recorder.set_subscribers(COLLISIONS, 1));
    let recorded = golden::load("recv_ue4msg").swap_remove(0).input_packets().remove(0);
    let latest = || rig.messages::<Collision>(COLLISIONS).pop();
    wait_until(|| latest().is_some_and(|c| c.kind == 0));
    // The emulator's own reports say that nothing collides: as soon as one comes, it is over.
    let mut packet = *VehicleReportPacket::parse(&recorded).unwrap();
    packet.sim_time = rig.emulator.sim_time().into();
    rig.report(packet.as_bytes());
    wait_until(|| rig.messages::<Collision>(COLLISIONS).iter().any(|c| c.kind == 1));
    let messages = rig.messages::<Collision>(COLLISIONS);
    let hit = messages.iter().find(|c| c.kind == 1).unwrap();
    assert_eq!((hit.vehicle, hit.name.as_str(), hit.count), (1, "Landscape_1", 1));
    assert_eq!([hit.position.x, hit.position.y, hit.position.z], [3.5, 3.0, -4.0]);
    wait_until(|| latest().is_some_and(|c| c.kind == 0 && c.count == 1));
    rig.report(CrashPacket::new(1, 2).as_bytes());
    wait_until(|| {
        rig.messages::<Collision>(COLLISIONS).iter().any(|c| c.kind == 3 && c.other == 2)
    });
    // Of a vehicle that is not served: nothing.
    let before = rig.messages::<Collision>(COLLISIONS).len();
    rig.report(CrashPacket::new(9, 2).as_bytes());
    rig.report(CrashPacket::new(1, 5).as_bytes());
    wait_until(|| rig.messages::<Collision>(COLLISIONS).iter().any(|c| c.other == 5));
    let later = rig.messages::<Collision>(COLLISIONS);
    assert!(later[before..].iter().all(|c| c.vehicle == 1));
}

#[test]
fn a_simulation_that_starts_again_ends_collisions() {
    let rig = still(&[], |recorder| recorder.set_subscribers("/rflysim/ground_truth/odom", 1));
    let latest = || rig.messages::<Collision>(COLLISIONS).pop();
    // Nobody asked for reports of vehicles, so only the restart frees it.
    // A clock that goes back by less than 2 s may be that of a late datagram.
    wait_until(|| rig.emulator.sim_time() > 5.0);
    rig.report(CrashPacket::new(1, 2).as_bytes());
    wait_until(|| latest().is_some_and(|c| c.kind == 3));
    rig.emulator.restart();
    wait_until(|| latest().is_some_and(|c| c.kind == 0 && c.count == 1));
}

#[test]
fn a_bridge_that_ends_asks_for_nothing_more() {
    let rig = still(&[], |recorder| recorder.set_subscribers(REPORTS, 1));
    wait_until(|| !rig.messages::<VehicleReport>(REPORTS).is_empty());
    let Rig { bridge, emulator, .. } = rig;
    let commands = emulator.stats().commands;
    drop(bridge);
    wait_until(|| emulator.stats().commands == commands + 1);
}

#[test]
fn garbage_on_the_port_of_reports_is_counted_and_harms_nothing() {
    let rig = still(&[], |recorder| {
        recorder.set_subscribers(REPORTS, 1);
        recorder.set_subscribers("/diagnostics", 1);
    });
    for len in [0, 1, 12, 56, 64, 72, 80, 96, 112, 120, 148, 160, 161, 2000] {
        rig.report(&vec![0xa5; len]);
    }
    wait_until(|| {
        let all = rig
            .messages::<rfly_bridge::msgs::diagnostic_msgs::msg::DiagnosticArray>("/diagnostics");
        let mut all = all.iter().flat_map(|report| &report.status);
        all.any(|status| {
            let malformed = |v: &rfly_bridge::msgs::diagnostic_msgs::msg::KeyValue| {
                v.key == "drop_malformed" && v.value == "14"
            };
            status.name.contains("reports of the renderer") && status.values.iter().any(malformed)
        })
    });
    rig.recorder.clear();
    wait_until(|| !rig.messages::<VehicleReport>(REPORTS).is_empty());
}
