//! Definitions of the message types as text, as recordings and viewers want them.
use std::collections::BTreeSet;

/// Every type of the table and all that they contain; `scripts/definitions.py` writes it.
const ALL: &str = include_str!("definitions.txt");

const SEPARATOR: &str =
    "================================================================================\n";

/// The definition of a message type with those of all types that it contains, as rosbag2 writes it (`ros2msg`): after the
/// fields of the type itself, a line of `=`, `MSG: package/Name` and the fields for each other type. `None` for an unknown type.
pub fn definition(type_name: &str) -> Option<String> {
    let name = type_name.replacen("/msg/", "/", 1);
    let mut text = fields(&name)?.to_owned();
    let mut known = BTreeSet::from([name.as_str()]);
    let mut open = contained(fields(&name)?);
    while !open.is_empty() {
        let mut next = Vec::new();
        for name in open {
            if known.insert(name) {
                let fields = fields(name)?;
                text += &format!("{SEPARATOR}MSG: {name}\n{fields}");
                next.extend(contained(fields));
            }
        }
        open = next;
    }
    Some(text)
}

/// The fields of one type, `package/Name`.
fn fields(name: &str) -> Option<&'static str> {
    ALL.split(SEPARATOR).find_map(|part| {
        let (head, fields) = part.split_once('\n')?;
        (head.strip_prefix("MSG: ")? == name).then_some(fields)
    })
}

/// The types of fields that are messages.
fn contained(fields: &str) -> Vec<&str> {
    let types = fields.lines().filter_map(|line| line.split(' ').next());
    let names = types.filter(|name| name.contains('/'));
    names
        .map(|name| name.split('[').next().unwrap_or(name))
        .collect()
}
