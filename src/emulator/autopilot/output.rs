//! Output of the vehicle: replies, texts and streams, as MAVLink.
use super::{Autopilot, ControlMode, queues::DatagramQueue, telemetry::STREAMS};
use crate::wire::mavlink::raw::{HilActuatorControls, StatusText};
use crate::{wire::mavlink::Outbound, wire::mavlink::dialect::MavSeverity};

/// Time in s until a ground station's HEARTBEAT expires.
const STATION_TIMEOUT: f64 = 5.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct StreamTimer {
    pub(super) id: u32,
    pub(super) period: f64,
    pub(super) due: f64,
}

impl StreamTimer {
    /// Returns the period in s of the stream unless a command changes it; infinite for one that is not sent.
    pub(super) fn default_period(&self, control: ControlMode) -> f64 {
        let stream = STREAMS.iter().find(|s| s.id == self.id);
        let rate = stream.map_or(0.0, |s| match control {
            ControlMode::MavlinkSimple => s.simple,
            ControlMode::UdpFull | ControlMode::UdpSimple => 0.0,
            // Sent only by CopterSim.
            ControlMode::Direct if s.id == HilActuatorControls::ID => 0.0,
            _ => s.full,
        });
        1.0 / rate
    }
}

impl Autopilot {
    pub(super) fn send_replies(&mut self, out: &mut DatagramQueue) {
        for reply in std::mem::take(&mut self.replies) {
            self.send(&reply, out);
        }
        while let Some((severity, text)) = self.texts.next(self.now) {
            // PX4 sends no texts on a link without a ground station.
            if self.station_at.is_some_and(|at| self.now - at < STATION_TIMEOUT) {
                self.send_text(severity, &text, out);
            }
        }
    }

    fn send_text(&mut self, severity: MavSeverity, text: &str, out: &mut DatagramQueue) {
        const PIECE: usize = 50;
        for (piece, chunk) in text.as_bytes().chunks(PIECE).zip(0u8..) {
            let mut text = [0; PIECE];
            text[..piece.len()].copy_from_slice(piece);
            let severity = severity as u8;
            self.send(&StatusText { severity, text, id: self.text_id, chunk }.into(), out);
        }
        self.text_id = self.text_id.checked_add(1).unwrap_or(1);
    }

    fn send(&mut self, message: &Outbound, out: &mut DatagramQueue) {
        if self.setup.control == ControlMode::MavlinkNoSend {
            return;
        }
        self.sent = self.sent.wrapping_add(1);
        out.push(self.encoder.encode(message).as_bytes());
    }

    pub(super) fn send_streams(&mut self, out: &mut DatagramQueue) {
        for i in 0..self.streams.len() {
            let Some(stream) = self.streams.get_mut(i).filter(|s| s.due <= self.now) else {
                continue;
            };
            let id = stream.id;
            stream.due += stream.period;
            if stream.due < self.now {
                stream.due = self.now + stream.period; // skips missed periods, to avoid a burst
            }
            if stream.period.is_finite()
                && let Some(message) = self.message(id)
            {
                self.send(&message, out);
            }
        }
    }
}
