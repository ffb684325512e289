//! An MCAP file that is readable at any moment: written by a thread of its own from a bounded queue.
use super::bag::Bag;
use super::topic::Topic;
use crate::node::tasks;
use crate::transport::free_bytes;
use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What waits for the disk at most; beyond that samples are dropped and counted.
const QUEUE_BYTES: usize = 256 << 20;
/// What a sample costs besides its bytes, so that empty ones are bounded as well.
const OVERHEAD: usize = 128;
/// How much a kill may lose: at most twice this, with what is being written.
const FLUSH: Duration = Duration::from_millis(500);
const CHUNK_BYTES: u64 = 1 << 20;

/// The end of a file without summary: `DataEnd`, `Footer`, magic. A reader then looks through the whole file.
const END: [u8; 50] = {
    let mut end = [0; 50];
    end[0] = 0x0f;
    end[1] = 4;
    end[13] = 0x02;
    end[14] = 20;
    let mut i = 0;
    while i < mcap::MAGIC.len() {
        end[42 + i] = mcap::MAGIC[i];
        i += 1;
    }
    end
};

/// Opcode of a private record, which readers skip.
const PADDING: u8 = 0x80;
/// Opcode and length of a record.
const RECORD: usize = 9;
/// Room of the padding. It is a hole of the file and takes no space.
const ROOM: u64 = 16 << 20;

/// A file that is whole after every write: behind the data is a record of padding, and then the end. New data are written into the
/// padding, and seen when the first bytes, which are those of the padding's head, are replaced at last.
struct Whole {
    file: File,
    /// What was written since the last flush: whole records, when it is flushed.
    held: Vec<u8>,
    /// Where the padding begins.
    at: u64,
    /// Where the end begins.
    end: u64,
    /// Why writing failed; the library that writes through this has other words for it.
    failed: Option<io::ErrorKind>,
}

impl Whole {
    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        let written = self.file.write_all(bytes);
        self.failed = self.failed.or(written.as_ref().err().map(io::Error::kind));
        written
    }

    fn pad(&mut self, from: u64) -> io::Result<()> {
        let mut head = [PADDING; RECORD];
        head[1..].copy_from_slice(&(self.end - from - RECORD as u64).to_le_bytes());
        self.put(from, &head)
    }

    /// Writes what is held over the padding.
    fn show(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let (first, rest) = held.split_at(RECORD.min(held.len()));
        self.put(self.at + RECORD as u64, rest)?;
        self.put(self.at, first)?;
        self.at += held.len() as u64;
        Ok(())
    }

    /// The file without padding: with the summary that is held, or where writing failed, with the short end.
    fn close(mut self, failed: bool) -> io::Result<()> {
        if failed {
            self.file.set_len(self.at)?;
            return self.put(self.at, &END);
        }
        self.show()?;
        self.file.set_len(self.at)
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let next = self.at + self.held.len() as u64;
        if next + RECORD as u64 > self.end {
            let begun = self.end > 0;
            self.end = next + ROOM;
            self.put(self.end, &END)?;
            if begun {
                self.pad(self.at)?;
            }
        }
        self.pad(next)?;
        self.show()
    }
}

impl Seek for Whole {
    /// Only tells the position.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Current(0) => Ok(self.at + self.held.len() as u64),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

enum Item {
    Topic(Topic),
    Message(MessageHeader, Vec<u8>),
    Attachment(String, Vec<u8>),
    Metadata(&'static str, BTreeMap<String, String>),
    End,
}

/// Figures of a recording.
#[derive(Default)]
pub(super) struct Figures {
    queued: AtomicUsize,
    pub(super) messages: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) dropped: AtomicU64,
    over: AtomicBool,
    error: Mutex<Option<String>>,
    /// When writing has to end. What waits for the disk then is dropped.
    until: OnceLock<Instant>,
}

impl Figures {
    /// Whether there is no time left to write.
    fn is_late(&self) -> bool {
        let until = self.until.get();
        until.is_some_and(|until| Instant::now() >= *until)
    }

    /// Why the recording ended by itself.
    pub(super) fn error(&self) -> Option<String> {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.clone()
    }
}

/// The thread that writes a file.
pub(super) struct Writing {
    thread: JoinHandle<()>,
    figures: Arc<Figures>,
}

impl Writing {
    pub(super) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Sets when writing has to end, once.
    pub(super) fn limit(&self, until: Instant) {
        self.figures.until.get_or_init(|| until);
    }

