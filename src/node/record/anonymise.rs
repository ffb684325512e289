//! Copies a raw recording without addresses, names and paths that identify its owner (docs/record.md has the list).
use super::mcap_file::{attachment, header};
use super::name_masks::NameMasks;
use super::raw::{CONFIG, DATAGRAM, HEADER_LEN, PARAMETERS, SCENE, TERRAIN, attachment_parameter};
use super::reader::{ReadError, RecordedMessage, RecordingEntry, RecordingReader, printable};
use crate::wire::mavlink::{Taken, seal, take};
use crate::{config::config_json, transport::own_names, wire::FragmentHeader};
use mcap::{McapError, WriteOptions, Writer, records::Metadata};
use regex_lite::{Captures, Regex};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::{fmt::Write as _, fs::File, net::Ipv4Addr, path::Path};

/// Parameters with paths of files.
const FILE_PARAMETERS: [&str; 3] = [CONFIG, SCENE, TERRAIN];
/// The parameter with the path of a directory.
const DIRECTORY_PARAMETER: &str = "record.directory";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Ancillary chunks of a PNG that are kept: they define the meaning of its pixels.
const KEPT_CHUNKS: [&[u8]; 3] = [b"tRNS", b"gAMA", b"sBIT"];

/// Maximum length of a text file; the bridge does not read longer ones.
const MAX_TEXT_BYTES: usize = 16 << 20;
/// Maximum number of names in the report of omitted entries.
const MAX_OMITTED: usize = 1000;

/// Why a recording cannot be anonymised.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnonymiseError {
    /// The recording cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The copy cannot be written.
    #[error("cannot write the copy: {0}")]
    Write(#[from] McapError),
    /// The copy cannot be created.
    #[error("cannot create the copy: {0}")]
    Create(io::Error),
    /// The file is not a raw recording.
    #[error("no raw recording of the bridge (record.raw)")]
    NotRaw,
}

/// The differences between a recording and its copy.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AnonymiseReport {
    /// Replacement of each name. The copy does not contain this map.
    pub renamed: BTreeMap<String, String>,
    /// Number of messages in the copy.
    pub messages: u64,
    /// Number of datagrams with masked contents, by channel (`udp/PORT`).
    pub masked: BTreeMap<String, u64>,
    /// Files and channels of unknown contents, which are not copied.
    pub omitted: BTreeSet<String>,
    /// Why the end of the recording could not be read.
    pub cut_off: Option<String>,
}

/// Writes an anonymised copy of `from`; masks `words`, too.
/// Errors: `from` cannot be read, or `to` exists or cannot be written.
pub fn anonymise(
    from: &Path,
    to: &Path,
    words: &[String],
) -> Result<AnonymiseReport, AnonymiseError> {
    let host_and_user = own_names().into_iter();
    let mut masks = NameMasks::new(host_and_user.chain(words.iter().cloned()));
    collect_names(from, &mut masks)?;
    let file = File::create_new(to).map_err(AnonymiseError::Create)?;
    let options = WriteOptions::new()
        .compression(None)
        .library(concat!("rfly_bridge ", env!("CARGO_PKG_VERSION")));
    let mut copy = AnonymisedCopy {
        writer: options.create(BufWriter::new(file))?,
        send_protocol: Regex::new(SEND_PROTOCOL).ok(),
        masks,
        report: AnonymiseReport::default(),
    };
    let mut reader = RecordingReader::open(from)?;
    while let Some(entry) = reader.next()? {
        match entry {
            RecordingEntry::Channel(_) => {}
            RecordingEntry::Message(message) => copy.copy_message(&message)?,
            RecordingEntry::Parameters(parameters) => copy.copy_parameters(parameters)?,
            RecordingEntry::File { name, data } => copy.copy_file(&name, &data)?,
        }
    }
    copy.writer.finish()?;
    let mut file = copy.writer.into_inner();
    file.flush().map_err(McapError::from)?;
    Ok(AnonymiseReport { cut_off: reader.cut_off, renamed: copy.masks.renamed, ..copy.report })
}

