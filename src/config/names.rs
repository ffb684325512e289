//! Grammar of ROS topic names and frame ids.

/// Checks a topic name: absolute, relative or private (`~/name`).
///
/// Rules of <https://design.ros2.org/articles/topic_and_service_names.html>, without `{substitutions}`; repeated
/// underscores are accepted.
pub(crate) fn check_topic(name: &str) -> Result<(), String> {
    let tokens = match name.strip_prefix('~') {
        Some("") => return Ok(()),
        Some(rest) => rest.strip_prefix('/').ok_or("`~` must be followed by `/`")?,
        None => name.strip_prefix('/').unwrap_or(name),
    };
    if name.len() > 255 {
        return Err("it is longer than 255 bytes".to_owned());
    }
    tokens.split('/').try_for_each(check_token)
}

/// Checks one part of a name, for example a node name.
pub(crate) fn check_token(token: &str) -> Result<(), String> {
    if token.is_empty() {
        return Err("it is empty or has an empty part (`//`, or `/` at the end)".to_owned());
    }
    if let Some(c) = token.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_') {
        return Err(format!(
            "{c:?} is not allowed, only letters, digits and `_` (in a topic or namespace also `/`)"
        ));
    }
    if token.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("the part {token:?} begins with a digit"));
    }
    Ok(())
}

pub(crate) fn check_namespace(name: &str) -> Result<(), String> {
    match name.strip_prefix('/') {
        Some("") => Ok(()),
        Some(_) => check_topic(name),
        None => Err("it must begin with `/`".to_owned()),
    }
}

/// Checks a frame id: tf2 refuses an empty one and a leading `/`; the bridge refuses white space, too.
pub(crate) fn check_frame(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("it is empty".to_owned());
    }
    if name.starts_with('/') {
        return Err("tf2 refuses a leading `/`".to_owned());
    }
    if name.contains(char::is_whitespace) {
        return Err("it contains white space".to_owned());
    }
    Ok(())
}
