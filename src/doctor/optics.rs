//! The field of view that pictures show, whatever is configured: from small pictures, and how the camera moved between them.
//!
//! For each focal length that is tried, one picture is carried into another by the known motion. The focal length of the pictures
//! is where that fits best. Where nothing can be told (no turn, no detail, a motion that every focal length explains) all fit
//! alike, or none does, and there is no answer. Depths say how far each point is; of brightness that is tried, too.

/// Side of a [`Picture`] at most: a turn of a few degrees is then several pixels.
const LARGEST: usize = 160;
/// Ratio of one focal length that is tried to the next, as a logarithm ...
const STEP: f64 = 0.05;
/// ... and how many there are on each side of the configured one: up to three times as long or short.
const STEPS: usize = 24;
/// Differences from the configured one that are worth a word, in steps ...
const WORTH: usize = 3;
/// ... and within which pairs agree.
const NEAR: usize = 2;
/// How far from the best one others have to be worse, in steps.
const ASIDE: usize = 6;
/// Pairs that have to agree, and their share of all.
const PAIRS: usize = 4;
const SHARE: f64 = 0.75;
/// Pixels on each side of a detail; what changes more slowly (sky above, ground below) says nothing.
const DETAIL: usize = 6;
/// Turn of the axis between two pictures, in degrees, and how many metres aside per degree are few.
const TURN_DEG: std::ops::Range<f64> = 5.0..25.0;
const ASIDE_M: f64 = 0.04;
/// Inverse distances in 1/m of what brightness shows, which is not known.
const DISTANCES: [f64; 4] = [0.0, 0.03, 0.1, 0.3];
/// Relative difference of two depths that is as wrong as any.
const WRONG: f64 = 0.2;

/// What a picture has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Content {
    /// Brightness of any unit.
    Brightness,
    /// Distance along the optical axis in m; not finite where there is none.
    Depth,
}

/// A small picture, row by row.
#[derive(Clone, Debug)]
pub struct Picture {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Picture {
    /// Makes a picture of every so many pixels of a larger one, which `at` reads; `None` if it has no pixels.
    pub fn reduced(
        content: Content,
        (width, height): (usize, usize),
        at: impl Fn(usize, usize) -> f32,
    ) -> Option<Self> {
        let by = width.max(height).div_ceil(LARGEST).max(1);
        let picture = Self {
            width: width / by,
            height: height / by,
            values: Vec::new(),
        };
        let rows = 0..picture.height;
        let pixels = rows.flat_map(|y| (0..picture.width).map(move |x| (x, y)));
        // A point has one depth, but brightness of a few pixels is smoother.
        let fine = match content {
            Content::Brightness => by.min(2),
            Content::Depth => 1,
        };
        let value = |(x, y): (usize, usize)| {
            let start = |i: usize| i * by + (by - fine) / 2;
            let mut sum = 0.0;
            for v in 0..fine {
                for u in 0..fine {
                    sum += at(start(x) + u, start(y) + v);
                }
            }
            sum / (fine * fine) as f32
        };
        let values: Vec<_> = pixels.map(value).collect();
        let picture = Self { values, ..picture };
        match content {
            _ if picture.values.is_empty() => None,
            Content::Brightness => Some(picture.details()),
            Content::Depth => Some(picture),
        }
    }

    /// What differs from its surroundings.
    fn details(&self) -> Self {
        let (width, height) = (self.width, self.height);
        // Sums of all that is above and to the left.
        let row = width + 1;
        let mut sums = vec![0.0; row * (height + 1)];
        for y in 0..height {
            let mut sum = 0.0;
            for x in 0..width {
                sum += f64::from(self.values[y * width + x]);
                sums[(y + 1) * row + x + 1] = sums[y * row + x + 1] + sum;
            }
        }
        let mut values = Vec::with_capacity(self.values.len());
        for y in 0..height {
            let (top, bottom) = (y.saturating_sub(DETAIL), (y + DETAIL + 1).min(height));
            for x in 0..width {
                let (left, right) = (x.saturating_sub(DETAIL), (x + DETAIL + 1).min(width));
                let sum = sums[bottom * row + right]
                    - sums[top * row + right]
                    - sums[bottom * row + left]
                    + sums[top * row + left];
                let mean = sum / ((bottom - top) * (right - left)) as f64;
                values.push(self.values[y * width + x] - mean as f32);
            }
        }
        Self { values, ..*self }
    }

