use super::report;
use crate::emulator::control;
use crate::emulator::renderer::Outcome;
use crate::emulator::shared::SharedState;
use crate::wire::{
    HandshakePacket, Packet, SensorKind, SensorRequest, parse_console_command,
    split_console_command,
};
use std::net::{SocketAddr, UdpSocket};
use zerocopy::IntoBytes as _;

/// Handles a datagram sent to a renderer window.
pub(super) fn accept(
    shared: &SharedState,
    socket: &UdpSocket,
    window: usize,
    bytes: &[u8],
    source: SocketAddr,
) {
    if let Ok(request) = SensorRequest::parse(bytes) {
        let result = {
            let mut table = shared.sensors.lock();
            let now = shared.clock().now();
            table.request(request, window, source, now)
        };
        shared.changed.notify_all();
        if result.is_ok() && request.type_id == SensorKind::Pod.type_id() {
            report::send_pod(shared, socket, request.seq_id);
        }
        let mut stats = shared.stats.lock();
        match result {
            Ok(()) => stats.requests += 1,
            Err(_) => stats.refused += 1,
        }
    } else if let Ok(text) = parse_console_command(bytes) {
        let outcome = command(shared, text);
        let mut stats = shared.stats.lock();
        match outcome {
            Outcome::Done | Outcome::MapChanged => {}
            Outcome::Unknown => stats.unknown_commands += 1,
            Outcome::Wrong => stats.wrong_commands += 1,
        }
        stats.commands += 1; // counted after execution, so that a test can wait for the count
    } else if let Ok(request) = HandshakePacket::parse(bytes) {
        let answer = HandshakePacket::new(request.checksum.get(), 1);
        let _ = socket.send_to(answer.as_bytes(), source); // the sender may be gone
    } else if shared.with_renderer(|renderer, at| renderer.accept(bytes, at)) {
        shared.stats.lock().scene_packets += 1; // counted after execution, too
    } else {
        shared.stats.lock().refused += 1;
    }
}

fn command(shared: &SharedState, text: &str) -> Outcome {
    let (name, mut arguments) = split_console_command(text);
    let outcome = |is_valid| if is_valid { Outcome::Done } else { Outcome::Wrong };
    match name {
        "RflyClearCapture" => {
            let seq_id = arguments.next().and_then(|a| a.parse::<u16>().ok()); // negative: all
            shared.sensors.lock().clear(seq_id);
            outcome(true)
        }
        "RflySetSimSpeed" => outcome(control::set_speed(shared, arguments.next()).is_ok()),
        "RflyReqObjData" => {
            let operation = arguments.next().and_then(|a| a.parse().ok());
            if let Some(operation) = operation {
                shared.reports.lock().request(operation, arguments.next().unwrap_or_default());
            }
            outcome(operation.is_some())
        }
        "RflyReqVehicleData" => {
            shared.reports.lock().set_vehicle_data(arguments.next() == Some("1"));
            outcome(true)
        }
        _ => {
            let outcome =
                shared.with_renderer(|renderer, at| renderer.command(name, arguments, at));
            if outcome == Outcome::MapChanged {
                shared.sensors.lock().clear(None);
            }
            outcome
        }
    }
}
