//! Decodes files of editors that do not write UTF-8, such as those of a Chinese Windows.
use encoding_rs::{Encoding, GB18030, UTF_8, UTF_16BE, UTF_16LE};

/// Returns the text of a file, and its encoding if that is not UTF-8. Errors: the bytes are no text in UTF-8, UTF-16 or GBK.
pub fn decode(bytes: Vec<u8>) -> Result<(String, Option<&'static str>), String> {
    let utf_16 = match (Encoding::for_bom(&bytes), bytes.as_slice()) {
        (Some((encoding, _)), _) => (encoding != UTF_8).then_some(encoding),
        // Without a BOM: the first character of JSON and YAML is in ASCII.
        (None, [1..=255, 0, ..]) => Some(UTF_16LE),
        (None, [0, 1..=255, ..]) => Some(UTF_16BE),
        _ => None,
    };
    if let Some(encoding) = utf_16 {
        let (text, is_malformed) = encoding.decode_with_bom_removal(&bytes);
        return match is_malformed {
            false => Ok((text.into_owned(), Some(encoding.name()))),
            true => Err(format!("is cut off or no {}; save it as UTF-8", encoding.name())),
        };
    }
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, None)),
        Err(error) => error,
    };
    match GB18030.decode_without_bom_handling_and_without_replacement(error.as_bytes()) {
        Some(text) => Ok((text.into_owned(), Some("GBK"))),
        None => Err(format!(
            "is no text in UTF-8 (byte {} is not valid), UTF-16 or GBK; save it as UTF-8",
            error.utf8_error().valid_up_to() + 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;
    use encoding_rs::GBK;

    const TEXT: &str = "{\"VisionSensors\": []} // \u{524d}\u{89c6}\u{76f8}\u{673a}";

    #[test]
    fn encodings_of_common_editors_are_decoded() {
        let utf_16 =
            |bytes: fn(u16) -> [u8; 2]| TEXT.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
        let (little, big) = (utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes));
        let marked = |bom: [u8; 2], bytes: &[u8]| [&bom[..], bytes].concat();
        for (bytes, name) in [
            (TEXT.as_bytes().to_vec(), None),
            (GBK.encode(TEXT).0.into_owned(), Some("GBK")),
            (marked([0xff, 0xfe], &little), Some("UTF-16LE")),
            (marked([0xfe, 0xff], &big), Some("UTF-16BE")),
            (little, Some("UTF-16LE")),
            (big, Some("UTF-16BE")),
        ] {
            assert_eq!(decode(bytes), Ok((TEXT.to_owned(), name)));
        }
        let with_bom = format!("\u{feff}{TEXT}");
        assert_eq!(decode(with_bom.clone().into_bytes()), Ok((with_bom, None)));
        assert_eq!(decode(Vec::new()), Ok((String::new(), None)));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        for bytes in [vec![b'{', 0xff, 0xff, b'}'], vec![b'{', 0, b'}'], vec![0xff, 0xfe, 0, 0xd8]]
        {
            let why = decode(bytes).expect_err("no text");
            assert!(why.contains("save it as UTF-8"), "{why}");
        }
    }
}
