//! `log_transfer/raw/*`: refused with a reason, so that clients do not wait for logs.
use crate::msgs::Service;
use crate::msgs::mavros_msgs::srv::{LogRequestData, LogRequestEnd, LogRequestList};
use crate::msgs::std_srvs::srv::{Trigger, TriggerResponse};
use crate::vehicle::service_table::{VehicleCall, services};
use crate::vehicle::{Counter, Fcu};

const WHY: &str = "logs are not transferred: PX4 in the simulation writes them on its own machine (log/ in its directory); to \
                   download them, use mavlink_sink and mavlink_source";

services! {
    LogRequestList("log_transfer/raw/log_request_list", "refused with the reason") => refuse;
    LogRequestData("log_transfer/raw/log_request_data", "refused with the reason") => refuse;
    LogRequestEnd("log_transfer/raw/log_request_end", "refused with the reason") => refuse;
    Trigger("log_transfer/raw/log_request_erase", "refused with the reason") => |call, _| {
        warn(&mut call.autopilot.fcu, call.name);
        call.responder.respond(TriggerResponse { success: false, message: WHY.to_owned() });
    };
}

/// Answers with the default response, which reports no success.
fn refuse<S: Service, R>(call: VehicleCall<'_, S>, _: R) {
    warn(&mut call.autopilot.fcu, call.name);
    call.responder.respond(S::Response::default());
}

fn warn(fcu: &mut Fcu, name: &str) {
    fcu.warn(format!("{name}: {WHY}"));
    fcu.count(Counter::CommandRefused);
}
