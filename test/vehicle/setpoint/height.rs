//! `setpoint_attitude/height`, against the vendor's formula (SendAttPX4 with AltFlg), written anew, and its recording.
use super::*;
use crate::support::golden;
use rfly_bridge::wire::mavlink::dialect::ATTITUDE_TARGET_DATA;

fn say(rig: &mut Rig, z: f32, vz: f32) {
    rig.say(MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        z,
        vz,
        ..LOCAL_POSITION_NED_DATA::default()
    }));
    rig.sent_bytes();
}

fn wish(height: f64) -> PoseStamped {
    let mut message = PoseStamped::default();
    message.pose.position.z = height;
    message.pose.orientation.w = 1.0;
    message
}

fn thrust(rig: &Rig, height: f64) -> f64 {
    rig.publish("setpoint_attitude/height", &wish(height));
    let sent = attitudes(rig);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].type_mask, 7, "an attitude");
    sent[0].thrust.into()
}

/// The vendor's cycle, NED, 100 times a second.
struct Vendor {
    integral: f64,
}

impl Vendor {
    fn cycle(&mut self, wanted: f64, z: f64, vz: f64) -> f64 {
        let e = ((wanted - z) / 5.0).clamp(-0.5, 0.5);
        self.integral = (self.integral - 0.001 * e).clamp(0.0, 0.8);
        let u = (-e + (vz / 2.0).clamp(-0.5, 0.5)).clamp(-0.5, 0.5);
        (self.integral + u).clamp(0.0, 1.0)
    }
}

#[test]
fn the_thrust_is_that_of_the_vendors_client_at_its_rate() {
    let mut rig = rig();
    let mut vendor = Vendor { integral: 0.5 };
    for cycle in 0..500 {
        let (z, vz) = ((f64::from(cycle) / 70.0).sin() * 4.0, (f64::from(cycle) / 70.0).cos());
        say(&mut rig, z as f32, vz as f32);
        let wanted = vendor.cycle(-1.0, (z as f32).into(), (vz as f32).into());
        let found = thrust(&rig, 1.0);
        assert!((found - wanted).abs() < 1e-6, "{cycle}: {found} {wanted}");
        rig.advance(Duration::from_millis(10));
    }
}

#[test]
fn the_recorded_call_has_the_same_thrust() {
    let vector = golden::load_one("control_mavlink", "27_SendAttPX4");
    let bytes = golden::unhex(vector["hex"].as_str().unwrap());
    let recorded = frames(&bytes).next().unwrap().unwrap();
    let recorded = SetAttitudeTarget::parse(&recorded).unwrap();
    // 10 m up, from the origin.
    let mut rig = rig();
    say(&mut rig, 0.0, 0.0);
    assert_eq!(thrust(&rig, 10.0), f64::from(recorded.thrust));
}

#[test]
fn it_begins_with_the_thrust_that_the_autopilot_reports_again_after_a_pause() {
    let mut rig = rig();
    for (reported, begins) in [(0.7, 0.7), (0.2, 0.5), (f32::NAN, 0.5)] {
        rig.say(MavMessage::ATTITUDE_TARGET(ATTITUDE_TARGET_DATA {
            thrust: reported,
            ..ATTITUDE_TARGET_DATA::default()
        }));
        rig.advance(Duration::from_secs(2));
        say(&mut rig, -1.0, 0.0);
        assert!((thrust(&rig, 1.0) - begins).abs() < 1e-6, "{reported}");
    }
}

#[test]
fn a_slower_stream_integrates_no_less_and_a_late_message_no_more_than_a_tenth() {
    let integral = |steps: u32, period_ms: u64| {
        let mut rig = rig();
        for _ in 0..steps {
            say(&mut rig, 0.0, 0.0);
            thrust(&rig, 0.5);
            rig.advance(Duration::from_millis(period_ms));
        }
        say(&mut rig, -0.5, 0.0);
        thrust(&rig, 0.5)
    };
    assert!((integral(300, 10) - integral(60, 50)).abs() < 1e-3);
    assert!((integral(10, 100) - integral(10, 900)).abs() < 1e-9);
}

#[test]
fn what_is_no_height_or_no_attitude_or_not_known_is_refused() {
    let mut rig = rig();
    let refused = |rig: &Rig, message: &PoseStamped, key: &str| {
        let before = rig.counted(key);
        rig.publish("setpoint_attitude/height", message);
        assert!(attitudes(rig).is_empty());
        assert_eq!(rig.counted(key), before + 1, "{key}");
    };
    refused(&rig, &wish(1.0), "setpoint_no_position");
    say(&mut rig, 0.0, 0.0);
    refused(&rig, &wish(f64::NAN), "setpoint_nan");
    refused(&rig, &wish(f64::INFINITY), "setpoint_too_far");
    let mut nowhere = wish(1.0);
    nowhere.pose.orientation.w = 0.0;
    refused(&rig, &nowhere, "setpoint_orientation");
    rig.advance(Duration::from_millis(501));
    refused(&rig, &wish(1.0), "setpoint_no_position");
    // NaN velocities would be a thrust that is no number.
    say(&mut rig, 0.0, f32::NAN);
    refused(&rig, &wish(1.0), "setpoint_no_position");
}
