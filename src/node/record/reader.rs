//! Reads a recording as a stream, because a file may be larger than the memory.
use super::raw::{BLOCK, DATAGRAM, PARAMETERS};
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{McapError, records::Record};
use std::io::{self, Read as _};
use std::{collections::BTreeMap, fs::File, path::Path, sync::Arc};

/// Maximum length of a record. A record is in memory twice. Chunks of the bridge are smaller than 1 MiB plus one message.
const MAX_RECORD_BYTES: usize = 1 << 28;
/// Limits of the attached files: total bytes, and number.
const MAX_FILES_BYTES: usize = 1 << 29;
const MAX_FILES: usize = 256;
/// Limits of the channels: number, and total bytes of their names and of the parameters.
const MAX_CHANNELS: usize = 10_000;
const MAX_NAMES_BYTES: usize = 16 << 20;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not an MCAP file.
    #[error("not a recording (MCAP file): {0}")]
    Format(#[from] McapError),
    /// The attached files would fill the memory.
    #[error("not a recording of the bridge: it has more than {MAX_FILES} attached files, or they are larger than {} MiB", MAX_FILES_BYTES >> 20)]
    Files,
    /// The names and parameters would fill the memory.
    #[error("not a recording of the bridge: it has more than {MAX_CHANNELS} channels, or their names and the parameters are larger than {} MiB", MAX_NAMES_BYTES >> 20)]
    Names,
}

#[derive(Debug, PartialEq)]
pub(super) struct RecordedChannel {
    pub topic: String,
    pub encoding: String,
}

impl RecordedChannel {
    /// Whether it is a channel of a raw recording.
    pub(super) fn is_raw(&self) -> bool {
        [DATAGRAM, BLOCK].contains(&self.encoding.as_str())
    }
}

/// A name from a recording for output on a terminal: truncated, and with control sequences escaped.
pub(super) fn printable(name: &str) -> String {
    const MAX_CHARS: usize = 64;
    let mut text: String = name.chars().take(MAX_CHARS).collect();
    if text.len() < name.len() {
        text += "...";
    }
    text.escape_debug().to_string()
}

#[derive(Debug)]
pub(super) struct RecordedMessage {
    /// In ns since 1970.
    pub time: u64,
    /// Number in its channel; dropped messages are counted, too.
    pub sequence: u32,
    pub channel: Arc<RecordedChannel>,
    pub data: Vec<u8>,
}

pub(super) enum RecordingEntry {
    Channel(Arc<RecordedChannel>),
    Message(RecordedMessage),
    Parameters(BTreeMap<String, String>),
    File { name: String, data: Vec<u8> },
}

/// Reads the entries of a recording in the order of the file. A truncated file ends where it is cut off.
pub(super) struct RecordingReader {
    file: File,
    reader: LinearReader,
    channels: BTreeMap<u16, Arc<RecordedChannel>>,
    /// Why the end of the file could not be read.
    pub cut_off: Option<String>,
    /// A record was read: the file is an MCAP file.
    has_record: bool,
    /// Number and bytes of the attached files so far.
    files: (usize, usize),
    channel_count: usize,
    /// Bytes of channel names and parameters so far.
    names_bytes: usize,
}

impl RecordingReader {
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let options = LinearReaderOptions::default()
            .with_skip_end_magic(true)
            .with_record_length_limit(MAX_RECORD_BYTES);
        Ok(Self {
            file: File::open(path)?,
            reader: LinearReader::new_with_options(options),
            channels: BTreeMap::new(),
            cut_off: None,
            has_record: false,
            files: (0, 0),
            channel_count: 0,
            names_bytes: 0,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<RecordingEntry>, ReadError> {
        if self.cut_off.is_some() {
            return Ok(None);
        }
        while let Some(event) = self.reader.next_event() {
            let parsed = match event {
                Ok(LinearReadEvent::ReadRequest(len)) => {
                    let read = self.file.read(self.reader.insert(len))?;
                    self.reader.notify_read(read);
                    continue;
                }
                Ok(LinearReadEvent::Record { data, opcode }) => mcap::parse_record(opcode, data),
                Err(error) => Err(error),
            };
            match parsed {
                Ok(Record::Channel(channel)) => {
                    let id = channel.id;
                    let channel = RecordedChannel {
                        topic: channel.topic,
                        encoding: channel.message_encoding,
                    };
                    // Each chunk may repeat the channel.
                    if self.channels.get(&id).is_none_or(|known| **known != channel) {
                        self.channel_count += 1;
                        self.count_names(channel.topic.len() + channel.encoding.len())?;
                        let channel = Arc::new(channel);
                        self.channels.insert(id, channel.clone());
                        return Ok(Some(RecordingEntry::Channel(channel)));
                    }
                }
                Ok(Record::Message { header, data }) => {
                    if let Some(channel) = self.channels.get(&header.channel_id) {
                        return Ok(Some(RecordingEntry::Message(RecordedMessage {
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
                    return Ok(Some(RecordingEntry::Parameters(parameters)));
                }
                Ok(Record::Attachment { header, data, .. }) => {
                    let (number, bytes) = self.files;
                    self.files = (number + 1, bytes + data.len());
                    if number >= MAX_FILES || self.files.1 > MAX_FILES_BYTES {
                        return Err(ReadError::Files);
                    }
                    return Ok(Some(RecordingEntry::File {
                        name: header.name,
                        data: data.into_owned(),
                    }));
                }
                Ok(Record::DataEnd(_)) => return Ok(None),
                Ok(_) => {}
                Err(error) if self.has_record => {
                    self.cut_off = Some(error.to_string());
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
            self.has_record = true;
        }
        Ok(None)
    }

    fn count_names(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.names_bytes += bytes;
        let is_valid = self.channel_count <= MAX_CHANNELS && self.names_bytes <= MAX_NAMES_BYTES;
        is_valid.then_some(()).ok_or(ReadError::Names)
    }
}
