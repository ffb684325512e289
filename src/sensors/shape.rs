//! Is an image what was asked for? One that is not is taken once others like it have come.
use super::{SensorError, Size};

/// Images of another shape in a row that make it the shape of the stream.
const WITNESSES: u32 = 3;

/// Size and kind of an image.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shape {
    pub(super) size: Size,
    /// PNG or JPEG, not raw.
    pub(super) file: bool,
}

/// Guards one sensor against images that do not fit its configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeGuard {
    configured: Shape,
    /// Images larger than configured may come.
    larger: bool,
    other: Option<(Shape, u32)>,
}

impl ShapeGuard {
    pub(super) fn new(configured: Shape, larger: bool) -> Self {
        Self {
            configured,
            larger,
            other: None,
        }
    }

    /// Takes an image or says why not, by its head alone.
    pub(super) fn admit(&mut self, shape: Shape) -> Result<(), SensorError> {
        let Size { width, height } = shape.size;
        let configured = self.configured.size;
        if !self.larger && (width > configured.width || height > configured.height) {
            return Err(SensorError::TooLarge {
                width,
                height,
                configured,
            });
        }
        if shape == self.configured {
            self.other = None;
            return Ok(());
        }
        let before = (self.other)
            .filter(|(other, _)| *other == shape)
            .map_or(0, |(_, count)| count);
        let count = before.saturating_add(1);
        self.other = Some((shape, count));
        if count >= WITNESSES {
            return Ok(());
        }
        let file = shape.file;
        Err(SensorError::Unexpected {
            width,
            height,
            file,
        })
    }
}
