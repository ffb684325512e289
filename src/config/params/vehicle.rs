//! Parameters of one vehicle.
use super::{ParameterSpec, VehicleModel, declare::parameters};
use crate::config::ControlLink;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

/// Keys of `vehicle<CopterID>.*`.
pub static VEHICLE_PARAMETERS: LazyLock<Vec<ParameterSpec>> = LazyLock::new(VehicleParams::specs);

const VEHICLE: &str = "Vehicle";

parameters! {
    /// `vehicle<CopterID>.*`; an absent value stands for the parameter of all vehicles.
    #[derive(Default)]
    pub struct VehicleParams {
        [VEHICLE]
        link: Option<ControlLink> = "link", Link = "", "Instead of control.link.";
        prefix: Option<String> = "prefix", Topic = "", "The whole prefix, without `{id}` and `{n}`, instead of control.prefix.";
        address: Option<Ipv4Addr> = "address", Address = "", "Host of this vehicle's CopterSim, instead of simulator_address.";
        model: Option<VehicleModel> = "model", Choice = "coptersim",
            "Program that flies it: `coptersim`, or the bridge itself, without CopterSim and autopilot, as a `point_mass` or a `fixed_wing` \
            (docs/model.md). The bridge then takes CopterSim's ports of this vehicle on this host.";
        model_type: Option<i32> = "model_type", Int(0, 2_147_483_647) = 0,
            "What the renderer draws for a vehicle that the bridge flies: class + 1000 x style; 0: class 3 for a point mass, 100 for a fixed wing."
            => |r| r.read::<Option<i32>>("model_type").filter(|class| *class > 0);
        start: [f64; 3] = "start", Vector(-100_000.0, 100_000.0) = [0.0, 0.0, 0.0], ["m"]
            "Start position in the map of a vehicle that the bridge flies. With a terrain, z is that of the ground.";
        start_yaw_deg: f64 = "start_yaw_deg", Float(-360.0, 360.0) = 0.0, ["deg"] "Yaw at the start in the map, anticlockwise from x.";
    }
}

impl VehicleParams {
    /// Whether the bridge flies the vehicle itself.
    pub fn is_flown_here(&self) -> bool {
        self.model.is_some_and(|model| model != VehicleModel::CopterSim)
    }
}
