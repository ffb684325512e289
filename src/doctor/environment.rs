//! Environment variables of ROS 2 and its middleware.
use super::{Code, Finding};

/// Checks the environment. `variable` returns the value of a variable, `exists` whether a path exists.
pub fn check_environment(
    variable: &dyn Fn(&str) -> Option<String>,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<Finding> {
    let text = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut found = Vec::new();
    check_domain(text("ROS_DOMAIN_ID"), &mut found);
    check_range(text("ROS_LOCALHOST_ONLY"), text("ROS_AUTOMATIC_DISCOVERY_RANGE"), &mut found);
    check_middleware(&text, &mut found);
    for name in
        ["CYCLONEDDS_URI", "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"]
    {
        let Some(value) = text(name) else { continue };
        let path = value.strip_prefix("file://").unwrap_or(&value);
        // The value may be the configuration itself instead of a path.
        let is_inline = value.trim_start().starts_with('<');
        let is_missing = !is_inline && path.split(',').any(|part| !exists(part.trim()));
        if is_missing {
            let what = format!("names {path}, which does not exist");
            let remedy = format!("unset {name}, or set it to the path of an existing file");
            found.push(Finding::new(Code::RosProfile, name, what, remedy));
        }
    }
    found
}

fn check_domain(value: Option<String>, found: &mut Vec<Finding>) {
    let Some(value) = value else { return };
    let (code, what) = match value.trim().parse::<u32>() {
        Ok(id) if id <= 101 => return,
        Ok(id) if id <= 232 => {
            let ports =
                format!("its ports ({} and up) are in Linux's ephemeral range", 7400 + 250 * id);
            (Code::RosDomain, format!("is {id}: {ports}, so joining the domain can fail"))
        }
        _ => (Code::RosVariable, format!("is `{value}`: ROS 2 nodes do not start with this value")),
    };
    let remedy = "export ROS_DOMAIN_ID=0, or another id up to 101, in every terminal";
    found.push(Finding::new(code, "ROS_DOMAIN_ID", what, remedy));
}

fn check_range(localhost: Option<String>, range: Option<String>, found: &mut Vec<Finding>) {
    const RANGE: &str = "ROS_AUTOMATIC_DISCOVERY_RANGE";
    let is_localhost_only = localhost.as_deref() == Some("1");
    match range.as_deref().map(str::to_ascii_uppercase).as_deref() {
        Some("SUBNET" | "SYSTEM_DEFAULT") if is_localhost_only => found.push(Finding::new(
            Code::RosRange,
            "ROS_LOCALHOST_ONLY",
            "is 1 and takes precedence over ROS_AUTOMATIC_DISCOVERY_RANGE: nodes on other machines are not found",
            "unset ROS_LOCALHOST_ONLY",
        )),
        Some("OFF") if !is_localhost_only => found.push(Finding::new(
            Code::RosRange,
            RANGE,
            "is OFF: no other program finds the topics, not even on this machine",
            format!("export {RANGE}=SUBNET"),
        )),
        Some("LOCALHOST") => found.push(localhost_only(RANGE)),
        Some("OFF") | None if is_localhost_only => found.push(localhost_only("ROS_LOCALHOST_ONLY")),
        Some("SUBNET" | "SYSTEM_DEFAULT") | None => {}
        Some(other) => found.push(Finding::new(
            Code::RosVariable,
            RANGE,
            format!("is `{other}`, not one of LOCALHOST, SUBNET, OFF, SYSTEM_DEFAULT"),
            format!("export {RANGE}=SUBNET"),
        )),
    }
}

fn localhost_only(name: &str) -> Finding {
    let what = "nodes on other machines are not found; nodes on this machine are found only if they have the same setting";
    let remedy = format!("set it to the same value in every terminal, or unset {name}");
    Finding::new(Code::RosLocalhost, name, what, remedy)
}

fn check_middleware(text: &dyn Fn(&str) -> Option<String>, found: &mut Vec<Finding>) {
    let on_zenoh = text("RMW_IMPLEMENTATION").as_deref() == Some("rmw_zenoh_cpp");
    if on_zenoh && !cfg!(feature = "zenoh") {
        let what = "is rmw_zenoh_cpp: programs started in this terminal do not use DDS and do not see the topics of the stand-alone bridge";
        let remedy = "export RMW_IMPLEMENTATION=rmw_cyclonedds_cpp in the terminals of these programs, or build the bridge in the workspace (docs/ros2.md)";
        found.push(Finding::new(Code::RosMiddleware, "RMW_IMPLEMENTATION", what, remedy));
    }
    if text("ROS_DISCOVERY_SERVER").is_some() {
        let what = "is set: programs on Fast DDS discover each other through that server, which the stand-alone bridge on Cyclone DDS does not join";
        let remedy = "unset ROS_DISCOVERY_SERVER in the terminals of these programs";
        found.push(Finding::new(Code::RosMiddleware, "ROS_DISCOVERY_SERVER", what, remedy));
    }
}
