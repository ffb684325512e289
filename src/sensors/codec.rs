//! Decodes PNG and JPEG files into reused buffers.
//!
//! The file's first bytes select the codec: the vendor's documents contradict each other about which transport mode
//! sends which format (docs/wire/traps.md, png-or-jpeg). `png` and `zune-jpeg` are called directly, because the adapters of `image`
//! copy the whole file once more; rows are converted to BGR while they are in cache.
use super::{SensorError, pixels};
use crate::{config::SensorConfig, session::BufferPeak};
use png::{BitDepth, ColorType, Transformations};
use std::io::Cursor;
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

/// Longest side of any sensor's image (the range of `DataWidth` in the configuration).
const MAX_SIDE: usize = 8192;
/// Smallest limit of pixels if larger images are allowed.
const MIN_PIXEL_LIMIT: usize = 1 << 23;

/// File format of an image.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Codec {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
}

impl Codec {
    /// Detects the format from the first bytes.
    pub fn of(file: &[u8]) -> Option<Self> {
        match file {
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png),
            [0xFF, 0xD8, ..] => Some(Self::Jpeg),
            _ => None,
        }
    }

    /// Returns the name for error texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
        }
    }

    const fn broken(self) -> SensorError {
        SensorError::Undecodable { codec: self.name() }
    }
}

/// Layout of decoded pixels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// 3 bytes: blue, green, red.
    Bgr8,
    /// 3 bytes: red, green, blue.
    Rgb8,
    /// 1 byte.
    Mono8,
}

impl Layout {
    /// Returns the bytes per pixel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bgr8 | Self::Rgb8 => 3,
            Self::Mono8 => 1,
        }
    }

    /// Returns the name in `sensor_msgs/Image.encoding`.
    pub const fn encoding(self) -> &'static str {
        match self {
            Self::Bgr8 => "bgr8",
            Self::Rgb8 => "rgb8",
            Self::Mono8 => "mono8",
        }
    }
}

/// Width and height in px.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Size {
    /// Width in px.
    pub width: usize,
    /// Height in px.
    pub height: usize,
}

impl From<&SensorConfig> for Size {
    fn from(config: &SensorConfig) -> Self {
        Self { width: config.width.into(), height: config.height.into() }
    }
}

impl Size {
    /// Returns the number of pixels.
    pub const fn pixels(self) -> usize {
        self.width * self.height
    }
}

/// Decoder with reused buffers, which shrink after an unusually large image.
#[derive(Debug, Default)]
pub struct Decoder {
    pixels: Vec<u8>,
    rows: Vec<u8>,
    /// Bytes of both buffers used by the last image.
    used: (usize, usize),
    peaks: (BufferPeak, BufferPeak),
    expected: Size,
    /// Pixel limit if larger images are allowed.
    limit: Option<usize>,
}

impl Decoder {
    /// Creates a decoder for images of `expected` size; refuses larger ones.
    pub fn new(expected: Size) -> Self {
        Self { expected, ..Self::default() }
    }

    /// As [`Self::new`], but the limit is four times the pixels, at least 8 million.
    pub fn allowing_larger(expected: Size) -> Self {
        Self { limit: Some((4 * expected.pixels()).max(MIN_PIXEL_LIMIT)), ..Self::new(expected) }
    }

    /// Decodes a file; the pixels stay valid until the next call.
    pub fn decode(&mut self, file: &[u8], layout: Layout) -> Result<(Size, &[u8]), SensorError> {
        self.shrink_buffers();
        let size = match Codec::of(file) {
            Some(Codec::Png) => self.decode_png(file, layout)?,
            Some(Codec::Jpeg) => self.decode_jpeg(file, layout)?,
            None => return Err(SensorError::UnknownCodec { found: file.len() }),
        };
        Ok((size, &self.pixels[..size.pixels() * layout.bytes()]))
    }

