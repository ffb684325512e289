//! `log_transfer/raw/*`: refused with a reason, so that clients do not wait for logs.
use super::ServicePart;
use crate::msgs::Service;
use crate::msgs::mavros_msgs::srv::{
    LogRequestData, LogRequestDataResponse, LogRequestEnd, LogRequestEndResponse, LogRequestList,
    LogRequestListResponse,
};
use crate::msgs::std_srvs::srv::{Trigger, TriggerResponse};
use crate::ros::RosError;
use crate::vehicle::link::Abilities;
use crate::vehicle::{Counter, Open};

const WHY: &str = "logs are not transferred: PX4 in the simulation writes them on its own machine (log/ in its directory); to \
                   download them, use mavlink_sink and mavlink_source";

pub(super) struct LogsPart;

impl ServicePart for LogsPart {
    fn open(open: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        refuse::<LogRequestList>(open, "log_transfer/raw/log_request_list", || {
            LogRequestListResponse { success: false }
        })?;
        refuse::<LogRequestData>(open, "log_transfer/raw/log_request_data", || {
            LogRequestDataResponse { success: false }
        })?;
        refuse::<LogRequestEnd>(open, "log_transfer/raw/log_request_end", || {
            LogRequestEndResponse { success: false }
        })?;
        refuse::<Trigger>(open, "log_transfer/raw/log_request_erase", || TriggerResponse {
            success: false,
            message: WHY.to_owned(),
        })?;
        Ok(Self)
    }
}

fn refuse<S: Service>(
    open: &Open<'_>,
    name: &'static str,
    reply: fn() -> S::Response,
) -> Result<(), RosError> {
    open.service::<S>(name, move |autopilot, _, responder| {
        let fcu = &mut autopilot.fcu;
        fcu.warn(format!("{name}: {WHY}"));
        fcu.count(Counter::CommandRefused);
        responder.respond(reply());
    })
}
