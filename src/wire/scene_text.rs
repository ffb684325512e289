//! Texts that the renderer sends to 224.0.0.10:20002, among requests to `CopterSim`. Documents say no more than that they are UTF-8.

/// Reads a text, perhaps padded with zeros; `None` if it is something else: all other datagrams of the port have bytes that no
/// text has.
pub fn scene_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
    let is_text = |c: char| !c.is_control() || "\t\r\n".contains(c);
    (!text.is_empty() && text.chars().all(is_text)).then_some(text)
}
