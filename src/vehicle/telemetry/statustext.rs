//! `statustext/*`: status texts from and to the autopilot.
use super::{plugin::plugin, topic::RosResult};
use crate::vehicle::{Autopilot, Counter, Fcu};
use crate::wire::mavlink::raw;
use crate::{msgs::mavros_msgs::msg::StatusText, wire::mavlink::numbers::MAV_SEVERITY_WARNING};
use std::time::Duration;

/// Bytes per message.
const CHUNK: usize = 50;
/// A text with a missing chunk is published after this silence.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(1);
/// As `CHUNK_TIMEOUT`, for a text that may be complete: id 0 means a single chunk, but PX4 also gives id 0 to its first text
/// after a start, even to a longer one.
const WHOLE_TIMEOUT: Duration = Duration::from_millis(200);
/// Limit of texts being joined.
const MAX_UNFINISHED: usize = 8;
/// Longest text that is sent: 255 chunks, the last one not full. The chunk number is a byte.
const MAX_BYTES: usize = 255 * CHUNK - 1;
/// Replaces a lost chunk.
const LOST: &[u8] = b"[...]";
/// Limit of log lines per second; the rest is only published.
const MAX_LINES: u32 = 20;
const SECOND: Duration = Duration::from_secs(1);

plugin! { StatustextPlugin {
    publish {
        recv: StatusText("statustext/recv", Telemetry, "STATUSTEXT, also in the log; long texts are joined") in "";
    }
    subscribe {
        StatusText("statustext/send", "sent as STATUSTEXT, in chunks if longer than 50 characters") => send;
    }
    state {
        unfinished: Vec<UnfinishedText>;
        /// Start of the present second, and log lines in it.
        logged: (Duration, u32);
        /// Id of the last text sent in chunks.
        last_sent_id: u16;
    }
    receive { any raw::StatusText => statustext, }
} }

/// A text being joined from chunks.
struct UnfinishedText {
    component: u8,
    id: u16,
    severity: u8,
    chunks: Vec<Option<Vec<u8>>>,
    /// The last chunk arrived.
    has_end: bool,
    until: Duration,
}

impl UnfinishedText {
    fn is_complete(&self) -> bool {
        self.has_end && self.chunks.iter().all(Option::is_some)
    }

    /// Whether the text is one full chunk with id 0.
    fn may_be_whole(&self) -> bool {
        self.id == 0 && !self.has_end && self.chunks.len() == 1
    }

    fn text(&self) -> Vec<u8> {
        let chunk = |chunk: &Option<Vec<u8>>| chunk.clone().unwrap_or_else(|| LOST.to_vec());
        let mut text: Vec<u8> = self.chunks.iter().flat_map(chunk).collect();
        if !self.has_end && !self.may_be_whole() {
            text.extend_from_slice(LOST);
        }
        text
    }
}

impl StatustextPlugin {
    fn statustext(&mut self, fcu: &mut Fcu, component: u8, m: &raw::StatusText) -> RosResult {
        let end = m.text.iter().position(|byte| *byte == 0);
        let bytes = m.text.get(..end.unwrap_or(CHUNK)).unwrap_or_default();
        let chunk = usize::from(m.chunk);
        let is_same = |text: &UnfinishedText| (text.component, text.id) == (component, m.id);
        let mut at = self.unfinished.iter().position(is_same);
        // PX4 gives every text an id, also those of one chunk.
        if m.chunk == 0 && end.is_some() {
            // A waiting text with id 0 is complete: publish it first, to keep the order.
            if let Some(at) = at.filter(|_| m.id == 0) {
                let before = self.unfinished.remove(at);
                self.publish(fcu, before.severity, &before.text())?;
            }
            return self.publish(fcu, m.severity, bytes);
        }
        if let Some(index) = at {
            let text = self.unfinished.get(index);
            if text.is_some_and(|text| matches!(text.chunks.get(chunk), Some(Some(_)))) {
                // The id was reused: this is another text.
                let old = self.unfinished.remove(index);
                self.publish(fcu, old.severity, &old.text())?;
                at = None;
            }
        }
        if at.is_none() {
            if self.unfinished.len() >= MAX_UNFINISHED {
                let old = self.unfinished.remove(0);
                self.publish(fcu, old.severity, &old.text())?;
            }
            self.unfinished.push(UnfinishedText {
                component,
                id: m.id,
                severity: m.severity,
                chunks: Vec::new(),
                has_end: false,
                until: Duration::ZERO,
            });
        }
        let at = at.unwrap_or(self.unfinished.len().saturating_sub(1));
        let Some(text) = self.unfinished.get_mut(at) else { return Ok(()) };
        text.has_end |= end.is_some();
        if text.chunks.len() <= chunk {
            text.chunks.resize(chunk + 1, None);
        }
        if let Some(slot) = text.chunks.get_mut(chunk) {
            *slot = Some(bytes.to_vec());
        }
        let timeout = if text.may_be_whole() { WHOLE_TIMEOUT } else { CHUNK_TIMEOUT };
        text.until = fcu.now.mono + timeout;
        if !text.is_complete() {
            return Ok(());
        }
        let text = self.unfinished.remove(at);
        self.publish(fcu, text.severity, &text.text())
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.unfinished.iter().map(|text| text.until).min()
    }

