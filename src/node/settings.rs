//! Settings of the bridge from the command line and files, or a list of all faults.
use super::camera_pairs::{self, CameraPairs};
use super::files::{Files, NamedFile};
use super::fleet_file::FleetPart;
use super::scene_files::{read_created_objects, read_library};
use super::{calibrations::Calibrations, error::NodeError, host_names};
use crate::config::params::{ImuFrame, StampMode, TerrainRounding};
use crate::config::ros_args::{self, ParamSource, RosArgs};
use crate::config::{
    AngleUnitChoice, ParamValue, Params, Problem, Problems, ResolvedAngleUnit, SensorConfig,
    config_json, doubt_of_degrees, resolve_angle_unit,
};
use crate::frames::{FrameNames, FrameTree, MountOrientation, SensorMount};
use crate::scene::{CreatedObject, Library, Rounding, TerrainMap};
use crate::sensors::{FrameKind, spec_of};
use crate::wire::{NETWORK_GROUP, Ports, SensorKind};
use crate::{config, program::Needs};
use std::collections::{BTreeMap, BTreeSet};
use std::{net::SocketAddrV4, sync::Arc};
use tokio::sync::watch;

/// Default name of the node.
pub const NODE_NAME: &str = "rfly_bridge";

/// How many times a changed request is sent to a running source; requests are not acknowledged.
pub(super) const RESENDS: u8 = 3;

/// Open files of a bridge without sensors and vehicles: middleware, runtimes, log.
const BASE_FILES: u64 = 48;
/// Address space of such a bridge, mostly thread stacks.
const BASE_BYTES: u64 = 96 << 20;

/// Checked parameters and sensors.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Parameters.
    pub params: Params,
    /// Enabled sensors of all configuration files.
    pub sensors: Vec<SensorConfig>,
    /// Valid but suspicious settings.
    pub warnings: Vec<Problem>,
    /// Users' own calibrations of cameras.
    pub calibrations: Calibrations,
    /// Cameras that depend on each other.
    pub pairs: CameraPairs,
    /// Unit of the mounting angles, and how it was determined.
    pub angle_unit: ResolvedAngleUnit,
    /// Ports of the platform.
    pub ports: Ports,
    /// Inputs of these settings.
    pub origin: SettingsInputs,
}

/// Receiver of the current settings; each task has one.
pub(super) type SettingsWatch = watch::Receiver<Arc<Settings>>;

/// Parameters and sensors before they are merged.
#[derive(Clone, Debug, Default)]
pub struct SettingsInputs {
    /// Parameters that were set, in order; the last value of a name wins.
    pub values: Vec<(String, ParamValue)>,
    /// Sensors as in the files or as added at run time, disabled ones included.
    pub sensors: Vec<SensorConfig>,
    /// Sensors of the files that the bridge cannot read and leaves out.
    pub skipped: Vec<Problem>,
    /// `terrain.file`.
    pub terrain: Option<Arc<TerrainMap>>,
    /// Models, maps and named poses.
    pub library: Library,
    /// Objects that the renderer created.
    pub created: Vec<CreatedObject>,
    /// Contents of the files of `config`, `terrain.file` and `scene.file`.
    pub files: Arc<Vec<NamedFile>>,
    /// The vehicles of a running bridge; `None` before the start, when parameters and sensors name them.
    pub served: Option<Vec<u16>>,
    /// `fleet.file`.
    pub fleet: Option<Arc<FleetPart>>,
}

/// Limit of parameters, because each unknown name is compared with all known names.
const MAX_PARAMETERS: usize = 10_000;

