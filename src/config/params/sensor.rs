//! Parameters of one sensor.
use super::declare::parameters;
use super::{
    AngleUnit, CloudLayout, EntryChange, MountOrientation, ParameterSpec, ScanSource, SensorConfig,
};
use std::sync::LazyLock;

/// Keys of `sensor<SeqID>.*`; the default "" stands for the default of the sensor's type or the global parameter.
pub static SENSOR_PARAMETERS: LazyLock<Vec<ParameterSpec>> = LazyLock::new(SensorParams::specs);

const SENSOR: &str = "Sensor";
/// Group of the parameters whose change closes the sensor and opens it again while the bridge runs.
pub(super) const REOPENED: &str = "Sensor, opened again";
const ENCODINGS: &[&str] = &["bgr8", "rgb8", "16UC1", "vendor"];

parameters! {
    /// `sensor<SeqID>.*`; an absent value stands for the default of the sensor's type or the global parameter.
    #[derive(Default)]
    pub struct SensorParams {
        [SENSOR]
        enabled: Option<bool> = "enabled", Bool = true, "Request this sensor; false disables it without editing the file.";
        topic: Option<String> = "topic", Topic = "",
            "Topic instead of the vendor's, relative to the prefix or absolute; `camera_info`, `compressed` and related topics move with it.";
        frame_id: Option<String> = "frame_id", Frame = "",
            "Link frame, to which no prefix is added, instead of `sensor<SeqID>_link`; the optical frame is this name with `_optical_frame` in place of \
            a final `_link`.";
        encoding: Option<String> = "encoding", Choice(ENCODINGS) = "", "Instead of rgb.encoding (bgr8, rgb8) or depth.encoding (16UC1, vendor).";
        cloud_layout: Option<CloudLayout> = "cloud_layout", Choice = "", "Instead of cloud.layout.";
        stereo_left: Option<u16> = "stereo_left", Int(-1, 65_535) = -1,
            "SeqID of the left camera, if this is the right camera of a stereo pair: P of its camera_info then contains the \
            baseline, and its messages have the optical frame of the left camera. -1: none.";
        scan: Option<ScanSource> = "scan", Choice = "", "Instead of scan.source.";
        boxes: bool = "boxes", Bool = false,
            "Publish on `boxes`, beside the image, the bounding boxes in it of vehicles and objects that RflySim3D describes \
            (vision_msgs/Detection2DArray), while it has a subscriber. Not for fisheyes (docs/reports.md).";
        gimbal: bool = "gimbal", Bool = false,
            "Receive the direction of this camera on `mount_control/command` beside its image, and publish it on `mount_control/status`, as mavros \
            does for a gimbal. A pod camera (type 9) always has both topics.";

        [REOPENED]
        entry: EntryChange
            = "type_id", Int(0, 65_535), live
                "Type, instead of TypeID. While the bridge runs the sensor is closed and opened again: its topics end, and those \
                of the new type begin; set in the same call what else the new type needs (width, height, other_params, fov_deg)."
            = "width", Int(0, 65_535), ["px or points"] live "Size, instead of DataWidth. The sensor is opened again, as with type_id."
            = "height", Int(0, 65_535), ["px or points"] live "Size, instead of DataHeight. The sensor is opened again, as with type_id."
            = "vehicle", Int(0, 10_000), live
                "CopterID of the vehicle that carries the sensor, instead of TargetCopter; while the bridge runs, one of the served vehicles. \
                Sensors on this sensor move with it. The sensor is opened again, as with type_id."
            = "other_params", Reals(16), live
                "Parameters of the type (docs/config_json.md), instead of otherParams; those left out are 0. The sensor is opened again, as with \
                type_id."
            => |r| EntryChange {
                type_id: r.read("type_id"),
                width: r.read("width"),
                height: r.read("height"),
                vehicle: r.read("vehicle"),
                other_params: r.read("other_params"),
            };

        [SENSOR]
        fov_deg: Option<f32> = "fov_deg", Float(0.001, 360.0), ["deg"] live
            "Horizontal field of view, instead of CameraFOV; below 180 for a camera that is not a fisheye.";
        fisheye_factor: Option<f64> = "fisheye_factor", Float(0.0, 2.0) = 0.0, live "Instead of fisheye.factor; 0: fisheye.factor applies."
            => |r| r.read::<Option<f64>>("fisheye_factor").filter(|factor| *factor > 0.0);
        camera_info_url: Option<String> = "camera_info_url", Str = "", live
            "A camera's own calibration instead of the computed one: file:///path, package://package/path or a path of a YAML file as \
            `camera_calibration_parsers` writes it, with ${NAME} for sensor<SeqID> and ${ROS_HOME}. Its size must be that of the sensor; a change is \
            in effect at once. `set_camera_info` beside the image saves there.";
        rate_hz: Option<u16> = "rate_hz", Int(1, 1000), ["Hz"] live "Rate to request, instead of DataCheckFreq.";
        position_frd: Option<[f64; 3]> = "position", Vector(-100_000.0, 100_000.0), ["m"] live
            "Position in the mount (x forward, y right, z down), instead of SensorPosXYZ.";
        orientation_deg: Option<[f64; 3]> = "orientation_deg", Vector(-360.0, 360.0), ["deg"] live
            "Roll, pitch, yaw in the mount (x forward, y right, z down), instead of SensorAngEular and SensorAngQuat, whatever mount_angle_unit is.";
    }
}

impl SensorParams {
    /// Changes a sensor of Config.json; `unit` is the unit of its angles on the wire.
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
            let angles = degrees.map(|angle| AngleUnit::Degrees.convert(angle, unit));
            sensor.orientation = MountOrientation::Euler(angles);
            sensor.raw_euler = angles.map(|angle| angle as f32);
            sensor.eular_or_quat = 0.0;
        }
    }
}
