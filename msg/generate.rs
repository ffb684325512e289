//! From interface files to Rust: structures with serde, definitions as text, and type hashes (REP 2016, RIHS01).
//!
//! `build.rs` hands over the files and writes what comes out; nothing here touches the disk. What rosidl knows and no file
//! uses is refused or does not compile: `wstring`, constants and defaults that are strings.
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Before the largest length of a string.
const BOUNDED: &str = "string<=";

/// Rust type of a field that is no structure, and its number in the type description.
fn primitive(kind: &str) -> Option<(&'static str, u8)> {
    Some(match kind {
        "int8" => ("i8", 2),
        "uint8" | "char" => ("u8", 3),
        "int16" => ("i16", 4),
        "uint16" => ("u16", 5),
        "int32" => ("i32", 6),
        "uint32" => ("u32", 7),
        "int64" => ("i64", 8),
        "uint64" => ("u64", 9),
        "float32" => ("f32", 10),
        "float64" => ("f64", 11),
        "bool" => ("bool", 15),
        "byte" => ("u8", 16),
        "string" => ("::std::string::String", 17),
        bounded if bounded.starts_with(BOUNDED) => ("::std::string::String", 21),
        _ => return None,
    })
}

/// What `package/srv/Name_Request` is called in Rust: without `_`, as in the crate that has the other messages.
fn rust_name(name: &str) -> String {
    match name.contains("/srv/") {
        true => name.replace("_Re", "Re"),
        false => name.to_owned(),
    }
}

struct Field {
    name: String,
    /// A primitive, or the full name of a structure.
    base: String,
    /// Of an array: `[3]`, of a sequence: `[]` or `[<=3]`.
    bounds: String,
    /// With the space before it, or nothing.
    default: String,
}

impl Field {
    /// Reads `package/Name[<=2] name default`; a name without a package is of `package`.
    fn parse(package: &str, kind: &str, rest: &str) -> Self {
        let (base, bounds) = kind.split_at(kind.find('[').unwrap_or(kind.len()));
        let base = match base.split('/').collect::<Vec<_>>()[..] {
            [name] if primitive(name).is_none() => format!("{package}/msg/{name}"),
            [package, name] => format!("{package}/msg/{name}"),
            _ => base.to_owned(),
        };
        let (name, default) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        Self { name: name.to_owned(), base, bounds: bounds.to_owned(), default: default.to_owned() }
    }

    /// The field in a type description.
    fn description(&self) -> String {
        let (number, nested) =
            primitive(&self.base).map_or((1, &*self.base), |(_, number)| (number, ""));
        let bounds = self.bounds.trim_matches(['[', ']']);
        let (number, capacity) = match bounds.strip_prefix("<=") {
            Some(most) => (number + 96, most),
            None if self.bounds.is_empty() => (number, "0"),
            None if bounds.is_empty() => (number + 144, "0"),
            None => (number + 48, bounds),
        };
        let string_capacity = self.base.strip_prefix(BOUNDED).unwrap_or("0");
        let capacities = format!(r#""capacity": {capacity}, "string_capacity": {string_capacity}"#);
        format!(
            r#"{{"name": "{}", "type": {{"type_id": {number}, {capacities}, "nested_type_name": "{nested}"}}}}"#,
            self.name
        )
    }

    /// Its type in a structure.
    fn rust(&self) -> String {
        let nested = || format!("crate::msgs::{}", rust_name(&self.base).replace('/', "::"));
        let base = primitive(&self.base).map_or_else(nested, |(rust, _)| rust.to_owned());
        match self.bounds.trim_matches(['[', ']']) {
            "" if self.bounds.is_empty() => base,
            length if length.parse::<u16>().is_ok() => format!("[{base}; {length}]"),
            _ => format!("Vec<{base}>"),
        }
    }
}

/// A message, a part of a service or of an action, or one of these as a whole.
#[derive(Default)]
struct Structure {
    fields: Vec<Field>,
    /// The constants in Rust.
    constants: String,
    /// The lines without comments, and with the packages of all types.
    text: String,
    /// A service or an action: has a description, but in Rust no fields.
    whole: bool,
}

impl Structure {
    fn parse(package: &str, file: &str) -> Self {
        let mut parsed = Self::default();
        for line in file.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (kind, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            if let Some((name, value)) = rest.split_once('=') {
                let (name, value) = (name.trim(), value.trim());
                let (rust, _) = primitive(kind).unwrap_or_else(|| panic!("the constant {line}"));
                parsed.constants += &format!("pub const {name}: {rust} = {value}; ");
                parsed.text += &format!("{kind} {name}={value}\n");
            } else if !line.is_empty() {
                let field = Field::parse(package, kind, rest.trim());
                let base = field.base.replacen("/msg/", "/", 1);
                let (bounds, name, default) = (&field.bounds, &field.name, &field.default);
                parsed.text += &format!("{base}{bounds} {name}{default}\n");
                parsed.fields.push(field);
            }
        }
        parsed
    }

