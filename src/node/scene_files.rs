//! Files of the scene: the user's models, maps and poses, the renderer's models, objects that the renderer created.
use super::files::{Files, read_text};
use crate::config::{Params, Problem, Problems};
use crate::scene::{CreatedObject, Library, ModelXml, find_world};
use std::path::{Path, PathBuf};

/// Limits of a folder of models: number of files and folders, and depth.
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 8;

/// Reads the user's scene file and the models of the renderer; checks that the map of `scene.world` is known.
pub(super) fn read_library(params: &Params, files: &mut Files) -> Library {
    let mut library = Library::default();
    if let Some(path) = &params.scene.file
        && let Some((file, text)) = files.load_text("scene.file", path)
        && let Some(read) = files.problems.keep(Library::with_file(&file, &text))
    {
        library = read;
    }
    if let Some(folder) = &params.scene.models {
        add_models(folder, &mut library, files);
    }
    let world = &params.scene.world;
    if !world.is_empty()
        && let Err(refusal) = find_world(world, &library.worlds)
    {
        files.problems.push("scene.world", refusal.message);
    }
    library
}

/// Adds the models of a folder of XML files. An unreadable file is only a warning, because the files are the vendor's.
fn add_models(folder: &Path, library: &mut Library, files: &mut Files) {
    let paths = match xml_files(folder) {
        Ok(paths) => paths,
        Err(why) => {
            let problem = format!("{} {why}", folder.display());
            return files.problems.push("scene.models", problem);
        }
    };
    let mut found = Vec::new();
    for path in &paths {
        let read = read_text(path).and_then(|(text, _)| ModelXml::read(&text));
        match read {
            Ok(model) => found.extend(model),
            Err(why) => {
                let name = path.display().to_string();
                files.warnings.push(Problem::new(&name, why));
            }
        }
    }
    if found.is_empty() {
        let problem =
            format!("{} has no XML file of a vehicle (<vehicle> with a ClassID)", folder.display());
        files.problems.push("scene.models", problem);
    }
    for why in library.add_models(found) {
        files.warnings.push(Problem::new("scene.models", why));
    }
}

fn xml_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut folders) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| format!("cannot be read: {e}"))?;
        for entry in entries.filter_map(Result::ok) {
            let (path, kind) = (entry.path(), entry.file_type());
            let is_xml = || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("xml"));
            match kind {
                // Symbolic links are not followed, because they may form a cycle.
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => folders.push((path, depth + 1)),
                Ok(kind) if kind.is_file() && is_xml() => found.push(path),
                _ => {}
            }
        }
        if found.len() + folders.len() > MAX_FILES {
            return Err(format!("has more than {MAX_FILES} XML files and folders"));
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn read_created_objects(params: &Params, files: &mut Files) -> Vec<CreatedObject> {
    let mut objects = Vec::new();
    for path in &params.scene.created {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|why| Problems::from(Problem::new(&name, why)));
        let read = text.and_then(|(text, _)| CreatedObject::read(&name, &text));
        let Some(found) = files.problems.keep(read) else { continue };
        if found.is_empty() {
            let none = "creates no object (no line begins with `CreateVehicle,`)";
            files.warnings.push(Problem::new(&name, none));
        }
        objects.extend(found);
    }
    objects
}
