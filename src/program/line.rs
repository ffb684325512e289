//! One message, one line: texts from the network can neither forge lines nor fill disks.
use std::fmt::{self, Write};
use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;

/// Bytes of a message with its fields, before it is cut.
pub const LONGEST_MESSAGE: usize = 4096;

/// A message of the log with its fields: ` name=value` behind the text, on one line, cut where it is long.
pub struct Message<W> {
    out: OneLine<W>,
    begun: bool,
}

impl<W: Write> Message<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        let left = LONGEST_MESSAGE;
        Self {
            out: OneLine { out, left },
            begun: false,
        }
    }

    /// Returns what was written to, with a note if something was cut.
    pub fn finish(mut self) -> W {
        if self.out.left == 0 {
            // The sink of a log has no errors that anybody could be told.
            let _ = write!(self.out.out, "... (cut at {LONGEST_MESSAGE} bytes)");
        }
        self.out.out
    }
}

impl<W: Write> Visit for Message<W> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let separator = match std::mem::replace(&mut self.begun, true) {
            true => " ",
            false => "",
        };
        // An error ends a text that is long enough.
        let _ = match field.name() {
            "message" => write!(self.out, "{separator}{value:?}"),
            // Where a record of the `log` crate came from.
            name if name.starts_with("log.") => Ok(()),
            name => write!(self.out, "{separator}{name}={value:?}"),
        };
    }
}

/// Escapes what moves the cursor or begins a line, and refuses what is too long.
struct OneLine<W> {
    out: W,
    /// Bytes that may follow; none once something did not fit.
    left: usize,
}

impl<W: Write> Write for OneLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let escaped = moves_cursor(c).then(|| c.escape_default());
            let len = escaped
                .as_ref()
                .map_or(c.len_utf8(), ExactSizeIterator::len);
            self.left = self.left.saturating_sub(len);
            if self.left == 0 {
                return Err(fmt::Error);
            }
            match escaped {
                Some(mut escaped) => escaped.try_for_each(|c| self.out.write_char(c))?,
                None => self.out.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Control characters, line ends of Unicode, and what turns the direction of writing.
fn moves_cursor(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// [`Message`] for the lines of the terminal.
pub struct OneLineFields;

impl<'w> FormatFields<'w> for OneLineFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut message = Message::new(writer);
        fields.record(&mut message);
        message.finish();
        Ok(())
    }
}
