//! From named values to [`Params`].
use super::check::{check, network};
use super::families;
use super::reader::{Reader, spec};
use super::together::check_together;
use super::{
    ControlParams, DegradeParams, DepthEncoding, DepthParams, FrameParams, ImuNoiseParams,
    ImuParams, ModelParams, NetSimParams, ParamValue, Params, RecordParams, RedisParams,
    ReportParams, RequestParams, RgbEncoding, ScanParams, ScanSource, SceneParams, SetpointParams,
    TimeParams, ViewParams,
};
use crate::config::config_json::RowChange;
use crate::config::{ControlLink, Mount, Problems, SensorConfig, config_json};
use crate::wire::{Optics, Payload, Ports, SensorKind};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Builds the typed parameters from checked values.
pub(super) fn build(r: &Reader) -> Params {
    Params {
        config: r.texts("config").into_iter().map(PathBuf::from).collect(),
        ports: ports(
            r.int("control.base_port") as u16,
            r.int("model.base_port") as u16,
        ),
        simulator_address: r
            .address("simulator_address")
            .unwrap_or(Ipv4Addr::LOCALHOST),
        window: r.int("window") as u8,
        config_unsupported: r.choice("config.unsupported"),
        transport_mode: r.choice("transport_mode"),
        receive_address: r.address("receive_address"),
        true_state_enabled: r.bool("true_state.enabled"),
        model_outputs: r.bool("model.outputs"),
        forward_to: r.address("forward_to"),
        receive_buffer_bytes: r.int("receive_buffer_bytes") as usize,
        accept_from: (r.list("accept_from").iter())
            .filter_map(|v| match v {
                ParamValue::Str(text) => network(text),
                _ => None,
            })
            .collect(),
        bind_address: r.address("bind_address"),
        vehicles: r.ids("vehicles"),
        other_vehicles: r.ids("other_vehicles"),
        clear_capture_on_start: r.bool("clear_capture_on_start"),
        request: RequestParams {
            period: r.duration("request.period_s"),
            timeout: r.duration("request.timeout_s"),
            piece_bytes: u16::try_from(r.int("request.piece_bytes")).ok(),
            format: r.choice("request.format"),
            foreign: r.choice("request.foreign"),
        },
        topic_prefix: r.string("topic_prefix"),
        rgb_encoding: r.choice("rgb.encoding"),
        fisheye_factor: r.float("fisheye.factor"),
        depth: DepthParams {
            encoding: r.choice("depth.encoding"),
            publish_float: r.bool("depth.publish_float"),
            registered: r.bool("depth.registered"),
        },
        compressed_enabled: r.bool("compressed.enabled"),
        image_allow_larger: r.bool("image.allow_larger"),
        cloud_layout: r.choice("cloud.layout"),
        cloud_scan_time: r.choice("cloud.scan_time"),
        cloud_organized: r.choice("cloud.organized"),
        cloud_label: r.choice("cloud.label"),
        cloud_segmentation: r.choice("cloud.segmentation"),
        cloud_fourth: r.choice("cloud.fourth"),
        cloud_depth_axes: r.choice("cloud.depth_axes"),
        cloud_global_odometry_topic: r.string("cloud.global_odometry_topic"),
        cloud_odometry_axes: r.choice("cloud.odometry_axes"),
        cloud_odometry_topic: r.string("cloud.odometry_topic"),
        scan: ScanParams {
            source: r.choice("scan.source"),
            ring: u16::try_from(r.int("scan.ring")).ok(),
            min_height: r.float("scan.min_height"),
            max_height: r.float("scan.max_height"),
            angle_min: r.float("scan.angle_min"),
            angle_max: r.float("scan.angle_max"),
            angle_increment: r.float("scan.angle_increment"),
            range_min: r.float("scan.range_min"),
            range_max: r.float("scan.range_max"),
            use_inf: r.bool("scan.use_inf"),
        },
        terrain_file: path(r.string("terrain.file")),
        terrain_rounding: r.choice("terrain.rounding"),
        terrain_occupied_above_m: r.float("terrain.occupied_above_m"),
        imu: ImuParams {
            enabled: r.bool("imu.enabled"),
            rate_hz: r.int("imu.rate_hz") as u16,
            topic: r.string("imu.topic"),
            frame_id: r.string("imu.frame_id"),
            frame: r.choice("imu.frame"),
            acceleration_axes: r.choice("imu.acceleration_axes"),
            orientation: r.choice("imu.orientation"),
            angular_velocity_covariance: r.covariance("imu.angular_velocity_covariance"),
            linear_acceleration_covariance: r.covariance("imu.linear_acceleration_covariance"),
            noise: ImuNoiseParams {
                accelerometer_density: r.float("imu.accelerometer_noise_density"),
                accelerometer_walk: r.float("imu.accelerometer_random_walk"),
                gyroscope_density: r.float("imu.gyroscope_noise_density"),
                gyroscope_walk: r.float("imu.gyroscope_random_walk"),
                accelerometer_bias: r.vector("imu.accelerometer_bias"),
                gyroscope_bias: r.vector("imu.gyroscope_bias"),
            },
        },
        reports: ReportParams {
            demand: r.choice("reports.demand"),
            vehicles: r.numbers("reports.vehicles"),
            objects: r.texts("reports.objects"),
            bounds: r.choice("reports.bounds"),
        },
        degrade: DegradeParams {
            seed: r.int("degrade.seed").unsigned_abs(),
            latency: r.duration("degrade.latency_s"),
            jitter: r.duration("degrade.jitter_s"),
            drop: r.float("degrade.drop"),
            depth_noise_m: r.float("degrade.depth_noise_m"),
            depth_noise_per_m: r.float("degrade.depth_noise_per_m"),
            lidar_noise_m: r.float("degrade.lidar_noise_m"),
            lidar_dropout: r.float("degrade.lidar_dropout"),
            gps_noise_m: r.vector("degrade.gps_noise_m"),
        },
        frames: FrameParams {
            map: r.string("map_frame"),
            odom: r.string("odom_frame"),
            base: r.string("base_frame"),
            prefix: r.string("frame_prefix"),
            world: r.choice("world_convention"),
            mount_angle_unit: r.choice("mount_angle_unit"),
            vehicle_bottom_m: r.float("vehicle_bottom_m"),
            publish_tf: r.bool("tf.publish"),
            publish_static: r.bool("tf.publish_static"),
            robot_description: r.bool("robot_description.publish"),
            tf_source: r.choice("tf.source"),
        },
        time: TimeParams {
            mode: r.choice("time.mode"),
            estimator: r.choice("time.estimator"),
        },
        use_sim_time: r.bool("use_sim_time"),
        fast_dds_services: r.bool("services.fast_dds"),
        diagnostics_period: r.duration("diagnostics.period_s"),
        record: RecordParams {
            directory: r.string("record.directory").into(),
            ros: name(r.string("record.ros")),
            raw: name(r.string("record.raw")),
        },
        control: ControlParams {
            link: ControlLink::parse(&r.string("control.link")).unwrap_or(ControlLink::Off),
            discover: r.duration("control.discover_s"),
            read_only: r.bool("control.read_only"),
            switch_mode: r.bool("control.switch_mode"),
            prefix: r.string("control.prefix"),
            local_frame: r.string("control.local_frame"),
            timeout: r.duration("control.timeout_s"),
            keep_alive: r.duration("control.keep_alive_s"),
            read_parameters: r.duration("control.read_parameters_s"),
            heartbeat: r.choice("control.heartbeat"),
            system_id: r.int("control.system_id") as u8,
            component_id: r.int("control.component_id") as u8,
            px4_checks: r.bool("control.px4_checks"),
            max_position: r.float("control.max_position_m"),
            max_speed: r.float("control.max_speed_m_s"),
            geoid: r.choice("control.geoid"),
        },
        setpoint: SetpointParams {
            position_frame: r.choice("setpoint.position_frame"),
            velocity_frame: r.choice("setpoint.velocity_frame"),
            accel_is_force: r.bool("setpoint.accel_is_force"),
            use_quaternion: r.bool("setpoint.use_quaternion"),
            reverse_thrust: r.bool("setpoint.reverse_thrust"),
            thrust_scaling: r.float("setpoint.thrust_scaling"),
        },
        scene: SceneParams {
            file: Some(r.string("scene.file"))
                .filter(|file| !file.is_empty())
                .map(PathBuf::from),
            at_root: r.bool("scene.at_root"),
            windows: match r.ids("scene.windows") {
                none if none.is_empty() => vec![r.int("window") as u16],
                windows => windows,
            },
            world: r.string("scene.world"),
            ids: r.int("scene.first_id") as i32..=r.int("scene.last_id") as i32,
        },
        model: ModelParams {
            fault_numbers: r.choice("model.fault_numbers"),
            custom_data_port: r.int("model.custom_data_port") as u16,
        },
        netsim: NetSimParams {
            enabled: r.bool("netsim.enabled"),
            port: r.int("netsim.port") as u16,
        },
        redis: RedisParams {
            address: r.address("redis.address"),
            port: r.int("redis.port") as u16,
        },
        view: ViewParams {
            port: r.int("view.port") as u16,
            control: r.bool("view.control"),
            origins: r.texts("view.origins"),
        },
        mavros_quirks: r.bool("compat.mavros_quirks"),
        own_vehicles: r.vehicles.clone(),
        sensors: r.sensors.clone(),
        qos: r.qos.clone(),
    }
}

