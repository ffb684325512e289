//! One message per line: texts from the network can neither forge lines nor fill disks.
use std::fmt::{self, Write};
use tracing::field::{Field, Visit};
use tracing_subscriber::{field::RecordFields, fmt::FormatFields, fmt::format::Writer};

/// Maximum bytes of a message with its fields.
pub const LONGEST_MESSAGE: usize = 4096;

/// A log message with its fields: ` name=value` after the text, on one line, truncated if too long.
pub struct LogMessage<W> {
    out: OneLine<W>,
    has_text: bool,
}

impl<W: Write> LogMessage<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        let left = Some(LONGEST_MESSAGE);
        Self { out: OneLine { out, left }, has_text: false }
    }

    /// Returns the output, with a note if the message was truncated.
    pub fn finish(mut self) -> W {
        if self.out.left.is_none() {
            // Errors of a log's sink cannot be reported.
            let _ = write!(self.out.out, "... (cut at {LONGEST_MESSAGE} bytes)");
        }
        self.out.out
    }
}

impl<W: Write> Visit for LogMessage<W> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let separator = if std::mem::replace(&mut self.has_text, true) { " " } else { "" };
        // An error means that the limit is reached, or that the sink failed.
        let _ = match field.name() {
            "message" => write!(self.out, "{separator}{value:?}"),
            // Fields that `tracing-log` adds to a record of the `log` crate: target, module, file, line.
            name if name.starts_with("log.") => Ok(()),
            name => write!(self.out, "{separator}{name}={value:?}"),
        };
    }
}

/// Escapes characters that move the cursor or start a line, and truncates.
struct OneLine<W> {
    out: W,
    /// Remaining bytes; `None` once something did not fit.
    left: Option<usize>,
}

impl<W: Write> Write for OneLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let escaped = moves_cursor(c).then(|| c.escape_default());
            let len = escaped.as_ref().map_or(c.len_utf8(), ExactSizeIterator::len);
            self.left = self.left.and_then(|left| left.checked_sub(len));
            if self.left.is_none() {
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

/// Control characters, Unicode line ends, and bidirectional formatting.
fn moves_cursor(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// [`LogMessage`] for the lines of the terminal.
pub struct OneLineFields;

impl<'w> FormatFields<'w> for OneLineFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut message = LogMessage::new(writer);
        fields.record(&mut message);
        message.finish();
        Ok(())
    }
}
