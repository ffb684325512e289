//! QoS presets.
use rfly_bridge::config::params::QosPreset;
use rfly_bridge::ros::{Durability, Qos, Reliability};

#[test]
fn the_presets_have_the_values_of_rmw() {
    // rmw/qos_profiles.h
    let sensor = Qos::preset(QosPreset::SensorData);
    assert_eq!(
        (sensor.reliability, sensor.durability, sensor.depth),
        (Reliability::BestEffort, Durability::Volatile, 5)
    );
    let default = Qos::preset(QosPreset::Default);
    assert_eq!(
        (default.reliability, default.durability, default.depth),
        (Reliability::Reliable, Durability::Volatile, 10)
    );
    let latched = Qos::preset(QosPreset::Latched);
    assert_eq!(
        (latched.reliability, latched.durability, latched.depth),
        (Reliability::Reliable, Durability::TransientLocal, 1)
    );
    assert_eq!([sensor, default, latched], [Qos::SENSOR_DATA, Qos::DEFAULT, Qos::LATCHED]);
}

#[test]
fn a_history_holds_at_least_one_sample() {
    assert_eq!(Qos::DEFAULT.with_depth(0).depth, 1);
    assert_eq!(Qos::IMAGE.with_depth(3).to_string(), "reliable, volatile, keep last 3");
}
