//! A copy of a raw recording without what says whose it is: addresses, names, paths (docs/record.md has the list).
use super::mask::Masks;
use super::raw::{CONFIG, DATAGRAM, HEAD, PARAMETERS, SCENE, TERRAIN, attached_parameter};
use super::reading::shown;
use super::reading::{Contents, Found, Message, ReadError};
use crate::config::config_json;
use crate::transport::own_names;
use crate::wire::FragmentHeader;
use crate::wire::mavlink::{Taken, seal, take};
use mcap::records::{MessageHeader, Metadata};
use mcap::{McapError, WriteOptions, Writer};
use regex_lite::{Captures, Regex};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;
use std::path::Path;

/// Parameters that are paths of files.
const PATHS: [&str; 3] = [CONFIG, SCENE, TERRAIN];
/// The parameter that is a directory.
const DIRECTORY: &str = "record.directory";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Chunks of a PNG besides the critical ones that say how its pixels are meant.
const CHUNKS: [&[u8]; 3] = [b"tRNS", b"gAMA", b"sBIT"];

/// Longest text file; the bridge takes no longer one.
const TEXT: usize = 16 << 20;
/// Names of what is left out that are kept.
const LEFT_OUT: usize = 1000;

/// Why there is no copy.
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
    /// It has other contents.
    #[error("no raw recording of the bridge (record.raw)")]
    NotRaw,
}

/// What is different in a copy.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Anonymised {
    /// What became of what. It is not in the copy.
    pub renamed: BTreeMap<String, String>,
    /// Messages in the copy.
    pub messages: u64,
    /// Datagrams that had names in their contents, by port.
    pub masked: BTreeMap<String, u64>,
    /// Files and channels of unknown contents, which are not in the copy.
    pub left_out: BTreeSet<String>,
    /// Why the end of the recording could not be read.
    pub cut_off: Option<String>,
}

/// Writes a copy of the recording `from` without names; `words` are hidden as well.
///
/// # Errors
/// One of the files; `to` must not exist.
pub fn anonymise(from: &Path, to: &Path, words: &[String]) -> Result<Anonymised, AnonymiseError> {
    let own = own_names().into_iter();
    let mut masks = Masks::new(own.chain(words.iter().cloned()));
    learn(from, &mut masks)?;
    let file = File::create_new(to).map_err(AnonymiseError::Create)?;
    let options = WriteOptions::new()
        .compression(None)
        .library(concat!("rfly_bridge ", env!("CARGO_PKG_VERSION")));
    let mut copy = Copy {
        writer: options.create(BufWriter::new(file))?,
        ids: BTreeMap::new(),
        protocol: Regex::new(PROTOCOL).ok(),
        masks,
        done: Anonymised::default(),
    };
    let mut contents = Contents::open(from)?;
    while let Some(found) = contents.next()? {
        match found {
            Found::Channel(_) => {}
            Found::Message(message) => copy.message(&message)?,
            Found::Parameters(parameters) => copy.parameters(parameters)?,
            Found::File { name, data } => copy.file(&name, &data)?,
        }
    }
    copy.writer.finish()?;
    let mut file = copy.writer.into_inner();
    file.flush().map_err(AnonymiseError::Create)?;
    Ok(Anonymised {
        cut_off: contents.cut_off,
        renamed: copy.masks.renamed,
        ..copy.done
    })
}

/// Looks for names in all texts before the first is written.
fn learn(from: &Path, masks: &mut Masks) -> Result<(), AnonymiseError> {
    let mut contents = Contents::open(from)?;
    let mut raw = false;
    while let Some(found) = contents.next()? {
        match found {
            Found::Channel(channel) => raw |= channel.is_raw(),
            Found::Parameters(parameters) => parameters.values().for_each(|text| masks.learn(text)),
            Found::File { data, .. } if is_text(&data) => {
                masks.learn(&String::from_utf8_lossy(&data))
            }
            Found::File { .. } | Found::Message(_) => {}
        }
    }
    raw.then_some(()).ok_or(AnonymiseError::NotRaw)
}

/// Where a sensor's data go: a number and an address in a Config.json.
const PROTOCOL: &str = r#"("SendProtocol"\s*:\s*\[\s*[0-9]+\s*,)\s*([0-9]+)\s*,\s*([0-9]+)\s*,\s*([0-9]+)\s*,\s*([0-9]+)"#;

struct Copy {
    writer: Writer<BufWriter<File>>,
    /// Numbers in the copy of the channels.
    ids: BTreeMap<String, u16>,
    protocol: Option<Regex>,
    masks: Masks,
    done: Anonymised,
}

impl Copy {
    fn message(&mut self, message: &Message) -> Result<(), McapError> {
        let topic = &message.channel.topic;
        if !message.channel.is_raw() {
            self.leave_out(topic);
            return Ok(());
        }
        let id = match self.ids.get(topic) {
            Some(id) => *id,
            None => {
                let (encoding, none) = (&message.channel.encoding, BTreeMap::new());
                let id = self.writer.add_channel(0, topic, encoding, &none)?;
                self.ids.insert(topic.clone(), id);
                id
            }
        };
        let header = MessageHeader {
            channel_id: id,
            sequence: message.sequence,
            log_time: message.time,
            publish_time: message.time,
        };
        let masked = match message.channel.encoding.as_str() {
            DATAGRAM => self.datagram(topic, &message.data),
            _ => None,
        };
        let data = masked.as_ref().unwrap_or(&message.data);
        self.done.messages += 1;
        self.writer.write_to_known_channel(&header, data)
    }

