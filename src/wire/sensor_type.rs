//! The simulator's sensor types; no other module contains their numbers.
use super::PointForm;

/// Decoded payload of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Payload {
    /// 8-bit pixels: blue, green, red.
    Bgr8,
    /// 16-bit pixels.
    Grey16,
    /// 8-bit pixels.
    Grey8,
    /// One range, [`super::RangeRecord`].
    Range,
    /// Points, [`super::CloudView`]; the form is that of the oldest simulators.
    Points(PointForm),
    /// [`super::BoxEntry`].
    Boxes,
    /// [`super::TargetEntry`].
    Targets,
}

/// Optics of a sensor, with the meaning of `DataWidth`, `DataHeight` and `CameraFOV`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Optics {
    /// Pixels of a pinhole camera; horizontal field of view below 180 degrees.
    Pinhole,
    /// Pixels of a fisheye; field of view up to 360 degrees.
    Fisheye,
    /// Points per ring, and rings; the field of view is in `otherParams`.
    Rings,
    /// Points per petal, and petals of a rosette.
    Rosette,
    /// A fixed number of points, [`MID360_POINTS`]; the request's size and field of view are ignored.
    Mid360,
    /// One ray, or none; size and field of view are ignored.
    None,
}

/// Focal length of the fisheye, as a fraction of width / field of view: r = factor * width / field of view * theta.
///
/// Two public calibrations of the real simulator measured it, at 640 x 640, CameraFOV 200 and a cube edge of 512: 167.7 px/rad
/// up to 80 degrees from the axis (docs/sensors.md).
pub const FISHEYE_FACTOR: f64 = 0.915;

/// Points of a frame of type 23.
pub const MID360_POINTS: usize = 64 * 272;

/// Supported values of `SendProtocol[0]`: 0 shared memory, 1 and 3 UDP compressed, 2 UDP raw.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Modes {
    /// 0 to 3.
    Image,
    /// 0, 1 and 3, where 3 equals 1.
    Record,
    /// 0 and 1.
    Lidar,
}

impl Modes {
    /// The values.
    pub const fn numbers(self) -> &'static [u16] {
        match self {
            Self::Image => &[0, 1, 2, 3],
            Self::Record => &[0, 1, 3],
            Self::Lidar => &[0, 1],
        }
    }
}

/// Properties of a [`SensorKind`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SensorType {
    /// Display name.
    pub name: &'static str,
    /// Contents of a frame.
    pub payload: Payload,
    /// Optics.
    pub optics: Optics,
    /// Transport modes.
    pub modes: Modes,
}

macro_rules! sensor_types {
    ($($kind:ident = $id:literal: $name:literal, $payload:expr, $optics:ident, $modes:ident, $doc:literal;)+) => {
        /// A sensor of the simulator; the number is its `TypeID`.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[repr(u16)]
        pub enum SensorKind {
            $(#[doc = $doc] $kind = $id,)+
        }

        impl SensorKind {
            /// All types with documented data, in order of their numbers.
            pub const ALL: [Self; [$($id),+].len()] = [$(Self::$kind),+];

            /// The properties of the type.
            pub const fn row(self) -> SensorType {
                use Payload::{Bgr8, Boxes, Grey8, Grey16, Points, Range, Targets};
                use PointForm::{I16x3, I16x4};
                let (name, payload, optics, modes) = match self {
                    $(Self::$kind => ($name, $payload, Optics::$optics, Modes::$modes),)+
                };
                SensorType { name, payload, optics, modes }
            }
        }
    };
}

sensor_types! {
    Rgb = 1: "RGB camera", Bgr8, Pinhole, Image, "Colour camera.";
    Depth = 2: "depth camera", Grey16, Pinhole, Image, "Depth camera.";
    Grey = 3: "grey camera", Grey8, Pinhole, Image, "Grey camera.";
    Segmentation = 4: "segmentation camera", Bgr8, Pinhole, Image, "Segmentation camera: one colour per class.";
    Range = 5: "range finder", Range, None, Record, "Range finder.";
    DepthCloud = 7: "depth cloud", Points(I16x3), Pinhole, Record, "Depth camera that delivers points.";
    Fisheye = 8: "fisheye camera", Bgr8, Fisheye, Image, "Fisheye camera.";
    Pod = 9: "pod camera", Bgr8, Pinhole, Image, "Pod: a gimballed camera.";
    Lidar = 20: "lidar, sensor frame", Points(I16x4), Rings, Lidar, "Lidar with points in its own frame.";
    GlobalLidar = 21: "lidar, world frame", Points(I16x4), Rings, Lidar, "Lidar with points in the world frame.";
    Mid40 = 22: "Livox Mid-40", Points(I16x4), Rosette, Lidar, "Livox Mid-40.";
    Mid360 = 23: "Livox Mid-360", Points(I16x4), Mid360, Lidar, "Livox Mid-360.";
    Detections = 30: "object detector", Boxes, Pinhole, Record, "Bounding boxes of objects in a camera's view.";
    Targets = 31: "target positions", Targets, None, Record, "Positions of surrounding objects.";
    Infrared = 40: "infrared camera", Grey8, Pinhole, Image, "Infrared camera, grey.";
    Thermal = 41: "thermal camera", Bgr8, Pinhole, Image, "Infrared camera, coloured by temperature.";
}

impl SensorKind {
    /// The sensor with a `TypeID`.
    pub fn from_type_id(type_id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.type_id() == type_id)
    }

    /// Whether its data are images.
    pub fn is_camera(self) -> bool {
        let payload = self.row().payload;
        matches!(payload, Payload::Bgr8 | Payload::Grey8 | Payload::Grey16)
    }

    /// Whether its data are images of a pinhole camera.
    pub fn is_pinhole_image(self) -> bool {
        self.is_camera() && self.row().optics == Optics::Pinhole
    }

    /// Its `TypeID`.
    pub const fn type_id(self) -> u16 {
        self as u16
    }
}
