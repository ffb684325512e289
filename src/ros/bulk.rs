//! Messages with one large array, published from borrowed data.
//!
//! In CDR the message is a head before the array and a tail after it. The back end gathers head, array and tail in one copy,
//! or adds head and tail around an array in loaned memory ([`Loan`](super::Loan)). In a workspace: a reused message, filled
//! with one copy, or loaned.
use super::RosError;
use crate::msgs::{
    Message,
    sensor_msgs::msg::{CompressedImage, Image, PointCloud2, PointField},
    std_msgs::msg::Header,
};
use serde::Serialize;
use vm_memory::VolatileSlice;

/// Encapsulation header of plain little-endian CDR (RTPS 2.3, 10.2).
const CDR_LE: [u8; 4] = [0, 1, 0, 0];

/// Bytes of an array.
#[derive(Clone, Copy, Debug)]
pub enum Bytes<'a> {
    /// Not written concurrently.
    Own(&'a [u8]),
    /// Another process may write to them: copied first, and read only in the copy.
    Foreign(VolatileSlice<'a>),
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Own(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Bytes<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Own(bytes)
    }
}

impl<'a> From<VolatileSlice<'a>> for Bytes<'a> {
    fn from(bytes: VolatileSlice<'a>) -> Self {
        Self::Foreign(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Bytes<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Own(bytes)
    }
}

impl Bytes<'_> {
    /// Number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.len(),
            Self::Foreign(bytes) => bytes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies as many bytes as fit.
    pub fn copy_to(&self, to: &mut [u8]) {
        match self {
            Self::Own(bytes) => {
                let n = bytes.len().min(to.len());
                to[..n].copy_from_slice(&bytes[..n]);
            }
            Self::Foreign(bytes) => {
                bytes.copy_to(to);
            }
        }
    }
}

/// An image without its data: `step * height` bytes, rows `step` bytes apart, little-endian samples.
#[derive(Clone, Copy, Debug)]
pub struct ImageHead<'a> {
    /// Stamp of acquisition and optical frame.
    pub header: &'a Header,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// For example `bgr8`, `mono8`, `16UC1` (sensor_msgs/image_encodings.hpp).
    pub encoding: &'a str,
    /// Bytes per row.
    pub step: u32,
}

/// A compressed image without its data, the file's bytes.
#[derive(Clone, Copy, Debug)]
pub struct CompressedHead<'a> {
    /// Stamp of acquisition and optical frame.
    pub header: &'a Header,
    /// For example `jpeg`, `png`, `bgr8; jpeg compressed bgr8` (compressed_image_transport).
    pub format: &'a str,
}

/// A point cloud without its data: `point_step * width * height` bytes, little-endian fields, rows of
/// `width * point_step` bytes.
#[derive(Clone, Copy, Debug)]
pub struct CloudHead<'a> {
    /// Stamp of acquisition and frame of the points.
    pub header: &'a Header,
    /// Rows; 1 if not organised.
    pub height: u32,
    /// Points per row.
    pub width: u32,
    /// Layout of one point.
    pub fields: &'a [PointField],
    /// Bytes per point.
    pub point_step: u32,
    /// True if no point is NaN.
    pub is_dense: bool,
}

/// Bytes after the array: at most a flag and padding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    bytes: [u8; 4],
    length: usize,
}

impl Tail {
    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// `flag`, if any, then zeros to a multiple of four (RTPS fragments end on one).
    fn new(body_length: usize, flag: Option<bool>) -> Self {
        let mut tail = Self::default();
        if let Some(flag) = flag {
            tail.bytes[0] = u8::from(flag);
            tail.length = 1;
        }
        tail.length += (body_length + tail.length).wrapping_neg() % 4;
        tail
    }
}

/// A message with one big array.
pub trait Bulk: Message {
    /// Array of the message in the layout of the workspace's type support.
    #[cfg(feature = "rclrs")]
    #[doc(hidden)]
    fn array(message: &mut Self::RmwMsg) -> &mut ::rclrs::rosidl_runtime_rs::Sequence<u8>;

    /// The same, immutable.
    #[cfg(feature = "rclrs")]
    #[doc(hidden)]
    fn array_of(message: &Self::RmwMsg) -> &::rclrs::rosidl_runtime_rs::Sequence<u8>;
}

