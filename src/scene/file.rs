//! The user's file of the scene: models, maps, named poses.
use super::model_xml::{self, ModelXml};
use super::models::{SpawnableModel, built_in_models, parse_resource};
use super::worlds::{World, built_in_worlds};
use super::{bounds::Volume, map_pose::MapFrame, names::check_name};
use crate::config::Problems;
use crate::frames::{Attitude, Enu, Euler, Flu};
use crate::msgs::geometry_msgs::msg::{Point, Pose, Quaternion};
use serde::Deserialize;

/// A pose with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryPose {
    /// Name.
    pub name: String,
    /// Text for people.
    pub description: String,
    /// Words that filters compare.
    pub tags: Vec<String>,
    /// The pose in `map`.
    pub pose: Pose,
    /// Bounds, relative to the pose.
    pub bounds: Option<Volume>,
}

/// Models, maps and poses of the renderer and of the user's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// Models.
    pub models: Vec<SpawnableModel>,
    /// Maps.
    pub worlds: Vec<World>,
    /// Named poses.
    pub poses: Vec<LibraryPose>,
}

impl Default for Library {
    fn default() -> Self {
        Self { models: built_in_models(), worlds: built_in_worlds(), poses: Vec::new() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryFile {
    #[serde(default)]
    models: Vec<SpawnableModel>,
    #[serde(default)]
    worlds: Vec<World>,
    #[serde(default)]
    poses: Vec<PoseEntry>,
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

/// Limit of entries in a list: each name is compared with all others.
const MAX_ENTRIES: usize = 4000;

impl Library {
    /// Adds models that the renderer's own files describe; returns the ones that cannot be spawned, and why.
    pub fn add_models(&mut self, files: Vec<ModelXml>) -> Vec<String> {
        model_xml::add(&mut self.models, files)
    }

    /// Adds the entries of a file to the built-in lists; a model or map replaces the built-in one of its name.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn with_file(file: &str, text: &str) -> Result<Self, Problems> {
        let mut library = Self::default();
        let mut problems = Problems::default();
        // serde would read a list as the values of the fields, in their order.
        if text.trim_start().starts_with('[') {
            problems.push(file, "must be an object, is a list; docs/scene.md has an example");
            return Err(problems);
        }
        let parsed: LibraryFile = match serde_json::from_str(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                problems.push(file, format!("{error}; docs/scene.md has an example"));
                return Err(problems);
            }
        };
        let models: Vec<_> = parsed.models.iter().map(|entry| entry.name.clone()).collect();
        let worlds: Vec<_> = parsed.worlds.iter().map(|entry| entry.name.clone()).collect();
        let poses: Vec<_> = parsed.poses.iter().map(|entry| entry.name.clone()).collect();
        let lists = [("models", models), ("worlds", worlds), ("poses", poses)];
        for (list, len) in lists.iter().map(|(list, names)| (list, names.len())) {
            if len > MAX_ENTRIES {
                let message = format!("has {len} entries; at most {MAX_ENTRIES} are read");
                problems.push(format!("{file}: {list}"), message);
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        for (i, entry) in parsed.models.into_iter().enumerate() {
            match check_model(entry) {
                Ok(model) => {
                    library.models.retain(|m| !m.name.eq_ignore_ascii_case(&model.name));
                    library.models.push(model);
                }
                Err(why) => problems.push(format!("{file}: models[{i}]"), why),
            }
        }
        for (i, world) in parsed.worlds.into_iter().enumerate() {
            match check_name(&world.name) {
                Ok(()) => {
                    library.worlds.retain(|w| !w.name.eq_ignore_ascii_case(&world.name));
                    library.worlds.push(world);
                }
                Err(why) => problems.push(format!("{file}: worlds[{i}]"), why),
            }
        }
        for (i, entry) in parsed.poses.into_iter().enumerate() {
            match read_pose(entry) {
                Ok(pose) => library.poses.push(pose),
                Err(why) => problems.push(format!("{file}: poses[{i}]"), why),
            }
        }
        for (list, names) in &lists {
            for (i, name) in names.iter().enumerate() {
                if names[..i].iter().any(|other| other.eq_ignore_ascii_case(name)) {
                    problems.push(format!("{file}: {list}"), format!("{name:?} occurs twice"));
                }
            }
        }
        problems.or(library)
    }
}

fn check_model(mut model: SpawnableModel) -> Result<SpawnableModel, String> {
    check_name(&model.name)?;
    if model.name.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("name must not be a number alone, is {:?}", model.name));
    }
    let SpawnableModel { class, style, .. } = model;
    parse_resource(&format!("rflysim://{class}?style={style}"), &[])?;
    if let Some(size) = model.size
        && !size.iter().all(|side| (1e-3..=1e5).contains(side))
    {
        return Err(format!("size must be length, width, height in m, 1e-3 to 1e5, is {size:?}"));
    }
    if model.description.is_empty() {
        model.description = format!("class {class}, style {style}");
    }
    Ok(model)
}

fn read_pose(entry: PoseEntry) -> Result<LibraryPose, String> {
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
    // Checks the numbers only; the axes do not matter.
    let frame = MapFrame { name: String::new(), world: Default::default() };
    frame.map_pose(&pose, None)?;
    let bounds = match entry.bounds {
        None => None,
        Some(BoundsEntry::Box(corners)) => Some(Volume::of_corners(corners)?),
        Some(BoundsEntry::Sphere { centre, radius }) => Some(Volume::sphere(centre, radius)?),
    };
    let PoseEntry { name, description, tags, .. } = entry;
    Ok(LibraryPose { name, description, tags, pose, bounds })
}