impl Params {
    /// Checks named values; the last of duplicates wins, missing ones have defaults.
    ///
    /// # Errors
    /// All unknown names (with a suggestion), wrong types and values out of range.
    pub fn from_values(values: &[(String, ParamValue)]) -> Result<Self, Problems> {
        let mut reader = Reader::default();
        let mut problems = Problems::default();
        for (i, (name, value)) in values.iter().enumerate() {
            if values[i + 1..].iter().any(|(later, _)| later == name) {
                continue;
            }
            let result = match spec(name) {
                Some(row) => {
                    check(row, value).map(|value| drop(reader.values.insert(row.name, value)))
                }
                None => families::read(name, value, &mut reader),
            };
            if let Err(message) = result {
                problems.push(name, message);
            }
        }
        let params = build(&reader);
        check_together(&params, &mut problems);
        if let Err(why) = ControlLink::parse(&reader.string("control.link")) {
            problems.push("control.link", why);
        }
        problems.or(params)
    }
}

impl Params {
    /// Returns the sensors of the files (all of them, also disabled ones) with the rows that `sensor<SeqID>.*` changes.
    /// Those with problems are as in the file.
    pub fn rows(&self, sensors: &[SensorConfig]) -> (Vec<SensorConfig>, Problems) {
        let mut problems = Problems::default();
        let row = |sensor: &SensorConfig| {
            let own = self.sensor(sensor.seq_id);
            let row = own.row.apply(sensor, own.fov_deg);
            row.unwrap_or_else(|Problems(found)| {
                problems.0.extend(found);
                sensor.clone()
            })
        };
        (sensors.iter().map(row).collect(), problems)
    }

