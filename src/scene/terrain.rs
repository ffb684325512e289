//! Height maps of the simulator's maps: a 16-bit image, and a line of numbers that says where its corners are.
use image::{DynamicImage, ImageFormat};

/// Why a height map is not used.
#[derive(Debug, thiserror::Error)]
pub enum TerrainError {
    /// The image cannot be read.
    #[error("the height map is no PNG image: {0}")]
    Image(#[from] image::ImageError),
    /// It has colours, or 8 bits.
    #[error("the height map has pixels of type {found:?}, wanted is 16-bit grey")]
    Pixels {
        /// What it has.
        found: image::ColorType,
    },
    /// One row or column has no extent.
    #[error("the height map has {width} x {height} pixels, wanted are 2 x 2 and more")]
    Size {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// No number.
    #[error("value {place} of the map's text is {text:?}, wanted is a number")]
    Number {
        /// From 1.
        place: usize,
        /// What stands there.
        text: String,
    },
    /// Too few or too many.
    #[error(
        "the map's text has {found} numbers, wanted are 9 (three corners), or 12 (and latitude, longitude, altitude)"
    )]
    Count {
        /// How many there are.
        found: usize,
    },
    /// Two corners are the same.
    #[error("the first two corners of the map have the same {axis} of {at} cm")]
    Corners {
        /// x or y.
        axis: char,
        /// Where both are.
        at: f64,
    },
    /// The third corner says which grey value is which height.
    #[error("the third corner of the map, x {x} cm, y {y} cm, is outside")]
    Third {
        /// North in cm.
        x: f64,
        /// East in cm.
        y: f64,
    },
}

/// Heights of a map. x is north and y is east of the map centre, in m.
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

/// How the third corner of a map becomes a pixel (docs/wire/traps.md, terrain-rounding).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rounding {
    /// As the vendor's Python SDK.
    Cut,
    /// As the vendor's MATLAB program.
    Nearest,
}

/// Grey value of height 0.
const ZERO: f32 = 32_768.0;
/// Differences of grey values that are too small to say how high a count is.
const ENOUGH: f32 = 10.0;

impl TerrainMap {
    /// Reads `<map>.png` and `<map>.txt`.
    ///
    /// Source: vendor SDK, golden `terrain`.
    pub fn parse(png: &[u8], text: &str, rounding: Rounding) -> Result<Self, TerrainError> {
        let corners = numbers(text)?;
        let [x_max, y_max, z_max, x_min, y_min, z_min, x3, y3, z3] = corners.corners;
        let grey = match image::load_from_memory_with_format(png, ImageFormat::Png)? {
            DynamicImage::ImageLuma16(grey) => grey,
            other => {
                return Err(TerrainError::Pixels { found: other.color() });
            }
        };
        let (width, height) = grey.dimensions();
        if width < 2 || height < 2 {
            return Err(TerrainError::Size { width, height });
        }
        let (columns, rows) = (width as usize, height as usize);
        for (axis, high, low) in [('x', x_max, x_min), ('y', y_max, y_min)] {
            if high == low {
                return Err(TerrainError::Corners { axis, at: low });
            }
        }
        let step = [(x_max - x_min) / (width - 1) as f64, (y_max - y_min) / (height - 1) as f64];
        let counts: Vec<f32> = grey.as_raw().iter().map(|g| f32::from(*g) - ZERO).collect();
        let third = [(x3 - x_min) / step[0], (y3 - y_min) / step[1]].map(|place| match rounding {
            Rounding::Cut => place.trunc(),
            Rounding::Nearest => place.round(),
        });
        let inside = third[0] >= 0.0
            && third[0] < columns as f64
            && third[1] >= 0.0
            && third[1] < rows as f64;
        if !inside {
            return Err(TerrainError::Third { x: x3, y: y3 });
        }
        let first = counts[0];
        let last = counts[counts.len() - 1];
        let third = counts[third[1] as usize * columns + third[0] as usize];
        // Of the two corners, the one whose grey value differs more from the third's says more.
        let (other, other_z, base) = if (third - last).abs() <= (third - first).abs() {
            (first, z_min, third)
        } else {
            (last, z_max, third)
        };
        let scale = if (other - base).abs() > ENOUGH {
            (other_z - z3) / f64::from(other - base)
        } else {
            1.0
        };
        let heights =
            counts.iter().map(|count| -(z_min as f32 + (count - first) * scale as f32) / 100.0);
        Ok(Self {
            rows,
            columns,
            origin: [x_min, y_min],
            end: [x_max, y_max],
            step,
            heights: heights.collect(),
            geodetic: corners.geodetic,
        })
    }

    /// Number of rows (along y) and columns (along x).
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

    /// Latitude and longitude in degrees, altitude in m, of the map centre, if the map says so.
    pub fn geodetic(&self) -> Option<[f64; 3]> {
        self.geodetic
    }

    /// Heights in m, down, row by row.
    pub fn heights(&self) -> &[f32] {
        &self.heights
    }

    /// Returns the height at x and y in m, NED: down is positive. Bilinear; beyond the map it is that of its edge.
    pub fn height(&self, at: [f64; 2]) -> f64 {
        let place = |axis: usize, count: usize| -> (usize, usize, f64) {
            let cell = (100.0 * at[axis] - self.origin[axis]) / self.step[axis];
            // What is no number is on the first edge, too.
            if cell.is_nan() || cell < 0.0 {
                return (0, 0, 0.0);
            }
            if cell >= (count - 1) as f64 {
                return (count - 1, count - 1, 0.0);
            }
            let low = cell as usize;
            (low, low + 1, cell.fract())
        };
        let (left, right, part_x) = place(0, self.columns);
        let (near, far, part_y) = place(1, self.rows);
        let value =
            |row: usize, column: usize| f64::from(self.heights[row * self.columns + column]);
        let along = |row: usize| (1.0 - part_x) * value(row, left) + part_x * value(row, right);
        (1.0 - part_y) * along(near) + part_y * along(far)
    }
}

struct Corners {
    corners: [f64; 9],
    geodetic: Option<[f64; 3]>,
}

fn numbers(text: &str) -> Result<Corners, TerrainError> {
    let line = text.lines().next().unwrap_or_default();
    let words = line.trim().trim_end_matches(',').split(',').map(str::trim);
    let values: Vec<f64> = words
        .enumerate()
        .map(|(i, word)| match word.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(TerrainError::Number { place: i + 1, text: word.to_owned() }),
        })
        .collect::<Result<_, _>>()?;
    let count = TerrainError::Count { found: values.len() };
    let (corners, rest) = values.split_first_chunk::<9>().ok_or(count)?;
    let geodetic = match rest {
        [] => None,
        [latitude, longitude, altitude] => Some([*latitude, *longitude, *altitude]),
        _ => {
            return Err(TerrainError::Count { found: values.len() });
        }
    };
    Ok(Corners { corners: *corners, geodetic })
}
