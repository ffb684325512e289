//! `mavlink_source` and `mavlink_sink`: raw MAVLink frames.
use super::{plugin::plugin, topic::RosResult};
use crate::msgs::mavros_msgs::msg::Mavlink;
use crate::vehicle::{Autopilot, Counter, Fcu};
use crate::{wire::mavlink::Frame, wire::mavlink::raw::RawMessage};

/// Bytes of a signature.
const SIGNATURE_LEN: usize = 13;

plugin! { MavlinkPlugin {
    publish {
        source: Mavlink("uas{id}/mavlink_source", Telemetry, "every frame from the vehicle") in ""
            => |frame| frame.framing_status = Mavlink::FRAMING_OK;
    }
    subscribe { Mavlink("uas{id}/mavlink_sink", "a frame to the vehicle; the bridge sets sequence and checksum") => sink; }
} }

impl MavlinkPlugin {
    pub(super) fn publish_frame(&mut self, fcu: &Fcu, frame: &Frame<'_>) -> RosResult {
        self.source.publish_if_subscribed(fcu.stamp_now(), |message| {
            message.magic = frame.bytes.first().copied().unwrap_or_default();
            // A payload has 255 bytes at most.
            message.len = frame.payload.len() as u8;
            let flags = |at: usize| match message.magic {
                Mavlink::MAVLINK_V20 => frame.bytes.get(at).copied().unwrap_or_default(),
                _ => 0,
            };
            (message.incompat_flags, message.compat_flags) = (flags(2), flags(3));
            message.seq = frame.sequence;
            (message.sysid, message.compid) = (frame.system, frame.component);
            message.msgid = frame.id;
            let signature_len = if frame.signed { SIGNATURE_LEN } else { 0 };
            let (rest, signature) = frame
                .bytes
                .split_at_checked(frame.bytes.len().saturating_sub(signature_len))
                .unwrap_or_default();
            let checksum = rest.last_chunk::<2>().copied().unwrap_or_default();
            message.checksum = u16::from_le_bytes(checksum);
            // A new sequence each time: in a ROS 2 workspace this is a bounded sequence, which cannot be cleared.
            message.payload64 = frame.payload.chunks(8).map(word).collect();
            message.signature = std::iter::empty().collect();
            message.signature.extend(signature.iter().copied());
        })
    }
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

/// Sends a frame under the sender ids that the message names. The link sets sequence and checksum.
fn sink(autopilot: &mut Autopilot, message: Mavlink) {
    let fcu = &mut autopilot.fcu;
    let bytes: Vec<u8> = message.payload64.iter().flat_map(|word| word.to_le_bytes()).collect();
    let payload = bytes.get(..usize::from(message.len));
    let Some(raw) = payload.and_then(|payload| RawMessage::new(message.msgid, payload)) else {
        return fcu.count(Counter::BadMavlinkSink);
    };
    // A failure is counted.
    let _counted = fcu.send_as(&raw.into(), message.sysid, message.compid);
}
