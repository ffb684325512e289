//! Reports of the renderer on port 20006: cameras, vehicles and objects on request, once per second.
//!
//! The rate is not documented; positions are in m in NED, as in all other structures. The report of a vehicle is also sent
//! when it begins or ceases to touch something.
use super::send_to_all;
use crate::emulator::renderer::Contact;
use crate::emulator::report_requests::ReportRequests;
use crate::emulator::sensor::world_pose;
use crate::emulator::shared::SharedState;
use crate::emulator::world::{Caster, Kinematics, Object, Pose, Snapshot, VEHICLE_HALF, Vec3};
use crate::wire::{RequestLayout, SensorRequest};
use std::{collections::BTreeMap, net::UdpSocket};

/// Check word of camera and object descriptions.
const DESCRIPTION: i32 = 1_234_567_891;
/// Check word of vehicle reports.
const VEHICLE: i32 = 1_234_567_897;

/// Sends all requested reports, as of simulation time `time`.
pub(super) fn send(shared: &SharedState, socket: &UdpSocket, requests: &ReportRequests, time: f64) {
    let options = &shared.options;
    let snapshot = shared.draw(shared.snapshot(time));
    let mut packets = Vec::new();
    let sensors: BTreeMap<u16, SensorRequest> =
        shared.sensors.lock().live.iter().map(|(id, live)| (*id, live.request)).collect();
    for request in sensors.values().filter(|r| requests.cameras.has(&r.seq_id.to_string())) {
        if let Some((pose, _)) = world_pose(&sensors, request, &snapshot, options.angle_unit) {
            packets.push(camera(request, &pose, time));
        }
    }
    for (id, motion) in &snapshot.vehicles {
        if requests.vehicles.has(&id.to_string()) {
            let body = snapshot.moving.iter().find(|s| s.object == Object::Vehicle(*id));
            let half = body.map_or(VEHICLE_HALF, |solid| solid.half);
            packets.push(description((*id).into(), &motion.pose, &half, time));
        }
        if requests.vehicle_data {
            packets.push(vehicle(shared, &snapshot, *id, motion));
        }
    }
    let objects = snapshot.bodies();
    for solid in objects.filter(|s| !matches!(s.object, Object::Vehicle(_))) {
        let name = solid.object.name();
        if requests.objects.has(&name) {
            let packet = description(solid.object.id(), &solid.pose, &solid.half, time);
            packets.push(packet.text(&name, 32));
        }
    }
    packets.iter().for_each(|packet| post(shared, socket, packet));
}

pub(super) fn send_vehicle(shared: &SharedState, socket: &UdpSocket, snapshot: &Snapshot, id: u16) {
    if let Some(motion) = snapshot.vehicle(id) {
        post(shared, socket, &vehicle(shared, snapshot, id, motion));
    }
}

/// Sends the report of a pod camera. The documents do not say when the simulator sends it.
pub(super) fn send_pod(shared: &SharedState, socket: &UdpSocket, seq_id: u16) {
    let live = shared.sensors.lock().live.get(&seq_id).map(|live| live.request);
    if let Some(request) = live {
        let mut buffer = [0; 148];
        let report = SensorRequest { layout: RequestLayout::Long, ..request };
        post(shared, socket, &ReportBytes(report.emit(&mut buffer).to_vec()));
    }
}

fn post(shared: &SharedState, socket: &UdpSocket, ReportBytes(bytes): &ReportBytes) {
    let options = &shared.options;
    send_to_all(shared, socket, bytes, Some(options.client), options.ports.report);
}

fn camera(request: &SensorRequest, pose: &Pose, time: f64) -> ReportBytes {
    let [seq_id, type_id, height, width] =
        [request.seq_id, request.type_id, request.height, request.width].map(i32::from);
    let head = ReportBytes::default().i32s(&[DESCRIPTION, seq_id, type_id, height, width]);
    head.f32s(&[request.fov_deg.into()]).pose(pose).f64(time)
}

fn description(id: i32, pose: &Pose, half: &Vec3, time: f64) -> ReportBytes {
    let head = ReportBytes::default().i32s(&[DESCRIPTION, id]).pose(pose);
    head.f32s(&pose.position).f32s(half).f64(time)
}

fn vehicle(shared: &SharedState, snapshot: &Snapshot, id: u16, motion: &Kinematics) -> ReportBytes {
    let coptersim_rpm = shared.motor_rpm(id, snapshot.time);
    let (vehicle_type, motor_rpm) = {
        let renderer = shared.renderer.lock();
        let sent_rpm = renderer.motor_rpm(id, snapshot.time);
        (renderer.vehicle_type(id), sent_rpm.unwrap_or(coptersim_rpm))
    };
    let (kind, contact, centre, name) = describe(shared.contact(id).as_ref());
    let caster = Caster::new(snapshot, &motion.pose, Some(id));
    let directions = [Vec3::x(), -Vec3::x(), -Vec3::y(), Vec3::y(), -Vec3::z(), Vec3::z()];
    let rays = directions.map(|direction| caster.ray(&direction).distance);
    ReportBytes::default()
        .i32s(&[VEHICLE, i32::from(id), vehicle_type, kind])
        .f64(snapshot.time)
        .f32s(&motion.velocity)
        .f32s(&motion.pose.position)
        .f32s(&contact)
        .f32s(&centre)
        .f32s(&motion.pose.roll_pitch_yaw())
        .f32s(&motor_rpm)
        .f32s(&rays)
        .text(&name, 20)
}

/// A datagram written field by field instead of with the structs of `wire`, so that tests detect a mistake in them.
#[derive(Debug, Default)]
struct ReportBytes(Vec<u8>);

impl ReportBytes {
    fn i32s(mut self, values: &[i32]) -> Self {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        self
    }

    fn f32s<'a>(mut self, values: impl IntoIterator<Item = &'a f64>) -> Self {
        self.0.extend(values.into_iter().flat_map(|v| (*v as f32).to_le_bytes()));
        self
    }

    fn f64(mut self, value: f64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn pose(self, pose: &Pose) -> Self {
        self.f32s(&pose.position).f32s(&pose.roll_pitch_yaw()).f32s(&pose.wxyz())
    }

    fn text(mut self, text: &str, len: usize) -> Self {
        let end = self.0.len() + len;
        self.0.extend(text.bytes().take(len));
        self.0.resize(end, 0);
        self
    }
}

/// Kind, contact, centre and name of a collision in the report of a vehicle.
fn describe(contact: Option<&Contact>) -> (i32, Vec3, Vec3, String) {
    const GROUND: i32 = -2;
    const SCENE: i32 = -1;
    let Some(contact) = contact else {
        return (0, Vec3::zeros(), Vec3::zeros(), String::new());
    };
    let kind = match contact.with {
        Object::Ground => GROUND,
        Object::Vehicle(id) => id.into(),
        _ => SCENE,
    };
    (kind, contact.point, contact.centre, contact.with.name())
}
