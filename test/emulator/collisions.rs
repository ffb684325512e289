//! Reports of what touches what.
use super::rig::{Rig, block, near, pose, socket, still};
use super::stage::{command, tell};
use crate::support::wait::wait_for;
use rfly_bridge::emulator::world::{Scene, World};
use rfly_bridge::emulator::{EmulatorOptions, Faults, StatePacket};
use rfly_bridge::wire::{
    AttachPacket, Attachment, IntoBytes as _, MotorStatePacket, ObjectStatePacket, Packet as _,
    SceneReport, ShortStatePacket, VehicleReportPacket,
};
use std::net::UdpSocket;

struct Watched {
    rig: Rig,
    reports: UdpSocket,
}

impl Watched {
    fn new(world: World, change: impl FnOnce(&mut EmulatorOptions)) -> Self {
        let reports = socket();
        let port = reports.local_addr().unwrap().port();
        let change = |o: &mut EmulatorOptions| {
            o.ports.report = port;
            change(o);
        };
        let rig = Rig::with(world, change, Faults::default());
        Self { rig, reports }
    }

    /// The next report of a vehicle whose collision is of this kind.
    fn report(&self, id: i32, kind: i32) -> VehicleReportPacket {
        let mut buffer = [0; 512];
        wait_for("a report of this collision", || {
            let len = self.reports.recv(&mut buffer).expect("a report");
            match SceneReport::parse(&buffer[..len]) {
                Ok(SceneReport::Vehicle(report))
                    if (report.copter_id.get(), report.crash_type.get()) == (id, kind) =>
                {
                    Some(*report)
                }
                _ => None,
            }
        })
    }

    /// A report of a vehicle from half a second after now, or later: after many looks at what touches.
    fn later(&self, id: i32) -> VehicleReportPacket {
        let after = self.rig.emulator.sim_time() + 0.5;
        let mut buffer = [0; 512];
        wait_for("a later report", || {
            let len = self.reports.recv(&mut buffer).expect("a report");
            match SceneReport::parse(&buffer[..len]) {
                Ok(SceneReport::Vehicle(report))
                    if report.copter_id.get() == id && report.sim_time.get() > after =>
                {
                    Some(*report)
                }
                _ => None,
            }
        })
    }

    /// Who collided with whom, in the next 12 bytes.
    fn crash(&self) -> (i32, i32) {
        let mut buffer = [0; 512];
        wait_for("a collision", || {
            let len = self.reports.recv(&mut buffer).expect("a report");
            match SceneReport::parse(&buffer[..len]) {
                Ok(SceneReport::Collision(crash)) => {
                    Some((crash.copter_id.get(), crash.target_id.get()))
                }
                _ => None,
            }
        })
    }

    fn put(&self, id: i32, kind: i32, place: [f32; 3]) {
        let packet = ObjectStatePacket::new(id, kind, place, [0.0; 3]);
        tell(&self.rig, packet.as_bytes());
    }
}

#[test]
fn an_object_that_is_driven_into_something_reports_what_it_hit() {
    let world =
        still(&[pose([0.0, 0.0, -5.0], [0.0; 3])], &[block([10.0, 0.0, -2.0], [1.0, 1.0, 2.0])]);
    let watched = Watched::new(world, |_| {});
    watched.put(1000, 150, [5.0, 0.0, -2.0]);
    command(&watched.rig, "RflyReqVehicleData 1");
    let report = watched.report(1000, 0);
    assert_eq!(report.vehicle_type.get(), 150);
    assert_eq!(report.rays.map(|r| r.get())[0], 4.0, "from its centre to the box");
    // 3 cm of the box.
    watched.put(1000, 150, [8.53, 0.5, -2.0]);
    let report = watched.report(1000, -1);
    assert_eq!(report.target_name(), "Box_0");
    assert_eq!(report.target.map(|x| x.get()), [10.0, 0.0, -2.0]);
    let contact = report.contact.map(|x| f64::from(x.get()));
    near(contact[0], 9.0, 0.04, "the face of the box");
    assert!((-1.0..=1.0).contains(&contact[1]) && (-2.5..=-1.5).contains(&contact[2]));
    watched.put(1000, 150, [8.49, 0.0, -2.0]);
    let _ = watched.report(1000, 0); // 1 cm beside it
    watched.put(1000, 150, [0.3, 0.2, -5.4]);
    let report = watched.report(1000, 1);
    assert_eq!(report.target_name(), "Copter_1");
    assert_eq!(watched.report(1, 1000).target_name(), "Copter_1000");
    watched.put(1000, 150, [0.0, -20.0, -0.4]);
    let report = watched.report(1000, -2);
    assert_eq!(report.target_name(), "Floor");
    watched.put(1000, 150, [0.0, -20.0, -0.6]);
    let _ = watched.report(1000, 0);
    watched.put(1000, 150, [0.0, -20.0, -0.5]);
    let report = watched.later(1000);
    assert_eq!(report.crash_type.get(), 0, "what stands on the ground is not in it");
}

