//! Command line of a ROS 2 node and its parameter files, as rcl reads them.
//!
//! Values apply in the order of the command line, unlike in rcl, where a section `/node:` of a parameter file can win over a
//! later `-p`. Service remaps, enclaves and log files are ignored. [`parse_bridge`] reads outside `--ros-args`: `Config.json`,
//! `--config FILE`, `--params-file FILE`, `--log-level LEVEL`, `--middleware NAME`, `-p name:=value`, `-r from:=to`.
mod param_file;
pub(crate) mod yaml;

pub use param_file::params_of_file;

use super::{ParamValue, Problems, names, params, problem::did_you_mean};
use std::ffi::OsString;
use std::iter::Peekable;
use std::path::PathBuf;

/// Name of the node if `__node` is not set.
pub const NODE_NAME: &str = "rfly_bridge";

/// Contents of `--ros-args`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RosArgs {
    /// `-p name:=value` and `--params-file`, in order; a later one wins.
    pub sources: Vec<ParamSource>,
    /// `-r from:=to`, in order; the first rule that matches a name applies.
    pub remaps: Vec<(String, String)>,
    /// `-r __node:=name`.
    pub node_name: Option<String>,
    /// `-r __ns:=/name`.
    pub namespace: Option<String>,
    /// `--middleware dds` or `zenoh`; `None` for that of the environment.
    pub middleware: Option<String>,
    /// `--log-level level`, for `tracing`: `debug`, `info`, `warn`, `error`.
    pub log_level: Option<String>,
    /// Arguments outside `--ros-args`, without the program's name.
    pub rest: Vec<String>,
}

/// A source of parameter values.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamSource {
    /// `-p name:=value`.
    Value(String, ParamValue),
    /// `--params-file path`; the caller reads it and calls [`params_of_file`].
    File(PathBuf),
}

/// ROS options that take a value.
#[rustfmt::skip] // a table
const WITH_VALUE: &[&str] = &[
    "-p", "--param", "-r", "--remap", "--params-file", "--log-level", "--log-config-file", "--log-file-name", "-e", "--enclave",
];
/// ROS options without a value.
#[rustfmt::skip] // a table
const FLAGS: &[&str] = &[
    "--enable-rosout-logs", "--disable-rosout-logs", "--enable-stdout-logs", "--disable-stdout-logs", "--enable-external-lib-logs",
    "--disable-external-lib-logs",
];

/// Splits a command line (without the program's name).
///
/// ```
/// use rfly_bridge::config::{ParamValue, ros_args::{ParamSource, parse}};
/// let line = "run --ros-args -p imu.rate_hz:=400 -r imu:=imu/data_raw -- --verbose";
/// let args = parse(line.split(' ').map(str::to_owned)).unwrap();
/// assert_eq!(args.sources, [ParamSource::Value("imu.rate_hz".into(), ParamValue::Int(400))]);
/// assert_eq!(args.remaps, [("imu".into(), "imu/data_raw".into())]);
/// assert_eq!(args.rest, ["run", "--verbose"]);
/// ```
/// Errors: all arguments that ROS would refuse.
pub fn parse<I: IntoIterator<Item = String>>(args: I) -> Result<RosArgs, Problems> {
    split(args, false)
}

/// As [`parse`], for the bridge and its subcommands: configuration files and ROS options may also stand outside `--ros-args`.
pub fn parse_bridge<I: IntoIterator<Item = String>>(args: I) -> Result<RosArgs, Problems> {
    split(args, true)
}

fn split(args: impl IntoIterator<Item = String>, is_bridge: bool) -> Result<RosArgs, Problems> {
    let mut parser = ArgParser::default();
    let mut args = args.into_iter().peekable();
    let mut in_ros_args = false;
    while let Some(arg) = args.next() {
        match (in_ros_args, arg.as_str()) {
            (_, "--ros-args") => in_ros_args = true,
            (false, _) if is_bridge => parser.read_outside(arg, &mut args),
            (false, _) => parser.out.rest.push(arg),
            (true, "--") => in_ros_args = false,
            (true, option) if WITH_VALUE.contains(&option) => match args.next() {
                Some(value) => parser.read_option(option, &value),
                None => parser.problems.push(option, "needs a value"),
            },
            // Ignored: the log is on stderr and `/rosout` in any case.
            (true, option) if FLAGS.contains(&option) => {}
            (true, option) => {
                let hint = did_you_mean(option, WITH_VALUE.iter().chain(FLAGS).copied());
                let why =
                    format!("unknown ROS argument{hint} (a single -- ends the ROS arguments)");
                parser.problems.push(option, why);
            }
        }
    }
    parser.finish()
}

