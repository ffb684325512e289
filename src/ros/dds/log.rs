//! Cyclone's own log, rate-limited by source line; a shown line gives the number of suppressed ones.
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Time between two lines of one source line, in nanoseconds.
const EVERY_NS: i64 = 10_000_000_000;
/// Characters of a line; it may quote data from the network.
const LONGEST: usize = 300;

/// Severity of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum LogSeverity {
    Info,
    Warning,
    Error,
}

/// A source line of the library: function and line. There are a few hundred.
type SourceLine = (String, u32);

static LIMITER: Mutex<Limiter> = Mutex::new(Limiter(BTreeMap::new()));

/// Time of the last shown line, and number of suppressed ones since, by source line.
struct Limiter(BTreeMap<SourceLine, (i64, u64)>);

impl Limiter {
    /// Number of lines suppressed since the last shown one; `None`: suppress this one too. A clock that was
    /// set back does not silence a source line.
    fn pass(&mut self, place: SourceLine, now_ns: i64) -> Option<u64> {
        let Some((shown, silent)) = self.0.get_mut(&place) else {
            self.0.insert(place, (now_ns, 0));
            return Some(0);
        };
        if (*shown..shown.saturating_add(EVERY_NS)).contains(&now_ns) {
            *silent += 1;
            return None;
        }
        *shown = now_ns;
        Some(std::mem::take(silent))
    }
}

/// Copies a line into the bridge's log.
pub(super) fn line(severity: LogSeverity, function: &str, number: u32, text: &str, now_ns: i64) {
    let passed = LIMITER.lock().pass((function.to_owned(), number), now_ns);
    let Some(silent) = passed else { return };
    let text = readable(text);
    let more = match silent {
        0 => String::new(),
        n => format!(" ({n} more like this before it)"),
    };
    match severity {
        LogSeverity::Error => tracing::error!("Cyclone DDS: {text}{more}"),
        LogSeverity::Warning => tracing::warn!("Cyclone DDS: {text}{more}"),
        LogSeverity::Info => tracing::info!("Cyclone DDS: {text}{more}"),
    }
}

/// One line, of bounded length, without control characters.
fn readable(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut characters = text.trim().chars().map(clean);
    let mut line: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        line.push_str(" ...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_is_heard_once_in_ten_seconds_and_says_how_often_it_was_not() {
        let mut limiter = Limiter(BTreeMap::new());
        let place = |line| ("malformed_packet_received".to_owned(), line);
        assert_eq!(limiter.pass(place(1), 5), Some(0));
        let lines = (0..2_000_000).filter_map(|n| limiter.pass(place(1), 6 + n * 10_000));
        let heard: Vec<_> = lines.collect();
        assert_eq!(heard, [1_000_000], "20 s of a flood: the second line says the rest");
        assert_eq!(limiter.pass(place(2), 7), Some(0), "another place");
        assert_eq!(limiter.pass(place(2), 3), Some(0), "the clock was set back");
    }

    #[test]
    fn a_line_stays_one_line_of_bounded_length() {
        assert_eq!(readable("a\nb\u{1b}[31m\n"), "a b [31m");
        assert_eq!(readable(&"x".repeat(10_000)).len(), LONGEST + 4);
    }
}
