//! Config.json: problems with their places, relations between sensors, overrides.
use rfly_bridge::config::vendor::{Loaded, TransportOverride, VendorOverrides, load};
use rfly_bridge::config::{Mount, Problems, TransportMode};
use std::path::Path;

fn repository_file(path: &str) -> (String, String) {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    (path.rsplit('/').next().unwrap().to_owned(), text)
}

fn load_one(text: &str) -> Result<Loaded, Problems> {
    load(
        &[("Config.json".to_owned(), text.to_owned())],
        &VendorOverrides::default(),
    )
}

#[test]
fn the_demo_has_one_sensor_of_every_kind_and_no_warning() {
    let loaded = load(
        &[repository_file("config/Config.json")],
        &VendorOverrides::default(),
    )
    .unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(loaded.warnings, []);
    let mut types: Vec<u16> = loaded.sensors.iter().map(|sensor| sensor.type_id).collect();
    types.sort_unstable();
    assert_eq!(
        types,
        [1, 2, 3, 4, 5, 7, 8, 9, 20, 21, 22, 23, 30, 31, 40, 41]
    );
    let modes = [
        TransportMode::UdpCompressed,
        TransportMode::UdpRaw,
        TransportMode::UdpCompressedAlt,
    ];
    assert!(modes.iter().all(|mode| {
        loaded
            .sensors
            .iter()
            .any(|sensor| sensor.transport == *mode)
    }));
}

#[test]
fn the_demo_of_two_vehicles_numbers_its_sensors_by_itself() {
    let loaded = load(
        &[repository_file("config/two_vehicles.json")],
        &VendorOverrides::default(),
    )
    .unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(loaded.warnings, []);
    let mounts: Vec<_> = loaded
        .sensors
        .iter()
        .map(|sensor| (sensor.seq_id, sensor.mount))
        .collect();
    let on = Mount::VehicleCentre;
    assert_eq!(
        mounts,
        [
            (0, on(1)),
            (1, on(1)),
            (2, on(1)),
            (3, on(2)),
            (4, on(2)),
            (5, on(2)),
            (6, Mount::Ground(1))
        ]
    );
    assert!(loaded.sensors.iter().all(|sensor| !sensor.layout_new));
}
