//! The rules inside `node`.
use super::{Source, nothing, package, quoted, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The files of `node` that put the folders together, or start what is put together; they may name all of it.
const NODE_ASSEMBLES: [&str; 4] = ["bridge", "doctor", "mod", "topics_page"];

/// Folder or file of `node` that a source belongs to, and whether it is a folder.
fn part_of_node(source: &Source) -> Option<(String, bool)> {
    let (part, rest) = match source.path.strip_prefix("src/node/")?.split_once('/') {
        Some((folder, rest)) => (folder, Some(rest)),
        None => (&source.path["src/node/".len()..], None),
    };
    Some((part.trim_end_matches(".rs").to_owned(), rest.is_some()))
}

/// What a source names of `node`: in a folder below `crate::node::`, elsewhere below `super::` too.
fn names_of_node(source: &Source, in_folder: bool) -> BTreeSet<String> {
    let mut names = source.names_below("crate::node::");
    if !in_folder {
        names.extend(source.names_below("super::"));
    }
    names
}

#[test]
fn folders_of_node_name_what_all_share_and_no_other_folder() {
    let sources = sources();
    let parts: BTreeMap<_, _> = sources.iter().filter_map(part_of_node).collect();
    let shared = |name: &str| {
        parts.get(name) == Some(&false) && !NODE_ASSEMBLES.contains(&name) // also no name that `mod.rs` passes on
    };
    let mut findings = Vec::new();
    for source in &sources {
        let Some((part, in_folder)) = part_of_node(source) else {
            continue;
        };
        if NODE_ASSEMBLES.contains(&&*part) {
            continue;
        }
        for name in names_of_node(source, in_folder) {
            if !shared(&name) && name != part {
                findings.push(format!("{}: `{part}` may not use `{name}`", source.path));
            }
        }
        // Only one way out of a folder, so that all is seen.
        if in_folder {
            let node = source.lines_with("node::");
            findings.extend(node.filter(|line| !line.contains("crate::node::")));
            findings.extend(source.lines_with("super::super"));
            if source.path.ends_with("/mod.rs") {
                findings.extend(
                    source.lines_with("super::").filter(|line| !line.contains("pub(super)")),
                );
            }
        }
    }
    nothing(findings);
}

/// Folder where both sides of an interface stand together: an operating system, and what is built on it.
const BOTH_SIDES: &str = "src/transport";

#[test]
fn nothing_in_a_folder_is_named_in_a_circle() {
    let sources = sources();
    let folder = |source: &Source| Some(source.path.rsplit_once('/')?.0.to_owned());
    let folders: BTreeSet<_> = sources.iter().filter_map(folder).collect();
    let mut looked_at = 0;
    for folder in folders {
        if folder.starts_with(BOTH_SIDES) || !folder.starts_with("src/") {
            continue;
        }
        let module = format!("crate::{}::", folder["src/".len()..].replace('/', "::"));
        let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in &sources {
            let below = source.path.strip_prefix(&folder);
            let Some(path) = below.and_then(|path| path.strip_prefix('/')) else {
                continue;
            };
            let (part, inside) = match path.split_once('/') {
                Some((part, _)) => (part, true),
                None => (path.trim_end_matches(".rs"), false),
            };
            if part == "mod" {
                continue;
            }
            let mut used = source.names_below(&module);
            if !inside {
                used.extend(source.names_below("super::"));
            }
            used.remove(part);
            parts.entry(part.to_owned()).or_default().extend(used);
        }
        let known: BTreeSet<_> = parts.keys().cloned().collect();
        for used in parts.values_mut() {
            used.retain(|name| known.contains(name));
        }
        looked_at += parts.len();
        println!("{folder}");
        assert_no_circle(parts);
    }
    assert!(looked_at > 200, "only {looked_at} files and folders");
}

/// What names nothing that is left cannot be in a circle.
fn assert_no_circle(mut names: BTreeMap<String, BTreeSet<String>>) {
    loop {
        let left: BTreeSet<_> = names.keys().cloned().collect();
        names.retain(|_, used| used.iter().any(|name| left.contains(name)));
        if names.len() == left.len() {
            break;
        }
    }
    assert!(names.is_empty(), "in or above a circle: {names:?}");
}

#[test]
fn the_subsystems_are_those_of_the_architecture_document() {
    let bridge = fs::read_to_string(package().join("src/node/bridge.rs")).unwrap();
    let rows = bridge.lines().filter_map(|line| line.trim().strip_suffix("::SUBSYSTEM,"));
    let text = fs::read_to_string(package().join("ARCHITECTURE.md")).unwrap();
    let documented = text
        .lines()
        .skip_while(|line| !line.starts_with("| folder | what it opens"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| quoted(line).into_iter().next());
    let (rows, documented): (Vec<_>, Vec<_>) =
        (rows.map(str::to_owned).collect(), documented.collect());
    assert_eq!(rows, documented);
    let parts: BTreeMap<_, _> = sources().iter().filter_map(part_of_node).collect();
    let folders = parts.into_iter().filter(|(_, folder)| *folder);
    let folders: BTreeSet<_> = folders.map(|(part, _)| part).collect();
    assert_eq!(rows.into_iter().collect::<BTreeSet<_>>(), folders);
}
