//! Definitions of messages as text, read by PyPI `rosbags`.
use crate::support::python;
use rfly_bridge::msgs::{TYPES, definition};
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

macro_rules! hashes {
    (@rows $($package:ident { $($name:ident $($header:ident)? $hash:literal;)+ })+) => {
        [$($((concat!(stringify!($package), "/msg/", stringify!($name)), $hash),)+)+]
    };
}

#[test]
fn every_definition_parses_alone_and_has_the_hash_of_its_type() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let texts: BTreeMap<_, _> = TYPES
        .iter()
        .map(|name| (name, definition(name).expect("a definition")))
        .collect();
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
    for (name, hash) in rfly_bridge::every_message_type! { [hashes] } {
        assert_eq!(seen.get(name).map(String::as_str), Some(hash), "{name}");
    }
}

#[test]
fn an_unknown_type_has_no_definition() {
    assert_eq!(definition("sensor_msgs/msg/Imux"), None);
    assert_eq!(definition("Imu"), None);
}
