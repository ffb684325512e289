//! Image files for the compressed transports.
use crate::wire::{Payload, SensorKind, SensorRequest};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};

/// Layout of a sensor's uncompressed payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::emulator) enum Layout {
    Bgr8,
    Grey8,
    /// Little-endian.
    Grey16,
    /// Not an image.
    Record,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(in crate::emulator) enum Codec {
    Raw,
    Png,
    Jpeg,
}

/// Layout of the uncompressed payload, and the codec for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::emulator) struct Encoding {
    pub(in crate::emulator) layout: Layout,
    pub(in crate::emulator) codec: Codec,
}

impl Encoding {
    pub(in crate::emulator) fn is_image(self) -> bool {
        self.layout != Layout::Record
    }

    pub(in crate::emulator) fn is_compressed(self) -> bool {
        self.codec != Codec::Raw
    }

    pub(in crate::emulator) fn bytes_per_pixel(self) -> usize {
        match self.layout {
            Layout::Bgr8 => 3,
            Layout::Grey16 => 2,
            Layout::Grey8 | Layout::Record => 1,
        }
    }
}

/// Returns the encoding of a sensor's data. `swap` exchanges PNG and JPEG between modes 1 and 3; depth is always PNG,
/// because it must be lossless.
pub(in crate::emulator) fn encoding_of(request: &SensorRequest, swap: bool) -> Encoding {
    let payload = SensorKind::from_type_id(request.type_id).map(|kind| kind.row().payload);
    let layout = match payload {
        Some(Payload::Bgr8) => Layout::Bgr8,
        Some(Payload::Grey16) => Layout::Grey16,
        Some(Payload::Grey8) => Layout::Grey8,
        _ => Layout::Record,
    };
    let codec = match (layout, request.send_protocol.mode) {
        (Layout::Record, _) => Codec::Raw,
        (Layout::Grey16, 1 | 3) => Codec::Png,
        (_, mode @ (1 | 3)) if (mode == 1) != swap => Codec::Png,
        (_, 1 | 3) => Codec::Jpeg,
        _ => Codec::Raw,
    };
    Encoding { layout, codec }
}

/// Encodes an image into `file`; `raw` must be a whole image of this encoding and size.
pub(in crate::emulator) fn encode(
    encoding: Encoding,
    (width, height): (u16, u16),
    raw: &[u8],
    file: &mut Vec<u8>,
) -> image::ImageResult<()> {
    const JPEG_QUALITY: u8 = 90;
    let mut swapped = Vec::new();
    let (pixels, colour) = match encoding.layout {
        Layout::Bgr8 => {
            swapped.extend(raw.chunks_exact(3).flat_map(|p| [p[2], p[1], p[0]]));
            (swapped.as_slice(), ExtendedColorType::Rgb8)
        }
        Layout::Grey16 => {
            // The encoder expects native byte order.
            swapped.extend(
                raw.chunks_exact(2).flat_map(|p| u16::from_le_bytes([p[0], p[1]]).to_ne_bytes()),
            );
            (swapped.as_slice(), ExtendedColorType::L16)
        }
        Layout::Grey8 | Layout::Record => (raw, ExtendedColorType::L8),
    };
    file.clear();
    let (width, height) = (width.into(), height.into());
    match encoding.codec {
        Codec::Raw => {
            file.extend_from_slice(raw);
            Ok(())
        }
        Codec::Png => PngEncoder::new_with_quality(file, CompressionType::Fast, FilterType::Sub)
            .write_image(pixels, width, height, colour),
        Codec::Jpeg => JpegEncoder::new_with_quality(file, JPEG_QUALITY)
            .write_image(pixels, width, height, colour),
    }
}
