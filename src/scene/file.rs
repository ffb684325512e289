//! The user's file of the scene: more models, more maps, named poses.
use super::bounds::Volume;
use super::model_xml::{self, ModelXml};
use super::models::{Category, Model, built_in_models};
use super::names::check_name;
use super::place::{MapFrame, Place};
use super::worlds::{World, built_in_worlds};
use crate::config::Problems;
use crate::frames::{Attitude, Enu, Euler, Flu};
use crate::msgs::geometry_msgs::msg::{Point, Pose, Quaternion};
use serde::Deserialize;

/// A pose with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPlace {
    /// Name.
    pub name: String,
    /// For people.
    pub description: String,
    /// What it is for.
    pub tags: Vec<String>,
    /// The pose in `map`.
    pub pose: Pose,
    /// Room around it, relative to the pose.
    pub bounds: Option<Volume>,
}

/// Models, maps and poses that requests may name: the renderer's lists and the user's.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// Models.
    pub models: Vec<Model>,
    /// Maps.
    pub worlds: Vec<World>,
    /// Named poses.
    pub poses: Vec<NamedPlace>,
}

impl Default for Library {
    fn default() -> Self {
        Self { models: built_in_models(), worlds: built_in_worlds(), poses: Vec::new() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    models: Vec<ModelEntry>,
    #[serde(default)]
    worlds: Vec<WorldEntry>,
    #[serde(default)]
    poses: Vec<PoseEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    name: String,
    class: i32,
    #[serde(default)]
    style: i32,
    #[serde(default)]
    category: Category,
    #[serde(default)]
    description: String,
    size: Option<[f64; 3]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldEntry {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseEntry {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tags: Vec<String>,
    position: [f64; 3],
    /// x, y, z, w.
    orientation: Option<[f64; 4]>,
    yaw_deg: Option<f64>,
    bounds: Option<BoundsEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum BoundsEntry {
    Box([[f64; 3]; 2]),
    Sphere { centre: [f64; 3], radius: f64 },
}

/// Entries of a list: each name is compared with all others.
const LONGEST: usize = 4000;

impl Library {
    /// Adds models that the renderer's own files describe; returns which cannot be spawned, and why.
    pub fn add_models(&mut self, files: Vec<ModelXml>) -> Vec<String> {
        model_xml::add(&mut self.models, files)
    }

    /// Adds what a file names to the built-in lists; a model or map of a known name replaces it.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn with_file(file: &str, text: &str) -> Result<Self, Problems> {
        let mut library = Self::default();
        let mut problems = Problems::default();
        // A list would be read as the fields in their order.
        if text.trim_start().starts_with('[') {
            problems.push(file, "must be an object, is a list; docs/scene.md has an example");
            return Err(problems);
        }
        let parsed: File = match serde_json::from_str(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                problems.push(file, format!("{error}; docs/scene.md has an example"));
                return Err(problems);
            }
        };
        for (list, len) in [
            ("models", parsed.models.len()),
            ("worlds", parsed.worlds.len()),
            ("poses", parsed.poses.len()),
        ] {
            if len > LONGEST {
                problems.push(
                    format!("{file}: {list}"),
                    format!("has {len} entries; at most {LONGEST} are read"),
                );
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut models = Vec::new();
        for (i, entry) in parsed.models.into_iter().enumerate() {
            let at = format!("{file}: models[{i}]");
            models.push(entry.name.clone());
            match model(entry) {
                Ok(model) => {
                    library.models.retain(|m| !m.name.eq_ignore_ascii_case(&model.name));
                    library.models.push(model);
                }
                Err(why) => problems.push(at, why),
            }
        }
        let mut worlds = Vec::new();
        for (i, entry) in parsed.worlds.into_iter().enumerate() {
            let at = format!("{file}: worlds[{i}]");
            worlds.push(entry.name.clone());
            match check_name(&entry.name) {
                Ok(()) => {
                    library.worlds.retain(|w| !w.name.eq_ignore_ascii_case(&entry.name));
                    library.worlds.push(World {
                        name: entry.name,
                        description: entry.description,
                        tags: entry.tags,
                    });
                }
                Err(why) => problems.push(at, why),
            }
        }
        for (i, entry) in parsed.poses.into_iter().enumerate() {
            match named_place(entry) {
                Ok(pose) => library.poses.push(pose),
                Err(why) => problems.push(format!("{file}: poses[{i}]"), why),
            }
        }
        let poses: Vec<_> = library.poses.iter().map(|pose| pose.name.clone()).collect();
        for (list, names) in [("models", &models), ("worlds", &worlds), ("poses", &poses)] {
            for (i, name) in names.iter().enumerate() {
                if names[..i].iter().any(|other| other.eq_ignore_ascii_case(name)) {
                    problems.push(format!("{file}: {list}"), format!("{name:?} is there twice"));
                }
            }
        }
        problems.or(library)
    }
}

fn model(entry: ModelEntry) -> Result<Model, String> {
    check_name(&entry.name)?;
    if entry.name.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("name must not be a number alone, is {:?}", entry.name));
    }
    super::models::parse_resource(&format!("rflysim://{}?style={}", entry.class, entry.style), &[])
        .map_err(|refusal| refusal.message)?;
    if let Some(size) = entry.size
        && !size.iter().all(|side| (1e-3..=1e5).contains(side))
    {
        return Err(format!("size must be length, width, height in m, each above 0, is {size:?}"));
    }
    let description = match entry.description.is_empty() {
        true => format!("class {}, style {}", entry.class, entry.style),
        false => entry.description,
    };
    Ok(Model {
        name: entry.name,
        class: entry.class,
        style: entry.style,
        category: entry.category,
        description,
        size: entry.size,
    })
}

fn named_place(entry: PoseEntry) -> Result<NamedPlace, String> {
    check_name(&entry.name)?;
    let orientation = match (entry.orientation, entry.yaw_deg) {
        (Some(_), Some(_)) => return Err("orientation and yaw_deg exclude each other".to_owned()),
        (Some([x, y, z, w]), None) => Quaternion { x, y, z, w },
        (None, yaw) => {
            let yaw = yaw.unwrap_or(0.0).to_radians();
            let attitude = Attitude::<Flu, Enu>::from_euler(Euler::new(0.0, 0.0, yaw));
            let [w, x, y, z] = attitude.wxyz();
            Quaternion { x, y, z, w }
        }
    };
    let [x, y, z] = entry.position;
    let pose = Pose { position: Point { x, y, z }, orientation };
    // Only the numbers are checked here, which no convention changes.
    let any = MapFrame { name: String::new(), world: Default::default() };
    let _place: Place = any.place(&pose, None).map_err(|refusal| refusal.message)?;
    let bounds = match entry.bounds {
        None => None,
        Some(BoundsEntry::Box(corners)) => Some(Volume::of_corners(corners)?),
        Some(BoundsEntry::Sphere { centre, radius }) => Some(Volume::sphere(centre, radius)?),
    };
    Ok(NamedPlace {
        name: entry.name,
        description: entry.description,
        tags: entry.tags,
        pose,
        bounds,
    })
}
