use super::yaml::text;
use super::{Consumer, Need};
use std::fmt::Write as _;
use std::path::Path;

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

    /// What was written and what goes with it, for the person at the terminal.
    pub fn report(&self, consumer: &Consumer, dir: Option<&Path>) -> String {
        let dir = dir.map_or("DIR".to_owned(), |dir| dir.display().to_string());
        let mut out = format!("{}: {}\n", consumer.name, consumer.source);
        for (role, figures) in &self.used {
            let _ = writeln!(out, "  {role}: {figures}");
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "warning: {warning}");
        }
        if !self.needs.is_empty() {
            out += "parameters of the bridge that go with it:\n";
        }
        for need in &self.needs {
            let _ = writeln!(out, "  {need}");
        }
        let mut commands = self.start.clone();
        if !self.needs.is_empty() {
            commands.insert(
                0,
                format!("rfly_bridge --ros-args --params-file {{dir}}/{BRIDGE_FILE} ..."),
            );
        }
        out += "to start:\n";
        for command in commands {
            let _ = writeln!(out, "  {}", command.replace("{dir}", &dir));
        }
        out
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
        Some(File { name: BRIDGE_FILE, text: out })
    }
}
