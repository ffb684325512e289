//! The reference log for tests: each rendered frame with its pose and send time.
//!
//! One JSON object per line. `{"kind":"start"}` begins a run of the simulation clock; `start_ns` is the host time at
//! simulation time 0. `{"kind":"map"}` lists the solids of a loaded map, and `{"kind":"frame"}` describes one frame of one
//! sensor. Positions are in m, NED; quaternions are w, x, y, z from FRD to NED; host times are in ns since 1970.
//! `crc32` covers the uncompressed payload, `sent_crc32` the bytes before fragmentation.
use super::renderer::{body_with_id, spawned};
use super::streams::{DueSensor, SensorFrame};
use super::world::{Scene, Snapshot};
use super::{clock::SimClock, options::EmulatorOptions};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::{path::PathBuf, sync::Arc};

/// The log; does nothing unless enabled.
pub(super) struct Truth {
    map: Option<Arc<Scene>>,
    /// Ids of CopterSim's vehicles.
    coptersim_ids: Vec<u16>,
    lines: Option<BufWriter<File>>,
    frame_directory: Option<PathBuf>,
}

impl Truth {
    pub(super) fn open(options: &EmulatorOptions) -> io::Result<Self> {
        if let Some(directory) = &options.truth_frames {
            fs::create_dir_all(directory)?;
        }
        let lines = options.truth.as_ref().map(File::create).transpose()?.map(BufWriter::new);
        Ok(Self {
            map: None,
            coptersim_ids: options.world.vehicles.iter().map(|v| v.id).collect(),
            lines,
            frame_directory: options.truth_frames.clone(),
        })
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.lines.is_some() || self.frame_directory.is_some()
    }

    /// Logs the start of a run of the simulation clock.
    pub(super) fn log_start(&mut self, clock: &SimClock, options: &EmulatorOptions) {
        self.map = Some(Arc::clone(&options.world.scene));
        self.write_line(&json!({
            "kind": "start",
            "start_ns": clock.start_ns,
            "speed": clock.speed,
            "clock_drift_ppm": options.clock_drift_ppm,
            "map": options.world.scene.name(),
            "solids": solids(&options.world.scene),
        }));
    }

    /// Logs the map if it changed.
    pub(super) fn log_map(&mut self, scene: &Arc<Scene>) {
        if self.map.as_ref().is_some_and(|map| Arc::ptr_eq(map, scene)) {
            return;
        }
        self.map = Some(Arc::clone(scene));
        self.write_line(&json!({"kind": "map", "map": scene.name(), "solids": solids(scene)}));
    }

    /// Logs a frame that was due at `due_ns` and sent at `host_ns`, both by the wall clock; `is_harmed`: at least one
    /// datagram was lost or corrupted, or the shared-memory block was busy.
    pub(super) fn log_frame(
        &mut self,
        sensor: &DueSensor,
        snapshot: &Snapshot,
        frame: &SensorFrame<'_>,
        [host_ns, due_ns]: [u64; 2],
        is_harmed: bool,
    ) {
        let request = &sensor.live.request;
        let sim_ns = (snapshot.time * 1e9).round() as i64;
        let name = format!("{}_{sim_ns}.bin", request.seq_id);
        if let Some(directory) = &self.frame_directory
            && let Err(error) = fs::write(directory.join(&name), frame.raw)
        {
            tracing::warn!(%error, "cannot write a truth frame");
            self.frame_directory = None; // a full disk would fail for each frame
        }
        let carrier = sensor.carrier.and_then(|id| Some((id, snapshot.vehicle(id)?)));
        let vehicle = carrier.map(|(id, motion)| {
            json!({
                "id": id,
                "position": motion.pose.position.as_slice(),
                "quaternion": motion.pose.wxyz(),
                "velocity": motion.velocity.as_slice(),
                "rate": motion.rate.as_slice(),
                "specific_force": motion.specific_force.as_slice(),
            })
        });
        self.write_line(&json!({
            "kind": "frame",
            "seq_id": request.seq_id,
            "type_id": request.type_id,
            "width": request.width,
            "height": request.height,
            "mode": request.send_protocol.mode,
            "window": sensor.live.window,
            "frame_id": frame.id,
            "sim_time": snapshot.time,
            "sim_ns": sim_ns,
            "host_ns": host_ns,
            "due_ns": due_ns,
            "encoding": frame.encoding,
            "length": frame.raw.len(),
            "crc32": crc32fast::hash(frame.raw),
            "sent_length": frame.sent.len(),
            "sent_crc32": crc32fast::hash(frame.sent),
            "harmed": is_harmed,
            "file": self.frame_directory.is_some().then_some(name),
            "sensor": {"position": sensor.pose.position.as_slice(), "quaternion": sensor.pose.wxyz()},
            "vehicle": vehicle,
            "objects": spawned(snapshot, |id| self.coptersim_ids.contains(&id)),
        }));
    }

    pub(super) fn flush(&mut self) {
        if let Some(lines) = &mut self.lines {
            let _ = lines.flush(); // the next write reports the error
        }
    }

    fn write_line(&mut self, value: &Value) {
        let Some(lines) = &mut self.lines else { return };
        if let Err(error) = writeln!(lines, "{value}") {
            tracing::warn!(%error, "cannot write the truth log; logging stops");
            self.lines = None;
        }
    }
}

fn solids(scene: &Scene) -> Vec<Value> {
    scene.solids().iter().map(body_with_id).collect()
}
