//! Publishes a region of the terrain as map messages.
use super::ground::{Ground, Region};
use crate::msgs::{geometry_msgs::msg::Pose, nav_msgs::msg::OccupancyGrid, std_msgs::msg::Header};
use crate::node::clock::HeaderClock;
use crate::ros::Publisher;

/// The latched topics of the terrain.
pub(super) struct Maps {
    pub(super) occupancy: Publisher<OccupancyGrid>,
    #[cfg(has_grid_map_msgs)]
    pub(super) grid_map: Publisher<crate::msgs::grid_map_msgs::msg::GridMap>,
    pub(super) clock: HeaderClock,
}

impl Maps {
    pub(super) fn publish(&self, ground: &Ground, raster: &Raster, above: f64) {
        let header = Header { stamp: self.clock.now().to_msg(), frame_id: ground.frame.clone() };
        // The publishers count failures.
        #[cfg(has_grid_map_msgs)]
        let _counted = self.grid_map.publish(&raster.grid_map(header.clone()));
        let _counted = self.occupancy.publish(&raster.occupancy(header, above));
    }
}

/// Limit of cells in one message, which is then a few MB long.
pub(super) const MAX_CELLS: f64 = 1_000_000.0;

/// Heights at the centres of cells, row by row along x from the corner with the smallest x and y; NaN outside of the terrain.
#[derive(Debug, PartialEq)]
pub(super) struct Raster {
    pub(super) corner: [f64; 2],
    pub(super) resolution: f64,
    /// Cells along x and y.
    pub(super) size: [usize; 2],
    pub(super) heights: Vec<f32>,
}

impl Raster {
    /// `resolution` 0 selects the terrain's own, or a coarser one if that gives too many cells.
    pub(super) fn new(ground: &Ground, region: Region, resolution: f64) -> Result<Self, String> {
        let length = [0, 1].map(|axis| region.high[axis] - region.low[axis]);
        let cells = |resolution: f64| length.map(|l| (l / resolution - 1e-9).ceil().max(1.0));
        let count = |resolution: f64| cells(resolution).iter().product::<f64>();
        let mut fitting = ground.step();
        while count(fitting) > MAX_CELLS {
            fitting *= 2.0;
        }
        let resolution = match resolution {
            0.0 => fitting,
            given if !(given.is_finite() && given > 0.0) => {
                return Err(format!(
                    "resolution is {given}, must be a distance in m, or 0 for {fitting} m"
                ));
            }
            given if count(given) > MAX_CELLS => {
                return Err(format!(
                    "a resolution of {given} m divides this region into {} cells, at most {MAX_CELLS} are possible: \
                    give {fitting} m",
                    count(given)
                ));
            }
            given => given,
        };
        let size = cells(resolution).map(|n| n as usize);
        let centre = |axis: usize, cell: usize| region.low[axis] + (cell as f64 + 0.5) * resolution;
        let height = |x: usize, y: usize| {
            let height = ground.height([centre(0, x), centre(1, y)]);
            height.map_or(f32::NAN, |height| height as f32)
        };
        let row = |y: usize| (0..size[0]).map(move |x| height(x, y));
        Ok(Self {
            corner: region.low,
            resolution,
            size,
            heights: (0..size[1]).flat_map(row).collect(),
        })
    }

    /// Returns the grid: 100 where the terrain is higher than `above`, else 0; -1 outside of the terrain.
    pub(super) fn occupancy(&self, header: Header, above: f64) -> OccupancyGrid {
        let value = |height: &f32| match f64::from(*height) {
            height if height.is_nan() => -1,
            height if height > above => 100,
            _ => 0,
        };
        let mut grid = OccupancyGrid {
            data: self.heights.iter().map(value).collect(),
            ..OccupancyGrid::default()
        };
        grid.info.map_load_time = header.stamp.clone();
        grid.header = header;
        grid.info.resolution = self.resolution as f32;
        [grid.info.width, grid.info.height] = self.size.map(|n| n as u32);
        grid.info.origin = pose(self.corner);
        grid
    }

    /// Returns the layer `elevation`; rows and columns run along decreasing x and y, from the corner with the largest x and y.
    #[cfg(has_grid_map_msgs)]
    pub(super) fn grid_map(&self, header: Header) -> crate::msgs::grid_map_msgs::msg::GridMap {
        use crate::msgs::grid_map_msgs::msg::{GridMap, GridMapInfo};
        use crate::msgs::std_msgs::msg::{Float32MultiArray, MultiArrayDimension};

        let [rows, columns] = self.size;
        let length = self.size.map(|n| n as f64 * self.resolution);
        let centre = [0, 1].map(|axis| self.corner[axis] + length[axis] / 2.0);
        let dimension = |label: &str, size: usize, stride: usize| MultiArrayDimension {
            label: label.to_owned(),
            size: size as u32,
            stride: stride as u32,
        };
        let mut layer = Float32MultiArray::default();
        // Column-major, as in Eigen.
        layer.layout.dim = vec![
            dimension("column_index", columns, rows * columns),
            dimension("row_index", rows, rows),
        ];
        // Both axes decrease, so the order is the reverse of `heights`.
        layer.data = self.heights.iter().rev().copied().collect();
        GridMap {
            header,
            info: GridMapInfo {
                resolution: self.resolution,
                length_x: length[0],
                length_y: length[1],
                pose: pose(centre),
            },
            layers: vec![LAYER.to_owned()],
            basic_layers: vec![LAYER.to_owned()],
            data: vec![layer],
            ..GridMap::default()
        }
    }
}

#[cfg(has_grid_map_msgs)]
const LAYER: &str = "elevation";

fn pose([x, y]: [f64; 2]) -> Pose {
    let mut pose = Pose::default();
    pose.position.x = x;
    pose.position.y = y;
    pose.orientation.w = 1.0;
    pose
}
