use super::Size;
use crate::ros::RosError;
use crate::wire::{CloudShape, WireError};

/// Why a frame was not published, or not completely; never fatal, counted by its [`SensorError::cause`].
#[derive(Debug, thiserror::Error, strum::EnumDiscriminants)]
#[strum_discriminants(
    name(SensorCause),
    derive(strum::IntoStaticStr),
    strum(serialize_all = "snake_case"),
    doc = "Cause under which a [`SensorError`] is counted."
)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum SensorError {
    /// The payload does not have the layout of its sensor type.
    #[error(transparent)]
    Layout(#[from] WireError),
    /// A raw image does not have the configured size.
    #[error("raw image of {found} bytes instead of {expected}")]
    Size { expected: usize, found: usize },
    /// The length of the payload fits no form of clouds, or more than one.
    #[error(
        "cloud of no known form ({shape}); please send a recording (docs/record.md) to the maintainers"
    )]
    CloudForm { shape: CloudShape },
    /// Odometry in an unknown frame; the cloud was published.
    #[error("odometry of a cloud has the unknown axis_type {axis_type}")]
    OdometryFrame { axis_type: i32 },
    /// The payload starts with neither a PNG nor a JPEG signature.
    #[error("compressed image of {found} bytes is neither PNG nor JPEG")]
    UnknownCodec { found: usize },
    /// The codec could not decode the image.
    #[error("{codec} image is broken")]
    Undecodable { codec: &'static str },
    /// The image is larger than configured or, with `image.allow_larger`, than its limit.
    #[error(
        "image of {width} x {height} pixels, larger than configured ({} x {}); image.allow_larger:=true accepts 4 times the pixels",
        .configured.width, .configured.height
    )]
    TooLarge { width: usize, height: usize, configured: Size },
    /// An image of another size or kind than configured; accepted once several equal images arrived.
    #[error("{} image of {width} x {height} pixels does not fit the configuration; accepted if others like it follow", kind_of(.file))]
    Unexpected { width: usize, height: usize, file: bool },
    /// The frame's time is far from the simulation time.
    #[error("time is far from the simulation time")]
    Time,
    /// Entries with a NaN or infinite number; the others were published.
    #[error("{count} entries with a NaN or infinite number")]
    NotFinite { count: usize },
    /// A depth image arrived in a lossy or 8-bit format, which destroys its counts.
    #[error("depth image is not a 16-bit grey PNG")]
    DepthFormat,
    /// The simulator overwrote the shared-memory block while it was read.
    #[error("shared-memory block changed while it was read")]
    Torn,
    /// The frame may show the old view or the new one.
    #[error("the frame may show the view from before a change or the new view")]
    ViewUnknown,
    /// The frame was dropped because of `degrade.drop`.
    #[error("dropped on purpose")]
    OnPurpose,
    /// The memory for delayed frames is full.
    #[error("the memory for delayed frames is full; lower degrade.latency_s or degrade.jitter_s")]
    HeldTooMany,
    /// The middleware refused the message.
    #[error(transparent)]
    Publish(#[from] RosError),
}

fn kind_of(file: &bool) -> &'static str {
    if *file { "compressed" } else { "raw" }
}

impl SensorError {
    /// Whether the payload cannot be from this sensor as it is configured.
    pub fn is_foreign(&self) -> bool {
        matches!(
            self,
            Self::Layout(_)
                | Self::Size { .. }
                | Self::CloudForm { .. }
                | Self::UnknownCodec { .. }
                | Self::Undecodable { .. }
                | Self::TooLarge { .. }
                | Self::Unexpected { .. }
                | Self::DepthFormat
                | Self::Time
        )
    }

    /// Returns the cause under which the error is counted.
    pub fn cause(&self) -> SensorCause {
        self.into()
    }
}

impl SensorCause {
    /// Name in `/diagnostics`, stable over releases.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
