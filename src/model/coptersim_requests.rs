//! Converts service requests for `CopterSim` to datagrams.
use crate::msgs::rfly_bridge_msgs::srv::{
    LoadByNameRequest, SetGeoOriginRequest, SetGeoPlaceRequest, SetUdpModeRequest,
    SetVehiclePoseRequest,
};
use crate::wire::{CopterSimLoad, CopterSimLoadPacket, CopterSimRequestPacket};
use crate::{config::SimMode, frames::WorldConvention};

/// Limit of coordinates; no map is that large.
const MAX_COORDINATE_M: f64 = 1e7;

/// The packet, or an error: the field, what it must be, and what it is.
type RequestResult = Result<CopterSimRequestPacket, String>;

fn check_range(field: &str, values: &[f64], max: f64) -> Result<(), String> {
    match values.iter().find(|value| value.is_nan() || value.abs() > max) {
        Some(value) => Err(format!("{field}: must be within {max} of 0, is {value}")),
        None => Ok(()),
    }
}

/// `coptersim/set_pose`; `map` is the name of the `map` frame.
pub fn set_pose(
    vehicle: u16,
    world: WorldConvention,
    map: &str,
    request: &SetVehiclePoseRequest,
) -> RequestResult {
    let frame = request.pose.header.frame_id.trim_start_matches('/');
    if !frame.is_empty() && frame != map {
        return Err(format!(
            "pose.header.frame_id: must be {map:?}, is {frame:?}: transform the pose first"
        ));
    }
    let pose = &request.pose.pose;
    let position = [pose.position.x, pose.position.y, pose.position.z];
    check_range("pose.pose.position", &position, MAX_COORDINATE_M)?;
    let q = &pose.orientation;
    let attitude = world.ned_attitude([q.w, q.x, q.y, q.z]).ok_or_else(|| {
        "pose.pose.orientation: must be a quaternion of length 1, is 0 0 0 0 or not finite; w: 1.0 means no rotation".to_owned()
    })?;
    let [north, east, down] = world.ned(position).to_array();
    let [roll, pitch, yaw] = attitude.euler().to_degrees().map(|angle| angle as f32);
    let packet = CopterSimRequestPacket::new(vehicle.into()).at([north, east], yaw);
    Ok(if request.on_ground { packet } else { packet.standing([down as f32, roll, pitch]) })
}

fn check_geodetic(latitude: f64, longitude: f64) -> Result<(), String> {
    let fields = [("latitude", latitude, 90.0), ("longitude", longitude, 180.0)];
    let invalid = fields.into_iter().filter(|(_, value, max)| !(-max..=*max).contains(value));
    let problems: Vec<_> = invalid
        .map(|(field, value, max)| format!("{field}: must be -{max} to {max} degrees, is {value}"))
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

/// `coptersim/set_geo_origin`.
pub fn set_geo_origin(vehicle: u16, request: &SetGeoOriginRequest) -> RequestResult {
    let SetGeoOriginRequest { latitude, longitude, altitude } = *request;
    check_geodetic(latitude, longitude)?;
    check_range("altitude", &[altitude], 100_000.0)?;
    let packet = CopterSimRequestPacket::new(vehicle.into());
    Ok(packet.with_origin(latitude, longitude, altitude as f32))
}

/// `coptersim/set_geo_place`.
pub fn set_geo_place(vehicle: u16, request: &SetGeoPlaceRequest) -> RequestResult {
    let SetGeoPlaceRequest { latitude, longitude, yaw } = *request;
    check_geodetic(latitude, longitude)?;
    check_range("yaw", &[yaw], 1e3)?;
    let yaw = WorldConvention::Enu.ned_yaw(yaw).to_degrees() as f32;
    let packet = CopterSimRequestPacket::new(vehicle.into());
    Ok(packet.at_geodetic(latitude, longitude, yaw))
}

/// `coptersim/set_udp_mode`.
pub fn set_udp_mode(vehicle: u16, request: &SetUdpModeRequest) -> RequestResult {
    let mode = SimMode::parse(&request.mode).map_err(|problem| format!("mode: {problem}"))?;
    let number = mode.number().ok_or_else(|| {
        "mode: the vendor does not publish the number of UDP_UltraSimple; select it in CopterSim".to_owned()
    })?;
    Ok(CopterSimRequestPacket::new(vehicle.into()).with_udp_mode(number))
}

/// `coptersim/show_geodetic`: `CopterSim`'s window shows latitude and longitude if `geodetic`, else metres.
pub fn set_display(vehicle: u16, geodetic: bool) -> CopterSimRequestPacket {
    let place = if geodetic { 4 } else { 5 };
    CopterSimRequestPacket { place, ..CopterSimRequestPacket::new(vehicle.into()) }
}

/// `coptersim/load_model` and `coptersim/load_map`.
pub fn load(
    vehicle: u16,
    what: CopterSimLoad,
    request: &LoadByNameRequest,
) -> Result<CopterSimLoadPacket, String> {
    let LoadByNameRequest { name, by_index, index } = request;
    if *by_index {
        return match index {
            ..0 => Err(format!("index: must be at least 0, is {index}")),
            _ if !name.is_empty() => Err(format!("name: must be empty with by_index, is {name:?}")),
            _ => Ok(CopterSimLoadPacket::by_index(vehicle.into(), what, *index)),
        };
    }
    if name.is_empty() {
        return Err("name: must be given, or by_index and index".to_owned());
    }
    if name.contains('\0') {
        return Err("name: must not contain a byte 0".to_owned());
    }
    CopterSimLoadPacket::by_name(vehicle.into(), what, name).ok_or_else(|| {
        format!("name: must have at most 48 bytes, has {}: CopterSim would truncate it", name.len())
    })
}
