use super::{WireError, expect_tag};

/// Length of the short console datagram; its text is used for up to 51 bytes.
pub const CONSOLE_SHORT_LEN: usize = 56;
/// Length of the long console datagram; its text is used for up to 249 bytes.
pub const CONSOLE_LONG_LEN: usize = 256;

const TAG: i32 = 1_234_567_890;
const SHORT_TEXT_MAX: usize = 51;
const LONG_TEXT_MAX: usize = 249;

/// Writes a console command for a renderer window into `buffer` and returns the datagram, or `None` if the text is
/// longer than 249 bytes.
///
/// Source: vendor SDK, golden `ue4_send`.
pub fn console_command<'a>(text: &str, buffer: &'a mut [u8; CONSOLE_LONG_LEN]) -> Option<&'a [u8]> {
    let len = match text.len() {
        0..=SHORT_TEXT_MAX => CONSOLE_SHORT_LEN,
        0..=LONG_TEXT_MAX => CONSOLE_LONG_LEN,
        _ => return None,
    };
    buffer.fill(0);
    buffer[..4].copy_from_slice(&TAG.to_le_bytes());
    buffer[4..4 + text.len()].copy_from_slice(text.as_bytes());
    Some(&buffer[..len])
}

/// Reads the text of a console datagram of either length.
pub fn parse_console_command(bytes: &[u8]) -> Result<&str, WireError> {
    const WHAT: &str = "console command";
    if bytes.len() != CONSOLE_SHORT_LEN && bytes.len() != CONSOLE_LONG_LEN {
        return Err(WireError::Length {
            what: WHAT,
            expected: CONSOLE_SHORT_LEN,
            found: bytes.len(),
        });
    }
    let (tag, text) = bytes.split_at(4);
    let found = tag.try_into().map(i32::from_le_bytes).unwrap_or_default();
    expect_tag(WHAT, TAG.into(), found.into())?;
    let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
    std::str::from_utf8(&text[..end]).map_err(|_| WireError::Field {
        what: WHAT,
        field: "text",
        found: 0,
    })
}