    /// The structure in a type description.
    fn description(&self, name: &str) -> String {
        let mut fields: Vec<_> = self.fields.iter().map(Field::description).collect();
        if fields.is_empty() {
            // IDL knows no empty structure.
            let filler = Field::parse("", "uint8", "structure_needs_at_least_one_member");
            fields.push(filler.description());
        }
        let fields = fields.join(", ");
        format!(r#"{{"type_name": "{name}", "fields": [{fields}]}}"#)
    }

    fn rust(&self, name: &str) -> String {
        const DERIVED: &str = "Clone, Debug, PartialEq, ::serde::Deserialize, ::serde::Serialize";
        if self.whole {
            return format!("#[derive(Debug)] pub struct {name};\n");
        }
        let (mut fields, mut values) = (String::new(), String::new());
        for field in &self.fields {
            let member = if field.name == "type" { "type_" } else { &field.name };
            let value = Some(field.default.trim()).filter(|value| !value.is_empty());
            let (name, kind) = (&field.name, field.rust());
            fields += &format!("#[serde(rename = {name:?})] pub {member}: {kind}, ");
            values += &format!("{member}: {}, ", value.unwrap_or("Default::default()"));
        }
        let (mut derived, mut default) = ("Default", String::new());
        if self.fields.iter().any(|field| !field.default.is_empty()) {
            derived = "";
            default = format!(
                "impl Default for {name} {{ fn default() -> Self {{ Self {{ {values}}} }} }}\n"
            );
        }
        format!(
            "#[derive({DERIVED}, {derived})] pub struct {name} {{ {fields}}}\n{default}\
             impl {name} {{ {}}}\n",
            self.constants
        )
    }
}

/// What rosidl adds to services and actions.
const EVENT: &str =
    "service_msgs/ServiceEventInfo info\n*_Request[<=1] request\n*_Response[<=1] response";
const SERVICE: &str =
    "*_Request request_message\n*_Response response_message\n*_Event event_message";
const ACTION: &str =
    "*_Goal goal\n*_Result result\n*_Feedback feedback\n*_SendGoal send_goal_service
*_GetResult get_result_service\n*_FeedbackMessage feedback_message";
const GOAL_ID: &str = "unique_identifier_msgs/UUID goal_id";
const ACCEPTED: &str = "bool accepted\nbuiltin_interfaces/Time stamp";

/// Everything that interface files describe, and what rosidl derives from it, by full name.
#[derive(Default)]
pub(crate) struct Interfaces(BTreeMap<String, Structure>);

impl Interfaces {
    /// Adds files that are one text: a line `== package/kind/Name` before each.
    pub(crate) fn add_all(&mut self, text: &str) {
        for file in text.split("\n== ").skip(1) {
            let (name, file) = file.split_once('\n').unwrap_or((file, ""));
            self.add(name, file);
        }
    }

