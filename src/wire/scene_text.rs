//! Texts that the renderer sends to 224.0.0.10:20002, among requests to `CopterSim`. Documents state only that they are UTF-8.

/// Reads a text, perhaps padded with zeros; `None` for other datagrams of the port, which all contain bytes that no text
/// contains.
pub fn scene_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
    let is_text = |c: char| !c.is_control() || "\t\r\n".contains(c);
    (!text.is_empty() && text.chars().all(is_text)).then_some(text)
}
