//! px4ctrl: a ROS 2 parameter file, and a command that remaps its topics: those of mavros, `odom` and `cmd`.
use super::rig::{GRAVITY, Rig};
use super::{CalibOutput, Consumer};
use crate::config::{ControlLink, Problems};

pub(super) const CONSUMER: Consumer = Consumer {
    name: "px4ctrl",
    source: "ZJU-FAST-Lab/Fast-Drone-250 8ff6427, in ROS 2 Young-yang-lei/ly_px4ctrl_ros2 d760667",
    write,
};

/// Prefix and names of the absolute topics and services of px4ctrl.
const MAVROS: &str = "/mavros";
#[rustfmt::skip] // a table
const NAMES: [&str; 8] =
    ["state", "extended_state", "imu/data", "rc/in", "battery", "setpoint_raw/attitude", "set_mode", "cmd/arming"];

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let mut problems = Problems::default();
    let params = &rig.settings.params;
    if *params.control_link(rig.vehicle) == ControlLink::Off {
        let message = "is off for the vehicle: px4ctrl flies it by setpoint_raw/attitude";
        problems.push("control.link", message);
    }
    if params.control.read_only {
        problems.push("control.read_only", "is true: px4ctrl sends setpoints");
    }
    let odometry = problems.keep(rig.autopilot_name("local_position/odom"));
    let mut remaps = Vec::new();
    for name in NAMES {
        let to = problems.keep(rig.autopilot_name(name));
        let from = format!("{MAVROS}/{name}");
        remaps.extend(to.filter(|to| *to != from).map(|to| (from, to)));
    }
    let Some(odometry) = odometry.filter(|_| problems.is_empty()) else { return Err(problems) };
    output.used.push(("odometry", format!("{odometry}, of the autopilot")));
    output.warnings.extend(WARNINGS.map(str::to_owned));
    output.add_file("px4ctrl.yaml", file());
    let mut start =
        "ros2 run px4ctrl px4ctrl_node --ros-args --params-file {dir}/px4ctrl.yaml".to_owned();
    let fixed = [("odom".to_owned(), odometry), ("cmd".to_owned(), "/position_cmd".to_owned())];
    for (from, to) in fixed.into_iter().chain(remaps) {
        start += &format!(" -r {from}:={to}");
    }
    output.add_start(start);
    Ok(())
}

const WARNINGS: [&str; 3] = [
    "px4ctrl reads the velocity of odometry in the world frame, the bridge publishes it in the body frame, as nav_msgs/Odometry defines: \
     define VEL_IN_BODY in src/input.cpp of px4ctrl",
    "hover_percentage and mass depend on the vehicle, and Config.json does not have them: set them (PX4: MPC_THR_HOVER)",
    "px4ctrl wants odometry and IMU with 100 Hz: ask the autopilot for them with set_message_interval",
];

/// Returns the values of px4ctrl's example, for flight without a remote control.
fn file() -> String {
    format!(
        r#"/**:
  ros__parameters:
    mass: 1.2 # kg, of the accurate thrust model only
    gra: {GRAVITY}
    pose_solver: 1
    ctrl_freq_max: 100.0
    use_bodyrate_ctrl: false
    max_manual_vel: 1.0
    max_angle: 30.0
    low_voltage: 13.2

    rc_reverse:
      roll: false
      pitch: false
      yaw: false
      throttle: false

    auto_takeoff_land:
      enable: true
      enable_auto_arm: true
      no_RC: true
      takeoff_height: 1.0
      takeoff_land_speed: 0.3

    thrust_model:
      print_value: false
      accurate_thrust_model: false
      K1: 0.7583
      K2: 1.6942
      K3: 0.6786
      hover_percentage: 0.5 # as PX4's MPC_THR_HOVER

    gain:
      Kp0: 1.5
      Kp1: 1.5
      Kp2: 1.5
      Kv0: 1.5
      Kv1: 1.5
      Kv2: 1.5
      Kvi0: 0.0
      Kvi1: 0.0
      Kvi2: 0.0
      Kvd0: 0.0
      Kvd1: 0.0
      Kvd2: 0.0
      KAngR: 20.0
      KAngP: 20.0
      KAngY: 20.0

    rotor_drag:
      x: 0.0
      y: 0.0
      z: 0.0
      k_thrust_horz: 0.0

    msg_timeout:
      odom: 0.5
      rc: 0.5
      cmd: 0.5
      imu: 0.5
      bat: 0.5
"#
    )
}
