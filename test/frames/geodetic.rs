//! Places on the earth, against the vendor's conversions, published values and arithmetic of their own.
use crate::support::golden::{self, Vector as Recorded, numbers};
use nix::time::{ClockId, clock_gettime};
use proptest::prelude::*;
use rfly_bridge::frames::{Ecef, Enu, Geodetic, Geoid, Ned, Separation, Vector};
use serde_json::Value;
use std::time::Duration;

fn place(value: &Value) -> Geodetic {
    let [latitude, longitude, altitude] = numbers(value)[..] else { panic!("{value}") };
    Geodetic::new(latitude, longitude, altitude)
}

fn close(found: [f64; 3], wanted: &[f64], tolerance: f64, name: &str) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() <= tolerance, "{name}: {found} is not {wanted}");
    }
}

#[test]
fn every_recorded_conversion_gives_the_vendors_numbers() {
    for vector in golden::load("earth") {
        check(&vector);
    }
}

fn check(vector: &Recorded) {
    let name = vector.name();
    let args = &vector["args"];
    let wanted = numbers(&vector["decoded"]);
    match vector.function() {
        "lla2ned" => {
            let found = place(&args["lla"]).to_ned(place(&args["ref"]));
            // The vendor's ellipsoid is rounded to 0.1 mm.
            close(found.to_array(), &wanted, 1e-5, name);
        }
        "ned2lla" => {
            let ned = numbers(&args["ned"]);
            let ned = Vector::<Ned>::new(ned[0], ned[1], ned[2]);
            let found = Geodetic::from_ned(ned, place(&args["ref"]));
            close([found.latitude_deg, found.longitude_deg, 0.0], &wanted[..2], 1e-11, name);
            close([found.altitude_m, 0.0, 0.0], &wanted[2..], 1e-5, name);
        }
        "lla2ecef" => close(place(args).to_ecef().to_array(), &wanted, 1e-4, name),
        "ecef2lla" => {
            let ecef = numbers(args);
            let found = Geodetic::from_ecef(Vector::new(ecef[0], ecef[1], ecef[2]));
            close([found.latitude_deg, found.longitude_deg, 0.0], &wanted[..2], 1e-9, name);
            close([found.altitude_m, 0.0, 0.0], &wanted[2..], 1e-4, name);
        }
        other => panic!("{name}: unknown function {other}"),
    }
}

