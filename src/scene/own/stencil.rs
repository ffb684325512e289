//! Class numbers of objects for segmentation and thermal cameras.
use super::send_command;
use crate::msgs::rfly_bridge_msgs::msg::ThermalClass;
use crate::msgs::rfly_bridge_msgs::srv::{
    SetStencilRequest, SetTemperaturesRequest, SetTemperaturesResponse,
};
use crate::scene::console::quote;
use crate::scene::datagrams::Recipient;
use crate::scene::radiance::{RadianceClass, stencil_values};
use crate::scene::state::SceneCall;

const MAX_CLASSES: usize = 256;

pub(super) fn set_stencil(
    call: &mut SceneCall<'_>,
    request: &SetStencilRequest,
) -> Result<(), String> {
    let SetStencilRequest { by, name, regex, value } = request;
    if name.is_empty() {
        return Err("name is empty".to_owned());
    }
    let command = match by {
        0 if *regex => {
            let message = "regex is for actors (by 1) and mesh components (by 2), not for entities";
            return Err(message.to_owned());
        }
        0 => {
            let id = call.scene.entities.id_of(name)?;
            format!("RflySetStencilValueByCopterID {id} {value}")
        }
        1 | 2 => {
            let kind = if *by == 1 { "Actor" } else { "MeshComponent" };
            let regex = if *regex { "True" } else { "False" };
            format!("RflySetStencilValueBy{kind}Name {} {value} {regex}", quote(name)?)
        }
        other => {
            return Err(format!(
                "by must be 0 (entity), 1 (actor) or 2 (mesh component), is {other}"
            ));
        }
    };
    send_command(call, &command, "name is too long")
}

/// `scene/set_temperatures`.
pub fn set_temperatures(
    call: &mut SceneCall<'_>,
    request: SetTemperaturesRequest,
) -> SetTemperaturesResponse {
    match apply_temperatures(call, &request.classes) {
        Ok(values) => SetTemperaturesResponse { success: true, message: String::new(), values },
        Err(message) => SetTemperaturesResponse { success: false, message, values: Vec::new() },
    }
}

fn apply_temperatures(call: &mut SceneCall<'_>, given: &[ThermalClass]) -> Result<Vec<u8>, String> {
    if given.len() > MAX_CLASSES {
        return Err(format!("classes are at most {MAX_CLASSES}, got {}", given.len()));
    }
    let mut classes = Vec::new();
    for (i, class) in given.iter().enumerate() {
        classes.push(read_class(class).map_err(|why| format!("classes[{i}]: {why}"))?);
    }
    if classes.is_empty() {
        classes = RadianceClass::vendor_classes();
    }
    let values = stencil_values(&classes);
    for (class, value) in classes.iter().zip(&values) {
        call.out.command(Recipient::Windows, &class.command(*value));
    }
    Ok(values)
}

fn read_class(class: &ThermalClass) -> Result<RadianceClass, String> {
    let ThermalClass { name, temperature, emissivity, actor } = class.clone();
    let is_allowed = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || name.len() > 100 || !name.chars().all(is_allowed) {
        return Err(format!(
            "name must be a part of an object's name (letters, digits, `_`, `-`, `.`), up to 100 bytes, is {name:?}"
        ));
    }
    if !(1.0..=10_000.0).contains(&temperature) {
        return Err(format!("temperature must be from 1 to 10000 K, is {temperature}"));
    }
    if !(0.001..=1.0).contains(&emissivity) {
        return Err(format!("emissivity must be from 0.001 to 1, is {emissivity}"));
    }
    Ok(RadianceClass { name, temperature, emissivity, actor })
}
