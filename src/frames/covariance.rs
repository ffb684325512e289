use super::vector::{Frame, Vector};
use nalgebra::{Matrix3, Matrix6};
use std::marker::PhantomData;

/// Covariance of a vector in frame `F`, 3x3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance3<F> {
    value: Matrix3<f64>,
    frame: PhantomData<F>,
}

impl<F: Frame> Covariance3<F> {
    /// Creates a covariance from 9 numbers, row by row.
    pub fn from_rows(rows: [f64; 9]) -> Self {
        Self {
            value: Matrix3::from_row_slice(&rows),
            frame: PhantomData,
        }
    }

    /// Creates a diagonal covariance from three variances.
    pub fn from_variances(variances: [f64; 3]) -> Self {
        Self {
            value: Matrix3::from_diagonal(&variances.into()),
            frame: PhantomData,
        }
    }

    /// Returns the 9 numbers of a ROS message, row by row.
    pub fn to_rows(self) -> [f64; 9] {
        std::array::from_fn(|i| self.value[(i / 3, i % 3)])
    }

    /// Expresses the covariance in another frame: M C Mᵀ, where M only permutes and negates, so it is exact.
    pub fn into_frame<G: Frame>(self) -> Covariance3<G>
    where
        Vector<G>: From<Vector<F>>,
    {
        let m = change::<F, G>();
        Covariance3 {
            value: m * self.value * m.transpose(),
            frame: PhantomData,
        }
    }
}

/// Covariance of a pose or a twist, linear part first, both parts in frame `F`, 6x6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance6<F> {
    value: Matrix6<f64>,
    frame: PhantomData<F>,
}

impl<F: Frame> Covariance6<F> {
    /// Creates a covariance from 36 numbers, row by row.
    pub fn from_rows(rows: [f64; 36]) -> Self {
        Self {
            value: Matrix6::from_row_slice(&rows),
            frame: PhantomData,
        }
    }

    /// Returns the 36 numbers of a ROS message, row by row.
    pub fn to_rows(self) -> [f64; 36] {
        std::array::from_fn(|i| self.value[(i / 6, i % 6)])
    }

    /// Expresses the covariance in another frame.
    pub fn into_frame<G: Frame>(self) -> Covariance6<G>
    where
        Vector<G>: From<Vector<F>>,
    {
        let part = change::<F, G>();
        let mut m = Matrix6::zeros();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&part);
        m.fixed_view_mut::<3, 3>(3, 3).copy_from(&part);
        Covariance6 {
            value: m * self.value * m.transpose(),
            frame: PhantomData,
        }
    }
}

/// Matrix of the vector conversion, so that covariances cannot disagree with vectors.
fn change<F: Frame, G: Frame>() -> Matrix3<f64>
where
    Vector<G>: From<Vector<F>>,
{
    let column = |x, y, z| Vector::<G>::from(Vector::<F>::new(x, y, z)).value;
    Matrix3::from_columns(&[
        column(1.0, 0.0, 0.0),
        column(0.0, 1.0, 0.0),
        column(0.0, 0.0, 1.0),
    ])
}
