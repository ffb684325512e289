//! Checks that hold for any bytes parsed as MAVLink; used by the property tests and by `fuzz/`.
use rfly_bridge::wire::mavlink::raw::{
    CommandAck, CommandInt, CommandLong, Heartbeat, MissionItem, MissionItemInt, SetMode,
};
use rfly_bridge::wire::mavlink::{ByteStream, Encoder, Frame, FrameError, frames};

/// Panics if a parser panics, if frames of a datagram and of a stream differ, or if an encoded message is not decoded.
pub fn check(bytes: &[u8]) {
    let mut of_datagram = Vec::new();
    let (mut noise, mut unknown) = (0, false);
    for frame in frames(bytes) {
        match frame {
            Ok(frame) => {
                decode(&frame);
                of_datagram.push(frame.bytes.to_vec());
            }
            Err(FrameError::Noise(bytes)) => noise += bytes,
            Err(error) => {
                unknown |= matches!(error, FrameError::Unknown { .. });
                assert!(!error.to_string().is_empty());
            }
        }
    }
    let framed: usize = of_datagram.iter().map(Vec::len).sum();
    assert!(framed + noise <= bytes.len());
    let mut stream = ByteStream::default();
    let mut of_stream = Vec::new();
    for piece in bytes.chunks(13) {
        stream.push(piece, |frame| {
            if let Ok(frame) = frame {
                of_stream.push(frame.bytes.to_vec());
            }
        });
    }
    // How much is skipped after an unknown message depends on how many bytes have arrived after it.
    if !unknown {
        assert_eq!(of_stream, of_datagram);
    }
}

fn decode(frame: &Frame<'_>) {
    let _ = (
        Heartbeat::parse(frame),
        SetMode::parse(frame),
        CommandInt::parse(frame),
        CommandLong::parse(frame),
        CommandAck::parse(frame),
        MissionItem::parse(frame),
        MissionItemInt::parse(frame),
    );
    let Ok(message) = frame.message() else { return };
    let packet = Encoder::new(frame.system, frame.component).encode(&message.into());
    let again = frames(packet.as_bytes()).next().expect("a frame");
    let again = again.expect("an own frame is read");
    assert_eq!(again.id, frame.id);
    assert!(again.message().is_ok(), "an own message is decoded");
}
