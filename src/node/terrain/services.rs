//! Services that return heights and publish a region of the terrain.
use super::ground::{Ground, Region};
use super::raster::{Maps, Raster};
use super::{HEIGHT, PUBLISH, sample_points};
use crate::msgs::rfly_bridge_msgs::srv::{
    GetHeight, GetHeightRequest, GetHeightResponse, PublishTerrain, PublishTerrainRequest,
    PublishTerrainResponse,
};
use crate::node::{assembly::Assembly, error::NodeError};
use crate::{msgs::geometry_msgs::msg::Point, ros::Middleware};

pub(super) fn open(
    middleware: &Middleware,
    name: &dyn Fn(&str) -> String,
    ground: Ground,
    maps: Maps,
    assembly: &mut Assembly,
) -> Result<(), NodeError> {
    let height_ground = ground.clone();
    let height = middleware.service::<GetHeight>(&name(HEIGHT), move |request, responder| {
        responder.respond(heights(&height_ground, &request));
    })?;
    let publish =
        middleware.service::<PublishTerrain>(&name(PUBLISH), move |request, responder| {
            responder.respond(publish(&ground, &maps, &request));
        })?;
    assembly.guards.push(Box::new((height, publish)));
    Ok(())
}

fn heights(ground: &Ground, request: &GetHeightRequest) -> GetHeightResponse {
    let positions = match sample_positions(ground, request) {
        Ok(positions) => positions,
        Err(message) => return GetHeightResponse { message, ..GetHeightResponse::default() },
    };
    let height_at = |position: &[f64; 2]| ground.height(*position).unwrap_or(f64::NAN);
    let height: Vec<f64> = positions.iter().map(height_at).collect();
    let outside = height.iter().filter(|height| height.is_nan()).count();
    let first = positions.iter().zip(&height).find(|(_, height)| height.is_nan());
    let message = first.map(|([x, y], _)| {
        let extent = ground.extent();
        format!(
            "{outside} points are outside the terrain, the first one at x {x}, y {y}: the terrain covers {extent}"
        )
    });
    let point = |([x, y], z): (&[f64; 2], &f64)| Point { x: *x, y: *y, z: *z };
    GetHeightResponse {
        success: outside == 0,
        message: message.unwrap_or_default(),
        points: positions.iter().zip(&height).map(point).collect(),
        height,
    }
}

fn sample_positions(ground: &Ground, request: &GetHeightRequest) -> Result<Vec<[f64; 2]>, String> {
    let points = sample_points::check_points(&request.points)?;
    let step = || sample_points::step_of(request.step, ground);
    match request.shape {
        GetHeightRequest::SHAPE_POINTS if points.is_empty() => {
            Err("points is empty: give at least one".to_owned())
        }
        GetHeightRequest::SHAPE_POINTS => Ok(points),
        GetHeightRequest::SHAPE_LINE => sample_points::line(&points, step()?),
        GetHeightRequest::SHAPE_GRID => sample_points::grid(&points, step()?),
        shape => Err(format!("shape is {shape}, must be 0 (points), 1 (line) or 2 (grid)")),
    }
}

fn publish(
    ground: &Ground,
    maps: &Maps,
    request: &PublishTerrainRequest,
) -> PublishTerrainResponse {
    let raster =
        region(ground, request).and_then(|region| Raster::new(ground, region, request.resolution));
    match raster {
        Ok(raster) => {
            maps.publish(ground, &raster, request.occupied_above);
            let ([width, height], resolution) = (raster.size.map(|n| n as u32), raster.resolution);
            let message = String::new();
            PublishTerrainResponse { success: true, message, width, height, resolution }
        }
        Err(message) => PublishTerrainResponse { message, ..PublishTerrainResponse::default() },
    }
}

fn region(ground: &Ground, request: &PublishTerrainRequest) -> Result<Region, String> {
    let PublishTerrainRequest { center, length_x, length_y, occupied_above, .. } = request;
    let centre = sample_points::check_points(std::slice::from_ref(center))
        .map_err(|message| message.replace("points[0]", "center"))?;
    let length = [*length_x, *length_y];
    if !occupied_above.is_finite() {
        return Err(format!("occupied_above is {occupied_above}, must be a height in m"));
    }
    if length == [0.0, 0.0] {
        return Ok(ground.extent());
    }
    if !length.iter().all(|l| l.is_finite() && *l > 0.0) {
        return Err(format!(
            "length_x and length_y are {length_x} and {length_y}, must be lengths in m, or both 0 for the whole terrain"
        ));
    }
    let low = [0, 1].map(|axis| centre[0][axis] - length[axis] / 2.0);
    let high = [0, 1].map(|axis| centre[0][axis] + length[axis] / 2.0);
    let (region, extent) = (Region::between(low, high), ground.extent());
    let is_apart =
        |axis: usize| region.low[axis] > extent.high[axis] || region.high[axis] < extent.low[axis];
    if is_apart(0) || is_apart(1) {
        return Err(format!("the region, {region}, is outside the terrain, which covers {extent}"));
    }
    Ok(region)
}
