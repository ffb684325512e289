//! The tables as text: `--help`, `docs/parameters.md`, `config/bridge.yaml`.
use super::families::FAMILIES;
use super::{
    DefaultValue, Kind, PARAMETERS, ParameterSpec, QOS_PARAMETERS, Qos, QosGroup, QosPreset,
};
use std::fmt::Write as _;

const WIDTH: usize = 100;

/// Returns the parameter section of `--help`.
pub fn render_help() -> String {
    let mut out = String::from("Parameters (-p NAME:=VALUE; docs/parameters.md has more):\n");
    for (group, rows) in groups() {
        let _ = writeln!(out, "\n  {group}");
        for row in rows {
            help_row(&mut out, row.name, row);
        }
    }
    for family in FAMILIES {
        let _ = writeln!(out, "\n  One {}", family.what);
        for row in family.rows {
            help_row(&mut out, &family.named(row), row);
        }
    }
    let _ = writeln!(out, "\n  Quality of service");
    let groups: Vec<_> = QosGroup::ALL.iter().map(|group| group.name()).collect();
    let policies: Vec<_> = QOS_PARAMETERS.iter().map(|row| row.name).collect();
    let text = format!("{}; groups: {}.", policies.join(", "), groups.join(", "));
    help_text(&mut out, "qos.<group>.<policy>", &text);
    let text = "The same policies for one topic, as in rclcpp.";
    help_text(&mut out, "qos_overrides.<topic>.publisher.<policy>", text);
    out
}

fn help_row(out: &mut String, name: &str, row: &ParameterSpec) {
    let default = match row.default {
        DefaultValue::Str("") | DefaultValue::Empty | DefaultValue::File => String::new(),
        default @ DefaultValue::Floats(_) => format!(" {}", plain(default)),
        default => format!(" [{}]", plain(default)),
    };
    help_text(out, name, &format!("{}{default}", row.doc));
}

fn help_text(out: &mut String, name: &str, text: &str) {
    const COLUMN: usize = 30;
    let mut lines = wrap(text, WIDTH - COLUMN).into_iter();
    if name.len() + 6 > COLUMN {
        let _ = writeln!(out, "    {name}");
    } else {
        let _ = writeln!(
            out,
            "    {name:width$}{}",
            lines.next().unwrap_or_default(),
            width = COLUMN - 4
        );
    }
    for line in lines {
        let _ = writeln!(out, "{:COLUMN$}{line}", "");
    }
}

/// Returns `docs/parameters.md`.
pub fn render_markdown() -> String {
    let mut out = String::from(
        "<!-- Generated from src/config/params by `make docs`; edit there. -->\n\
         # Parameters\n\n\
         Values come from `--ros-args -p name:=value` and `--params-file file.yaml`, in the order of the command line; a later \
         one wins. Unknown names, wrong types and values out of range end the start with all of them listed. Arrays are written \
         as in YAML, `-p vehicles:=[1,2]`; where a real number is expected an integer will do. `config/bridge.yaml` has every \
         parameter with its default.\n\n\
         ## While the bridge runs\n\n\
         The node has the parameter services of every ROS 2 node, so `ros2 param list`, `get`, `set`, `describe` and `dump` and \
         rqt work; every change is on `/parameter_events`. What is marked *live* acts at once: a sensor's field of view, rate, \
         position or orientation is requested from RflySim3D anew, `camera_info`, TF and the URDF follow; with another size, type or \
         vehicle it is closed and opened again ([reports.md](reports.md#size-type-and-vehicle)). Everything else is \
         read-only and the answer to `set` says how to restart with it. `set_parameters_atomically` takes all values or none; a \
         refused value changes nothing. Without ROS on the bridge's machine the services answer clients on rmw_cyclonedds_cpp \
         ([dds.md](dds.md#services)).\n\n\
         ```sh\n\
         ros2 param set /rfly_bridge sensor0.fov_deg 60.0\n\
         ros2 param set /rfly_bridge sensor0.orientation_deg '[0.0, -30.0, 0.0]'\n\
         ros2 param describe /rfly_bridge sensor0.fov_deg\n\
         ```\n\n\
         `camera_info` and TF change with the first frame that shows the new values; frames that may show either are not \
         published ([reports.md](reports.md#changes-of-a-running-camera)).\n",
    );
    for (group, rows) in groups() {
        let _ = writeln!(out, "\n## {group}\n\n{HEAD}");
        for row in rows {
            markdown_row(&mut out, row.name, row);
        }
    }
    for family in FAMILIES {
        let (what, about) = (family.what, family.about);
        let _ = writeln!(out, "\n## One {what}\n\n{about}\n\n{HEAD}");
        for row in family.rows {
            markdown_row(&mut out, &family.named(row), row);
        }
    }
    markdown_qos(&mut out);
    out
}

const HEAD: &str = "| Parameter | Type | Default | Live | Meaning |\n|---|---|---|---|---|";

fn markdown_row(out: &mut String, name: &str, row: &ParameterSpec) {
    let default = match row.default {
        DefaultValue::Str("") | DefaultValue::Empty => String::new(),
        DefaultValue::File => "Config.json".to_owned(),
        default => format!("`{}`", plain(default)),
    };
    let _ = writeln!(
        out,
        "| `{name}` | {} | {default} | {} | {} |",
        kind_text(row),
        if row.live { "yes" } else { "" },
        row.doc.replace('|', "\\|")
    );
}

