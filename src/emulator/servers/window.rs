use super::report;
use crate::emulator::control;
use crate::emulator::shared::Shared;
use crate::emulator::stage::{Effect, Outcome, Scene3d};
use crate::wire::{
    HandshakePacket, Packet, SensorKind, SensorRequest, parse_console_command,
    split_console_command,
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
        if taken.is_ok() && request.type_id == SensorKind::Pod.type_id() {
            report::send_pod(shared, socket, request.seq_id);
        }
        let mut stats = shared.stats();
        match taken {
            Ok(()) => stats.requests += 1,
            Err(_) => stats.refused += 1,
        }
    } else if let Ok(text) = parse_console_command(bytes) {
        let outcome = command(shared, text);
        let mut stats = shared.stats();
        match outcome {
            Outcome::Done(_) => {}
            Outcome::Unknown => stats.unknown_commands += 1,
            Outcome::Wrong => stats.wrong_commands += 1,
        }
        stats.commands += 1; // counted last, so that the count implies completion
    } else if let Ok(question) = HandshakePacket::parse(bytes) {
        let answer = HandshakePacket::new(question.checksum.get(), 1);
        let _ = socket.send_to(answer.as_bytes(), source); // the sender may be gone
    } else if let Some(packet) = Scene3d::parse(bytes)
        && shared.staged(|stage, now, motions| stage.accept(packet, now, motions))
    {
        shared.stats().scene_packets += 1; // counted last as well
    } else {
        shared.stats().refused += 1;
    }
}

/// Executes a console command.
fn command(shared: &Shared, text: &str) -> Outcome {
    let (name, mut arguments) = split_console_command(text);
    let outcome = |right: bool| match right {
        true => Outcome::Done(Effect::Nothing),
        false => Outcome::Wrong,
    };
    match name {
        "RflyClearCapture" => {
            let seq_id = arguments.next().and_then(|a| a.parse::<u16>().ok()); // negative: all
            shared.sensors().clear(seq_id);
            outcome(true)
        }
        "RflySetSimSpeed" => outcome(control::set_speed(shared, arguments.next()).is_ok()),
        "RflyReqObjData" => {
            let operation = arguments.next().and_then(|a| a.parse().ok());
            if let Some(operation) = operation {
                let name = arguments.next().unwrap_or_default();
                shared.reports().describe(operation, name);
            }
            outcome(operation.is_some())
        }
        "RflyReqVehicleData" => {
            shared.reports().set_vehicle_data(arguments.next() == Some("1"));
            outcome(true)
        }
        _ => {
            let outcome =
                shared.staged(|stage, now, motions| stage.command(name, arguments, now, motions));
            if outcome == Outcome::Done(Effect::MapChanged) {
                shared.sensors().clear(None);
            }
            outcome
        }
    }
}
