use super::attitude::Attitude;
use super::vector::{CoordinateFrame, Vector};
use std::marker::PhantomData;

/// Covariance in frame `F`, a square matrix with `CELLS` numbers, row by row as in ROS messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance<F, const CELLS: usize> {
    rows: [f64; CELLS],
    frame: PhantomData<F>,
}

/// Covariance of a vector, 3x3.
pub type Covariance3<F> = Covariance<F, 9>;

/// Covariance of a pose or a twist, linear part first, both parts in frame `F`, 6x6.
pub type Covariance6<F> = Covariance<F, 36>;

impl<F: CoordinateFrame, const CELLS: usize> Covariance<F, CELLS> {
    /// Creates a covariance, row by row.
    pub const fn from_rows(rows: [f64; CELLS]) -> Self {
        Self { rows, frame: PhantomData }
    }

    /// Returns the numbers of a ROS message, row by row.
    pub const fn to_rows(self) -> [f64; CELLS] {
        self.rows
    }

    /// Expresses the covariance in another frame: M C Mᵀ. M only permutes and negates, so the result is exact, and NaN
    /// and infinity do not spread to other cells.
    pub fn into_frame<G: CoordinateFrame>(self) -> Covariance<G, CELLS>
    where
        Vector<G>: From<Vector<F>>,
    {
        let size = CELLS.isqrt();
        // The conversion of (1, 2, 3) gives the source of each axis, as index (from 1) and sign: covariances agree with vectors.
        let axes = Vector::<G>::from(Vector::<F>::new(1.0, 2.0, 3.0)).to_array();
        let from = |i: usize| axes[i % 3].abs() as usize - 1 + i / 3 * 3;
        Covariance::from_rows(std::array::from_fn(|cell| {
            let (row, column) = (cell / size, cell % size);
            let value = self.rows[from(row) * size + from(column)];
            let is_same_sign = (axes[row % 3] < 0.0) == (axes[column % 3] < 0.0);
            if is_same_sign { value } else { -value }
        }))
    }
}

impl<F: CoordinateFrame> Covariance3<F> {
    /// Creates a diagonal covariance from three variances.
    pub const fn from_variances([x, y, z]: [f64; 3]) -> Self {
        Self::from_rows([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z])
    }

    /// Expresses the covariance in a rotated frame: R C Rᵀ.
    pub fn rotate<G: CoordinateFrame>(self, attitude: Attitude<F, G>) -> Covariance3<G> {
        let r = attitude.matrix();
        let c = |row: usize, column: usize| self.rows[3 * row + column];
        Covariance::from_rows(std::array::from_fn(|cell| {
            let (row, column) = (r[cell / 3], r[cell % 3]);
            let sum = |i: usize| (0..3).map(|j| c(i, j) * column[j]).sum::<f64>();
            (0..3).map(|i| row[i] * sum(i)).sum()
        }))
    }

    /// Returns a 6x6 covariance of a pose, twist or acceleration with this linear part; the angular part is 0.
    pub fn to_linear_part(self) -> [f64; 36] {
        let mut rows = [0.0; 36];
        for (to, from) in rows.chunks_exact_mut(6).zip(self.rows.chunks_exact(3)) {
            to[..3].copy_from_slice(from);
        }
        rows
    }
}
