//! `mount_angle_unit`: the unit of SensorAngEular.
#![expect(clippy::approx_constant, reason = "angles as people write them")]
use rfly_bridge::config::config_json::{VendorOverrides, load};
use rfly_bridge::config::{
    AngleUnit, AngleUnitChoice, ResolvedAngleUnit, SensorConfig, doubt_of_degrees,
    resolve_angle_unit,
};
use rfly_bridge::wire::SensorKind;

fn sensors(angles: &[[f64; 3]]) -> Vec<SensorConfig> {
    let entries: Vec<_> = angles
        .iter()
        .enumerate()
        .map(|(i, [roll, pitch, yaw])| {
            format!(
                r#"{{"SeqID": {}, "TypeID": 1, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 8, "DataHeight": 8,
                "DataCheckFreq": 30, "SendProtocol": [1,0,0,0,0,0,0,0], "CameraFOV": 90, "SensorPosXYZ": [0,0,0],
                "SensorAngEular": [{roll}, {pitch}, {yaw}], "otherParams": [0,0,0,0,0,0,0,0]}}"#,
                i + 1
            )
        })
        .collect();
    let text = format!(r#"{{"VisionSensors": [{}]}}"#, entries.join(","));
    load(&[("Config.json".to_owned(), text)], &VendorOverrides::default()).unwrap().sensors
}

fn auto(angles: &[[f64; 3]]) -> ResolvedAngleUnit {
    resolve_angle_unit(&sensors(angles), AngleUnitChoice::Auto)
}

#[test]
fn an_explicit_unit_is_taken_whatever_the_values() {
    let looks_like_degrees = sensors(&[[0.0, -90.0, 0.0]]);
    assert_eq!(
        resolve_angle_unit(&looks_like_degrees, AngleUnitChoice::Radians).unit,
        AngleUnit::Radians
    );
    let looks_like_radians = sensors(&[[0.0, -1.5708, 0.0]]);
    assert_eq!(
        resolve_angle_unit(&looks_like_radians, AngleUnitChoice::Degrees).unit,
        AngleUnit::Degrees
    );
}

#[test]
fn auto_takes_an_angle_beyond_a_turn_for_degrees() {
    let found = auto(&[[0.0, 0.0, 0.0], [0.0, -90.0, 0.0]]);
    assert_eq!(found.unit, AngleUnit::Degrees);
    assert!(found.reason.contains("-90 of sensor 2"), "{}", found.reason);
}

#[test]
fn auto_says_so_when_one_sensor_contradicts() {
    let found = auto(&[[0.0, 1.5708, 0.0], [0.0, -90.0, 0.0]]);
    assert_eq!(found.unit, AngleUnit::Degrees);
    assert!(found.reason.contains("although 1.5708 of sensor 1"), "{}", found.reason);
}

#[test]
fn auto_takes_fractions_within_half_a_turn_and_known_fractions_of_pi_for_radians() {
    for angles in [
        [0.0, 0.3, 0.0],
        [0.0, -1.5708, 3.1416],
        [0.0, 1.57, 0.0],
        [0.0, 0.0, 4.712],
        [0.0, 0.0, 6.283],
    ] {
        assert_eq!(auto(&[angles]).unit, AngleUnit::Radians, "{angles:?}");
    }
}

#[test]
fn auto_falls_back_to_degrees_and_says_why() {
    let zeros = auto(&[[0.0; 3]]);
    assert_eq!(zeros.unit, AngleUnit::Degrees);
    assert!(zeros.reason.contains("does not matter"), "{}", zeros.reason);
    for angles in [[0.0, 5.0, 0.0], [0.0, -2.0, 0.5], [0.0, 5.3, 0.0]] {
        let found = auto(&[angles]);
        assert_eq!(found.unit, AngleUnit::Degrees, "{angles:?}");
        assert!(found.reason.contains("ambiguous"), "{}", found.reason);
    }
}

/// As written in radians: down, half a turn, an eighth of one.
#[test]
fn degrees_are_doubted_where_all_angles_are_eighths_of_a_turn_in_radians() {
    for angles in [
        &[[0.0, -1.5708, 0.0]][..],
        &[[0.0, -1.57, 0.0], [0.0, 0.0, 3.1416]],
        &[[0.0, 0.0, 0.785], [0.0, 0.0, -2.356], [0.0, 0.0, 0.0]],
        &[[3.1415926, 0.0, 6.2832]],
    ] {
        let doubt = doubt_of_degrees(&sensors(angles));
        let doubt = doubt.unwrap_or_else(|| panic!("{angles:?} is not doubted"));
        assert!(doubt.contains("of sensor 1"), "{doubt}");
        assert!(doubt.contains("mount_angle_unit:=radians"), "{doubt}");
    }
}

/// Rigs in use: four fisheyes, a camera that looks down, a sweep; and small tilts.
#[test]
fn degrees_in_use_are_not_doubted() {
    for angles in [
        &[[0.0, 0.0, 45.0], [0.0, 0.0, 135.0], [0.0, 0.0, 225.0], [0.0, 0.0, -45.0]][..],
        &[[0.0, -90.0, 0.0]],
        &[[0.0; 3]],
        &[[0.0, 1.5708, 0.0], [0.0, 10.0, 0.0]],
        &[[0.0, 1.0, 2.0], [3.0, 5.0, 6.0]],
        &[[0.0, 11.0, 22.0]],
        &[[0.0, 0.5, 0.0]],
    ] {
        assert_eq!(doubt_of_degrees(&sensors(angles)), None, "{angles:?}");
    }
    let mut pod = sensors(&[[0.0, 1.5708, 0.0]]);
    pod[0].kind = SensorKind::Pod;
    assert_eq!(doubt_of_degrees(&pod), None, "always degrees");
}

/// A pod's 90 degrees say nothing of the others.
#[test]
fn angles_of_pods_do_not_count() {
    let mut rig = sensors(&[[0.0, -90.0, 0.0], [0.0, -1.5708, 0.0]]);
    rig[0].kind = SensorKind::Pod;
    assert_eq!(resolve_angle_unit(&rig, AngleUnitChoice::Auto).unit, AngleUnit::Radians);
}

#[test]
fn units_convert_to_radians() {
    assert_eq!(AngleUnit::Degrees.to_radians(180.0), std::f64::consts::PI);
    assert_eq!(AngleUnit::Radians.to_radians(0.25), 0.25);
}
