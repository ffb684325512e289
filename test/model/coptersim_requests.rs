//! Calls of services, against every request that the vendor's SDK sends to CopterSim.
use crate::support::golden::{self, numbers};
use rfly_bridge::frames::WorldConvention;
use rfly_bridge::model;
use rfly_bridge::msgs::geometry_msgs::msg::{Point, Quaternion};
use rfly_bridge::msgs::rfly_bridge_msgs::srv::{
    LoadByNameRequest, SetGeoOriginRequest, SetGeoPlaceRequest, SetUdpModeRequest,
    SetVehiclePoseRequest,
};
use rfly_bridge::wire::{CopterSimLoad, IntoBytes as _};
use std::f64::consts::FRAC_PI_2;

const ENU: WorldConvention = WorldConvention::Enu;

/// A pose in ENU for a place in NED and a heading in degrees from north; level.
fn pose(x: f64, y: f64, z: f64, yaw_deg: f64) -> SetVehiclePoseRequest {
    let half = (FRAC_PI_2 - yaw_deg.to_radians()) / 2.0;
    let mut request = SetVehiclePoseRequest::default();
    request.pose.pose.position = Point { x: y, y: x, z: -z };
    request.pose.pose.orientation =
        Quaternion { w: half.cos(), z: half.sin(), ..Quaternion::default() };
    request
}

/// The Hamilton product.
fn times(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let ([aw, ax, ay, az], [bw, bx, by, bz]) = (a, b);
    [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
}

#[test]
fn every_recorded_request_is_made_from_its_call_byte_for_byte() {
    let mut seen = 0;
    for vector in golden::load("coptersim_send") {
        let args = &vector["args"]["positional"];
        let id = u16::try_from(args[0].as_i64().unwrap_or(1)).unwrap_or(1);
        let named = |by_index: bool| LoadByNameRequest {
            name: match by_index {
                true => String::new(),
                false => args[1].as_str().unwrap().to_owned(),
            },
            by_index,
            index: i32::try_from(args[1].as_i64().unwrap_or_default()).unwrap(),
        };
        let load = |what, request| {
            let packet = model::load(id, what, &request).unwrap();
            packet.as_bytes().to_vec()
        };
        let made = match vector.function() {
            "sendReSimUdpMode" => {
                let mode = SetUdpModeRequest { mode: "mavlink_full".to_owned() };
                model::set_udp_mode(id, &mode).unwrap().as_bytes().to_vec()
            }
            "sendReSimXYyaw" => {
                let at = numbers(&args[1]);
                let request =
                    SetVehiclePoseRequest { on_ground: true, ..pose(at[0], at[1], 7.0, at[2]) };
                model::set_pose(id, ENU, "map", &request).unwrap().as_bytes().to_vec()
            }
            "sendReSimXyzRPYaw" => {
                let (at, angles) = (numbers(&args[1]), numbers(&args[2]));
                let mut request = pose(at[0], at[1], at[2], angles[2]);
                let half = |degrees: f64| (degrees.to_radians() / 2.0).sin_cos();
                // FLU: roll is the same, pitch is the other way round.
                let ((roll_sin, roll), (pitch_sin, pitch)) = (half(angles[0]), half(-angles[1]));
                let q = &mut request.pose.pose.orientation;
                let heading = [q.w, q.x, q.y, q.z];
                let turned = times(heading, [pitch, 0.0, pitch_sin, 0.0]);
                [q.w, q.x, q.y, q.z] = times(turned, [roll, roll_sin, 0.0, 0.0]);
                model::set_pose(id, ENU, "map", &request).unwrap().as_bytes().to_vec()
            }
            "sendReGPSOrin" => {
                let at = numbers(&args[1]);
                let request =
                    SetGeoOriginRequest { latitude: at[0], longitude: at[1], altitude: at[2] };
                model::set_geo_origin(id, &request).unwrap().as_bytes().to_vec()
            }
            "sendReGPSPos" => {
                let [latitude, longitude, yaw] = [1, 2, 3].map(|i| args[i].as_f64().unwrap());
                let request =
                    SetGeoPlaceRequest { latitude, longitude, yaw: FRAC_PI_2 - yaw.to_radians() };
                model::set_geo_place(id, &request).unwrap().as_bytes().to_vec()
            }
            "sendEnGpsMode" => model::set_display(id, true).as_bytes().to_vec(),
            "sendEnXyMode" => model::set_display(id, false).as_bytes().to_vec(),
            "sendReSimDllName" => load(CopterSimLoad::Model, named(false)),
            "sendReSimMapName" => load(CopterSimLoad::Map, named(false)),
            "sendReSimDllIdx" => load(CopterSimLoad::Model, named(true)),
            "sendReSimMapIdx" => load(CopterSimLoad::Map, named(true)),
            // Not of a service: several at once, the address of the client, sensors, signals (wire).
            _ => continue,
        };
        for (_, sent) in vector.sent() {
            assert_eq!(golden::hex(&made), golden::hex(&sent), "{}", vector.name());
        }
        seen += 1;
    }
    assert_eq!(seen, 22, "eleven functions, by group and by address");
}

#[test]
fn a_wrong_request_is_answered_with_what_would_be_right() {
    let mut elsewhere = pose(0.0, 0.0, 0.0, 0.0);
    elsewhere.pose.header.frame_id = "odom".to_owned();
    let mut lost = pose(0.0, 0.0, 0.0, 0.0);
    lost.pose.pose.position.x = f64::NAN;
    let name =
        |name: &str| LoadByNameRequest { name: name.to_owned(), ..LoadByNameRequest::default() };
    let index =
        |index, name: &str| LoadByNameRequest { name: name.to_owned(), by_index: true, index };
    let load = |request| model::load(1, CopterSimLoad::Map, &request).unwrap_err();
    let texts = [
        model::set_pose(1, ENU, "map", &elsewhere).unwrap_err(),
        model::set_pose(1, ENU, "map", &lost).unwrap_err(),
        model::set_pose(
            1,
            ENU,
            "map",
            &SetVehiclePoseRequest { pose: Default::default(), on_ground: true },
        )
        .map_or_else(|e| e, |_| "taken".to_owned()),
        model::set_geo_origin(
            1,
            &SetGeoOriginRequest { latitude: 116.0, longitude: 400.0, altitude: 0.0 },
        )
        .unwrap_err(),
        model::set_geo_place(1, &SetGeoPlaceRequest { yaw: f64::INFINITY, ..Default::default() })
            .unwrap_err(),
        model::set_udp_mode(1, &SetUdpModeRequest { mode: "mavlink_ful".to_owned() }).unwrap_err(),
        model::set_udp_mode(1, &SetUdpModeRequest { mode: "udp_ultrasimple".to_owned() })
            .unwrap_err(),
        load(name("")),
        load(name(&"x".repeat(49))),
        load(index(-1, "")),
        load(index(1, "Grasslands")),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}
