//! Parameters of a recording, one in each line, as `name value`: what a replay of it takes.
#![no_main]

use mcap::WriteOptions;
use mcap::records::{MessageHeader, Metadata};
use rfly_bridge::config::Params;
use rfly_bridge::config::ros_args::{ParamSource, parse};
use rfly_bridge::node::Replay;
use std::collections::BTreeMap;
use std::io::Cursor;

/// What a recording never decides.
const NEVER: [&str; 8] = [
    "view.",
    "record.",
    "redis.",
    "netsim.",
    "bind_address",
    "simulator_address",
    "control.read_only",
    "control.endpoints",
];

libfuzzer_sys::fuzz_target!(|text: &str| {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let parameters: BTreeMap<_, _> =
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let path = std::env::temp_dir().join(format!("rfly_fuzz_{}.mcap", std::process::id()));
    std::fs::write(&path, recording(parameters)).expect("a file");
    let mut replay = Replay::open(&path).expect("a recording");
    let arguments = replay.arguments().expect("a directory");
    if let Ok(taken) = parse(arguments) {
        let values = taken.sources.into_iter().map(|source| match source {
            ParamSource::Value(name, value) => (name, value),
            ParamSource::File(path) => panic!("the recording names {}", path.display()),
        });
        let values: Vec<_> = values.collect();
        for (name, _) in &values {
            assert!(!NEVER.iter().any(|never| name.starts_with(never)), "{name}");
        }
        let _ = Params::from_values(&values);
    }
});

fn recording(metadata: BTreeMap<String, String>) -> Vec<u8> {
    let mut writer =
        WriteOptions::new().compression(None).create(Cursor::new(Vec::new())).expect("a writer");
    let name = "rfly_bridge/parameters".to_owned();
    writer.write_metadata(&Metadata { name, metadata }).expect("parameters");
    let channel_id =
        writer.add_channel(0, "udp/20005", "rfly_datagram", &BTreeMap::new()).expect("a channel");
    let header = MessageHeader { channel_id, sequence: 0, log_time: 1, publish_time: 1 };
    writer.write_to_known_channel(&header, &[0; 14]).expect("a message");
    writer.finish().expect("an end");
    writer.into_inner().into_inner()
}
