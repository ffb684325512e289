//! Config.json as an editor on a Chinese Windows saves it.
use encoding_rs::GBK;
use rfly_bridge::config::ros_args;
use rfly_bridge::node::Settings;

#[test]
fn a_configuration_in_gbk_or_utf_16_is_read_and_said() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/config/Config.json");
    let text = std::fs::read_to_string(demo).expect("the demo");
    let text = format!("// \u{524d}\u{89c6}\u{76f8}\u{673a}\n{text}");
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let file = std::env::temp_dir().join(format!("rfly_encodings_{}.json", std::process::id()));
    for (bytes, name) in [
        (text.clone().into_bytes(), None),
        (GBK.encode(&text).0.into_owned(), Some("GBK")),
        ([&[0xff, 0xfe], utf_16.as_slice()].concat(), Some("UTF-16LE")),
    ] {
        std::fs::write(&file, bytes).expect("a file");
        let words = ["--ros-args", "-p", &format!("config:={}", file.display())];
        let args = ros_args::parse(words.map(str::to_owned)).expect("arguments");
        let settings = Settings::load(&args).unwrap_or_else(|why| panic!("{name:?}: {why}"));
        assert_eq!(settings.sensors.len(), 16);
        let said: Vec<_> = settings.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            said.iter().any(|text| text.contains("is decoded as")),
            name.is_some(),
            "{said:?}"
        );
        assert!(name.is_none_or(|name| said.iter().any(|text| text.contains(name))), "{said:?}");
        // What a recording carries is read everywhere.
        assert!(std::str::from_utf8(&settings.origin.files[0].bytes).is_ok());
    }
    std::fs::remove_file(file).expect("it was there");
}
