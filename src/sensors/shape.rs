//! Compares images with the requested shape. Another shape is accepted once several images in a row have it.
use super::{SensorError, Size};

/// Images of another shape in a row after which it is accepted.
const WITNESSES: u32 = 3;

/// Size and kind of an image.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shape {
    pub(super) size: Size,
    /// PNG or JPEG instead of raw.
    pub(super) file: bool,
}

/// Rejects images of one sensor that do not fit its configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeGuard {
    configured: Shape,
    /// Images larger than configured are allowed.
    larger: bool,
    other: Option<(Shape, u32)>,
}

impl ShapeGuard {
    pub(super) fn new(configured: Shape, larger: bool) -> Self {
        Self { configured, larger, other: None }
    }

    /// Accepts or refuses an image by its header alone.
    pub(super) fn admit(&mut self, shape: Shape) -> Result<(), SensorError> {
        let Size { width, height } = shape.size;
        let configured = self.configured.size;
        if !self.larger && (width > configured.width || height > configured.height) {
            return Err(SensorError::TooLarge { width, height, configured });
        }
        if shape == self.configured {
            self.other = None;
            return Ok(());
        }
        let before =
            (self.other).filter(|(other, _)| *other == shape).map_or(0, |(_, count)| count);
        let count = before.saturating_add(1);
        self.other = Some((shape, count));
        if count >= WITNESSES {
            return Ok(());
        }
        let file = shape.file;
        Err(SensorError::Unexpected { width, height, file })
    }
}