    /// Waits for the end of the file.
    pub(super) fn join(self) {
        if self.thread.join().is_err() {
            tracing::error!("a thread that records panicked");
        }
    }
}

/// A recording that is being written.
pub(super) struct Sink {
    pub(super) figures: Arc<Figures>,
    /// Number of topics so far; held while one is queued, so that the numbers are in the order of the queue.
    topics: Mutex<u16>,
    items: Sender<Item>,
}

impl Sink {
    /// Creates the file `path`, and its metadata.yaml if it is a bag; the thread ends with the file.
    pub(super) fn create(path: &Path, bag: Option<Bag>) -> io::Result<(Arc<Self>, Writing)> {
        let profile = if bag.is_some() { "ros2" } else { "" };
        let file = Whole {
            file: File::create_new(path)?,
            held: Vec::new(),
            at: 0,
            end: 0,
            failed: None,
        };
        let options = WriteOptions::new()
            .compression(None)
            .profile(profile)
            .library(concat!("rfly_bridge ", env!("CARGO_PKG_VERSION")))
            .chunk_size(Some(CHUNK_BYTES))
            // A chunk is written when it is whole.
            .disable_seeking(true)
            .calculate_data_section_crc(false);
        let writer = options.create(file).map_err(io::Error::other)?;
        let figures = Arc::new(Figures::default());
        let (items, queue) = mpsc::channel();
        let output = Output {
            writer,
            ids: Vec::new(),
            bag,
            last: 0,
            unwritten: 1,
        };
        let seen = figures.clone();
        let name = path.display().to_string();
        let mut job = Some((output, queue));
        let body = move || match job.take() {
            Some((output, queue)) => write(output, &queue, &seen, &name),
            // It panicked, and the file is gone with it.
            None => seen.over.store(true, Ordering::Relaxed),
        };
        let thread = tasks::spawn_restarting("rfly-record", body).map_err(io::Error::other)?;
        let writing = Writing {
            thread,
            figures: figures.clone(),
        };
        let topics = Mutex::new(0);
        Ok((
            Arc::new(Self {
                figures,
                topics,
                items,
            }),
            writing,
        ))
    }

    /// Whether the recording takes samples.
    pub(super) fn is_open(&self) -> bool {
        !self.figures.over.load(Ordering::Relaxed)
    }

    /// Adds a topic and returns its number; `None` if there are too many.
    pub(super) fn topic(&self, topic: Topic) -> Option<u16> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let id = *topics;
        *topics = id.checked_add(1)?;
        self.send(Item::Topic(topic));
        Some(id)
    }