    /// Compares `sensor<SeqID>.*` with the [rows](Self::rows) of the sensors.
    ///
    /// # Errors
    /// SeqIDs that no sensor has, encodings that do not suit the type, disabled sensors that carry others.
    pub fn check_sensors(&self, sensors: &[SensorConfig]) -> Result<(), Problems> {
        let mut problems = Problems::default();
        let disabled = |seq_id: u16| {
            self.sensors
                .get(&seq_id)
                .is_some_and(|s| s.enabled == Some(false))
        };
        for (seq_id, own) in &self.sensors {
            let Some(sensor) = sensors.iter().find(|sensor| sensor.seq_id == *seq_id) else {
                let known: Vec<_> = sensors
                    .iter()
                    .map(|sensor| sensor.seq_id.to_string())
                    .collect();
                problems.push(
                    format!("sensor{seq_id}"),
                    format!("no sensor has this SeqID; known are {}", known.join(", ")),
                );
                continue;
            };
            if own.boxes && !sensor.kind.is_pinhole_image() {
                problems.push(
                    format!("sensor{seq_id}.boxes"),
                    format!(
                        "must be false for TypeID {}, which has no image of a pinhole camera",
                        sensor.kind.type_id()
                    ),
                );
            }
            if own.gimbal && !sensor.kind.is_camera() {
                problems.push(
                    format!("sensor{seq_id}.gimbal"),
                    format!(
                        "must be false for TypeID {}, which is no camera",
                        sensor.kind.type_id()
                    ),
                );
            }
            if own.fisheye_factor.is_some() && sensor.kind.row().optics != Optics::Fisheye {
                problems.push(
                    format!("sensor{seq_id}.fisheye_factor"),
                    format!(
                        "must not be set for TypeID {}, which is no fisheye",
                        sensor.kind.type_id()
                    ),
                );
            }
            if let Some(encoding) = &own.encoding {
                let possible: &[&str] = match sensor.kind.row().payload {
                    Payload::Bgr8 => RgbEncoding::NAMES,
                    Payload::Grey16 => DepthEncoding::NAMES,
                    _ => &[],
                };
                if !possible.contains(&encoding.as_str()) {
                    let type_id = sensor.kind.type_id();
                    let wanted = if possible.is_empty() {
                        format!("must not be set for TypeID {type_id}, which has one encoding")
                    } else {
                        format!(
                            "must be one of {} for TypeID {type_id}",
                            possible.join(", ")
                        )
                    };
                    problems.push(
                        format!("sensor{seq_id}.encoding"),
                        format!("{wanted}, is {encoding:?}"),
                    );
                }
            }
        }
        for sensor in sensors {
            self.check_scan(sensor, &mut problems);
            // With another row, its check has seen the field of view; a type without one leaves it for the next.
            let own = self.sensors.get(&sensor.seq_id);
            let as_in_file = own.filter(|own| own.row == RowChange::default());
            let fov = as_in_file.and_then(|own| own.fov_deg);
            if let Some(fov) = fov
                && let Err(why) = config_json::check_fov(sensor.kind, f64::from(fov))
            {
                problems.push(format!("sensor{}.fov_deg", sensor.seq_id), why);
            }
        }
        for sensor in sensors.iter().filter(|sensor| !disabled(sensor.seq_id)) {
            if let Mount::Sensor(carrier) = sensor.mount
                && disabled(carrier)
            {
                problems.push(
                    format!("sensor{carrier}.enabled"),
                    format!(
                        "must be true, because the sensor carries sensor {}",
                        sensor.seq_id
                    ),
                );
            }
        }
        problems.or(())
    }

