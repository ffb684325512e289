//! Finds the axes of the clouds of depth cameras (type 7) on the wire. They changed in January 2026; the new ones are not public.
//!
//! In a complete cloud each point belongs to a pixel, whose ray gives the axes at once. In other clouds the field of view gives the
//! forward axis, and the ground together with the true attitude gives the up axis.
use super::{CloudPoint, ConventionFinder, PointAxes, SensorContext, surroundings::Surroundings};
use crate::{config::params::DepthAxes, time::SimTime};
use std::sync::Arc;

/// Conventions; FLU is the vendor's of the lidars.
const CANDIDATES: [DepthAxes; 4] = [DepthAxes::Flu, DepthAxes::Frd, DepthAxes::Fru, DepthAxes::Rdf];
/// Interval of the checked clouds, in ns.
const INTERVAL_NS: i64 = 200_000_000;
/// Most points that are checked of a cloud.
const SAMPLE: usize = 600;
/// Fewest points of a cloud that is checked.
const ENOUGH: usize = 60;
/// Angle to the rays of the pixels, in rad: most of a convention that fits, and least between two.
const FITS: f64 = 0.05;
const APART: f64 = 0.06;
/// Least difference of the shares of points outside the view, and off the ground.
const SHARE: f64 = 0.2;
/// Distance between levels of the ground, in m, and their number.
const PLANE_M: f64 = 0.2;
const PLANES: usize = 512;

/// Finds the axes of the clouds of one depth camera.
pub(super) struct DepthAxesFinder {
    finder: ConventionFinder<DepthAxes, 4>,
    surroundings: Option<Arc<dyn Surroundings>>,
    /// Columns and rows of a complete cloud, and the pixels between two.
    grid: Option<(usize, usize)>,
    step: f64,
    /// Size of the image in pixels.
    size: [f64; 2],
    /// Half of the horizontal field of view, as a tangent.
    half: f64,
    next: SimTime,
    reported: String,
}

impl DepthAxesFinder {
    pub(super) fn open(context: &SensorContext<'_>, grid: Option<(usize, usize)>) -> Self {
        let config = context.config;
        let configured = context.options.depth_axes;
        let mut finder = Self {
            finder: ConventionFinder::new(CANDIDATES, configured, DepthAxes::Auto),
            surroundings: context.surroundings.clone(),
            grid,
            step: f64::from(config.other_params[1]).trunc().max(1.0),
            size: [config.width, config.height].map(f64::from),
            half: 0.0,
            next: SimTime(i64::MIN),
            reported: String::new(),
        };
        finder.set_fov(config.fov_deg);
        finder.report();
        finder
    }

    pub(super) fn set_fov(&mut self, fov_deg: f32) {
        self.half = (f64::from(fov_deg).to_radians() / 2.0).tan();
    }

    pub(super) fn in_use(&self) -> DepthAxes {
        self.finder.in_use()
    }

    /// Checks a cloud in each interval; a coordinate of 1 is `unit` m.
    pub(super) fn check<P: CloudPoint>(&mut self, points: &[P], unit: f64, at: SimTime) {
        let has_restarted = at.0.saturating_add(INTERVAL_NS) < self.next.0;
        if at < self.next && !has_restarted {
            return;
        }
        self.next = SimTime(at.0.saturating_add(INTERVAL_NS));
        let places = |axes: DepthAxes| {
            let axes = PointAxes::sensor(axes, unit);
            let stride = points.len().div_ceil(SAMPLE).max(1);
            // Not always of the same columns.
            let stride = stride | 1;
            let some = points.iter().enumerate().step_by(stride);
            let seen = some.filter(|(_, point)| !point.is_missing());
            seen.map(move |(i, point)| (i, axes.apply(point.place()).map(f64::from)))
        };
        if places(DepthAxes::Flu).count() < ENOUGH {
            return;
        }
        let by_pixels = self
            .grid
            .filter(|(columns, rows)| columns * rows == points.len())
            .map(|(columns, _)| CANDIDATES.map(|c| self.angle_to_rays(places(c), columns)));
        match by_pixels {
            Some(costs) if costs.iter().any(|cost| *cost < FITS) => {
                self.finder.add_round(costs, APART);
            }
            _ => {
                let down = self.surroundings.as_ref().and_then(|s| s.down(at));
                let costs = CANDIDATES.map(|c| self.misfit(places(c), down));
                self.finder.add_round(costs, SHARE);
            }
        }
        self.report();
    }

    /// Mean angle between points and the rays of their pixels.
    fn angle_to_rays(
        &self,
        places: impl Iterator<Item = (usize, [f64; 3])>,
        columns: usize,
    ) -> f64 {
        let [width, height] = self.size;
        let focal = width / (2.0 * self.half);
        let angles = places.map(|(i, [x, y, z])| {
            let (column, row) = ((i % columns) as f64, (i / columns) as f64);
            let left = ((width - 1.0) / 2.0 - column * self.step) / focal;
            let up = ((height - 1.0) / 2.0 - row * self.step) / focal;
            let along = x + y * left + z * up;
            let lengths = x.hypot(y).hypot(z) * 1.0_f64.hypot(left).hypot(up);
            (along / lengths).clamp(-1.0, 1.0).acos()
        });
        let (sum, count) =
            angles.fold((0.0, 0.0), |(sum, count), angle| (sum + angle, count + 1.0));
        sum / count
    }

    /// Share of points outside the field of view, and of those that are not on the most frequent level below the camera.
    fn misfit(
        &self,
        places: impl Iterator<Item = (usize, [f64; 3])>,
        down: Option<[f64; 3]>,
    ) -> f64 {
        let [width, height] = self.size;
        // Pixels have a width.
        let (wide, high) = (self.half * 1.1, self.half * 1.1 * height / width);
        let (mut outside, mut count) = (0_u32, 0_u32);
        let mut levels = [0_u32; PLANES];
        for (_, [x, y, z]) in places {
            count += 1;
            outside += u32::from(!(x > 0.0 && y.abs() <= wide * x && z.abs() <= high * x));
            if let Some([dx, dy, dz]) = down {
                let below = x * dx + y * dy + z * dz;
                // A cast of a negative number is 0, where no ground is.
                let level = levels.get_mut((below / PLANE_M) as usize);
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
            && let Some(surroundings) = &self.surroundings
        {
            surroundings.report("cloud", self.finder.verdict(), &text);
            self.reported = text;
        }
    }
}
