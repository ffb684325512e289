//! Parameters of one sensor.
use super::{AngleUnit, CloudLayout, MountOrientation, RowChange, ScanSource, SensorConfig};

/// `sensor<SeqID>.*`; absent values default to the sensor type's or the global parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensorParams {
    /// Whether to request the sensor.
    pub enabled: Option<bool>,
    /// Topic, relative to the prefix or absolute.
    pub topic: Option<String>,
    /// Complete link frame id, replaces prefix and default name.
    pub frame_id: Option<String>,
    /// Encoding of the main topic.
    pub encoding: Option<String>,
    /// Fields of the points of a lidar.
    pub cloud_layout: Option<CloudLayout>,
    /// SeqID of the left camera of the stereo pair whose right one this is.
    pub stereo_left: Option<u16>,
    /// Publish what it sees of described vehicles and objects.
    pub boxes: bool,
    /// Take commands for its direction.
    pub gimbal: bool,
    /// Points of its planar scan.
    pub scan: Option<ScanSource>,
    /// Type, size, vehicle and what else opens it anew.
    pub row: RowChange,
    /// Horizontal field of view in degrees.
    pub fov_deg: Option<f32>,
    /// Focal length of a fisheye, as a part of width / field of view.
    pub fisheye_factor: Option<f64>,
    /// URL of its own calibration.
    pub camera_info_url: Option<String>,
    /// Rate in Hz.
    pub rate_hz: Option<u16>,
    /// Position in the mount in m, FRD.
    pub position_frd: Option<[f64; 3]>,
    /// Roll, pitch, yaw in the mount in degrees, FRD.
    pub orientation_deg: Option<[f64; 3]>,
}

impl SensorParams {
    /// Applies the parameters to an entry of Config.json; `unit` is the unit of its angles on the wire.
    pub fn apply(&self, sensor: &mut SensorConfig, unit: AngleUnit) {
        if let Some(fov) = self.fov_deg {
            sensor.fov_deg = fov;
        }
        if let Some(rate) = self.rate_hz {
            sensor.rate_hz = rate;
        }
        if let Some(position) = self.position_frd {
            sensor.position_frd = position;
        }
        if let Some(degrees) = self.orientation_deg {
            let angles = degrees.map(|angle| match unit {
                AngleUnit::Degrees => angle,
                AngleUnit::Radians => angle.to_radians(),
            });
            sensor.orientation = MountOrientation::Euler(angles);
            sensor.raw_euler = angles.map(|angle| angle as f32);
            sensor.eular_or_quat = 0.0;
        }
    }
}
