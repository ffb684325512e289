//! Functions of time with their first two derivatives.
use std::ops::{Add, Mul};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jet(pub(super) [f64; 3]);

impl Jet {
    pub(super) fn sin(self) -> Self {
        let Self([x, v, a]) = self;
        let (s, c) = x.sin_cos();
        Self([s, c * v, c * a - s * v * v])
    }

    pub(super) fn cos(self) -> Self {
        let Self([x, v, a]) = self;
        let (s, c) = x.sin_cos();
        Self([c, -s * v, -s * a - c * v * v])
    }
}

impl Add for Jet {
    type Output = Self;

    fn add(self, Self(b): Self) -> Self {
        let Self(a) = self;
        Self(std::array::from_fn(|i| a[i] + b[i]))
    }
}

impl Add<f64> for Jet {
    type Output = Self;

    fn add(self, b: f64) -> Self {
        let Self([x, v, a]) = self;
        Self([x + b, v, a])
    }
}

impl Mul for Jet {
    type Output = Self;

    fn mul(self, Self([y, w, b]): Self) -> Self {
        let Self([x, v, a]) = self;
        Self([x * y, v * y + x * w, a * y + 2.0 * v * w + x * b])
    }
}

impl Mul<f64> for Jet {
    type Output = Self;

    fn mul(self, b: f64) -> Self {
        Self(self.0.map(|x| x * b))
    }
}
