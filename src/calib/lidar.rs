//! The lidar of a vehicle, in its own frame.
use super::Output;
use super::rig::Rig;
use crate::config::params::{CloudLayout, Organized};
use crate::config::{Problem, SensorConfig};
use crate::frames::Transform;
use crate::sensors::{Options, spec_of};
use crate::wire::{MID360_POINTS, SensorKind};

/// TypeIDs whose points are in the sensor's frame.
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

/// Angles of a lidar with rings, in degrees.
pub(super) struct Angles {
    pub(super) azimuth: f64,
    /// Of the lowest and of the highest ring.
    pub(super) elevation: [f64; 2],
}

impl Lidar<'_> {
    /// A Livox, whose points have lines but no rings.
    pub(super) fn is_livox(&self) -> bool {
        self.sensor.kind != SensorKind::Lidar
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

    /// One of this many points is kept by consumers that thin out scans, so that a scan has about 20,000.
    pub(super) fn every(&self) -> usize {
        (self.points() / 20_000).clamp(1, 4)
    }

    /// Horizontal field of view in degrees.
    pub(super) fn fov(&self) -> f64 {
        match (self.sensor.kind, self.angles()) {
            (SensorKind::Lidar, Ok(angles)) => angles.azimuth,
            (SensorKind::Mid40, _) => self.sensor.fov_deg.into(),
            _ => 360.0,
        }
    }

    /// The angles of `otherParams[2..6]`. The last angle of a range is not reached: the step is range / number.
    pub(super) fn angles(&self) -> Result<Angles, Problem> {
        let angle = |i: usize| f64::from(self.sensor.other_params[i]);
        let (azimuth, height) = (angle(3) - angle(2), angle(5) - angle(4));
        if azimuth <= 0.0 || height <= 0.0 {
            let path = format!("sensor {}: otherParams[2..6]", self.sensor.seq_id);
            return Err(Problem::new(path, "give no field of view"));
        }
        let rings = f64::from(self.sensor.height.max(1));
        Ok(Angles { azimuth, elevation: [angle(4), angle(5) - height / rings] })
    }

    /// Columns of an image of the whole circle in which every point of a ring has one.
    pub(super) fn columns(&self) -> Result<u32, Problem> {
        let circles = 360.0 / self.angles()?.azimuth;
        Ok((f64::from(self.sensor.width) * circles).round() as u32)
    }

    /// Asks for a layout, and for clouds without missing points.
    pub(super) fn need_layout(&self, output: &mut Output, layout: &'static str, why: &'static str) {
        let name = format!("sensor{}.cloud_layout", self.sensor.seq_id);
        output.need(&name, layout, self.layout.name(), why);
        let organized = self.organized;
        output.need_that(
            "cloud.organized",
            "auto",
            (organized != Organized::Always, organized.name()),
            "points without return must be left out",
        );
    }
}

impl<'a> Rig<'a> {
    pub(super) fn lidar(&self, output: &mut Output) -> Result<Lidar<'a>, Problem> {
        let sensor = self.choose_lidar()?;
        self.rigid(sensor)?;
        let params = &self.settings.params;
        let options = Options::new(params, sensor.seq_id);
        let frame = match self.tree.sensor(sensor.seq_id) {
            Some(frames) => frames.link.clone(),
            None => String::new(),
        };
        let lidar = Lidar {
            sensor,
            topic: self.resolve(&self.settings.sensor_topic(sensor))?,
            in_imu: self.in_imu(&frame)?,
            frame,
            layout: options.layout,
            organized: options.organized,
        };
        let figures = format!(
            "sensor {}, {}, {}, {} points, {} Hz",
            sensor.seq_id,
            spec_of(sensor.kind).name,
            lidar.topic,
            lidar.points(),
            lidar.rate_hz()
        );
        output.used.push(("lidar", figures));
        self.warn_of_bottom(sensor, output);
        Ok(lidar)
    }

    fn choose_lidar(&self) -> Result<&'a SensorConfig, Problem> {
        if let Some(seq_id) = self.choice.lidar {
            let sensor = self.sensor("--lidar", seq_id)?;
            return match KINDS.contains(&sensor.kind) {
                true => Ok(sensor),
                false => Err(Problem::new(
                    "--lidar",
                    format!(
                        "sensor {seq_id} is a {}; a lidar in its own frame has TypeID 20, 22 or 23",
                        sensor.kind.row().name
                    ),
                )),
            };
        }
        let lidars = || self.sensors().filter(|s| KINDS.contains(&s.kind));
        let rigid = lidars().find(|s| self.rigid(s).is_ok());
        rigid.or_else(|| lidars().next()).ok_or_else(|| {
            let message = format!(
                "none on vehicle {}: a sensor with TypeID 20, 22 or 23 is needed",
                self.vehicle
            );
            Problem::new("lidar", message)
        })
    }
}