    /// Decodes a 16-bit grey PNG to little-endian counts.
    pub fn decode_depth(&mut self, file: &[u8]) -> Result<(Size, &[u8]), SensorError> {
        self.shrink_buffers();
        match Codec::of(file) {
            Some(Codec::Png) => {}
            Some(Codec::Jpeg) => return Err(SensorError::DepthFormat),
            None => return Err(SensorError::UnknownCodec { found: file.len() }),
        }
        let mut reader = png_reader(file, Transformations::IDENTITY)?;
        let size = self.check_size(reader.info().width as usize, reader.info().height as usize)?;
        if reader.output_color_type() != (ColorType::Grayscale, BitDepth::Sixteen) {
            return Err(SensorError::DepthFormat);
        }
        let len = size.pixels() * 2;
        self.grow_buffers(len, len);
        reader.next_frame(&mut self.rows[..len]).map_err(broken_png)?;
        pixels::swap_bytes_16(&self.rows[..len], &mut self.pixels[..len]);
        Ok((size, &self.pixels[..len]))
    }

    /// Frees memory that only an unusually large image needed.
    fn shrink_buffers(&mut self) {
        let (pixels, rows) = std::mem::take(&mut self.used);
        self.peaks.0.shrink_if_due(pixels, &mut self.pixels);
        self.peaks.1.shrink_if_due(rows, &mut self.rows);
    }

    /// Grows both buffers if they are too small, so that a stream of equal frames allocates once.
    fn grow_buffers(&mut self, pixels: usize, rows: usize) {
        self.used = (pixels, rows);
        for (buffer, len) in [(&mut self.pixels, pixels), (&mut self.rows, rows)] {
            if buffer.len() < len {
                buffer.resize(len, 0);
            }
        }
    }

    fn check_size(&self, width: usize, height: usize) -> Result<Size, SensorError> {
        let size = Size { width, height };
        let configured = self.expected;
        let fits = match self.limit {
            Some(limit) => width <= MAX_SIDE && height <= MAX_SIDE && size.pixels() <= limit,
            None => width <= configured.width && height <= configured.height,
        };
        if !fits || width == 0 || height == 0 {
            return Err(SensorError::TooLarge { width, height, configured });
        }
        Ok(size)
    }

    fn decode_png(&mut self, file: &[u8], layout: Layout) -> Result<Size, SensorError> {
        let mut reader = png_reader(file, Transformations::EXPAND | Transformations::STRIP_16)?;
        let size = self.check_size(reader.info().width as usize, reader.info().height as usize)?;
        let (colour, _) = reader.output_color_type();
        let len = size.pixels() * layout.bytes();
        let is_direct = matches!(
            (colour, layout),
            (ColorType::Rgb, Layout::Rgb8 | Layout::Bgr8) | (ColorType::Grayscale, Layout::Mono8)
        );
        if is_direct && !reader.info().interlaced {
            let row_len = size.width * layout.bytes();
            self.grow_buffers(len, row_len);
            let scratch = &mut self.rows[..row_len];
            for row in self.pixels[..len].chunks_exact_mut(row_len) {
                if layout == Layout::Bgr8 {
                    reader.read_row(scratch).map_err(broken_png)?;
                    pixels::copy_swapped(scratch, row);
                } else {
                    reader.read_row(row).map_err(broken_png)?;
                }
            }
            reader.finish().map_err(broken_png)?;
            return Ok(size);
        }
        // Uncommon: interlaced files, files with alpha or a palette, grey files for colour sensors and vice versa.
        let needed = reader.output_buffer_size().ok_or(Codec::Png.broken())?;
        self.grow_buffers(len, needed);
        reader.next_frame(&mut self.rows[..needed]).map_err(broken_png)?;
        convert(&self.rows[..needed], colour.samples(), &mut self.pixels[..len], layout);
        Ok(size)
    }