/// Collects the user names of all texts before any text is written: a name may occur before the path that reveals it.
fn collect_names(from: &Path, masks: &mut NameMasks) -> Result<(), AnonymiseError> {
    let mut reader = RecordingReader::open(from)?;
    let mut is_raw = false;
    while let Some(entry) = reader.next()? {
        match entry {
            RecordingEntry::Channel(channel) => is_raw |= channel.is_raw(),
            RecordingEntry::Parameters(parameters) => {
                parameters.values().for_each(|text| masks.learn(text))
            }
            RecordingEntry::File { data, .. } if is_text(&data) => {
                masks.learn(&String::from_utf8_lossy(&data))
            }
            RecordingEntry::File { .. } | RecordingEntry::Message(_) => {}
        }
    }
    is_raw.then_some(()).ok_or(AnonymiseError::NotRaw)
}

/// The destination of a sensor's data in a Config.json: `"SendProtocol": [1, 127, 0, 0, 1, ...`.
const SEND_PROTOCOL: &str = r#"("SendProtocol"\s*:\s*\[\s*[0-9]+\s*,)\s*([0-9]+)\s*,\s*([0-9]+)\s*,\s*([0-9]+)\s*,\s*([0-9]+)"#;

struct AnonymisedCopy {
    writer: Writer<BufWriter<File>>,
    send_protocol: Option<Regex>,
    masks: NameMasks,
    report: AnonymiseReport,
}

impl AnonymisedCopy {
    fn copy_message(&mut self, message: &RecordedMessage) -> Result<(), McapError> {
        let topic = &message.channel.topic;
        if !message.channel.is_raw() {
            self.omit(topic);
            return Ok(());
        }
        // Returns the existing id if the channel was added before.
        let encoding = &message.channel.encoding;
        let id = self.writer.add_channel(0, topic, encoding, &BTreeMap::new())?;
        let header = header(id, message.sequence, message.time);
        let masked = match message.channel.encoding.as_str() {
            DATAGRAM => self.mask_datagram(topic, &message.data),
            _ => None,
        };
        let data = masked.as_ref().unwrap_or(&message.data);
        self.report.messages += 1;
        self.writer.write_to_known_channel(&header, data)
    }

    /// Masks the sender, and names in the contents unless these are fragments of images or point clouds.
    fn mask_datagram(&mut self, topic: &str, data: &[u8]) -> Option<Vec<u8>> {
        let (header, contents) = data.split_first_chunk::<HEADER_LEN>()?;
        let mut masked = data.to_vec();
        let [a, b, c, d, ..] = *header;
        let sender = self.masks.mask_address(Ipv4Addr::new(a, b, c, d));
        masked[..4].copy_from_slice(&sender.octets());
        if FragmentHeader::parse(contents, contents.len()).is_err()
            && let Some(mut masked_contents) = self.masks.mask_bytes(contents)
        {
            update_checksums(contents, &mut masked_contents);
            masked[HEADER_LEN..].copy_from_slice(&masked_contents);
            *self.report.masked.entry(topic.to_owned()).or_default() += 1;
        }
        Some(masked)
    }

    fn copy_parameters(&mut self, parameters: BTreeMap<String, String>) -> Result<(), McapError> {
        let mask = |(name, text): (String, String)| {
            let text = match name.as_str() {
                DIRECTORY_PARAMETER => "\".\"".to_owned(),
                name if FILE_PARAMETERS.contains(&name) => strip_directories(&text),
                _ => text,
            };
            let text = self.masks.mask_text(&text);
            (name, text)
        };
        let metadata = parameters.into_iter().map(mask).collect();
        self.writer.write_metadata(&Metadata { name: PARAMETERS.to_owned(), metadata })
    }

    fn copy_file(&mut self, name: &str, data: &[u8]) -> Result<(), McapError> {
        let masked = match (data.strip_prefix(PNG), std::str::from_utf8(data)) {
            (Some(chunks), _) => strip_png(chunks),
            (None, Ok(text)) if is_text(data) => Some(self.mask_text(name, text).into_bytes()),
            (None, _) => None,
        };
        let Some(masked) = masked else {
            self.omit(name);
            return Ok(());
        };
        let name = self.masks.mask_text(name);
        self.writer.attach(&attachment(name, masked))
    }

