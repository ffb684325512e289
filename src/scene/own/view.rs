//! The camera of the renderer's own window.
use super::answer;
use crate::frames::WorldConvention;
use crate::msgs::rfly_bridge_msgs::srv::{SetViewRequest, SetViewResponse};
use crate::scene::datagrams::Recipient;
use crate::scene::place::{MapFrame, Place};
use crate::scene::state::{Call, Scene};

/// `scene/set_view`.
pub fn set_view(
    scene: &mut Scene,
    request: SetViewRequest,
    call: &mut Call<'_>,
) -> SetViewResponse {
    let (success, message) = answer(view(scene, &request, call));
    SetViewResponse { success, message }
}

fn view(scene: &Scene, request: &SetViewRequest, call: &mut Call<'_>) -> Result<(), String> {
    let mut commands = Vec::new();
    if !request.entity.is_empty() {
        let id = scene.entities.id_of(&request.entity)?;
        commands.push(format!("RflyChangeViewKeyCmd B {id}"));
    }
    if request.set_pose {
        let pose = &request.pose.pose;
        let (name, place) = if request.relative {
            // Forward, left, up become forward, right, down: as from NWU to NED.
            let own = MapFrame { name: String::new(), world: WorldConvention::Nwu };
            ("RflyCameraPosAngAdd", own.place(pose, None)?)
        } else {
            let frame_id = &request.pose.header.frame_id;
            ("RflyCameraPosAng", scene.place(frame_id, pose)?)
        };
        commands.push(format!("{name} {}", six_numbers(&place)));
    } else if request.relative {
        return Err("relative is set, but set_pose is not".to_owned());
    }
    match request.fov_deg {
        0.0 => {}
        fov if (1.0..=179.0).contains(&fov) => commands.push(format!("RflyCameraFovDegrees {fov}")),
        fov => {
            return Err(format!("fov_deg must be 0 (no change) or 1 to 179, is {fov}"));
        }
    }
    if commands.is_empty() {
        return Err("nothing to do: give entity, set_pose or fov_deg".to_owned());
    }
    for command in commands {
        call.out.command(Recipient::Windows, &command);
    }
    Ok(())
}

/// Position in m, roll, pitch, yaw in degrees, without the digits that only rounding makes.
fn six_numbers(place: &Place) -> String {
    let numbers = [place.position.to_array(), place.attitude.euler().to_degrees()];
    let rounded = numbers.as_flattened().iter().map(|v| {
        let rounded = (v * 1e4).round() / 1e4;
        (rounded + 0.0).to_string() // no -0
    });
    rounded.collect::<Vec<_>>().join(" ")
}
