//! Copies of recordings without names, as the `mcap` crate reads them; steps as they are typed.
use mcap::records::{MessageHeader, Metadata};
use rfly_bridge::node::{Replay, ReplayStep, anonymise, parse_step};
use rfly_bridge::wire::mavlink::{MavMessage, dialect, frames};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::PathBuf;
use std::time::Duration;

/// A frame of MAVLink 2 with a status text, of a checksum that the `mavlink` crate made.
fn status_text(text: &str) -> Vec<u8> {
    let mut raw = mavlink::MAVLinkV2MessageRaw::new();
    let message = MavMessage::STATUSTEXT(dialect::STATUSTEXT_DATA {
        text: text.into(),
        ..Default::default()
    });
    raw.serialize_message(mavlink::MavHeader::default(), &message);
    raw.raw_bytes().to_vec()
}

fn datagram(from: [u8; 4], contents: &[u8]) -> Vec<u8> {
    let mut data = from.to_vec();
    data.extend(20_100u16.to_be_bytes());
    data.extend(u32::try_from(contents.len()).unwrap().to_be_bytes());
    data.extend(contents);
    data
}

const CONFIG: &str = r#"{ // of Carol, carol@acme.example
  "VisionSensors": [{"SeqID": 0, "TypeID": 1, "SendProtocol": [2, 192, 168, 7,20, 9999, 0, 0], # 192.168.7.20
  "note": "C:\\Users\\Carol Smith\\Desktop", "CameraFOV": 90.0}] }"#;

/// A picture with a text in it.
fn picture() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.add_text_chunk("Author".to_owned(), "Carol".to_owned()).unwrap();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[7, 9]).unwrap();
    drop(writer);
    bytes
}

struct Copy {
    bytes: Vec<u8>,
    messages: Vec<(String, u64, u32, Vec<u8>)>,
    files: BTreeMap<String, Vec<u8>>,
    parameters: BTreeMap<String, String>,
    said: String,
}

