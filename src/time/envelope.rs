//! Lower envelope of delay over simulator time: a line below all recent points.
//!
//! A datagram can only be late. So `host - sim` of the fastest datagrams is the offset between the clocks plus the
//! shortest delay, and everything above that lower envelope is noise of the network, the renderer and the scheduler.
//! Only the lowest point of each time bucket is kept; a robust line through those minima gives the drift, and the lowest
//! of them, along that line, gives the offset.

/// Maximum number of stored minima.
const BUCKETS: usize = 32;
/// Buckets start short, to learn quickly, and are merged in pairs until all of them fill the window.
const SHORTEST_NS: f64 = 1e9 / 64.0;
/// Minima older than two windows are dropped, unless there are only this many.
const FEW: usize = 8;
/// Penalty per ns of age, so that a small error of the slope cannot make an old point the lowest.
const SKEW: f64 = 2e-6;
/// A point lower than the line by more than this needs a second witness: its time stamp may be damaged.
const WITNESS_NS: f64 = 1e6;
/// How long the first witness is kept.
const WITNESS_AGE_NS: f64 = 2e9;
/// Minima above the line by more than this multiple of their usual scatter, and by more than one of these distances, show a step.
const STEP_SCATTERS: f64 = 10.0;
const LIFT_STEP_NS: f64 = 5e6;
const LOWER_STEP_NS: f64 = 1e6;
/// Floor of the scatter: a few points can have nearly 0 by chance.
const LEAST_SCATTER_NS: f64 = 20e3;
/// Number and time span of consecutive high minima after which the line is lifted: congestion ends sooner. Low minima
/// take effect at once.
const LIFT_BUCKETS: usize = 3;
const LIFT_NS: f64 = 2.5e9;

/// x: simulator time, y: host time minus simulator time, both in ns relative to the origin of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Envelope {
    minima: [Point; BUCKETS],
    len: usize,
    width: f64,
    /// Simulator time in ns covered by the minima.
    window: f64,
    open: Option<Bucket>,
    low_witness: Option<Point>,
    offset: f64,
    slope: f64,
    /// Slope until there is evidence.
    prior: f64,
    /// Median distance of the minima from the fitted line, which runs through their middle.
    scatter: f64,
    /// Highest x so far.
    newest: f64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    start: f64,
    lowest: Point,
}

impl Envelope {
    /// Creates an envelope with one point; `prior` is its slope until there is evidence.
    pub(super) fn new(first: Point, prior: f64, window: f64) -> Self {
        Self {
            minima: [Point::default(); BUCKETS],
            len: 0,
            width: SHORTEST_NS,
            window,
            open: Some(Bucket { start: first.x, lowest: first }),
            low_witness: None,
            offset: first.y - prior * first.x,
            slope: prior,
            prior,
            scatter: 0.0,
            newest: first.x,
        }
    }

    /// Returns host time minus simulator time on the line.
    pub(super) fn at(&self, x: f64) -> f64 {
        self.offset + self.slope * x
    }

    /// Returns how far a point is above the line.
    pub(super) fn excess(&self, point: Point) -> f64 {
        point.y - self.at(point.x)
    }

    pub(super) fn drift(&self) -> f64 {
        self.slope
    }

    pub(super) fn add(&mut self, point: Point) {
        let excess = self.excess(point);
        let trusted = if excess < -WITNESS_NS { self.confirm(point) } else { Some(point) };
        if let Some(point) = trusted {
            self.offset += self.excess(point).min(0.0);
            self.put(point);
        }
        self.newest = self.newest.max(point.x);
    }

    /// Returns the less extreme of two points that are both far below the line; `None` until there are two.
    fn confirm(&mut self, point: Point) -> Option<Point> {
        let fresh =
            self.low_witness.filter(|w| w.x != point.x && (point.x - w.x).abs() < WITNESS_AGE_NS);
        let Some(earlier) = fresh else {
            self.low_witness = Some(point);
            return None;
        };
        let (less, more) = if self.excess(earlier) > self.excess(point) {
            (earlier, point)
        } else {
            (point, earlier)
        };
        self.low_witness = Some(more);
        Some(less)
    }

    fn put(&mut self, point: Point) {
        match &mut self.open {
            Some(bucket) if point.x < bucket.start + self.width => {
                if point.y - self.slope * point.x < bucket.lowest.y - self.slope * bucket.lowest.x {
                    bucket.lowest = point;
                }
            }
            Some(bucket) => {
                let closed = bucket.lowest;
                *bucket = Bucket { start: point.x, lowest: point };
                self.push(closed);
                self.drop_minima_before_step();
                self.fit();
            }
            None => self.open = Some(Bucket { start: point.x, lowest: point }),
        }
    }

