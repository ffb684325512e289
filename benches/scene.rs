//! Cost of the emulator's frames: `cargo bench --bench scene`.
//!
//! The sensor moves with its vehicle, so that each frame differs from the one before.
#[path = "../test/support/request.rs"]
mod request;

use divan::{Bencher, black_box};
use rfly_bridge::emulator::world::{Scene, World};
use rfly_bridge::emulator::{EmulatorOptions, SensorTable, Streams};
use rfly_bridge::wire::SensorRequest;
use std::net::{Ipv4Addr, SocketAddr};

fn main() {
    divan::main();
}

/// Returns the request for a camera or, from type 20 on, a lidar, ahead of the vehicle's centre.
fn request(type_id: u16, width: u16, height: u16) -> SensorRequest {
    let mut request = request::request(type_id, width, height);
    request.position = [0.3, 0.0, 0.0];
    if type_id >= 20 {
        request.other_params[0] = 60.0;
    }
    request
}

/// Measures one frame per iteration.
fn frames(bencher: Bencher<'_, '_>, world: &World, request: SensorRequest) {
    let mut table = SensorTable::default();
    let mut streams = Streams::new(&EmulatorOptions::default());
    let source = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    assert_eq!(table.request(request, 0, source, 0.0), Ok(()));
    let mut time = 0.0;
    bencher.bench_local(|| {
        time += 1.0 / 30.0;
        let tick = table.tick(time + 1e-6).expect("a frame is due");
        let snapshot = world.at(tick.time);
        for seen in streams.begin(&tick, &snapshot) {
            black_box(streams.frame(&seen, &snapshot).map(|frame| frame.raw.len()));
        }
    });
}

#[divan::bench(args = [1, 2, 4])]
fn image_640x480(bencher: Bencher<'_, '_>, type_id: u16) {
    frames(bencher, &World::flying(1), request(type_id, 640, 480));
}

#[divan::bench(args = [1, 2, 4])]
fn image_640x480_of_the_simple_scene(bencher: Bencher<'_, '_>, type_id: u16) {
    let world = World::flying(1).with_scene(Scene::simple());
    frames(bencher, &world, request(type_id, 640, 480));
}

#[divan::bench(args = [20, 23])]
fn cloud_64_x_272(bencher: Bencher<'_, '_>, type_id: u16) {
    frames(bencher, &World::flying(1), request(type_id, 272, 64));
}