#[test]
fn round_and_turned_bodies_touch_where_their_surfaces_meet() {
    let world = World {
        scene: Scene::of(&[]),
        vehicles: still(&[pose([0.0, 0.0, -50.0], [0.0; 3])], &[]).vehicles,
        walkers: Vec::new(),
    };
    let watched = Watched::new(world, |_| {});
    command(&watched.rig, "RflyReqVehicleData 1");
    // A sphere of 0.5 m at the corner of a cube: boxes around both would touch, the bodies do not.
    watched.put(10, 1150, [0.0, 0.0, -5.0]);
    let beside = 0.5 + 0.5 / 3f32.sqrt();
    watched.put(11, 150, [beside + 0.02, beside + 0.02, -5.0 - beside - 0.02]);
    let _ = watched.report(11, 0);
    watched.put(11, 150, [beside - 0.02, beside - 0.02, -5.0 - beside + 0.02]);
    let report = watched.report(11, 10);
    let corner = f64::from(beside) - 0.5;
    near(report.contact[0].get().into(), corner, 0.04, "north of the contact");
    watched.put(11, 150, [20.0, 0.0, -5.0]);
    let _ = watched.report(11, 0);
    // A cylinder beside a cube that is turned by 45 degrees: its edge is 0.5 x sqrt 2 ahead.
    watched.put(10, 2150, [0.0, 0.0, -5.0]);
    let turned = |north: f32| {
        let yaw = std::f32::consts::FRAC_PI_4;
        let packet = ObjectStatePacket::new(11, 150, [north, 0.0, -5.0], [0.0, 0.0, yaw]);
        tell(&watched.rig, packet.as_bytes());
    };
    turned(0.5 + 0.5f32.sqrt() - 0.02);
    let _ = watched.report(11, 10);
    turned(0.5 + 0.5f32.sqrt() + 0.02);
    let _ = watched.report(11, 0);
}

#[test]
fn a_fall_to_the_ground_is_a_crash_and_a_landing_is_none() {
    let world = still(&[pose([0.0, 0.0, -50.0], [0.0; 3])], &[]);
    let watched = Watched::new(world, |_| {});
    command(&watched.rig, "RflyReqVehicleData 1");
    let fall = |id: i32, speed: f32| {
        let at = |height: f32, speed: f32| {
            let state = ObjectStatePacket::new(id, 3, [0.0, id as f32, -height], [0.0; 3]);
            let packet = MotorStatePacket::new(state, [0.0; 8], [0.0, 0.0, speed], -1.0);
            tell(&watched.rig, packet.as_bytes());
        };
        at(3.0, speed);
        assert_eq!(watched.later(id).crash_type.get(), 0);
        at(0.15, 0.0);
    };
    fall(20, 1.0);
    fall(30, 4.0);
    let report = watched.report(30, -2);
    near(report.contact[2].get().into(), 0.0, 1e-6, "the ground");
    assert_eq!(watched.later(30).crash_type.get(), -2, "it lies there");
    assert_eq!(watched.later(20).crash_type.get(), 0);
}

#[test]
fn coptersim_tells_collisions_while_they_are_computed() {
    let world = still(&[pose([0.0, 0.0, -5.0], [0.0; 3]), pose([0.5, 0.0, -5.0], [0.0; 3])], &[]);
    let change = |o: &mut EmulatorOptions| {
        (o.state_rate, o.state_packet) = (50, StatePacket::Bytes200);
    };
    let watched = Watched::new(world, change);
    let told = || {
        let mut buffer = [0; 512];
        wait_for("a short state", || {
            let len = watched.rig.states.recv(&mut buffer).unwrap();
            let state = ShortStatePacket::parse(&buffer[..len]).ok()?;
            Some((state.state.copter_id.get(), state.collided_with.get()))
        })
    };
    assert_eq!(told().1, -1, "nobody asked");
    command(&watched.rig, "RflyChangeViewKeyCmd P 3");
    let mut crashes = [watched.crash(), watched.crash()];
    crashes.sort_unstable();
    assert_eq!(crashes, [(1, 2), (2, 1)]);
    wait_for("the collision in the states", || (told() == (1, 2)).then_some(()));
    watched.put(1000, 3, [0.0, 0.0, -20.0]);
    watched.put(1001, 3, [0.1, 0.0, -20.0]);
    let mut crashes = [watched.crash(), watched.crash()];
    crashes.sort_unstable();
    assert_eq!(crashes, [(1000, 1001), (1001, 1000)]);
    command(&watched.rig, "RflyChangeViewKeyCmd P -1");
    wait_for("the end of the collision in the states", || (told() == (1, -1)).then_some(()));
    // Attached bodies do not collide.
    command(&watched.rig, "RflyReqVehicleData 1");
    let _ = watched.report(1001, 1000);
    let pair = AttachPacket::new(&[(1001, 1000, Attachment::Pose)]).unwrap();
    tell(&watched.rig, pair.as_bytes());
    let _ = watched.report(1001, 0);
}