    /// Queues a sample, or counts it as dropped.
    pub(super) fn message(&self, topic: u16, sequence: u32, time: i64, parts: &[&[u8]]) {
        let figures = &self.figures;
        if !self.is_open() {
            return;
        }
        let len = OVERHEAD + parts.iter().map(|part| part.len()).sum::<usize>();
        if figures.queued.fetch_add(len, Ordering::Relaxed) + len > QUEUE_BYTES {
            figures.queued.fetch_sub(len, Ordering::Relaxed);
            figures.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let time = time.unsigned_abs();
        let header = MessageHeader {
            channel_id: topic,
            sequence,
            log_time: time,
            publish_time: time,
        };
        self.send(Item::Message(header, parts.concat()));
    }

    /// Adds a file.
    pub(super) fn attach(&self, name: String, data: Vec<u8>) {
        self.send(Item::Attachment(name, data));
    }

    /// Adds texts by name.
    pub(super) fn describe(&self, name: &'static str, texts: BTreeMap<String, String>) {
        self.send(Item::Metadata(name, texts));
    }

    /// Ends the recording; what is queued is still written.
    pub(super) fn end(&self) {
        self.send(Item::End);
    }

    fn send(&self, item: Item) {
        // The thread has ended: `figures` says why.
        let _is_over = self.items.send(item);
    }
}

/// The file and what the thread knows of it.
struct Output {
    writer: Writer<Whole>,
    /// Number in the file of each topic.
    ids: Vec<u16>,
    bag: Option<Bag>,
    /// Time of the last message of a bag.
    last: u64,
    /// Bytes since the last flush.
    unwritten: u64,
}

impl Output {
    fn take(&mut self, item: Item, figures: &Figures) -> Result<(), mcap::McapError> {
        self.unwritten += 1;
        match item {
            Item::Topic(topic) => {
                let schema = match &topic.schema {
                    Some((name, text)) => {
                        self.writer.add_schema(name, "ros2msg", text.as_bytes())?
                    }
                    None => 0,
                };
                let id = self.writer.add_channel(
                    schema,
                    &topic.name,
                    topic.encoding,
                    &topic.metadata,
                )?;
                self.ids.push(id);
                if let Some(bag) = &mut self.bag {
                    bag.topic(id, &topic);
                }
            }
            Item::Message(mut header, data) => {
                figures
                    .queued
                    .fetch_sub(OVERHEAD + data.len(), Ordering::Relaxed);
                if figures.is_late() {
                    figures.dropped.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                let Some(id) = self.ids.get(usize::from(header.channel_id)) else {
                    return Ok(());
                };
                header.channel_id = *id;
                if self.bag.is_some() {
                    // Threads queue in another order than they took the time; readers without index want it in order.
                    self.last = self.last.max(header.log_time);
                    header.log_time = self.last;
                }
                self.writer.write_to_known_channel(&header, &data)?;
                figures.messages.fetch_add(1, Ordering::Relaxed);
                let len = data.len() as u64;
                figures.bytes.fetch_add(len, Ordering::Relaxed);
                self.unwritten += len;
                if let Some(bag) = &mut self.bag {
                    bag.message(*id, header.log_time);
                }
            }
            Item::Attachment(name, data) => self.writer.attach(&mcap::Attachment {
                log_time: 0,
                create_time: 0,
                media_type: media_type(&name).to_owned(),
                name,
                data: data.into(),
            })?,
            Item::Metadata(name, texts) => {
                self.writer.write_metadata(&mcap::records::Metadata {
                    name: name.to_owned(),
                    metadata: texts,
                })?
            }
            Item::End => {}
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), mcap::McapError> {
        self.writer.flush()?;
        self.unwritten = 0;
        Ok(())
    }

    /// Writes the description of a bag, if it is one.
    fn describe(&self) -> io::Result<()> {
        self.bag.as_ref().map_or(Ok(()), Bag::write)
    }

    /// Writes what comes until the end.
    fn follow(&mut self, queue: &Receiver<Item>, figures: &Figures) -> Result<(), mcap::McapError> {
        let mut next = Instant::now();
        loop {
            match queue.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Item::End) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(item) => self.take(item, figures)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let due = Instant::now() >= next;
            if self.unwritten >= CHUNK_BYTES || (due && self.unwritten > 0) {
                self.flush()?;
                if due {
                    self.describe()?;
                }
            }
            if due {
                next = Instant::now() + FLUSH;
            }
        }
        self.flush()?;
        self.describe()?;
        self.writer.finish()?;
        Ok(())
    }
}

pub(super) fn media_type(name: &str) -> &'static str {
    match Path::new(name).extension().and_then(|end| end.to_str()) {
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("txt") => "text/plain",
        _ => "application/octet-stream",
    }
}

/// What to say of a full disk.
fn full(file: &Path) -> String {
    let free = free_bytes(file).map_or_else(String::new, |free| format!(", {free} bytes are free"));
    format!("the disk is full (ENOSPC{free}): free some, or choose another record.directory")
}

fn write(mut output: Output, queue: &Receiver<Item>, figures: &Figures, name: &str) {
    let result = output.follow(queue, figures);
    figures.over.store(true, Ordering::Relaxed);
    let file = output.writer.into_inner();
    let failed = file.failed;
    let closed = file.close(result.is_err());
    let result = result.map_err(|error| io::Error::other(error.to_string()));
    let result = match failed {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            Err(io::Error::other(full(Path::new(name))))
        }
        _ => result,
    };
    match result.and(closed) {
        Ok(()) => tracing::info!(
            "recorded {} messages in {name}, {} dropped",
            figures.messages.load(Ordering::Relaxed),
            figures.dropped.load(Ordering::Relaxed)
        ),
        Err(error) => {
            tracing::error!(
                "the recording {name} has ended: {error}; what was written until then is readable"
            );
            let mut place = figures.error.lock().unwrap_or_else(PoisonError::into_inner);
            *place = Some(error.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_beyond_the_limit_is_dropped_and_the_file_is_whole() {
        let name = format!("rfly_late_{}.mcap", std::process::id());
        let path = std::env::temp_dir().join(name);
        let (sink, writing) = Sink::create(&path, None).unwrap();
        let topic = Topic {
            name: "udp/1".to_owned(),
            encoding: "rfly_datagram",
            schema: None,
            metadata: BTreeMap::new(),
        };
        let topic = sink.topic(topic).unwrap();
        sink.message(topic, 0, 1, &[b"in time"]);
        let figures = sink.figures.clone();
        while figures.messages.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        writing.limit(Instant::now());
        for number in 1..4 {
            sink.message(topic, number, 2, &[b"too late"]);
        }
        sink.end();
        writing.join();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert_eq!((read(&figures.messages), read(&figures.dropped)), (1, 3));
        assert_eq!(figures.queued.load(Ordering::Relaxed), 0);
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let messages: Result<Vec<_>, _> = mcap::MessageStream::new(&file).unwrap().collect();
        assert_eq!(messages.unwrap().len(), 1);
    }
}
