//! What is received, as it was received: every datagram and every frame of shared memory.
use super::file::Sink;
use super::topic::Topic;
use crate::node::clock::host_now;
use crate::node::files::NamedFile;
use crate::node::settings::Settings;
use crate::transport::{Datagram, Witness};
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, PoisonError};

/// Encoding of datagrams: 4 bytes address and 2 bytes port of the sender, 4 bytes length on the wire (big endian), then the
/// bytes.
pub(super) const DATAGRAM: &str = "rfly_datagram";
/// Encoding of blocks: their bytes.
pub(super) const BLOCK: &str = "rfly_block";
/// Name of the metadata with the parameters.
pub(super) const PARAMETERS: &str = "rfly_bridge/parameters";
/// The parameter of a file whose name in the recording names none.
pub(super) const CONFIG: &str = "config";
/// Others.
pub(super) const TERRAIN: &str = "terrain.file";
pub(super) const SCENE: &str = "scene.file";
/// Length of the head of a datagram.
pub(super) const HEAD: usize = 10;

/// Writes what is received to a recording.
pub(super) struct Raw {
    sink: Arc<Sink>,
    /// Number and next sequence of each port and block.
    topics: Mutex<BTreeMap<String, (u16, u32)>>,
}

impl Raw {
    /// Begins with the parameters and the files that they name.
    pub(super) fn new(sink: Arc<Sink>, settings: &Settings) -> Self {
        let values = settings.origin.values.iter();
        let mut texts: BTreeMap<_, _> = values
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect();
        texts.insert("window".to_owned(), settings.params.window.to_string());
        let vehicles = format!("{:?}", settings.params.vehicles);
        texts.insert("vehicles".to_owned(), vehicles);
        sink.describe(PARAMETERS, texts);
        for file in settings.origin.files.iter() {
            sink.attach(attached_name(file), file.bytes.clone());
        }
        Self {
            sink,
            topics: Mutex::default(),
        }
    }

    fn write(&self, name: &str, encoding: &'static str, time: i64, parts: &[&[u8]]) {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if !topics.contains_key(name) {
            let topic = Topic {
                name: name.to_owned(),
                encoding,
                schema: None,
                metadata: BTreeMap::new(),
            };
            let Some(id) = self.sink.topic(topic) else {
                return;
            };
            topics.insert(name.to_owned(), (id, 0));
        }
        if let Some((id, next)) = topics.get_mut(name) {
            self.sink.message(*id, *next, time, parts);
            *next = next.wrapping_add(1);
        }
    }
}

/// The parameter and the name of a file; the name alone if it is a Config.json.
fn attached_name(file: &NamedFile) -> String {
    let name = file.path.file_name().unwrap_or(file.path.as_os_str());
    let name = name.to_string_lossy();
    match file.parameter {
        CONFIG => name.into_owned(),
        parameter => format!("{parameter}/{name}"),
    }
}

/// The parameter that named a file of this name in a recording.
pub(super) fn attached_parameter(name: &str) -> &str {
    name.split_once('/')
        .map_or(CONFIG, |(parameter, _)| parameter)
}

impl Witness for Raw {
    fn datagram(&self, port: u16, datagram: &Datagram, parts: &[&[u8]]) {
        let time = datagram.kernel_time.unwrap_or_else(|| host_now().0);
        let head = head(datagram.from, datagram.len);
        let mut all = Vec::with_capacity(1 + parts.len());
        all.push(&head[..]);
        all.extend(parts);
        self.write(&format!("udp/{port}"), DATAGRAM, time, &all);
    }

    fn block(&self, name: &str, time: i64, bytes: &[u8]) {
        self.write(&format!("shm/{name}"), BLOCK, time, &[bytes]);
    }
}

fn head(from: SocketAddrV4, len: usize) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&from.ip().octets());
    head[4..6].copy_from_slice(&from.port().to_be_bytes());
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    head[6..].copy_from_slice(&len.to_be_bytes());
    head
}
