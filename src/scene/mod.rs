//! The scene of the simulator: its entities, requests to it, its height maps, the temperatures of its objects.
mod bounds;
mod console;
mod created;
mod datagrams;
mod entities;
mod error;
mod file;
mod map_pose;
mod model_xml;
mod models;
mod names;
#[cfg(has_rfly_bridge_msgs)]
pub mod own;
mod radiance;
#[cfg(has_simulation_interfaces)]
pub mod standard;
mod state;
mod terrain;
mod worlds;

pub use bounds::{Extent, Volume};
pub use console::check_command;
pub use created::CreatedObject;
pub use datagrams::{Datagram, Outbox, Recipient};
pub use entities::{Entities, Entity, EntityKind, EntityMotion, Info, KeepAlive};
pub use error::{Cause, SceneError};
pub use file::{Library, LibraryPose};
pub use map_pose::{MapFrame, MapPose};
pub use model_xml::ModelXml;
pub use models::{Category, ModelResource, SpawnableModel, parse_resource};
pub use radiance::{RADIANCE_CLASSES, RadianceClass, stencil_values};
pub use state::{Scene, SceneCall, SceneSettings};
pub use terrain::{Rounding, TerrainError, TerrainMap};
pub use worlds::{World, WorldId, find_world, parse_world};
