//! Replays a raw recording through the bridge in this process.
use super::allowed_parameters::allow;
use super::raw::{CONFIG, HEADER_LEN, SCENE, TERRAIN, attachment_parameter};
use super::reader::{ReadError, RecordedMessage, RecordingEntry, RecordingReader, printable};
use crate::node::replay_steps::{StepQueue, StepRunner};
use crate::transport::{Datagram, Player, ShmError};
use crate::wire::ShmFlag;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, io, net::SocketAddrV4};

/// Maximum time in ns by which messages in a file are out of order: the receiving threads queue them independently.
const MAX_DISORDER_NS: u64 = 1_000_000_000;
const LOGGED_PAUSE: Duration = Duration::from_secs(30);
const STOP_CHECK_PERIOD: Duration = Duration::from_millis(100);

/// Parameters that every replay sets: `/clock` has the time of the recording. The recorded vehicles are known, so discovery is
/// off. Only accepted senders are in a recording, so all are accepted.
const OVERRIDES: &[(&str, &str)] =
    &[("time.mode", "sim"), ("control.discover_s", "0.0"), ("accept_from", "[any]")];
const MAX_LOGGED_NAMES: usize = 20;
/// Maximum number of topics in each map of the report.
const MAX_TOPICS: usize = 100;
/// Limits of the reorder buffer; a full buffer returns its oldest message.
const MAX_BUFFERED_BYTES: usize = 512 << 20;
const MAX_BUFFERED_MESSAGES: usize = 1 << 20;
/// Maximum payload of a UDP datagram over IPv4.
const MAX_DATAGRAM_BYTES: usize = 65_507;
const MAX_BLOCK_NAME: usize = 64;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A receiver has failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a raw recording.
    #[error("no raw recording of the bridge (record.raw): it has no datagrams and no frames")]
    Empty,
    /// The file has an unreadable record before the first datagram or frame.
    #[error("no datagrams and no frames before a record that cannot be read: {0}")]
    Unreadable(String),
}

/// The part of a recording to play, and the speed.
#[derive(Clone, Copy, Debug)]
pub struct PlaybackOptions {
    /// Factor of the recorded speed; 0: as fast as the bridge can process the recording.
    pub speed: f64,
    /// Start, relative to the start of the recording.
    pub from: Duration,
    /// Duration; to the end of the recording if `None`.
    pub duration: Option<Duration>,
}

/// The result of a replay.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Number of datagrams and frames that the bridge received.
    pub received: u64,
    /// Number of messages from each port and block that the bridge does not read.
    pub not_received: BTreeMap<String, u64>,
    /// Number of messages that cannot be played, by topic and reason.
    pub invalid: BTreeMap<String, u64>,
    /// Why the end of the file could not be read.
    pub cut_off: Option<String>,
}

/// A recording with its configuration.
#[derive(Debug, Default)]
pub struct Replay {
    path: PathBuf,
    parameters: BTreeMap<String, String>,
    files: Vec<(String, Vec<u8>)>,
    /// Times of the first and the last message in ns.
    first: u64,
    last: u64,
    extracted: Option<TempDirectory>,
    step_queue: Option<&'static StepQueue>,
}

impl Replay {
    /// Reads the configuration and the length of a recording. Errors: the file cannot be read, or is not a raw recording.
    pub fn open(path: &Path) -> Result<Self, ReplayError> {
        let mut replay = Self { path: path.to_owned(), first: u64::MAX, ..Self::default() };
        let mut reader = RecordingReader::open(path)?;
        while let Some(entry) = reader.next()? {
            match entry {
                RecordingEntry::Message(message) if message.channel.is_raw() => {
                    replay.first = replay.first.min(message.time);
                    replay.last = replay.last.max(message.time);
                }
                RecordingEntry::Parameters(parameters) => replay.parameters = parameters,
                RecordingEntry::File { name, data } => replay.files.push((name, data)),
                RecordingEntry::Message(_) | RecordingEntry::Channel(_) => {}
            }
        }
        match (replay.first, reader.cut_off) {
            (u64::MAX, Some(why)) => Err(ReplayError::Unreadable(why)),
            (u64::MAX, None) => Err(ReplayError::Empty),
            _ => Ok(replay),
        }
    }

    /// Time from the first message to the last.
    pub fn length(&self) -> Duration {
        Duration::from_nanos(self.last - self.first)
    }

