//! Which plugin of mavros a topic or service belongs to, and which plugins are served.
use super::Problems;
use glob::Pattern;

/// Allowed and denied plugins, as patterns (`setpoint_*`) that follow the rules of mavros.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginLists {
    allowed: Vec<String>,
    denied: Vec<String>,
}

impl PluginLists {
    /// Lists without a denied plugin deny all that is not allowed, unless both are empty.
    pub fn new(allowed: Vec<String>, mut denied: Vec<String>) -> Self {
        if denied.is_empty() && !allowed.is_empty() {
            denied.push("*".into());
        }
        Self { allowed, denied }
    }

    /// Whether the topic or service with this name below the vehicle's prefix is served. Allowing wins over denying.
    pub fn serve(&self, name: &str) -> bool {
        let plugin = plugin_of(name);
        let has = |patterns: &[String]| {
            patterns.iter().any(|p| Pattern::new(p).is_ok_and(|p| p.matches(plugin)))
        };
        !has(&self.denied) || has(&self.allowed)
    }

    pub(super) fn check(&self, problems: &mut Problems) {
        for (parameter, patterns) in
            [("control.plugin_allowlist", &self.allowed), ("control.plugin_denylist", &self.denied)]
        {
            for text in patterns {
                if let Err(why) = Pattern::new(text) {
                    problems.push(parameter, format!("must be patterns, {text:?} is not: {why}"));
                }
            }
        }
    }
}

/// Name of the plugin of mavros for ROS 2 that has the topic or service; `uas` for raw MAVLink, which is no plugin there.
pub fn plugin_of(name: &str) -> &str {
    match name.split('/').next().unwrap_or_default() {
        "cmd" => "command",
        "companion_process" => "companion_process_status",
        "gpsstatus" => "gps_status",
        "mission" => "waypoint",
        "mocap" => "mocap_pose_estimate",
        "rc" => "rc_io",
        "target_actuator_control" => "actuator_control",
        "time_reference" | "timesync_status" => "sys_time",
        "uas{id}" => "uas",
        "battery"
        | "estimator_status"
        | "extended_state"
        | "set_message_interval"
        | "set_mode"
        | "set_stream_rate"
        | "state"
        | "status_event"
        | "statustext"
        | "sys_status"
        | "vehicle_info_get" => "sys_status",
        own => own,
    }
}