/// What the vendor's client makes of home and map centre in the states of both UDP modes.
#[test]
fn the_recorded_offset_of_home_is_found() {
    let mut seen = 0;
    for vector in golden::load("recv_ctrl_udp") {
        let decoded = &vector["decoded_changes"];
        let centre = place(&vector["args"]["trueGpsUeCenter"]);
        if decoded.get("uavPosGPSHome").is_some() {
            let offset = Geodetic::home_offset(place(&decoded["uavPosGPSHome"]), centre).unwrap();
            let wanted = numbers(&decoded["GpsOriOffset"]);
            close(offset.to_array(), &wanted, 1e-5, vector.name());
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
    // The same when the simulator says where its map is.
    let vector = golden::load_one("recv_true", "gps32_with_home");
    let home = place(&vector["args"]["preset"]["uavPosGPSHome"]);
    let centre = place(&vector["decoded_changes"]["trueGpsUeCenter"]);
    let offset = Geodetic::home_offset(home, centre).unwrap();
    let wanted = numbers(&vector["decoded_changes"]["GpsOriOffset"]);
    close(offset.to_array(), &wanted, 1e-5, vector.name());
    // The vendor takes zeros for a place off the coast of Africa.
    let zero = Geodetic::new(0.0, 0.0, 0.0);
    assert_eq!(Geodetic::home_offset(zero, Geodetic::MAP_CENTRE), None);
    // And every place of the south-western quarter for unknown.
    let quito = Geodetic::new(-0.18, -78.47, 2850.0);
    assert!(Geodetic::home_offset(quito, quito).is_some());
}

#[test]
fn what_is_no_place_is_not_known() {
    for (latitude, longitude, altitude) in [
        (f64::NAN, 1.0, 1.0),
        (1.0, f64::NAN, 1.0),
        (1.0, 1.0, f64::INFINITY),
        (91.0, 1.0, 1.0),
        (0.0005, -0.0005, 10.0),
    ] {
        let place = Geodetic::new(latitude, longitude, altitude);
        assert!(!place.is_known(), "{place:?}");
    }
    assert!(Geodetic::new(0.0, 10.0, 0.0).is_known(), "the equator");
    assert!(Geodetic::new(51.5, 0.0, 0.0).is_known(), "Greenwich");
}

#[test]
fn units_of_mavlink_are_kept_to_the_last_digit() {
    for e7 in [
        [401_540_302, 1_162_593_683, 50_000],
        [-401_540_302, -1_162_593_683, -1],
        [i32::MAX, i32::MIN, i32::MAX],
    ] {
        assert_eq!(Geodetic::from_e7(e7).to_e7(), Some(e7));
    }
    assert_eq!(Geodetic::new(f64::NAN, 0.0, 0.0).to_e7(), None);
    assert_eq!(Geodetic::new(0.0, 0.0, 1e9).to_e7(), None);
}

/// The six places with which NGA publishes its program for EGM96, m. The crate has shorter coefficients: 1 cm.
#[test]
fn the_geoid_has_the_published_heights() {
    for (latitude, longitude, height) in [
        (38.628_155, 269.779_155, -31.628),
        (-14.621_217, 305.021_114, -2.969),
        (46.874_319, 102.448_729, -43.575),
        (-23.617_446, 133.874_712, 15.871),
        (38.625_473, 359.9995, 50.066),
        (-0.466_744, 0.0023, 17.329),
    ] {
        let found = Geoid::Egm96.separation(latitude, longitude);
        assert!((found - height).abs() < 0.01, "{latitude} {longitude}: {found} is not {height}");
    }
    assert_eq!(Geoid::Constant(17.0).separation(f64::NAN, 0.0), 17.0);
    assert!(Geoid::Egm96.separation(f64::NAN, 0.0).is_nan());
    for latitude in [-90.0, 90.0, 0.0] {
        assert!(Geoid::Egm96.separation(latitude, 180.0).is_finite());
    }
}

/// What this thread has computed so far; time in which it did not run does not count.
fn cpu_time() -> Duration {
    Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap())
}

#[test]
fn the_geoid_is_computed_once_for_a_place_and_again_after_a_kilometre() {
    let mut separation = Separation::new(Geoid::Egm96);
    let first = separation.at(40.154, 116.259);
    let start = cpu_time();
    for i in 0..10_000 {
        // Within 900 m.
        assert_eq!(separation.at(40.154 + f64::from(i) * 8e-7, 116.259), first);
    }
    let cached = cpu_time() - start;
    let start = cpu_time();
    let there = separation.at(40.254, 116.259);
    let computed = cpu_time() - start;
    assert_eq!(there, Geoid::Egm96.separation(40.254, 116.259));
    assert_ne!(there, first);
    assert!(cached < computed * 1000, "10000 from the cache {cached:?}, once {computed:?}");
    // Not a number is answered by itself and forgotten.
    assert!(separation.at(f64::NAN, 0.0).is_nan());
    assert_eq!(separation.at(40.154, 116.259), first);
    // The date line is no distance.
    let west = separation.at(10.0, -179.9999);
    assert_eq!(separation.at(10.0, 179.9999), west);
}

/// Height of the ellipsoid's surface over the equatorial plane and its distance from the axis, from its equation.
fn on_ellipsoid(position: Vector<Ecef>) -> f64 {
    let [x, y, z] = position.to_array();
    let (a, b) = (6_378_137.0_f64, 6_378_137.0_f64 * (1.0 - 1.0 / 298.257_223_563));
    (x * x + y * y) / (a * a) + z * z / (b * b)
}

fn places() -> impl Strategy<Value = Geodetic> {
    (-89.9..89.9_f64, -180.0..180.0_f64, -400.0..20_000.0_f64)
        .prop_map(|(latitude, longitude, altitude)| Geodetic::new(latitude, longitude, altitude))
}

proptest! {
    #[test]
    fn earth_centred_and_back_is_the_same_place(place in places()) {
        let again = Geodetic::from_ecef(place.to_ecef());
        prop_assert!((again.latitude_deg - place.latitude_deg).abs() < 1e-10, "{again:?}");
        prop_assert!((again.longitude_deg - place.longitude_deg).abs() < 1e-10, "{again:?}");
        prop_assert!((again.altitude_m - place.altitude_m).abs() < 1e-5, "{again:?}");
    }

    #[test]
    fn a_place_without_altitude_is_on_the_ellipsoid(place in places()) {
        let ground = Geodetic { altitude_m: 0.0, ..place };
        prop_assert!((on_ellipsoid(ground.to_ecef()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_tangent_plane_keeps_distances_and_gives_the_place_back(
        reference in places(),
        north in -20_000.0..20_000.0_f64,
        east in -20_000.0..20_000.0_f64,
        down in -2_000.0..200.0_f64,
    ) {
        let ned = Vector::<Ned>::new(north, east, down);
        let place = Geodetic::from_ned(ned, reference);
        let again = place.to_ned(reference);
        prop_assert!((again - ned).norm() < 1e-4, "{again:?} is not {ned:?}");
        let straight = (place.to_ecef() - reference.to_ecef()).norm();
        prop_assert!((straight - ned.norm()).abs() < 1e-4);
        let enu = Vector::<Enu>::new(east, north, -down);
        prop_assert_eq!(Geodetic::from_enu(enu, reference), place);
        prop_assert_eq!(place.to_enu(reference), Vector::<Enu>::from(again));
    }

    #[test]
    fn up_is_altitude_and_small_steps_go_the_right_way(reference in places(), step in 1.0..100.0_f64) {
        let up = Geodetic { altitude_m: reference.altitude_m + step, ..reference };
        let [north, east, down] = up.to_ned(reference).to_array();
        prop_assert!(north.abs() < 1e-6 && east.abs() < 1e-6 && (down + step).abs() < 1e-6);
        let northward = Geodetic { latitude_deg: reference.latitude_deg + 1e-4, ..reference };
        prop_assert!((10.9..11.3).contains(&northward.to_ned(reference).x()));
        let eastward = Geodetic { longitude_deg: reference.longitude_deg + 1e-4, ..reference };
        prop_assert!(eastward.to_ned(reference).y() > 0.0);
    }

    #[test]
    fn the_offset_of_home_joins_estimate_and_truth(
        centre in places(),
        home in [-3000.0..3000.0_f64, -3000.0..3000.0_f64, -50.0..50.0_f64],
        estimate in [-200.0..200.0_f64, -200.0..200.0_f64, -100.0..0.0_f64],
    ) {
        prop_assume!(centre.is_known());
        let home_place = Geodetic::from_ned(Vector::from(home), centre);
        prop_assume!(home_place.is_known());
        let offset = Geodetic::home_offset(home_place, centre).unwrap();
        let joined = offset + Vector::<Ned>::from(estimate);
        // The planes at home and at the centre are tilted by the distance over the earth's radius.
        let exact = Geodetic::from_ned(Vector::from(estimate), home_place).to_ned(centre);
        let tilt = (home[0].hypot(home[1]) + 300.0) / 6_356_752.0;
        // Meridians converge, which turns the plane near the poles.
        let turn = home[1].abs() / 6_356_752.0 * centre.latitude_deg.to_radians().tan().abs() * 2.0;
        let length = Vector::<Ned>::from(estimate).norm();
        prop_assert!((joined - exact).norm() < length * (tilt + turn) * 1.1 + 1e-3);
    }
}
