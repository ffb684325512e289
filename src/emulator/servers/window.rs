use crate::emulator::shared::Shared;
use crate::wire::{HandshakePacket, Packet, SensorRequest, parse_console_command};
use std::net::{SocketAddr, UdpSocket};
use zerocopy::IntoBytes as _;

/// Takes a datagram that was sent to a renderer window.
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
        shared.stats().commands += 1;
        command(shared, text);
    } else if let Ok(question) = HandshakePacket::parse(bytes) {
        let answer = HandshakePacket::new(question.checksum.get(), 1);
        let _ = socket.send_to(answer.as_bytes(), source); // the asker may be gone
    } else {
        shared.stats().refused += 1;
    }
}

/// Obeys a console command; the ones that do not concern sensor data are accepted and ignored, as text is.
fn command(shared: &Shared, text: &str) {
    let mut words = text.split_whitespace();
    let (name, argument) = (words.next().unwrap_or_default(), words.next());
    match name {
        "RflyClearCapture" => {
            let seq_id = argument
                .and_then(|a| a.parse::<i64>().ok())
                .and_then(|id| u16::try_from(id).ok());
            shared.sensors().clear(seq_id);
        }
        "RflySetSimSpeed" => {
            if let Some(speed) = argument
                .and_then(|a| a.parse::<f64>().ok())
                .filter(|s| *s > 0.0 && s.is_finite())
            {
                shared.set_clock(|clock| clock.set_speed(speed));
            }
        }
        _ => {}
    }
}