impl Settings {
    /// Reads parameter files, applies `-p`, reads Config.json files.
    pub fn load(args: &RosArgs) -> Result<Self, NodeError> {
        let name = args.node_name.as_deref().unwrap_or(NODE_NAME);
        let namespace = args.namespace.as_deref().unwrap_or("/").trim_end_matches('/');
        let node = format!("{namespace}/{name}");
        let mut files = Files::default();
        let mut values = read_values(args, &[&node], &mut files);
        let mut fleet = FleetPart::expand(&mut values, &mut files);
        if let (Some(part), None) = (&fleet, &args.node_name) {
            // The fleet file gives the node its name, by which parameter files may name it, too.
            let own = format!("{namespace}/{}", name_on_host(part));
            files = Files::default();
            values = read_values(args, &[&node, &own], &mut files);
            fleet = FleetPart::expand(&mut values, &mut files);
        }
        let (mut problems, warnings) = (files.problems, files.warnings);
        if values.len() > MAX_PARAMETERS {
            let many = format!("are {}, must be at most {MAX_PARAMETERS}", values.len());
            problems.push("parameters", many);
            return Err(problems.into());
        }
        host_names::resolve(&mut values, &mut problems);
        let params = problems.keep(Params::from_values(&values)).unwrap_or_default();
        let mut settings = Self::with_params(problems.or(params)?)?;
        if let Some(part) = &fleet {
            let carrier = |sensor: &SensorConfig| settings.vehicle_of(sensor);
            let frames = part.fleet.sensor_frames(&part.host, &settings.sensors, carrier)?;
            values.splice(0..0, frames);
            settings = settings.with_params_changed(Params::from_values(&values)?)?;
        }
        (settings.origin.values, settings.origin.fleet) = (values, fleet);
        settings.warnings.extend(warnings);
        Ok(settings)
    }

    /// Reads the Config.json files that the parameters name.
    pub fn with_params(params: Params) -> Result<Self, NodeError> {
        let mut files = Files::default();
        let paths = params.config.iter();
        let texts: Vec<_> = paths.filter_map(|path| files.load_text("config", path)).collect();
        let (loaded, found) = config_json::inspect(&texts, &params.vendor_overrides());
        files.problems.0.extend(found.0);
        let terrain = read_terrain(&params, &mut files);
        let library = read_library(&params, &mut files);
        let created = read_created_objects(&params, &mut files);
        let loaded = files.problems.or(loaded)?;
        let mut warnings = loaded.warnings;
        warnings.extend(files.warnings);
        warnings.extend(loaded.skipped.iter().cloned());
        if params.config.is_empty() {
            warnings.push(Problem::new("config", "names no file: no sensors except the IMU"));
        }
        if params.use_sim_time && params.time.mode != StampMode::Sim {
            let why = "is true, but time.mode is not sim: the bridge stamps with the host's clock and publishes no /clock, for which nodes \
                       with use_sim_time wait forever; set time.mode:=sim, or use_sim_time:=false everywhere";
            warnings.push(Problem::new("use_sim_time", why));
        }
        let is_enabled = |s: &SensorConfig| params.sensor(s.seq_id).enabled.unwrap_or(true);
        if params.frames.mount_angle_unit == AngleUnitChoice::Degrees {
            let sensors = loaded.sensors.iter().filter(|s| is_enabled(s));
            let doubt = doubt_of_degrees(&sensors.cloned().collect::<Vec<_>>());
            warnings.extend(doubt.map(|why| Problem::new("mount_angle_unit", why)));
        }
        let origin = SettingsInputs {
            values: Vec::new(),
            sensors: loaded.sensors,
            terrain,
            library,
            created,
            files: Arc::new(files.loaded),
            skipped: loaded.skipped,
            served: None,
            fleet: None,
        };
        let calibrations = Calibrations::default();
        Ok(Self::assemble(params, origin, warnings, &calibrations)?)
    }

    /// Returns the settings of a running bridge with other parameters and the same files and vehicles.
    /// Errors: parameters that do not fit the sensors, sensors on vehicles that are not served, a changed type from or to a pod.
    pub fn changed(&self, params: Params) -> Result<Self, Problems> {
        let served = self.vehicles();
        let mut changed = self.with_params_changed(params)?;
        let mut problems = Problems::default();
        for sensor in &changed.sensors {
            if let Some(vehicle) = sensor.mount.vehicle().filter(|id| !served.contains(id)) {
                let known: Vec<_> = served.iter().map(u16::to_string).collect();
                let why = format!(
                    "must be a vehicle that the bridge serves ({}), is {vehicle}; restart with vehicles:=[..] for others",
                    known.join(", ")
                );
                problems.push(format!("sensor{}.vehicle", sensor.seq_id), why);
            }
        }
        let is_pod = |sensor: &SensorConfig| sensor.kind == SensorKind::Pod;
        for (old, new) in self.sensors.iter().zip(&changed.sensors) {
            if is_pod(old) != is_pod(new) {
                let (seq_id, type_id) = (new.seq_id, new.kind.type_id());
                let why = format!(
                    "cannot change from or to 9 (pod) while the bridge runs, because a pod has topics of a gimbal; restart needed, \
                     with -p sensor{seq_id}.type_id:={type_id}"
                );
                problems.push(format!("sensor{seq_id}.type_id"), why);
            }
        }
        changed.origin.served = Some(served);
        problems.or(changed)
    }

