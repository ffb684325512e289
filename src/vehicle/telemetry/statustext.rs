//! `statustext/*`: what the autopilot tells people, and what they tell it.
use super::topic::Topic;
use crate::msgs::mavros_msgs::msg::StatusText as StatusTextMessage;
use crate::ros::RosError;
use crate::vehicle::{Autopilot, Counter, Fcu, Open};
use crate::wire::mavlink::raw::StatusText;
use std::time::Duration;

/// Bytes in one message.
const CHUNK: usize = 50;
/// A text of which a chunk is missing is published as it is after this silence.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same for one that may be whole: number 0 says so, but PX4 gives it to its first text after it has started, in
/// however many chunks.
const MAYBE_WHOLE: Duration = Duration::from_millis(200);
/// Texts that are put together at a time.
const UNFINISHED: usize = 8;
/// Longest text that is sent: the number of a chunk is a byte.
const LONGEST: usize = 255 * CHUNK;
/// Stands where a chunk was lost.
const LOST: &[u8] = b"[...]";
/// Lines in the log per second; what is above is only published.
const LINES: u32 = 20;
const SECOND: Duration = Duration::from_secs(1);

pub(super) struct StatusTexts {
    topic: Topic<StatusTextMessage>,
    unfinished: Vec<Unfinished>,
    /// Beginning of the present second in the log, and lines in it.
    logged: (Duration, u32),
    /// Number of the last text that was sent in chunks.
    sent: u16,
}

/// A text in chunks.
struct Unfinished {
    component: u8,
    id: u16,
    severity: u8,
    chunks: Vec<Option<Vec<u8>>>,
    /// The last chunk came.
    ended: bool,
    until: Duration,
}

impl Unfinished {
    fn complete(&self) -> bool {
        self.ended && self.chunks.iter().all(Option::is_some)
    }

    /// A full chunk without a number, and nothing after it.
    fn maybe_whole(&self) -> bool {
        self.id == 0 && !self.ended && self.chunks.len() == 1
    }

    fn text(&self) -> Vec<u8> {
        let chunk = |chunk: &Option<Vec<u8>>| chunk.clone().unwrap_or_else(|| LOST.to_vec());
        let mut text: Vec<u8> = self.chunks.iter().flat_map(chunk).collect();
        if !self.ended && !self.maybe_whole() {
            text.extend_from_slice(LOST);
        }
        text
    }
}