    /// Another sender, and no names in contents that may have some: those of images and clouds do not.
    fn datagram(&mut self, topic: &str, data: &[u8]) -> Option<Vec<u8>> {
        let (head, contents) = data.split_first_chunk::<HEAD>()?;
        let mut masked = data.to_vec();
        let [a, b, c, d, ..] = *head;
        let sender = self.masks.address(Ipv4Addr::new(a, b, c, d));
        masked[..4].copy_from_slice(&sender.octets());
        if FragmentHeader::parse(contents, contents.len()).is_err()
            && let Some(mut other) = self.masks.same_length(contents)
        {
            seal_all(contents, &mut other);
            masked[HEAD..].copy_from_slice(&other);
            *self.done.masked.entry(topic.to_owned()).or_default() += 1;
        }
        Some(masked)
    }

    fn parameters(&mut self, parameters: BTreeMap<String, String>) -> Result<(), McapError> {
        let mask = |(name, text): (String, String)| {
            let text = match name.as_str() {
                DIRECTORY => "\".\"".to_owned(),
                name if PATHS.contains(&name) => file_names(&text),
                _ => text,
            };
            let text = self.masks.text(&text);
            (name, text)
        };
        let metadata = parameters.into_iter().map(mask).collect();
        self.writer.write_metadata(&Metadata {
            name: PARAMETERS.to_owned(),
            metadata,
        })
    }

    fn file(&mut self, name: &str, data: &[u8]) -> Result<(), McapError> {
        let masked = match (data.strip_prefix(PNG), std::str::from_utf8(data)) {
            (Some(chunks), _) => pixels_only(chunks),
            (None, Ok(text)) if is_text(data) => Some(self.text(name, text).into_bytes()),
            (None, _) => None,
        };
        let Some(masked) = masked else {
            self.leave_out(name);
            return Ok(());
        };
        let name = self.masks.text(name);
        self.writer.attach(&mcap::Attachment {
            log_time: 0,
            create_time: 0,
            media_type: super::file::media_type(&name).to_owned(),
            name,
            data: masked.into(),
        })
    }

    /// A text file; a Config.json without comments, which may say anything.
    fn text(&mut self, name: &str, text: &str) -> String {
        if attached_parameter(name) != CONFIG {
            return self.masks.text(text);
        }
        let text = config_json::without_comments(text);
        let masks = &mut self.masks;
        let other = |found: &Captures<'_>| {
            let number = |i: usize| found.get(i)?.as_str().parse().ok();
            let address = || {
                let address = Ipv4Addr::new(number(2)?, number(3)?, number(4)?, number(5)?);
                Some(address)
            };
            match address() {
                Some(address) => {
                    let [a, b, c, d] = masks.address(address).octets();
                    format!("{}{a},{b},{c},{d}", &found[1])
                }
                None => found[0].to_owned(),
            }
        };
        let text = match &self.protocol {
            Some(protocol) => protocol.replace_all(&text, other).into_owned(),
            None => text,
        };
        self.masks.text(&text)
    }

    fn leave_out(&mut self, name: &str) {
        if self.done.left_out.len() < LEFT_OUT {
            self.done.left_out.insert(name.to_owned());
        }
    }
}

/// Whether a file is no picture, and no longer than a configuration can be.
fn is_text(data: &[u8]) -> bool {
    data.len() <= TEXT && !data.starts_with(PNG)
}

/// Only the names of files in quoted paths.
fn file_names(text: &str) -> String {
    let parts = text.split('"').enumerate();
    let short = |(number, part): (usize, &str)| match number % 2 {
        1 => part
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned(),
        _ => part.to_owned(),
    };
    parts.map(short).collect::<Vec<_>>().join("\"")
}

/// A PNG without texts and times; `None` if its chunks are wrong.
fn pixels_only(mut chunks: &[u8]) -> Option<Vec<u8>> {
    let mut kept = PNG.to_vec();
    while let Some((len, _)) = chunks.split_first_chunk::<4>() {
        let len = u32::from_be_bytes(*len) as usize;
        let (chunk, rest) = chunks.split_at_checked(len.checked_add(12)?)?;
        let kind = chunk.get(4..8)?;
        let critical = kind.first().is_some_and(u8::is_ascii_uppercase);
        if critical || CHUNKS.contains(&kind) {
            kept.extend(chunk);
        }
        chunks = rest;
    }
    Some(kept)
}

/// New checksums of the MAVLink frames that `before` had.
fn seal_all(before: &[u8], masked: &mut [u8]) {
    let mut at = 0;
    while let Some(rest) = before.get(at..).filter(|rest| !rest.is_empty()) {
        at += match take(rest) {
            Taken::Incomplete => return,
            Taken::Skip(len, _) => len,
            Taken::Frame(frame) => {
                let len = frame.bytes.len();
                if let Some(frame) = masked.get_mut(at..at + len) {
                    seal(frame);
                }
                len
            }
        };
    }
}

impl Anonymised {
    /// For a person at a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{} messages\n", self.messages);
        for (name, other) in &self.renamed {
            let _ = writeln!(text, "{} is {}", shown(name), shown(other));
        }
        for (topic, count) in &self.masked {
            let topic = shown(topic);
            let _ = writeln!(text, "{topic}: names in {count} datagrams are 0 and x now");
        }
        for name in &self.left_out {
            let _ = writeln!(
                text,
                "{}: left out, what is in it is not known",
                shown(name)
            );
        }
        if let Some(why) = &self.cut_off {
            let _ = writeln!(text, "cut off: {why}");
        }
        text
    }
}