    fn check_scan(&self, sensor: &SensorConfig, problems: &mut Problems) {
        let (seq_id, type_id) = (sensor.seq_id, sensor.kind.type_id());
        let own = self.sensors.get(&seq_id).and_then(|own| own.scan);
        let possible = ScanParams::sources(sensor.kind);
        if let Some(own) = own
            && !possible.contains(&own.name())
        {
            let wanted = match possible {
                [] => format!("must not be set for TypeID {type_id}, which has no planar scan"),
                _ => format!("must be {} for TypeID {type_id}", possible.join(" or ")),
            };
            problems.push(
                format!("sensor{seq_id}.scan"),
                format!("{wanted}, is {:?}", own.name()),
            );
        }
        let source = own.unwrap_or(self.scan.source);
        if let Some(ring) = self.scan.ring
            && source == ScanSource::Ring
            && sensor.kind == SensorKind::Lidar
            && ring >= sensor.height
        {
            problems.push(
                "scan.ring",
                format!(
                    "must be less than {}, the number of rings of sensor {seq_id}, is {ring}",
                    sensor.height
                ),
            );
        }
    }
}

/// A path, unless it is empty.
fn path(text: String) -> Option<PathBuf> {
    name(text).map(PathBuf::from)
}

/// A name, unless it is empty.
fn name(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Ports of the platform where those of vehicles begin at these.
fn ports(control: u16, model: u16) -> Ports {
    Ports {
        autopilot: control,
        autopilot_client: control.saturating_add(1),
        coptersim: model,
        true_state: model.saturating_add(1),
        outputs: model.saturating_add(10_001),
        ..Ports::default()
    }
}
