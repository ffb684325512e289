//! The camera of the renderer's own window.
use crate::scene::datagrams::Recipient;
use crate::scene::map_pose::{MapFrame, MapPose};
use crate::scene::state::SceneCall;
use crate::{frames::WorldConvention, msgs::rfly_bridge_msgs::srv::SetViewRequest};

pub(super) fn set_view(call: &mut SceneCall<'_>, request: &SetViewRequest) -> Result<(), String> {
    let mut commands = Vec::new();
    if !request.entity.is_empty() {
        let id = call.scene.entities.id_of(&request.entity)?;
        commands.push(format!("RflyChangeViewKeyCmd B {id}"));
    }
    if request.set_pose {
        let pose = &request.pose.pose;
        let (name, target) = if request.relative {
            // Forward, left, up become forward, right, down: as from NWU to NED.
            let body = MapFrame { name: String::new(), world: WorldConvention::Nwu };
            ("RflyCameraPosAngAdd", body.map_pose(pose, None)?)
        } else {
            let frame_id = &request.pose.header.frame_id;
            ("RflyCameraPosAng", call.scene.map_pose(frame_id, pose)?)
        };
        commands.push(format!("{name} {}", format_pose(&target)));
    } else if request.relative {
        return Err("relative is set, but set_pose is not".to_owned());
    }
    match request.fov_deg {
        0.0 => {}
        fov if (1.0..=179.0).contains(&fov) => commands.push(format!("RflyCameraFovDegrees {fov}")),
        fov => return Err(format!("fov_deg must be 0 (no change) or 1 to 179, is {fov}")),
    }
    if commands.is_empty() {
        return Err("nothing to do: give entity, set_pose or fov_deg".to_owned());
    }
    for command in commands {
        call.out.command(Recipient::Windows, &command);
    }
    Ok(())
}

/// Writes position in m, and roll, pitch, yaw in degrees, with four decimals.
fn format_pose(pose: &MapPose) -> String {
    let numbers = [pose.position.to_array(), pose.attitude.euler().to_degrees()];
    let rounded = |v: f64| ((v * 1e4).round() / 1e4 + 0.0).to_string(); // no -0
    numbers.map(|part| part.map(rounded).join(" ")).join(" ")
}
