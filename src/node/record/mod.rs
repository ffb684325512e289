//! Recordings of what is published (`record.ros`) and of what is received (`record.raw`).
mod allowed;
mod anonymise;
mod bag;
mod beside;
mod everything;
mod file;
mod inspect;
mod keys;
mod mask;
mod raw;
mod reading;
mod replay;
mod topic;

pub use anonymise::{AnonymiseError, Anonymised, anonymise};
pub use beside::{Beside, BesideError, Missed};
pub use inspect::{ChannelReport, Inspected, inspect};
pub use keys::{follow_input, parse as parse_step};
pub use reading::ReadError;
pub use replay::{Pace, Replay, ReplayError, Replayed};

use crate::config::Problems;
use crate::config::params::RecordParams;
use crate::node::assembly::Assembly;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::settings::Settings;
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::ros::{Middleware, TapGuard};
use crate::transport::Stand;
use bag::Bag;
use everything::Everything;
use file::{Sink, Writing};
use raw::Raw;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the end of the bridge waits for the disk. What is not written by then is dropped and counted.
const END: Duration = Duration::from_secs(8);

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let recorder = Arc::new(Recorder {
        middleware: context.middleware.clone(),
        stand: assembly.binder.stand.clone(),
        running: Mutex::default(),
    });
    let nothing = RecordParams::default();
    let started = Started::new(&nothing, &context.settings.params.record);
    recorder.follow(started, context.settings);
    let changing = recorder.clone();
    assembly.prepare.push(Box::new(move |before, now| {
        let started = Started::new(&before.params.record, &now.params.record);
        let problems = started.problems();
        problems.or(())?;
        let (recorder, now) = (changing.clone(), now.clone());
        Ok(Box::new(move || {
            recorder.follow(started, &now);
            Box::new(|| {})
        }))
    }));
    assembly.sections.push(Box::new(Status {
        recorder: recorder.clone(),
        dropped: 0,
    }));
    assembly.guards.push(Box::new(Stop(recorder)));
    Ok(())
}

fn topics(_: &mut TopicPage) {}

/// What is recorded now.
struct Recorder {
    middleware: Middleware,
    stand: Stand,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    ros: Option<Recording>,
    raw: Option<Recording>,
    /// Of recordings that have ended, too: they may still write.
    threads: Vec<Writing>,
}

struct Recording {
    path: PathBuf,
    /// The file, or why there is none.
    sink: Result<Arc<Sink>, String>,
    tap: Option<TapGuard>,
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.tap = None;
        if let Ok(sink) = &self.sink {
            sink.end();
        }
    }
}

impl Recorder {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what has changed, and goes on with what was started for it.
    fn follow(&self, started: Started, settings: &Settings) {
        let running = &mut *self.running();
        running.threads.retain(|thread| !thread.is_finished());
        running.threads.extend(started.threads);
        if let Some(ros) = started.ros {
            running.ros = ros;
            if let Some(recording) = &mut running.ros
                && let Ok(sink) = &recording.sink
            {
                recording.tap = Some(self.middleware.tap(Arc::new(Everything(sink.clone()))));
            }
        }
        if let Some(raw) = started.raw {
            self.stand.set(None);
            running.raw = raw;
            if let Some(Recording { sink: Ok(sink), .. }) = &running.raw {
                let raw = Raw::new(sink.clone(), settings);
                self.stand.set(Some(Arc::new(raw)));
            }
        }
    }
}

/// Recordings whose files were created, or why not; of those parameters that have changed.
#[derive(Default)]
struct Started {
    ros: Option<Option<Recording>>,
    raw: Option<Option<Recording>>,
    threads: Vec<Writing>,
}

impl Started {
    fn new(before: &RecordParams, now: &RecordParams) -> Self {
        let mut started = Self::default();
        let threads = &mut started.threads;
        let mut start =
            |name: &String, bag| Recording::start(&now.directory.join(name), bag, threads);
        if before.ros != now.ros {
            started.ros = Some(now.ros.as_ref().map(|name| start(name, true)));
        }
        if before.raw != now.raw {
            started.raw = Some(now.raw.as_ref().map(|name| start(name, false)));
        }
        started
    }

