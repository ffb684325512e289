//! Renders the tables as `--help`, `docs/parameters.md` and `config/bridge.yaml`.
use super::choices::Choice as _;
use super::families::{FAMILIES, Family};
use super::{
    PARAMETERS, ParamValue, ParameterSpec, QOS_PARAMETERS, Qos, QosGroup, QosPreset, ValueKind,
};
use std::fmt::Write as _;

const WIDTH: usize = 100;

/// Returns the parameter section of `--help`.
pub fn render_help() -> String {
    let mut out = String::from("Parameters (-p NAME:=VALUE; docs/parameters.md has more):\n");
    for Section { title, family, rows } in sections() {
        let _ = writeln!(out, "\n  {title}");
        for row in rows {
            write_help_row(&mut out, &full_name(family, row), row);
        }
    }
    let _ = writeln!(out, "\n  Quality of service");
    let groups: Vec<_> = QosGroup::ALL.iter().map(|group| group.name()).collect();
    let policies: Vec<_> = QOS_PARAMETERS.iter().map(|row| row.name).collect();
    let text = format!("{}; groups: {}.", policies.join(", "), groups.join(", "));
    write_help_entry(&mut out, "qos.<group>.<policy>", &text);
    let text = "The same policies for one topic, as in rclcpp.";
    write_help_entry(&mut out, "qos_overrides.<topic>.publisher.<policy>", text);
    out
}

fn write_help_row(out: &mut String, name: &str, row: &ParameterSpec) {
    let default = match (unquoted_default(row), &row.default) {
        (text, _) if text.is_empty() => text,
        (text, Some(ParamValue::List(_))) => format!(" {text}"),
        (text, _) => format!(" [{text}]"),
    };
    write_help_entry(out, name, &format!("{}{default}", row.doc));
}

fn write_help_entry(out: &mut String, name: &str, text: &str) {
    const COLUMN: usize = 30;
    let mut lines = wrap(text, WIDTH - COLUMN).into_iter();
    let first = if name.len() + 6 > COLUMN { None } else { lines.next() };
    let line = format!("    {name:width$}{}", first.unwrap_or_default(), width = COLUMN - 4);
    let _ = writeln!(out, "{}", line.trim_end());
    for line in lines {
        let _ = writeln!(out, "{:COLUMN$}{line}", "");
    }
}

/// Returns `docs/parameters.md`.
pub fn render_markdown() -> String {
    let mut out = String::from(
        "<!-- Generated from src/config/params by `make docs`; edit there. -->\n\
         # Parameters\n\n\
         Values come from `-p name:=value` and `--params-file file.yaml`, in the order of the command line; a later \
         one wins ([command_line.md](command_line.md#starting-the-bridge)). With unknown names, wrong types or \
         values out of range the bridge does not start, and lists all of them. Arrays are written as in YAML, and quoted, \
         `-p 'vehicles:=[1, 2]'`; an integer is accepted as a real number. `config/bridge.yaml` has every \
         parameter with its default.\n\n\
         ## While the bridge runs\n\n\
         The node has the parameter services of every ROS 2 node, so `ros2 param list`, `get`, `set`, `describe` and `dump` and \
         rqt work; every change is on `/parameter_events`. A parameter marked *live* acts at once: the sensor is requested from RflySim3D \
         with its new field of view, rate, position or orientation, and `camera_info`, TF and the URDF follow; with another size, type \
         or vehicle it is closed and opened again ([reports.md](reports.md#size-type-and-vehicle)). The others are \
         read-only, and the answer to `set` says how to restart with the value. `set_parameters_atomically` takes all values or none; \
         a refused value changes nothing. Without ROS on the bridge's machine the services answer clients on rmw_cyclonedds_cpp \
         ([dds.md](dds.md#services)).\n\n\
         ```sh\n\
         # Without ROS: \"rfly_bridge param\" for \"ros2 param\".\n\
         ros2 param set /rfly_bridge sensor0.fov_deg 60.0\n\
         ros2 param set /rfly_bridge sensor0.orientation_deg '[0.0, -30.0, 0.0]'\n\
         ros2 param describe /rfly_bridge sensor0.fov_deg\n\
         ```\n\n\
         `camera_info` and TF change with the first frame that shows the new values; frames that may show either are not \
         published ([reports.md](reports.md#changes-of-a-running-camera)).\n",
    );
    for Section { title, family, rows } in sections() {
        let about = family.map_or_else(String::new, |family| format!("{}\n\n", family.about));
        let _ = writeln!(out, "\n## {title}\n\n{about}{HEAD}");
        for row in rows {
            write_markdown_row(&mut out, &full_name(family, row), row);
        }
    }
    write_markdown_qos(&mut out);
    out
}

const HEAD: &str = "| Parameter | Type | Default | Live | Meaning |\n|---|---|---|---|---|";

fn write_markdown_row(out: &mut String, name: &str, row: &ParameterSpec) {
    let default = match unquoted_default(row) {
        _ if row.default.is_none() => "Config.json".to_owned(),
        text if text.is_empty() => text,
        text => format!("`{text}`"),
    };
    let _ = writeln!(
        out,
        "| `{name}` | {} | {default} | {} | {} |",
        kind_text(row),
        if row.live { "yes" } else { "" },
        row.doc.replace('|', "\\|")
    );
}

