//! Users' own calibrations of cameras: the files that `sensor<N>.camera_info_url` names.
use super::files;
use crate::config::{Params, Problems, SensorConfig};
use crate::sensors::Calibration;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

/// Default URL of a camera's calibration, as in `camera_info_manager`.
const DEFAULT_URL: &str = "file://${ROS_HOME}/camera_info/${NAME}.yaml";

/// Calibrations by SeqID.
#[derive(Clone, Debug, Default)]
pub struct Calibrations(BTreeMap<u16, LoadedCalibration>);

#[derive(Clone, Debug)]
struct LoadedCalibration {
    path: PathBuf,
    modified: Option<SystemTime>,
    calibration: Arc<Calibration>,
}

impl Calibrations {
    /// Reads the calibrations that parameters name; unchanged files are taken from `old`.
    pub(super) fn read(
        params: &Params,
        sensors: &[SensorConfig],
        old: &Self,
        problems: &mut Problems,
    ) -> Self {
        let mut calibrations = BTreeMap::new();
        for sensor in sensors {
            let Some(url) = params.sensor(sensor.seq_id).camera_info_url else { continue };
            match LoadedCalibration::read(&url, sensor, old.0.get(&sensor.seq_id)) {
                Ok(loaded) => drop(calibrations.insert(sensor.seq_id, loaded)),
                Err(found) => found.into_iter().for_each(|why| {
                    let name = format!("sensor{}.camera_info_url", sensor.seq_id);
                    problems.push(name, format!("{url}: {why}"));
                }),
            }
        }
        Self(calibrations)
    }

    /// The calibration of a sensor.
    pub fn of(&self, seq_id: u16) -> Option<&Arc<Calibration>> {
        self.0.get(&seq_id).map(|loaded| &loaded.calibration)
    }
}

impl LoadedCalibration {
    fn read(url: &str, sensor: &SensorConfig, old: Option<&Self>) -> Result<Self, Vec<String>> {
        if !sensor.kind.is_camera() {
            return Err(vec![format!("TypeID {} is not a camera", sensor.kind.type_id())]);
        }
        let path = path_of(url, sensor.seq_id).map_err(|why| vec![why])?;
        let modified = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
        let unchanged = old.filter(|file| file.path == path && file.modified == modified);
        let calibration = match unchanged {
            Some(file) => file.calibration.clone(),
            None => {
                let (text, _) = files::read_text(&path).map_err(|why| vec![why])?;
                Arc::new(Calibration::from_yaml(&text)?)
            }
        };
        match calibration.misfit(sensor.into()) {
            Some(why) => Err(vec![why]),
            None => Ok(Self { path, modified, calibration }),
        }
    }
}

/// Saves a calibration at a URL, or at the default one if it is empty; returns the URL. Errors: a message for users.
pub(super) fn save(url: &str, seq_id: u16, calibration: &Calibration) -> Result<String, String> {
    let url = if url.is_empty() { DEFAULT_URL } else { url };
    let path = path_of(url, seq_id)?;
    let text = calibration.to_yaml(&camera_name(seq_id))?;
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    // The rename is atomic: a reader gets the old or the new file, never a part.
    let temporary = path.with_extension("yaml.next");
    std::fs::write(&temporary, text).map_err(failed)?;
    std::fs::rename(&temporary, &path).map_err(failed)?;
    Ok(url.to_owned())
}

/// The name of a camera in files and URLs.
fn camera_name(seq_id: u16) -> String {
    format!("sensor{seq_id}")
}

/// Returns the path that a URL names: `file:///path`, `package://package/path`, or a path without a scheme.
fn path_of(url: &str, seq_id: u16) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var(name).ok();
    let home = variable("ROS_HOME")
        .or_else(|| Some(format!("{}/.ros", variable("HOME")?)))
        .unwrap_or_default();
    let url = url.replace("${NAME}", &camera_name(seq_id)).replace("${ROS_HOME}", &home);
    if let Some(path) = url.strip_prefix("file://") {
        let is_absolute = path.starts_with('/');
        let why = || "a path after file:// begins with /".to_owned();
        return is_absolute.then(|| path.into()).ok_or_else(why);
    }
    if let Some(rest) = url.strip_prefix("package://") {
        return find_in_package(rest, variable("AMENT_PREFIX_PATH").as_deref());
    }
    match url.split_once("://") {
        Some((other, _)) => Err(format!("{other}:// is not supported, file:// and package:// are")),
        None => Ok(PathBuf::from(url)),
    }
}

/// Returns the path of a file in the share directory of a package.
fn find_in_package(rest: &str, prefixes: Option<&str>) -> Result<PathBuf, String> {
    let Some((package, path)) = rest.split_once('/') else {
        return Err("must be package://package/path".to_owned());
    };
    let prefixes = prefixes.unwrap_or_default().split(':').filter(|prefix| !prefix.is_empty());
    let mut shares = prefixes.map(|prefix| Path::new(prefix).join("share").join(package));
    let share = shares.find(|share| share.is_dir());
    let share = share.ok_or_else(|| {
        format!("there is no package {package} in AMENT_PREFIX_PATH; source its workspace")
    })?;
    Ok(share.join(path))
}
