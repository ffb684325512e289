//! Writes MCAP files that are valid after every flush. Each file has a thread that writes the samples of a bounded queue.
use super::bag::{BagMetadata, McapTopic};
use crate::node::tasks;
use crate::{config::params::RecordCompression, transport::free_bytes};
use mcap::records::{MessageHeader, Metadata};
use mcap::{Attachment, Compression, WriteOptions, Writer};
use parking_lot::Mutex;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, fs::File, path::Path, thread::JoinHandle};

/// Limit of the queue; further samples are dropped and counted.
const QUEUE_BYTES: usize = 256 << 20;
/// Added to the length of each sample, so that the limit of the queue also bounds the number of empty samples.
const SAMPLE_OVERHEAD: usize = 128;
/// Period of flushes. A killed process loses at most the data of two periods.
const FLUSH_PERIOD: Duration = Duration::from_millis(500);
const CHUNK_BYTES: u64 = 1 << 20;
/// The fastest of the usual levels: the thread of the recording must keep up.
const ZSTD_LEVEL: u32 = 1;

/// The end of a file without summary: `DataEnd`, `Footer`, magic. Readers then scan the whole file.
const END: &[u8; 50] = b"\x0f\x04\0\0\0\0\0\0\0\0\0\0\0\
    \x02\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \x89MCAP0\r\n";

/// Opcode of the padding: a private record, which readers skip.
const PADDING: u8 = 0x80;
/// Length of a record's header: opcode and length.
const RECORD_HEADER: usize = 9;
/// Length of new padding. It is a hole in the file, which takes no space on the disk.
const PADDING_BYTES: u64 = 16 << 20;

/// A file that is valid after every write: data, a padding record, the end. New records are written over the padding. The header
/// of the first new record is written last: it replaces the header of the padding, which makes the new records visible.
struct RecoverableFile {
    file: File,
    /// Data since the last flush; at a flush these are whole records.
    unflushed: Vec<u8>,
    padding_offset: u64,
    end_offset: u64,
    /// The first error; the `mcap` crate hides its kind.
    error: Option<io::ErrorKind>,
}

impl RecoverableFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        let result = self.file.write_all(bytes);
        self.error = self.error.or(result.as_ref().err().map(io::Error::kind));
        result
    }

    /// Writes the header of a padding record from `offset` to the end.
    fn write_padding(&mut self, offset: u64) -> io::Result<()> {
        let mut header = [PADDING; RECORD_HEADER];
        let len = self.end_offset - offset - RECORD_HEADER as u64;
        header[1..].copy_from_slice(&len.to_le_bytes());
        self.write_at(offset, &header)
    }

    /// Writes the unflushed data over the padding.
    fn commit(&mut self) -> io::Result<()> {
        let data = std::mem::take(&mut self.unflushed);
        let (header, rest) = data.split_at(RECORD_HEADER.min(data.len()));
        self.write_at(self.padding_offset + RECORD_HEADER as u64, rest)?;
        self.write_at(self.padding_offset, header)?;
        self.padding_offset += data.len() as u64;
        Ok(())
    }

    /// Replaces the padding with the unflushed summary; after a failed write, with `END`.
    fn close(mut self, has_failed: bool) -> io::Result<()> {
        if has_failed {
            self.file.set_len(self.padding_offset)?;
            return self.write_at(self.padding_offset, END);
        }
        self.commit()?;
        self.file.set_len(self.padding_offset)
    }
}

impl Write for RecoverableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unflushed.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.unflushed.is_empty() {
            return Ok(());
        }
        let next = self.padding_offset + self.unflushed.len() as u64;
        if next + RECORD_HEADER as u64 > self.end_offset {
            let has_padding = self.end_offset > 0;
            self.end_offset = next + PADDING_BYTES;
            self.write_at(self.end_offset, END)?;
            if has_padding {
                self.write_padding(self.padding_offset)?;
            }
        }
        self.write_padding(next)?;
        self.commit()
    }
}

