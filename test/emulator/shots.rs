//! Frames of single instants, without sockets and without a clock.
use crate::support;
use rfly_bridge::emulator::world::World;
use rfly_bridge::emulator::{EmulatorOptions, SensorTable, Streams};
use rfly_bridge::wire::SensorRequest;
use std::net::{Ipv4Addr, SocketAddr};

/// A sensor in the centre of vehicle 1, asked for ten times per second.
pub(super) fn request(type_id: u16, width: u16, height: u16) -> SensorRequest {
    SensorRequest { check_freq: 10, ..support::request::request(type_id, width, height) }
}

/// The uncompressed payloads of the first `count` frames.
pub(super) fn shots(
    world: &World,
    options: &EmulatorOptions,
    request: SensorRequest,
    count: usize,
) -> Vec<Vec<u8>> {
    let mut table = SensorTable::default();
    let mut streams = Streams::new(options);
    let source = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    assert_eq!(table.request(request, 0, source, 0.0), Ok(()));
    let shot = |_| {
        let tick = table.tick(f64::INFINITY).expect("a frame is due");
        let snapshot = world.at(tick.time);
        let [seen] = &streams.begin(&tick, &snapshot)[..] else { panic!("one sensor") };
        let frame = streams.frame(seen, &snapshot).expect("a frame");
        frame.raw.to_vec()
    };
    (0..count).map(shot).collect()
}

/// The payload of the first frame.
pub(super) fn shot(world: &World, options: &EmulatorOptions, request: SensorRequest) -> Vec<u8> {
    shots(world, options, request, 1).remove(0)
}
