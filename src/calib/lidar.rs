//! The lidar of a vehicle.
use super::{CalibOutput, imu::Imu, rig::Rig};
use crate::config::params::{CloudLayout, Organized};
use crate::config::{Problem, Problems, SensorConfig};
use crate::frames::Transform;
use crate::sensors::{Options, spec_of};
use crate::wire::{MID360_POINTS, SensorKind};

/// Types of lidars whose points are in the sensor's frame.
const KINDS: [SensorKind; 3] = [SensorKind::Lidar, SensorKind::Mid40, SensorKind::Mid360];

pub(super) struct Lidar<'a> {
    pub(super) sensor: &'a SensorConfig,
    pub(super) topic: String,
    pub(super) frame: String,
    /// Pose in the IMU's frame.
    pub(super) in_imu: Transform,
    pub(super) layout: CloudLayout,
    organized: Organized,
}

impl Lidar<'_> {
    /// Whether it is a Livox, whose points have lines but no rings.
    pub(super) fn is_livox(&self) -> bool {
        self.sensor.kind != SensorKind::Lidar
    }

    /// Refuses a lidar without rings; `why` is the consumer's need for them.
    pub(super) fn require_rings(self, why: &str) -> Result<Self, Problem> {
        if !self.is_livox() {
            return Ok(self);
        }
        let message = format!("has no rings, {why}: a lidar with TypeID 20 is needed");
        Err(Problem::new(format!("sensor {}", self.sensor.seq_id), message))
    }

    /// Range in m.
    pub(super) fn range(&self) -> f64 {
        self.sensor.other_params[0].into()
    }

    pub(super) fn rate_hz(&self) -> u16 {
        self.sensor.asked_hz()
    }

    pub(super) fn points(&self) -> usize {
        match self.sensor.kind {
            SensorKind::Mid360 => MID360_POINTS,
            _ => usize::from(self.sensor.width) * usize::from(self.sensor.height),
        }
    }

    /// Returns FAST-LIO's `point_filter_num` n, at most 4, for about 20,000 points per scan: it keeps every n-th point.
    pub(super) fn point_filter_num(&self) -> usize {
        (self.points() / 20_000).clamp(1, 4)
    }

    /// Horizontal field of view in degrees.
    pub(super) fn fov(&self) -> f64 {
        match (self.sensor.kind, self.angles()) {
            (SensorKind::Lidar, Ok((azimuth, _))) => azimuth,
            (SensorKind::Mid40, _) => self.sensor.fov_deg.into(),
            _ => 360.0,
        }
    }

    /// Returns the horizontal field and the elevations of the lowest and the highest ring, in degrees, from
    /// `otherParams[2..6]`. The end of a field has no ray: the step is field / number.
    pub(super) fn angles(&self) -> Result<(f64, [f64; 2]), Problem> {
        let angle = |i: usize| f64::from(self.sensor.other_params[i]);
        let (azimuth, height) = (angle(3) - angle(2), angle(5) - angle(4));
        if azimuth <= 0.0 || height <= 0.0 {
            let path = format!("sensor {}: otherParams[2..6]", self.sensor.seq_id);
            return Err(Problem::new(path, "give no field of view"));
        }
        let rings = f64::from(self.sensor.height.max(1));
        Ok((azimuth, [angle(4), angle(5) - height / rings]))
    }

    /// Returns the number of points of a ring over the whole circle.
    pub(super) fn columns(&self) -> Result<u32, Problem> {
        let circles = 360.0 / self.angles()?.0;
        Ok((f64::from(self.sensor.width) * circles).round() as u32)
    }

    /// Requires a layout, and clouds that leave out points without return.
    pub(super) fn need_layout(
        &self,
        output: &mut CalibOutput,
        layout: &'static str,
        why: &'static str,
    ) {
        let name = format!("sensor{}.cloud_layout", self.sensor.seq_id);
        output.need(&name, layout, self.layout.name(), why);
        let organized = self.organized;
        output.need_checked(
            "cloud.organized",
            "auto",
            (organized != Organized::Always, organized.name()),
            "points without return must be left out",
        );
    }
}

impl<'a> Rig<'a> {
    /// Returns the lidar, if `check` accepts it, and the IMU; adds both to the report.
    pub(super) fn find_lidar_and_imu(
        &self,
        output: &mut CalibOutput,
        check: fn(Lidar<'a>) -> Result<Lidar<'a>, Problem>,
    ) -> Result<(Lidar<'a>, Imu), Problems> {
        let mut problems = Problems::default();
        let lidar = problems.keep(self.find_lidar(output).and_then(check));
        let imu = problems.keep(self.find_imu(output));
        lidar.zip(imu).ok_or(problems)
    }

    /// Returns the lidar, and adds it to the report.
    pub(super) fn find_lidar(&self, output: &mut CalibOutput) -> Result<Lidar<'a>, Problem> {
        let sensor = self.choose_lidar()?;
        self.check_rigid(sensor)?;
        let params = &self.settings.params;
        let options = Options::new(params, sensor.seq_id);
        let frames = self.tree.sensor(sensor.seq_id);
        let frame = frames.map(|frames| frames.link.clone()).unwrap_or_default();
        let lidar = Lidar {
            sensor,
            topic: self.resolve(&self.settings.sensor_topic(sensor))?,
            in_imu: self.pose_in_imu(&frame)?,
            frame,
            layout: options.layout,
            organized: options.organized,
        };
        let SensorConfig { seq_id, kind, .. } = sensor;
        let (kind, points, hz) = (spec_of(*kind).name, lidar.points(), lidar.rate_hz());
        let figures = format!("sensor {seq_id}, {kind}, {}, {points} points, {hz} Hz", lidar.topic);
        output.used.push(("lidar", figures));
        self.warn_if_bottom_unknown(sensor, output);
        Ok(lidar)
    }

    fn choose_lidar(&self) -> Result<&'a SensorConfig, Problem> {
        if let Some(seq_id) = self.choice.lidar {
            let sensor = self.sensor("--lidar", seq_id)?;
            if KINDS.contains(&sensor.kind) {
                return Ok(sensor);
            }
            let kind = sensor.kind.row().name;
            let message = format!(
                "sensor {seq_id} is a {kind}; a lidar in its own frame has TypeID 20, 22 or 23"
            );
            return Err(Problem::new("--lidar", message));
        }
        let lidars = || self.sensors().filter(|s| KINDS.contains(&s.kind));
        let rigid = lidars().find(|s| self.check_rigid(s).is_ok());
        rigid.or_else(|| lidars().next()).ok_or_else(|| {
            let message = format!(
                "none on vehicle {}: a sensor with TypeID 20, 22 or 23 is needed",
                self.vehicle
            );
            Problem::new("lidar", message)
        })
    }
}
