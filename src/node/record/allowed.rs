//! Parameters that are taken from a recording, which may come from anybody: those that shape the data. None that listens, sends or
//! writes, or names hosts, files or origins.

/// Names, or with a dot at their end all that begin with them.
const ALLOWED: &[&str] = &[
    "base_frame",
    "cloud.",
    "compat.mavros_quirks",
    "compressed.",
    "config.unsupported",
    "control.component_id",
    "control.geoid",
    "control.local_frame",
    "control.prefix",
    "control.system_id",
    "control.timeout_s",
    "degrade.",
    "depth.",
    "diagnostics.period_s",
    "fisheye.",
    "frame_prefix",
    "image.",
    "imu.",
    "map_frame",
    "mount_angle_unit",
    "odom_frame",
    "other_vehicles",
    "qos.",
    "reports.",
    "request.timeout_s",
    "rgb.",
    "robot_description.publish",
    "scan.",
    "scene.first_id",
    "scene.last_id",
    "scene.windows",
    "scene.world",
    "services.fast_dds",
    "terrain.occupied_above_m",
    "terrain.rounding",
    "tf.",
    "time.estimator",
    "topic_prefix",
    "transport_mode",
    "vehicle_bottom_m",
    "vehicles",
    "window",
    "world_convention",
];
/// Of one sensor or vehicle: `sensor3.fov_deg`.
const FAMILIES: [&str; 2] = ["sensor", "vehicle"];
/// Of these, and not taken: a host, a file, and a vehicle that the bridge would fly.
const NOT_OF_FAMILIES: [&str; 5] = ["address", "camera_info_url", "model", "model_type", "link"];
/// Links whose parameters name nothing outside the recording.
const LINKS: [&str; 8] = [
    "off",
    "mavlink_full",
    "mavlink_simple",
    "mavlink_nosend",
    "mavlink_nogps",
    "mavlink_vision",
    "udp_full",
    "udp_simple",
];

/// The value of a parameter of a recording, if it is taken.
pub(super) fn allowed(name: &str, value: &str) -> Option<String> {
    if !(name.bytes()).all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'.') {
        return None;
    }
    let listed = |known: &&str| match known.ends_with('.') {
        true => name.starts_with(*known),
        false => name == *known,
    };
    if name == "control.link" || name.starts_with("vehicle") && name.ends_with(".link") {
        return link(value.trim_matches(['"', '\'', ' ']));
    }
    (ALLOWED.iter().any(listed) || of_family(name)).then(|| value.to_owned())
}

fn of_family(name: &str) -> bool {
    let Some((one, rest)) = name.split_once('.') else {
        return false;
    };
    let numbered = |family: &&str| {
        let number = one.strip_prefix(*family);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()))
    };
    FAMILIES.iter().any(numbered) && !NOT_OF_FAMILIES.contains(&rest)
}

/// A link: its kind. Of a direct link the ports, at which it was recorded, without the host.
fn link(value: &str) -> Option<String> {
    if LINKS.contains(&value) {
        return Some(value.to_owned());
    }
    let direct = value.strip_prefix("direct:")?;
    let (own, peer) = direct.split_once('@').unwrap_or(("", direct));
    let port = peer.rsplit_once(':').map_or(peer, |(_, port)| port);
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    match own.is_empty() {
        true => is_port(port).then(|| format!("\"direct:{port}\"")),
        false => (is_port(own) && is_port(port)).then(|| format!("\"direct:{own}@{port}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn what_shapes_data_is_taken_and_what_reaches_out_is_not() {
        for (name, value) in [
            ("cloud.layout", "ouster"),
            ("sensor12.fov_deg", "90.0"),
            ("vehicle2.prefix", "uav2"),
            ("control.link", "\"udp_full\""),
            ("qos.image.depth", "3"),
        ] {
            assert_eq!(
                allowed(name, value).as_deref(),
                Some(value.trim_matches('"')),
                "{name}"
            );
        }
        for (name, value) in [
            ("view.port", "9123"),
            ("view.control", "true"),
            ("view.origins", "[]"),
            ("terrain.file", "/etc/passwd"),
            ("scene.file", "x"),
            ("record.raw", "x"),
            ("redis.address", "10.0.0.1"),
            ("simulator_address", "10.0.0.1"),
            ("vehicle1.address", "10.0.0.1"),
            ("vehicle1.model", "point_mass"),
            ("sensor1.camera_info_url", "file:///etc/passwd"),
            ("vehiclex.prefix", "a"),
            ("control.link", "serial:/dev/ttyS0"),
            ("control.link", "direct:10.0.0.1:x"),
            ("control.read_only", "false"),
            ("netsim.enabled", "true"),
            ("bind_address", "0.0.0.0"),
            ("cloud.layout:=x -p view.port", "9"),
            ("", ""),
            ("..", ""),
        ] {
            assert_eq!(allowed(name, value), None, "{name}");
        }
        let direct = allowed("vehicle2.link", "\"direct:20101@10.0.0.1:14550\"");
        assert_eq!(direct.as_deref(), Some("\"direct:20101@14550\""));
    }
}
