//! Maps of the renderer, by name and by number.
use super::models::SCHEME;
use super::refusal::{Cause, Refusal};
use crate::config::did_you_mean;

/// A map.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct World {
    /// Name.
    pub name: String,
    /// For people.
    pub description: String,
    /// Words to find it by.
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

/// A map as it is asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WorldId {
    /// By name.
    Name(String),
    /// By its number in the renderer's list.
    Number(u16),
}

impl WorldId {
    /// Returns the resource that asks for it.
    pub fn uri(&self) -> String {
        match self {
            Self::Name(name) => format!("{SCHEME}map/{name}"),
            Self::Number(number) => format!("{SCHEME}map/{number}"),
        }
    }
}

/// Reads a resource, `rflysim://map/Grasslands` or `rflysim://map/5`.
pub fn parse_world(uri: &str, worlds: &[World]) -> Result<WorldId, Refusal> {
    const RIGHT: &str = "such as rflysim://map/Grasslands or rflysim://map/5";
    if uri.is_empty() {
        let message =
            format!("no resource: world_resource.uri must be a map of the renderer, {RIGHT}");
        return Err(Refusal::new(Cause::NoResource, message));
    }
    let Some(rest) = uri.strip_prefix(SCHEME) else {
        let message =
            format!("{uri:?} is no map of the renderer: it has its own maps only, {RIGHT}");
        return Err(Refusal::new(Cause::Format, message));
    };
    let word = rest.strip_prefix("map/").filter(|word| !word.is_empty());
    let word = word.ok_or_else(|| {
        Refusal::new(
            Cause::Parse,
            format!("{uri:?}: a map is rflysim://map/<name or number>, {RIGHT}"),
        )
    })?;
    find_world(word, worlds)
}

/// Finds a map by name, in any case, or number.
pub fn find_world(word: &str, worlds: &[World]) -> Result<WorldId, Refusal> {
    // `3DDisplay` begins with a digit, too.
    if word.bytes().all(|b| b.is_ascii_digit()) {
        let number = word.parse().map_err(|_number| {
            Refusal::new(Cause::Parse, format!("map {word}: the number must be from 0 to 65535"))
        });
        return number.map(WorldId::Number);
    }
    match worlds.iter().find(|world| world.name.eq_ignore_ascii_case(word)) {
        Some(world) => Ok(WorldId::Name(world.name.clone())),
        None => {
            let hint = did_you_mean(word, worlds.iter().map(|world| world.name.as_str()));
            let message = format!(
                "no map is called {word:?}{hint} (GetAvailableWorlds lists them, scene.file adds more)"
            );
            Err(Refusal::new(Cause::NotFound, message))
        }
    }
}