    /// Arguments that give a bridge the recorded parameters (the allowed ones) and files. Extracts the attached files.
    /// Errors: the files cannot be written.
    pub fn arguments(&mut self) -> io::Result<Vec<String>> {
        let directory = TempDirectory(new_directory()?);
        let file_parameters = extract(&directory.0, &self.files)?;
        self.extracted = Some(directory);
        let (mut parameters, mut ignored) = (BTreeMap::new(), Vec::new());
        for (name, value) in &self.parameters {
            match allow(name, value) {
                Some(value) => drop(parameters.insert(name.clone(), value)),
                // Replaced with the paths of the extracted files.
                None if [CONFIG, TERRAIN, SCENE].contains(&name.as_str()) => {}
                None => ignored.push(name.as_str()),
            }
        }
        if !ignored.is_empty() {
            tracing::info!(
                "recorded parameters that do not affect the data are ignored; set them with -p if needed: {}",
                name_list(&ignored)
            );
        }
        parameters.extend(file_parameters);
        parameters.extend(OVERRIDES.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let values = parameters.into_iter();
        let values = values.flat_map(|(name, text)| ["-p".to_owned(), format!("{name}:={text}")]);
        Ok(std::iter::once("--ros-args".to_owned()).chain(values).collect())
    }

    /// Replaces the network of this process with the recording. Must be called before the bridge starts.
    /// Errors: a system call fails.
    pub fn install(&self) -> io::Result<&'static Player> {
        Player::install(i64::try_from(self.first).unwrap_or(i64::MAX))
    }

    /// Makes [`Self::play`] wait for steps in the returned queue, to which the step service also adds. Must be called before the
    /// bridge starts.
    pub fn step_by_step(&mut self) -> &'static StepQueue {
        let step_queue = StepQueue::install();
        self.step_queue = Some(step_queue);
        step_queue
    }

    /// Plays the recording to its end, or until `is_stopped` returns true.
    /// Errors: the file cannot be read, or a receiver has failed.
    pub fn play(
        &self,
        player: &Player,
        options: PlaybackOptions,
        mut is_stopped: impl FnMut() -> bool,
    ) -> Result<ReplayReport, ReplayError> {
        let mut report = ReplayReport::default();
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let from = self.first.saturating_add(nanos(options.from));
        let until = (options.duration).map(|duration| from.saturating_add(nanos(duration)));
        let since_start = |time: u64| Duration::from_nanos(time - self.first);
        let mut stepper = self.step_queue.map(|queue| StepRunner::new(queue, options.from));
        // Host time and recorded time from which due times are computed; reset when single steps end.
        let mut reference = (Instant::now(), from);
        let mut messages = ReorderBuffer::open(&self.path)?;
        while let Some(message) = messages.next()? {
            if message.time < from {
                continue;
            }
            if until.is_some_and(|until| message.time > until) {
                break;
            }
            if let Some(stepper) = &mut stepper {
                let was_running = stepper.plays_rest();
                while !stepper.may_play(since_start(message.time), STOP_CHECK_PERIOD) {
                    if is_stopped() {
                        return Ok(report);
                    }
                }
                if !was_running {
                    reference = (Instant::now(), message.time);
                }
            }
            let mut due = reference.0;
            if options.speed > 0.0 {
                let elapsed = Duration::from_nanos(message.time.saturating_sub(reference.1));
                due += elapsed.div_f64(options.speed);
            }
            let pause = due.saturating_duration_since(Instant::now());
            if pause > LOGGED_PAUSE {
                let seconds = pause.as_secs_f64();
                tracing::warn!(
                    "pause in the recording: the next message is due in {seconds:.0} s; --from N skips it"
                );
            }
            loop {
                if is_stopped() {
                    return Ok(report);
                }
                let left = due.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(STOP_CHECK_PERIOD));
            }
            let topic = &message.channel.topic;
            match play_message(player, &message)? {
                Ok(true) => report.received += 1,
                Ok(false) => count(&mut report.not_received, printable(topic)),
                Err(why) => count(&mut report.invalid, format!("{}: {why}", printable(topic))),
            }
            if let Some(stepper) = &mut stepper {
                stepper.count_played(since_start(message.time));
            }
        }
        report.cut_off = messages.reader.cut_off;
        Ok(report)
    }
}

/// The directory of the extracted files, which is removed on drop.
#[derive(Debug)]
struct TempDirectory(PathBuf);

impl Drop for TempDirectory {
    fn drop(&mut self) {
        let _may_be_gone = std::fs::remove_dir_all(&self.0);
    }
}

fn count(counts: &mut BTreeMap<String, u64>, key: String) {
    if counts.len() < MAX_TOPICS || counts.contains_key(&key) {
        *counts.entry(key).or_default() += 1;
    }
}

/// A list of names for the log. A recording is untrusted input: number and length of the names are limited.
fn name_list(names: &[&str]) -> String {
    let listed = names.iter().take(MAX_LOGGED_NAMES);
    let short = |name: &&str| name.chars().take(64).collect::<String>();
    let mut text = listed.map(short).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LOGGED_NAMES {
        text += &format!(" and {} more", names.len() - MAX_LOGGED_NAMES);
    }
    text.escape_debug().to_string()
}

