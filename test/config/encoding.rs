//! Files of editors that do not write UTF-8.
use encoding_rs::GBK;
use rfly_bridge::config::encoding::decode;

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
    for bytes in [vec![b'{', 0xff, 0xff, b'}'], vec![b'{', 0, b'}'], vec![0xff, 0xfe, 0, 0xd8]] {
        let why = decode(bytes).expect_err("no text");
        assert!(why.contains("save it as UTF-8"), "{why}");
    }
}
