//! The reference log for tests: each rendered frame with its pose and send time.
//!
//! One JSON object per line. `{"kind":"start"}` opens each run of the simulation clock with the wall clock at time 0,
//! `{"kind":"map"}` says what stands in a map that was loaded, and `{"kind":"frame"}` describes one frame of one sensor. Positions are m in NED, quaternions w, x, y, z from FRD to
//! NED, times of the host ns since 1970. `crc32` is that of the uncompressed payload, `sent_crc32` that of the bytes
//! before fragmentation.
use super::options::EmulatorOptions;
use super::stage::{body, spawned};
use super::world::{Kinematics, Pose, Scene, Snapshot, Solid};
use crate::wire::SensorRequest;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

/// The log; does nothing unless enabled.
pub(super) struct Truth {
    /// The logged map.
    map: Option<Arc<Scene>>,
    /// Ids of CopterSim's vehicles.
    own: Vec<u16>,
    lines: Option<BufWriter<File>>,
    frames: Option<PathBuf>,
}

/// The logged data of one frame.
pub(super) struct FrameTruth<'a> {
    pub(super) request: &'a SensorRequest,
    pub(super) window: usize,
    pub(super) frame_id: i32,
    pub(super) sim_time: f64,
    pub(super) host_ns: u64,
    /// Wall clock in ns at `sim_time`.
    pub(super) due_ns: u64,
    pub(super) pose: &'a Pose,
    pub(super) snapshot: &'a Snapshot,
    pub(super) vehicle: Option<(u16, &'a Kinematics)>,
    pub(super) encoding: &'static str,
    pub(super) raw: &'a [u8],
    pub(super) sent: &'a [u8],
    /// A fault hit at least one datagram, or the shared block was busy.
    pub(super) harmed: bool,
}

impl Truth {
    pub(super) fn open(options: &EmulatorOptions) -> io::Result<Self> {
        if let Some(directory) = &options.truth_frames {
            fs::create_dir_all(directory)?;
        }
        let lines = options.truth.as_ref().map(File::create).transpose()?.map(BufWriter::new);
        Ok(Self {
            map: None,
            own: options.world.vehicles.iter().map(|v| v.id).collect(),
            lines,
            frames: options.truth_frames.clone(),
        })
    }

    pub(super) fn wanted(&self) -> bool {
        self.lines.is_some() || self.frames.is_some()
    }

    /// Logs the start of a run of the simulation clock.
    pub(super) fn start(&mut self, start_ns: u64, options: &EmulatorOptions) {
        self.map = Some(Arc::clone(&options.world.scene));
        self.line(&json!({
            "kind": "start",
            "start_ns": start_ns,
            "speed": options.speed,
            "clock_drift_ppm": options.clock_drift_ppm,
            "map": options.world.scene.name(),
            "solids": solids(&options.world.scene),
        }));
    }

    /// Logs the map from now on, if it is another one.
    pub(super) fn map(&mut self, scene: &Arc<Scene>) {
        let known = self.map.as_ref();
        if known.is_some_and(|map| Arc::ptr_eq(map, scene)) {
            return;
        }
        self.map = Some(Arc::clone(scene));
        self.line(&json!({"kind": "map", "map": scene.name(), "solids": solids(scene)}));
    }

    /// Logs a frame.
    pub(super) fn frame(&mut self, frame: &FrameTruth<'_>) {
        let sim_ns = (frame.sim_time * 1e9).round() as i64;
        let name = format!("{}_{sim_ns}.bin", frame.request.seq_id);
        if let Some(directory) = &self.frames
            && let Err(error) = fs::write(directory.join(&name), frame.raw)
        {
            tracing::warn!(%error, "cannot write a truth frame");
            self.frames = None; // a full disk would fail for each frame
        }
        let vehicle = frame.vehicle.map(|(id, motion)| {
            json!({
                "id": id,
                "position": motion.pose.position.as_slice(),
                "quaternion": motion.pose.wxyz(),
                "velocity": motion.velocity.as_slice(),
                "rate": motion.rate.as_slice(),
                "specific_force": motion.specific_force.as_slice(),
            })
        });
        self.line(&json!({
            "kind": "frame",
            "seq_id": frame.request.seq_id,
            "type_id": frame.request.type_id,
            "width": frame.request.width,
            "height": frame.request.height,
            "mode": frame.request.send_protocol.mode,
            "window": frame.window,
            "frame_id": frame.frame_id,
            "sim_time": frame.sim_time,
            "sim_ns": sim_ns,
            "host_ns": frame.host_ns,
            "due_ns": frame.due_ns,
            "encoding": frame.encoding,
            "length": frame.raw.len(),
            "crc32": crc32fast::hash(frame.raw),
            "sent_length": frame.sent.len(),
            "sent_crc32": crc32fast::hash(frame.sent),
            "harmed": frame.harmed,
            "file": self.frames.is_some().then_some(name),
            "sensor": {"position": frame.pose.position.as_slice(), "quaternion": frame.pose.wxyz()},
            "vehicle": vehicle,
            "objects": spawned(frame.snapshot, |id| self.own.contains(&id)),
        }));
    }

    /// Flushes the log to its file.
    pub(super) fn flush(&mut self) {
        if let Some(lines) = &mut self.lines {
            let _ = lines.flush(); // the next write reports it
        }
    }

    fn line(&mut self, value: &Value) {
        let Some(lines) = &mut self.lines else { return };
        if let Err(error) = writeln!(lines, "{value}") {
            tracing::warn!(%error, "cannot write the truth log; logging stops");
            self.lines = None;
        }
    }
}

fn solids(scene: &Scene) -> Vec<Value> {
    let solid = |solid: &Solid| {
        let mut logged = body(solid);
        logged["id"] = json!(solid.object.id());
        logged
    };
    scene.solids().iter().map(solid).collect()
}
