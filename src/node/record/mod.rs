//! Recordings: `record.ros` of published topics, `record.raw` of received datagrams and frames.
mod allowed_parameters;
mod anonymise;
mod bag;
mod bag_tap;
mod inspect;
mod mcap_file;
mod name_masks;
mod passive;
mod raw;
mod reader;
mod replay;
mod step_input;

pub use anonymise::{AnonymiseError, AnonymiseReport, anonymise};
pub use inspect::{ChannelReport, InspectReport, inspect};
pub use passive::{PassiveRecordError, PassiveRecorder, RecordingLosses};
pub use reader::ReadError;
pub use replay::{PlaybackOptions, Replay, ReplayError, ReplayReport};
pub use step_input::{parse_step, read_steps};

use crate::config::params::{RecordCompression, RecordParams};
use crate::node::section::{Finding, Level, Section, value};
use crate::node::{
    assembly::Assembly, context::Context, error::NodeError, settings::Settings,
    subsystem::Subsystem,
};
use crate::ros::{Middleware, TapGuard};
use crate::{config::Problems, transport::PacketTapSlot};
use bag::BagMetadata;
use bag_tap::{BagTap, TopicFilter};
use mcap_file::{McapSink, WriterThread};
use parking_lot::Mutex;
use raw::RawRecorder;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{io, sync::Arc};

/// How long the shutdown waits for the disk. Samples that are not written by then are dropped and counted.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics: |_| {} };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let control = Arc::new(RecordingControl {
        middleware: context.middleware.clone(),
        packet_tap: assembly.binder.packet_tap.clone(),
        active: Mutex::default(),
    });
    let now = &context.settings.params.record;
    let before = RecordParams { ros: None, raw: None, ..now.clone() };
    control.replace(NewRecordings::create(&before, now), context.settings);
    let control_to_change = control.clone();
    assembly.prepare.push(Box::new(move |before, now| {
        let (before, record) = (&before.params.record, &now.params.record);
        check_places(before, record).or(())?;
        let new = NewRecordings::create(before, record);
        new.problems().or(())?;
        let (control, now) = (control_to_change.clone(), now.clone());
        Ok(Box::new(move || {
            control.replace(new, &now);
            Box::new(|| {})
        }))
    }));
    assembly.add_section("recording", RecordingStatus { control: control.clone(), dropped: 0 });
    assembly.guards.push(Box::new(StopRecordings(control)));
    Ok(())
}

/// Checks paths that are set at run time: a client that sets parameters may write only below record.directory.
fn check_places(before: &RecordParams, now: &RecordParams) -> Problems {
    let mut problems = Problems::default();
    let paths = [("record.ros", &before.ros, &now.ros), ("record.raw", &before.raw, &now.raw)];
    for (name, _, path) in paths.into_iter().filter(|(_, before, now)| before != now) {
        let is_name =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if let Some(path) = path.as_ref().filter(|path| !Path::new(path).components().all(is_name))
        {
            let directory = now.directory.display();
            let why = format!(
                "must be in record.directory ({directory}) while the bridge runs, is {path:?}; another place needs a restart, with -p {name}:={path}"
            );
            problems.push(name, why);
        }
    }
    problems
}

struct RecordingControl {
    middleware: Middleware,
    packet_tap: PacketTapSlot,
    active: Mutex<ActiveRecordings>,
}

#[derive(Default)]
struct ActiveRecordings {
    ros: Option<Recording>,
    raw: Option<Recording>,
    /// Threads of these recordings, and of ended ones that may still write.
    threads: Vec<WriterThread>,
}

