//! Variables of ROS 2 and of its middleware.
use super::{Code, Finding};

/// Checks the environment. `variable` gives the value of a variable, `exists` whether there is a file of this path.
pub fn check_environment(
    variable: &dyn Fn(&str) -> Option<String>,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<Finding> {
    let text = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut found = Vec::new();
    domain(text("ROS_DOMAIN_ID"), &mut found);
    range(
        text("ROS_LOCALHOST_ONLY"),
        text("ROS_AUTOMATIC_DISCOVERY_RANGE"),
        &mut found,
    );
    middleware(&text, &mut found);
    for name in [
        "CYCLONEDDS_URI",
        "FASTRTPS_DEFAULT_PROFILES_FILE",
        "FASTDDS_DEFAULT_PROFILES_FILE",
    ] {
        let Some(value) = text(name) else { continue };
        let path = value.strip_prefix("file://").unwrap_or(&value);
        // The configuration itself may stand in the variable.
        let inline = value.trim_start().starts_with('<');
        let missing = !inline && path.split(',').any(|part| !exists(part.trim()));
        if missing {
            found.push(Finding::new(
                Code::RosProfile,
                name,
                format!("names {path}, which is not there"),
                format!("unset {name}, or give it the path of a file"),
            ));
        }
    }
    found
}

fn domain(value: Option<String>, found: &mut Vec<Finding>) {
    let Some(value) = value else { return };
    match value.trim().parse::<u32>() {
        Ok(id) if id <= 101 => {}
        Ok(id) if id <= 232 => found.push(Finding::new(
            Code::RosDomain,
            "ROS_DOMAIN_ID",
            format!(
                "is {id}: its ports ({} and more) are those that Linux gives to other sockets, and joining fails now and then",
                7400 + 250 * id
            ),
            "export ROS_DOMAIN_ID=0, or another up to 101, in every terminal",
        )),
        _ => found.push(Finding::new(
            Code::RosVariable,
            "ROS_DOMAIN_ID",
            format!("is `{value}`: no node starts with it"),
            "export ROS_DOMAIN_ID=0, or another up to 101, in every terminal",
        )),
    }
}

fn range(localhost: Option<String>, range: Option<String>, found: &mut Vec<Finding>) {
    const RANGE: &str = "ROS_AUTOMATIC_DISCOVERY_RANGE";
    let only = localhost.as_deref() == Some("1");
    match range.as_deref().map(str::to_ascii_uppercase).as_deref() {
        Some("SUBNET" | "SYSTEM_DEFAULT") if only => found.push(Finding::new(
            Code::RosRange,
            "ROS_LOCALHOST_ONLY",
            "is 1 and wins: nodes on other machines are not found, whatever ROS_AUTOMATIC_DISCOVERY_RANGE says",
            "unset ROS_LOCALHOST_ONLY",
        )),
        Some("OFF") if !only => found.push(Finding::new(
            Code::RosRange,
            RANGE,
            "is OFF: no other program finds the topics, not even on this machine",
            format!("export {RANGE}=SUBNET"),
        )),
        Some("LOCALHOST") => found.push(here(RANGE)),
        Some("OFF" | "SUBNET" | "SYSTEM_DEFAULT") => {}
        Some(other) => found.push(Finding::new(
            Code::RosVariable,
            RANGE,
            format!("is `{other}`, none of LOCALHOST, SUBNET, OFF, SYSTEM_DEFAULT"),
            format!("export {RANGE}=SUBNET"),
        )),
        None if only => found.push(here("ROS_LOCALHOST_ONLY")),
        None => {}
    }
}

fn here(name: &str) -> Finding {
    Finding::new(
        Code::RosLocalhost,
        name,
        "nodes on other machines are not found, and those here only with the same setting",
        format!("set it alike in every terminal, or unset {name}"),
    )
}

fn middleware(text: &dyn Fn(&str) -> Option<String>, found: &mut Vec<Finding>) {
    if text("RMW_IMPLEMENTATION").as_deref() == Some("rmw_zenoh_cpp") {
        found.push(Finding::new(
            Code::RosMiddleware,
            "RMW_IMPLEMENTATION",
            "is rmw_zenoh_cpp: programs of this terminal do not speak DDS, and see no topic of the stand-alone bridge",
            "export RMW_IMPLEMENTATION=rmw_cyclonedds_cpp in their terminals, or build the bridge in the workspace (docs/ros2.md)",
        ));
    }
    if text("ROS_DISCOVERY_SERVER").is_some() {
        found.push(Finding::new(
            Code::RosMiddleware,
            "ROS_DISCOVERY_SERVER",
            "is set: programs on Fast DDS ask that server, which the stand-alone bridge on Cyclone DDS does not join",
            "unset ROS_DISCOVERY_SERVER in their terminals",
        ));
    }
}
