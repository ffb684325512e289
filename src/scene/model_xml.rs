//! XML files of the renderer's vehicle models: name, size, onboard cameras.
use super::models::{SpawnableModel, built_in_models, category_of, vehicle_type};
use super::names::check_name;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Contents of one file.
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
    scale: Option<XmlVector>,
    body: Option<XmlBody>,
    #[serde(rename = "OnboardCameras", default)]
    cameras: XmlCameras,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
struct XmlVector {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct XmlBody {
    #[serde(rename = "CenterHeightAboveGroundCm")]
    height_cm: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
struct XmlCameras {
    #[serde(default)]
    camera: Vec<XmlCamera>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct XmlCamera {
    #[serde(default)]
    name: String,
    #[serde(rename = "RelativePosToBodyCm")]
    position: Option<XmlVector>,
}

impl ModelXml {
    /// Reads a file; `None` if it does not describe a vehicle.
    ///
    /// # Errors
    /// The description of the vehicle is invalid.
    pub fn read(text: &str) -> Result<Option<Self>, String> {
        // Files of other tools may be in the folder.
        if !text.contains("<vehicle") || !text.contains("ClassID") {
            return Ok(None);
        }
        let model: Self = quick_xml::de::from_str(text).map_err(|error| error.to_string())?;
        match model.class {
            1.. => Ok(Some(model)),
            class => Err(format!("ClassID must be at least 1, is {class}")),
        }
    }

    /// Describes class, style, height of the centre, scale, cameras.
    fn describe(&self, style: i32) -> String {
        let mut text = format!("class {}, style {style}", self.class);
        if let Some(cm) = self.body.as_ref().and_then(|body| body.height_cm) {
            text += &format!("; centre {cm} cm above the ground (vehicle_bottom_m {})", cm / 100.0);
        }
        if let Some(XmlVector { x, y, z }) = self.scale {
            text += &format!("; scale {x}, {y}, {z}");
        }
        for camera in &self.cameras.camera {
            text += &format!("; camera {}", camera.name.trim());
            if let Some(XmlVector { x, y, z }) = camera.position {
                text += &format!(" at {x}, {y}, {z} cm");
            }
        }
        text
    }
}

/// Adds the models of files to a list; returns the ones that cannot be spawned, and why.
///
/// A style is the index in the renderer's list of a class, sorted by `DisplayOrder`; built-in models without a file come first.
/// Entries of the user's file stay as they are, also where they replace a built-in model.
pub(super) fn add(models: &mut Vec<SpawnableModel>, files: Vec<ModelXml>) -> Vec<String> {
    let mut left_out = Vec::new();
    let mut built_in = built_in_models();
    let mut classes: BTreeMap<i32, Vec<(String, ModelXml)>> = BTreeMap::new();
    for file in files {
        let name = make_name(&file.name);
        let has_name = |model: &SpawnableModel| model.name.eq_ignore_ascii_case(&name);
        models.retain(|model| !(has_name(model) && built_in.contains(model)));
        built_in.retain(|model| !has_name(model));
        classes.entry(file.class).or_default().push((name, file));
    }
    for (class, mut files) in classes {
        files.sort_by(|(_, a), (_, b)| a.order.total_cmp(&b.order).then(a.name.cmp(&b.name)));
        let mut next = 0..;
        for (row, style) in built_in.iter().filter(|row| row.class == class).zip(&mut next) {
            if let Some(model) = models.iter_mut().find(|model| **model == *row) {
                model.style = style;
            }
        }
        for ((name, file), style) in files.into_iter().zip(next) {
            let is_taken = |name: &str| models.iter().any(|m| m.name.eq_ignore_ascii_case(name));
            let name = match check_name(&name) {
                Ok(()) if !is_taken(&name) => name,
                _ => format!("class{class}_style{style}"),
            };
            if vehicle_type(class, style).is_none() {
                left_out.push(format!(
                    "{name}: no number is known for class {class} with style {style}"
                ));
                continue;
            }
            models.push(SpawnableModel {
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

/// Replaces characters that names of entities must not have. Empties a name without a letter, because a number means a class.
fn make_name(name: &str) -> String {
    if !name.contains(|c: char| c.is_ascii_alphabetic()) {
        return String::new();
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    name.trim().chars().map(|c| if is_allowed(c) { c } else { '_' }).collect()
}
