//! Scans of the Livox lidars that never repeat: the ratios of their frequencies are irrational, so that no two
//! frames have the same rays. A frame has the directions of the period that ends at its time, in order.
use super::lidar::direction;
use crate::emulator::world::RayBundle;
use crate::wire::MID360_POINTS;
use std::f64::consts::TAU;

/// The golden ratio, less 1.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// Revolutions per second of the Mid-40's faster prism; the other one turns against it.
const PRISM_HZ: f64 = 121.57;
/// Elevation cycles and revolutions per second of the Mid-360's rays.
const NOD_HZ: f64 = 1200.0;
const TURN_HZ: f64 = 12.0 * (1.0 + GOLDEN);
/// Lowest and highest ray of the Mid-360 in degrees.
const ELEVATION: [f64; 2] = [-7.0, 52.0];

/// Simulation time of the last ray of a frame, and duration of the frame, in s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sweep {
    pub(super) end: f64,
    pub(super) period: f64,
}

impl Sweep {
    /// Returns the times of `count` rays.
    fn times(self, count: usize) -> impl Iterator<Item = f64> {
        let step = self.period / count.max(1) as f64;
        (1..=count).map(move |i| self.end - self.period + i as f64 * step)
    }
}

/// Returns the rays of a Mid-40 (type 22): a rosette with petals of half the field of view.
pub(super) fn mid40(count: usize, fov_deg: f64, sweep: Sweep) -> RayBundle {
    let reach = fov_deg.to_radians() / 4.0;
    RayBundle::new(sweep.times(count).map(move |t| {
        let (s1, c1) = (TAU * PRISM_HZ * t).sin_cos();
        let (s2, c2) = (TAU * PRISM_HZ * GOLDEN * t).sin_cos();
        direction(reach * (c1 + c2), reach * (s1 - s2))
    }))
}

/// Returns the rays of a Mid-360 (type 23): they revolve, and rise and fall at constant speed.
pub(super) fn mid360(sweep: Sweep) -> RayBundle {
    let [low, high] = ELEVATION.map(f64::to_radians);
    RayBundle::new(sweep.times(MID360_POINTS).map(move |t| {
        let fraction = (2.0 * (NOD_HZ * t).rem_euclid(1.0) - 1.0).abs();
        direction(TAU * TURN_HZ * t, low + (high - low) * fraction)
    }))
}
