//! The renderer's scene as values: terrain, and how warm objects look. No I/O, no clock.
mod radiance;
mod terrain;

pub use radiance::{RADIANCE_CLASSES, RadianceClass, stencil_values};
pub use terrain::{Rounding, TerrainError, TerrainMap};