impl StatusTexts {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        open.subscribe("statustext/send", send)?;
        Ok(Self {
            topic: Topic::open(open, "statustext/recv", StatusTextMessage::default())?,
            unfinished: Vec::new(),
            logged: (Duration::ZERO, 0),
            sent: 0,
        })
    }

    pub(super) fn statustext(
        &mut self,
        fcu: &mut Fcu,
        component: u8,
        m: &StatusText,
    ) -> Result<(), RosError> {
        let end = m.text.iter().position(|byte| *byte == 0);
        let bytes = m.text.get(..end.unwrap_or(CHUNK)).unwrap_or_default();
        let chunk = usize::from(m.chunk);
        let same = |text: &Unfinished| (text.component, text.id) == (component, m.id);
        let mut at = self.unfinished.iter().position(same);
        // PX4 numbers every text, also those of one chunk.
        if m.chunk == 0 && end.is_some() {
            // One without a number that waits is whole: they stay in order.
            if let Some(at) = at.filter(|_| m.id == 0) {
                let before = self.unfinished.remove(at);
                self.publish(fcu, before.severity, &before.text())?;
            }
            return self.publish(fcu, m.severity, bytes);
        }
        if let Some(begun) = at {
            let text = self.unfinished.get(begun);
            let again = text.is_some_and(|text| matches!(text.chunks.get(chunk), Some(Some(_))));
            if again {
                // Numbers start over: this is another text.
                let old = self.unfinished.remove(begun);
                self.publish(fcu, old.severity, &old.text())?;
                at = None;
            }
        }
        if at.is_none() {
            if self.unfinished.len() >= UNFINISHED {
                let old = self.unfinished.remove(0);
                self.publish(fcu, old.severity, &old.text())?;
            }
            self.unfinished.push(Unfinished {
                component,
                id: m.id,
                severity: m.severity,
                chunks: Vec::new(),
                ended: false,
                until: Duration::ZERO,
            });
        }
        let at = at.unwrap_or(self.unfinished.len().saturating_sub(1));
        let Some(text) = self.unfinished.get_mut(at) else {
            return Ok(());
        };
        text.ended |= end.is_some();
        if text.chunks.len() <= chunk {
            text.chunks.resize(chunk + 1, None);
        }
        if let Some(place) = text.chunks.get_mut(chunk) {
            *place = Some(bytes.to_vec());
        }
        let patience = if text.maybe_whole() {
            MAYBE_WHOLE
        } else {
            PATIENCE
        };
        text.until = fcu.now.mono + patience;
        if !text.complete() {
            return Ok(());
        }
        let text = self.unfinished.remove(at);
        self.publish(fcu, text.severity, &text.text())
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.unfinished.iter().map(|text| text.until).min()
    }

    /// Publishes what will not be completed any more.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let now = fcu.now.mono;
        while let Some(at) = self.unfinished.iter().position(|text| now >= text.until) {
            let text = self.unfinished.remove(at);
            if !text.maybe_whole() {
                fcu.count(Counter::StatustextIncomplete);
            }
            self.publish(fcu, text.severity, &text.text())?;
        }
        Ok(())
    }

    /// What this bridge has to say of the vehicle goes where the vehicle's own texts go; it is in the log already.
    pub(super) fn notices(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        /// MAV_SEVERITY_WARNING.
        const WARNING: u8 = 4;
        for text in fcu.take_notices() {
            let stamp = fcu.stamp_now();
            self.topic.keep(stamp, |message| {
                message.severity = WARNING;
                message.text = text;
            })?;
        }
        Ok(())
    }

    fn publish(&mut self, fcu: &mut Fcu, severity: u8, text: &[u8]) -> Result<(), RosError> {
        let text = String::from_utf8_lossy(text);
        let (begin, lines) = self.logged;
        if fcu.now.mono.saturating_sub(begin) >= SECOND {
            self.logged = (fcu.now.mono, 1);
        } else {
            self.logged = (begin, lines.saturating_add(1));
        }
        if self.logged.1 <= LINES {
            log(fcu.settings.id, severity, text.trim_end());
        } else {
            fcu.count(Counter::StatustextNotLogged);
        }
        let stamp = fcu.stamp_now();
        self.topic.keep(stamp, |message| {
            message.severity = severity;
            message.text.clear();
            message.text.push_str(&text);
        })
    }
}

/// By MAV_SEVERITY: emergency, alert, critical, error; warning, notice; info; debug.
fn log(vehicle: u16, severity: u8, text: &str) {
    match severity {
        ..=3 => tracing::error!(vehicle, "FCU: {text}"),
        4 | 5 => tracing::warn!(vehicle, "FCU: {text}"),
        6 => tracing::info!(vehicle, "FCU: {text}"),
        _ => tracing::debug!(vehicle, "FCU: {text}"),
    }
}

fn send(autopilot: &mut Autopilot, message: StatusTextMessage) {
    let fcu = &mut autopilot.fcu;
    let texts = &mut autopilot.telemetry.statustexts;
    let bytes = message.text.as_bytes();
    let bytes = bytes
        .get(..bytes.len().min(LONGEST - 1))
        .unwrap_or_default();
    let id = if bytes.len() <= CHUNK {
        0
    } else {
        texts.sent = texts.sent.checked_add(1).unwrap_or(1);
        texts.sent
    };
    let mut chunks: Vec<&[u8]> = bytes.chunks(CHUNK).collect();
    // A zero ends the last chunk; a single one may do without.
    if bytes.is_empty() || (id != 0 && bytes.len() % CHUNK == 0) {
        chunks.push(&[]);
    }
    for (chunk, bytes) in (0..=u8::MAX).zip(chunks) {
        let mut text = [0; CHUNK];
        for (to, from) in text.iter_mut().zip(bytes) {
            *to = *from;
        }
        let message = StatusText {
            severity: message.severity,
            text,
            id,
            chunk,
        };
        // A failure is in the counters.
        let _counted = fcu.send(message);
    }
}
