//! Documents name files and headings that exist, and the site has all of them.
use regex_lite::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Markdown file below `folder`, without what tools make.
fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let made = ["target", "build", "install", "log", "fixtures"].contains(&&*name);
            if !made && !name.starts_with('.') {
                markdown(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Text without blocks of code, where brackets are no links.
fn prose(text: &str) -> String {
    let mut code = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The anchor that GitHub and mdBook give a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let text = prose(text);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut files = Vec::new();
    markdown(&root(), &mut files);
    let (mut checked, mut broken) = (0, Vec::new());
    for file in files {
        let text = prose(&fs::read_to_string(&file).unwrap());
        for found in link.captures_iter(&text) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            let there = match heading {
                "" => path.exists(),
                heading => fs::read_to_string(&path)
                    .is_ok_and(|text| anchors(&text).contains(&heading.to_lowercase())),
            };
            if !there {
                broken.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(checked > 100, "{checked} links");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_site_has_every_document() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let link = Regex::new(r"\]\(([^)]+)\)").unwrap();
    let listed: BTreeSet<_> =
        link.captures_iter(&summary).map(|found| found[1].to_owned()).collect();
    let mut files = Vec::new();
    markdown(&docs, &mut files);
    let there: BTreeSet<_> = files
        .iter()
        .map(|path| path.strip_prefix(&docs).unwrap().display().to_string())
        // The summary itself, and logs of runs.
        .filter(|name| name != "SUMMARY.md")
        .filter(|name| !name.starts_with("interop/"))
        .collect();
    assert_eq!(listed, there);
}

/// Blocks of code of a document.
fn code_blocks(text: &str) -> Vec<String> {
    let parts: Vec<_> = text.split("```").collect();
    parts.iter().skip(1).step_by(2).map(ToString::to_string).collect()
}

/// Pages of the documentation, with their names.
fn pages() -> Vec<(String, String)> {
    let mut files = Vec::new();
    markdown(&root().join("docs"), &mut files);
    files.push(root().join("README.md"));
    let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    let pages = files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap()));
    pages.filter(|(name, _)| !name.starts_with("docs/interop/")).collect()
}

#[test]
fn every_subcommand_that_the_documents_name_exists() {
    let output = Command::new(env!("CARGO_BIN_EXE_rfly_bridge")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let known: BTreeSet<_> =
        commands.map_while(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    assert!(known.contains("doctor") && known.contains("echo"), "{known:?}");
    let named = Regex::new(r"(?m)(?:`|^(?:\$ )?)rfly_bridge ([a-z_]+)(?:[ `]|$)").unwrap();
    let mut found = BTreeSet::new();
    for (page, text) in pages() {
        for word in named.captures_iter(&text).map(|found| found[1].to_owned()) {
            assert!(known.contains(&word), "{page}: rfly_bridge {word}");
            found.insert(word);
        }
    }
    assert!(found.len() > 12, "{found:?}");
}

#[test]
fn lines_for_ros2_have_their_form_without_ros_beside_them() {
    let verb = Regex::new(r"(?m)^ros2 (service|topic|param|\w+) (\w+)").unwrap();
    let mut blocks = 0;
    for (page, text) in pages().into_iter().filter(|(page, _)| page.starts_with("docs/")) {
        for block in code_blocks(&text) {
            let verbs: Vec<_> = verb.captures_iter(&block).collect();
            blocks += usize::from(!verbs.is_empty());
            for verb in verbs {
                let form = match (&verb[1], &verb[2]) {
                    ("service", _) => "rfly_bridge call",
                    ("topic", "echo") => "rfly_bridge echo",
                    ("topic", "pub") => "rfly_bridge pub",
                    ("param", _) => "rfly_bridge param",
                    _ => "ithout ROS",
                };
                assert!(block.contains("# Without ROS"), "{page}: {block}");
                assert!(block.contains(form), "{page}: {form} is not in {block}");
            }
        }
    }
    assert!(blocks > 20, "{blocks} blocks");
}

/// Text of all sources below a folder.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "fixtures" && !name.starts_with('.') {
            sources(&path, text);
        } else if name.ends_with(".rs") || name.ends_with(".py") {
            *text += &fs::read_to_string(&path).unwrap();
        }
    }
}

#[test]
fn every_recorded_fixture_is_read_by_a_test() {
    let mut tests = String::new();
    sources(&root().join("test"), &mut tests);
    let fixtures = fs::read_dir(root().join("test/fixtures/golden")).unwrap();
    let names = fixtures.map(|entry| entry.unwrap().path());
    let unread = names.filter(|path| {
        let name = path.file_stem().unwrap().to_string_lossy();
        let quoted = [
            format!("\"{name}\""),
            format!("\"{name}/"),
            format!("/{name}.json"),
            format!("/{name}/"),
        ];
        !quoted.iter().any(|quoted| tests.contains(quoted))
    });
    let unread: Vec<PathBuf> = unread.collect();
    assert!(unread.is_empty(), "{unread:?} are read by no test");
}
