use crate::{ros::RosError, wire::WireError};

/// Why a frame was not (completely) published. Each is counted by [`SensorError::cause`] and never fatal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SensorError {
    /// The payload does not have the layout of its kind.
    #[error(transparent)]
    Layout(#[from] WireError),
    /// A raw image has another size than the sensor's settings say.
    #[error("raw image of {found} bytes instead of {expected}")]
    Size {
        /// Bytes that width, height and pixel format give.
        expected: usize,
        /// Bytes received.
        found: usize,
    },
    /// The payload starts like neither PNG nor JPEG.
    #[error("compressed image with an unknown start, {found} bytes")]
    UnknownCodec {
        /// Bytes received.
        found: usize,
    },
    /// The codec gave up.
    #[error("{codec} image is broken")]
    Undecodable {
        /// `png` or `jpeg`.
        codec: &'static str,
    },
    /// The image declares more pixels than a sensor can have.
    #[error("image of {width} x {height} pixels is too large")]
    TooLarge {
        /// Declared width.
        width: usize,
        /// Declared height.
        height: usize,
    },
    /// A depth image arrived in a lossy or 8-bit format, so its counts are gone.
    #[error("depth image is not a 16-bit grey PNG")]
    DepthFormat,
    /// The simulator overwrote the shared-memory block while it was read.
    #[error("shared-memory block changed while it was read")]
    Torn,
    /// The middleware refused the message.
    #[error(transparent)]
    Publish(#[from] RosError),
}

impl SensorError {
    /// Returns a short name to count by, stable over releases.
    pub fn cause(&self) -> &'static str {
        match self {
            Self::Layout(_) => "layout",
            Self::Size { .. } => "size",
            Self::UnknownCodec { .. } => "unknown_codec",
            Self::Undecodable { .. } => "undecodable",
            Self::TooLarge { .. } => "too_large",
            Self::DepthFormat => "depth_format",
            Self::Torn => "torn",
            Self::Publish(_) => "publish",
        }
    }
}
