//! Settings, errors and events of the client.
use super::value::{ParameterKind, ParameterName, ParameterValue};
use crate::wire::mavlink::Outbound;
use std::time::Duration;

/// Timeouts and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterSettings {
    /// Time to wait for an answer to each transmission.
    pub wait: Duration,
    /// Silence after which the list's missing values are requested.
    pub gap: Duration,
    /// Number of transmissions of each request.
    pub tries: u32,
    /// Maximum number of requests in flight.
    pub in_flight: usize,
    /// Maximum number of waiting requests.
    pub max_waiting: usize,
    /// Maximum number of stored parameters.
    pub max_parameters: usize,
}

impl Default for ParameterSettings {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(1),
            gap: Duration::from_millis(500),
            tries: 4,
            in_flight: 16,
            max_waiting: 4096,
            max_parameters: 16384,
        }
    }
}

/// A parameter of the autopilot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name.
    pub name: ParameterName,
    /// Value.
    pub value: ParameterValue,
    /// Type.
    pub kind: ParameterKind,
    /// Index in the list, if it has one.
    pub index: Option<u16>,
    /// Number of parameters, as sent with it.
    pub count: u16,
    /// Undecoded bytes of `param_value`.
    pub raw: [u8; 4],
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterError {
    /// The autopilot did not answer.
    TimedOut,
    /// The autopilot kept another value.
    Kept(ParameterValue),
    /// The autopilot refused the request (MAV_PARAM_ERROR).
    Refused(u8),
    /// The value does not fit into the parameter's type.
    DoesNotFit(ParameterKind),
    /// The value is NaN or infinite; refused here, because PX4 would accept it.
    NotFinite,
    /// The list is incomplete.
    Incomplete {
        /// Parameters received.
        received: usize,
        /// Parameters that the autopilot announced.
        total: usize,
    },
    /// Too many requests are waiting.
    TooMany,
    /// The settings forbid changes.
    ReadOnly,
    /// The link to the vehicle was lost.
    LinkLost,
    /// The link cannot transmit such a request; contains the reason.
    NotCarried(&'static str),
    /// The link failed to send the request.
    NotSent,
}

/// Work for the caller, in the order in which `next_event` returns it.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack between two calls")]
pub enum ParameterEvent<T> {
    /// Send this.
    Send(Outbound),
    /// A value arrived, with or without a request.
    Value {
        /// The parameter.
        parameter: Parameter,
        /// The value is new or changed.
        changed: bool,
    },
    /// Progress of the download of the list.
    Progress {
        /// Received parameters.
        received: usize,
        /// Expected parameters.
        total: usize,
    },
    /// These indices are missing at the end of the download.
    Missing(Vec<u16>),
    /// The download of the list ended.
    Pulled {
        /// Token of the request; `None` if it had none.
        token: Option<T>,
        /// Number of parameters.
        result: Result<usize, ParameterError>,
    },
    /// A value was read or set.
    Done {
        /// Token of the request.
        token: T,
        /// Name.
        name: ParameterName,
        /// The current parameter, or the error.
        result: Result<Parameter, ParameterError>,
    },
}

/// Counters so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ParameterCounters {
    /// Values received.
    pub values: u64,
    /// Values with an invalid name or type, or beyond the limit.
    pub unusable: u64,
    /// Second and further transmissions.
    pub retransmitted: u64,
    /// Requests to read or set a value that timed out.
    pub timed_out: u64,
}
