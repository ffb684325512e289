//! Plays a raw recording through the bridge that runs in this process.
use super::allowed::allowed;
use super::raw::{CONFIG, HEAD, SCENE, TERRAIN, attached_parameter};
use super::reading::{Contents, Found, Message, ReadError, shown};
use crate::node::replay_steps::{StepQueue, StepRunner};
use crate::transport::{Datagram, Player};
use crate::wire::ShmFlag;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Sockets are read at their own pace: so much later may a message be in the file than others of its time, in ns.
const DISORDER: u64 = 1_000_000_000;
/// A pause in the recording that is longer is told.
const PAUSE: Duration = Duration::from_secs(30);
/// Longest sleep between two looks at whether to end.
const LOOK: Duration = Duration::from_millis(100);

/// Other nodes see the time of the recording on `/clock`; the vehicles that were found, and only senders that were accepted, are
/// in the recording.
const FORCED: &[(&str, &str)] = &[
    ("time.mode", "sim"),
    ("control.discover_s", "0.0"),
    ("accept_from", "[any]"),
];
/// Names in a log line.
const NAMED: usize = 20;
/// Topics that are counted.
const TOPICS: usize = 100;
/// Limits of what is held to be put in order: of more, the first is played.
const HELD: usize = 512 << 20;
const HELD_MESSAGES: usize = 1 << 20;
/// Longest datagram over IPv4, and longest name of a block.
const LONGEST_DATAGRAM: usize = 65_507;
const LONGEST_NAME: usize = 64;

/// Why a recording cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A receiver does not work.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It has other contents.
    #[error("no raw recording of the bridge (record.raw): it has no datagrams and no frames")]
    Empty,
}

/// What to play, and how.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Times as fast as recorded; 0: as fast as the bridge takes it.
    pub speed: f64,
    /// Where to begin, after the beginning of the recording.
    pub from: Duration,
    /// How much to play; all of it if `None`.
    pub most: Option<Duration>,
}

/// What was played.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Replayed {
    /// Datagrams and frames that the bridge took.
    pub taken: u64,
    /// Ports and blocks where it takes none, with the number of messages.
    pub unheard: BTreeMap<String, u64>,
    /// What cannot be played, with the number of messages.
    pub bad: BTreeMap<String, u64>,
    /// Why the end of the file could not be read.
    pub cut_off: Option<String>,
}

/// A recording, and the configuration it was made with.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    parameters: BTreeMap<String, String>,
    /// By the names that they have in the recording.
    files: Vec<(String, Vec<u8>)>,
    first: u64,
    last: u64,
    /// Configuration files for the bridge; removed on drop.
    unpacked: Option<PathBuf>,
    /// It waits here for steps.
    gate: Option<&'static StepQueue>,
}

impl Replay {
    /// Looks through a recording.
    ///
    /// # Errors
    /// It cannot be played.
    pub fn open(path: &Path) -> Result<Self, ReplayError> {
        let mut replay = Self {
            path: path.to_owned(),
            parameters: BTreeMap::new(),
            files: Vec::new(),
            first: u64::MAX,
            last: 0,
            unpacked: None,
            gate: None,
        };
        let mut contents = Contents::open(path)?;
        while let Some(found) = contents.next()? {
            match found {
                Found::Message(message) if message.channel.is_raw() => {
                    replay.first = replay.first.min(message.time);
                    replay.last = replay.last.max(message.time);
                }
                Found::Parameters(parameters) => replay.parameters = parameters,
                Found::File { name, data } => replay.files.push((name, data)),
                Found::Message(_) | Found::Channel(_) => {}
            }
        }
        match replay.first {
            u64::MAX => Err(ReplayError::Empty),
            _ => Ok(replay),
        }
    }

    /// From the first message to the last.
    pub fn length(&self) -> Duration {
        Duration::from_nanos(self.last - self.first)
    }

