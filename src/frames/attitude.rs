use super::vector::{CoordinateFrame, Enu, Flu, Frd, Ned, Nwu, Optical, Vector};
use nalgebra::{Quaternion, UnitQuaternion};
use std::f64::consts::FRAC_1_SQRT_2;
use std::fmt;
use std::marker::PhantomData;

/// Roll, pitch and yaw in rad: rotation about z by yaw, then about the new y by pitch, then about the new x by roll.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Euler {
    /// About x, -π..=π.
    pub roll: f64,
    /// About y, -π/2..=π/2.
    pub pitch: f64,
    /// About z, -π..=π.
    pub yaw: f64,
}

impl Euler {
    /// Creates angles from radians.
    pub const fn new(roll: f64, pitch: f64, yaw: f64) -> Self {
        Self { roll, pitch, yaw }
    }

    /// Creates angles from degrees.
    pub const fn from_degrees(roll: f64, pitch: f64, yaw: f64) -> Self {
        Self::new(roll.to_radians(), pitch.to_radians(), yaw.to_radians())
    }

    /// Returns roll, pitch, yaw in rad.
    pub const fn to_array(self) -> [f64; 3] {
        [self.roll, self.pitch, self.yaw]
    }

    /// Returns roll, pitch, yaw in degrees.
    pub fn to_degrees(self) -> [f64; 3] {
        self.to_array().map(f64::to_degrees)
    }
}

/// Attitude of a body in a world (or of one body in another): turns vectors of `Body` into vectors of `World`.
///
/// Hamilton quaternion, w first. The sign is not normalised: q and -q are the same attitude.
#[derive(Clone, Copy, PartialEq)]
pub struct Attitude<Body, World> {
    pub(super) value: UnitQuaternion<f64>,
    frames: PhantomData<(Body, World)>,
}

impl<B: CoordinateFrame, W: CoordinateFrame> Attitude<B, W> {
    pub(super) const fn from_inner(value: UnitQuaternion<f64>) -> Self {
        Self { value, frames: PhantomData }
    }

    /// Returns the attitude whose body axes are those of the world.
    pub fn identity() -> Self {
        Self::from_inner(UnitQuaternion::identity())
    }

    /// Creates an attitude from w, x, y, z and normalises it; `None` if the norm is nearly 0 or not finite.
    pub fn from_wxyz([w, x, y, z]: [f64; 4]) -> Option<Self> {
        let q = Quaternion::new(w, x, y, z);
        let norm = q.norm();
        (norm.is_finite() && norm > 1e-6)
            .then(|| Self::from_inner(UnitQuaternion::new_normalize(q)))
    }

    /// Creates an attitude from angles.
    pub fn from_euler(angles: Euler) -> Self {
        Self::from_inner(UnitQuaternion::from_euler_angles(angles.roll, angles.pitch, angles.yaw))
    }

    /// Returns w, x, y, z.
    pub fn wxyz(self) -> [f64; 4] {
        let q = self.value;
        [q.w, q.i, q.j, q.k]
    }

    /// Returns the angles; at a pitch of ±π/2 only the sum or difference of roll and yaw is defined.
    pub fn euler(self) -> Euler {
        let (roll, pitch, yaw) = self.value.euler_angles();
        Euler { roll, pitch, yaw }
    }

    /// Expresses a vector of the body in the world.
    pub fn rotate(self, vector: Vector<B>) -> Vector<W> {
        Vector::from_inner(self.value * vector.value)
    }

    /// Returns the attitude of the world in the body.
    pub fn inverse(self) -> Attitude<W, B> {
        Attitude::from_inner(self.value.inverse())
    }

    /// Chains attitudes: `self` is the attitude of B in W, `inner` that of C in B; the result is that of C in W.
    pub fn then<C: CoordinateFrame>(self, inner: Attitude<C, B>) -> Attitude<C, W> {
        Attitude::from_inner(self.value * inner.value)
    }