/// As [`parse`], for the arguments of the operating system. Errors: arguments that are not UTF-8, and those of [`parse`].
pub fn parse_os(args: impl IntoIterator<Item = OsString>) -> Result<RosArgs, Problems> {
    words(args).and_then(parse)
}

/// Converts the arguments of the operating system to text. Errors: arguments that are not UTF-8.
pub fn words(args: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, Problems> {
    let mut problems = Problems::default();
    let mut words = Vec::new();
    for (number, arg) in args.into_iter().enumerate() {
        match arg.into_string() {
            Ok(word) => words.push(word),
            Err(other) => {
                let found = other.display().to_string();
                let why = format!(
                    "must be UTF-8, is {found:?}: rename the file, or give a link to it that has a name in UTF-8"
                );
                problems.push(format!("argument {}", number + 1), why);
            }
        }
    }
    problems.or(words)
}

/// Returns the parameter that the user probably means by an option such as `--simulator-address`.
fn parameter_of(option: &str) -> Option<String> {
    let name = option.strip_prefix("--")?.replace('-', "_");
    params::is_parameter(&name).then_some(name)
}

/// A rule `[node:]left:=right`.
struct Rule {
    node: Option<String>,
    left: String,
    right: String,
}

#[derive(Default)]
struct ArgParser {
    out: RosArgs,
    /// `-p` and files in order, each with the node that it names; `finish` removes those for other nodes.
    params: Vec<(Option<String>, ParamSource)>,
    /// `-r` in order, for all nodes.
    remaps: Vec<Rule>,
    /// `--log-level` in order, each with the logger that it names; `finish` removes those for other loggers.
    log_levels: Vec<(Option<String>, Option<String>)>,
    /// Config.json files given as arguments or by `--config`.
    configs: Vec<ParamValue>,
    problems: Problems,
}

impl ArgParser {
    /// Reads an argument outside `--ros-args`; leaves subcommands and their own arguments in `rest`.
    fn read_outside(&mut self, arg: String, args: &mut Peekable<impl Iterator<Item = String>>) {
        const RULES: [&str; 4] = ["-p", "--param", "-r", "--remap"];
        const OPTIONS: [&str; 4] = ["--config", "--params-file", "--log-level", "--middleware"];
        let is_first = self.out.rest.is_empty();
        let (option, value) =
            arg.split_once('=').map_or((arg.as_str(), None), |(option, v)| (option, Some(v)));
        let is_rule = RULES.contains(&arg.as_str());
        if is_rule && (is_first || args.peek().is_some_and(|next| next.contains(":=")))
            || OPTIONS.contains(&option)
        {
            match value.map(str::to_owned).or_else(|| args.next()) {
                Some(path) if option == "--config" => self.read_config(path),
                Some(value) => self.read_option(option, &value),
                None => self.problems.push(option, "needs a value"),
            }
        } else if arg.to_lowercase().ends_with(".json") && self.out.rest.len() < 2 {
            self.read_config(arg);
        } else if let Some((name, _)) = arg.split_once(":=").filter(|_| is_first) {
            let remap = match params::is_parameter(name) {
                true => String::new(),
                false => format!(", or for a topic -r {arg}"),
            };
            self.problems.push(&arg, format!("write -p {arg}{remap}"));
        } else if let Some(name) = parameter_of(option).filter(|_| is_first) {
            let value = value.unwrap_or("VALUE");
            self.problems.push(&arg, format!("is a parameter: write -p {name}:={value}"));
        } else {
            self.out.rest.push(arg);
        }
    }

    /// Sets `config` to all files so far; the last value of a parameter wins.
    fn read_config(&mut self, path: String) {
        self.configs.push(ParamValue::Str(path));
        let files = ParamValue::List(self.configs.clone());
        self.params.push((None, ParamSource::Value("config".to_owned(), files)));
    }

    fn read_option(&mut self, option: &str, value: &str) {
        match option {
            "-p" | "--param" => self.read_param(option, value),
            "-r" | "--remap" => self.read_remap(option, value),
            "--params-file" => self.params.push((None, ParamSource::File(PathBuf::from(value)))),
            "--log-level" => self.read_log_level(value),
            "--middleware" => match value {
                "dds" | "zenoh" => self.out.middleware = Some(value.to_owned()),
                _ => self.problems.push(format!("{option} {value}"), "must be dds or zenoh"),
            },
            // Enclaves and log files are not supported.
            _ => {}
        }
    }

    fn read_rule(&mut self, option: &str, text: &str) -> Option<Rule> {
        let Some((left, right)) = text.split_once(":=") else {
            let wanted = if option.contains("-p") { "name:=value" } else { "from:=to" };
            self.problems.push(format!("{option} {text}"), format!("must have the form {wanted}"));
            return None;
        };
        // The colon of `rostopic://name` does not separate a node.
        let (node, left) = match left.split_once(':') {
            Some((node, left)) if !left.starts_with("//") => (Some(node.to_owned()), left),
            _ => (None, left),
        };
        Some(Rule { node, left: left.to_owned(), right: right.to_owned() })
    }

    fn read_param(&mut self, option: &str, text: &str) {
        let Some(rule) = self.read_rule(option, text) else { return };
        let value = match yaml::parse(&rule.right) {
            Ok(Some(node)) => {
                param_file::value_of(&rule.left, &node).map_err(|(_, why)| why.to_owned())
            }
            Ok(None) => Err("has no value; write '' for an empty string".to_owned()),
            Err(error) => Err(error.message),
        };
        match value {
            Ok(value) => self.params.push((rule.node, ParamSource::Value(rule.left, value))),
            Err(why) => {
                self.problems.push(format!("{option} {text}"), format!("{} {why}", rule.left))
            }
        }
    }

    fn read_remap(&mut self, option: &str, text: &str) {
        let Some(mut rule) = self.read_rule(option, text) else { return };
        if rule.left.starts_with("rosservice://") {
            return; // service remapping is not supported
        }
        if let Some(topic) = rule.left.strip_prefix("rostopic://") {
            rule.left = topic.to_owned();
        }
        let result = match rule.left.as_str() {
            "__node" | "__name" => names::check_token(&rule.right),
            "__ns" => names::check_namespace(&rule.right),
            left => names::check_topic(left).and_then(|()| names::check_topic(&rule.right)),
        };
        match result {
            Ok(()) => self.remaps.push(rule),
            Err(why) => self.problems.push(format!("{option} {text}"), why),
        }
    }

    /// Reads `level` or `logger:=level`.
    fn read_log_level(&mut self, text: &str) {
        let (logger, level) = match text.split_once(":=") {
            Some((logger, level)) => (Some(logger.to_owned()), level),
            None => (None, text),
        };
        const LEVELS: &[&str] = &["debug", "info", "warn", "error", "fatal", "unset"];
        let level = match level.to_lowercase().as_str() {
            "unset" => None,
            "fatal" => Some("error".to_owned()),
            known if LEVELS.contains(&known) => Some(known.to_owned()),
            other => {
                let hint = did_you_mean(other, LEVELS.iter().copied());
                let why = format!("must be one of {}, is {level:?}{hint}", LEVELS.join(", "));
                return self.problems.push("--log-level", why);
            }
        };
        self.log_levels.push((logger, level));
    }

    /// Finds the node's name first, because the other rules apply only to the node that they name.
    fn finish(mut self) -> Result<RosArgs, Problems> {
        let is_name = |rule: &Rule| matches!(rule.left.as_str(), "__node" | "__name");
        let is_for = |node: &Option<String>, name: &str| {
            node.as_deref().is_none_or(|node| node.trim_start_matches('/') == name)
        };
        let name = self.remaps.iter().find(|rule| is_name(rule) && is_for(&rule.node, NODE_NAME));
        self.out.node_name = name.map(|rule| rule.right.clone());
        let name = self.out.node_name.clone().unwrap_or_else(|| NODE_NAME.to_owned());
        let is_for_this = |node: &Option<String>| is_for(node, &name);
        let rule = self.remaps.iter().find(|r| r.left == "__ns" && is_for_this(&r.node));
        self.out.namespace = rule.map(|rule| rule.right.clone());
        // rcl names the logger of `/ns/node` `ns.node`.
        let namespace = self.out.namespace.as_deref().unwrap_or_default();
        let full = format!("{namespace}/{name}").trim_start_matches('/').replace('/', ".");
        let is_ours = |logger: &str| logger == name || logger == full;
        let mut levels = self.log_levels.into_iter().rev();
        let level = levels.find(|(logger, _)| logger.as_deref().is_none_or(is_ours));
        self.out.log_level = level.and_then(|(_, level)| level);
        let is_remap = |rule: &Rule| !rule.left.starts_with("__") && is_for_this(&rule.node);
        let remaps = self.remaps.into_iter().filter(is_remap);
        self.out.remaps = remaps.map(|rule| (rule.left, rule.right)).collect();
        let params = self.params.into_iter().filter(|(node, _)| is_for_this(node));
        self.out.sources = params.map(|(_, source)| source).collect();
        self.problems.or(self.out)
    }
}