fn copied(name: &str, messages: &[Vec<u8>], words: &[String]) -> Copy {
    let directory = std::env::temp_dir().join(format!("rfly_{name}_{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let paths: [PathBuf; 2] = ["in.mcap", "out.mcap"].map(|name| directory.join(name));
    let mut writer = mcap::Writer::new(Cursor::new(Vec::new())).unwrap();
    let parameters = [
        ("config", r#"["/home/carol/acme/Config.json"]"#),
        ("record.directory", r#""/data/acme""#),
        ("simulator_address", r#""192.168.7.20""#),
        ("accept_from", r#"["192.168.7.0/24", "10.1.2.3"]"#),
        ("control.link", r#""serial:/dev/serial/by-id/usb-Holybro_1234-if00:57600""#),
        ("view.origins", r#"["https://carols-page.acme.example:80", "https://app.foxglove.dev"]"#),
        ("topic_prefix", r#""rflysim""#),
    ];
    let texts = parameters.map(|(name, text)| (name.to_owned(), text.to_owned()));
    writer
        .write_metadata(&Metadata {
            name: "rfly_bridge/parameters".to_owned(),
            metadata: texts.into(),
        })
        .unwrap();
    for (name, data) in [
        ("Config.json", CONFIG.as_bytes().to_vec()),
        ("terrain.file/map.png", picture()),
        ("unknown.bin", vec![0xff, 0xfe]),
    ] {
        let attachment = mcap::Attachment {
            log_time: 0,
            create_time: 0,
            name: name.to_owned(),
            media_type: String::new(),
            data: data.into(),
        };
        writer.attach(&attachment).unwrap();
    }
    let id = writer.add_channel(0, "udp/20101", "rfly_datagram", &BTreeMap::new()).unwrap();
    for (number, data) in (0..).zip(messages) {
        let header = MessageHeader {
            channel_id: id,
            sequence: number + 7,
            log_time: 1000 + u64::from(number),
            publish_time: 1000 + u64::from(number),
        };
        writer.write_to_known_channel(&header, data).unwrap();
    }
    writer.finish().unwrap();
    std::fs::write(&paths[0], writer.into_inner().into_inner()).unwrap();
    let said = anonymise(&paths[0], &paths[1], words).unwrap().text();
    let bytes = std::fs::read(&paths[1]).unwrap();
    std::fs::remove_dir_all(directory).unwrap();

    let (mut files, mut parameters) = (BTreeMap::new(), BTreeMap::new());
    for record in mcap::read::LinearReader::new(&bytes).unwrap() {
        match record.unwrap() {
            mcap::records::Record::Attachment { header, data, .. } => {
                files.insert(header.name, data.into_owned());
            }
            mcap::records::Record::Metadata(metadata) => parameters = metadata.metadata,
            _ => {}
        }
    }
    let stream = mcap::MessageStream::new(&bytes).unwrap();
    let messages = stream.map(|message| {
        let message = message.unwrap();
        let topic = message.channel.topic.clone();
        (topic, message.log_time, message.sequence, message.data.into_owned())
    });
    let messages = messages.collect();
    Copy { bytes, messages, files, parameters, said }
}

#[test]
fn nobody_is_named_in_a_copy_and_who_is_who_is_kept() {
    let text = "log at /home/carol/log on 192.168.7.20";
    let plain = status_text("nothing to hide");
    let sent = [
        datagram([192, 168, 7, 20], &status_text(text)),
        datagram([192, 168, 7, 21], &plain),
        datagram([10, 1, 2, 3], b"ACME says hello"),
        datagram([127, 0, 0, 1], b"hello"),
    ];
    let copy = copied("names", &sent, &["Acme".to_owned()]);
    let lower = copy.bytes.to_ascii_lowercase();
    let found = |word: &[u8]| lower.windows(word.len()).any(|part| part == word);
    for word in ["carol", "smith", "acme", "192.168.7", "10.1.2", "holybro", "/data"] {
        assert!(!found(word.as_bytes()), "{word}: {}", copy.said);
    }
    for address in [[192, 168, 7, 20], [192, 168, 7, 21], [10, 1, 2, 3]] {
        assert!(!copy.bytes.windows(4).any(|part| part == address));
    }
    // In the order in which they are met; the last number stays.
    assert_eq!(copy.parameters["simulator_address"], r#""198.18.0.20""#);
    assert_eq!(copy.parameters["accept_from"], r#"["198.18.0.0/24", "198.18.1.3"]"#);
    let senders: Vec<_> = copy.messages.iter().map(|message| message.3[..4].to_vec()).collect();
    assert_eq!(senders, [[198, 18, 0, 20], [198, 18, 0, 21], [198, 18, 1, 3], [127, 0, 0, 1]]);
    assert!(copy.files["Config.json"].windows(11).any(|part| part == b"198,18,0,20"));
    assert_eq!(copy.parameters["config"], r#"["Config.json"]"#);
    assert_eq!(copy.parameters["topic_prefix"], r#""rflysim""#);
    assert!(copy.parameters["view.origins"].contains("app.foxglove.dev"));
    assert!(copy.said.contains("192.168.7.20 is replaced by 198.18.0.20"), "{}", copy.said);
    assert!(copy.said.contains("unknown.bin: omitted"), "{}", copy.said);
}

#[test]
fn what_is_received_is_as_long_as_before_and_its_checksums_are_right() {
    let text = "log at /home/carol/log on 192.168.7.20";
    let plain = status_text("nothing to hide");
    let both = [status_text(text), plain.clone()].concat();
    let sent = [datagram([10, 1, 2, 3], &both), datagram([10, 1, 2, 3], &plain)];
    let copy = copied("checksums", &sent, &[]);
    for (number, (message, before)) in (0..).zip(copy.messages.iter().zip(&sent)) {
        let (topic, time, sequence, data) = message;
        assert_eq!(
            (topic.as_str(), *time, *sequence),
            ("udp/20101", 1000 + number, 7 + number as u32)
        );
        assert_eq!(data.len(), before.len());
    }
    assert_eq!(copy.messages[1].3[10..], plain, "nothing to hide");
    let found = frames(&copy.messages[0].3[10..]).map(|frame| frame.unwrap().message().unwrap());
    let texts: Vec<_> = found
        .map(|message| match message {
            MavMessage::STATUSTEXT(data) => data.text.to_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["log at /home/xxxxx/log on 000.000.0.00", "nothing to hide"]);
}

#[test]
fn a_picture_keeps_its_pixels_and_loses_its_texts() {
    let copy = copied("picture", &[datagram([127, 0, 0, 1], b"hello")], &[]);
    let decoder = png::Decoder::new(Cursor::new(&copy.files["terrain.file/map.png"]));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, [7, 9]);
    assert!(reader.info().uncompressed_latin1_text.is_empty());
}

#[test]
fn a_line_is_a_step() {
    let cases = [
        ("", Some(ReplayStep::Messages(1))),
        (" 20 ", Some(ReplayStep::Messages(20))),
        ("0.5s", Some(ReplayStep::Time(Duration::from_millis(500)))),
        ("go", Some(ReplayStep::Rest)),
        ("-1", None),
        ("-1s", None),
        ("1e30s", None),
        ("stop", None),
    ];
    for (line, step) in cases {
        assert_eq!(parse_step(line), step, "{line:?}");
    }
}

#[test]
fn a_record_that_is_too_large_is_named() {
    let mut writer = mcap::Writer::new(Cursor::new(Vec::new())).unwrap();
    writer.finish().unwrap();
    let mut bytes = writer.into_inner().into_inner();
    // After the magic and the header: an attachment of 512 MiB.
    let header = 9 + u64::from_le_bytes(bytes[9..17].try_into().unwrap()) as usize;
    bytes.truncate(8 + header);
    bytes.push(0x09);
    bytes.extend((512u64 << 20).to_le_bytes());
    let path = std::env::temp_dir().join(format!("rfly_large_record_{}.mcap", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let error = Replay::open(&path).unwrap_err().to_string();
    std::fs::remove_file(path).unwrap();
    assert!(error.contains("cannot be read") && error.contains("536870912"), "{error}");
}
