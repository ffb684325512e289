use super::attitude::Attitude;
use super::vector::{Frame, Vector};
use std::marker::PhantomData;

/// Covariance of a vector in frame `F`, 3x3, row by row as in ROS messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance3<F> {
    rows: [f64; 9],
    frame: PhantomData<F>,
}

impl<F: Frame> Covariance3<F> {
    /// Creates a covariance from 9 numbers, row by row.
    pub const fn from_rows(rows: [f64; 9]) -> Self {
        Self { rows, frame: PhantomData }
    }

    /// Creates a diagonal covariance from three variances.
    pub const fn from_variances([x, y, z]: [f64; 3]) -> Self {
        Self::from_rows([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z])
    }

    /// Returns the 9 numbers of a ROS message, row by row.
    pub const fn to_rows(self) -> [f64; 9] {
        self.rows
    }

    /// Expresses the covariance in another frame: M C Mᵀ. M only permutes and negates, so the result is exact, and NaN
    /// and infinity stay in their cells.
    pub fn into_frame<G: Frame>(self) -> Covariance3<G>
    where
        Vector<G>: From<Vector<F>>,
    {
        Covariance3::from_rows(change(&self.rows, axes::<F, G>()))
    }

    /// Expresses the covariance in a frame that is rotated: R C Rᵀ.
    pub fn rotate<G: Frame>(self, attitude: Attitude<F, G>) -> Covariance3<G> {
        let r = attitude.matrix();
        let c = |row: usize, column: usize| self.rows[3 * row + column];
        Covariance3::from_rows(std::array::from_fn(|cell| {
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

/// Covariance of a pose or a twist, linear part first, both parts in frame `F`, 6x6, row by row as in ROS messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance6<F> {
    rows: [f64; 36],
    frame: PhantomData<F>,
}

impl<F: Frame> Covariance6<F> {
    /// Creates a covariance from 36 numbers, row by row.
    pub const fn from_rows(rows: [f64; 36]) -> Self {
        Self { rows, frame: PhantomData }
    }

    /// Returns the 36 numbers of a ROS message, row by row.
    pub const fn to_rows(self) -> [f64; 36] {
        self.rows
    }

    /// Expresses the covariance in another frame.
    pub fn into_frame<G: Frame>(self) -> Covariance6<G>
    where
        Vector<G>: From<Vector<F>>,
    {
        let [x, y, z] = axes::<F, G>();
        let angular = |axis: Axis| Axis { from: axis.from + 3, ..axis };
        Covariance6::from_rows(change(&self.rows, [x, y, z, angular(x), angular(y), angular(z)]))
    }
}

/// Source and sign of an axis of the new frame.
#[derive(Clone, Copy)]
struct Axis {
    from: usize,
    negative: bool,
}

/// Derives the axes from the conversion of vectors, so that covariances cannot differ from it.
fn axes<F: Frame, G: Frame>() -> [Axis; 3]
where
    Vector<G>: From<Vector<F>>,
{
    Vector::<G>::from(Vector::<F>::new(1.0, 2.0, 3.0))
        .to_array()
        .map(|code| Axis { from: code.abs() as usize - 1, negative: code < 0.0 })
}

fn change<const SIZE: usize, const CELLS: usize>(
    rows: &[f64; CELLS],
    axes: [Axis; SIZE],
) -> [f64; CELLS] {
    std::array::from_fn(|cell| {
        let (row, column) = (axes[cell / SIZE], axes[cell % SIZE]);
        let value = rows[row.from * SIZE + column.from];
        if row.negative == column.negative { value } else { -value }
    })
}