    /// Returns the angle in rad, 0..=π, between two attitudes.
    pub fn angle_to(self, other: Self) -> f64 {
        self.value.angle_to(&other.value)
    }

    /// Returns the rotation matrix, row by row.
    pub fn matrix(self) -> [[f64; 3]; 3] {
        let m = self.value.to_rotation_matrix();
        std::array::from_fn(|row| std::array::from_fn(|column| m[(row, column)]))
    }
}

impl<B: CoordinateFrame, W: CoordinateFrame> Default for Attitude<B, W> {
    fn default() -> Self {
        Self::identity()
    }
}

impl<B: CoordinateFrame, W: CoordinateFrame> fmt::Debug for Attitude<B, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}: {:?}", B::NAME, W::NAME, self.wxyz())
    }
}

/// Creates an attitude from the components of a unit quaternion.
///
/// The conversions below write out the product (change of world) * attitude * (change of body). A half turn about x (NED to
/// NWU, FRD to FLU) only negates components, which is exact; the quarter turn to ENU adds one factor of 1/√2.
fn from_parts<B: CoordinateFrame, W: CoordinateFrame>([w, x, y, z]: [f64; 4]) -> Attitude<B, W> {
    Attitude::from_inner(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)))
}

/// Declares conversions that turn both body and world by half a turn about x.
macro_rules! half_turns {
    ($($body:ident in $world:ident => $to_body:ident in $to_world:ident;)*) => {$(
        impl From<Attitude<$body, $world>> for Attitude<$to_body, $to_world> {
            fn from(attitude: Attitude<$body, $world>) -> Self {
                let [w, x, y, z] = attitude.wxyz();
                from_parts([w, x, -y, -z])
            }
        }
    )*};
}

half_turns! {
    Frd in Ned => Flu in Nwu;
    Flu in Nwu => Frd in Ned;
    // One body in another, the convention of mounts.
    Frd in Frd => Flu in Flu;
    Flu in Flu => Frd in Frd;
}

/// Attitude of FLU in ENU to that of FRD in NED, and back, w x y z, with mavros' sign. Keeps the norm, because setpoints may have
/// any, and NaN.
pub fn raw_enu_ned([w, x, y, z]: [f64; 4]) -> [f64; 4] {
    [-(w + z), -(x + y), y - x, z - w].map(|c| c * FRAC_1_SQRT_2)
}

impl From<Attitude<Flu, Nwu>> for Attitude<Flu, Enu> {
    /// North is the x axis of NWU and the y axis of ENU: a quarter turn about z.
    fn from(attitude: Attitude<Flu, Nwu>) -> Self {
        let [w, x, y, z] = attitude.wxyz().map(|c| c * FRAC_1_SQRT_2);
        from_parts([w - z, x - y, x + y, w + z])
    }
}

impl From<Attitude<Flu, Enu>> for Attitude<Flu, Nwu> {
    fn from(attitude: Attitude<Flu, Enu>) -> Self {
        let [w, x, y, z] = attitude.wxyz().map(|c| c * FRAC_1_SQRT_2);
        from_parts([w + z, x + y, y - x, z - w])
    }
}

impl From<Attitude<Frd, Ned>> for Attitude<Flu, Enu> {
    fn from(attitude: Attitude<Frd, Ned>) -> Self {
        Attitude::<Flu, Nwu>::from(attitude).into()
    }
}

impl From<Attitude<Flu, Enu>> for Attitude<Frd, Ned> {
    fn from(attitude: Attitude<Flu, Enu>) -> Self {
        Attitude::<Flu, Nwu>::from(attitude).into()
    }
}

impl Attitude<Optical, Flu> {
    /// Attitude of `<sensor>_optical_frame` in `<sensor>_link`.
    pub fn optical() -> Self {
        from_parts([0.5, -0.5, 0.5, -0.5])
    }
}
