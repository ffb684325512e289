//! Maps of the renderer, by name and by number.
use super::error::{Cause, SceneError};
use super::models::SCHEME;
use crate::config::did_you_mean;

/// A map; also an entry of the user's file.
#[derive(Clone, Debug, serde::Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// Name.
    pub name: String,
    /// Text for people.
    #[serde(default)]
    pub description: String,
    /// Words that filters compare.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// Maps of the vendor's list; the free edition has all but `DesertTown`.
///
/// Source: vendor SDK 3.06, page `FullVersionMaps`.
#[rustfmt::skip] // a table
const BUILT_IN: [&str; 24] = [
    "3DDisplay", "CameraRoom", "ChallengeMap", "Changsha", "Denver", "DesertTown", "EarthMap", "Grasslands", "LightShow", "LowGPU",
    "MapData", "MapDataHongkong", "MapSmall", "MatchScene", "MatchScene2", "MountainTerrain", "MountainTerrain_Water",
    "MoutainRoad", "NeighborhoodPark", "OldFactory", "SLAMScene", "VisionRing", "VisionRingBlank", "WhiteMap",
];

/// Returns the maps that the vendor ships.
pub(super) fn built_in_worlds() -> Vec<World> {
    let world = |name: &&str| World {
        name: (*name).to_owned(),
        description: "a map that the vendor ships".to_owned(),
        tags: Vec::new(),
    };
    BUILT_IN.iter().map(world).collect()
}

/// Name or number of a requested map.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WorldId {
    /// Its name.
    Name(String),
    /// Its number in the renderer's list.
    Number(u16),
}

impl WorldId {
    /// Returns the resource of the map.
    pub fn uri(&self) -> String {
        match self {
            Self::Name(name) => format!("{SCHEME}map/{name}"),
            Self::Number(number) => format!("{SCHEME}map/{number}"),
        }
    }
}

/// Reads a resource, `rflysim://map/Grasslands` or `rflysim://map/5`.
pub fn parse_world(uri: &str, worlds: &[World]) -> Result<WorldId, SceneError> {
    const USAGE: &str = "such as rflysim://map/Grasslands or rflysim://map/5";
    if uri.is_empty() {
        return Err(Cause::NoResource.error(format!(
            "no resource: world_resource.uri must be a map of the renderer, {USAGE}"
        )));
    }
    let Some(rest) = uri.strip_prefix(SCHEME) else {
        return Err(Cause::Format.error(format!(
            "{uri:?} is not a map of the renderer: the renderer loads only its own maps, {USAGE}"
        )));
    };
    match rest.strip_prefix("map/") {
        Some(word) if !word.is_empty() => find_world(word, worlds),
        _ => Err(Cause::Parse
            .error(format!("{uri:?}: a map is rflysim://map/<name or number>, {USAGE}"))),
    }
}

/// Finds a map by name, in any case, or number.
pub fn find_world(word: &str, worlds: &[World]) -> Result<WorldId, SceneError> {
    // `3DDisplay` begins with a digit, too.
    if word.bytes().all(|b| b.is_ascii_digit()) {
        let problem = format!("map {word}: the number must be from 0 to 65535");
        return word.parse().map(WorldId::Number).map_err(|_range| Cause::Parse.error(problem));
    }
    match worlds.iter().find(|world| world.name.eq_ignore_ascii_case(word)) {
        Some(world) => Ok(WorldId::Name(world.name.clone())),
        None => {
            let hint = did_you_mean(word, worlds.iter().map(|world| world.name.as_str()));
            Err(Cause::NotFound.error(format!(
                "no map is called {word:?}{hint} (GetAvailableWorlds lists them, scene.file adds more)"
            )))
        }
    }
}
