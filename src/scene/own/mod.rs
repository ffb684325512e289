//! Services and topics of the bridge itself, beyond the standard.
mod command;
mod descriptions;
mod display;
mod packets;
mod stencil;
mod stream;
mod view;

pub use command::command;
pub use descriptions::describe_all;
pub use display::{attach, set_actuators, set_label, set_size, show_message};
pub use stencil::{set_stencil, set_temperatures};
pub use stream::{SkipCause, Skipped, set_states};
pub use view::set_view;

use super::refusal::Refusal;

/// The answer of a service that has no result but success.
fn answer(result: Result<(), String>) -> (bool, String) {
    match result {
        Ok(()) => (true, String::new()),
        Err(message) => (false, message),
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> Self {
        refusal.message
    }
}