fn markdown_qos(out: &mut String) {
    let _ = writeln!(
        out,
        "\n## Quality of service\n\n\
         Every group offers what most readers ask for: reliable, so that readers with either reliability match, and shallow, so \
         that a slow reader costs neither memory nor latency. Publishing never waits for a reader.\n\n\
         `qos.<group>.<policy>` changes all topics of a group, `qos_overrides.<topic>.publisher.<policy>` (the names of rclcpp, \
         fully qualified topic after remapping) changes one topic and wins. A `preset` is applied before the other policies.\n\n\
         | Group | Topics | Reliability | Durability | History | Depth |\n|---|---|---|---|---|---|"
    );
    for group in QosGroup::ALL {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} |",
            group.name(),
            group.doc(),
            qos_cells(group.default_qos())
        );
    }
    let _ = writeln!(out, "\n| Policy | Type | Meaning |\n|---|---|---|");
    for row in QOS_PARAMETERS {
        let _ = writeln!(out, "| `{}` | {} | {} |", row.name, kind_text(row), row.doc);
    }
    let _ = writeln!(
        out,
        "\n| Preset | Reliability | Durability | History | Depth |\n|---|---|---|---|---|"
    );
    for preset in
        [QosPreset::Default, QosPreset::SensorData, QosPreset::SystemDefault, QosPreset::Latched]
    {
        let _ = writeln!(out, "| `{}` | {} |", preset.name(), qos_cells(Qos::preset(preset)));
    }
}

fn qos_cells(qos: Qos) -> String {
    format!(
        "{} | {} | {} | {}",
        qos.reliability.name(),
        qos.durability.name(),
        qos.history.name(),
        qos.depth
    )
}

/// Returns `config/bridge.yaml`: every parameter, its explanation and its default.
pub fn render_yaml() -> String {
    let mut out = String::from(
        "# Every parameter of rfly_bridge with its default: rfly_bridge --ros-args --params-file bridge.yaml\n\
         # Generated from src/config/params by `make docs`; copy it and keep what differs.\n\
         /**:\n  ros__parameters:\n",
    );
    for (group, rows) in groups() {
        let _ = writeln!(out, "    # ---- {group} ----\n");
        for row in rows {
            yaml_row(&mut out, "", row);
        }
    }
    for family in FAMILIES {
        let (what, example) = (family.what, family.example);
        let (id, prefix) = (family.id, format!("# {what}{example}."));
        let _ = writeln!(out, "    # ---- One {what}, here {id} {example} ----\n");
        for row in family.rows {
            yaml_row(&mut out, &prefix, row);
        }
    }
    let _ = writeln!(out, "    # ---- Quality of service of each group ----\n");
    let policies = QOS_PARAMETERS.iter().map(|row| format!("{}: {}", row.name, kind_text(row)));
    for policy in policies {
        yaml_comment(&mut out, &policy);
    }
    for group in QosGroup::ALL {
        let qos = group.default_qos();
        let _ = writeln!(out, "\n    # {}", group.doc().replace('`', ""));
        let _ = writeln!(
            out,
            "    qos.{}: {{reliability: {}, durability: {}, history: {}, depth: {}}}",
            group.name(),
            qos.reliability.name(),
            qos.durability.name(),
            qos.history.name(),
            qos.depth
        );
    }
    let _ = writeln!(
        out,
        "\n    # One topic, as in rclcpp:\n    # qos_overrides./tf.publisher.depth: 10"
    );
    out
}

fn yaml_row(out: &mut String, prefix: &str, row: &ParameterSpec) {
    yaml_comment(out, &format!("{} ({})", row.doc, kind_text(row)));
    let default = match row.default {
        DefaultValue::File => "as in Config.json".to_owned(),
        default => default.value().to_string(),
    };
    let _ = writeln!(out, "    {prefix}{}: {default}\n", row.name);
}

fn yaml_comment(out: &mut String, text: &str) {
    for line in wrap(&text.replace('`', ""), WIDTH - 6) {
        let _ = writeln!(out, "    # {line}");
    }
}

/// Rows by group, in the order of the table.
fn groups() -> Vec<(&'static str, Vec<&'static ParameterSpec>)> {
    let mut groups: Vec<(&str, Vec<&ParameterSpec>)> = Vec::new();
    for row in PARAMETERS {
        match groups.iter_mut().find(|(group, _)| *group == row.group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((row.group, vec![row])),
        }
    }
    groups
}

/// Default without YAML quotes.
fn plain(default: DefaultValue) -> String {
    match default {
        DefaultValue::Str(text) => text.to_owned(),
        other => other.value().to_string(),
    }
}

/// Type, range and unit in a few words.
pub(super) fn kind_text(row: &ParameterSpec) -> String {
    let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
    match row.kind {
        Kind::Bool => "true or false".to_owned(),
        Kind::Int(min, max) => format!("integer, {min} to {max}{unit}"),
        Kind::Float(min, max) => format!("number, {min} to {max}{unit}"),
        Kind::Str | Kind::Link => "text".to_owned(),
        Kind::Topic => "topic name".to_owned(),
        Kind::Frame => "frame id".to_owned(),
        Kind::Choice(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        Kind::Address => "IPv4 address".to_owned(),
        Kind::Paths => "path or array of paths".to_owned(),
        Kind::Networks => "address, network or any, or an array of them".to_owned(),
        Kind::Names(longest) => format!("array of names of at most {longest} bytes"),
        Kind::Ints(min, max) => format!("array of integers, {min} to {max}"),
        Kind::Covariance => format!("array of 3 or 9 numbers,{unit}"),
        Kind::Vector(min, max) => format!("array of 3 numbers, {min} to {max}{unit}"),
        Kind::Reals(most) => format!("array of at most {most} numbers{unit}"),
    }
}

/// Breaks text at spaces into lines of at most `width` characters where words allow.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