    /// Masks a text file. Comments of a Config.json are removed: they may contain any name.
    fn mask_text(&mut self, name: &str, text: &str) -> String {
        if attachment_parameter(name) != CONFIG {
            return self.masks.mask_text(text);
        }
        let text = config_json::without_comments(text);
        let masks = &mut self.masks;
        let mut masked = |captures: &Captures<'_>| {
            let number = |i: usize| captures.get(i)?.as_str().parse().ok();
            let address = Ipv4Addr::new(number(2)?, number(3)?, number(4)?, number(5)?);
            let [a, b, c, d] = masks.mask_address(address).octets();
            Some(format!("{}{a},{b},{c},{d}", &captures[1]))
        };
        let mask_address =
            |captures: &Captures<'_>| masked(captures).unwrap_or_else(|| captures[0].to_owned());
        let text = match &self.send_protocol {
            Some(pattern) => pattern.replace_all(&text, mask_address).into_owned(),
            None => text,
        };
        self.masks.mask_text(&text)
    }

    fn omit(&mut self, name: &str) {
        if self.report.omitted.len() < MAX_OMITTED {
            self.report.omitted.insert(name.to_owned());
        }
    }
}

/// Whether a file may be text: it is not a PNG and not too long.
fn is_text(data: &[u8]) -> bool {
    data.len() <= MAX_TEXT_BYTES && !data.starts_with(PNG)
}

/// Removes the directories from quoted paths.
fn strip_directories(text: &str) -> String {
    let parts = text.split('"').enumerate();
    let shorten = |(number, part): (usize, &str)| match number % 2 {
        1 => part.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
        _ => part.to_owned(),
    };
    parts.map(shorten).collect::<Vec<_>>().join("\"")
}

/// A PNG without texts and times; `None` if its chunks are malformed.
fn strip_png(mut chunks: &[u8]) -> Option<Vec<u8>> {
    let mut stripped = PNG.to_vec();
    while let Some((len, _)) = chunks.split_first_chunk::<4>() {
        let len = u32::from_be_bytes(*len) as usize;
        let (chunk, rest) = chunks.split_at_checked(len.checked_add(12)?)?;
        let kind = chunk.get(4..8)?;
        let is_critical = kind.first().is_some_and(u8::is_ascii_uppercase);
        if is_critical || KEPT_CHUNKS.contains(&kind) {
            stripped.extend(chunk);
        }
        chunks = rest;
    }
    Some(stripped)
}

/// Recomputes the checksums of the MAVLink frames. The frames are located in `original`, whose checksums are valid.
fn update_checksums(original: &[u8], masked: &mut [u8]) {
    let mut offset = 0;
    while let Some(rest) = original.get(offset..).filter(|rest| !rest.is_empty()) {
        offset += match take(rest) {
            Taken::Incomplete => return,
            Taken::Skip(len, _) => len,
            Taken::Frame(frame) => {
                let len = frame.bytes.len();
                if let Some(frame) = masked.get_mut(offset..offset + len) {
                    seal(frame);
                }
                len
            }
        };
    }
}

impl AnonymiseReport {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("{} messages\n", self.messages);
        for (name, replacement) in &self.renamed {
            let (name, replacement) = (printable(name), printable(replacement));
            let _ = writeln!(text, "{name} is replaced by {replacement}");
        }
        for (topic, count) in &self.masked {
            let topic = printable(topic);
            let _ = writeln!(text, "{topic}: names in {count} datagrams are masked with 0 and x");
        }
        for name in &self.omitted {
            let name = printable(name);
            let _ = writeln!(text, "{name}: omitted, because its contents are unknown");
        }
        if let Some(why) = &self.cut_off {
            let _ = writeln!(text, "the recording is cut off: {why}");
        }
        text
    }
}
