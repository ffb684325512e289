//! Quality of a GPS fix.
use crate::frames::{Covariance3, Enu};
use crate::msgs::sensor_msgs::msg::{NavSatFix, NavSatStatus};
use crate::wire::mavlink::raw::GpsRawInt;

/// GPS_FIX_TYPE_3D_FIX.
const FIX_3D: u8 = 3;
/// Standard deviation in m of a position at a dilution of 1, as mavros assumes.
const RANGE_ERROR_M: f64 = 1.0;

/// Quality of the last fix; the estimated position is published with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixQuality {
    /// NavSatStatus.status.
    status: i8,
    pub(super) covariance: Covariance3<Enu>,
    /// NavSatFix.position_covariance_type.
    covariance_type: u8,
}

impl Default for FixQuality {
    fn default() -> Self {
        Self {
            status: NavSatStatus::STATUS_NO_FIX,
            covariance: Covariance3::from_rows([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            covariance_type: NavSatFix::COVARIANCE_TYPE_UNKNOWN,
        }
    }
}

impl FixQuality {
    pub(super) fn of(m: &GpsRawInt) -> Self {
        let has_fix = m.fix_type >= FIX_3D;
        let status = if has_fix { NavSatStatus::STATUS_FIX } else { NavSatStatus::STATUS_NO_FIX };
        let new = |horizontal: f64, vertical: f64, covariance_type| {
            let variances =
                [horizontal, horizontal, vertical].map(|deviation| deviation * deviation);
            Self { status, covariance: Covariance3::from_variances(variances), covariance_type }
        };
        if m.h_acc > 0 && m.v_acc > 0 {
            let metres = |mm: u32| f64::from(mm) / 1e3;
            new(metres(m.h_acc), metres(m.v_acc), NavSatFix::COVARIANCE_TYPE_DIAGONAL_KNOWN)
        } else if m.eph != u16::MAX && m.epv != u16::MAX {
            let metres = |dilution: u16| f64::from(f32::from(dilution) / 1e2) * RANGE_ERROR_M;
            new(metres(m.eph), metres(m.epv), NavSatFix::COVARIANCE_TYPE_APPROXIMATED)
        } else {
            Self { status, ..Self::default() }
        }
    }

    pub(super) const fn is_fix(self) -> bool {
        self.status == NavSatStatus::STATUS_FIX
    }

    /// Writes the quality into a fix.
    pub(super) fn fill(self, fix: &mut NavSatFix) {
        fix.status = NavSatStatus { status: self.status, service: NavSatStatus::SERVICE_GPS };
        fix.position_covariance = self.covariance.to_rows();
        fix.position_covariance_type = self.covariance_type;
    }
}