    /// Publishes texts whose missing chunks did not arrive in time.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> RosResult {
        let now = fcu.now.mono;
        while let Some(at) = self.unfinished.iter().position(|text| now >= text.until) {
            let text = self.unfinished.remove(at);
            if !text.may_be_whole() {
                fcu.count(Counter::StatustextIncomplete);
            }
            self.publish(fcu, text.severity, &text.text())?;
        }
        Ok(())
    }

    /// Publishes the bridge's notices with the vehicle's own texts; they are logged already.
    pub(super) fn publish_notices(&mut self, fcu: &mut Fcu) -> RosResult {
        for text in std::mem::take(&mut fcu.notices) {
            let stamp = fcu.stamp_now();
            self.recv.publish_always(stamp, |message| {
                message.severity = MAV_SEVERITY_WARNING;
                message.text = text;
            })?;
        }
        Ok(())
    }

    fn publish(&mut self, fcu: &mut Fcu, severity: u8, text: &[u8]) -> RosResult {
        let text = String::from_utf8_lossy(text);
        fcu.preflight.add_text(fcu.now.mono, &text);
        let (begin, lines) = self.logged;
        if fcu.now.mono.saturating_sub(begin) >= SECOND {
            self.logged = (fcu.now.mono, 1);
        } else {
            self.logged = (begin, lines.saturating_add(1));
        }
        if self.logged.1 <= MAX_LINES {
            log(fcu.settings.id, severity, text.trim_end());
        } else {
            fcu.count(Counter::StatustextNotLogged);
        }
        let stamp = fcu.stamp_now();
        self.recv.publish_always(stamp, |message| {
            message.severity = severity;
            message.text.clear();
            message.text.push_str(&text);
        })
    }
}

/// Logs a text at the level of its MAV_SEVERITY.
fn log(vehicle: u16, severity: u8, text: &str) {
    match severity {
        ..=3 => tracing::error!(vehicle, "FCU: {text}"),
        4 | 5 => tracing::warn!(vehicle, "FCU: {text}"),
        6 => tracing::info!(vehicle, "FCU: {text}"),
        _ => tracing::debug!(vehicle, "FCU: {text}"),
    }
}

fn send(autopilot: &mut Autopilot, message: StatusText) {
    let fcu = &mut autopilot.fcu;
    let plugin = &mut autopilot.telemetry.statustext;
    let bytes = message.text.as_bytes();
    let bytes = bytes.get(..bytes.len().min(MAX_BYTES)).unwrap_or_default();
    let id = if bytes.len() <= CHUNK {
        0
    } else {
        plugin.last_sent_id = plugin.last_sent_id.checked_add(1).unwrap_or(1);
        plugin.last_sent_id
    };
    let mut chunks: Vec<&[u8]> = bytes.chunks(CHUNK).collect();
    // A chunk shorter than 50 bytes ends a text; a single chunk needs no end.
    if bytes.is_empty() || (id != 0 && bytes.len() % CHUNK == 0) {
        chunks.push(&[]);
    }
    for (chunk, bytes) in (0..=u8::MAX).zip(chunks) {
        let mut text = [0; CHUNK];
        for (to, from) in text.iter_mut().zip(bytes) {
            *to = *from;
        }
        let message = raw::StatusText { severity: message.severity, text, id, chunk };
        // A failure is counted.
        let _counted = fcu.send(message);
    }
}
