//! Records every received datagram and every frame of shared memory, unchanged.
use super::{bag::McapTopic, mcap_file::McapSink};
use crate::node::{clock::host_now, files::NamedFile, settings::Settings};
use crate::transport::{Datagram, PacketTap};
use parking_lot::Mutex;
use std::{collections::BTreeMap, net::SocketAddrV4, sync::Arc};

/// Encoding of datagrams: address (4 bytes) and port (2) of the sender, length on the wire (4), big endian, then the payload.
pub(super) const DATAGRAM: &str = "rfly_datagram";
/// Encoding of blocks of shared memory: their bytes.
pub(super) const BLOCK: &str = "rfly_block";
/// Name of the metadata record with the parameters.
pub(super) const PARAMETERS: &str = "rfly_bridge/parameters";
/// The parameter of Config.json files: the names of their attachments have no prefix.
pub(super) const CONFIG: &str = "config";
/// Parameters whose name is the prefix of their attachments' names.
pub(super) const TERRAIN: &str = "terrain.file";
pub(super) const SCENE: &str = "scene.file";
/// Length of the header in front of a datagram.
pub(super) const HEADER_LEN: usize = 10;

pub(super) struct RawRecorder {
    sink: Arc<McapSink>,
    /// Topic id and next sequence number of each port and block.
    topics: Mutex<BTreeMap<String, (u16, u32)>>,
}

impl RawRecorder {
    /// Starts the recording with the parameters and the files that they name.
    pub(super) fn new(sink: Arc<McapSink>, settings: &Settings) -> Self {
        let values = settings.origin.values.iter();
        let mut texts: BTreeMap<_, _> =
            values.map(|(name, value)| (name.clone(), value.to_string())).collect();
        texts.insert("window".to_owned(), settings.params.window.to_string());
        texts.insert("vehicles".to_owned(), format!("{:?}", settings.params.vehicles));
        sink.add_metadata(PARAMETERS, texts);
        for file in settings.origin.files.iter() {
            sink.attach(attachment_name(file), file.bytes.clone());
        }
        Self { sink, topics: Mutex::default() }
    }

    fn write(&self, name: &str, encoding: &'static str, time: i64, parts: &[&[u8]]) {
        let mut topics = self.topics.lock();
        if !topics.contains_key(name) {
            let Some(id) = self.sink.add_topic(McapTopic::raw(name, encoding)) else { return };
            topics.insert(name.to_owned(), (id, 0));
        }
        if let Some((id, next)) = topics.get_mut(name) {
            self.sink.add_message(*id, *next, time, parts);
            *next = next.wrapping_add(1);
        }
    }
}

/// The name of a file in the recording: `PARAMETER/NAME`, or `NAME` for a Config.json.
fn attachment_name(file: &NamedFile) -> String {
    let name = file.path.file_name().unwrap_or(file.path.as_os_str());
    let name = name.to_string_lossy();
    match file.parameter {
        CONFIG => name.into_owned(),
        parameter => format!("{parameter}/{name}"),
    }
}

pub(super) fn attachment_parameter(name: &str) -> &str {
    name.split_once('/').map_or(CONFIG, |(parameter, _)| parameter)
}

impl PacketTap for RawRecorder {
    fn datagram(&self, port: u16, datagram: &Datagram, parts: &[&[u8]]) {
        let time = datagram.kernel_time.unwrap_or_else(|| host_now().0);
        let header = header(datagram.from, datagram.len);
        let mut all_parts = vec![&header[..]];
        all_parts.extend(parts);
        self.write(&format!("udp/{port}"), DATAGRAM, time, &all_parts);
    }

    fn block(&self, name: &str, time: i64, bytes: &[u8]) {
        self.write(&format!("shm/{name}"), BLOCK, time, &[bytes]);
    }
}

fn header(from: SocketAddrV4, len: usize) -> [u8; HEADER_LEN] {
    let mut header = [0; HEADER_LEN];
    header[..4].copy_from_slice(&from.ip().octets());
    header[4..6].copy_from_slice(&from.port().to_be_bytes());
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    header[6..].copy_from_slice(&len.to_be_bytes());
    header
}
