//! QoS presets.
use rfly_bridge::ros::{Durability, Qos, Reliability};

#[test]
fn the_presets_have_the_values_of_rmw() {
    // rmw/qos_profiles.h
    let sensor: Qos = "sensor_data".parse().unwrap();
    assert_eq!(
        (sensor.reliability, sensor.durability, sensor.depth),
        (Reliability::BestEffort, Durability::Volatile, 5)
    );
    let default: Qos = "default".parse().unwrap();
    assert_eq!(
        (default.reliability, default.durability, default.depth),
        (Reliability::Reliable, Durability::Volatile, 10)
    );
    let latched: Qos = "latched".parse().unwrap();
    assert_eq!(
        (latched.reliability, latched.durability, latched.depth),
        (Reliability::Reliable, Durability::TransientLocal, 1)
    );
}

#[test]
fn an_unknown_preset_is_refused_with_the_known_ones() {
    let error = "sensor-data".parse::<Qos>().unwrap_err();
    assert!(
        error.contains("sensor-data") && error.contains("sensor_data"),
        "{error}"
    );
}

#[test]
fn a_history_holds_at_least_one_sample() {
    assert_eq!(Qos::DEFAULT.with_depth(0).depth, 1);
    assert_eq!(
        Qos::IMAGE.with_depth(3).to_string(),
        "reliable, volatile, keep last 3"
    );
}
