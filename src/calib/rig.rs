//! One vehicle: its sensors, frames and names of topics.
use super::{CalibOutput, SensorChoice};
use crate::config::params::{QosGroup, Reliability, StampMode};
use crate::config::{Mount, Problem, Problems, SensorConfig};
use crate::frames::{FrameTree, Transform};
use crate::node::{NodeError, Settings};
use crate::ros::{RosError, names::Resolver};
use crate::wire::SensorKind;

/// Gravity in m/s², as in the emulator and the models of CopterSim; PX4, and vehicles that the bridge flies, have 9.80665.
pub(super) const GRAVITY: f64 = 9.81;

pub(super) struct Rig<'a> {
    pub(super) settings: &'a Settings,
    pub(super) choice: &'a SensorChoice,
    pub(super) vehicle: u16,
    pub(super) tree: FrameTree,
    names: &'a Resolver,
}

impl<'a> Rig<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        names: &'a Resolver,
        choice: &'a SensorChoice,
    ) -> Result<Self, NodeError> {
        let vehicles = settings.vehicles();
        let tree = FrameTree::new(settings.frame_names(), &vehicles, &settings.mounts())
            .map_err(NodeError::Frames)?;
        let rig = Self {
            settings,
            choice,
            vehicle: choice.vehicle.or(vehicles.first().copied()).unwrap_or(1),
            tree,
            names,
        };
        if vehicles.contains(&rig.vehicle) {
            return Ok(rig);
        }
        let known: Vec<_> = vehicles.iter().map(u16::to_string).collect();
        let message = format!("not configured; configured: {}", known.join(", "));
        let problem = Problem::new(format!("vehicle {}", rig.vehicle), message);
        Err(Problems(vec![problem]).into())
    }

    /// Returns the full name of a topic.
    pub(super) fn resolve(&self, topic: &str) -> Result<String, Problem> {
        let problem = |error: RosError| Problem::new(topic, error.to_string());
        self.names.resolve(topic).map_err(problem)
    }

    /// Returns the full name of a topic or service of the vehicle's autopilot.
    pub(super) fn autopilot_name(&self, topic: &str) -> Result<String, Problem> {
        let prefix = self.settings.params.control_prefix(self.vehicle);
        self.resolve(&format!("{}/{topic}", prefix.trim_end_matches('/')))
    }

    /// Returns the name of the vehicle's `base_link`.
    pub(super) fn base(&self) -> String {
        self.tree.base_link(self.vehicle)
    }

    /// Returns the sensors of the vehicle, in the order of the configuration.
    pub(super) fn sensors(&self) -> impl Iterator<Item = &'a SensorConfig> + '_ {
        let is_on_vehicle = |s: &&SensorConfig| self.settings.vehicle_of(s) == Some(self.vehicle);
        self.settings.sensors.iter().filter(is_on_vehicle)
    }

    /// Returns the vehicle's sensor `seq_id`; an error names the command-line `option`.
    pub(super) fn sensor(&self, option: &str, seq_id: u16) -> Result<&'a SensorConfig, Problem> {
        let found = self.sensors().find(|s| s.seq_id == seq_id);
        found.ok_or_else(|| {
            let known: Vec<_> = self.sensors().map(|s| s.seq_id.to_string()).collect();
            let known = known.join(", ");
            let vehicle = self.vehicle;
            let message = format!("vehicle {vehicle} has no sensor {seq_id}; it has: {known}");
            Problem::new(option, message)
        })
    }

    /// Checks that a sensor is fixed on the vehicle.
    pub(super) fn check_rigid(&self, sensor: &SensorConfig) -> Result<(), Problem> {
        let mut current = sensor;
        let why = loop {
            if current.kind == SensorKind::Pod {
                break "turns in its mount (TypeID 9)";
            }
            match current.mount {
                Mount::VehicleCentre(_) | Mount::VehicleBottom(_) => return Ok(()),
                Mount::VehicleLevel(_) => break "stays level (TargetMountType 3)",
                Mount::Ground(_) => break "stands on the ground (TargetMountType 2)",
                Mount::Sensor(carrier) => match self.sensors().find(|s| s.seq_id == carrier) {
                    Some(carrier) => current = carrier,
                    None => break "is carried by no sensor of the vehicle",
                },
            }
        };
        let carried = match current.seq_id {
            id if id == sensor.seq_id => String::new(),
            id => format!("is carried by sensor {id}, which "),
        };
        let message = format!("{carried}{why}, so its pose on the vehicle is not constant");
        Err(Problem::new(format!("sensor {}", sensor.seq_id), message))
    }

    /// Warns if a topic is published with best effort, which a reliable subscription does not match.
    pub(super) fn warn_if_best_effort(
        &self,
        group: QosGroup,
        topic: &str,
        output: &mut CalibOutput,
    ) {
        if self.settings.params.qos.of(group, topic).reliability == Reliability::BestEffort {
            output.warn(format!(
                "{topic} is published with best effort (qos.{}.reliability or qos_overrides), the consumer subscribes reliably \
                 and receives nothing",
                group.name()
            ));
        }
    }

    /// Warns if the sensor is mounted at the vehicle's bottom, and `vehicle_bottom_m` (its height in `base_link`) is not set.
    pub(super) fn warn_if_bottom_unknown(&self, sensor: &SensorConfig, output: &mut CalibOutput) {
        let is_unknown = self.settings.params.frames.vehicle_bottom_m == 0.0;
        if is_unknown && matches!(sensor.mount, Mount::VehicleBottom(_)) {
            output.warn(format!(
                "vehicle_bottom_m is 0, but sensor {} is mounted at the vehicle's bottom (TargetMountType 1): the files have \
                 its pose as if base_link were there",
                sensor.seq_id
            ));
        }
    }

    /// Returns the pose of a frame in the vehicle's `base_link`.
    pub(super) fn pose_in_base(&self, frame: &str) -> Result<Transform, Problem> {
        let pose = self.tree.lookup(&self.base(), frame);
        pose.ok_or_else(|| Problem::new(frame, format!("has no constant pose in {}", self.base())))
    }

    /// Returns the pose of a frame of the vehicle in the frame of its IMU.
    pub(super) fn pose_in_imu(&self, frame: &str) -> Result<Transform, Problem> {
        let imu = self.settings.imu_frame(&self.tree, self.vehicle);
        Ok(self.pose_in_base(&imu)?.inverse() * self.pose_in_base(frame)?)
    }

    /// Warns of a stamp mode that every consumer must take into account.
    pub(super) fn add_common_warnings(&self, output: &mut CalibOutput) {
        match self.settings.params.time.mode {
            StampMode::Aligned => {}
            StampMode::Sim => {
                output.warn("time.mode is sim: give the consumer use_sim_time:=true, too");
            }
            StampMode::Arrival => output.warn(
                "time.mode is arrival: stamps include the delay of the transport, which differs between sensors; the files \
                 have an offset of 0, which is right for aligned and sim",
            ),
        }
    }
}
