//! Rays of a sensor, grouped into narrow cones.
use super::Vec3;

/// Rays per cone of a bundle that is no image: few, so that the cone is narrow; enough, so that its test saves time.
const RAYS_PER_CONE: usize = 32;
/// Width and height of the square of pixels of an image that share a cone.
const SQUARE: usize = 8;

/// Directions of a sensor's rays in its own FRD axes, unit length, grouped into narrow cones.
#[derive(Clone, Debug)]
pub struct RayBundle {
    directions: Vec<[f32; 3]>,
    /// Number of rays from one row of a tile to the next.
    stride: usize,
    pub(super) tiles: Vec<Tile>,
    /// Cone around all rays.
    pub(super) whole: Cone,
    pixel: Pixel,
}

/// Rays that share a cone: some columns of some rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    first: usize,
    columns: usize,
    rows: usize,
    pub(super) cone: Cone,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cone {
    pub(super) axis: Vec3,
    pub(super) cos: f64,
    pub(super) sin: f64,
}

/// Angle between the rays of neighbouring pixels in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pixel {
    /// Constant.
    Even(f64),
    /// Plane image: the angle at the centre, which decreases towards the edges.
    Plane(f64),
}

impl RayBundle {
    /// Collects the directions; they need not have unit length.
    pub fn new(directions: impl IntoIterator<Item = Vec3>) -> Self {
        let directions = to_unit_f32(directions);
        let tiles = directions.chunks(RAYS_PER_CONE).zip(0..);
        let tile = |(rays, i): (&[[f32; 3]], usize)| Tile {
            first: i * RAYS_PER_CONE,
            columns: rays.len(),
            rows: 1,
            cone: Cone::around(rays.iter()),
        };
        Self {
            tiles: tiles.map(tile).collect(),
            whole: Cone::around(directions.iter()),
            directions,
            stride: 0,
            pixel: Pixel::Even(0.0),
        }
    }

    /// Collects the directions of an image, row by row; they need not have unit length.
    pub fn image(width: usize, pixel: Pixel, directions: impl IntoIterator<Item = Vec3>) -> Self {
        let directions = to_unit_f32(directions);
        let height = directions.len() / width.max(1);
        let mut tiles = Vec::new();
        for top in (0..height).step_by(SQUARE) {
            for left in (0..width).step_by(SQUARE) {
                let mut tile = Tile {
                    first: top * width + left,
                    columns: SQUARE.min(width - left),
                    rows: SQUARE.min(height - top),
                    cone: Cone::ALL,
                };
                let rays = tile.spans(width).flat_map(|span| directions.get(span));
                tile.cone = Cone::around(rays.flatten());
                tiles.push(tile);
            }
        }
        Self { tiles, whole: Cone::around(directions.iter()), directions, stride: width, pixel }
    }

    /// Returns the number of rays.
    pub fn len(&self) -> usize {
        self.directions.len()
    }

    /// Returns whether there are no rays.
    pub fn is_empty(&self) -> bool {
        self.directions.is_empty()
    }

    /// Returns the direction of a ray in the sensor's FRD axes.
    #[inline]
    pub fn direction(&self, index: usize) -> Vec3 {
        self.directions.get(index).map_or_else(Vec3::zeros, to_f64)
    }

    /// Returns the angle in rad that the pixel around a ray spans.
    #[inline]
    pub fn pixel_angle(&self, direction: &Vec3) -> f64 {
        match self.pixel {
            Pixel::Even(angle) => angle,
            Pixel::Plane(angle) => angle * direction.x,
        }
    }

    /// Calls `ray` with the number and the direction of each ray of a tile.
    pub(super) fn for_each_ray(&self, tile: &Tile, mut ray: impl FnMut(usize, Vec3)) {
        for span in tile.spans(self.stride) {
            let first = span.start;
            let rays = self.directions.get(span).unwrap_or_default();
            for (i, direction) in rays.iter().enumerate() {
                ray(first + i, to_f64(direction));
            }
        }
    }
}

impl Tile {
    /// Returns the numbers of the rays of each row.
    fn spans(&self, stride: usize) -> impl Iterator<Item = std::ops::Range<usize>> + Clone + use<> {
        let Self { first, columns, rows, .. } = *self;
        (0..rows).map(move |row| {
            let start = first + row * stride;
            start..start + columns
        })
    }
}

impl Cone {
    const ALL: Self = Self { axis: Vec3::new(1.0, 0.0, 0.0), cos: -1.0, sin: 0.0 };

    fn around<'a>(rays: impl Iterator<Item = &'a [f32; 3]> + Clone) -> Self {
        let sum: Vec3 = rays.clone().map(to_f64).sum();
        let Some(axis) = sum.try_normalize(1e-9) else { return Self::ALL };
        // A little wider than the widest ray, for the rounding of f32.
        let cos = rays.map(|d| to_f64(d).dot(&axis)).fold(1.0, f64::min) - 1e-6;
        let cos = cos.max(-1.0);
        Self { axis, cos, sin: (1.0 - cos * cos).sqrt() }
    }
}

fn to_unit_f32(directions: impl IntoIterator<Item = Vec3>) -> Vec<[f32; 3]> {
    directions.into_iter().map(|d| d.normalize().map(|x| x as f32).into()).collect()
}

fn to_f64(direction: &[f32; 3]) -> Vec3 {
    direction.map(f64::from).into()
}
