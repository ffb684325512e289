//! The parameters that a replay takes from a recording: those that affect the data. A recording is untrusted input, so parameters
//! that open ports, send, write, or name hosts, files or origins are ignored.
use crate::config::{ControlLink, SimMode};

/// Parameter names; a name that ends with a dot is a prefix.
const ALLOWED: &str = "
    base_frame cloud. compat.mavros_quirks compressed. control.component_id control.geoid control.local_frame
    control.prefix control.system_id control.timeout_s degrade. depth. diagnostics.period_s fisheye. frame_prefix image. imu.
    map_frame mount_angle_unit odom_frame other_vehicles qos. reports. request.timeout_s rgb. robot_description.publish scan.
    scene.first_id scene.last_id scene.windows scene.world services.fast_dds terrain.occupied_above_m terrain.rounding tf.
    time.estimator topic_prefix transport_mode unsupported_sensors vehicle_bottom_m vehicles window world_convention";
/// Prefixes with a number: `sensor3.fov_deg`.
const NUMBERED_PREFIXES: [&str; 2] = ["sensor", "vehicle"];
/// Ignored parameters with a numbered prefix: they name a host or a file, or make the bridge fly a vehicle.
const IGNORED: [&str; 5] = ["address", "camera_info_url", "model", "model_type", "link"];

/// Returns the value of a recorded parameter; `None` if the parameter is ignored.
pub(super) fn allow(name: &str, value: &str) -> Option<String> {
    if !(name.bytes()).all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'.') {
        return None;
    }
    let is_listed =
        |listed: &str| name == listed || listed.ends_with('.') && name.starts_with(listed);
    if name == "control.link" || name.starts_with("vehicle") && name.ends_with(".link") {
        return allow_link(value.trim_matches(['"', '\'', ' ']));
    }
    (ALLOWED.split_whitespace().any(is_listed) || is_numbered(name)).then(|| value.to_owned())
}

fn is_numbered(name: &str) -> bool {
    let Some((prefix, rest)) = name.split_once('.') else { return false };
    let has_number = |word: &&str| {
        let number = prefix.strip_prefix(*word);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()))
    };
    NUMBERED_PREFIXES.iter().any(has_number) && !IGNORED.contains(&rest)
}

/// Returns the value of a link parameter; `None` for a device and for udp_ultrasimple. A direct link keeps its ports, which the
/// recording uses, and loses its host.
fn allow_link(value: &str) -> Option<String> {
    match ControlLink::parse(value).ok()? {
        ControlLink::Direct { local, port, .. } => {
            Some(format!("\"{}\"", ControlLink::Direct { local, address: None, port }))
        }
        ControlLink::Serial { .. } | ControlLink::Simulator(SimMode::UdpUltraSimple) => None,
        ControlLink::Off | ControlLink::Simulator(_) => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::allow;

    #[test]
    fn only_parameters_that_affect_the_data_are_allowed() {
        for (name, value) in [
            ("cloud.layout", "ouster"),
            ("sensor12.fov_deg", "90.0"),
            ("vehicle2.prefix", "uav2"),
            ("control.link", "\"udp_full\""),
            ("qos.image.depth", "3"),
        ] {
            assert_eq!(allow(name, value).as_deref(), Some(value.trim_matches('"')), "{name}");
        }
        let refused = "
            view.port=9123 view.control=true view.origins=[] terrain.file=/etc/passwd scene.file=x record.raw=x
            redis.address=10.0.0.1 simulator_address=10.0.0.1 vehicle1.address=10.0.0.1 vehicle1.model=point_mass
            sensor1.camera_info_url=file:///etc/passwd vehiclex.prefix=a control.link=serial:/dev/ttyS0
            control.link=direct:10.0.0.1:x control.read_only=false netsim.enabled=true bind_address=0.0.0.0";
        let refused = refused.split_whitespace().filter_map(|text| text.split_once('='));
        let malformed = [("cloud.layout:=x -p view.port", "9"), ("", ""), ("..", "")];
        for (name, value) in refused.chain(malformed) {
            assert_eq!(allow(name, value), None, "{name}");
        }
        let direct = allow("vehicle2.link", "\"direct:20101@10.0.0.1:14550\"");
        assert_eq!(direct.as_deref(), Some("\"direct:20101@14550\""));
    }
}
