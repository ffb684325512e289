//! ROS 2 parameter files.
use super::yaml::{self, Yaml, YamlKind};
use crate::config::{ParamValue, Problems, params};
use regex_lite::Regex;

/// Reads a parameter file and returns the values for the node with these full names, in the order of the file, so that a
/// later value wins.
///
/// Sections are `/**`, `node`, `/namespace/node` with `*` for one and `**` for any number of parts, or nested
/// (`namespace: node: ros__parameters:`). Nested parameters become dotted names.
///
/// ```
/// use rfly_bridge::config::{ParamValue, ros_args::params_of_file};
/// let text = "/**:\n  ros__parameters:\n    imu: {rate_hz: 400}\nother_node:\n  ros__parameters:\n    window: 1\n";
/// let found = params_of_file("p.yaml", text, &["/rfly_bridge"]).unwrap();
/// assert_eq!(found, [("imu.rate_hz".to_owned(), ParamValue::Int(400))]);
/// ```
/// Errors: all problems of the file, with their lines.
pub fn params_of_file(
    file: &str,
    text: &str,
    node_fqns: &[&str],
) -> Result<Vec<(String, ParamValue)>, Problems> {
    let mut reader =
        FileReader { file, node_fqns, found: Vec::new(), problems: Problems::default() };
    match yaml::parse(text) {
        Ok(Some(root)) => reader.read_section(&root, ""),
        Ok(None) => {} // rcl accepts an empty file
        Err(error) => reader.problem(error.line, error.message),
    }
    reader.problems.or(reader.found)
}

struct FileReader<'a> {
    file: &'a str,
    node_fqns: &'a [&'a str],
    found: Vec<(String, ParamValue)>,
    problems: Problems,
}

impl FileReader<'_> {
    fn problem(&mut self, line: usize, message: impl Into<String>) {
        self.problems.push(format!("{}:{line}", self.file), message);
    }

    /// Walks namespaces and nodes down to `ros__parameters`.
    fn read_section(&mut self, node: &Yaml, name: &str) {
        let YamlKind::Mapping(pairs) = &node.kind else {
            let section = if name.is_empty() { "the file".to_owned() } else { format!("{name:?}") };
            let why = format!("{section} must contain a node name and below it `ros__parameters:`");
            self.problem(node.line, why);
            return;
        };
        for (key, value) in pairs {
            if key == "ros__parameters" {
                if name.is_empty() {
                    let why = "`ros__parameters:` must stand below a node name, for example `/**:`";
                    self.problem(value.line, why);
                } else if self.node_fqns.iter().any(|node| matches(name, node)) {
                    self.read_parameters(value, "");
                }
            } else {
                let key = key.trim_start_matches('/');
                self.read_section(value, &format!("{name}/{key}"));
            }
        }
    }

    fn read_parameters(&mut self, node: &Yaml, prefix: &str) {
        match &node.kind {
            YamlKind::Mapping(pairs) => {
                for (key, value) in pairs {
                    let name =
                        if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    self.read_parameters(value, &name);
                }
            }
            YamlKind::Empty if prefix.is_empty() => {} // all parameters commented out
            _ if prefix.is_empty() => {
                self.problem(node.line, "`ros__parameters:` must contain `name: value`")
            }
            _ => match value_of(prefix, node) {
                Ok(value) => self.found.push((prefix.to_owned(), value)),
                Err((line, why)) => self.problem(line, format!("{prefix} {why}")),
            },
        }
    }
}

/// Returns the value of a parameter. For a string parameter, a YAML boolean or number (`off`, `no`, `1`) is the text as written.
/// Errors: the line and the message.
pub(super) fn value_of(name: &str, node: &Yaml) -> Result<ParamValue, (usize, &'static str)> {
    let typed = |text: &str, value: &ParamValue| {
        if params::is_text(name, text) { ParamValue::Str(text.to_owned()) } else { value.clone() }
    };
    match &node.kind {
        YamlKind::Scalar(text, value) => Ok(typed(text, value)),
        YamlKind::Empty => Err((node.line, "has no value; write '' for an empty string")),
        YamlKind::Mapping(_) => Err((node.line, "must be a value or an array, is a mapping")),
        YamlKind::Sequence(items) => {
            let scalar = |item: &Yaml| match &item.kind {
                YamlKind::Scalar(text, value) => Ok(typed(text, value)),
                _ => Err((item.line, "must be an array of single values")),
            };
            items.iter().map(scalar).collect::<Result<_, _>>().map(ParamValue::List)
        }
    }
}

/// Whether a section name with wildcards matches this node: `*` is one part of the name, `**` any number, also none.
fn matches(pattern: &str, node_fqn: &str) -> bool {
    let parts = pattern.split('/').filter(|part| !part.is_empty()).map(|part| match part {
        "*" => "/[^/]+".to_owned(),
        "**" => "(?:/[^/]+)*".to_owned(),
        name => format!("/{}", regex_lite::escape(name)),
    });
    let pattern = Regex::new(&format!("^{}$", parts.collect::<String>()));
    pattern.is_ok_and(|pattern| pattern.is_match(node_fqn))
}
