//! The terrain of the simulator's map: heights by service, maps on latched topics.
mod ground;
mod raster;
#[cfg(has_rfly_bridge_msgs)]
mod sample_points;
#[cfg(has_rfly_bridge_msgs)]
mod services;

use crate::config::params::QosGroup;
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::{assembly::Assembly, context::Context, error::NodeError, settings::topic_below};
use ground::Ground;
use raster::{Maps, Raster};

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

const HEIGHT: &str = "terrain/get_height";
const PUBLISH: &str = "terrain/publish";
const OCCUPANCY: &str = "terrain/occupancy";
const GRID_MAP: &str = "terrain/grid_map";

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let settings = context.settings;
    let Some(map) = settings.origin.terrain.clone() else { return Ok(()) };
    let params = &settings.params;
    let name = |name: &str| topic_below(&params.topic_prefix, name);
    let ground = Ground::new(map, settings.frame_names().world, params);
    assembly.frame_ids.push(ground.frame.clone());
    let maps = Maps {
        occupancy: context.publisher(QosGroup::Latched, &name(OCCUPANCY))?,
        #[cfg(has_grid_map_msgs)]
        grid_map: context.publisher(QosGroup::Latched, &name(GRID_MAP))?,
        clock: context.clocks.headers(None),
    };
    match Raster::new(&ground, ground.extent(), 0.0) {
        Ok(raster) => maps.publish(&ground, &raster, params.terrain_occupied_above_m),
        Err(problem) => tracing::warn!(problem, "the map of the terrain is not published"),
    }
    open_services(context.middleware, &name, ground, maps, assembly)
}

#[cfg(has_rfly_bridge_msgs)]
use services::open as open_services;

/// Logs which services are missing.
#[cfg(not(has_rfly_bridge_msgs))]
fn open_services(
    _: &crate::ros::Middleware,
    name: &dyn Fn(&str) -> String,
    _: Ground,
    maps: Maps,
    assembly: &mut Assembly,
) -> Result<(), NodeError> {
    tracing::info!(
        "no services {} and {}: built without rfly_bridge_msgs (source it, then build)",
        name(HEIGHT),
        name(PUBLISH)
    );
    // Keeps the latched messages for late subscribers.
    assembly.guards.push(Box::new(maps));
    Ok(())
}

fn topics(page: &mut TopicPage) {
    let group = [QosGroup::Latched];
    let doc = "with `terrain.file`: cells that are higher than `terrain.occupied_above_m`, or than `occupied_above` of the last call of `terrain/publish`";
    page.topic(&[OCCUPANCY], "nav_msgs/msg/OccupancyGrid", &group, doc);
    let doc = "the same region as heights above the origin of the map, layer `elevation`";
    page.topic(&[GRID_MAP], "grid_map_msgs/msg/GridMap", &group, doc);
    let height = "service: heights at points, along lines, on grids ([terrain.md](terrain.md))";
    page.topic(&[HEIGHT], "rfly_bridge_msgs/srv/GetHeight", &[], height);
    let publish = "service: publishes a region on both topics";
    page.topic(&[PUBLISH], "rfly_bridge_msgs/srv/PublishTerrain", &[], publish);
}
