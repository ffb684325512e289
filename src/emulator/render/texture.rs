//! One random texture of all scales, filtered for any size of a pixel.
use crate::emulator::random::SplitMix;

/// Texels along each side; the texture repeats after them. A power of 2.
const SIZE: usize = 256;
/// Texels along each side of the coarsest octave.
const COARSEST: usize = 4;
/// Contrast: standard deviation of the values, which are 0 to 1 and 0.5 on average.
const DEVIATION: f32 = 0.18;

/// A square of values, and its averages over 2 x 2, 4 x 4, ... texels.
#[derive(Debug)]
pub(super) struct Texture {
    levels: Vec<MipLevel>,
}

#[derive(Debug)]
struct MipLevel {
    /// Binary logarithm of the number of texels along each side.
    log2_size: u32,
    /// Binary logarithm of a texel's side in texels of the finest level.
    halvings: u32,
    /// Each texel with its neighbours to the right, below, and diagonally below: one load per value.
    squares: Vec<[u8; 4]>,
}

impl Texture {
    /// Draws the texture of a seed: octaves of noise with the same contrast each, so that the contrast does not depend on
    /// the distance.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = SplitMix(seed);
        let mut octave = |size: usize| -> Vec<f32> {
            let value = |_| random.unit() as f32 - 0.5;
            (0..size * size).map(value).collect()
        };
        let mut size = COARSEST;
        let mut values = octave(size);
        while size < SIZE {
            values = doubled(&values, size);
            size *= 2;
            values.iter_mut().zip(octave(size)).for_each(|(v, more)| *v += more);
        }
        let count = values.len() as f32;
        let mean = values.iter().sum::<f32>() / count;
        let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / count;
        let gain = DEVIATION / square.sqrt();
        values.iter_mut().for_each(|v| *v = 0.5 + (*v - mean) * gain);
        let mut levels = Vec::new();
        for halvings in 0..=SIZE.ilog2() {
            levels.push(MipLevel {
                log2_size: size.ilog2(),
                halvings,
                squares: squares(&values, size),
            });
            values = halved(&values, size);
            size /= 2;
        }
        Self { levels }
    }

    /// Returns the average over a square of side `width` around position `at`, both in texels: waves shorter than `width`
    /// vanish. Values are -0.5 to 0.5, with mean 0.
    #[inline]
    pub(super) fn value(&self, at: [f64; 2], width: f64) -> f32 {
        let position = at.map(|x| whole(x * f64::from(ONE)));
        let fine = octaves(width as f32);
        let level = (fine >> FRACTION) as usize;
        let part = (fine & (ONE - 1)).cast_signed();
        let Some(first) = self.levels.get(level) else { return 0.0 };
        let found = first.value(position);
        let value = match self.levels.get(level + 1) {
            Some(next) if part > 0 => {
                let step = next.value(position).wrapping_sub(found) >> FRACTION;
                found.wrapping_add(step.wrapping_mul(part))
            }
            _ => found,
        };
        value as f32 * (1.0 / 16_711_680.0) - 0.5
    }
}

/// Number of fraction bits of fixed-point numbers, and the number 1.
const FRACTION: u32 = 8;
const ONE: u32 = 1 << FRACTION;

impl MipLevel {
    /// Interpolates bilinearly; 255 * 256 * 256 is the value 1. `position` is in texels of the finest level, in fixed point.
    #[inline]
    fn value(&self, position: [i64; 2]) -> i32 {
        // A value belongs to the centre of its texel.
        let [x, y] = position.map(|x| (x >> self.halvings).wrapping_sub(i64::from(ONE / 2)));
        let texel = |x: i64| (x >> FRACTION) as usize & ((1 << self.log2_size) - 1);
        let [right, below] = [x, y].map(|x| x as u32 & (ONE - 1));
        let square = self.squares.get(texel(y) << self.log2_size | texel(x));
        // Two lanes of 16 bits: this row, and the one below.
        let square = u32::from_le_bytes(square.copied().unwrap_or_default());
        let (left_lanes, right_lanes) = (square & 0x00ff_00ff, square >> 8 & 0x00ff_00ff);
        let lanes =
            (left_lanes.wrapping_mul(ONE - right)).wrapping_add(right_lanes.wrapping_mul(right));
        let (this, next) = (lanes & 0xffff, lanes >> 16);
        (this.wrapping_mul(ONE - below)).wrapping_add(next.wrapping_mul(below)) as i32
    }
}

/// Rounds to an integer, which is in the lowest 51 bits of the result: the sum with a number this large has no fraction bits.
fn whole(x: f64) -> i64 {
    const LARGE: f64 = 1.5 * (1u64 << 52) as f64;
    (x + LARGE).to_bits().cast_signed()
}

/// Returns the binary logarithm of a width in fixed point, linear between powers of 2; at least 0.
fn octaves(width: f32) -> u32 {
    const BIAS: u32 = 127 << FRACTION;
    (width.max(1.0).to_bits() >> (23 - FRACTION)).saturating_sub(BIAS)
}

/// Returns each value, 0 to 255, with its neighbours to the right, below, and diagonally below.
fn squares(values: &[f32], size: usize) -> Vec<[u8; 4]> {
    let value = |x: usize, y: usize| {
        let at = (y % size) * size + x % size;
        (values[at] * 255.0).round() as u8
    };
    let positions = (0..size).flat_map(|y| (0..size).map(move |x| (x, y)));
    positions
        .map(|(x, y)| [value(x, y), value(x + 1, y), value(x, y + 1), value(x + 1, y + 1)])
        .collect()
}

/// Doubles the values along each side, bilinearly and periodically.
fn doubled(values: &[f32], size: usize) -> Vec<f32> {
    let at = |x: usize, y: usize| values[(y % size) * size + x % size];
    let mut out = Vec::with_capacity(4 * size * size);
    for y in 0..2 * size {
        for x in 0..2 * size {
            // Each new value is a quarter from the centre of an old one.
            let (x0, y0) = (x / 2, y / 2);
            let (x1, y1) = (x0 + size + x % 2 * 2 - 1, y0 + size + y % 2 * 2 - 1);
            let near = 0.75 * at(x0, y0) + 0.25 * at(x1, y0);
            let far = 0.75 * at(x0, y1) + 0.25 * at(x1, y1);
            out.push(0.75 * near + 0.25 * far);
        }
    }
    out
}

/// Returns the averages of 2 x 2 values.
fn halved(values: &[f32], size: usize) -> Vec<f32> {
    let at = |x: usize, y: usize| values[y * size + x];
    let pairs = (0..size / 2).flat_map(|y| (0..size / 2).map(move |x| (2 * x, 2 * y)));
    pairs.map(|(x, y)| (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4.0).collect()
}