impl Seek for RecoverableFile {
    /// Supports only the query of the position.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Current(0) => Ok(self.padding_offset + self.unflushed.len() as u64),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

enum QueueItem {
    Topic(McapTopic),
    Message(MessageHeader, Vec<u8>),
    Attachment(Attachment<'static>),
    Metadata(Metadata),
    End,
}

#[derive(Default)]
pub(super) struct RecordFigures {
    queued: AtomicUsize,
    pub(super) messages: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) dropped: AtomicU64,
    ended: AtomicBool,
    error: Mutex<Option<String>>,
    /// Samples that are still queued at this time are dropped.
    deadline: OnceLock<Instant>,
}

impl RecordFigures {
    fn is_late(&self) -> bool {
        let deadline = self.deadline.get();
        deadline.is_some_and(|deadline| Instant::now() >= *deadline)
    }

    pub(super) fn error(&self) -> Option<String> {
        self.error.lock().clone()
    }
}

pub(super) struct WriterThread {
    thread: JoinHandle<()>,
    figures: Arc<RecordFigures>,
}

impl WriterThread {
    pub(super) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Sets the time from which queued samples are dropped; only the first call has an effect.
    pub(super) fn set_deadline(&self, deadline: Instant) {
        self.figures.deadline.get_or_init(|| deadline);
    }

    pub(super) fn join(self) {
        if self.thread.join().is_err() {
            tracing::error!("the writer thread of a recording has panicked");
        }
    }
}

pub(super) struct McapSink {
    pub(super) figures: Arc<RecordFigures>,
    /// Number of topics. The lock is held while a topic is queued, so that topics are queued in the order of their ids.
    topics: Mutex<u16>,
    items: Sender<QueueItem>,
}

impl McapSink {
    /// Creates the file, and starts its thread, which ends with the recording. With `bag` the thread writes metadata.yaml, too.
    pub(super) fn create(
        path: &Path,
        bag: Option<BagMetadata>,
        compression: RecordCompression,
    ) -> io::Result<(Arc<Self>, WriterThread)> {
        let profile = if bag.is_some() { "ros2" } else { "" };
        let file = RecoverableFile {
            file: File::create_new(path)?,
            unflushed: Vec::new(),
            padding_offset: 0,
            end_offset: 0,
            error: None,
        };
        let options = WriteOptions::new()
            .compression((compression == RecordCompression::Zstd).then_some(Compression::Zstd))
            .compression_level(ZSTD_LEVEL)
            .compression_threads(0)
            .profile(profile)
            .library(concat!("rfly_bridge ", env!("CARGO_PKG_VERSION")))
            .chunk_size(Some(CHUNK_BYTES))
            // The writer buffers each chunk until it is complete, because `RecoverableFile` cannot seek.
            .disable_seeking(true)
            .calculate_data_section_crc(false);
        let writer = options.create(file).map_err(io::Error::other)?;
        let figures = Arc::<RecordFigures>::default();
        let (items, queue) = mpsc::channel();
        let writer = McapWriter { writer, ids: Vec::new(), bag, last_time: 0, unflushed: 1 };
        let thread_figures = figures.clone();
        let name = path.display().to_string();
        let mut job = Some((writer, queue));
        let body = move || match job.take() {
            Some((writer, queue)) => write(writer, &queue, &thread_figures, &name),
            // Restarted after a panic, which has closed the file.
            None => thread_figures.ended.store(true, Ordering::Relaxed),
        };
        let thread = tasks::spawn_restarting("rfly-record", body).map_err(io::Error::other)?;
        let thread = WriterThread { thread, figures: figures.clone() };
        Ok((Arc::new(Self { figures, topics: Mutex::default(), items }), thread))
    }

    pub(super) fn is_open(&self) -> bool {
        !self.figures.ended.load(Ordering::Relaxed)
    }

    /// Queues a new topic, and returns its id; `None` if there are too many.
    pub(super) fn add_topic(&self, topic: McapTopic) -> Option<u16> {
        let mut topics = self.topics.lock();
        let id = *topics;
        *topics = id.checked_add(1)?;
        self.send(QueueItem::Topic(topic));
        Some(id)
    }

