//! Compares images with the configured shape. Another shape is accepted once several images in a row have it.
use super::{Codec, FramePayload, SensorError, Size, codec::size_of_file};

/// Number of consecutive images after which another shape is accepted.
const ACCEPTED_AFTER: u32 = 3;

/// Rejects images of one sensor that do not fit its configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageGuard {
    size: Size,
    /// Bytes of a raw image.
    pub(super) raw_len: usize,
    /// The transport delivers PNG or JPEG files.
    pub(super) expects_files: bool,
    /// Images larger than configured are allowed.
    larger: bool,
    /// Size of unexpected images, whether they are files, and how many came in a row.
    other: Option<(Size, bool, u32)>,
}

impl ImageGuard {
    /// Creates a guard for images with `pixel_len` bytes per raw pixel.
    pub(super) fn new(size: Size, pixel_len: usize, expects_files: bool, larger: bool) -> Self {
        Self { size, raw_len: size.pixels() * pixel_len, expects_files, larger, other: None }
    }

    /// Accepts or refuses a payload by its length and its file header alone; returns its size, and the codec of a file.
    pub(super) fn admit(
        &mut self,
        payload: &FramePayload<'_>,
        compressed: bool,
    ) -> Result<(Size, Option<Codec>), SensorError> {
        let (expected, found) = (self.raw_len, payload.len());
        // The content decides, not the mode (docs/wire/traps.md, png-or-jpeg); but a payload with the size of a raw
        // image in a raw mode is never taken for a file.
        let is_file = compressed || (found != expected && Codec::of(payload.bytes()).is_some());
        if !is_file && found != expected {
            return Err(SensorError::Size { expected, found });
        }
        let (size, codec) = if is_file {
            let (codec, size) = size_of_file(payload.bytes())?;
            (size, Some(codec))
        } else {
            (self.size, None)
        };
        self.admit_shape(size, is_file)?;
        Ok((size, codec))
    }

    fn admit_shape(&mut self, size: Size, is_file: bool) -> Result<(), SensorError> {
        let (Size { width, height }, configured) = (size, self.size);
        if !self.larger && (width > configured.width || height > configured.height) {
            return Err(SensorError::TooLarge { width, height, configured });
        }
        if (size, is_file) == (configured, self.expects_files) {
            self.other = None;
            return Ok(());
        }
        let same = self.other.filter(|(other, was_file, _)| (*other, *was_file) == (size, is_file));
        let count = same.map_or(0, |(.., count)| count).saturating_add(1);
        self.other = Some((size, is_file, count));
        if count >= ACCEPTED_AFTER {
            return Ok(());
        }
        Err(SensorError::Unexpected { width, height, file: is_file })
    }
}
