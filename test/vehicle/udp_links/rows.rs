//! Every row of the vendor's table of modes, through the public topics and services, with the bytes of the table.
use super::super::rig::Rig;
use super::*;
use rfly_bridge::msgs::geometry_msgs::msg::{Point, Quaternion, Vector3};
use rfly_bridge::msgs::mavros_msgs::msg::{
    AttitudeTarget, GlobalPositionTarget, PositionTarget, StatusText,
};
use rfly_bridge::msgs::mavros_msgs::srv;
use rfly_bridge::msgs::rcl_interfaces::msg as rcl;
use rfly_bridge::msgs::rcl_interfaces::srv::{SetParameters, SetParametersRequest};
use rfly_bridge::vehicle::VehicleSettings;
use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

pub(super) const POSITION: u16 = 0x007;
const VELOCITY: u16 = 0x038;
const ACCELERATION: u16 = 0x1c0;
const YAW: u16 = 0x400;
const YAW_RATE: u16 = 0x800;

/// 24 bytes by the table, written without the codec.
pub(super) fn row(mode: i32, controls: [f32; 4]) -> Vec<u8> {
    let head = [1_234_567_890, mode].map(i32::to_le_bytes).concat();
    [head, controls.map(f32::to_le_bytes).concat()].concat()
}

#[test]
fn the_table_is_the_layout_of_what_the_vendors_client_sends() {
    for vector in golden::load("control_udp_simple_raw") {
        let [mode, controls] = [0, 1].map(|at| &vector["args"]["positional"][at]);
        let Some(controls) = controls.as_array() else {
            continue;
        };
        let controls: Vec<f32> = controls.iter().map(|c| number(c) as f32).collect();
        let bytes = row(number(mode) as i32, controls.try_into().unwrap());
        assert_eq!(hex(&bytes), vector["hex"].as_str().unwrap());
    }
}

/// A vehicle on the ground at home, 10 m below which is the sea.
pub(super) fn vehicle(mode: &str) -> Rig {
    let full = mode == "UDP_Full";
    let rig = Rig::with_link(VehicleSettings::default(), |sink| match full {
        true => Box::new(UdpFullLink::new(1, sink)),
        false => Box::new(UdpSimpleLink::new(1, sink)),
    });
    tell(&rig, mode, [0.0; 3]);
    rig.pass(Duration::from_millis(100));
    rig.sent_bytes();
    rig
}

/// A state at a position from home.
pub(super) fn tell(rig: &Rig, mode: &str, position: [f32; 3]) {
    let home = [401_540_302, 1_162_593_683, 10_000];
    if mode == "UDP_Full" {
        let mut state = FullEstimatePacket::new(5000 + rig.now().as_millis() as u32, 1);
        state.home = home.map(Into::into);
        state.position = position.map(Into::into);
        return rig.receive(state.as_bytes());
    }
    let state = SimpleEstimatePacket::state(home, [0.0; 3], position, [0.0; 3]);
    rig.receive(state.as_bytes());
}

fn setpoint(frame: u8, used: u16, change: impl FnOnce(&mut PositionTarget)) -> PositionTarget {
    let mut message = PositionTarget {
        coordinate_frame: frame,
        type_mask: (POSITION | VELOCITY | ACCELERATION | YAW | YAW_RATE) & !used,
        ..PositionTarget::default()
    };
    message.header.stamp.sec = 3;
    message.header.stamp.nanosec = 250_000_000;
    change(&mut message);
    message
}

pub(super) fn local(rig: &Rig, frame: u8, used: u16, change: impl FnOnce(&mut PositionTarget)) {
    rig.publish("setpoint_raw/local", &setpoint(frame, used, change));
}

/// Roll 0.1, pitch -0.2, yaw 0.3 of FRD in NED, as FLU in ENU: roll 0.1, pitch 0.2, yaw 90 degrees - 0.3.
pub(super) fn attitude() -> Quaternion {
    let half = [0.1, 0.2, FRAC_PI_2 - 0.3].map(|angle: f64| (angle / 2.0).sin_cos());
    let [(sr, cr), (sp, cp), (sy, cy)] = half;
    Quaternion {
        w: cr * cp * cy + sr * sp * sy,
        x: sr * cp * cy - cr * sp * sy,
        y: cr * sp * cy + sr * cp * sy,
        z: cr * cp * sy - sr * sp * cy,
    }
}

