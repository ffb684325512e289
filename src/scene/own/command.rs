//! Console commands, and requests for descriptions.
use crate::msgs::rfly_bridge_msgs::srv::{
    DescribeAllRequest, DescribeAllResponse, SceneCommandRequest,
};
use crate::scene::console::{MAX_COMMAND_LEN, MAX_NETWORK_COMMAND_LEN, check_command};
use crate::scene::datagrams::Recipient;
use crate::scene::state::SceneCall;
use crate::wire::split_console_command;

const WINDOWS: i16 = -1;
const NETWORK: i16 = -2;
/// Index of the last window of one host.
const LAST_WINDOW: i16 = 19;

pub(super) fn command(
    call: &mut SceneCall<'_>,
    request: &SceneCommandRequest,
) -> Result<(), String> {
    let (to, longest) = match request.window {
        WINDOWS => (Recipient::Windows, MAX_COMMAND_LEN),
        NETWORK => (Recipient::Network, MAX_NETWORK_COMMAND_LEN),
        window @ 0..=LAST_WINDOW => (Recipient::Window(window.unsigned_abs()), MAX_COMMAND_LEN),
        other => {
            return Err(format!(
                "window must be 0 to {LAST_WINDOW}, -1 (the windows of scene.windows) or -2 (every renderer of the network), is {other}"
            ));
        }
    };
    let text = check_command(&request.command, longest)?;
    call.out.command(to, &text);
    let (name, _) = split_console_command(&text);
    let is_sent = |command: &str| command.eq_ignore_ascii_case(name);
    if ["RflyChangeMapbyID", "RflyChangeMapbyName"].into_iter().any(is_sent) {
        // Which map it is now is unknown: the renderer may have maps that the bridge does not list.
        call.scene.forget_world();
        call.out.map_changed = true;
    }
    Ok(())
}

/// Operation for all cameras, kind 0; each further kind adds 1 (docs/wire/traps.md, object-requests).
const ALL_OF_A_KIND: u8 = 20;

/// `scene/describe_all`.
pub fn describe_all(call: &mut SceneCall<'_>, request: DescribeAllRequest) -> DescribeAllResponse {
    let last = DescribeAllRequest::ALL;
    if request.kind > last {
        let message = format!(
            "kind must be 0 (cameras), 1 (vehicles), 2 (objects), 3 (vehicles and objects) or {last} (all), is {}",
            request.kind
        );
        return DescribeAllResponse { success: false, message };
    }
    let operation = ALL_OF_A_KIND + request.kind;
    let text = format!("RflyReqObjData {operation} all 0");
    DescribeAllResponse {
        success: call.out.command(Recipient::Windows, &text),
        message: format!(
            "`{text}` was sent. The vendor's documents disagree whether it requests descriptions of all or ends them: \
             scene/cameras, scene/vehicles and scene/objects show the result; the bridge repeats its own requests"
        ),
    }
}