    fn value(&self, x: usize, y: usize) -> f64 {
        f64::from(self.values[y * self.width + x])
    }

    /// The pixel at a place, the upper left corner of the picture being 0, 0.
    fn nearest(&self, [x, y]: [f64; 2]) -> Option<f64> {
        let inside = x >= 0.0 && y >= 0.0 && x < self.width as f64 && y < self.height as f64;
        inside.then(|| self.value(x as usize, y as usize))
    }

    /// In proportion between the four pixels around a place.
    fn between(&self, [x, y]: [f64; 2]) -> Option<f64> {
        let (x, y) = (x - 0.5, y - 0.5);
        let [right, bottom] = [self.width, self.height].map(|n| n as f64 - 1.0);
        if !(x >= 0.0 && y >= 0.0 && x < right && y < bottom) {
            return None;
        }
        let (i, j) = (x as usize, y as usize);
        let (a, b) = (x - i as f64, y - j as f64);
        let row = |j| self.value(i, j) * (1.0 - a) + self.value(i + 1, j) * a;
        Some(row(j) * (1.0 - b) + row(j + 1) * b)
    }

    /// Every second pixel of every second row: its place from the middle in widths of the picture, and its value.
    fn samples(&self) -> impl Iterator<Item = ([f64; 2], f64)> {
        let (width, height) = (self.width as f64, self.height as f64);
        let rows = (0..self.height).step_by(2);
        rows.flat_map(move |y| {
            let v = (y as f64 + 0.5 - height / 2.0) / width;
            let row = (0..self.width).step_by(2);
            row.map(move |x| ([(x as f64 + 0.5) / width - 0.5, v], self.value(x, y)))
        })
    }

    /// Where a direction of the optical frame is seen with a focal length in widths of the picture.
    fn place(&self, [x, y, z]: [f64; 3], focal: f64) -> Option<[f64; 2]> {
        let (width, height) = (self.width as f64, self.height as f64);
        let scale = focal * width / z;
        (z > 0.1).then(|| [x * scale + width / 2.0, y * scale + height / 2.0])
    }
}

/// How what one camera sees is placed for the other: from the optical frame (z forward, x right, y down) of the first to that of
/// the second.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Rows of the rotation.
    pub rotation: [[f64; 3]; 3],
    /// Place of the first camera for the second, in m.
    pub translation: [f64; 3],
}

impl Motion {
    fn apply(&self, [x, y, z]: [f64; 3], share: f64) -> [f64; 3] {
        let row = |i: usize| {
            let [a, b, c] = self.rotation[i];
            a * x + b * y + c * z + share * self.translation[i]
        };
        [row(0), row(1), row(2)]
    }

    /// Whether pictures before and after it may tell something: the axis turned by some degrees, and by more than it moved
    /// aside, which is much the same for brightness.
    pub fn tells(&self, content: Content) -> bool {
        let turned = self.rotation[2][2].clamp(-1.0, 1.0).acos().to_degrees();
        let [x, y, _] = self.translation;
        TURN_DEG.contains(&turned)
            && match content {
                Content::Depth => true,
                Content::Brightness => x.hypot(y) <= ASIDE_M * turned,
            }
    }
}

/// How wrong a focal length is, 0 to 1, by the depths of both pictures; `None` if they share too little.
fn error_of_depth(first: &Picture, second: &Picture, motion: &Motion, focal: f64) -> Option<f64> {
    let (mut known, mut shared, mut sum) = (0.0, 0.0, 0.0);
    for ([u, v], depth) in first.samples().filter(|(_, depth)| depth.is_finite()) {
        known += 1.0;
        let point = motion.apply([u / focal * depth, v / focal * depth, depth], 1.0);
        let place = second.place(point, focal);
        let seen = place.and_then(|place| second.nearest(place));
        if let Some(seen) = seen.filter(|seen| seen.is_finite()) {
            shared += 1.0;
            sum += ((seen - point[2]).abs() / point[2] / WRONG).min(1.0);
        }
    }
    (shared > 0.25 * known && shared > 300.0).then(|| sum / shared)
}

