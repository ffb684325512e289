//! Files for a consumer, and the report about them.
use super::{Consumer, yaml::text};
use std::fmt::{self, Write as _};
use std::path::Path;

/// Parameter file of the bridge, beside the files of the consumer.
pub const BRIDGE_FILE: &str = "rfly_bridge.yaml";

/// One file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutputFile {
    /// Name, without a directory.
    pub name: &'static str,
    /// Contents.
    pub text: String,
}

/// The files, and the facts that the user needs to use them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CalibOutput {
    /// Files of the consumer.
    pub files: Vec<OutputFile>,
    /// Inputs of the files: role, and a description with sensor, topic and rate.
    pub used: Vec<(&'static str, String)>,
    /// Parameters of the bridge that the files need.
    pub needs: Vec<Need>,
    /// What the user must check or change.
    pub warnings: Vec<String>,
    /// Commands that start the consumer; `{dir}` is the directory of the files.
    pub start: Vec<String>,
}

impl CalibOutput {
    pub(super) fn add_file(&mut self, name: &'static str, text: String) {
        self.files.push(OutputFile { name, text });
    }

    pub(super) fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    pub(super) fn add_start(&mut self, command: impl Into<String>) {
        self.start.push(command.into());
    }

    /// Adds a required parameter; `now` is its present value.
    pub(super) fn need(&mut self, name: &str, value: &'static str, now: &str, why: &'static str) {
        self.need_checked(name, value, (now == value, now), why);
    }

    /// Adds a required parameter that may also have other values; `fits`: whether the present value `now` is accepted.
    pub(super) fn need_checked(
        &mut self,
        name: &str,
        value: &'static str,
        (fits, now): (bool, &str),
        why: &'static str,
    ) {
        let unfit = (!fits).then(|| now.to_owned());
        self.needs.push(Need { name: name.to_owned(), value, unfit, why });
    }

    /// Returns the report for the terminal.
    pub fn report(&self, consumer: &Consumer, dir: Option<&Path>) -> String {
        let dir = dir.map_or("DIR".to_owned(), |dir| dir.display().to_string());
        let mut out = format!("{}: {}\n", consumer.name, consumer.source);
        for (role, figures) in &self.used {
            let _ = writeln!(out, "  {role}: {figures}");
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "warning: {warning}");
        }
        let mut commands = self.start.clone();
        if !self.needs.is_empty() {
            out += "parameters of the bridge that the files need:\n";
            let bridge = format!("rfly_bridge --ros-args --params-file {{dir}}/{BRIDGE_FILE} ...");
            commands.insert(0, bridge);
        }
        for need in &self.needs {
            let _ = writeln!(out, "  {need}");
        }
        out += "to start:\n";
        for command in commands {
            let _ = writeln!(out, "  {}", command.replace("{dir}", &dir));
        }
        out
    }

    /// Returns the parameter file of the bridge; `None` if no parameters are needed.
    pub fn bridge_file(&self) -> Option<OutputFile> {
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
        Some(OutputFile { name: BRIDGE_FILE, text: out })
    }
}

/// A parameter of the bridge that the files need.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Need {
    /// Its name.
    pub name: String,
    /// The value that the consumer needs.
    pub value: &'static str,
    /// The present value, if it does not fit.
    pub unfit: Option<String>,
    /// Reason.
    pub why: &'static str,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, why, .. } = self;
        write!(f, "-p {name}:={value}   ")?;
        match &self.unfit {
            Some(present) => write!(f, "does not fit now, is {present}: {why}"),
            None => write!(f, "fits now: {why}"),
        }
    }
}
