use crate::config::params::{
    Choice as _, CloudLayout, DegradeParams, DepthAxes, DepthEncoding, FourthNumber, LabelType,
    OdometryAxes, Organized, Params, RgbEncoding, ScanParams, ScanTime, WorldConvention,
};
use crate::wire::SensorKind;

/// Conversion options: the parameters of sensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Channel order of colour images.
    pub rgb: RgbEncoding,
    /// Encoding of the main depth topic.
    pub depth: DepthEncoding,
    /// Publish depth in metres, too.
    pub depth_float: bool,
    /// Publish the simulator's PNG and JPEG files.
    pub compressed: bool,
    /// Accept images that are larger than configured.
    pub larger: bool,
    /// Fields of the points of lidars.
    pub layout: CloudLayout,
    /// Times of the points of lidars.
    pub scan_time: ScanTime,
    /// Publish clouds in rows if the sensor has rows.
    pub organized: Organized,
    /// Type of the labels of lidar points.
    pub label: LabelType,
    /// Meaning of the fourth number of points.
    pub fourth: FourthNumber,
    /// Axes of the clouds of depth cameras on the wire.
    pub depth_axes: DepthAxes,
    /// Axes of the odometry in clouds on the wire.
    pub odometry_axes: OdometryAxes,
    /// Planar scans of clouds.
    pub scan: ScanParams,
    /// Axes of the world frame.
    pub world: WorldConvention,
    /// Noise, drops and delays.
    pub degrade: DegradeParams,
}

impl Default for Options {
    fn default() -> Self {
        Self::new(&Params::default(), 0)
    }
}

impl Options {
    /// Takes the options from the parameters; those of sensor `seq_id` override the global ones.
    pub fn new(params: &Params, seq_id: u16) -> Self {
        let sensor = params.sensor(seq_id);
        let encoding = sensor.encoding.as_deref();
        Self {
            rgb: encoding.and_then(RgbEncoding::from_word).unwrap_or(params.rgb_encoding),
            depth: encoding.and_then(DepthEncoding::from_word).unwrap_or(params.depth.encoding),
            depth_float: params.depth.publish_float,
            compressed: params.compressed_enabled,
            larger: params.image_allow_larger,
            layout: sensor.cloud_layout.unwrap_or(params.cloud_layout),
            scan_time: params.cloud_scan_time,
            organized: params.cloud_organized,
            label: params.cloud_label,
            fourth: params.cloud_fourth,
            depth_axes: params.cloud_depth_axes,
            odometry_axes: params.cloud_odometry_axes,
            scan: ScanParams { source: sensor.scan.unwrap_or(params.scan.source), ..params.scan },
            world: params.frames.world,
            degrade: params.degrade,
        }
    }

    /// Returns the point layout of a real lidar's driver for this kind; `None`: x, y, z and label, the only layout of depth
    /// cameras and of clouds in the world frame.
    pub fn layout_of(&self, kind: SensorKind) -> Option<CloudLayout> {
        let is_lidar = matches!(kind, SensorKind::Lidar | SensorKind::Mid40 | SensorKind::Mid360);
        Some(self.layout).filter(|layout| is_lidar && *layout != CloudLayout::XyzLabel)
    }
}