    /// Returns the settings of a running bridge with one more sensor.
    /// Errors: faults of [`Self::changed`], and properties that only sensors in the files may have.
    pub fn with_sensor(&self, sensor: SensorConfig) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        if sensor.kind == SensorKind::Pod {
            let why = "9 (pod) cannot be added while the bridge runs, because a pod has topics of a gimbal; write it into a file of \
                       `config`, and restart";
            problems.push("row.TypeID", why);
        }
        let mut changed = self.clone();
        changed.origin.sensors.push(sensor);
        let found = problems.keep(changed.changed(self.params.clone()));
        let found = found.unwrap_or_else(|| self.clone());
        if found.angle_unit.unit != self.angle_unit.unit {
            let why = "changes the unit that mount_angle_unit:=auto finds for all sensors; set mount_angle_unit";
            problems.push("row.SensorAngEular", why);
        }
        problems.or(found)
    }

    /// Returns the settings with other parameters and the same files, before the bridge runs.
    pub(super) fn with_params_changed(&self, params: Params) -> Result<Self, Problems> {
        let found =
            Self::assemble(params, self.origin.clone(), self.warnings.clone(), &self.calibrations)?;
        Ok(Self { ports: self.ports, ..found })
    }

    fn assemble(
        params: Params,
        origin: SettingsInputs,
        warnings: Vec<Problem>,
        calibrations: &Calibrations,
    ) -> Result<Self, Problems> {
        let (entries, mut problems) = params.changed_entries(&origin.sensors);
        problems.keep(params.check_sensors(&entries));
        let is_enabled = |s: &&SensorConfig| params.sensor(s.seq_id).enabled.unwrap_or(true);
        let file_entries: Vec<_> = origin.sensors.iter().filter(is_enabled).cloned().collect();
        // Only the files determine the unit: angles in parameters are always in degrees.
        let angle_unit = resolve_angle_unit(&file_entries, params.frames.mount_angle_unit);
        let mut sensors: Vec<_> = entries.iter().filter(is_enabled).cloned().collect();
        for (sensor, file_entry) in sensors.iter_mut().zip(&file_entries) {
            let [written, unit] = [file_entry, &*sensor].map(|s| unit_of(s, &angle_unit));
            config::convert_angles(sensor, written, unit);
            params.sensor(sensor.seq_id).apply(sensor, unit);
        }
        let calibrations = Calibrations::read(&params, &sensors, calibrations, &mut problems);
        let mounts = sensors.iter().map(|s| mount(s, &params, &angle_unit));
        let pairs = CameraPairs::find(&params, &sensors, &mounts.collect::<Vec<_>>());
        let pairs = problems.keep(pairs).unwrap_or_default();
        problems.or(Self {
            ports: params.ports,
            params,
            sensors,
            warnings,
            calibrations,
            pairs,
            angle_unit,
            origin,
        })
    }

    /// Returns the default name of the node, which the command line may replace.
    pub fn node_name(&self) -> String {
        let fleet = self.origin.fleet.as_deref();
        fleet.map_or_else(|| NODE_NAME.to_owned(), name_on_host)
    }

    /// Returns the unit of the angles in a sensor's request.
    pub fn unit_of(&self, sensor: &SensorConfig) -> config::AngleUnit {
        unit_of(sensor, &self.angle_unit)
    }

    /// Returns the vehicles that the bridge serves, in ascending order, at least one.
    pub fn vehicles(&self) -> Vec<u16> {
        if let Some(served) = &self.origin.served {
            return served.clone();
        }
        let mut vehicles = self.params.vehicles.clone();
        vehicles.extend(self.sensors.iter().filter_map(|s| s.mount.vehicle()));
        vehicles.sort_unstable();
        vehicles.dedup();
        if vehicles.is_empty() {
            vehicles.push(1);
        }
        vehicles
    }

    /// Returns the address to which requests for sensors are sent.
    pub(super) fn renderer(&self) -> SocketAddrV4 {
        self.window(self.params.window.into())
    }

    /// Returns the addresses of the windows that draw entities of the bridge.
    pub(super) fn draw_windows(&self) -> Vec<SocketAddrV4> {
        let (params, ports) = (&self.params, &self.ports);
        if params.scene.network {
            return vec![SocketAddrV4::new(NETWORK_GROUP, ports.network_windows)];
        }
        let windows: BTreeSet<_> =
            params.scene.windows.iter().map(|number| self.window(*number)).collect();
        windows.into_iter().collect()
    }

    /// Returns the address of one window; with `redis.renderer` all windows have the address of the renderer.
    pub(super) fn window(&self, window: u16) -> SocketAddrV4 {
        let window = if self.params.redis.renderer { self.params.window.into() } else { window };
        SocketAddrV4::new(self.params.simulator_address, self.ports.window(window))
    }

    /// Returns the approximate system resources these settings need.
    pub fn needs(&self) -> Needs {
        let streams = self.sensors.iter().filter(|s| s.transport.is_udp()).count();
        let sockets = streams + 3 * self.vehicles().len();
        let frame = |s: &SensorConfig| 4 * u64::from(s.width) * u64::from(s.height);
        Needs {
            files: BASE_FILES + sockets as u64,
            bytes: BASE_BYTES + self.sensors.iter().map(frame).sum::<u64>(),
        }
    }

    /// Returns the vehicle that carries a sensor, directly or through other sensors; `None` for a sensor on the ground.
    pub fn vehicle_of(&self, sensor: &SensorConfig) -> Option<u16> {
        let carriers: BTreeMap<u16, config::Mount> =
            self.sensors.iter().map(|s| (s.seq_id, s.mount)).collect();
        let mut mount = sensor.mount;
        // A chain is no longer than the list of sensors: the configuration refuses cycles.
        for _ in 0..=self.sensors.len() {
            match mount {
                config::Mount::Sensor(carrier) => mount = *carriers.get(&carrier)?,
                other => return other.vehicle(),
            }
        }
        None
    }

    /// Returns the inputs of the frame tree.
    pub fn frame_names(&self) -> FrameNames {
        let f = &self.params.frames;
        FrameNames {
            map: f.map.clone(),
            odom: f.odom.clone(),
            base_link: f.base.clone(),
            imu_link: self.params.imu.frame_id.clone(),
            prefix: f.prefix_template(self.vehicles().len()).to_owned(),
            world: f.world,
            bottom_m: f.vehicle_bottom_m,
            publishes_pose: f.tf_source != config::params::TfSource::External,
            local_origin: self.params.control.local_frame.clone(),
            autopilots: self.autopilots_with_frame(),
            ..FrameNames::default()
        }
    }

    /// The controlled vehicles with their own `local_origin`; none if positions are in the map frame, as with `mavros_quirks`.
    fn autopilots_with_frame(&self) -> BTreeSet<u16> {
        let params = &self.params;
        if params.mavros_quirks || params.control.local_frame == params.frames.map {
            return BTreeSet::new();
        }
        let vehicles = self.vehicles().into_iter();
        vehicles.filter(|id| *params.control_link(*id) != config::ControlLink::Off).collect()
    }

    pub(super) fn frame_tree(&self) -> Result<FrameTree, NodeError> {
        let (names, vehicles) = (self.frame_names(), self.vehicles());
        FrameTree::new(names, &vehicles, &self.mounts()).map_err(NodeError::Frames)
    }

    /// Returns the name of a sensor's main topic, before namespace and remapping.
    pub fn sensor_topic(&self, sensor: &SensorConfig) -> String {
        let prefix = &self.params.topic_prefix;
        match self.params.sensor(sensor.seq_id).topic {
            Some(topic) => topic_below(prefix, &topic),
            None => spec_of(sensor.kind).default_topic(prefix, sensor.seq_id),
        }
    }

    /// Returns the name of a vehicle's topic, before namespace and remapping.
    pub fn vehicle_topic(&self, vehicle: u16, topic: &str) -> String {
        let prefix = &self.params.topic_prefix;
        match self.vehicles().len() {
            1 => topic_below(prefix, topic),
            _ => topic_below(&format!("{prefix}/copter{vehicle}"), topic),
        }
    }

    /// Returns the frame of a vehicle's IMU.
    pub fn imu_frame(&self, tree: &FrameTree, vehicle: u16) -> String {
        match self.params.imu.frame {
            ImuFrame::Flu => tree.imu_link(vehicle),
            ImuFrame::Frd => tree.base_link(vehicle) + "_frd",
        }
    }

    /// Returns the mounts of the sensors.
    pub fn mounts(&self) -> Vec<SensorMount> {
        self.sensors.iter().map(|sensor| self.mount(sensor)).collect()
    }

    /// Returns the focal length of a fisheye as a fraction of width / field of view.
    pub fn fisheye_factor(&self, sensor: &SensorConfig) -> f64 {
        let factor = self.params.sensor(sensor.seq_id).fisheye_factor;
        factor.unwrap_or(self.params.fisheye_factor)
    }

    /// Returns whether two cameras may be declared a stereo pair.
    pub fn are_rectified(&self, left: &SensorConfig, right: &SensorConfig) -> bool {
        camera_pairs::are_rectified((left, &self.mount(left)), (right, &self.mount(right)))
    }

    /// Returns whether two cameras see the same scene with the same pixels.
    pub fn coincide(&self, first: &SensorConfig, second: &SensorConfig) -> bool {
        camera_pairs::coincide((first, &self.mount(first)), (second, &self.mount(second)))
    }

    fn mount(&self, sensor: &SensorConfig) -> SensorMount {
        mount(sensor, &self.params, &self.angle_unit)
    }
}

