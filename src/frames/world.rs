use super::vector::{Enu, Flu, Frd, Ned, Nwu, Vector};
use super::{attitude::Attitude, transform::Transform};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

/// Direction of the axes of `map` and `odom`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum WorldConvention {
    /// x east, y north, z up: REP 103. A vehicle that faces north has yaw +90°.
    #[default]
    Enu,
    /// x north, y west, z up: x as in the simulator. A vehicle that faces north has yaw 0.
    Nwu,
}

impl WorldConvention {
    /// Expresses a point or a vector of the simulator's world in this world.
    pub fn vector(self, vector: Vector<Ned>) -> [f64; 3] {
        match self {
            Self::Enu => Vector::<Enu>::from(vector).to_array(),
            Self::Nwu => Vector::<Nwu>::from(vector).to_array(),
        }
    }

    /// Expresses the attitude of a body in this world, w, x, y, z; the body becomes FLU.
    pub fn attitude(self, attitude: Attitude<Frd, Ned>) -> [f64; 4] {
        match self {
            Self::Enu => Attitude::<Flu, Enu>::from(attitude).wxyz(),
            Self::Nwu => Attitude::<Flu, Nwu>::from(attitude).wxyz(),
        }
    }

    /// Expresses a point or a vector of this world in the simulator's world.
    pub fn ned(self, [x, y, z]: [f64; 3]) -> Vector<Ned> {
        match self {
            Self::Enu => Vector::<Enu>::new(x, y, z).into(),
            Self::Nwu => Vector::<Nwu>::new(x, y, z).into(),
        }
    }

    /// Converts the attitude of an FLU body in this world, w, x, y, z, to FRD in NED; `None` if the norm is nearly 0 or not
    /// finite.
    pub fn ned_attitude(self, wxyz: [f64; 4]) -> Option<Attitude<Frd, Ned>> {
        Some(match self {
            Self::Enu => Attitude::<Flu, Enu>::from_wxyz(wxyz)?.into(),
            Self::Nwu => Attitude::<Flu, Nwu>::from_wxyz(wxyz)?.into(),
        })
    }

    /// Returns the pose in this world of ENU axes at a point of the simulator's world.
    pub fn enu_at(self, position: Vector<Ned>) -> Transform {
        let rotation = match self {
            Self::Enu => [1.0, 0.0, 0.0, 0.0],
            // East is -y in NWU.
            Self::Nwu => [FRAC_1_SQRT_2, 0.0, 0.0, -FRAC_1_SQRT_2],
        };
        Transform::from_parts(self.vector(position), rotation)
    }

    /// Converts a yaw, counter-clockwise from the x axis of this world, to a heading, clockwise from north; both in rad.
    pub fn ned_yaw(self, yaw: f64) -> f64 {
        match self {
            Self::Enu => FRAC_PI_2 - yaw,
            Self::Nwu => -yaw,
        }
    }

    /// Returns the pose in this world of an FLU body.
    pub fn pose(self, position: Vector<Ned>, attitude: Attitude<Frd, Ned>) -> Transform {
        Transform::from_parts(self.vector(position), self.attitude(attitude))
    }
}
