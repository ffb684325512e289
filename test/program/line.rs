//! One message, one line.
use rfly_bridge::program::{LONGEST_MESSAGE, OutputLog};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use tracing_subscriber::layer::SubscriberExt as _;

#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What stands in the log after `body`.
fn logged(colours: bool, body: impl FnOnce()) -> String {
    let file = File::default();
    let log = OutputLog::new(file.clone());
    let subscriber = tracing_subscriber::registry().with(log.layer(colours));
    tracing::subscriber::with_default(subscriber, body);
    drop(log); // it writes what is left
    String::from_utf8(file.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn a_line_has_time_level_text_and_fields() {
    let text = logged(false, || {
        tracing::warn!(source = "imu", count = 3, "silent for {} s", 2);
    });
    let (time, rest) = text.split_once(' ').unwrap();
    assert!(time.ends_with('Z') && time.contains('T'), "{time}");
    assert_eq!(rest, " WARN silent for 2 s source=\"imu\" count=3\n");
}

#[test]
fn texts_cannot_forge_lines_or_move_the_cursor() {
    let forged =
        "hello\n2026-01-01T00:00:00Z  INFO armed\r\u{1b}[2J\u{85}\u{2028}\u{202e}\u{7}\0end é";
    for colours in [false, true] {
        let text = logged(colours, || {
            tracing::warn!("FCU: {forged}");
            tracing::warn!(why = forged, "refused");
            tracing::warn!(why = %forged, "refused");
        });
        assert_eq!(text.lines().count(), 3, "{text:?}");
        for line in text.lines() {
            assert!(line.contains("\\nINFO") || line.contains("\\n2026"), "{line:?}");
            assert!(line.ends_with("end é") || line.ends_with("end é\""), "{line:?}");
            let text = line.split_once("hello").unwrap().1;
            let odd = |c: char| c.is_control() || "\u{2028}\u{202e}".contains(c);
            assert!(!text.contains(odd), "{text:?}");
        }
    }
}

#[test]
fn a_text_of_exactly_the_limit_is_not_cut() {
    let longest = "x".repeat(LONGEST_MESSAGE);
    let text = logged(false, || {
        tracing::info!("{longest}");
        tracing::info!("{longest}x");
    });
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].ends_with(&format!(" INFO {longest}")), "{}", lines[0]);
    assert!(lines[1].ends_with(&format!(" INFO {longest}... (cut at 4096 bytes)")), "{}", lines[1]);
}

#[test]
fn long_texts_are_cut_and_it_is_said() {
    let long = "ä".repeat(5_000_000);
    let text = logged(false, || {
        tracing::warn!("mode {long} is not known");
        tracing::warn!(why = long, "refused");
        tracing::warn!(why = %long, after = "nothing", "refused");
        tracing::info!("next");
    });
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    for line in &lines[..3] {
        assert!(line.ends_with("ä... (cut at 4096 bytes)"), "{line}");
        assert!(line.len() < LONGEST_MESSAGE + 100, "{}", line.len());
    }
    assert!(lines[3].ends_with("INFO next"));
}