    /// Adds the file of `package/kind/Name`.
    pub(crate) fn add(&mut self, name: &str, file: &str) {
        let kind = name.split('/').nth(1).unwrap_or_default();
        let file = format!("\n{file}\n");
        match (kind, &file.split("\n---\n").collect::<Vec<_>>()[..]) {
            ("msg", [file]) => self.part(name, "", file),
            ("srv", [request, response]) => self.service(name, request, response),
            ("action", [goal, result, feedback]) => {
                let carried = format!("{GOAL_ID}\n{name}_Feedback feedback");
                self.part(name, "_Goal", goal);
                self.part(name, "_Result", result);
                self.part(name, "_Feedback", feedback);
                self.part(name, "_FeedbackMessage", &carried);
                let send = format!("{GOAL_ID}\n{name}_Goal goal");
                self.service(&format!("{name}_SendGoal"), &send, ACCEPTED);
                let result = format!("int8 status\n{name}_Result result");
                self.service(&format!("{name}_GetResult"), GOAL_ID, &result);
                self.part(name, "", ACTION);
            }
            (_, parts) => panic!("{name} has {} parts", parts.len()),
        }
    }

    fn service(&mut self, name: &str, request: &str, response: &str) {
        self.part(name, "_Request", request);
        self.part(name, "_Response", response);
        self.part(name, "_Event", EVENT);
        self.part(name, "", SERVICE);
    }

    /// Adds a part of a file, or with `""` the whole; `*` in the text stands for the name of the whole.
    fn part(&mut self, name: &str, part: &str, text: &str) {
        let package = name.split('/').next().unwrap_or_default();
        let mut structure = Structure::parse(package, &text.replace('*', name));
        structure.whole = part.is_empty() && !name.contains("/msg/");
        self.0.insert(format!("{name}{part}"), structure);
    }

    fn get(&self, name: &str) -> &Structure {
        let found = self.0.get(name);
        found.unwrap_or_else(|| panic!("msg/definitions.txt lacks {name}"))
    }

    /// A structure and all that it contains, nearest first.
    fn contained<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let mut known = BTreeSet::from([name]);
        let mut found = vec![name];
        let mut next = 0;
        while let Some(name) = found.get(next).copied() {
            let fields = self.get(name).fields.iter().map(|field| field.base.as_str());
            let nested = fields.filter(|base| primitive(base).is_none());
            found.extend(nested.filter(|name| known.insert(name)));
            next += 1;
        }
        found
    }

    /// Type hash (RIHS01) in hexadecimal.
    fn hash(&self, name: &str) -> String {
        let describe = |name| self.get(name).description(name);
        let mut contained = self.contained(name).split_off(1);
        contained.sort_unstable();
        let contained: Vec<_> = contained.into_iter().map(describe).collect();
        let (own, others) = (describe(name), contained.join(", "));
        let whole =
            format!(r#"{{"type_description": {own}, "referenced_type_descriptions": [{others}]}}"#);
        format!("{:x}", Sha256::digest(whole))
    }

    /// The definition of a message, as rosbag2 writes it (`ros2msg`).
    fn definition(&self, name: &str) -> String {
        let mut text = self.get(name).text.clone();
        for name in &self.contained(name)[1..] {
            let (line, head) = ("=".repeat(80), name.replacen("/msg/", "/", 1));
            text += &format!("{line}\nMSG: {head}\n{}", self.get(name).text);
        }
        text
    }

    /// A Rust array in the order of the names: name, whether it begins with a header, hash, and of messages the definition.
    pub(crate) fn table(&self) -> String {
        let row = |(name, structure): (&String, &Structure)| {
            let first = structure.fields.first().map(|first| first.base.as_str());
            let header = first == Some("std_msgs/msg/Header");
            let hash = self.hash(name);
            let definition = name.contains("/msg/").then(|| self.definition(name));
            format!("({name:?}, {header}, {hash:?}, {definition:?}),\n")
        };
        format!("[{}]", self.0.iter().map(row).collect::<String>())
    }

    /// The structures of a package as Rust modules.
    pub(crate) fn structures(&self, package: &str) -> String {
        let module = |kind: &str| {
            let item = |(name, structure): (&String, &Structure)| {
                let name = rust_name(name);
                let name = name.strip_prefix(&format!("{package}/{kind}/"))?;
                (!name.ends_with("_Event")).then(|| structure.rust(name))
            };
            let items: String = self.0.iter().filter_map(item).collect();
            format!("pub mod {kind} {{\n{items}}}\n")
        };
        ["msg", "srv", "action"].map(module).concat()
    }
}
