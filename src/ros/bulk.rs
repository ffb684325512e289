//! Messages with one large array, published from borrowed data.
//!
//! In CDR the message is a head before the array and a tail after it. The back end gathers head, array and tail in one copy,
//! or adds head and tail around an array in loaned memory ([`Loan`](super::Loan)). In a workspace, the array is copied once
//! into a reused message, or belongs to a loaned message.
#[cfg(feature = "rclrs")]
mod fill;

use super::RosError;
use crate::msgs::sensor_msgs::msg::{CompressedImage, Image, PointCloud2, PointField};
use crate::{msgs::Message, msgs::std_msgs::msg::Header};
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

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for Bytes<'a> {
    fn from(bytes: &'a T) -> Self {
        Self::Own(bytes.as_ref())
    }
}

impl<'a> From<VolatileSlice<'a>> for Bytes<'a> {
    fn from(bytes: VolatileSlice<'a>) -> Self {
        Self::Foreign(bytes)
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

    /// Whether there are no bytes.
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

/// A compressed image without its data (the bytes of the file).
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
pub struct Tail {
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
pub trait BulkHead {
    /// The complete message type.
    type Message: Bulk;

    /// The fields before the array, with the length of the array as the last one.
    fn fields(&self, data_length: u32) -> impl Serialize;

    /// The flag after the array, if the message has one.
    fn flag(&self) -> Option<bool> {
        None
    }

    /// Writes the CDR before an array of `data` bytes, and returns the tail.
    fn encode(&self, head: &mut Vec<u8>, data: usize) -> Result<Tail, RosError> {
        let type_name = Self::Message::TYPE;
        encode(head, type_name, &self.fields(length(data, type_name)?))?;
        Ok(Tail::new(head.len() + data, self.flag()))
    }

    /// Fills the message except its array, in the layout of the workspace's type support.
    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut <Self::Message as crate::msgs::BackendMessage>::RmwMsg);
}

impl BulkHead for ImageHead<'_> {
    type Message = Image;

    fn fields(&self, data_length: u32) -> impl Serialize {
        let is_bigendian = 0_u8;
        let &Self { header, height, width, encoding, step } = self;
        (header, height, width, encoding, is_bigendian, step, data_length)
    }

    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut fill::Image) {
        fill::image(self, message);
    }
}

impl BulkHead for CompressedHead<'_> {
    type Message = CompressedImage;

    fn fields(&self, data_length: u32) -> impl Serialize {
        (self.header, self.format, data_length)
    }

    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut fill::CompressedImage) {
        fill::compressed(self, message);
    }
}

impl BulkHead for CloudHead<'_> {
    type Message = PointCloud2;

    fn fields(&self, data_length: u32) -> impl Serialize {
        let is_bigendian = false;
        let &Self { header, height, width, fields, point_step, .. } = self;
        let row_step = point_step.wrapping_mul(width);
        (header, height, width, fields, is_bigendian, point_step, row_step, data_length)
    }

    fn flag(&self) -> Option<bool> {
        Some(self.is_dense)
    }

    #[cfg(feature = "rclrs")]
    fn fill(&self, message: &mut fill::PointCloud2) {
        fill::cloud(self, message);
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
