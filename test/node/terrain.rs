//! The terrain of a bridge, with the recorder as middleware, against what the vendor's SDK reads from the same files.
use crate::support::golden::{self, Vector, numbers};
use crate::support::ports::free_ports;
use rfly_bridge::config::ros_args;
use rfly_bridge::msgs::geometry_msgs::msg::Point;
use rfly_bridge::msgs::grid_map_msgs::msg::GridMap;
use rfly_bridge::msgs::nav_msgs::msg::OccupancyGrid;
use rfly_bridge::msgs::rfly_bridge_msgs::srv::{
    GetHeight, GetHeightRequest, GetHeightResponse, PublishTerrain, PublishTerrainRequest,
    PublishTerrainResponse,
};
use rfly_bridge::node::{Bridge, Settings};
use rfly_bridge::ros::{self, Middleware, Recorder};
use rfly_bridge::wire::Ports;
use std::path::PathBuf;

struct Rig {
    recorder: Recorder,
    _bridge: Bridge,
}

/// A directory of its own with the files of a vector.
fn files(vector: &Vector) -> PathBuf {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("rfly_terrain_{}_{number}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    let args = &vector["args"];
    let png = golden::unhex(args["png_hex"].as_str().unwrap());
    std::fs::write(directory.join("map.png"), png).expect("a file");
    std::fs::write(directory.join("map.txt"), args["txt"].as_str().unwrap()).expect("a file");
    directory
}

fn load(values: &[String]) -> Result<Settings, String> {
    let values = values.iter().flat_map(|v| ["-p".to_owned(), v.clone()]);
    let words = std::iter::once("--ros-args".to_owned()).chain(values);
    let args = ros_args::parse(words).expect("arguments");
    // The list of problems has columns.
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Settings::load(&args).map_err(|error| words(error.to_string()))
}

fn start(vector: &Vector, more: &[&str]) -> Rig {
    let directory = files(vector);
    let file = format!("terrain.file:={}", directory.join("map.png").display());
    let more = more.iter().map(|word| (*word).to_owned());
    let values: Vec<_> = std::iter::once(file).chain(more).collect();
    let settings = load(&values).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_dir_all(&directory).expect("it was there");
    Rig::new(settings)
}

impl Rig {
    fn new(mut settings: Settings) -> Self {
        let [heartbeat, autopilot_client, true_state, imu] = free_ports();
        settings.ports = Ports { heartbeat, autopilot_client, true_state, imu, ..Ports::default() };
        let options = ros::Options::new("rfly_bridge");
        let (middleware, recorder) = Middleware::recorder(&options).expect("a middleware");
        let bridge =
            Bridge::start(&settings, &middleware).unwrap_or_else(|error| panic!("{error}"));
        Self { recorder, _bridge: bridge }
    }

    fn heights(&self, request: &GetHeightRequest) -> GetHeightResponse {
        let name = "/rflysim/terrain/get_height";
        self.recorder.call::<GetHeight>(name, request).expect("a service")
    }

    /// Heights at points of the map.
    fn at(&self, places: &[[f64; 2]]) -> GetHeightResponse {
        self.heights(&request(GetHeightRequest::SHAPE_POINTS, 0.0, places))
    }

    fn publish(&self, request: &PublishTerrainRequest) -> PublishTerrainResponse {
        let name = "/rflysim/terrain/publish";
        self.recorder.call::<PublishTerrain>(name, request).expect("a service")
    }

    fn maps(&self) -> (OccupancyGrid, GridMap) {
        let occupancy = self.recorder.messages("/rflysim/terrain/occupancy");
        let grid_map = self.recorder.messages("/rflysim/terrain/grid_map");
        (occupancy.expect("grids").pop().expect("one"), grid_map.expect("maps").pop().expect("one"))
    }
}

fn request(shape: u8, step: f64, places: &[[f64; 2]]) -> GetHeightRequest {
    let point = |[x, y]: &[f64; 2]| Point { x: *x, y: *y, z: 7.0 };
    GetHeightRequest { shape, step, points: places.iter().map(point).collect() }
}

fn small() -> Vector {
    golden::load_one("terrain", "nonsquare")
}

#[test]
fn a_height_is_that_of_the_vendor_in_either_world_and_none_beyond_the_terrain() {
    for vector in golden::load("terrain") {
        let args = &vector["args"];
        let corners: Vec<f64> =
            (args["txt"].as_str().unwrap().split(',')).map(|word| word.parse().unwrap()).collect();
        let inside = |at: f64, axis: usize| {
            (corners[3 + axis] / 100.0..=corners[axis] / 100.0).contains(&at)
        };
        for (world, place) in [
            // x east, y north; x north, y west.
            ("enu", (|north, east| [east, north]) as fn(f64, f64) -> [f64; 2]),
            ("nwu", |north, east| [north, -east]),
        ] {
            let rig = start(&vector, &[&format!("world_convention:={world}")]);
            for query in vector["decoded"]["queries"].as_array().unwrap() {
                let [north, east, down] = numbers(query)[..] else { panic!("three numbers") };
                let response = rig.at(&[place(north, east)]);
                let name = format!("{} in {world} at {north}, {east}", vector.name());
                if inside(north, 0) && inside(east, 1) {
                    assert!(response.success, "{name}: {}", response.message);
                    assert!((response.height[0] + down).abs() < 1e-9, "{name}");
                    assert_eq!(response.points[0].z, response.height[0], "{name}");
                } else {
                    assert!(response.height[0].is_nan(), "{name}");
                    assert!(!response.success, "{name}");
                    let wanted = "1 points are outside the terrain, the first one at x ";
                    assert!(response.message.starts_with(wanted), "{}", response.message);
                }
            }
        }
    }
}

#[test]
fn a_line_has_its_points_and_every_step_between_them() {
    let rig = start(&small(), &[]);
    let corners = [[-3.0, 7.0], [-3.0, 5.5], [0.0, 5.5]];
    let line = rig.heights(&request(GetHeightRequest::SHAPE_LINE, 0.6, &corners));
    assert!(line.success, "{}", line.message);
    // 1.5 m and 3 m: 3 places and 5, and the end.
    let wanted = [
        [-3.0, 7.0],
        [-3.0, 6.4],
        [-3.0, 5.8],
        [-3.0, 5.5],
        [-2.4, 5.5],
        [-1.8, 5.5],
        [-1.2, 5.5],
        [-0.6, 5.5],
        [0.0, 5.5],
    ];
    assert_eq!(line.points.len(), wanted.len());
    for (point, [x, y]) in line.points.iter().zip(wanted) {
        assert!((point.x - x).hypot(point.y - y) < 1e-9, "{point:?}, not {x}, {y}");
        assert_eq!(rig.at(&[[point.x, point.y]]).height, [point.z]);
    }
}

#[test]
fn a_grid_runs_along_x_first_and_has_both_corners() {
    let rig = start(&small(), &[]);
    let corners = [[3.0, -7.0], [-3.0, 7.0]];
    let grid = rig.heights(&request(GetHeightRequest::SHAPE_GRID, 2.0, &corners));
    assert!(grid.success, "{}", grid.message);
    let places: Vec<_> = grid.points.iter().map(|p| [p.x, p.y]).collect();
    let wanted: Vec<_> = (0..8)
        .flat_map(|y| (0..4).map(move |x| [-3.0 + 2.0 * f64::from(x), -7.0 + 2.0 * f64::from(y)]))
        .collect();
    assert_eq!(places, wanted);
    assert_eq!(grid.height, rig.at(&places).height);

    // The pixels of the file: 3 rows and 7 columns of 1400 x 600 cm.
    let grid = rig.heights(&request(GetHeightRequest::SHAPE_GRID, 0.0, &corners));
    assert!((grid.points[1].x - grid.points[0].x - 14.0 / 6.0).abs() < 1e-9);
}

#[test]
fn a_wrong_request_for_heights_says_what_would_be_right() {
    let rig = start(&small(), &[]);
    let here = [0.0, 0.0];
    for (shape, step, places, wanted) in [
        (0, 0.0, &[][..], "points is empty: give at least one"),
        (0, 0.0, &[here, [1.0, f64::NAN]], "points[1] is 1, NaN, must be finite numbers in m"),
        (1, 1.0, &[here], "a line needs two points or more, points has 1"),
        (
            1,
            -1.0,
            &[here, here],
            "step is -1, must be a distance in m, or 0 for the step of the terrain",
        ),
        (1, 1e-9, &[here, [3.0, 0.0]], "at most 100000 are possible: give a larger step"),
        (2, 1.0, &[here], "a grid needs two points, points has 1"),
        (2, 1e-4, &[here, [3.0, 3.0]], "at most 100000 are possible"),
        (3, 1.0, &[here], "shape is 3, must be 0 (points), 1 (line) or 2 (grid)"),
        (
            0,
            0.0,
            &[here, [3.5, 0.0]],
            "1 points are outside the terrain, the first one at x 3.5, y 0: the terrain covers x -3 to 3 m, y -7 to 7 m",
        ),
    ] {
        let response = rig.heights(&request(shape, step, places));
        assert!(!response.success, "{wanted}");
        assert!(response.message.contains(wanted), "{}", response.message);
    }
}

/// Height of the cell whose centre is at x and y, by the conventions of either message.
fn cells(occupancy: &OccupancyGrid, map: &GridMap, at: [f64; 2]) -> (i8, f32) {
    let info = &occupancy.info;
    let origin = [info.origin.position.x, info.origin.position.y];
    let cell = [0, 1].map(|i| ((at[i] - origin[i]) / f64::from(info.resolution)).floor() as usize);
    let value = occupancy.data[cell[1] * info.width as usize + cell[0]];

    let (info, layer) = (&map.info, &map.data[0]);
    let far =
        [info.pose.position.x + info.length_x / 2.0, info.pose.position.y + info.length_y / 2.0];
    let index = [0, 1].map(|i| ((far[i] - at[i]) / info.resolution).floor() as usize);
    let rows = layer.layout.dim[1].size as usize;
    (value, layer.data[index[1] * rows + index[0]])
}

#[test]
fn the_maps_have_the_heights_at_the_centres_of_their_cells() {
    let rig = start(&small(), &["terrain.occupied_above_m:=0.35", "map_frame:=world"]);
    let check = |above: f64| {
        let (occupancy, map) = rig.maps();
        assert_eq!(occupancy.header.frame_id, "world");
        assert_eq!(map.header.frame_id, "world");
        assert_eq!((&map.layers, &map.basic_layers), (&vec!["elevation".to_owned()], &map.layers));
        let dims: Vec<_> =
            map.data[0].layout.dim.iter().map(|d| (&*d.label, d.size, d.stride)).collect();
        let [width, height] = [occupancy.info.width, occupancy.info.height];
        assert_eq!(dims, [("column_index", height, width * height), ("row_index", width, width)]);
        let resolution = map.info.resolution;
        assert!((f64::from(occupancy.info.resolution) - resolution).abs() < 1e-6);
        let origin = &occupancy.info.origin.position;
        let mut seen = [0; 3];
        for y in 0..height {
            for x in 0..width {
                let at = [
                    origin.x + (f64::from(x) + 0.5) * resolution,
                    origin.y + (f64::from(y) + 0.5) * resolution,
                ];
                let wanted = rig.at(&[at]).height[0];
                let (value, elevation) = cells(&occupancy, &map, at);
                if wanted.is_nan() {
                    assert_eq!((value, elevation.is_nan()), (-1, true), "{at:?}");
                    seen[0] += 1;
                    continue;
                }
                assert_eq!(elevation, wanted as f32, "{at:?}");
                assert_eq!(value, if wanted > above { 100 } else { 0 }, "{at:?}");
                seen[if value == 100 { 2 } else { 1 }] += 1;
            }
        }
        seen
    };
    let [_, free, occupied] = check(0.35);
    assert!(free > 0 && occupied > 0);

    let mut region = PublishTerrainRequest {
        center: Point { x: 2.0, y: -6.0, z: 0.0 },
        length_x: 4.0,
        length_y: 3.0,
        resolution: 0.25,
        occupied_above: 0.45,
    };
    let response = rig.publish(&region);
    assert!(response.success, "{}", response.message);
    assert_eq!((response.width, response.height, response.resolution), (16, 12, 0.25));
    let [outside, ..] = check(0.45);
    // x beyond 3 m: 4 columns; y beyond -7 m: 2 rows of the other 12.
    assert_eq!(outside, 4 * 12 + 2 * 12);

    region.length_x = 0.0;
    region.length_y = 0.0;
    region.resolution = 0.0;
    assert!(rig.publish(&region).success);
    assert_eq!(rig.maps().1.info.resolution, 14.0 / 6.0);
}

#[test]
fn a_wrong_region_says_what_would_be_right() {
    let rig = start(&small(), &[]);
    let region = |x, length_x, resolution| PublishTerrainRequest {
        center: Point { x, y: 0.0, z: 0.0 },
        length_x,
        length_y: 2.0,
        resolution,
        occupied_above: 0.0,
    };
    for (request, wanted) in [
        (region(9.0, 2.0, 0.1), "is outside the terrain, which covers x -3 to 3 m, y -7 to 7 m"),
        (region(0.0, -1.0, 0.1), "length_x and length_y are -1 and 2, must be lengths in m"),
        (region(f64::INFINITY, 1.0, 0.1), "center is inf, 0, must be finite numbers in m"),
        (
            region(0.0, 2.0, 0.001),
            "divides this region into 4000000 cells, at most 1000000 are possible: give 2.3333333333333335 m",
        ),
        (region(0.0, 2.0, f64::NAN), "resolution is NaN, must be a distance in m, or 0"),
    ] {
        let response = rig.publish(&request);
        assert!(!response.success, "{wanted}");
        assert!(response.message.contains(wanted), "{}", response.message);
    }
}

#[test]
fn files_that_are_missing_or_do_not_fit_are_told_together_with_all_other_faults() {
    let directory = files(&small());
    let file = |name: &str| format!("terrain.file:={}", directory.join(name).display());
    std::fs::remove_file(directory.join("map.png")).expect("it was there");
    let config = "config:=/nowhere/Config.json".to_owned();
    let error = load(&[file("map.png"), config]).unwrap_err();
    for wanted in ["/map.png cannot be read: No such file", "/nowhere/Config.json cannot be read"] {
        assert!(error.contains(wanted), "{error}");
    }
    let error = load(&[file("other.png")]).unwrap_err();
    assert!(error.contains("/other.txt cannot be read: No such file"), "{error}");
    std::fs::write(directory.join("map.png"), b"\x89PNG").expect("a file");
    let error = load(&[file("map.png")]).unwrap_err();
    assert!(error.contains("map.png: the height map is no PNG image"), "{error}");
    let error = load(&["terrain.rounding:=up".to_owned()]).unwrap_err();
    assert!(error.contains("must be one of cut, nearest, is \"up\""), "{error}");
    std::fs::remove_dir_all(&directory).expect("it was there");
}

#[test]
fn without_a_file_there_is_no_terrain() {
    let rig = Rig::new(load(&[]).expect("settings"));
    let services = rig.recorder.services();
    assert!(!services.iter().any(|(name, _)| name.contains("terrain")));
}
