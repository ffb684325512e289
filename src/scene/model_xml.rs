//! XML files of the renderer's vehicle models: what they are called, how large they are, which cameras of their own they have.
use super::models::{Model, category_of, fits, is_built_in};
use super::names::check_name;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a file says.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename = "vehicle")]
pub struct ModelXml {
    #[serde(rename = "ClassID")]
    class: i32,
    #[serde(rename = "DisplayOrder", default)]
    order: f64,
    #[serde(rename = "Name", default)]
    name: String,
    #[serde(rename = "Scale")]
    scale: Option<Axes>,
    body: Option<Body>,
    #[serde(rename = "OnboardCameras", default)]
    cameras: Cameras,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
struct Axes {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Body {
    #[serde(rename = "CenterHeightAboveGroundCm")]
    height_cm: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
struct Cameras {
    #[serde(default)]
    camera: Vec<Camera>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Camera {
    #[serde(default)]
    name: String,
    #[serde(rename = "RelativePosToBodyCm")]
    position: Option<Axes>,
}

impl ModelXml {
    /// Reads a file; `None` if it is not of a vehicle.
    ///
    /// # Errors
    /// What is wrong with that of a vehicle.
    pub fn read(text: &str) -> Result<Option<Self>, String> {
        // Other tools have XML files as well.
        if !text.contains("<vehicle") || !text.contains("ClassID") {
            return Ok(None);
        }
        let read: Self = quick_xml::de::from_str(text).map_err(|error| error.to_string())?;
        match read.class {
            1.. => Ok(Some(read)),
            class => Err(format!("ClassID must be at least 1, is {class}")),
        }
    }

    /// Class, style, and what else a person wants to know.
    fn describe(&self, style: i32) -> String {
        let mut text = format!("class {}, style {style}", self.class);
        if let Some(cm) = self.body.as_ref().and_then(|body| body.height_cm) {
            text += &format!("; centre {cm} cm above the ground (vehicle_bottom_m {})", cm / 100.0);
        }
        if let Some(Axes { x, y, z }) = self.scale {
            text += &format!("; scale {x}, {y}, {z}");
        }
        for camera in &self.cameras.camera {
            text += &format!("; camera {}", camera.name.trim());
            if let Some(Axes { x, y, z }) = camera.position {
                text += &format!(" at {x}, {y}, {z} cm");
            }
        }
        text
    }
}

/// Adds the models of files to a list. A style is the place in the renderer's list of a class, by `DisplayOrder`: those of the list
/// that no file names are taken to come before.
///
/// Returns what cannot be spawned, and why.
pub(super) fn add(models: &mut Vec<Model>, files: Vec<ModelXml>) -> Vec<String> {
    let mut left_out = Vec::new();
    let mut classes: BTreeMap<i32, Vec<(String, ModelXml)>> = BTreeMap::new();
    for file in files {
        let name = ros_name(&file.name);
        models.retain(|model| !(model.name.eq_ignore_ascii_case(&name) && is_built_in(model)));
        classes.entry(file.class).or_default().push((name, file));
    }
    for (class, mut files) in classes {
        files.sort_by(|(_, a), (_, b)| a.order.total_cmp(&b.order).then(a.name.cmp(&b.name)));
        let mut own: Vec<&mut Model> = { models.iter_mut() }
            .filter(|model| model.class == class && is_built_in(model))
            .collect();
        own.sort_by_key(|model| model.style);
        let mut next = 0..;
        for (model, style) in own.into_iter().zip(&mut next) {
            model.style = style;
        }
        for ((name, file), style) in files.into_iter().zip(next) {
            let taken = |name: &str| models.iter().any(|m| m.name.eq_ignore_ascii_case(name));
            let numbered = format!("class{class}_style{style}");
            let name = match check_name(&name) {
                Ok(()) if !taken(&name) => name,
                _ => numbered,
            };
            if !fits(class, style) {
                left_out.push(format!(
                    "{name}: no number is known for class {class} with style {style}"
                ));
                continue;
            }
            models.push(Model {
                description: file.describe(style),
                name,
                class,
                style,
                category: category_of(class),
                size: None,
            });
        }
    }
    left_out
}

/// The name with characters that names of entities may have.
fn ros_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let name: String = { name.trim().chars() }.map(|c| if allowed(c) { c } else { '_' }).collect();
    // One that is only a number means a class.
    match name.chars().any(|c| c.is_ascii_alphabetic()) {
        true => name,
        false => String::new(),
    }
}