fn command(rig: &Rig, command: u16, params: [f32; 7]) {
    let [param1, param2, param3, param4, param5, param6, param7] = params;
    let request = srv::CommandLongRequest {
        command,
        param1,
        param2,
        param3,
        param4,
        param5,
        param6,
        param7,
        ..Default::default()
    };
    let answer = rig.call::<srv::CommandLong>("cmd/command", &request);
    assert!(answer.success);
}

fn set(rig: &Rig, name: &str, value: f64) -> srv::ParamSetV2Response {
    let mut request = srv::ParamSetV2Request { param_id: name.into(), ..Default::default() };
    request.value.type_ = 3;
    request.value.double_value = value;
    rig.call::<srv::ParamSetV2>("param/set", &request)
}

/// What a user does, and what leaves: mode, numbers, and which of them are angles.
type Row = (fn(&Rig), i32, [f32; 4], &'static [usize]);

/// Numbers of setpoints are those of the vectors, of which each has its mode for the first.
const ROWS: [Row; 15] = [
    (
        |rig| {
            local(rig, 1, VELOCITY | YAW_RATE, |m| {
                (m.velocity, m.yaw_rate) = (vector(1.5, 0.0, -3.0), -4.5);
            });
        },
        0,
        [0.0, 1.5, 3.0, 4.5],
        &[],
    ),
    (
        |rig| {
            local(rig, 8, VELOCITY | YAW_RATE, |m| {
                (m.velocity, m.yaw_rate) = (vector(1.0, -2.5, -4.0), -5.5);
            });
        },
        1,
        [1.0, 2.5, 4.0, 5.5],
        &[],
    ),
    (
        |rig| {
            local(rig, 1, POSITION | YAW, |m| {
                (m.position, m.yaw) = (point(3.5, 2.0, -5.0), FRAC_PI_2 as f32 - 6.5);
            });
        },
        2,
        [2.0, 3.5, 5.0, 6.5],
        &[3],
    ),
    (
        |rig| {
            local(rig, 8, POSITION | YAW, |m| {
                (m.position, m.yaw) = (point(3.0, -4.5, -6.0), -7.5);
            });
        },
        3,
        [3.0, 4.5, 6.0, 7.5],
        &[3],
    ),
    (
        |rig| {
            let message = AttitudeTarget {
                orientation: attitude(),
                type_mask: 7,
                thrust: 0.625,
                ..Default::default()
            };
            rig.publish("setpoint_raw/attitude", &message);
        },
        4,
        [0.1, -0.2, 0.3, 0.625],
        &[0, 1, 2],
    ),
    (
        |rig| {
            let message =
                AttitudeTarget { orientation: attitude(), thrust: -0.125, ..Default::default() };
            rig.publish("setpoint_raw/throttle_step", &message);
        },
        5,
        [0.1, -0.2, 0.3, -0.125],
        &[0, 1, 2],
    ),
    (
        |rig| {
            local(rig, 1, ACCELERATION | YAW, |m| {
                m.acceleration_or_force = vector(7.5, 6.0, -9.0);
                m.yaw = FRAC_PI_2 as f32 - 10.5;
            });
        },
        6,
        [6.0, 7.5, 9.0, 10.5],
        &[3],
    ),
    (
        |rig| {
            local(rig, 1, ACCELERATION | YAW_RATE, |m| {
                (m.acceleration_or_force, m.yaw_rate) = (vector(9.5, 8.0, -11.0), -12.5);
            });
        },
        8,
        [8.0, 9.5, 11.0, 12.5],
        &[],
    ),
    (
        |rig| {
            rig.call_later::<srv::CommandBool>(
                "cmd/arming",
                srv::CommandBoolRequest { value: true },
            );
        },
        9,
        [1.0, 0.0, 0.0, 0.0],
        &[],
    ),
    (
        |rig| {
            command(rig, 178, [0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
            rig.sent_bytes();
            let answer = set(rig, "NAV_LOITER_RAD", 11.5);
            assert!(answer.success);
            assert_eq!(answer.value.double_value, 11.5);
        },
        10,
        [10.0, 11.5, 0.0, 0.0],
        &[],
    ),
    (
        |rig| {
            let request = srv::CommandTOLLocalRequest {
                position: vector(2.0, 1.0, 3.0),
                ..Default::default()
            };
            rig.call_later::<srv::CommandTOLLocal>("cmd/takeoff_local", request);
        },
        11,
        [1.0, 2.0, -3.0, 0.0],
        &[],
    ),
    (
        |rig| {
            let request = srv::CommandTOLRequest {
                latitude: 12.0,
                longitude: 13.5,
                altitude: 15.0,
                ..Default::default()
            };
            rig.call_later::<srv::CommandTOL>("cmd/takeoff", request);
        },
        12,
        [12.0, 13.5, 15.0, 0.0],
        &[],
    ),
    (
        |rig| {
            // The vendor's SendVelYawAlt: heading and speed in the place of the velocity to the north and the east.
            local(rig, 1, POSITION | VELOCITY | YAW | YAW_RATE, |m| {
                (m.position.z, m.velocity) = (-14.5, vector(13.0, 0.5, 0.0));
                m.yaw = FRAC_PI_2 as f32 - 0.5;
            });
        },
        13,
        [13.0, 14.5, 0.5, 0.0],
        &[2],
    ),
    (
        |rig| {
            let message = GlobalPositionTarget {
                coordinate_frame: 5,
                type_mask: VELOCITY | ACCELERATION | YAW_RATE,
                latitude: 14.0,
                longitude: 15.5,
                altitude: 17.0,
                yaw: FRAC_PI_2 as f32 - 18.5,
                ..Default::default()
            };
            rig.publish("setpoint_raw/global", &message);
        },
        14,
        [14.0, 15.5, 17.0, 18.5],
        &[3],
    ),
    (
        |rig| {
            let request = srv::CommandVtolTransitionRequest { state: 4, ..Default::default() };
            let answer = rig.call::<srv::CommandVtolTransition>("cmd/vtol_transition", &request);
            assert!(answer.success);
        },
        30,
        [4.0, 0.0, 0.0, 0.0],
        &[],
    ),
];

fn point(x: f64, y: f64, z: f64) -> Point {
    Point { x, y, z }
}

fn vector(x: f64, y: f64, z: f64) -> Vector3 {
    Vector3 { x, y, z }
}

pub(super) fn numbers(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.chunks_exact(4);
    words.map(|w| f32::from_le_bytes(w.try_into().unwrap())).collect()
}

#[test]
fn every_row_of_the_table_of_modes_is_reached_through_topics_and_services() {
    let modes: Vec<i32> = ROWS.iter().map(|(_, mode, ..)| *mode).collect();
    // 7 is never sent: its fourth number is disputed (docs/wire/control.md).
    let table = (0..15).filter(|mode| *mode != 7).chain([30]);
    assert_eq!(modes, table.collect::<Vec<_>>());
    for (act, mode, controls, angles) in ROWS {
        let rig = vehicle("UDP_Simple");
        act(&rig);
        let (sent, wanted) = (rig.sent_bytes(), row(mode, controls));
        assert_eq!(hex(&sent[..8.min(sent.len())]), hex(&wanted[..8]), "mode {mode}");
        assert_eq!(sent.len(), wanted.len(), "mode {mode}");
        let found = numbers(&sent[8..]);
        for (at, (found, wanted)) in found.iter().zip(controls).enumerate() {
            let same = match angles.contains(&at) {
                // Turned from another axis, and wrapped.
                true => (found - wanted).sin().abs() < 2e-6 && (found - wanted).cos() > 0.0,
                false => *found == wanted,
            };
            assert!(same, "mode {mode}, number {at}: {found} instead of {wanted}");
        }
    }
}

/// In UDP_Full commands are the same 24 bytes.
#[test]
fn commands_are_the_same_in_udp_full() {
    for (act, mode, controls, _) in
        ROWS.into_iter().filter(|(_, mode, ..)| [9, 10, 11, 12, 30].contains(mode))
    {
        let rig = vehicle("UDP_Full");
        act(&rig);
        assert_eq!(hex(&rig.sent_bytes()), hex(&row(mode, controls)), "mode {mode}");
    }
}

#[test]
fn positions_of_the_body_leave_as_the_vendors_client_sends_them() {
    for (mode, file) in [("UDP_Full", "control_udp_full"), ("UDP_Simple", "control_udp_simple")] {
        let wanted = golden::load_one(file, "06_SendPosFRD");
        let wanted = golden::unhex(wanted["hex"].as_str().unwrap());
        let rig = vehicle(mode);
        local(&rig, 8, POSITION | YAW, |m| {
            m.type_mask = 3064; // with the bit of forces, as the vendor's
            (m.position, m.yaw) = (point(5.0, 0.0, 2.0), -0.5);
        });
        let sent = rig.sent_bytes();
        // Equal numbers: mavros' axes make the zero of y a negative one.
        assert_eq!(sent.len(), wanted.len(), "{mode}");
        assert_eq!(hex(&sent[..8]), hex(&wanted[..8]), "{mode}");
        assert_eq!(numbers(&sent[8..]), numbers(&wanted[8..]), "{mode}");
    }
}

#[test]
fn speed_and_radius_of_a_fixed_wing_are_set_by_their_parameters() {
    for mode in ["UDP_Full", "UDP_Simple"] {
        let rig = vehicle(mode);
        for (name, value, file) in
            [("FW_AIRSPD_TRIM", 15.0, "cruise_speed"), ("NAV_LOITER_RAD", 50.0, "")]
        {
            assert!(set(&rig, name, value).success, "{name}");
            let wanted = match file {
                // As the vendor's client.
                "cruise_speed" => {
                    golden::load_one("control_udp_simple", file)["hex"].as_str().unwrap().to_owned()
                }
                // It would erase the speed.
                _ => hex(&row(10, [15.0, 50.0, 0.0, 0.0])),
            };
            assert_eq!(hex(&rig.sent_bytes()), wanted, "{name}");
        }
        // The same as a ROS parameter, an integer.
        let mut request = SetParametersRequest::default();
        request.parameters.push(rcl::Parameter {
            name: "FW_AIRSPD_TRIM".into(),
            value: rcl::ParameterValue { type_: 2, integer_value: 20, ..Default::default() },
        });
        let answer = rig.call::<SetParameters>("param/set_parameters", &request);
        assert!(answer.results[0].successful);
        assert_eq!(hex(&rig.sent_bytes()), hex(&row(10, [20.0, 50.0, 0.0, 0.0])));
        // What there is not is refused, and named.
        rig.recorder.clear();
        for (name, value, why) in [
            ("MPC_XY_VEL_MAX", 5.0, "FW_AIRSPD_TRIM and NAV_LOITER_RAD only"),
            ("NAV_LOITER_RAD", 0.0, "above 0"),
        ] {
            assert!(!set(&rig, name, value).success, "{name}");
            assert!(rig.nothing_sent());
            rig.poll();
            let texts = rig.messages::<StatusText>("statustext/recv");
            assert!(texts.last().unwrap().text.contains(why), "{texts:?}");
        }
    }
    // Of a vehicle that is not there nothing is said to be set.
    let rig =
        Rig::with_link(VehicleSettings::default(), |sink| Box::new(UdpSimpleLink::new(1, sink)));
    assert!(!set(&rig, "FW_AIRSPD_TRIM", 15.0).success);
    assert!(rig.nothing_sent());
    let rig = Rig::with_link(VehicleSettings { read_only: true, ..Default::default() }, |sink| {
        Box::new(UdpSimpleLink::new(1, sink))
    });
    tell(&rig, "UDP_Simple", [0.0; 3]);
    assert!(!set(&rig, "FW_AIRSPD_TRIM", 15.0).success);
    assert!(rig.nothing_sent());
}

#[test]
fn a_local_take_off_is_answered_when_the_vehicle_is_up() {
    for mode in ["UDP_Full", "UDP_Simple"] {
        let rig = vehicle(mode);
        let take_off = |z| {
            let request = srv::CommandTOLLocalRequest {
                position: vector(0.0, 0.0, z),
                rate: 2.0,
                ..Default::default()
            };
            rig.call_later::<srv::CommandTOLLocal>("cmd/takeoff_local", request)
        };
        let down = take_off(0.0).expect();
        assert_eq!((down.success, down.result), (false, 3));
        let answer = take_off(3.0);
        rig.pass(Duration::from_secs(1));
        assert!(answer.get().is_none(), "it stands");
        let texts = rig.messages::<StatusText>("statustext/recv");
        let said = |text: &&StatusText| text.text.contains("pitch, yaw and rate are left");
        assert!(texts.iter().any(|text| said(&text)), "{texts:?}");
        tell(&rig, mode, [0.0, 0.0, -1.0]);
        assert!(answer.expect().success);
        // There is no landing, and the reason is said.
        rig.recorder.clear();
        let answer = rig.call::<srv::CommandTOLLocal>("cmd/land_local", &Default::default());
        assert_eq!((answer.success, answer.result), (false, 3));
        rig.poll();
        let texts = rig.messages::<StatusText>("statustext/recv");
        assert!(texts.last().unwrap().text.contains("setpoints to the ground"), "{texts:?}");
    }
}
