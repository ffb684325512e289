use super::Need;
use super::yaml::text;
use std::fmt::Write as _;

/// Parameter file of the bridge, beside the files of the consumer.
pub const BRIDGE_FILE: &str = "rfly_bridge.yaml";

/// One file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct File {
    /// Name, without a directory.
    pub name: &'static str,
    /// Contents.
    pub text: String,
}

/// What is written, and what to know about it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Output {
    /// Files of the consumer.
    pub files: Vec<File>,
    /// What the files were made of: a role, and sensor, topic and figures.
    pub used: Vec<(&'static str, String)>,
    /// Parameters of the bridge that go with the files.
    pub needs: Vec<Need>,
    /// What will not work as it is.
    pub warnings: Vec<String>,
    /// Commands that start the consumer; `{dir}` is the directory of the files.
    pub start: Vec<String>,
}

impl Output {
    /// Adds a file.
    pub(super) fn file(&mut self, name: &'static str, text: String) {
        self.files.push(File { name, text });
    }

    /// Adds a parameter; `now` is its value.
    pub(super) fn need(&mut self, name: &str, value: &'static str, now: &str, why: &'static str) {
        self.need_that(name, value, (now == value, now), why);
    }

    /// Adds a parameter that may fit with another value, too.
    pub(super) fn need_that(
        &mut self,
        name: &str,
        value: &'static str,
        (fits, now): (bool, &str),
        why: &'static str,
    ) {
        self.needs.push(Need {
            name: name.to_owned(),
            value,
            now: (!fits).then(|| now.to_owned()),
            why,
        });
    }

    /// The parameters of the bridge as its parameter file; `None` if it needs none.
    pub fn bridge_file(&self) -> Option<File> {
        if self.needs.is_empty() {
            return None;
        }
        let mut out = String::from("/**:\n  ros__parameters:\n");
        for need in &self.needs {
            let value = match need.value {
                word @ ("true" | "false") => word.to_owned(),
                number if number.parse::<i64>().is_ok() => number.to_owned(),
                word => text(word),
            };
            let _ = writeln!(out, "    {}: {value} # {}", need.name, need.why);
        }
        Some(File {
            name: BRIDGE_FILE,
            text: out,
        })
    }
}
