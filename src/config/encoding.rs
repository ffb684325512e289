//! Decodes text files, also those that an editor did not save as UTF-8 (on a Chinese Windows: GBK).
use encoding_rs::{Encoding, GB18030, UTF_8, UTF_16BE, UTF_16LE};

/// Returns the text of a file, and its encoding if that is not UTF-8. Errors: the bytes are in neither UTF-8, UTF-16 nor GBK.
pub fn decode(bytes: Vec<u8>) -> Result<(String, Option<&'static str>), String> {
    let utf_16 = match (Encoding::for_bom(&bytes), bytes.as_slice()) {
        (Some((encoding, _)), _) => (encoding != UTF_8).then_some(encoding),
        // Without a BOM: JSON and YAML begin with an ASCII character.
        (None, [1..=255, 0, ..]) => Some(UTF_16LE),
        (None, [0, 1..=255, ..]) => Some(UTF_16BE),
        _ => None,
    };
    if let Some(encoding) = utf_16 {
        let (text, is_malformed) = encoding.decode_with_bom_removal(&bytes);
        return match is_malformed {
            false => Ok((text.into_owned(), Some(encoding.name()))),
            true => Err(format!(
                "looks like {}, but is cut off or damaged; save it as UTF-8",
                encoding.name()
            )),
        };
    }
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, None)),
        Err(error) => error,
    };
    match GB18030.decode_without_bom_handling_and_without_replacement(error.as_bytes()) {
        Some(text) => Ok((text.into_owned(), Some("GBK"))),
        None => Err(format!(
            "is not text in UTF-8 (byte {} is not valid), UTF-16 or GBK; save it as UTF-8",
            error.utf8_error().valid_up_to() + 1
        )),
    }
}
