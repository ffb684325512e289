//! Reads a recording as a stream: a file may be larger than the memory.
use super::raw::{BLOCK, DATAGRAM, PARAMETERS};
use mcap::McapError;
use mcap::records::Record;
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

/// Longest record; a longer one is not of a recording.
const LONGEST: usize = 1 << 29;
/// Limits of the files in a recording: their bytes together, and their number.
const FILES_BYTES: usize = LONGEST;
const FILES: usize = 256;
/// Limits of the channels: their number, and the bytes of their names and of all parameters.
const CHANNELS: usize = 10_000;
const NAMES_BYTES: usize = 16 << 20;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no MCAP file.
    #[error("no recording: {0}")]
    Format(#[from] McapError),
    /// What is attached would fill the memory.
    #[error("no recording of the bridge: the files in it are more than {FILES}, or larger than {} MiB", FILES_BYTES >> 20)]
    Files,
    /// What it names would fill the memory.
    #[error("no recording of the bridge: more than {CHANNELS} channels, or their names and the parameters are larger than {} MiB", NAMES_BYTES >> 20)]
    Names,
}

/// What messages of one port, block or topic have in common.
#[derive(Debug, PartialEq)]
pub(super) struct Channel {
    pub topic: String,
    pub encoding: String,
}

impl Channel {
    /// Was it received, not published?
    pub(super) fn is_raw(&self) -> bool {
        [DATAGRAM, BLOCK].contains(&self.encoding.as_str())
    }
}

/// A name out of a recording for a person at a terminal: it may have any length, and sequences that command the terminal.
pub(super) fn shown(name: &str) -> String {
    const LONGEST: usize = 64;
    let mut text: String = name.chars().take(LONGEST).collect();
    if text.len() < name.len() {
        text += "...";
    }
    text.escape_debug().to_string()
}

#[derive(Debug)]
pub(super) struct Message {
    /// In ns since 1970.
    pub time: u64,
    /// In its channel, of what was to be recorded.
    pub sequence: u32,
    pub channel: Arc<Channel>,
    pub data: Vec<u8>,
}

pub(super) enum Found {
    Channel(Arc<Channel>),
    Message(Message),
    Parameters(BTreeMap<String, String>),
    File { name: String, data: Vec<u8> },
}

/// The contents of a recording, in the order of the file. A file that is cut off ends there.
pub(super) struct Contents {
    file: File,
    reader: LinearReader,
    channels: BTreeMap<u16, Arc<Channel>>,
    /// Why the end of the file could not be read.
    pub cut_off: Option<String>,
    begun: bool,
    /// Number and bytes of the files so far.
    files: (usize, usize),
    /// Number of the channels so far, and bytes of their names and of parameters.
    channels_seen: usize,
    names_bytes: usize,
}

impl Contents {
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let options = LinearReaderOptions::default()
            .with_skip_end_magic(true)
            .with_record_length_limit(LONGEST);
        Ok(Self {
            file: File::open(path)?,
            reader: LinearReader::new_with_options(options),
            channels: BTreeMap::new(),
            cut_off: None,
            begun: false,
            files: (0, 0),
            channels_seen: 0,
            names_bytes: 0,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<Found>, ReadError> {
        if self.cut_off.is_some() {
            return Ok(None);
        }
        while let Some(event) = self.reader.next_event() {
            let parsed = match event {
                Ok(LinearReadEvent::ReadRequest(wanted)) => {
                    let came = self.file.read(self.reader.insert(wanted))?;
                    self.reader.notify_read(came);
                    continue;
                }
                Ok(LinearReadEvent::Record { data, opcode }) => mcap::parse_record(opcode, data),
                Err(error) => Err(error),
            };
            match parsed {
                Ok(Record::Channel(channel)) => {
                    let id = channel.id;
                    let channel = Channel {
                        topic: channel.topic,
                        encoding: channel.message_encoding,
                    };
                    // Each chunk may name it again.
                    if self
                        .channels
                        .get(&id)
                        .is_none_or(|known| **known != channel)
                    {
                        self.channels_seen += 1;
                        self.count_names(channel.topic.len() + channel.encoding.len())?;
                        let channel = Arc::new(channel);
                        self.channels.insert(id, channel.clone());
                        return Ok(Some(Found::Channel(channel)));
                    }
                }
                Ok(Record::Message { header, data }) => {
                    if let Some(channel) = self.channels.get(&header.channel_id) {
                        return Ok(Some(Found::Message(Message {
                            time: header.log_time,
                            sequence: header.sequence,
                            channel: channel.clone(),
                            data: data.into_owned(),
                        })));
                    }
                }
                Ok(Record::Metadata(metadata)) if metadata.name == PARAMETERS => {
                    let parameters = metadata.metadata;
                    self.count_names(parameters.iter().map(|(k, v)| k.len() + v.len()).sum())?;
                    return Ok(Some(Found::Parameters(parameters)));
                }
                Ok(Record::Attachment { header, data, .. }) => {
                    let (number, bytes) = self.files;
                    self.files = (number + 1, bytes + data.len());
                    if number >= FILES || self.files.1 > FILES_BYTES {
                        return Err(ReadError::Files);
                    }
                    return Ok(Some(Found::File {
                        name: header.name,
                        data: data.into_owned(),
                    }));
                }
                Ok(Record::DataEnd(_)) => return Ok(None),
                Ok(_) => {}
                Err(error) if self.begun => {
                    self.cut_off = Some(error.to_string());
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
            self.begun = true;
        }
        Ok(None)
    }

    fn count_names(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.names_bytes += bytes;
        let fits = self.channels_seen <= CHANNELS && self.names_bytes <= NAMES_BYTES;
        fits.then_some(()).ok_or(ReadError::Names)
    }
}
