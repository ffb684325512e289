//! Services and topics of the bridge that `simulation_interfaces` does not define.
mod command;
mod display;
mod packets;
mod stencil;
mod stream;
mod view;

pub use command::describe_all;
pub use stencil::set_temperatures;
pub use stream::{SkipCause, Skipped, set_states};

use super::{console::MAX_COMMAND_LEN, datagrams::Recipient, state::SceneCall};
use crate::msgs::rfly_bridge_msgs::srv;

/// Declares services whose responses have only a result and a message.
macro_rules! services {
    ($($module:ident::$name:ident $service:ident)+) => { pastey::paste! { $(
        #[doc = concat!("`scene/", stringify!($name), "`.")]
        pub fn $name(call: &mut SceneCall<'_>, request: srv::[<$service Request>]) -> srv::[<$service Response>] {
            let result = $module::$name(call, &request);
            let success = result.is_ok();
            srv::[<$service Response>] { success, message: result.err().unwrap_or_default() }
        }
    )+ } };
}

services! {
    command::command SceneCommand
    display::attach Attach
    display::set_actuators SetActuators
    display::set_label SetLabel
    display::set_size SetSize
    display::show_message ShowMessage
    stencil::set_stencil SetStencil
    view::set_view SetView
}

/// Sends a console command to the windows; `problem` begins the error if the command is too long.
fn send_command(call: &mut SceneCall<'_>, command: &str, problem: &str) -> Result<(), String> {
    if call.out.command(Recipient::Windows, command) {
        return Ok(());
    }
    let len = command.len();
    Err(format!("{problem}: a command has at most {MAX_COMMAND_LEN} bytes, this one has {len}"))
}