    fn push(&mut self, lowest: Point) {
        let old = self.minima[..self.len]
            .iter()
            .take_while(|p| p.x < self.newest - 2.0 * self.window)
            .count();
        self.drop_oldest(old.min(self.len.saturating_sub(FEW)));
        if self.len == BUCKETS && 1.5 * self.width * (BUCKETS as f64) < self.window {
            for pair in 0..BUCKETS / 2 {
                let (a, b) = (self.minima[2 * pair], self.minima[2 * pair + 1]);
                self.minima[pair] = if self.excess(a) < self.excess(b) { a } else { b };
            }
            self.len = BUCKETS / 2;
            self.width *= 2.0;
        } else if self.len == BUCKETS {
            self.drop_oldest(1);
        }
        self.minima[self.len] = lowest;
        self.len += 1;
    }

    fn drop_oldest(&mut self, count: usize) {
        self.minima.copy_within(count..self.len, 0);
        self.len -= count;
    }

    /// Drops minima from before a step of the offset, which would tilt the line for half a window.
    fn drop_minima_before_step(&mut self) {
        if self.len < FEW {
            return;
        }
        let limit = |least: f64| (STEP_SCATTERS * self.scatter).max(least);
        let is_high = |p: &Point, least| self.excess(*p) > limit(least);
        let points = &self.minima[..self.len];
        let newest = points[self.len - 1];
        let high = points.iter().rev().take_while(|p| is_high(p, LIFT_STEP_NS)).count();
        let low = points.iter().take_while(|p| is_high(p, LOWER_STEP_NS)).count();
        let is_lifted = high >= LIFT_BUCKETS && newest.x - points[self.len - high].x >= LIFT_NS;
        let is_lowered = low + 1 == self.len;
        if is_lifted || is_lowered {
            self.drop_oldest(self.len - if is_lifted { high } else { 1 });
            self.width = SHORTEST_NS;
            self.prior = plausible_prior(self.slope);
        }
    }

    /// Theil-Sen: the median of the slopes between all pairs of minima tolerates a quarter of outliers.
    fn fit(&mut self) {
        let points = &self.minima[..self.len];
        if points.len() >= 4 {
            let mut slopes = [0.0; BUCKETS * (BUCKETS - 1) / 2];
            let mut count = 0;
            for (i, a) in points.iter().enumerate() {
                for b in points[..i].iter().filter(|b| b.x != a.x) {
                    slopes[count] = (a.y - b.y) / (a.x - b.x);
                    count += 1;
                }
            }
            if let Some(fitted) = median(&mut slopes[..count]) {
                let mut residuals = [0.0; BUCKETS];
                for (residual, p) in residuals.iter_mut().zip(points) {
                    *residual = p.y - fitted * p.x;
                }
                let middle = median(&mut residuals[..points.len()]).unwrap_or(0.0);
                for (residual, p) in residuals.iter_mut().zip(points) {
                    *residual = (p.y - fitted * p.x - middle).abs();
                }
                self.scatter =
                    median(&mut residuals[..points.len()]).unwrap_or(0.0).max(LEAST_SCATTER_NS);
                self.slope = self.prior + shrink(fitted - self.prior, self.slope_error());
            }
        }
        let open = self.open.map(|b| b.lowest);
        let lowest = self.minima[..self.len]
            .iter()
            .chain(&open)
            .map(|p| p.y - self.slope * p.x + SKEW * (self.newest - p.x))
            .fold(f64::INFINITY, f64::min);
        self.offset = lowest;
    }

    /// Three standard errors of the fitted slope.
    fn slope_error(&self) -> f64 {
        let points = &self.minima[..self.len];
        let span = points[points.len() - 1].x - points[0].x;
        15.0 * self.scatter / (points.len() as f64).sqrt() / span.max(1.0)
    }
}

/// Returns the slope to start with after a step or restart: the old drift, but not the old speed of the simulation.
pub(super) fn plausible_prior(slope: f64) -> f64 {
    if slope.abs() < 1e-3 { slope } else { 0.0 }
}

/// Shrinks a deviation by its error: nearly unchanged if far above the error, nearly 0 if far below.
pub(crate) fn shrink(deviation: f64, error: f64) -> f64 {
    let square = deviation * deviation;
    if square > 0.0 { deviation * square / (square + error * error) } else { 0.0 }
}

fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    Some(*values.select_nth_unstable_by(middle, f64::total_cmp).1)
}
