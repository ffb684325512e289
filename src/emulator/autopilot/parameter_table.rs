//! Names, types and defaults of PX4's parameters: facts of PX4 1.16 on a quadrotor of its built-in simulator.
use super::parameters::Value::{self, Float, Int};

/// Not all of them: those that ground stations, MAVROS users and this vehicle look at.
pub(super) const TABLE: &[(&str, Value)] = &[
    ("COM_RC_IN_MODE", Int(4)),
    ("NAV_RCL_ACT", Int(0)),
    ("COM_RCL_EXCEPT", Int(4)),
    ("COM_OF_LOSS_T", Float(1.0)),
    ("MPC_XY_VEL_MAX", Float(12.0)),
    ("MIS_TAKEOFF_ALT", Float(2.5)),
    ("MPC_XY_CRUISE", Float(5.0)),
];
