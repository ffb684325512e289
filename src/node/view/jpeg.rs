//! Encodes a `sensor_msgs/msg/Image` as a small JPEG; each depth becomes a colour from red (near) to blue (far).
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;

/// Maximum width of a thumbnail in pixels; a wider image is reduced by an integer factor.
const MAX_WIDTH: usize = 480;
const QUALITY: u8 = 75;
/// Ends of the colour scale of depth in m.
const NEAR: f32 = 0.5;
const FAR: f32 = 60.0;
/// Maximum width and height of an image in pixels; a larger one is taken as malformed.
const MAX_SIZE: usize = 16_384;

/// A `sensor_msgs/msg/Image` in CDR.
struct RosImage<'a> {
    height: usize,
    width: usize,
    encoding: &'a str,
    is_big_endian: bool,
    step: usize,
    data: &'a [u8],
}

/// Reads little-endian CDR; `bytes` start after the encapsulation header.
struct CdrCursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> CdrCursor<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(len)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.at = self.at.next_multiple_of(4);
        let bytes = self.take(4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    fn string(&mut self) -> Option<&'a str> {
        let text = self.bytes()?;
        std::str::from_utf8(text.strip_suffix(&[0]).unwrap_or(text)).ok()
    }
}

impl<'a> RosImage<'a> {
    fn read(cdr: &'a [u8]) -> Option<Self> {
        let ([0, 1, _, _], bytes) = cdr.split_first_chunk()? else { return None };
        let mut cdr = CdrCursor { bytes, at: 8 }; // skips the stamp
        let _frame_id = cdr.string()?;
        let [height, width] = [cdr.u32()? as usize, cdr.u32()? as usize];
        let encoding = cdr.string()?;
        let is_big_endian = cdr.take(1)? != [0];
        let step = cdr.u32()? as usize;
        let data = cdr.bytes()?;
        let is_valid = (1..=MAX_SIZE).contains(&height) && (1..=MAX_SIZE).contains(&width);
        is_valid.then_some(Self { height, width, encoding, is_big_endian, step, data })
    }
}

/// Bytes per pixel, and the conversion of these bytes to RGB; the flag tells it whether they are big-endian.
type PixelFormat = (usize, fn(&[u8], bool) -> [u8; 3]);

fn pixel_format(encoding: &str) -> Option<PixelFormat> {
    Some(match encoding {
        "rgb8" => (3, |p, _| [p[0], p[1], p[2]]),
        "rgba8" => (4, |p, _| [p[0], p[1], p[2]]),
        "bgr8" | "8UC3" => (3, |p, _| [p[2], p[1], p[0]]),
        "bgra8" => (4, |p, _| [p[2], p[1], p[0]]),
        "mono8" | "8UC1" => (1, |p, _| [p[0]; 3]),
        "mono16" => (2, |p, big| [(read_u16(p, big) >> 8) as u8; 3]),
        "16UC1" => (2, |p, big| depth_colour(f32::from(read_u16(p, big)) * 1e-3)),
        "32FC1" => (4, |p, big| depth_colour(read_f32(p, big))),
        _ => return None,
    })
}

fn read_u16(pixel: &[u8], is_big_endian: bool) -> u16 {
    let bytes = [pixel[0], pixel[1]];
    if is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
}

fn read_f32(pixel: &[u8], is_big_endian: bool) -> f32 {
    let bytes = [pixel[0], pixel[1], pixel[2], pixel[3]];
    if is_big_endian { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) }
}

/// Colour of a depth; black if it is invalid.
fn depth_colour(metres: f32) -> [u8; 3] {
    if !metres.is_finite() || metres <= 0.0 {
        return [0; 3];
    }
    let far = (metres.clamp(NEAR, FAR) / NEAR).ln() / (FAR / NEAR).ln();
    // A hue from 0 to 4: red, yellow, green, cyan, blue.
    let hue = far * 4.0;
    let channel = |at: f32| ((2.0 - (hue - at).abs()).clamp(0.0, 1.0) * 225.0 + 20.0) as u8;
    [channel(0.0), channel(2.0), channel(4.0)]
}

