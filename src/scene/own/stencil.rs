//! Class numbers of objects for segmentation and thermal cameras.
use super::answer;
use crate::msgs::rfly_bridge_msgs::msg::ThermalClass;
use crate::msgs::rfly_bridge_msgs::srv::{
    SetStencilRequest, SetStencilResponse, SetTemperaturesRequest, SetTemperaturesResponse,
};
use crate::scene::console::quoted;
use crate::scene::datagrams::Recipient;
use crate::scene::radiance::{RADIANCE_CLASSES, RadianceClass, stencil_values};
use crate::scene::state::{Call, Scene};

const MOST_CLASSES: usize = 256;

/// `scene/set_stencil`.
pub fn set_stencil(
    scene: &mut Scene,
    request: SetStencilRequest,
    call: &mut Call<'_>,
) -> SetStencilResponse {
    let (success, message) = answer(stencil(scene, &request, call));
    SetStencilResponse { success, message }
}

fn stencil(scene: &Scene, request: &SetStencilRequest, call: &mut Call<'_>) -> Result<(), String> {
    let SetStencilRequest { by, name, regex, value } = request;
    if name.is_empty() {
        return Err("name is empty".to_owned());
    }
    let command = match by {
        0 if *regex => {
            return Err("regex is for actors (by 1) and mesh components (by 2), not for entities"
                .to_owned());
        }
        0 => {
            let id = scene.entities.id_of(name)?;
            format!("RflySetStencilValueByCopterID {id} {value}")
        }
        1 | 2 => {
            let what = match by {
                1 => "Actor",
                _ => "MeshComponent",
            };
            let regex = match regex {
                true => "True",
                false => "False",
            };
            format!("RflySetStencilValueBy{what}Name {} {value} {regex}", quoted(name)?)
        }
        other => {
            return Err(format!(
                "by must be 0 (entity), 1 (actor) or 2 (mesh component), is {other}"
            ));
        }
    };
    match call.out.command(Recipient::Windows, &command) {
        true => Ok(()),
        false => Err(format!(
            "name is too long: a command has 249 bytes, with this name {}",
            command.len()
        )),
    }
}

/// `scene/set_temperatures`.
pub fn set_temperatures(
    _: &mut Scene,
    request: SetTemperaturesRequest,
    call: &mut Call<'_>,
) -> SetTemperaturesResponse {
    match temperatures(&request.classes, call) {
        Ok(values) => SetTemperaturesResponse { success: true, message: String::new(), values },
        Err(message) => SetTemperaturesResponse { success: false, message, values: Vec::new() },
    }
}

fn temperatures(given: &[ThermalClass], call: &mut Call<'_>) -> Result<Vec<u8>, String> {
    if given.len() > MOST_CLASSES {
        return Err(format!("classes are at most {MOST_CLASSES}, got {}", given.len()));
    }
    let classes: Vec<RadianceClass> = match given {
        [] => vendors().collect(),
        given => {
            let checked = given
                .iter()
                .enumerate()
                .map(|(i, class)| check(class).map_err(|why| format!("classes[{i}]: {why}")));
            checked.collect::<Result<_, _>>()?
        }
    };
    let values = stencil_values(&classes);
    for (class, value) in classes.iter().zip(&values) {
        call.out.command(Recipient::Windows, &class.command(*value));
    }
    Ok(values)
}

fn vendors() -> impl Iterator<Item = RadianceClass> {
    let class = |(name, temperature, emissivity, actor): (&str, f64, f64, bool)| RadianceClass {
        name: name.to_owned(),
        temperature,
        emissivity,
        actor,
    };
    RADIANCE_CLASSES.into_iter().map(class)
}

fn check(class: &ThermalClass) -> Result<RadianceClass, String> {
    let ThermalClass { name, temperature, emissivity, actor } = class;
    let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || name.len() > 100 || !name.chars().all(word) {
        return Err(format!(
            "name must be a part of an object's name (letters, digits, `_`, `-`, `.`), up to 100 bytes, is {name:?}"
        ));
    }
    if !(1.0..=10_000.0).contains(temperature) {
        return Err(format!("temperature must be from 1 to 10000 K, is {temperature}"));
    }
    if !(0.001..=1.0).contains(emissivity) {
        return Err(format!("emissivity must be from 0.001 to 1, is {emissivity}"));
    }
    Ok(RadianceClass {
        name: name.clone(),
        temperature: *temperature,
        emissivity: *emissivity,
        actor: *actor,
    })
}
