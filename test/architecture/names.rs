//! One name, one type: a reader who searches for a name finds what it means.
use super::{identifier, nothing, sources};
use std::collections::BTreeMap;

/// How many types may share a name: a type and, say, its builder's or its test's twin in another subsystem.
const MOST: usize = 2;
/// Each layer has its own error.
const SHARED: [&str; 1] = ["Error"];

/// The type that a line of code declares; associated types of traits belong to their trait.
fn declared(line: &str) -> Option<String> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => code,
    };
    let (keyword, name) = code.split_once(' ')?;
    let declares = ["struct", "enum", "trait", "union"].contains(&keyword)
        || keyword == "type" && !line.starts_with(' ');
    declares.then(|| identifier(name)).filter(|name| !name.is_empty())
}

#[test]
fn no_type_name_is_declared_more_than_twice() {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for source in sources() {
        for name in source.code.lines().filter_map(declared) {
            places.entry(name).or_default().push(source.path.clone());
        }
    }
    let often = places
        .into_iter()
        .filter(|(name, places)| places.len() > MOST && !SHARED.contains(&name.as_str()));
    nothing(often.map(|(name, places)| format!("`{name}`: {}", places.join(", "))).collect());
}

#[test]
fn declarations_are_recognised() {
    let name = |line| declared(line);
    assert_eq!(name("pub(super) struct Frame<'a> {").as_deref(), Some("Frame"));
    assert_eq!(name("    enum Kind {").as_deref(), Some("Kind"));
    assert_eq!(name("pub type Guid = [u8; 16];").as_deref(), Some("Guid"));
    assert_eq!(name("    type Output = f64;"), None);
    assert_eq!(name("struct_of(7);"), None);
}