    /// Arguments of a bridge with the recorded configuration. Nothing of it leaves this process, and it records nothing.
    ///
    /// # Errors
    /// The configuration files cannot be written.
    pub fn arguments(&mut self) -> io::Result<Vec<String>> {
        let dir = new_directory()?;
        let unpacked = unpack(&dir, &self.files);
        self.unpacked = Some(dir);
        let mut parameters = BTreeMap::new();
        let mut left_out = Vec::new();
        for (name, value) in &self.parameters {
            match allowed(name, value) {
                Some(value) => drop(parameters.insert(name.clone(), value)),
                // Its files are those that were unpacked.
                None if [CONFIG, TERRAIN, SCENE].contains(&name.as_str()) => {}
                None => left_out.push(name.as_str()),
            }
        }
        if !left_out.is_empty() {
            tracing::info!(
                "parameters of the recording that do not shape data are not taken; give what is wanted with -p: {}",
                named(&left_out)
            );
        }
        parameters.extend(unpacked?);
        for (name, value) in FORCED {
            parameters.insert((*name).to_owned(), (*value).to_owned());
        }
        let given = parameters.iter();
        let given = given.flat_map(|(name, text)| ["-p".to_owned(), format!("{name}:={text}")]);
        Ok(std::iter::once("--ros-args".to_owned())
            .chain(given)
            .collect())
    }

    /// Puts the recording in place of the network of this process, before the bridge starts.
    ///
    /// # Errors
    /// Of the system.
    pub fn install(&self) -> io::Result<&'static Player> {
        Player::install(i64::try_from(self.first).unwrap_or(i64::MAX))
    }

    /// Lets it wait for steps, which the bridge's services ask for, too. To be called before the bridge starts.
    pub fn step_by_step(&mut self) -> &'static StepQueue {
        let gate = StepQueue::install();
        self.gate = Some(gate);
        gate
    }

    /// Plays it until its end, or until `ends` says so.
    ///
    /// # Errors
    /// The file cannot be read any more, or the bridge does not take what is played.
    pub fn play(
        &self,
        player: &Player,
        pace: Pace,
        mut ends: impl FnMut() -> bool,
    ) -> Result<Replayed, ReplayError> {
        let mut replayed = Replayed::default();
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let from = self.first.saturating_add(nanos(pace.from));
        let until = pace.most.map(|most| from.saturating_add(nanos(most)));
        let after = |time: u64| Duration::from_nanos(time - self.first);
        let mut stepper = self.gate.map(|gate| StepRunner::new(gate, pace.from));
        // When what was to be played: the rest is at the speed from where the steps ended.
        let mut begun = (Instant::now(), from);
        let mut messages = Ordered::open(&self.path)?;
        while let Some(message) = messages.next()? {
            if message.time < from {
                continue;
            }
            if until.is_some_and(|until| message.time > until) {
                break;
            }
            if let Some(stepper) = &mut stepper {
                let ran = stepper.plays_rest();
                while !stepper.may_play(after(message.time), LOOK) {
                    if ends() {
                        return Ok(replayed);
                    }
                }
                if !ran {
                    begun = (Instant::now(), message.time);
                }
            }
            let due = match pace.speed > 0.0 {
                true => {
                    let later = Duration::from_nanos(message.time.saturating_sub(begun.1));
                    begun.0 + later.div_f64(pace.speed)
                }
                false => begun.0,
            };
            let pause = due.saturating_duration_since(Instant::now());
            if pause > PAUSE {
                let seconds = pause.as_secs_f64();
                tracing::warn!(
                    "the next message of the recording comes in {seconds:.0} s; --from n begins behind the pause"
                );
            }
            loop {
                if ends() {
                    return Ok(replayed);
                }
                let left = due.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(LOOK));
            }
            let topic = &message.channel.topic;
            let (counts, what) = match hand(player, &message)? {
                Handed::Taken => {
                    replayed.taken += 1;
                    (None, String::new())
                }
                Handed::Unheard => (Some(&mut replayed.unheard), shown(topic)),
                Handed::Bad(why) => (Some(&mut replayed.bad), format!("{}: {why}", shown(topic))),
            };
            if let Some(counts) = counts
                && (counts.len() < TOPICS || counts.contains_key(&what))
            {
                *counts.entry(what).or_default() += 1;
            }
            if let Some(stepper) = &mut stepper {
                stepper.count_played(after(message.time));
            }
        }
        replayed.cut_off = messages.contents.cut_off;
        Ok(replayed)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        if let Some(dir) = self.unpacked.take() {
            let _gone_already = std::fs::remove_dir_all(dir);
        }
    }
}

/// Names for the log, which a recording may have many of, of any length.
fn named(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED);
    let short = |name: &&str| name.chars().take(64).collect::<String>();
    let mut text = shown.map(short).collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        text += &format!(" and {} more", names.len() - NAMED);
    }
    text.escape_debug().to_string()
}

