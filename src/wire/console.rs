//! Console commands: text lines for the renderer.
use super::WireError;
use super::packet::{expect_tag, wrong_length};

/// Length of the short console datagram, which is used for texts of up to 51 bytes.
pub const CONSOLE_SHORT_LEN: usize = 56;
/// Length of the long console datagram, which is used for texts of up to 249 bytes.
pub const CONSOLE_LONG_LEN: usize = 256;

const TAG: i32 = 1_234_567_890;
const SHORT_TEXT_MAX: usize = 51;
const LONG_TEXT_MAX: usize = 249;

/// Length of the datagram that reaches every renderer of the network (224.0.0.10:20009).
pub const CONSOLE_NETWORK_LEN: usize = 96;
const NETWORK_TAG: i32 = 1_234_567_897;
const NETWORK_TEXT_MAX: usize = 91;

/// Writes a console command for a renderer window into `buffer` and returns the datagram, or `None` if the text is
/// longer than 249 bytes.
///
/// Source: vendor SDK, golden `ue4_send`.
pub fn console_command<'a>(text: &str, buffer: &'a mut [u8; CONSOLE_LONG_LEN]) -> Option<&'a [u8]> {
    if text.len() > LONG_TEXT_MAX {
        return None;
    }
    let is_short = text.len() <= SHORT_TEXT_MAX;
    let len = if is_short { CONSOLE_SHORT_LEN } else { CONSOLE_LONG_LEN };
    write(TAG, text, buffer);
    Some(&buffer[..len])
}

/// Writes a console command for all renderers of the network, or returns `None` if the text is longer than 91 bytes.
///
/// Source: vendor SDK, golden `ue4_send`.
pub fn console_command_for_network(text: &str) -> Option<[u8; CONSOLE_NETWORK_LEN]> {
    if text.len() > NETWORK_TEXT_MAX {
        return None;
    }
    let mut buffer = [0; CONSOLE_NETWORK_LEN];
    write(NETWORK_TAG, text, &mut buffer);
    Some(buffer)
}

/// Writes check word and text; the caller has checked the lengths.
fn write(tag: i32, text: &str, buffer: &mut [u8]) {
    buffer.fill(0);
    buffer[..4].copy_from_slice(&tag.to_le_bytes());
    buffer[4..4 + text.len()].copy_from_slice(text.as_bytes());
}

/// Reads the text of a console datagram of any of the three lengths.
pub fn parse_console_command(bytes: &[u8]) -> Result<&str, WireError> {
    const WHAT: &str = "console command";
    let expected = match bytes.len() {
        CONSOLE_SHORT_LEN | CONSOLE_LONG_LEN => TAG,
        CONSOLE_NETWORK_LEN => NETWORK_TAG,
        _ => return Err(wrong_length(WHAT, CONSOLE_SHORT_LEN, bytes)),
    };
    let (tag, text) = bytes.split_at(4);
    let found = tag.try_into().map(i32::from_le_bytes).unwrap_or_default();
    expect_tag(WHAT, expected, found)?;
    let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
    std::str::from_utf8(&text[..end]).map_err(|e| WireError::Field {
        what: WHAT,
        field: "text",
        found: text.get(e.valid_up_to()).copied().unwrap_or_default().into(),
    })
}

/// Splits a command into its name and its arguments; an argument in double quotes may contain spaces.
///
/// ```
/// use rfly_bridge::wire::split_console_command;
/// let (name, args) = split_console_command("RflySetIDLabel 1000 \"Hi there\" FFFF00 20");
/// assert_eq!(name, "RflySetIDLabel");
/// assert_eq!(args.collect::<Vec<_>>(), ["1000", "Hi there", "FFFF00", "20"]);
/// ```
pub fn split_console_command(text: &str) -> (&str, ConsoleArguments<'_>) {
    let text = text.trim_start();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (name, ConsoleArguments { rest })
}

/// The arguments of a console command, see [`split_console_command`].
#[derive(Clone, Debug)]
pub struct ConsoleArguments<'a> {
    rest: &'a str,
}

impl<'a> Iterator for ConsoleArguments<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start();
        if text.is_empty() {
            return None;
        }
        let (argument, rest) = match text.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
        };
        self.rest = rest;
        Some(argument)
    }
}
