//! Cyclone's own log, rate-limited by source line; a logged line states the number of suppressed lines.
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Minimum time between two log lines of one source line, in ns.
const MIN_INTERVAL_NS: i64 = 10_000_000_000;
/// Limit of the characters in a log line, which may quote data from the network.
const MAX_CHARACTERS: usize = 300;

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

/// Time of the last logged line, and number of lines suppressed since, by source line.
struct Limiter(BTreeMap<SourceLine, (i64, u64)>);

impl Limiter {
    /// Number of lines suppressed since the last logged one; `None`: suppress this one too. A clock that was
    /// set back suppresses no line.
    fn pass(&mut self, source: SourceLine, now_ns: i64) -> Option<u64> {
        let Some((logged, suppressed)) = self.0.get_mut(&source) else {
            self.0.insert(source, (now_ns, 0));
            return Some(0);
        };
        if (*logged..logged.saturating_add(MIN_INTERVAL_NS)).contains(&now_ns) {
            *suppressed += 1;
            return None;
        }
        *logged = now_ns;
        Some(std::mem::take(suppressed))
    }
}

/// Copies a line into the bridge's log.
pub(super) fn line(severity: LogSeverity, function: &str, number: u32, text: &str, now_ns: i64) {
    let passed = LIMITER.lock().pass((function.to_owned(), number), now_ns);
    let Some(suppressed) = passed else { return };
    let text = readable(text);
    let more = match suppressed {
        0 => String::new(),
        n => format!(" ({n} earlier messages of this source line suppressed)"),
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
    let mut line: String = characters.by_ref().take(MAX_CHARACTERS).collect();
    if characters.next().is_some() {
        line.push_str(" ...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_line_is_logged_once_in_ten_seconds_with_the_suppressed_count() {
        let mut limiter = Limiter(BTreeMap::new());
        let source = |line| ("malformed_packet_received".to_owned(), line);
        assert_eq!(limiter.pass(source(1), 5), Some(0));
        let lines = (0..2_000_000).filter_map(|n| limiter.pass(source(1), 6 + n * 10_000));
        let counts: Vec<_> = lines.collect();
        assert_eq!(counts, [1_000_000], "20 s of a flood: the second line has the count");
        assert_eq!(limiter.pass(source(2), 7), Some(0), "another source line");
        assert_eq!(limiter.pass(source(2), 3), Some(0), "the clock was set back");
    }

    #[test]
    fn a_line_stays_one_line_of_bounded_length() {
        assert_eq!(readable("a\nb\u{1b}[31m\n"), "a b [31m");
        assert_eq!(readable(&"x".repeat(10_000)).len(), MAX_CHARACTERS + 4);
    }
}