/// Writes the attached files, and returns the parameters that name them. Their recorded names are untrusted and not used.
fn extract(dir: &Path, files: &[(String, Vec<u8>)]) -> io::Result<BTreeMap<String, String>> {
    let text = |path: &Path| format!("{:?}", path.display().to_string());
    let mut configs = Vec::new();
    let mut parameters = BTreeMap::new();
    for (number, (name, data)) in files.iter().enumerate() {
        let file = match attachment_parameter(name) {
            // The bridge reads this file next to the PNG.
            TERRAIN if name.ends_with(".txt") => "terrain.txt",
            TERRAIN => "terrain.png",
            SCENE => "scene.json",
            _ => &format!("Config{number}.json"),
        };
        let path = dir.join(file);
        std::fs::write(&path, data)?;
        match file {
            "terrain.txt" => {}
            "terrain.png" => drop(parameters.insert(TERRAIN.to_owned(), text(&path))),
            "scene.json" => drop(parameters.insert(SCENE.to_owned(), text(&path))),
            _ => configs.push(text(&path)),
        }
    }
    parameters.insert(CONFIG.to_owned(), format!("[{}]", configs.join(", ")));
    Ok(parameters)
}

/// Creates a directory. Its name has a number, because a killed process with the same id may have left a directory.
fn new_directory() -> io::Result<PathBuf> {
    let parent = std::env::temp_dir();
    let name = format!("rfly_replay_{}", std::process::id());
    let mut created = Err(io::ErrorKind::AlreadyExists.into());
    for number in 0..100 {
        let path = parent.join(format!("{name}_{number}"));
        created = std::fs::create_dir(&path).map(|()| path);
        if !matches!(&created, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    created
}

/// Passes a message to the receiver of its port or block. Returns whether a receiver exists, or why the message cannot be played.
fn play_message(
    player: &Player,
    message: &RecordedMessage,
) -> Result<Result<bool, &'static str>, ReplayError> {
    let time = i64::try_from(message.time).unwrap_or(i64::MAX);
    let topic = &message.channel.topic;
    if let Some(port) = topic.strip_prefix("udp/") {
        let Ok(port) = port.parse() else { return Ok(Err("the port is not a number")) };
        let Some((&[a, b, c, d, p, q, l, m, n, o], bytes)) =
            message.data.split_first_chunk::<HEADER_LEN>()
        else {
            return Ok(Err("the header is truncated"));
        };
        if bytes.len() > MAX_DATAGRAM_BYTES {
            return Ok(Err("longer than a datagram"));
        }
        let datagram = Datagram {
            len: u32::from_be_bytes([l, m, n, o]) as usize,
            segment: None,
            from: SocketAddrV4::new([a, b, c, d].into(), u16::from_be_bytes([p, q])),
            kernel_time: Some(time),
            overflows: 0,
        };
        return Ok(Ok(player.datagram(port, datagram, bytes)?));
    }
    if let Some(name) = topic.strip_prefix("shm/") {
        // The name becomes part of a file name.
        let is_plain = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
        if name.is_empty() || name.len() > MAX_BLOCK_NAME || !name.bytes().all(is_plain) {
            return Ok(Err("invalid name of a block"));
        }
        let played = player.block(name, time, &message.data, ShmFlag::Ready as u8);
        return Ok(played.map_err(|error| {
            tracing::debug!("shm/{name}: {error}");
            match error {
                ShmError::Io { source, .. } if source.kind() == io::ErrorKind::TimedOut => {
                    "the reader of the block is stuck"
                }
                _ => "the block cannot be created",
            }
        }));
    }
    Ok(Ok(false))
}

struct ReorderBuffer {
    reader: RecordingReader,
    /// By time, and by number in the file for equal times.
    messages: BTreeMap<(u64, u64), RecordedMessage>,
    bytes: usize,
    read_count: u64,
    newest: u64,
}

impl ReorderBuffer {
    fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self {
            reader: RecordingReader::open(path)?,
            messages: BTreeMap::new(),
            bytes: 0,
            read_count: 0,
            newest: 0,
        })
    }

    fn next(&mut self) -> Result<Option<RecordedMessage>, ReadError> {
        loop {
            let first = self.messages.first_key_value().map(|((time, _), _)| *time);
            let is_complete =
                first.is_some_and(|time| time.saturating_add(MAX_DISORDER_NS) < self.newest);
            let is_full =
                self.bytes > MAX_BUFFERED_BYTES || self.messages.len() > MAX_BUFFERED_MESSAGES;
            if is_complete || is_full {
                break;
            }
            match self.reader.next()? {
                Some(RecordingEntry::Message(mut message)) if message.channel.is_raw() => {
                    // The excess of an oversized datagram is not kept; one byte more suffices to reject it.
                    if message.channel.topic.starts_with("udp/") {
                        message.data.truncate(HEADER_LEN + MAX_DATAGRAM_BYTES + 1);
                        message.data.shrink_to_fit();
                    }
                    self.bytes += message.data.len();
                    self.newest = self.newest.max(message.time);
                    self.messages.insert((message.time, self.read_count), message);
                    self.read_count += 1;
                }
                Some(_) => {}
                None => break,
            }
        }
        let next = self.messages.pop_first().map(|(_, message)| message);
        self.bytes -= next.as_ref().map_or(0, |message| message.data.len());
        Ok(next)
    }
}