/// Returns the name of the node on its host of a fleet.
fn name_on_host(part: &FleetPart) -> String {
    format!("{NODE_NAME}_{}", part.host.name)
}

/// Returns the values of the command line and of the parameter files' sections for these nodes.
fn read_values(args: &RosArgs, nodes: &[&str], files: &mut Files) -> Vec<(String, ParamValue)> {
    let mut values = Vec::new();
    for source in &args.sources {
        match source {
            ParamSource::Value(name, value) => values.push((name.clone(), value.clone())),
            ParamSource::File(path) => {
                if let Some((file, text)) = files.load_text("params-file", path) {
                    let found = ros_args::params_of_file(&file, &text, nodes);
                    values.extend(files.problems.keep(found).unwrap_or_default());
                }
            }
        }
    }
    values
}

fn mount(sensor: &SensorConfig, params: &Params, angle_unit: &ResolvedAngleUnit) -> SensorMount {
    let unit = unit_of(sensor, angle_unit);
    let link = params.sensor(sensor.seq_id).frame_id;
    let optical_of =
        |link: &String| format!("{}_optical_frame", link.strip_suffix("_link").unwrap_or(link));
    SensorMount {
        seq_id: sensor.seq_id,
        mount: sensor.mount,
        position_frd: sensor.position_frd,
        orientation: match sensor.orientation {
            config::MountOrientation::Euler(angles) => {
                MountOrientation::Euler(angles.map(|a| unit.to_radians(a)))
            }
            config::MountOrientation::Quaternion(q) => MountOrientation::Quaternion(q),
        },
        optical: spec_of(sensor.kind).topics.iter().any(|t| t.frame == FrameKind::Optical),
        moving: sensor.kind == SensorKind::Pod,
        optical_frame: link.as_ref().map(optical_of),
        link,
    }
}

