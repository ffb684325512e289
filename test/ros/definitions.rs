//! Definitions of messages as text, read by PyPI `rosbags`, and type hashes.
use crate::support::python;
use rfly_bridge::msgs::{SERVICES, TYPES, definition, type_hash};
use std::{
    collections::BTreeMap,
    io::Write,
    process::{Command, Stdio},
};

/// Type hashes of what `rosbags` parses, in a store that knows nothing else.
const HASHES: &str = "
import json, sys
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
hashes = {}
for name, text in json.load(sys.stdin).items():
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(text, name))
    hashes[name] = store.hash_rihs01(name).removeprefix('RIHS01_')
json.dump(hashes, sys.stdout)
";

#[test]
fn every_definition_parses_alone_and_has_the_hash_of_its_type() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let texts: BTreeMap<_, _> =
        TYPES.iter().map(|name| (name, definition(name).expect("a definition"))).collect();
    let mut child = Command::new(python)
        .args(["-c", HASHES])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let texts = serde_json::to_vec(&texts).unwrap();
    child.stdin.take().unwrap().write_all(&texts).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let seen: BTreeMap<String, String> = serde_json::from_slice(&output.stdout).unwrap();
    for name in TYPES {
        let hash = type_hash(name).expect("a hash");
        assert_eq!(seen.get(*name).map(String::as_str), Some(hash), "{name}");
    }
}

#[test]
fn an_unknown_type_has_neither_definition_nor_hash() {
    for name in ["sensor_msgs/msg/Imux", "Imu", "std_srvs/srv/Trigger_Goal"] {
        assert_eq!((definition(name), type_hash(name)), (None, None), "{name}");
    }
}

#[test]
fn every_type_of_another_package_has_the_hash_that_rosidl_gives_it() {
    const RECORDED: &str = include_str!("../fixtures/type_hashes.txt");
    let recorded = RECORDED.lines().filter_map(|line| line.split_once(' '));
    let recorded: BTreeMap<_, _> = recorded.collect();
    for (name, hash) in &recorded {
        assert_eq!(type_hash(name), Some(*hash), "{name}");
    }
    let halves = |name: &&str| ["_Request", "_Response"].map(|half| format!("{name}{half}"));
    let names = TYPES.iter().map(|name| (*name).to_owned());
    let names = names.chain(SERVICES.iter().flat_map(halves));
    let unknown: Vec<_> = names
        .filter(|name| !name.starts_with("rfly_bridge_msgs/"))
        .filter(|name| !recorded.contains_key(name.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?} have no recorded hash");
}
