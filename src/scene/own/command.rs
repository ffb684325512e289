//! Any console command.
use super::answer;
use crate::msgs::rfly_bridge_msgs::srv::{SceneCommandRequest, SceneCommandResponse};
use crate::scene::console::{LONGEST, LONGEST_TO_NETWORK, check_command};
use crate::scene::datagrams::Recipient;
use crate::scene::state::{Call, Scene};
use crate::wire::split_console_command;

const WINDOWS: i16 = -1;
const NETWORK: i16 = -2;
/// Windows of one host.
const LAST_WINDOW: i16 = 19;

/// `scene/command`.
pub fn command(
    scene: &mut Scene,
    request: SceneCommandRequest,
    call: &mut Call<'_>,
) -> SceneCommandResponse {
    let (success, message) = answer(send(scene, &request, call));
    SceneCommandResponse { success, message }
}

fn send(
    scene: &mut Scene,
    request: &SceneCommandRequest,
    call: &mut Call<'_>,
) -> Result<(), String> {
    let (to, longest) = match request.window {
        WINDOWS => (Recipient::Windows, LONGEST),
        NETWORK => (Recipient::Network, LONGEST_TO_NETWORK),
        window @ 0..=LAST_WINDOW => (Recipient::Window(window.unsigned_abs()), LONGEST),
        other => {
            return Err(format!(
                "window must be 0 to {LAST_WINDOW}, -1 (the windows of scene.windows) or -2 (every renderer of the network), is {other}"
            ));
        }
    };
    let text = check_command(&request.command, longest)?;
    call.out.command(to, &text);
    let (name, _) = split_console_command(&text);
    if ["RflyChangeMapbyID", "RflyChangeMapbyName"].iter().any(|map| map.eq_ignore_ascii_case(name))
    {
        // The renderer may know more maps than the bridge does.
        scene.forget_world();
        call.out.map_changed = true;
    }
    Ok(())
}
