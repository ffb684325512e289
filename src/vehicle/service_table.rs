//! Declares the services of one file as a table.
use super::{Autopilot, Open};
use crate::ros::{Responder, RosError};
use crate::{config::ServiceRow, msgs::Service};

/// A service, and how it is opened.
pub(super) struct VehicleService {
    pub(super) row: ServiceRow,
    pub(super) open: fn(&Open<'_>) -> Result<(), RosError>,
}

/// Declares services: type, name, documentation, and a handler `(VehicleCall, Request)`, which may keep the responder and
/// answer later.
macro_rules! services {
    ($($service:ident($name:literal, $doc:literal) => $handler:expr;)+) => {
        pub(in crate::vehicle) const SERVICES: &[$crate::vehicle::service_table::VehicleService] = &[$(
            $crate::vehicle::service_table::VehicleService {
                row: $crate::config::ServiceRow::new(
                    $name,
                    <$service as $crate::msgs::Service>::TYPE,
                    $doc,
                ),
                open: |open| open.service::<$service>($name, |autopilot, request, responder| {
                    let call = $crate::vehicle::service_table::VehicleCall { autopilot, name: $name, responder };
                    $crate::vehicle::service_table::handle(call, request, $handler);
                }),
            },
        )+];
    };
}
pub(super) use services;

/// A call of a service of the vehicle.
pub(super) struct VehicleCall<'a, S: Service> {
    pub(super) autopilot: &'a mut Autopilot,
    pub(super) name: &'static str,
    pub(super) responder: Responder<S>,
}

/// Calls `handler`; from this signature the compiler infers the argument types of a closure.
pub(super) fn handle<S: Service>(
    call: VehicleCall<'_, S>,
    request: S::Request,
    handler: impl FnOnce(VehicleCall<'_, S>, S::Request),
) {
    handler(call, request);
}
