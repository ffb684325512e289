//! Control of vehicles.
use super::{Geoid, HeartbeatKind, SetpointFrame, declare::parameters, table::CONTROL};
use crate::config::{ControlLink, PluginLists};
use std::time::Duration;

parameters! {
    /// `control.*`.
    pub struct ControlParams {
        [CONTROL]
        link: ControlLink = "control.link", Link = "mavlink_full",
            "How vehicles are controlled: CopterSim's UDPSIMMODE (`mavlink_full`, `mavlink_simple`, `mavlink_nosend`, `mavlink_nogps`, \
            `mavlink_vision`, `udp_full`, `udp_simple`, `udp_ultrasimple`), `direct:[<own port>@][<address>:]<port>` or `serial:<device>[:<baud>]` for \
            MAVLink with an autopilot, or `off`.";
        discover: Duration = "control.discover_s", Float(0.0, 60.0) = 0.0, ["s"]
            "Time to listen for CopterSim's heartbeats at start; every vehicle heard from an accepted address (`accept_from`) is served at that \
            address. 0: only those of `vehicles` and of the sensors.";
        read_only: bool = "control.read_only", Bool = false,
            "Telemetry only: setpoints, commands, parameters and missions to a vehicle are refused; the answer names this parameter.";
        switch_mode: bool = "control.switch_mode", Bool = false,
            "Request CopterSim to change to the UDPSIMMODE of `control.link`; not to `udp_ultrasimple`, whose number is not published.";
        prefix: String = "control.prefix", Str = "mavros{n}",
            "Prefix of the mavros-style topics and services, below the node's namespace if relative; `{id}` is the CopterID, `{n}` the same but \
            empty for 1 (mavros, mavros2, as in the vendor's scripts). For example `uav{id}/mavros`.";
        plugins: PluginLists
            = "control.plugin_allowlist", Names(64), "Plugins of mavros whose topics and services are served although \
            `control.plugin_denylist` has them; without a denylist: only these. Patterns such as `setpoint_*`, names and rules as in mavros."
            = "control.plugin_denylist", Names(64), "Plugins of mavros whose topics and services are not served. Large fleets start faster with \
            fewer (docs/fleet.md)."
            => |r| PluginLists::new(r.read("control.plugin_allowlist"), r.read("control.plugin_denylist"));
        local_frame: String = "control.local_frame", Frame = "local_origin",
            "Frame of the positions relative to the autopilot's origin (local_position/*): a child of the map in TF, at the autopilot's origin. \
            The vehicle's prefix is put before the name. With the name of the map frame, positions are \
            stamped with the map unchanged, as in mavros; they are then wrong for vehicles whose origin is not that of the map.";
        timeout: Duration = "control.timeout_s", Float(1.1, 60.0) = 10.0, ["s"]
            "Silence of the autopilot after which a vehicle counts as disconnected, as in mavros. The time is longer if heartbeats arrive less \
            often than once a second, as in a simulation that is slower than real time.";
        keep_alive: Duration = "control.keep_alive_s", Float(0.0, 10.0) = 0.0, ["s"]
            "How long to repeat the last setpoint when its sender pauses, so that OFFBOARD does not end at once; this delays the autopilot's own \
            failsafe by the same time. 0: never, as mavros.";
        read_parameters: Duration = "control.read_parameters_s", Float(0.0, 3600.0) = 10.0, ["s"]
            "Delay from the connection to reading all parameters of the vehicle, as in mavros. 0: only when a client asks for the list \
            (`param/pull`, `list_parameters`), which saves a thousand messages at each connection, some seconds on a serial line.";
        heartbeat: HeartbeatKind = "control.heartbeat", Choice = "ground_station",
            "MAV_TYPE of the bridge's heartbeats: PX4 sends its texts (reasons of refusals) only to a `ground_station`; mavros is an \
            `onboard_controller`.";
        system_id: u8 = "control.system_id", Int(0, 255) = 0, "MAVLink system id of the bridge; 0: that of the vehicle (mavros has 1 for every vehicle unless its system_id is set).";
        component_id: u8 = "control.component_id", Int(1, 255) = 191, "MAVLink component id of the bridge.";
        px4_checks: bool = "control.px4_checks", Bool = true,
            "Refuse, with a reason, setpoints and commands that PX4 would ignore or misinterpret (frames 7 and 9, forces, ...).";
        max_position: f64 = "control.max_position_m", Float(1.0, 1e7) = 100_000.0, ["m"]
            "Position setpoints further from the autopilot's local origin than this are refused, and global ones with a greater altitude.";
        max_speed: f64 = "control.max_speed_m_s", Float(0.1, 1e4) = 200.0, ["m/s"] "Velocity setpoints faster than this are refused.";
        geoid: Geoid = "control.geoid", Choice = "egm96",
            "Height of the geoid above the ellipsoid: `egm96`, or `none` for 0. NavSatFix and HomePosition have altitudes above the ellipsoid, \
            autopilots above sea level.";
    }

    /// `setpoint.*`, parameters of mavros' plugins.
    pub struct SetpointParams {
        [CONTROL]
        position_frame: SetpointFrame = "setpoint.position_frame", Choice = "LOCAL_NED",
            "Frame of setpoint_position/local; mavros' parameter mav_frame.";
        velocity_frame: SetpointFrame = "setpoint.velocity_frame", Choice = "LOCAL_NED", "Frame of setpoint_velocity; mavros' parameter mav_frame.";
        accel_is_force: bool = "setpoint.accel_is_force", Bool = false,
            "setpoint_accel/accel is a force; mavros' parameter send_force. PX4 refuses it.";
        use_quaternion: bool = "setpoint.use_quaternion", Bool = false,
            "setpoint_attitude takes attitudes (true) or body rates (false); mavros' parameter use_quaternion.";
        reverse_thrust: bool = "setpoint.reverse_thrust", Bool = false, "setpoint_attitude/thrust may be negative; mavros' parameter reverse_thrust.";
        thrust_scaling: f64 = "setpoint.thrust_scaling", Float(0.01, 100.0) = 1.0,
            "Factor on the thrust of setpoint_raw/attitude; mavros' parameter thrust_scaling.";
    }
}
