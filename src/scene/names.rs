//! Names of entities.

/// Longest name in bytes.
const MAX_LEN: usize = 64;

/// Checks a name: letters, digits, `_`, `-`, `.`, and `/` between parts.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if name.is_empty() {
        return Err("a name is needed".to_owned());
    }
    if name.len() > MAX_LEN {
        return Err(format!("a name has at most {MAX_LEN} bytes, this one has {}", name.len()));
    }
    if let Some(wrong) = name.chars().find(|c| !is_allowed(*c)) {
        return Err(format!(
            "a name has letters, digits, `_`, `-`, `.` and `/` only, {name:?} has {wrong:?}"
        ));
    }
    if name.split('/').any(str::is_empty) {
        return Err(format!("{name:?} must not begin or end with `/`, nor have `//`"));
    }
    Ok(())
}

/// Checks the name of a new entity.
#[cfg(has_simulation_interfaces)]
pub(super) fn check_new_name(name: &str) -> Result<(), String> {
    check_name(name)?;
    if name.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("{name:?} is a number, which means an id: add a letter"));
    }
    let is_numbered = |prefix: &&str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    if ["copter", "sensor", "created"].iter().any(is_numbered) || name.starts_with("scene/") {
        return Err(format!(
            "{name:?} is a name of the bridge: copter<number> are vehicles, sensor<number> cameras, created<number> objects of files, scene/ objects of the map"
        ));
    }
    Ok(())
}

/// Checks a namespace of ROS, without slashes at its ends.
#[cfg(has_simulation_interfaces)]
pub(super) fn check_namespace(namespace: &str) -> Result<(), String> {
    let is_name = |part: &str| {
        let is_start_valid = part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_start_valid && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if namespace.split('/').all(is_name) {
        return Ok(());
    }
    Err(format!(
        "entity_namespace must be a namespace of ROS (letters, digits, `_`, parts between `/` not beginning with a digit), is \
         {namespace:?}"
    ))
}
