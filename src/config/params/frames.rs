//! Frames and stamps.
use super::table::{FRAMES, TIME};
use super::{
    AngleUnitChoice, Estimator, StampMode, TfSource, WorldConvention, declare::parameters,
};

parameters! {
    /// Names of frames, conventions and TF.
    pub struct FrameParams {
        [FRAMES]
        map: String = "map_frame", Frame = "map", "World frame, root of TF. Its origin is the simulator's.";
        odom: String = "odom_frame", Frame = "odom", "Odometry frame of a vehicle; coincides with the map unless `tf.source` is `external`.";
        base: String = "base_frame", Frame = "base_link", "Body frame of a vehicle (x forward, y left, z up).";
        prefix: String = "frame_prefix", Str = "auto",
            "Prefix of the frames of a vehicle (odom, base, IMU, sensors, `control.local_frame`); `{id}` is its CopterID. `auto`: nothing for one \
            vehicle, `copter{id}/` for several.";
        world: WorldConvention = "world_convention", Choice = "enu",
            "Axes of the map: `enu` x east, y north (REP 103), or `nwu` x north, y west, which keeps the simulator's x axis.";
        mount_angle_unit: AngleUnitChoice = "mount_angle_unit", Choice = "degrees",
            "Unit of SensorAngEular; the vendor's documents disagree. `auto` derives it from the values and logs the unit with the reason.";
        vehicle_bottom_m: f64 = "vehicle_bottom_m", Float(0.0, 100.0) = 0.0, ["m"]
            "Distance of a vehicle's bottom centre (TargetMountType 1) below base_link; the simulator takes it from the vehicle's model and does not \
            report it.";
        publish_tf: bool = "tf.publish", Bool = true, "Publish /tf and /tf_static.";
        publish_static: bool = "tf.publish_static", Bool = true,
            "Publish the fixed frames of the vehicles (sensors, optical frames, IMU); false leaves those of the URDF to a robot_state_publisher.";
        tf_source: TfSource = "tf.source", Choice = "truth",
            "Source of a vehicle's pose in TF: `truth` the simulator, `estimate` the autopilot, `external` another node, which publishes odom and \
            base_link.";
        robot_description: bool = "robot_description.publish", Bool = true,
            "Publish each vehicle with its sensors as URDF on `robot_description`, for RViz.";
    }

    /// `time.*`.
    pub struct TimeParams {
        [TIME]
        mode: StampMode = "time.mode", Choice = "aligned",
            "header.stamp: `aligned` simulation time mapped to the host's clock, `sim` simulation time (publishes /clock), `arrival` time of \
            arrival.";
        estimator: Estimator = "time.estimator", Choice = "envelope",
            "How `aligned` finds the offset between host and simulator time: `envelope` fits a line below all recent differences and follows drift; \
            `vendor` takes it once, from the first heartbeat or datagram, as the vendor's SDK does.";
    }
}

impl FrameParams {
    /// Returns `frame_prefix` for a bridge that serves `vehicles` vehicles, with `{id}` unexpanded.
    pub fn prefix_template(&self, vehicles: usize) -> &str {
        match self.prefix.as_str() {
            "auto" if vehicles <= 1 => "",
            "auto" => "copter{id}/",
            template => template,
        }
    }

    /// Returns the prefix of the frames of vehicle `id` if the bridge serves `vehicles` vehicles.
    pub fn prefix_of(&self, id: u16, vehicles: usize) -> String {
        self.prefix_template(vehicles).replace("{id}", &id.to_string())
    }
}