    fn decode_jpeg(&mut self, file: &[u8], layout: Layout) -> Result<Size, SensorError> {
        let broken = |_| Codec::Jpeg.broken();
        // zune-jpeg has vector code for RGB only: RGB and a channel swap are faster than BGR.
        let space = if layout == Layout::Mono8 { ColorSpace::Luma } else { ColorSpace::RGB };
        let options = DecoderOptions::new_fast()
            .set_strict_mode(true) // a truncated frame is counted, not published with grey at its bottom
            .set_max_width(MAX_SIDE)
            .set_max_height(MAX_SIDE)
            .jpeg_set_out_colorspace(space);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
        decoder.decode_headers().map_err(broken)?;
        let (width, height) = decoder.dimensions().ok_or_else(|| Codec::Jpeg.broken())?;
        let size = self.check_size(width, height)?;
        let len = size.pixels() * layout.bytes();
        self.grow_buffers(len, if layout == Layout::Bgr8 { len } else { 0 });
        if layout == Layout::Bgr8 {
            decoder.decode_into(&mut self.rows[..len]).map_err(broken)?;
            pixels::copy_swapped(&self.rows[..len], &mut self.pixels[..len]);
        } else {
            decoder.decode_into(&mut self.pixels[..len]).map_err(broken)?;
        }
        Ok(size)
    }
}

/// Reads width and height from a file's header without decoding it.
pub fn size_of_file(file: &[u8]) -> Result<(Codec, Size), SensorError> {
    let codec = Codec::of(file).ok_or(SensorError::UnknownCodec { found: file.len() })?;
    let size = match codec {
        Codec::Png => png_size(file),
        Codec::Jpeg => jpeg_size(file),
    };
    Ok((codec, size.ok_or(codec.broken())?))
}

fn png_size(file: &[u8]) -> Option<Size> {
    let side = |at: usize| Some(u32::from_be_bytes(*file.get(at..)?.first_chunk()?) as usize);
    Some(Size { width: side(16)?, height: side(20)? })
}

/// Walks the markers up to the start of frame (SOF0..15 except DHT, JPG and DAC).
fn jpeg_size(file: &[u8]) -> Option<Size> {
    let mut rest = file.get(2..)?;
    loop {
        let [0xFF, marker, after @ ..] = rest else { return None };
        rest = match marker {
            0xFF => rest.get(1..)?,      // fill byte
            0x01 | 0xD0..=0xD8 => after, // markers without length
            0xD9 | 0xDA => return None,  // end or scan before any frame
            _ => {
                let &[high, low, ..] = after else { return None };
                if matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC) {
                    let &[_, h1, h0, w1, w0, ..] = after.get(2..)? else { return None };
                    let side = |high, low| usize::from(u16::from_be_bytes([high, low]));
                    return Some(Size { width: side(w1, w0), height: side(h1, h0) });
                }
                after.get(usize::from(u16::from_be_bytes([high, low])).max(2)..)?
            }
        };
    }
}

fn png_reader(
    file: &[u8],
    transformations: Transformations,
) -> Result<png::Reader<Cursor<&[u8]>>, SensorError> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(transformations);
    decoder.read_info().map_err(broken_png)
}

/// Converts pixels of 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGB, alpha) samples; alpha is dropped as OpenCV does.
fn convert(from: &[u8], samples: usize, to: &mut [u8], layout: Layout) {
    for (s, t) in from.chunks_exact(samples).zip(to.chunks_exact_mut(layout.bytes())) {
        let rgb = if samples < 3 { [s[0]; 3] } else { [s[0], s[1], s[2]] };
        match layout {
            Layout::Rgb8 => t.copy_from_slice(&rgb),
            Layout::Bgr8 => t.copy_from_slice(&[rgb[2], rgb[1], rgb[0]]),
            Layout::Mono8 => t[0] = if samples < 3 { s[0] } else { pixels::luma(rgb) },
        }
    }
}

/// The decoder's error text is dropped: only the number of broken images is reported.
fn broken_png(_: png::DecodingError) -> SensorError {
    Codec::Png.broken()
}
