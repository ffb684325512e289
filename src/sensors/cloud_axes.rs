//! Finds the axes of the clouds of depth cameras (type 7) on the wire. The vendor changed them in January 2026, and has not
//! published the new ones.
//!
//! In a complete cloud each point belongs to a pixel, whose ray gives the axes at once. In other clouds the field of view gives
//! the forward axis, and the ground together with the true attitude gives the up axis.
use super::{CloudPoint, ConventionFinder, PointAxes, SensorContext, true_attitude::TrueAttitude};
use crate::{config::params::DepthAxes, time::SimTime};
use std::sync::Arc;

/// Conventions; FLU is that of the vendor's lidars.
const CANDIDATES: [DepthAxes; 4] = [DepthAxes::Flu, DepthAxes::Frd, DepthAxes::Fru, DepthAxes::Rdf];
/// Interval between checked clouds, in ns.
const INTERVAL_NS: i64 = 200_000_000;
/// Largest number of points that are checked per cloud.
const MAX_POINTS: usize = 600;
/// Smallest number of points of a checked cloud.
const MIN_POINTS: usize = 60;
/// Largest mean angle in rad between points and the rays of their pixels at which a convention fits.
const MAX_ANGLE: f64 = 0.05;
/// Smallest difference in rad by which a convention loses against the best one.
const MIN_ANGLE_MARGIN: f64 = 0.06;
/// Smallest difference in misfit by which a convention loses against the best one.
const MIN_SHARE_MARGIN: f64 = 0.2;
/// Distance between possible levels of the ground, in m, and their number.
const LEVEL_M: f64 = 0.2;
const LEVELS: usize = 512;

/// Finds the axes of the clouds of one depth camera.
pub(super) struct DepthAxesFinder {
    finder: ConventionFinder<DepthAxes, 4>,
    true_attitude: Option<Arc<dyn TrueAttitude>>,
    /// Columns and rows of a complete cloud.
    grid: Option<(usize, usize)>,
    /// Pixels between neighbouring columns or rows.
    pixel_step: f64,
    /// Size of the image in pixels.
    size: [f64; 2],
    /// Tangent of half the horizontal field of view.
    tan_half_fov: f64,
    next_check: SimTime,
    reported: String,
}

impl DepthAxesFinder {
    pub(super) fn open(context: &SensorContext<'_>, grid: Option<(usize, usize)>) -> Self {
        let config = context.config;
        let configured = context.options.depth_axes;
        let mut finder = Self {
            finder: ConventionFinder::new(CANDIDATES, configured, DepthAxes::Auto),
            true_attitude: context.true_attitude.clone(),
            grid,
            pixel_step: f64::from(config.other_params[1]).trunc().max(1.0),
            size: [config.width, config.height].map(f64::from),
            tan_half_fov: 0.0,
            next_check: SimTime(i64::MIN),
            reported: String::new(),
        };
        finder.set_fov(config.fov_deg);
        finder.report();
        finder
    }

    pub(super) fn set_fov(&mut self, fov_deg: f32) {
        self.tan_half_fov = (f64::from(fov_deg).to_radians() / 2.0).tan();
    }

    pub(super) fn in_use(&self) -> DepthAxes {
        self.finder.in_use()
    }

    /// Checks one cloud per interval; `unit`: metres per unit of the wire.
    pub(super) fn check<P: CloudPoint>(&mut self, points: &[P], unit: f64, at: SimTime) {
        let has_restarted = at.0.saturating_add(INTERVAL_NS) < self.next_check.0;
        if at < self.next_check && !has_restarted {
            return;
        }
        self.next_check = SimTime(at.0.saturating_add(INTERVAL_NS));
        let positions = |axes: DepthAxes| {
            let axes = PointAxes::sensor(axes, unit);
            // Odd, so that the points are not always from the same columns.
            let stride = points.len().div_ceil(MAX_POINTS) | 1;
            let sample = points.iter().enumerate().step_by(stride);
            let returns = sample.filter(|(_, point)| !point.is_missing());
            returns.map(move |(i, point)| (i, axes.apply(point.position()).map(f64::from)))
        };
        if positions(DepthAxes::Flu).count() < MIN_POINTS {
            return;
        }
        let ray_angles = self
            .grid
            .filter(|(columns, rows)| columns * rows == points.len())
            .map(|(columns, _)| CANDIDATES.map(|c| self.angle_to_rays(positions(c), columns)));
        match ray_angles {
            Some(costs) if costs.iter().any(|cost| *cost < MAX_ANGLE) => {
                self.finder.add_round(costs, MIN_ANGLE_MARGIN);
            }
            _ => {
                let down = self.true_attitude.as_ref().and_then(|s| s.down(at));
                let costs = CANDIDATES.map(|c| self.misfit(positions(c), down));
                self.finder.add_round(costs, MIN_SHARE_MARGIN);
            }
        }
        self.report();
    }

    /// Returns the mean angle between points and the rays of their pixels.
    fn angle_to_rays(
        &self,
        positions: impl Iterator<Item = (usize, [f64; 3])>,
        columns: usize,
    ) -> f64 {
        let [width, height] = self.size;
        let focal = width / (2.0 * self.tan_half_fov);
        let angles = positions.map(|(i, [x, y, z])| {
            let (column, row) = ((i % columns) as f64, (i / columns) as f64);
            let left = ((width - 1.0) / 2.0 - column * self.pixel_step) / focal;
            let up = ((height - 1.0) / 2.0 - row * self.pixel_step) / focal;
            let along = x + y * left + z * up;
            let lengths = x.hypot(y).hypot(z) * 1.0_f64.hypot(left).hypot(up);
            (along / lengths).clamp(-1.0, 1.0).acos()
        });
        let (sum, count) =
            angles.fold((0.0, 0.0), |(sum, count), angle| (sum + angle, count + 1.0));
        sum / count
    }

    /// Returns the share of points outside the field of view plus the share of points off the ground. The ground is the level
    /// below the camera with the most points.
    fn misfit(
        &self,
        positions: impl Iterator<Item = (usize, [f64; 3])>,
        down: Option<[f64; 3]>,
    ) -> f64 {
        let [width, height] = self.size;
        // The margin allows for the width of the outer pixels.
        let wide = self.tan_half_fov * 1.1;
        let high = wide * height / width;
        let (mut outside, mut count) = (0_u32, 0_u32);
        let mut levels = [0_u32; LEVELS];
        for (_, [x, y, z]) in positions {
            count += 1;
            outside += u32::from(!(x > 0.0 && y.abs() <= wide * x && z.abs() <= high * x));
            if let Some([dx, dy, dz]) = down {
                let below = x * dx + y * dy + z * dz;
                // A negative number is cast to level 0, which is never the ground.
                let level = levels.get_mut((below / LEVEL_M) as usize);
                level.into_iter().for_each(|level| *level += 1);
            }
        }
        let ground = levels.iter().skip(1).max().copied().unwrap_or_default();
        let off_ground = if down.is_some() { count - ground } else { 0 };
        f64::from(outside + off_ground) / f64::from(count)
    }

    fn report(&mut self) {
        let text = self.finder.text(DepthAxes::name);
        if text != self.reported
            && let Some(true_attitude) = &self.true_attitude
        {
            true_attitude.report("cloud", self.finder.verdict(), &text);
            self.reported = text;
        }
    }
}
