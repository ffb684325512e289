//! Loads the recorded vectors of `test/fixtures/golden`; see `test/fixtures/PROVENANCE.md` for their format.
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One vector; `Index` gives its fields.
#[derive(Clone, Debug)]
pub struct Vector(pub Value);

impl Vector {
    pub fn name(&self) -> &str {
        self.0["name"].as_str().expect("every vector has a name")
    }

    pub fn function(&self) -> &str {
        self.0["function"].as_str().expect("every vector names the vendor's function")
    }

    pub fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some()
    }

    /// All input datagrams of a receive vector.
    pub fn input_packets(&self) -> Vec<Vec<u8>> {
        let packets = self.0["input_hex_packets"].as_array().expect("a receive vector");
        packets.iter().map(|p| unhex(p.as_str().expect("hex"))).collect()
    }

    /// The shared-memory block of a `recv_shm` vector at its full length.
    pub fn input_region(&self) -> Vec<u8> {
        let mut region =
            unhex(self.0["input_hex_region"].as_str().expect("a shared-memory vector"));
        let size = self.0["region_size"].as_u64().expect("region_size");
        region.resize(usize::try_from(size).unwrap(), 0);
        region
    }

    /// All datagrams of a send vector with their port, in order; empty if the call emits nothing.
    pub fn sent(&self) -> Vec<(u16, Vec<u8>)> {
        let Some(first) = self.0["hex"].as_str() else {
            return Vec::new();
        };
        let port = |v: &Value| u16::try_from(v["port"].as_u64().expect("port")).unwrap();
        let mut all = vec![(port(&self.0), unhex(first))];
        for next in self.0["more"].as_array().into_iter().flatten() {
            all.push((port(next), unhex(next["hex"].as_str().unwrap_or(first))));
        }
        all
    }
}

impl std::ops::Index<&str> for Vector {
    type Output = Value;

    fn index(&self, field: &str) -> &Value {
        &self.0[field]
    }
}

pub fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test/fixtures").join(path)
}

/// Loads `test/fixtures/<path>` as JSON.
pub fn json(path: &str) -> Value {
    let file = fixture(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Loads all vectors of `test/fixtures/golden/<file>.json`.
pub fn load(file: &str) -> Vec<Vector> {
    let Value::Array(vectors) = json(&format!("golden/{file}.json")) else {
        panic!("{file} is no array")
    };
    assert!(!vectors.is_empty(), "{file} is empty");
    vectors.into_iter().map(Vector).collect()
}

/// Loads the vector `name` of `test/fixtures/golden/<file>.json`.
pub fn load_one(file: &str, name: &str) -> Vector {
    let found = load(file).into_iter().find(|v| v.name() == name);
    found.unwrap_or_else(|| panic!("{file} has no vector {name}"))
}

pub fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "odd number of hex digits");
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex digit"))
        .collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// A number as the recordings write it; not-a-number and the infinities are strings, and some scalars are lists of one.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::Number(n) => n.as_f64().expect("a double"),
        Value::String(s) => match s.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            other => panic!("{other:?} is no number"),
        },
        Value::Array(one) if one.len() == 1 => number(&one[0]),
        other => panic!("{other} is no number"),
    }
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list")).iter().map(number).collect()
}

/// A recording that no test reads proves nothing.
#[test]
fn every_recording_is_read_by_a_test() {
    let tests = [tests_below(&fixture(".."), "rs"), tests_below(&fixture(".."), "py")].concat();
    let files = std::fs::read_dir(fixture("golden")).unwrap();
    let names = files.map(|file| file.unwrap().path());
    let names = names.filter(|path| path.extension().is_some_and(|e| e == "json"));
    let unread: Vec<_> = names
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| {
            let (quoted, file) = (format!("\"{name}\""), format!("{name}.json"));
            !tests.iter().any(|text| text.contains(&quoted) || text.contains(&file))
        })
        .collect();
    assert_eq!(unread, [""; 0]);
}

fn tests_below(folder: &std::path::Path, extension: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(tests_below(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            texts.push(std::fs::read_to_string(&path).unwrap());
        }
    }
    texts
}