fn write_markdown_qos(out: &mut String) {
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
        let (name, doc, cells) = (group.name(), group.doc(), qos_cells(group.default_qos()));
        let _ = writeln!(out, "| `{name}` | {doc} | {cells} |");
    }
    let _ = writeln!(out, "\n| Policy | Type | Meaning |\n|---|---|---|");
    for row in QOS_PARAMETERS.iter() {
        let _ = writeln!(out, "| `{}` | {} | {} |", row.name, kind_text(row), row.doc);
    }
    let head = "| Preset | Reliability | Durability | History | Depth |\n|---|---|---|---|---|";
    let _ = writeln!(out, "\n{head}");
    for (name, preset) in QosPreset::CHOICES {
        let _ = writeln!(out, "| `{name}` | {} |", qos_cells(Qos::preset(*preset)));
    }
}

fn qos_cells(qos: Qos) -> String {
    let (reliability, durability) = (qos.reliability.name(), qos.durability.name());
    format!("{reliability} | {durability} | {} | {}", qos.history.name(), qos.depth)
}

/// Returns `config/bridge.yaml`: every parameter, its explanation and its default.
pub fn render_yaml() -> String {
    let mut out = String::from(
        "# Every parameter of rfly_bridge with its default: rfly_bridge --params-file bridge.yaml\n\
         # Generated from src/config/params by `make docs`; copy it and keep what differs.\n\
         /**:\n  ros__parameters:\n",
    );
    for Section { title, family, rows } in sections() {
        let (here, prefix) = family.map_or_else(Default::default, |family| {
            let Family { prefix, id, example, .. } = family;
            (format!(", here {id} {example}"), format!("# {prefix}{example}."))
        });
        let _ = writeln!(out, "    # ---- {title}{here} ----\n");
        for row in rows {
            write_yaml_row(&mut out, &prefix, row);
        }
    }
    let _ = writeln!(out, "    # ---- Quality of service of each group ----\n");
    for row in QOS_PARAMETERS.iter() {
        write_yaml_comment(&mut out, &format!("{}: {}", row.name, kind_text(row)));
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

fn write_yaml_row(out: &mut String, prefix: &str, row: &ParameterSpec) {
    write_yaml_comment(out, &format!("{} ({})", row.doc, kind_text(row)));
    let default = row.default.as_ref();
    let default = default.map_or_else(|| "as in Config.json".to_owned(), ToString::to_string);
    let _ = writeln!(out, "    {prefix}{}: {default}\n", row.name);
}

fn write_yaml_comment(out: &mut String, text: &str) {
    for line in wrap(&text.replace('`', ""), WIDTH - 6) {
        let _ = writeln!(out, "    # {line}");
    }
}

struct Section {
    title: String,
    family: Option<&'static Family>,
    rows: Vec<&'static ParameterSpec>,
}

fn sections() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for row in PARAMETERS.iter() {
        match sections.iter_mut().find(|section| section.title == row.group) {
            Some(section) => section.rows.push(row),
            None => sections.push(Section {
                title: row.group.to_owned(),
                family: None,
                rows: vec![row],
            }),
        }
    }
    sections.extend(FAMILIES.iter().map(|family| Section {
        title: format!("One {}", family.prefix),
        family: Some(family),
        rows: family.rows.iter().collect(),
    }));
    sections
}

fn full_name(family: Option<&Family>, row: &ParameterSpec) -> String {
    family.map_or_else(|| row.name.to_owned(), |family| family.full_name(row))
}

/// Returns the default without YAML quotes; empty for an empty text or array, and for a default of Config.json.
fn unquoted_default(row: &ParameterSpec) -> String {
    match &row.default {
        Some(ParamValue::Str(text)) => text.clone(),
        Some(ParamValue::List(values)) if values.is_empty() => String::new(),
        None => String::new(),
        Some(other) => other.to_string(),
    }
}

/// Returns type, range and unit in a few words.
pub(super) fn kind_text(row: &ParameterSpec) -> String {
    let unit = row.unit_suffix();
    match row.kind {
        ValueKind::Bool => "true or false".to_owned(),
        ValueKind::Int(min, max) => format!("integer, {min} to {max}{unit}"),
        ValueKind::Float(min, max) => format!("number, {min} to {max}{unit}"),
        ValueKind::Str | ValueKind::Link => "text".to_owned(),
        ValueKind::Topic => "topic name".to_owned(),
        ValueKind::Frame => "frame id".to_owned(),
        ValueKind::Choice(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        ValueKind::Address => "IPv4 address".to_owned(),
        ValueKind::Paths => "path or array of paths".to_owned(),
        ValueKind::Networks => "address, network or any, or an array of them".to_owned(),
        ValueKind::Names(longest) => format!("array of names of at most {longest} bytes"),
        ValueKind::Ints(min, max) => format!("array of integers, {min} to {max}"),
        ValueKind::Covariance => format!("array of 3 or 9 numbers,{unit}"),
        ValueKind::Vector(min, max) => format!("array of 3 numbers, {min} to {max}{unit}"),
        ValueKind::Reals(most) => format!("array of at most {most} numbers{unit}"),
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
