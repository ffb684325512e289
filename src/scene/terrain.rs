//! Height maps of the simulator's maps: a 16-bit image, and a line of numbers with its corners.
use image::{DynamicImage, ImageFormat};

/// Why a height map cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TerrainError {
    /// The image cannot be read.
    #[error("the height map is no PNG image: {0}")]
    Image(#[from] image::ImageError),
    /// It is not 16-bit grey.
    #[error("the height map has pixels of type {0:?} instead of 16-bit grey")]
    Pixels(image::ColorType),
    /// Columns and rows, at least one of which is less than 2.
    #[error("the height map has {0} x {1} pixels, expected 2 x 2 or more")]
    Size(u32, u32),
    /// Position in the text, from 1, and a value that is not a number.
    #[error("value {0} of the map's text is {1:?}, expected a number")]
    Number(usize, String),
    /// Count of numbers in the text.
    #[error(
        "the map's text has {0} numbers, expected 9 (three corners), or 12 (and latitude, longitude, altitude)"
    )]
    Count(usize),
    /// Axis, and coordinate in cm that two corners share.
    #[error("the first two corners of the map have the same {0} of {1} cm")]
    Corners(char, f64),
    /// Coordinates in cm of the third corner, which gives the scale of heights and is outside the map.
    #[error("the third corner of the map, x {0} cm, y {1} cm, is outside")]
    Third(f64, f64),
}

/// Heights of a map. x is north and y is east of the map centre.
#[derive(Clone, Debug, PartialEq)]
pub struct TerrainMap {
    rows: usize,
    columns: usize,
    /// Smallest x and y in cm.
    origin: [f64; 2],
    /// Largest x and y in cm.
    end: [f64; 2],
    /// Distance of columns along x, and of rows along y, in cm.
    step: [f64; 2],
    /// Row by row, in m, down.
    heights: Vec<f32>,
    /// Latitude and longitude in degrees, altitude in m, of the map centre.
    geodetic: Option<[f64; 3]>,
}

/// How the position of the third corner is rounded to a pixel (docs/wire/traps.md, terrain-rounding).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rounding {
    /// As the vendor's Python SDK.
    Cut,
    /// As the vendor's MATLAB program.
    Nearest,
}

/// Grey value of height 0.
const ZERO: f32 = 32_768.0;
/// Smallest difference of grey values that gives the scale of heights.
const MIN_DIFFERENCE: f32 = 10.0;

impl TerrainMap {
    /// Reads `<map>.png` and `<map>.txt`.
    ///
    /// Source: vendor SDK, golden `terrain`.
    pub fn parse(png: &[u8], text: &str, rounding: Rounding) -> Result<Self, TerrainError> {
        let ([x_max, y_max, z_max, x_min, y_min, z_min, x3, y3, z3], geodetic) = parse_text(text)?;
        let grey = match image::load_from_memory_with_format(png, ImageFormat::Png)? {
            DynamicImage::ImageLuma16(grey) => grey,
            other => return Err(TerrainError::Pixels(other.color())),
        };
        let (width, height) = grey.dimensions();
        if width < 2 || height < 2 {
            return Err(TerrainError::Size(width, height));
        }
        let (columns, rows) = (width as usize, height as usize);
        for (axis, high, low) in [('x', x_max, x_min), ('y', y_max, y_min)] {
            if high == low {
                return Err(TerrainError::Corners(axis, low));
            }
        }
        let step = [(x_max - x_min) / (width - 1) as f64, (y_max - y_min) / (height - 1) as f64];
        let levels: Vec<f32> = grey.as_raw().iter().map(|g| f32::from(*g) - ZERO).collect();
        let third = [(x3 - x_min) / step[0], (y3 - y_min) / step[1]].map(|pixel| match rounding {
            Rounding::Cut => pixel.trunc(),
            Rounding::Nearest => pixel.round(),
        });
        let is_inside = |axis: usize, count: usize| (0.0..count as f64).contains(&third[axis]);
        if !is_inside(0, columns) || !is_inside(1, rows) {
            return Err(TerrainError::Third(x3, y3));
        }
        let (first, last) = (levels[0], levels[levels.len() - 1]);
        let level3 = levels[third[1] as usize * columns + third[0] as usize];
        // The corner whose grey value differs more from the third's gives the more precise scale.
        let (other, other_z) = if (level3 - last).abs() <= (level3 - first).abs() {
            (first, z_min)
        } else {
            (last, z_max)
        };
        let difference = other - level3;
        let scale = if difference.abs() > MIN_DIFFERENCE {
            (other_z - z3) / f64::from(difference)
        } else {
            1.0
        };
        let heights =
            levels.iter().map(|level| -(z_min as f32 + (level - first) * scale as f32) / 100.0);
        Ok(Self {
            rows,
            columns,
            origin: [x_min, y_min],
            end: [x_max, y_max],
            step,
            heights: heights.collect(),
            geodetic,
        })
    }

    /// Returns the number of rows (along y) and columns (along x).
    pub fn size(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// Smallest x and y in m.
    pub fn origin(&self) -> [f64; 2] {
        self.origin.map(|cm| cm / 100.0)
    }

    /// Largest x and y in m.
    pub fn end(&self) -> [f64; 2] {
        self.end.map(|cm| cm / 100.0)
    }

    /// Distance of columns along x and of rows along y in m.
    pub fn step(&self) -> [f64; 2] {
        self.step.map(|cm| cm / 100.0)
    }

    /// Latitude and longitude in degrees, altitude in m, of the map centre, if the text has them.
    pub fn geodetic(&self) -> Option<[f64; 3]> {
        self.geodetic
    }

    /// Heights in m, down, row by row.
    pub fn heights(&self) -> &[f32] {
        &self.heights
    }

    /// Returns the height at x and y in m, NED: down is positive. Bilinear; beyond the map, the height at its edge.
    pub fn height(&self, at: [f64; 2]) -> f64 {
        let neighbours = |axis: usize, count: usize| {
            let cell = (100.0 * at[axis] - self.origin[axis]) / self.step[axis];
            // NaN becomes 0, the first edge.
            let cell = cell.max(0.0).min((count - 1) as f64);
            let low = cell as usize;
            (low, (low + 1).min(count - 1), cell.fract())
        };
        let (left, right, part_x) = neighbours(0, self.columns);
        let (near, far, part_y) = neighbours(1, self.rows);
        let value =
            |row: usize, column: usize| f64::from(self.heights[row * self.columns + column]);
        let in_row = |row: usize| (1.0 - part_x) * value(row, left) + part_x * value(row, right);
        (1.0 - part_y) * in_row(near) + part_y * in_row(far)
    }
}

/// Reads the three corners and the geodetic position of the map centre.
fn parse_text(text: &str) -> Result<([f64; 9], Option<[f64; 3]>), TerrainError> {
    let line = text.lines().next().unwrap_or_default();
    let words = line.trim().trim_end_matches(',').split(',').map(str::trim);
    let mut values = Vec::new();
    for (word, position) in words.zip(1..) {
        let value = word.parse().ok().filter(|value: &f64| value.is_finite());
        values.push(value.ok_or_else(|| TerrainError::Number(position, word.to_owned()))?);
    }
    match values.split_first_chunk::<9>() {
        Some((corners, [])) => Ok((*corners, None)),
        Some((corners, &[latitude, longitude, altitude])) => {
            Ok((*corners, Some([latitude, longitude, altitude])))
        }
        _ => Err(TerrainError::Count(values.len())),
    }
}
