use super::rig::{Rig, block, near, pose, socket, still, wait};
use crate::support::golden;
use rfly_bridge::emulator::Faults;
use rfly_bridge::wire::{HeartbeatPacket, Packet as _, SensorRequest, console_command};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

/// Values of a field of a report, at the offset that the reference's table gives.
fn field(bytes: &[u8], layout: &str, name: &str) -> Vec<f64> {
    let table = golden::json("structs.json");
    let find = |list: &Value, name: &str| {
        let found = list.as_array().unwrap().iter().find(|s| s["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    let layout = find(&table["structs"], layout);
    assert_eq!(bytes.len() as u64, layout["size"].as_u64().unwrap());
    let field = find(&layout["fields"], name);
    let number = |key: &str| usize::try_from(field[key].as_u64().unwrap()).unwrap();
    let kind = field["type"].as_str().unwrap();
    let size = if kind == "f64" { 8 } else { 4 };
    let values = bytes[number("offset")..].chunks_exact(size).take(number("count"));
    let value = |b: &[u8]| match kind {
        "i32" => i32::from_le_bytes(b.try_into().unwrap()).into(),
        "f32" => f32::from_le_bytes(b.try_into().unwrap()).into(),
        "f64" => f64::from_le_bytes(b.try_into().unwrap()),
        other => panic!("{other}"),
    };
    values.map(value).collect()
}

fn rig() -> (Rig, UdpSocket) {
    let world = still(
        &[pose([1.0, 2.0, -5.0], [0.0, 0.0, 90.0])],
        &[block([1.0, 9.0, -5.0], [2.0, 1.0, 3.0])],
    );
    let reports = socket();
    let port = reports.local_addr().unwrap().port();
    (Rig::with(world, |o| o.ports.report = port, Faults::default()), reports)
}

fn command(rig: &Rig, text: &str) {
    let mut buffer = [0; 256];
    rig.to_window(console_command(text, &mut buffer).unwrap());
}

fn report(reports: &UdpSocket) -> Vec<u8> {
    let mut buffer = [0; 256];
    let len = reports.recv(&mut buffer).expect("a report");
    buffer[..len].to_vec()
}

#[test]
fn a_camera_describes_itself_on_request() {
    let (rig, reports) = rig();
    let request = SensorRequest { position: [0.5, 0.0, 0.0], fov_deg: 70.0, ..rig.request(3, 1) };
    rig.send(&request);
    wait(|| rig.emulator.stats().requests == 1);
    command(&rig, "RflyReqObjData 0 3 0");
    let bytes = report(&reports);
    let value = |name| field(&bytes, "CameraData-72", name);
    assert_eq!(value("checksum"), [1_234_567_891.0]);
    assert_eq!(value("SeqID"), [3.0]);
    assert_eq!(value("DataHeight"), [48.0]);
    assert_eq!(value("DataWidth"), [64.0]);
    assert_eq!(value("CameraFOV"), [70.0]);
    assert_eq!(value("PosUE"), [1.0, 2.5, -5.0]);
    near(value("angEuler")[2].to_degrees(), 90.0, 1e-4, "yaw");
    near(value("angQuat")[3], 0.5f64.sqrt(), 1e-6, "z of the quaternion");
    assert!(value("timestmp")[0] <= rig.emulator.sim_time());
}

#[test]
fn vehicles_and_boxes_describe_themselves_on_request() {
    let (rig, reports) = rig();
    command(&rig, "RflyReqObjData 1 1 0");
    let bytes = report(&reports);
    assert_eq!(field(&bytes, "CoptReqData-80", "CopterID"), [1.0]);
    assert_eq!(field(&bytes, "CoptReqData-80", "PosUE"), [1.0, 2.0, -5.0]);
    let extent = field(&bytes, "CoptReqData-80", "BoxExtent");
    near(extent[2], 0.15, 1e-6, "half the height");
    command(&rig, "RflyReqObjData 11 1 0");
    command(&rig, "RflyReqObjData 2 Box_0 0");
    let bytes = std::iter::repeat_with(|| report(&reports)).find(|b| b.len() == 112).unwrap();
    assert_eq!(field(&bytes, "ObjReqData-112", "boxOrigin"), [1.0, 9.0, -5.0]);
    assert_eq!(field(&bytes, "ObjReqData-112", "BoxExtent"), [2.0, 1.0, 3.0]);
    assert_eq!(&bytes[80..86], b"Box_0\0");
}

#[test]
fn objects_have_numbers_of_their_own() {
    let world = still(
        &[pose([0.0, 0.0, -2.0], [0.0; 3])],
        &[block([5.0, 0.0, -1.0], [1.0; 3]), block([0.0, 5.0, -1.0], [1.0; 3])],
    );
    let reports = socket();
    let port = reports.local_addr().unwrap().port();
    let rig = Rig::with(world, |o| o.ports.report = port, Faults::default());
    command(&rig, "RflyReqObjData 22 all 0");
    // A reader that keeps objects by their number, as the vendor's, has all of them.
    let seen: std::collections::BTreeMap<i64, Vec<u8>> = (0..2)
        .map(|_| report(&reports))
        .map(|bytes| (field(&bytes, "ObjReqData-112", "seqID")[0] as i64, bytes[80..86].to_vec()))
        .collect();
    let names: Vec<_> = seen.values().map(Vec::as_slice).collect();
    assert_eq!(names, [b"Box_0\0", b"Box_1\0"]);
    assert_eq!(
        seen.keys().copied().collect::<Vec<_>>(),
        [1001, 1002],
        "as range records call them"
    );
}

#[test]
fn vehicle_reports_carry_the_distances_around() {
    let (rig, reports) = rig();
    command(&rig, "RflyReqVehicleData 1");
    let bytes = report(&reports);
    let value = |name| field(&bytes, "reqVeCrashData", name);
    assert_eq!(value("checksum"), [1_234_567_897.0]);
    assert_eq!(value("CrashType"), [0.0]);
    let [front, back, left, right, up, down] = value("ray")[..] else { panic!("six rays") };
    near(front, 6.0, 1e-5, "front: the box is 7 m east, 1 m thick on this side");
    assert_eq!([back, left, right, up], [f64::INFINITY; 4]);
    near(down, 5.0, 1e-5, "down");
    let [turning @ .., a, b, c, d] = &value("MotorRPMS")[..] else { panic!("eight rotors") };
    assert!(turning.iter().all(|rpm| *rpm > 1000.0), "{turning:?}");
    assert_eq!([*a, *b, *c, *d], [0.0; 4]);
}

#[test]
fn every_window_takes_requests() {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let rig = Rig::with(world, |o| o.windows = 3, Faults::default());
    assert_eq!(rig.emulator.windows().len(), 3);
    for (seq_id, window) in (1..).zip(rig.emulator.windows()) {
        let mut buffer = [0; 148];
        let request = rig.request(seq_id, 1);
        rig.client.send_to(request.emit(&mut buffer), window).unwrap();
        assert_eq!(rig.frame().payload.len(), 64 * 48 * 3);
        rig.clear();
    }
}

#[test]
fn heartbeats_also_reach_the_multicast_group_on_loopback() {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
    let change = |o: &mut rfly_bridge::emulator::EmulatorOptions| {
        (o.multicast, o.heartbeat_period) = (true, 0.05);
    };
    let rig = Rig::with(world, change, Faults::default());
    let group = Ipv4Addr::new(224, 0, 0, 10);
    let port = rig.heartbeats.local_addr().unwrap().port();
    let member = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap();
    member.bind(&SocketAddr::from((group, port)).into()).unwrap();
    member.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST).unwrap();
    member.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let member: UdpSocket = member.into();
    let mut buffer = [0; 64];
    let len = member.recv(&mut buffer).expect("a heartbeat");
    assert_eq!(HeartbeatPacket::parse(&buffer[..len]).unwrap().copter_id.get(), 1);
}
