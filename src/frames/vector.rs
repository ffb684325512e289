use nalgebra::Vector3;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Neg, Sub};

/// A frame label. Every label's axes form a right-handed system.
pub trait CoordinateFrame: Copy + fmt::Debug + PartialEq {
    /// Short name for texts.
    const NAME: &'static str;
}

macro_rules! labels {
    ($($name:ident $doc:literal)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum $name {}

        impl CoordinateFrame for $name {
            const NAME: &'static str = stringify!($name);
        }
    )*};
}

labels! {
    Enu "World: x east, y north, z up (REP 103)."
    Nwu "World: x north, y west, z up; keeps the simulator's x axis."
    Ned "World of the simulator: x north, y east, z down."
    Ecef "The earth: x through latitude and longitude 0, z through the north pole (REP 105, `earth`)."
    Flu "Body: x forward, y left, z up (REP 103)."
    Frd "Body of the simulator: x forward, y right, z down."
    Optical "Camera: x right, y down, z forward (REP 103, suffix `_optical`)."
}

/// A vector in a frame; f64, in SI units unless a name contains another unit.
#[derive(Clone, Copy, PartialEq)]
pub struct Vector<F> {
    pub(super) value: Vector3<f64>,
    frame: PhantomData<F>,
}

impl<F: CoordinateFrame> Vector<F> {
    /// Creates a vector.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self::from_inner(Vector3::new(x, y, z))
    }

    pub(super) const fn from_inner(value: Vector3<f64>) -> Self {
        Self { value, frame: PhantomData }
    }

    /// Returns the null vector.
    pub const fn zero() -> Self {
        Self::new(0.0, 0.0, 0.0)
    }

    /// Returns x, y, z.
    pub fn to_array(self) -> [f64; 3] {
        self.value.into()
    }

    /// Returns the component along the first axis.
    pub fn x(self) -> f64 {
        self.value.x
    }

    /// Returns the component along the second axis.
    pub fn y(self) -> f64 {
        self.value.y
    }

    /// Returns the component along the third axis.
    pub fn z(self) -> f64 {
        self.value.z
    }

    /// Returns the length.
    pub fn norm(self) -> f64 {
        self.value.norm()
    }

    /// Returns the scalar product.
    pub fn dot(self, other: Self) -> f64 {
        self.value.dot(&other.value)
    }

    /// Returns the vector product.
    pub fn cross(self, other: Self) -> Self {
        Self::from_inner(self.value.cross(&other.value))
    }
}

impl<F: CoordinateFrame> From<[f64; 3]> for Vector<F> {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self::new(x, y, z)
    }
}

impl<F: CoordinateFrame> From<[f32; 3]> for Vector<F> {
    fn from(v: [f32; 3]) -> Self {
        v.map(f64::from).into()
    }
}

impl<F: CoordinateFrame> fmt::Debug for Vector<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {}, {})", F::NAME, self.value.x, self.value.y, self.value.z)
    }
}

impl<F: CoordinateFrame> Default for Vector<F> {
    fn default() -> Self {
        Self::zero()
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident;)*) => {$(
        impl<F: CoordinateFrame> $operator for Vector<F> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                Self::from_inner(self.value.$method(other.value))
            }
        }
    )*};
}

operators! {
    Add add;
    Sub sub;
}

impl<F: CoordinateFrame> Neg for Vector<F> {
    type Output = Self;
    fn neg(self) -> Self {
        Self::from_inner(-self.value)
    }
}

impl<F: CoordinateFrame> Mul<f64> for Vector<F> {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::from_inner(self.value * factor)
    }
}

/// Declares a conversion as a permutation with signs, so that it is exact and keeps NaN and infinity in their component.
macro_rules! convert {
    ($($from:ident => $to:ident : |$v:ident| $x:expr, $y:expr, $z:expr;)*) => {$(
        impl From<Vector<$from>> for Vector<$to> {
            fn from($v: Vector<$from>) -> Self {
                let $v = $v.value;
                Self::new($x, $y, $z)
            }
        }
    )*};
}

convert! {
    Ned => Enu: |v| v.y, v.x, -v.z;
    Enu => Ned: |v| v.y, v.x, -v.z;
    Ned => Nwu: |v| v.x, -v.y, -v.z;
    Nwu => Ned: |v| v.x, -v.y, -v.z;
    Enu => Nwu: |v| v.y, -v.x, v.z;
    Nwu => Enu: |v| -v.y, v.x, v.z;
    Frd => Flu: |v| v.x, -v.y, -v.z;
    Flu => Frd: |v| v.x, -v.y, -v.z;
    Flu => Optical: |v| -v.y, -v.z, v.x;
    Optical => Flu: |v| v.z, -v.x, -v.y;
    Frd => Optical: |v| v.y, v.z, v.x;
    Optical => Frd: |v| v.z, v.x, v.y;
}
