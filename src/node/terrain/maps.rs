//! The latched topics of the terrain.
use super::ground::Ground;
use super::raster::Raster;
use crate::msgs::nav_msgs::msg::OccupancyGrid;
use crate::msgs::std_msgs::msg::Header;
use crate::node::clock::HeaderClock;
use crate::ros::Publisher;

/// The topics.
pub(super) struct Maps {
    pub(super) occupancy: Publisher<OccupancyGrid>,
    #[cfg(has_grid_map_msgs)]
    pub(super) grid_map: Publisher<crate::msgs::grid_map_msgs::msg::GridMap>,
    pub(super) clock: HeaderClock,
}

impl Maps {
    /// Publishes the whole terrain.
    pub(super) fn publish_all(&self, ground: &Ground, above: f64) -> Result<(), String> {
        self.publish(ground, &Raster::new(ground, ground.extent(), 0.0)?, above);
        Ok(())
    }

    pub(super) fn publish(&self, ground: &Ground, raster: &Raster, above: f64) {
        let header = Header { stamp: self.clock.now().to_msg(), frame_id: ground.frame.clone() };
        // The publishers count failures.
        #[cfg(has_grid_map_msgs)]
        let _counted = self.grid_map.publish(&raster.grid_map(header.clone()));
        let _counted = self.occupancy.publish(&raster.occupancy(header, above));
    }
}