/// Writes the recorded files, under names of this program's own: a recording may come from anybody. Returns the parameters
/// that name them.
fn unpack(dir: &Path, files: &[(String, Vec<u8>)]) -> io::Result<BTreeMap<String, String>> {
    let text = |path: &Path| format!("{:?}", path.display().to_string());
    let mut configs = Vec::new();
    let mut parameters = BTreeMap::new();
    for (number, (name, data)) in files.iter().enumerate() {
        let file = match attached_parameter(name) {
            // It is looked for beside the picture.
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

/// An empty directory that nobody had before: a process that was killed may have left one.
fn new_directory() -> io::Result<PathBuf> {
    let place = std::env::temp_dir();
    let name = format!("rfly_replay_{}", std::process::id());
    let mut last = io::ErrorKind::AlreadyExists.into();
    for number in 0..100 {
        let path = place.join(format!("{name}_{number}"));
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// What became of a message.
enum Handed {
    Taken,
    /// There is no receiver.
    Unheard,
    Bad(&'static str),
}

/// Hands a message to the receiver that it was recorded at.
fn hand(player: &Player, message: &Message) -> Result<Handed, ReplayError> {
    let time = i64::try_from(message.time).unwrap_or(i64::MAX);
    let topic = &message.channel.topic;
    let taken = if let Some(port) = topic.strip_prefix("udp/") {
        let Ok(port) = port.parse() else {
            return Ok(Handed::Bad("no port"));
        };
        let Some((&[a, b, c, d, p, q, l, m, n, o], bytes)) =
            message.data.split_first_chunk::<HEAD>()
        else {
            return Ok(Handed::Bad("no sender and length"));
        };
        if bytes.len() > LONGEST_DATAGRAM {
            return Ok(Handed::Bad("longer than a datagram"));
        }
        let datagram = Datagram {
            len: u32::from_be_bytes([l, m, n, o]) as usize,
            segment: None,
            from: SocketAddrV4::new([a, b, c, d].into(), u16::from_be_bytes([p, q])),
            kernel_time: Some(time),
            overflows: 0,
        };
        player.datagram(port, datagram, bytes)?
    } else if let Some(name) = topic.strip_prefix("shm/") {
        // It becomes the name of a file.
        let plain = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(plain) {
            return Ok(Handed::Bad("no name of a block"));
        }
        match player.block(name, time, &message.data, ShmFlag::Ready as u8) {
            Ok(taken) => taken,
            Err(error) => {
                tracing::debug!("shm/{name}: {error}");
                return Ok(Handed::Bad("the block cannot be created"));
            }
        }
    } else {
        false
    };
    Ok(match taken {
        true => Handed::Taken,
        false => Handed::Unheard,
    })
}

/// The messages in the order of their arrival.
struct Ordered {
    contents: Contents,
    held: BTreeMap<(u64, u64), Message>,
    /// Bytes of those that are held.
    held_bytes: usize,
    read: u64,
    newest: u64,
}

impl Ordered {
    fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self {
            contents: Contents::open(path)?,
            held: BTreeMap::new(),
            held_bytes: 0,
            read: 0,
            newest: 0,
        })
    }

    fn next(&mut self) -> Result<Option<Message>, ReadError> {
        loop {
            let first = self.held.first_key_value().map(|((time, _), _)| *time);
            let late = first.is_some_and(|time| time.saturating_add(DISORDER) < self.newest);
            if late || self.held_bytes > HELD || self.held.len() > HELD_MESSAGES {
                break;
            }
            match self.contents.next()? {
                Some(Found::Message(mut message)) if message.channel.is_raw() => {
                    // What no datagram can be is not held: it is refused when its turn comes.
                    if message.channel.topic.starts_with("udp/") {
                        message.data.truncate(HEAD + LONGEST_DATAGRAM + 1);
                        message.data.shrink_to_fit();
                    }
                    self.held_bytes += message.data.len();
                    self.newest = self.newest.max(message.time);
                    self.held.insert((message.time, self.read), message);
                    self.read += 1;
                }
                Some(_) => {}
                None => break,
            }
        }
        let next = self.held.pop_first().map(|(_, message)| message);
        self.held_bytes -= next.as_ref().map_or(0, |message| message.data.len());
        Ok(next)
    }
}