/// The simulator reads the pod's angles in degrees, whatever the unit of other sensors (docs/wire/traps.md, angle-unit).
fn unit_of(sensor: &SensorConfig, resolved: &ResolvedAngleUnit) -> config::AngleUnit {
    match sensor.kind {
        SensorKind::Pod => config::AngleUnit::Degrees,
        _ => resolved.unit,
    }
}

/// Returns the full name of a topic; an absolute name is kept.
pub(super) fn topic_below(prefix: &str, name: &str) -> String {
    if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("{}/{name}", prefix.trim_end_matches('/'))
    }
}

/// Reads `<map>.png` and `<map>.txt` in the same folder.
fn read_terrain(params: &Params, files: &mut Files) -> Option<Arc<TerrainMap>> {
    let image = params.terrain_file.as_ref()?;
    let text = files.load_text("terrain.file", &image.with_extension("txt"));
    let png = files.load_bytes("terrain.file", image);
    let rounding = match params.terrain_rounding {
        TerrainRounding::Cut => Rounding::Cut,
        TerrainRounding::Nearest => Rounding::Nearest,
    };
    let map = TerrainMap::parse(&png?, &text?.1, rounding);
    let map = map.map_err(|error| {
        files.problems.push("terrain.file", format!("{}: {error}", image.display()));
    });
    map.ok().map(Arc::new)
}
