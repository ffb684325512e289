//! The renderer's scene as values, against what the vendor's SDK computes.
mod radiance;
mod terrain;