macro_rules! bulk {
    ($($message:ident)+) => {
        $(impl Bulk for $message {
            #[cfg(feature = "rclrs")]
            fn array(message: &mut Self::RmwMsg) -> &mut ::rclrs::rosidl_runtime_rs::Sequence<u8> {
                &mut message.data
            }

            #[cfg(feature = "rclrs")]
            fn array_of(message: &Self::RmwMsg) -> &::rclrs::rosidl_runtime_rs::Sequence<u8> {
                &message.data
            }
        })+
    };
}

bulk!(Image CompressedImage PointCloud2);

/// A message without its array, as the back ends need it.
pub(super) trait Head {
    /// The complete message type.
    type Message: Bulk;

    /// Writes the CDR before an array of `data` bytes, and returns the tail.
    fn encode(&self, head: &mut Vec<u8>, data: usize) -> Result<Tail, RosError>;

    /// Fills the message except its array, in the layout of the workspace's type support.
    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut <Self::Message as crate::msgs::BackendMessage>::RmwMsg);
}

impl Head for ImageHead<'_> {
    type Message = Image;

    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut super::rclrs::Image) {
        super::rclrs::image(self, message);
    }

    fn encode(&self, head: &mut Vec<u8>, data: usize) -> Result<Tail, RosError> {
        #[derive(Serialize)]
        struct Fields<'a> {
            header: &'a Header,
            height: u32,
            width: u32,
            encoding: &'a str,
            is_bigendian: u8,
            step: u32,
            data_length: u32,
        }
        let &Self { header, height, width, encoding, step } = self;
        let data_length = length(data, Image::TYPE)?;
        encode(
            head,
            Image::TYPE,
            &Fields { header, height, width, encoding, is_bigendian: 0, step, data_length },
        )?;
        Ok(Tail::new(head.len() + data, None))
    }
}

impl Head for CompressedHead<'_> {
    type Message = CompressedImage;

    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut super::rclrs::CompressedImage) {
        super::rclrs::compressed(self, message);
    }

    fn encode(&self, head: &mut Vec<u8>, data: usize) -> Result<Tail, RosError> {
        #[derive(Serialize)]
        struct Fields<'a> {
            header: &'a Header,
            format: &'a str,
            data_length: u32,
        }
        let &Self { header, format } = self;
        let data_length = length(data, CompressedImage::TYPE)?;
        encode(head, CompressedImage::TYPE, &Fields { header, format, data_length })?;
        Ok(Tail::new(head.len() + data, None))
    }
}

impl Head for CloudHead<'_> {
    type Message = PointCloud2;

    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut super::rclrs::PointCloud2) {
        super::rclrs::cloud(self, message);
    }

    fn encode(&self, head: &mut Vec<u8>, data: usize) -> Result<Tail, RosError> {
        #[derive(Serialize)]
        struct Fields<'a> {
            header: &'a Header,
            height: u32,
            width: u32,
            fields: &'a [PointField],
            is_bigendian: bool,
            point_step: u32,
            row_step: u32,
            data_length: u32,
        }
        let &Self { header, height, width, fields, point_step, is_dense } = self;
        let data_length = length(data, PointCloud2::TYPE)?;
        let row_step = point_step.wrapping_mul(width);
        let before = Fields {
            header,
            height,
            width,
            fields,
            is_bigendian: false,
            point_step,
            row_step,
            data_length,
        };
        encode(head, PointCloud2::TYPE, &before)?;
        Ok(Tail::new(head.len() + data, Some(is_dense)))
    }
}

fn length(bytes: usize, type_name: &'static str) -> Result<u32, RosError> {
    u32::try_from(bytes).map_err(|error| RosError::Encode {
        type_name,
        message: format!("{bytes} bytes of data: {error}"),
    })
}

/// Appends the encapsulation header and the CDR of `value` to the empty `buffer`.
pub(super) fn encode<T: Serialize + ?Sized>(
    buffer: &mut Vec<u8>,
    type_name: &'static str,
    value: &T,
) -> Result<(), RosError> {
    buffer.extend_from_slice(&CDR_LE);
    cdr_encoding::to_writer::<_, byteorder::LittleEndian, _>(&mut *buffer, &value)
        .map_err(|error| RosError::Encode { type_name, message: error.to_string() })
}

/// Pads with zeros to a multiple of four (RTPS fragments end on one).
pub(super) fn pad(buffer: &mut Vec<u8>) {
    buffer.resize(buffer.len().next_multiple_of(4), 0);
}
