//! The terrain of the simulator's map: heights by service, maps on latched topics.
mod places;
mod raster;
mod server;

use crate::config::params::QosGroup;
use crate::node::assembly::Assembly;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::settings::below;
use crate::node::subsystem::{Subsystem, TopicPage};
use places::Ground;
use server::Maps;

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

const HEIGHT: &str = "terrain/get_height";
const PUBLISH: &str = "terrain/publish";
const OCCUPANCY: &str = "terrain/occupancy";
const GRID_MAP: &str = "terrain/grid_map";

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let settings = context.settings;
    let Some(map) = settings.origin.terrain.clone() else {
        return Ok(());
    };
    let params = &settings.params;
    let name = |name: &str| below(&params.topic_prefix, name);
    let ground = Ground::new(map, settings.frame_names().world, params);
    assembly.frame_ids.push(ground.frame.clone());
    let maps = Maps {
        occupancy: context.publisher(QosGroup::Latched, &name(OCCUPANCY))?,
        #[cfg(has_grid_map_msgs)]
        grid_map: context.publisher(QosGroup::Latched, &name(GRID_MAP))?,
        clock: context.clocks.headers(None),
    };
    if let Err(problem) = maps.publish_all(&ground, params.terrain_occupied_above_m) {
        tracing::warn!(problem, "the map of the terrain is not published");
    }
    server::open(context.middleware, &name, ground, maps, assembly)
}

fn topics(page: &mut TopicPage) {
    page.topic(
        &["terrain/occupancy"],
        "nav_msgs/msg/OccupancyGrid",
        &[QosGroup::Latched],
        "with `terrain.file`: cells that are higher than `terrain.occupied_above_m`, or than the last call of `terrain/publish` says",
    );
    page.topic(
        &["terrain/grid_map"],
        "grid_map_msgs/msg/GridMap",
        &[QosGroup::Latched],
        "the same region as heights above the origin of the map, layer `elevation`",
    );
    page.topic(
        &["terrain/get_height"],
        "rfly_bridge_msgs/srv/GetHeight",
        &[],
        "service: heights at points, along lines, on grids ([terrain.md](terrain.md))",
    );
    page.topic(
        &["terrain/publish"],
        "rfly_bridge_msgs/srv/PublishTerrain",
        &[],
        "service: publishes a region on both topics",
    );
}
