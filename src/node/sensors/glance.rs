//! A camera that now and then tells what it shows.
use crate::config::SensorConfig;
use crate::doctor::{Content, Picture};
use crate::frames::SensorMount;
use crate::msgs::sensor_msgs::msg::Image;
use crate::node::clock::host_now;
use crate::ros::Loan;
use crate::sensors::{
    Codec, Decoder, ForeignFrame, Frame, Layout, LentFrame, Sensor, SensorError, Size, View,
};
use crate::time::{RosTime, SimTime};
use crate::wire::{Optics, Payload};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::mpsc;

/// Time between two pictures.
const BETWEEN_NS: i64 = 150_000_000;
/// Time until the first picture, in ns: a start has enough to do.
const FIRST_NS: i64 = 10_000_000_000;
/// Metres per count if the parameter is 0.
const DEFAULT_SCALE: f32 = 0.001;

/// What a camera tells.
pub(super) enum Note {
    Picture(u16, Glance),
    Mount(Box<SensorMount>),
}

/// A picture, as it came.
pub(super) struct Glance {
    pub(super) camera: Arc<About>,
    pub(super) time: SimTime,
    pub(super) fov_deg: f32,
    pub(super) pixels: Pixels,
}

/// What stays as it is while a camera is open.
pub(super) struct About {
    pub(super) form: Form,
    pub(super) vehicle: u16,
    /// Arrival from which on the next picture is due; 0 before the first one.
    pub(super) due: AtomicI64,
}

pub(super) enum Pixels {
    Small(Picture),
    File(Vec<u8>),
}

/// How pixels are read.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) content: Content,
    pub(super) size: Size,
    pub(super) bytes: usize,
    /// Metres per count.
    pub(super) scale: f32,
}

impl Form {
    pub(super) fn of(config: &SensorConfig) -> Option<Self> {
        let row = config.kind.row();
        let (content, bytes) = match row.payload {
            Payload::Bgr8 => (Content::Brightness, 3),
            Payload::Grey8 => (Content::Brightness, 1),
            Payload::Grey16 => (Content::Depth, 2),
            _ => return None,
        };
        let scale = config.other_params[2];
        (row.optics == Optics::Pinhole).then_some(Self {
            content,
            size: Size {
                width: config.width.into(),
                height: config.height.into(),
            },
            bytes,
            scale: if scale > 0.0 { scale } else { DEFAULT_SCALE },
        })
    }

    fn picture(self, size: Size, pixels: &[u8]) -> Option<Picture> {
        if pixels.len() != size.pixels() * self.bytes {
            return None;
        }
        let at = |x: usize, y: usize| {
            let at = (y * size.width + x) * self.bytes;
            match pixels[at..at + self.bytes] {
                [grey] => f32::from(grey),
                [low, high] => match u16::from_le_bytes([low, high]) {
                    0 | u16::MAX => f32::NAN,
                    count => f32::from(count) * self.scale,
                },
                // Green is most of the brightness, and always in the middle.
                [_, green, ..] => f32::from(green),
                [] => f32::NAN,
            }
        };
        Picture::reduced(self.content, (size.width, size.height), at)
    }

    /// A picture of a file; decoding takes milliseconds.
    pub(super) fn decoded(self, file: &[u8]) -> Option<Picture> {
        let mut decoder = Decoder::new(self.size);
        let (size, pixels) = match self.content {
            Content::Depth => decoder.decode_depth(file),
            Content::Brightness if self.bytes == 1 => decoder.decode(file, Layout::Mono8),
            Content::Brightness => decoder.decode(file, Layout::Bgr8),
        }
        .ok()?;
        self.picture(size, pixels)
    }
}

/// A camera that tells of some of its frames while somebody reads them.
pub(super) struct Glanced {
    sensor: Box<dyn Sensor>,
    seq_id: u16,
    about: Arc<About>,
    fov_deg: f32,
    notes: mpsc::Sender<Note>,
}

impl Glanced {
    pub(super) fn new(
        sensor: Box<dyn Sensor>,
        (form, vehicle): (Form, u16),
        config: &SensorConfig,
        notes: mpsc::Sender<Note>,
    ) -> Self {
        let about = About {
            form,
            vehicle,
            due: AtomicI64::new(0),
        };
        Self {
            sensor,
            seq_id: config.seq_id,
            about: Arc::new(about),
            fov_deg: config.fov_deg,
            notes,
        }
    }

    fn is_due(&self, arrival: RosTime) -> bool {
        let due = &self.about.due;
        match due.load(Ordering::Relaxed) {
            0 => {
                due.store(arrival.0 + FIRST_NS, Ordering::Relaxed);
                false
            }
            at => arrival.0 >= at,
        }
    }

    fn tell(&self, frame: &LentFrame, payload: &[u8]) {
        let About { form, due, .. } = &*self.about;
        let pixels = match Codec::of(payload) {
            Some(_) if payload.len() != form.size.pixels() * form.bytes => {
                Some(Pixels::File(payload.to_vec()))
            }
            _ => form.picture(form.size, payload).map(Pixels::Small),
        };
        due.fetch_max(frame.arrival.0 + BETWEEN_NS, Ordering::Relaxed);
        if let Some(pixels) = pixels {
            let glance = Glance {
                camera: self.about.clone(),
                time: frame.sim_time,
                fov_deg: self.fov_deg,
                pixels,
            };
            // Full: another one follows.
            let _full = self.notes.try_send(Note::Picture(self.seq_id, glance));
        }
    }
}

impl Sensor for Glanced {
    fn wanted(&self) -> bool {
        self.sensor.wanted()
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        self.sensor.accept(frame)?;
        if self.is_due(frame.arrival) {
            self.tell(&frame.lent(), frame.payload);
        }
        Ok(())
    }

    fn lend(&self) -> Option<Loan<Image>> {
        self.sensor.lend()
    }

    fn accept_loan(&mut self, loan: Loan<Image>, frame: &LentFrame) -> Result<(), SensorError> {
        if self.is_due(frame.arrival) {
            self.tell(frame, loan.as_ref().get(..frame.len).unwrap_or_default());
        }
        self.sensor.accept_loan(loan, frame)
    }

    fn accept_foreign(&mut self, frame: &ForeignFrame<'_>) -> Option<Result<(), SensorError>> {
        // It does not say when it is from.
        match self.is_due(host_now()) {
            true => None,
            false => self.sensor.accept_foreign(frame),
        }
    }

    fn due(&self) -> Option<RosTime> {
        self.sensor.due()
    }

    fn release(&mut self, now: RosTime) -> Option<Result<(), SensorError>> {
        self.sensor.release(now)
    }

    fn set_view(&mut self, view: &View) {
        if view.fov_deg != self.fov_deg {
            // At once, but not before the first one.
            self.about.due.fetch_min(1, Ordering::Relaxed);
        }
        self.fov_deg = view.fov_deg;
        self.sensor.set_view(view);
    }
}
