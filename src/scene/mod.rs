//! The scene of the simulator: what is in it and what it is asked for, the shape of its ground, how warm its objects are.
mod bounds;
mod console;
mod created;
mod datagrams;
mod entities;
mod file;
mod model_xml;
mod models;
mod names;
#[cfg(has_rfly_bridge_msgs)]
pub mod own;
mod place;
mod radiance;
mod refusal;
#[cfg(has_simulation_interfaces)]
pub mod standard;
mod state;
mod terrain;
mod worlds;

pub use bounds::{Extent, Volume};
pub use console::check_command;
pub use created::Created;
pub use datagrams::{Datagram, Outbox, Recipient};
pub use entities::{Entities, Entity, Info, KeepAlive, Kind, Motion};
pub use file::{Library, NamedPlace};
pub use model_xml::ModelXml;
pub use models::{Category, Model, Wanted, parse_resource};
pub use place::{MapFrame, Place};
pub use radiance::{RADIANCE_CLASSES, RadianceClass, stencil_values};
pub use refusal::{Cause, Refusal};
pub use state::{Call, Description, Scene, SceneSettings, Spawn};
pub use terrain::{Rounding, TerrainError, TerrainMap};
pub use worlds::{World, WorldId, find_world, parse_world};
