use crate::emulator::control;
use crate::emulator::shared::Shared;
use crate::wire::{
    HandshakePacket, Packet, SensorRequest, parse_console_command, split_console_command,
};
use std::net::{SocketAddr, UdpSocket};
use zerocopy::IntoBytes as _;

/// Handles a datagram sent to a renderer window.
pub(in crate::emulator) fn accept(
    shared: &Shared,
    socket: &UdpSocket,
    window: usize,
    bytes: &[u8],
    source: SocketAddr,
) {
    if let Ok(request) = SensorRequest::parse(bytes) {
        let taken = {
            let mut table = shared.sensors();
            let now = shared.clock().now();
            table.request(request, window, source, now)
        };
        shared.changed.notify_all();
        let mut stats = shared.stats();
        match taken {
            Ok(()) => stats.requests += 1,
            Err(_) => stats.refused += 1,
        }
    } else if let Ok(text) = parse_console_command(bytes) {
        command(shared, text);
        shared.stats().commands += 1; // counted last, so that the count implies completion
    } else if let Ok(question) = HandshakePacket::parse(bytes) {
        let answer = HandshakePacket::new(question.checksum.get(), 1);
        let _ = socket.send_to(answer.as_bytes(), source); // the sender may be gone
    } else {
        shared.stats().refused += 1;
    }
}

/// Executes a console command; those unrelated to sensor data are accepted and ignored.
fn command(shared: &Shared, text: &str) {
    let (name, mut arguments) = split_console_command(text);
    match name {
        "RflyClearCapture" => {
            let seq_id = arguments.next().and_then(|a| a.parse::<u16>().ok()); // negative: all
            shared.sensors().clear(seq_id);
        }
        "RflySetSimSpeed" => drop(control::set_speed(shared, arguments.next())),
        "RflyReqObjData" => {
            if let Some(operation) = arguments.next().and_then(|a| a.parse().ok()) {
                shared
                    .reports()
                    .describe(operation, arguments.next().unwrap_or_default());
            }
        }
        "RflyReqVehicleData" => shared.reports().vehicle_data(arguments.next() == Some("1")),
        _ => {}
    }
}
