//! Noise of measured distances.
use super::points::CloudPoint;
use crate::noise::{Draws, Purpose, RandomNumbers};
use crate::{config::params::DegradeParams, session::BufferPeak, time::SimTime};
use zerocopy::little_endian::F32;

/// Standard deviation of a depth: `floor_m + per_m * depth^2`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DepthDeviation {
    floor_m: f64,
    per_m: f64,
}

impl DepthDeviation {
    fn new(params: &DegradeParams) -> Option<Self> {
        let (floor_m, per_m) = (params.depth_noise_m, params.depth_noise_per_m);
        (floor_m + per_m > 0.0).then_some(Self { floor_m, per_m })
    }

    fn add_noise(self, depth: f64, numbers: &mut RandomNumbers) -> f64 {
        depth + (self.floor_m + self.per_m * depth * depth) * numbers.normal()
    }
}

/// Noise of a depth camera.
#[derive(Clone, Debug)]
pub struct DepthNoise {
    draws: Draws,
    deviation: DepthDeviation,
    counts: Vec<u8>,
    peak: BufferPeak,
}

impl DepthNoise {
    /// Creates the noise; `None` without noise in the parameters.
    pub fn new(params: &DegradeParams, source: u16) -> Option<Self> {
        Some(Self {
            draws: Draws::new(params.seed, source),
            deviation: DepthDeviation::new(params)?,
            counts: Vec::new(),
            peak: BufferPeak::default(),
        })
    }

    /// Adds noise to the counts of an image; `scale`: metres per count. 0 and 65535 (no return) stay; no other count becomes
    /// one of them.
    pub fn apply(&mut self, time: SimTime, counts: &[u8], scale: f32) -> &[u8] {
        let mut numbers = self.draws.at(Purpose::Ranges, time.0);
        let scale = f64::from(scale);
        self.peak.shrink_if_due(counts.len(), &mut self.counts);
        self.counts.clear();
        self.counts.extend(counts.chunks_exact(2).flat_map(|bytes| {
            let count = u16::from_le_bytes([bytes[0], bytes[1]]);
            let noisy = match count {
                0 | u16::MAX => count,
                _ => {
                    let depth = self.deviation.add_noise(f64::from(count) * scale, &mut numbers);
                    (depth / scale).round().clamp(1.0, 65_534.0) as u16
                }
            };
            noisy.to_le_bytes()
        }));
        &self.counts
    }
}

/// Noise model of the points of a cloud.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CloudNoiseModel {
    /// A depth camera.
    Depth(DepthDeviation),
    /// A lidar: standard deviation along the ray, probability that there is no return.
    Lidar { sigma_m: f64, dropout: f64 },
}

/// Noise of a cloud.
#[derive(Clone, Debug)]
pub struct CloudNoise {
    draws: Draws,
    model: CloudNoiseModel,
    points: Vec<[F32; 4]>,
    peak: BufferPeak,
}

impl CloudNoise {
    /// Noise of a depth camera; `None` without noise in the parameters.
    pub fn of_depth(params: &DegradeParams, source: u16) -> Option<Self> {
        DepthDeviation::new(params)
            .map(|deviation| Self::new(params, source, CloudNoiseModel::Depth(deviation)))
    }

    /// Noise of a lidar; `None` without noise in the parameters. Points in the world frame only drop out, because their rays are
    /// unknown.
    pub fn of_lidar(params: &DegradeParams, source: u16, in_world: bool) -> Option<Self> {
        let sigma_m = if in_world { 0.0 } else { params.lidar_noise_m };
        let dropout = params.lidar_dropout;
        let model = CloudNoiseModel::Lidar { sigma_m, dropout };
        (sigma_m + dropout > 0.0).then(|| Self::new(params, source, model))
    }

    fn new(params: &DegradeParams, source: u16, model: CloudNoiseModel) -> Self {
        Self {
            draws: Draws::new(params.seed, source),
            model,
            points: Vec::new(),
            peak: BufferPeak::default(),
        }
    }

    /// Adds noise to points; the result is in m, on the axes of the wire. A point without return is 0. `unit`: metres
    /// per unit of the wire; `forward`: index of the coordinate along the optical axis.
    pub fn apply<P: CloudPoint>(
        &mut self,
        time: SimTime,
        points: &[P],
        (unit, forward): (f64, usize),
    ) -> &[[F32; 4]] {
        let mut numbers = self.draws.at(Purpose::Ranges, time.0);
        let model = self.model;
        self.peak.shrink_if_due(points.len(), &mut self.points);
        self.points.clear();
        self.points.extend(points.iter().map(|raw| {
            let fourth = F32::new(raw.fourth());
            if raw.is_missing() {
                return [F32::ZERO, F32::ZERO, F32::ZERO, fourth];
            }
            let position = raw.position().map(|v| v * unit);
            let factor = model.factor(position, forward, &mut numbers);
            let [x, y, z] = position.map(|v| F32::new((v * factor) as f32));
            [x, y, z, fourth]
        }));
        &self.points
    }
}

impl CloudNoiseModel {
    /// Returns the factor that adds noise to the coordinates of a point; 0: no return.
    fn factor(self, position: [f64; 3], forward: usize, numbers: &mut RandomNumbers) -> f64 {
        let depth = position[forward];
        match self {
            Self::Depth(deviation) if depth > 0.0 => {
                (deviation.add_noise(depth, numbers) / depth).max(0.0)
            }
            Self::Depth(_) => 1.0,
            Self::Lidar { sigma_m, dropout } => {
                let [x, y, z] = position;
                let range = x.hypot(y).hypot(z);
                let noisy = range + sigma_m * numbers.normal();
                let is_dropped = numbers.unit() < dropout;
                if is_dropped { 0.0 } else { (noisy / range).max(0.0) }
            }
        }
    }
}