/// The thumbnail of an image; `None` if the image is malformed or its encoding is unknown.
pub(super) fn encode(cdr: &[u8]) -> Option<Vec<u8>> {
    let image = RosImage::read(cdr)?;
    let (size, colour) = pixel_format(image.encoding)?;
    let factor = image.width.div_ceil(MAX_WIDTH);
    let (width, height) = ((image.width / factor).max(1), (image.height / factor).max(1));
    let mut rgb = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        let row = image.data.get(y * factor * image.step..)?;
        let row = row.get(..image.width * size)?;
        let pixels = row.chunks_exact(size).step_by(factor).take(width);
        rgb.extend(pixels.flat_map(|pixel| colour(pixel, image.is_big_endian)));
    }
    let mut jpeg = Vec::with_capacity(rgb.len() / 8);
    let mut encoder = JpegEncoder::new_with_quality(&mut jpeg, QUALITY);
    encoder.encode(&rgb, width as u32, height as u32, ExtendedColorType::Rgb8).ok()?;
    Some(jpeg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cdr(encoding: &str, width: u32, height: u32, step: u32, data: &[u8]) -> Vec<u8> {
        let mut cdr = vec![0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0];
        cdr.extend(b"map\0");
        cdr.extend([height, width].iter().flat_map(|n| n.to_le_bytes()));
        cdr.extend((encoding.len() as u32 + 1).to_le_bytes());
        cdr.extend(encoding.as_bytes());
        cdr.extend([0, 0]);
        cdr.resize(4 + (cdr.len() - 4).next_multiple_of(4), 0);
        cdr.extend([step, data.len() as u32].iter().flat_map(|n| n.to_le_bytes()));
        cdr.extend(data);
        cdr
    }

    fn colour_of(jpeg: &[u8]) -> (u32, u32, [u8; 3]) {
        let rgb = image::load_from_memory(jpeg).expect("a JPEG").to_rgb8();
        let middle = rgb.get_pixel(rgb.width() / 2, rgb.height() / 2);
        (rgb.width(), rgb.height(), middle.0)
    }

    fn nearly(found: [u8; 3], wanted: [u8; 3]) -> bool {
        found.iter().zip(wanted).all(|(f, w)| f.abs_diff(w) < 12)
    }

    #[test]
    fn colours_are_kept_and_large_images_are_reduced() {
        let rgb = [200, 30, 60].repeat(960 * 4);
        let (width, height, middle) =
            colour_of(&encode(&cdr("rgb8", 960, 4, 2880, &rgb)).expect("made"));
        assert_eq!((width, height), (480, 2));
        assert!(nearly(middle, [200, 30, 60]), "{middle:?}");
        let (_, _, middle) = colour_of(&encode(&cdr("bgr8", 960, 4, 2880, &rgb)).expect("made"));
        assert!(nearly(middle, [60, 30, 200]), "{middle:?}");
    }

    #[test]
    fn near_is_red_far_is_blue_and_invalid_is_black() {
        let of = |metres: f32| {
            let data = metres.to_le_bytes().repeat(256);
            colour_of(&encode(&cdr("32FC1", 16, 16, 64, &data)).expect("made")).2
        };
        assert!(nearly(of(0.1), [245, 20, 20]), "{:?}", of(0.1));
        assert!(nearly(of(100.0), [20, 20, 245]), "{:?}", of(100.0));
        assert!(nearly(of(f32::NAN), [0; 3]) && nearly(of(f32::INFINITY), [0; 3]));
        let data = 5477_u16.to_le_bytes().repeat(256); // the geometric mean of both ends
        let middle = colour_of(&encode(&cdr("16UC1", 16, 16, 32, &data)).expect("made")).2;
        assert!(nearly(middle, [20, 245, 20]), "{middle:?}");
    }

    #[test]
    fn truncated_images_and_unknown_encodings_have_no_thumbnail() {
        let whole = cdr("mono8", 16, 16, 16, &[7; 256]);
        assert!(encode(&whole).is_some());
        for len in 0..whole.len() {
            assert!(encode(&whole[..len]).is_none(), "{len}");
        }
        assert!(encode(&cdr("bayer_rggb8", 16, 16, 16, &[7; 256])).is_none());
        assert!(encode(&cdr("mono8", 0, 16, 16, &[7; 256])).is_none());
        assert!(encode(&cdr("mono8", 16, 16, 8, &[7; 120])).is_none());
        assert!(encode(&cdr("mono8", u32::MAX, 16, 16, &[7; 256])).is_none());
    }
}