struct Recording {
    path: PathBuf,
    start: Instant,
    /// The file, or why it could not be created.
    sink: Result<Arc<McapSink>, String>,
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

impl RecordingControl {
    /// Replaces the recordings whose parameters have changed.
    fn replace(&self, new: NewRecordings, settings: &Settings) {
        let active = &mut *self.active.lock();
        active.threads.retain(|thread| !thread.is_finished());
        active.threads.extend(new.threads);
        if let Some(ros) = new.ros {
            active.ros = ros;
            if let Some(recording) = &mut active.ros
                && let Ok(sink) = &recording.sink
            {
                let filter = TopicFilter::new(&settings.params);
                let tap = Arc::new(BagTap { sink: sink.clone(), filter });
                recording.tap = Some(self.middleware.tap(tap));
            }
        }
        if let Some(raw) = new.raw {
            self.packet_tap.set(None);
            active.raw = raw;
            if let Some(Recording { sink: Ok(sink), .. }) = &active.raw {
                let raw = RawRecorder::new(sink.clone(), settings);
                self.packet_tap.set(Some(Arc::new(raw)));
            }
        }
    }
}

/// The recordings of changed parameters: `None` if unchanged, `Some(None)` if the parameter is empty now.
#[derive(Default)]
struct NewRecordings {
    ros: Option<Option<Recording>>,
    raw: Option<Option<Recording>>,
    threads: Vec<WriterThread>,
}

impl NewRecordings {
    fn create(before: &RecordParams, now: &RecordParams) -> Self {
        let mut new = Self::default();
        let threads = &mut new.threads;
        let mut start = |path: &String, is_bag| Recording::start(path, is_bag, now, threads);
        if before.ros != now.ros {
            new.ros = Some(now.ros.as_ref().map(|name| start(name, true)));
        }
        if before.raw != now.raw {
            new.raw = Some(now.raw.as_ref().map(|name| start(name, false)));
        }
        new
    }

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
    /// Creates the file. An error is logged, and the bridge continues.
    fn start(
        path: &str,
        is_bag: bool,
        record: &RecordParams,
        threads: &mut Vec<WriterThread>,
    ) -> Self {
        let path = unused_path(&record.directory.join(path));
        let created = create_file(&path, is_bag, record.compression);
        match &created {
            Ok(_) => tracing::info!("recording {}", path.display()),
            Err(error) => tracing::error!("cannot record {}: {error}", path.display()),
        }
        let sink = created.map_err(|error| error.to_string()).map(|(sink, thread)| {
            threads.push(thread);
            sink
        });
        Self { path, start: Instant::now(), sink, tap: None }
    }
}

/// Creates the raw recording, or the bag `NAME/NAME_0.mcap`, with the directories above it.
fn create_file(
    path: &Path,
    is_bag: bool,
    compression: RecordCompression,
) -> io::Result<(Arc<McapSink>, WriterThread)> {
    if !is_bag {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        return McapSink::create(path, None, compression);
    }
    std::fs::create_dir_all(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = format!("{name}_0.mcap");
    let bag = BagMetadata::new(path.to_owned(), file.clone());
    McapSink::create(&path.join(file), Some(bag), compression)
}

/// The path, with a number if it exists, so that a restarted bridge does not overwrite a recording.
fn unused_path(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension();
    let extension = extension.map_or_else(String::new, |e| format!(".{}", e.to_string_lossy()));
    let numbered =
        (2..).map(|number: u32| path.with_file_name(format!("{stem}-{number}{extension}")));
    let mut paths = std::iter::once(path.to_owned()).chain(numbered);
    paths.find(|path| !path.exists()).unwrap_or_else(|| path.to_owned())
}

struct StopRecordings(Arc<RecordingControl>);

impl Drop for StopRecordings {
    fn drop(&mut self) {
        self.0.packet_tap.set(None);
        let active = std::mem::take(&mut *self.0.active.lock());
        drop((active.ros, active.raw));
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        for thread in &active.threads {
            thread.set_deadline(deadline);
        }
        active.threads.into_iter().for_each(WriterThread::join);
    }
}

struct RecordingStatus {
    control: Arc<RecordingControl>,
    dropped: u64,
}

impl Section for RecordingStatus {
    fn check(&mut self) -> Finding {
        let active = self.control.active.lock();
        let recordings = [("record.ros", &active.ros), ("record.raw", &active.raw)];
        let (mut values, mut errors, mut dropped, mut count) = (Vec::new(), Vec::new(), 0, 0);
        for (name, recording) in recordings {
            let Some(recording) = recording else { continue };
            count += 1;
            values.push(value(name, recording.path.display()));
            let seconds = recording.start.elapsed().as_secs();
            values.push(value(format!("{name} seconds"), seconds));
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
            (_, 1.., _) => (Level::Warn, format!("{new} samples dropped: the disk is too slow")),
            (.., 0) => (Level::Ok, "nothing is recorded".to_owned()),
            (.., n) => (Level::Ok, format!("{n} recordings")),
        };
        Finding { level, message, values }
    }
}
