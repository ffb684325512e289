//! The simulator's sensor types; no other module contains their numbers.

/// A sensor of the simulator; the number is its `TypeID`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u16)]
pub enum SensorKind {
    /// Colour camera.
    Rgb = 1,
    /// Depth camera.
    Depth = 2,
    /// Grey camera.
    Grey = 3,
    /// Segmentation camera: one colour per class.
    Segmentation = 4,
    /// Range finder.
    Range = 5,
    /// Depth camera that delivers points.
    DepthCloud = 7,
    /// Fisheye camera.
    Fisheye = 8,
    /// Pod: a gimballed camera.
    Pod = 9,
    /// Lidar with points in its own frame.
    Lidar = 20,
    /// Lidar with points in the world frame.
    GlobalLidar = 21,
    /// Livox Mid-40.
    Mid40 = 22,
    /// Livox Mid-360.
    Mid360 = 23,
    /// Bounding boxes of objects in a camera's view.
    Detections = 30,
    /// Positions of surrounding objects.
    Targets = 31,
    /// Infrared camera, grey.
    Infrared = 40,
    /// Infrared camera, coloured by temperature.
    Thermal = 41,
}

/// Decoded payload of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Payload {
    /// Pixels of blue, green, red.
    Bgr8,
    /// Pixels of 16 bit.
    Grey16,
    /// Pixels of 8 bit.
    Grey8,
    /// One range, [`super::RangeRecord`].
    Range,
    /// Points with this number of 16-bit channels, [`super::CloudView`].
    Points(usize),
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
    /// A fixed number of points, [`MID360_POINTS`]; all three are ignored.
    Mid360,
    /// One ray, or none; all three are ignored.
    None,
}

/// Points of a frame of type 23.
pub const MID360_POINTS: usize = 64 * 272;

/// Supported values of `SendProtocol[0]`: 0 shared memory, 1 and 3 UDP compressed, 2 UDP raw.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Modes {
    /// 0 to 3.
    Image,
    /// 0, 1 and 3; 3 is the same as 1 here.
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

impl SensorKind {
    /// All types with documented data, in order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::Rgb,
        Self::Depth,
        Self::Grey,
        Self::Segmentation,
        Self::Range,
        Self::DepthCloud,
        Self::Fisheye,
        Self::Pod,
        Self::Lidar,
        Self::GlobalLidar,
        Self::Mid40,
        Self::Mid360,
        Self::Detections,
        Self::Targets,
        Self::Infrared,
        Self::Thermal,
    ];

    /// The properties of the type.
    #[rustfmt::skip] // a table
    pub const fn row(self) -> SensorType {
        use {Modes as M, Optics as O, Payload as P};
        let (name, payload, optics, modes) = match self {
            Self::Rgb          => ("RGB camera",          P::Bgr8,      O::Pinhole, M::Image),
            Self::Depth        => ("depth camera",        P::Grey16,    O::Pinhole, M::Image),
            Self::Grey         => ("grey camera",         P::Grey8,     O::Pinhole, M::Image),
            Self::Segmentation => ("segmentation camera", P::Bgr8,      O::Pinhole, M::Image),
            Self::Range        => ("range finder",        P::Range,     O::None,    M::Record),
            Self::DepthCloud   => ("depth cloud",         P::Points(3), O::Pinhole, M::Record),
            Self::Fisheye      => ("fisheye camera",      P::Bgr8,      O::Fisheye, M::Image),
            Self::Pod          => ("pod camera",          P::Bgr8,      O::Pinhole, M::Image),
            Self::Lidar        => ("lidar, sensor frame", P::Points(4), O::Rings,   M::Lidar),
            Self::GlobalLidar  => ("lidar, world frame",  P::Points(4), O::Rings,   M::Lidar),
            Self::Mid40        => ("Livox Mid-40",        P::Points(4), O::Rosette, M::Lidar),
            Self::Mid360       => ("Livox Mid-360",       P::Points(4), O::Mid360,  M::Lidar),
            Self::Detections   => ("object detector",     P::Boxes,     O::Pinhole, M::Record),
            Self::Targets      => ("target positions",    P::Targets,   O::None,    M::Record),
            Self::Infrared     => ("infrared camera",     P::Grey8,     O::Pinhole, M::Image),
            Self::Thermal      => ("thermal camera",      P::Bgr8,      O::Pinhole, M::Image),
        };
        SensorType { name, payload, optics, modes }
    }

    /// The sensor with a `TypeID`.
    pub fn from_type_id(type_id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.type_id() == type_id)
    }

    /// Its `TypeID`.
    pub const fn type_id(self) -> u16 {
        self as u16
    }
}