    /// What could not be created.
    fn problems(&self) -> Problems {
        let mut problems = Problems::default();
        for (name, recording) in [("record.ros", &self.ros), ("record.raw", &self.raw)] {
            if let Some(Some(recording)) = recording
                && let Err(why) = &recording.sink
            {
                problems.push(name, format!("{}: {why}", recording.path.display()));
            }
        }
        problems
    }
}

impl Recording {
    /// A recording that cannot start is reported, and the bridge goes on.
    fn start(path: &Path, bag: bool, threads: &mut Vec<Writing>) -> Self {
        let path = free(path);
        let created = if bag {
            create_bag(&path)
        } else {
            Sink::create(&path, None)
        };
        let sink = match created {
            Ok((sink, thread)) => {
                threads.push(thread);
                tracing::info!("recording {}", path.display());
                Ok(sink)
            }
            Err(error) => {
                tracing::error!("cannot record {}: {error}", path.display());
                Err(error.to_string())
            }
        };
        Self {
            path,
            sink,
            tap: None,
        }
    }
}

/// A directory with the name of the bag, which the file in it has as well.
fn create_bag(path: &Path) -> io::Result<(Arc<Sink>, Writing)> {
    std::fs::create_dir_all(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = format!("{name}_0.mcap");
    let bag = Bag::new(path.to_owned(), file.clone());
    Sink::create(&path.join(file), Some(bag))
}

/// The path itself, or with a number if it is taken: a bridge that is restarted overwrites no recording.
fn free(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path
        .extension()
        .map(|end| format!(".{}", end.to_string_lossy()));
    let end = end.unwrap_or_default();
    let numbered = (2..).map(|number: u32| path.with_file_name(format!("{stem}-{number}{end}")));
    let mut paths = std::iter::once(path.to_owned()).chain(numbered);
    paths
        .find(|path| !path.exists())
        .unwrap_or_else(|| path.to_owned())
}

/// Ends all recordings with the bridge.
struct Stop(Arc<Recorder>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.stand.set(None);
        let running = std::mem::take(&mut *self.0.running());
        drop((running.ros, running.raw));
        let until = Instant::now() + END;
        for writing in &running.threads {
            writing.limit(until);
        }
        running.threads.into_iter().for_each(Writing::join);
    }
}

/// The recordings in `/diagnostics`.
struct Status {
    recorder: Arc<Recorder>,
    /// Dropped samples at the last look.
    dropped: u64,
}

impl Section for Status {
    fn name(&self) -> &'static str {
        "recording"
    }

    fn check(&mut self) -> Finding {
        let running = self.recorder.running();
        let recordings = [("record.ros", &running.ros), ("record.raw", &running.raw)];
        let (mut values, mut errors, mut dropped, mut count) = (Vec::new(), Vec::new(), 0, 0);
        for (name, recording) in recordings {
            let Some(recording) = recording else { continue };
            count += 1;
            values.push(value(name, recording.path.display()));
            let error = match &recording.sink {
                Ok(sink) => {
                    let figures = &sink.figures;
                    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
                    values.push(value(format!("{name} messages"), read(&figures.messages)));
                    values.push(value(format!("{name} bytes"), read(&figures.bytes)));
                    values.push(value(format!("{name} dropped"), read(&figures.dropped)));
                    dropped += read(&figures.dropped);
                    figures.error()
                }
                Err(error) => Some(error.clone()),
            };
            errors.extend(error.map(|error| format!("{name} has ended: {error}")));
        }
        let new = dropped.saturating_sub(std::mem::replace(&mut self.dropped, dropped));
        let (level, message) = match (errors.is_empty(), new, count) {
            (false, ..) => (Level::Error, errors.join("; ")),
            (_, 1.., _) => (
                Level::Warn,
                format!("{new} samples dropped: the disk is too slow"),
            ),
            (.., 0) => (Level::Ok, "nothing is recorded".to_owned()),
            (.., n) => (Level::Ok, format!("{n} recordings")),
        };
        Finding {
            level,
            message,
            values,
        }
    }
}