    /// Queues a sample, or counts it as dropped.
    pub(super) fn add_message(&self, topic: u16, sequence: u32, time: i64, parts: &[&[u8]]) {
        let figures = &self.figures;
        if !self.is_open() {
            return;
        }
        let len = SAMPLE_OVERHEAD + parts.iter().map(|part| part.len()).sum::<usize>();
        if figures.queued.fetch_add(len, Ordering::Relaxed) + len > QUEUE_BYTES {
            figures.queued.fetch_sub(len, Ordering::Relaxed);
            figures.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.send(QueueItem::Message(header(topic, sequence, time.unsigned_abs()), parts.concat()));
    }

    pub(super) fn attach(&self, name: String, data: Vec<u8>) {
        self.send(QueueItem::Attachment(attachment(name, data)));
    }

    pub(super) fn add_metadata(&self, name: &str, metadata: BTreeMap<String, String>) {
        self.send(QueueItem::Metadata(Metadata { name: name.to_owned(), metadata }));
    }

    pub(super) fn end(&self) {
        self.send(QueueItem::End);
    }

    fn send(&self, item: QueueItem) {
        // An error means that the thread has ended; `figures` has the reason.
        let _ended = self.items.send(item);
    }
}

struct McapWriter {
    writer: Writer<RecoverableFile>,
    /// Channel ids of the file, by topic id.
    ids: Vec<u16>,
    bag: Option<BagMetadata>,
    last_time: u64,
    unflushed: u64,
}

impl McapWriter {
    fn write_item(
        &mut self,
        item: QueueItem,
        figures: &RecordFigures,
    ) -> Result<(), mcap::McapError> {
        self.unflushed += 1;
        match item {
            QueueItem::Topic(topic) => {
                let McapTopic { name, encoding, schema, metadata } = &topic;
                let schema = match schema {
                    Some((name, text)) => {
                        self.writer.add_schema(name, "ros2msg", text.as_bytes())?
                    }
                    None => 0,
                };
                let id = self.writer.add_channel(schema, name, encoding, metadata)?;
                self.ids.push(id);
                if let Some(bag) = &mut self.bag {
                    bag.add_topic(id, &topic);
                }
            }
            QueueItem::Message(mut header, data) => {
                figures.queued.fetch_sub(SAMPLE_OVERHEAD + data.len(), Ordering::Relaxed);
                if figures.is_late() {
                    figures.dropped.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                let Some(id) = self.ids.get(usize::from(header.channel_id)) else { return Ok(()) };
                header.channel_id = *id;
                if self.bag.is_some() {
                    // Publishing threads may queue out of order; readers without an index need ascending times.
                    self.last_time = self.last_time.max(header.log_time);
                    header.log_time = self.last_time;
                }
                self.writer.write_to_known_channel(&header, &data)?;
                figures.messages.fetch_add(1, Ordering::Relaxed);
                let len = data.len() as u64;
                figures.bytes.fetch_add(len, Ordering::Relaxed);
                self.unflushed += len;
                if let Some(bag) = &mut self.bag {
                    bag.count_message(*id, header.log_time);
                }
            }
            QueueItem::Attachment(attachment) => self.writer.attach(&attachment)?,
            QueueItem::Metadata(metadata) => self.writer.write_metadata(&metadata)?,
            QueueItem::End => {}
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), mcap::McapError> {
        self.writer.flush()?;
        self.unflushed = 0;
        Ok(())
    }

    fn write_bag_metadata(&self) -> io::Result<()> {
        self.bag.as_ref().map_or(Ok(()), BagMetadata::write)
    }

    fn run(
        &mut self,
        queue: &Receiver<QueueItem>,
        figures: &RecordFigures,
    ) -> Result<(), mcap::McapError> {
        let mut next = Instant::now();
        loop {
            match queue.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(QueueItem::End) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(item) => self.write_item(item, figures)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_due = Instant::now() >= next;
            if self.unflushed >= CHUNK_BYTES || (is_due && self.unflushed > 0) {
                self.flush()?;
                if is_due {
                    self.write_bag_metadata()?;
                }
            }
            if is_due {
                next = Instant::now() + FLUSH_PERIOD;
            }
        }
        self.flush()?;
        self.write_bag_metadata()?;
        self.writer.finish()?;
        Ok(())
    }
}

pub(super) fn header(channel_id: u16, sequence: u32, time: u64) -> MessageHeader {
    MessageHeader { channel_id, sequence, log_time: time, publish_time: time }
}

pub(super) fn attachment(name: String, data: Vec<u8>) -> Attachment<'static> {
    let media_type = match Path::new(&name).extension().and_then(|end| end.to_str()) {
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("txt") => "text/plain",
        _ => "application/octet-stream",
    };
    let (media_type, data) = (media_type.to_owned(), data.into());
    Attachment { log_time: 0, create_time: 0, media_type, name, data }
}

/// Returns the text of the error of a file for which there is no space.
fn no_space_message(error: io::ErrorKind, file: &Path) -> String {
    let free =
        || free_bytes(file).map_or_else(String::new, |free| format!(", {free} bytes are free"));
    let cause = match error {
        io::ErrorKind::QuotaExceeded => "the disk quota is exceeded (EDQUOT)".to_owned(),
        _ => format!("the disk is full (ENOSPC{})", free()),
    };
    format!("{cause}: delete files, or choose another record.directory")
}

fn write(mut writer: McapWriter, queue: &Receiver<QueueItem>, figures: &RecordFigures, name: &str) {
    let result = writer.run(queue, figures);
    figures.ended.store(true, Ordering::Relaxed);
    let file = writer.writer.into_inner();
    let error = file.error;
    let closed = file.close(result.is_err());
    let result = match error {
        Some(kind @ (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)) => {
            Err(no_space_message(kind, Path::new(name)))
        }
        _ => result.map_err(|error| error.to_string()),
    };
    match result.and(closed.map_err(|error| error.to_string())) {
        Ok(()) => tracing::info!(
            "recorded {} messages in {name}, {} dropped",
            figures.messages.load(Ordering::Relaxed),
            figures.dropped.load(Ordering::Relaxed)
        ),
        Err(error) => {
            let rest = "what was written until then is readable";
            tracing::error!("the recording {name} has ended: {error}; {rest}");
            *figures.error.lock() = Some(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_an_exceeded_quota_are_told_apart() {
        let text = |kind| no_space_message(kind, Path::new("/"));
        assert!(text(io::ErrorKind::StorageFull).starts_with("the disk is full (ENOSPC, "));
        let quota = text(io::ErrorKind::QuotaExceeded);
        assert!(quota.starts_with("the disk quota is exceeded (EDQUOT): delete"), "{quota}");
    }

    #[test]
    fn samples_queued_after_the_deadline_are_dropped_and_the_file_is_valid() {
        let name = format!("rfly_late_{}.mcap", std::process::id());
        let path = std::env::temp_dir().join(name);
        let (sink, thread) = McapSink::create(&path, None, RecordCompression::None).unwrap();
        let topic = sink.add_topic(McapTopic::raw("udp/1", "rfly_datagram")).unwrap();
        sink.add_message(topic, 0, 1, &[b"in time"]);
        let figures = sink.figures.clone();
        while figures.messages.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        thread.set_deadline(Instant::now());
        for number in 1..4 {
            sink.add_message(topic, number, 2, &[b"too late"]);
        }
        sink.end();
        thread.join();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert_eq!((read(&figures.messages), read(&figures.dropped)), (1, 3));
        assert_eq!(figures.queued.load(Ordering::Relaxed), 0);
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let messages: Result<Vec<_>, _> = mcap::MessageStream::new(&file).unwrap().collect();
        assert_eq!(messages.unwrap().len(), 1);
    }
}
