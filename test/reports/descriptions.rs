use crate::support::golden::{self, numbers};
use rfly_bridge::config::params::{BoundsAxes, WorldConvention};
use rfly_bridge::msgs::geometry_msgs::msg::{Point, Pose, Quaternion};
use rfly_bridge::reports::{
    Descriptions, MapConversion, ReportedEntity, camera_report, detections, markers, vehicle_report,
};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{
    DescribedPose, EntityDescription, EntityName, Packet as _, SceneReport, VehicleReportPacket,
};
use serde_json::Value;

const ENU: MapConversion =
    MapConversion { convention: WorldConvention::Enu, bounds: BoundsAxes::Own };
const NOW: (RosTime, RosTime) = (RosTime(5_000_000_000), RosTime(6_000_000_000));

/// Rotation matrix of z-y-x angles, or of a quaternion: independent of the bridge.
fn of_euler([roll, pitch, yaw]: [f64; 3]) -> [[f64; 3]; 3] {
    let ((sr, cr), (sp, cp), (sy, cy)) = (roll.sin_cos(), pitch.sin_cos(), yaw.sin_cos());
    [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
}

fn of_quaternion([w, x, y, z]: [f64; 4]) -> [[f64; 3]; 3] {
    let n = (w * w + x * x + y * y + z * z).sqrt();
    let [w, x, y, z] = [w / n, x / n, y / n, z / n];
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// FRD in NED as FLU in ENU: rows east, north, up; columns forward, left, up.
fn to_ros(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let row = |i: usize, s: f64| [s * m[i][0], -s * m[i][1], -s * m[i][2]];
    [row(1, 1.0), row(0, 1.0), row(2, -1.0)]
}

fn near(found: &Quaternion, expected: [[f64; 3]; 3], what: &str) {
    let found = of_quaternion([found.w, found.x, found.y, found.z]);
    for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((a - b).abs() < 1e-6, "{what}: {found:?} {expected:?}");
    }
}

fn enu(point: &Point) -> [f64; 3] {
    [point.y, point.x, -point.z]
}

fn attitude(known: &Value) -> [[f64; 3]; 3] {
    let quaternion: [f64; 4] = numbers(&known["angQuat"]).try_into().unwrap();
    let euler: [f64; 3] = numbers(&known["angEuler"]).try_into().unwrap();
    to_ros(match quaternion {
        [0.0, 0.0, 0.0, 0.0] => of_euler(euler), // the short form
        given => of_quaternion(given),
    })
}

fn same_pose(found: &Pose, known: &Value, what: &str) {
    assert_eq!(enu(&found.position).to_vec(), numbers(&known["PosUE"]), "{what}");
    near(&found.orientation, attitude(known), what);
}

/// Plays the datagrams of a vector.
fn play(vector: &golden::Vector, world: &MapConversion) -> Descriptions {
    let mut reported = Descriptions::default();
    for bytes in vector.input_packets() {
        match SceneReport::parse(&bytes) {
            Ok(SceneReport::Entity(entity)) => drop(reported.describe(&entity, world, NOW)),
            Ok(SceneReport::Camera(camera)) => {
                reported.describe_camera(&camera, world, NOW);
            }
            _ => {}
        }
    }
    reported
}

#[test]
fn recorded_descriptions_of_cameras_become_reports_in_the_map() {
    let mut seen = 0;
    for vector in golden::load("recv_ue4msg") {
        let reported = play(&vector, &ENU);
        for known in vector["decoded"]["CamDataVect"].as_array().into_iter().flatten() {
            let name = vector.name();
            let seq_id = i32::try_from(known["SeqID"].as_i64().unwrap()).unwrap();
            let message = camera_report(&reported.cameras[&seq_id], "map");
            assert_eq!(i64::from(message.type_id), known["TypeID"].as_i64().unwrap(), "{name}");
            assert_eq!(u64::from(message.width), known["DataWidth"].as_u64().unwrap(), "{name}");
            assert_eq!(u64::from(message.height), known["DataHeight"].as_u64().unwrap(), "{name}");
            assert_eq!(message.fov_deg, known["CameraFOV"].as_f64().unwrap(), "{name}");
            assert_eq!((message.sensor, message.header.stamp.sec), (seq_id, 5));
            same_pose(&message.pose, known, name);
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn recorded_descriptions_of_vehicles_and_objects_become_boxes_in_the_map() {
    let mut seen = 0;
    for vector in golden::load("recv_ue4msg") {
        let reported = play(&vector, &ENU);
        let boxes = detections(reported.entities.iter(), "map");
        assert!(boxes.detections.iter().all(|d| d.header.frame_id == "map"));
        let name = vector.name();
        for (list, id, class) in
            [("CoptDataVect", "CopterID", "vehicle"), ("ObjDataVect", "ObjName", "object")]
        {
            for known in vector["decoded"][list].as_array().into_iter().flatten() {
                let id = match &known[id] {
                    Value::String(text) => text.trim_matches('\0').to_owned(),
                    number => number.to_string(),
                };
                let found = boxes.detections.iter().find(|d| d.id == id);
                let found = found.unwrap_or_else(|| panic!("{name}: no {id}"));
                assert_eq!(found.results[0].hypothesis.class_id, class);
                same_pose(&found.results[0].pose.pose, known, name);
                let centre = &found.bbox.center;
                assert_eq!(enu(&centre.position).to_vec(), numbers(&known["boxOrigin"]), "{name}");
                near(&centre.orientation, attitude(known), name);
                let size = &found.bbox.size;
                let half = [size.x, size.y, size.z].map(|side| side / 2.0);
                assert_eq!(half.to_vec(), numbers(&known["BoxExtent"]), "{name}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn two_objects_with_one_number_are_two_boxes() {
    // The vendor's client keeps only the last.
    let vectors = golden::load("recv_ue4msg");
    let vector = vectors.iter().find(|v| v.name() == "obj_two_names_same_seq").unwrap();
    let reported = play(vector, &ENU);
    let names: Vec<_> = reported.entities.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["A", "B"]);
}

fn object(name: &str, yaw: f32) -> EntityDescription {
    EntityDescription {
        name: EntityName::Object(name.to_owned()),
        pose: DescribedPose {
            position: [1.0, 2.0, -3.0],
            euler: [0.0, 0.0, yaw],
            quaternion: None,
        },
        centre: [1.0, 2.0, -4.0],
        half_size: [0.5, 1.5, 2.5],
        sim_time: 1.0,
    }
}

#[test]
fn bounds_along_the_axes_of_the_world_do_not_turn_with_the_object() {
    for (convention, expected) in
        [(WorldConvention::Enu, [3.0, 1.0, 5.0]), (WorldConvention::Nwu, [1.0, 3.0, 5.0])]
    {
        let world = MapConversion { convention, bounds: BoundsAxes::World };
        let mut reported = Descriptions::default();
        reported.describe(&object("a", 0.7), &world, NOW).unwrap();
        let boxes = detections(reported.entities.iter(), "map");
        let bbox = &boxes.detections[0].bbox;
        assert_eq!([bbox.size.x, bbox.size.y, bbox.size.z], expected);
        assert_eq!(bbox.center.orientation.w, 1.0);
    }
}

#[test]
fn markers_are_cubes_with_names_and_go_with_what_is_silent() {
    let mut reported = Descriptions::default();
    reported.describe(&object("House_3", 0.0), &ENU, NOW).unwrap();
    let vehicle = EntityDescription { name: EntityName::Id(2), ..object("", 0.0) };
    let later = (RosTime(7_000_000_000), RosTime(8_000_000_000));
    reported.describe(&vehicle, &ENU, later).unwrap();
    let shown = markers(reported.entities.iter(), &[], "map").markers;
    let parts: Vec<_> = shown.iter().map(|m| (m.ns.as_str(), m.id, m.type_, m.action)).collect();
    assert_eq!(
        parts,
        [
            ("vehicles", 2, 1, 0),
            ("vehicles_name", 2, 9, 0),
            ("objects/House_3", 0, 1, 0),
            ("objects_name/House_3", 0, 9, 0),
        ]
    );
    assert_eq!([shown[2].scale.x, shown[2].scale.y, shown[2].scale.z], [1.0, 3.0, 5.0]);
    assert_eq!((shown[3].text.as_str(), shown[0].header.stamp.sec), ("House_3", 7));
    assert!(shown.iter().all(|m| m.header.frame_id == "map"));

    let gone = reported.forget(RosTime(7_000_000_000));
    assert_eq!(gone, [ReportedEntity::Object("House_3".to_owned())]);
    let shown = markers(reported.entities.iter(), &gone, "map").markers;
    let removed: Vec<_> = shown.iter().filter(|m| m.action == 2).map(|m| m.ns.as_str()).collect();
    assert_eq!(removed, ["objects/House_3", "objects_name/House_3"]);
    assert_eq!(shown.len(), 4);
}

#[test]
fn descriptions_that_are_no_numbers_are_refused() {
    let mut reported = Descriptions::default();
    let mut bad = [(); 4].map(|()| object("a", 0.0));
    bad[0].pose.position[1] = f32::NAN;
    bad[1].centre[2] = f32::INFINITY;
    bad[2].half_size[0] = -1.0;
    bad[3].name = EntityName::Object(String::new());
    for bad in bad {
        assert_eq!(reported.describe(&bad, &ENU, NOW), None, "{bad:?}");
    }
    assert_eq!(reported, Descriptions::default());
}

#[test]
fn a_recorded_report_of_a_vehicle_says_in_ros_what_it_says_on_the_wire() {
    let vectors = golden::load("recv_ue4msg");
    let known = &vectors[0]["decoded"]["inReqVect"][0];
    let bytes = vectors[0].input_packets().remove(0);
    let packet = VehicleReportPacket::parse(&bytes).unwrap();
    let message = vehicle_report(packet, &ENU, ("map", RosTime(0))).unwrap();
    let three = |key: &str| -> [f64; 3] { numbers(&known[key]).try_into().unwrap() };
    let [n, e, d] = three("PosE");
    let p = &message.pose.position;
    assert_eq!([p.x, p.y, p.z], [e, n, -d]);
    let [n, e, d] = three("VelE");
    let v = &message.velocity;
    assert_eq!([v.x, v.y, v.z], [e, n, -d]);
    near(&message.pose.orientation, to_ros(of_euler(three("AngEuler"))), "attitude");
    let rpm: Vec<_> =
        message.motor_speeds.iter().map(|w| w * 30.0 / std::f64::consts::PI).collect();
    for (rpm, known) in rpm.iter().zip(numbers(&known["MotorRPMS"])) {
        assert!((rpm - known).abs() < 1e-6);
    }
    assert_eq!(message.clearance.to_vec(), numbers(&known["ray"]));
    assert_eq!((message.vehicle, message.class_id, message.style), (1, 3, 0));
    for (number, wanted) in [(2060, (60, 2)), (116_000_030, (30, 116)), (100_000_821, (821, 100))] {
        let styled = VehicleReportPacket { vehicle_type: number.into(), ..*packet };
        let message = vehicle_report(&styled, &ENU, ("map", RosTime(0))).unwrap();
        assert_eq!((message.class_id, message.style), wanted);
    }
    let mut broken = *packet;
    broken.velocity[2] = f32::NAN.into();
    assert_eq!(vehicle_report(&broken, &ENU, ("map", RosTime(0))), None);
}