/// How little one picture looks like the other, 0 to 1 and more, if all of it is at one inverse distance.
fn error_at(
    first: &Picture,
    second: &Picture,
    motion: &Motion,
    focal: f64,
    near: f64,
) -> Option<f64> {
    let (mut all, mut n) = (0.0, 0.0);
    let [mut a, mut b, mut aa, mut bb, mut ab] = [0.0; 5];
    for ([u, v], value) in first.samples() {
        all += 1.0;
        let direction = motion.apply([u / focal, v / focal, 1.0], near);
        let place = second.place(direction, focal);
        if let Some(seen) = place.and_then(|place| second.between(place)) {
            n += 1.0;
            a += value;
            b += seen;
            aa += value * value;
            bb += seen * seen;
            ab += value * seen;
        }
    }
    let correlation = (ab - a * b / n) / ((aa - a * a / n) * (bb - b * b / n)).sqrt();
    (n > 0.25 * all && correlation.is_finite()).then_some(1.0 - correlation)
}

fn error_of_brightness(
    first: &Picture,
    second: &Picture,
    motion: &Motion,
    focal: f64,
) -> Option<f64> {
    let errors = DISTANCES
        .iter()
        .filter_map(|near| error_at(first, second, motion, focal, *near));
    errors.min_by(f64::total_cmp)
}

/// What is known of the field of view of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It cannot be told.
    Unknown,
    /// It is as configured, nearly.
    Agrees,
    /// It is this many degrees instead.
    Differs(f64),
}

/// Pairs of pictures of one camera.
#[derive(Debug)]
pub struct Evidence {
    content: Content,
    /// The configured focal length in widths of the picture.
    focal: f64,
    /// Errors of all pairs by focal length, and how many pairs have one.
    sums: Vec<(f64, usize)>,
    /// The best of each pair.
    best: Vec<usize>,
}

impl Evidence {
    /// Creates an empty one for a pinhole camera with this horizontal field of view, above 0 and below 180 degrees.
    pub fn new(content: Content, fov_deg: f64) -> Self {
        Self {
            content,
            focal: 0.5 / (fov_deg.to_radians() / 2.0).tan(),
            sums: vec![(0.0, 0); 2 * STEPS + 1],
            best: Vec::new(),
        }
    }

    fn factor(step: usize) -> f64 {
        ((step as f64 - STEPS as f64) * STEP).exp()
    }

    /// Takes a pair of pictures, if their motion tells something.
    pub fn add(&mut self, first: &Picture, second: &Picture, motion: &Motion) {
        if !motion.tells(self.content) {
            return;
        }
        let error = match self.content {
            Content::Depth => error_of_depth,
            Content::Brightness => error_of_brightness,
        };
        let mut best: Option<(f64, usize)> = None;
        for (step, (sum, count)) in self.sums.iter_mut().enumerate() {
            let focal = self.focal * Self::factor(step);
            if let Some(error) = error(first, second, motion, focal) {
                *sum += error;
                *count += 1;
                if best.is_none_or(|(least, _)| error < least) {
                    best = Some((error, step));
                }
            }
        }
        self.best.extend(best.map(|(_, step)| step));
    }

    /// Pairs so far.
    pub fn pairs(&self) -> usize {
        self.best.len()
    }

    /// The mean error of a focal length that most pairs have one for.
    fn mean(&self, step: usize) -> Option<f64> {
        let (sum, count) = *self.sums.get(step)?;
        (2 * count > self.best.len()).then(|| sum / count as f64)
    }

    /// Judges all pairs.
    pub fn verdict(&self) -> Verdict {
        let means = (0..self.sums.len()).filter_map(|step| Some((self.mean(step)?, step)));
        let Some((least, best)) = means.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            return Verdict::Unknown;
        };
        let agree = self.best.iter().filter(|step| step.abs_diff(best) <= NEAR);
        let agree = agree.count();
        // What is enough to be sure: how small the least error is, and how much greater others are.
        let (small, greater) = match self.content {
            Content::Depth => (0.15, 0.02 + 0.5 * least),
            Content::Brightness => (0.65, 0.15),
        };
        let is_worse = |step| self.mean(step).is_some_and(|error| error > least + greater);
        // At an end of what is tried the truth may be beyond.
        let aside = [best.checked_sub(ASIDE), Some(best + ASIDE)];
        let peak = aside.into_iter().all(|step| step.is_some_and(is_worse));
        let most = agree >= PAIRS && agree as f64 >= SHARE * self.best.len() as f64;
        let sure = least < small && peak && most;
        match sure {
            true if best.abs_diff(STEPS) < WORTH => Verdict::Agrees,
            true if is_worse(STEPS) => {
                let focal = self.focal * Self::factor(best);
                Verdict::Differs((0.5 / focal).atan().to_degrees() * 2.0)
            }
            _ => Verdict::Unknown,
        }
    }
}
