//! The rules of ARCHITECTURE.md that the compiler does not check.
mod algorithms;
mod document;
mod names;
mod node;
mod performance;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What each module may name; the same table is in ARCHITECTURE.md.
const MAY_USE: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("msgs", &[]),
    ("transport", &[]),
    ("program", &["transport"]),
    ("frames", &["msgs", "time"]),
    ("time", &["msgs"]),
    ("noise", &[]),
    ("config", &["wire", "frames", "time"]),
    ("session", &["wire", "time"]),
    ("ros", &["msgs", "time", "config"]),
    ("sensors", &["wire", "frames", "time", "noise", "session", "msgs", "ros", "config"]),
    ("vehicle", &["wire", "frames", "time", "noise", "session", "msgs", "ros", "config"]),
    ("scene", &["wire", "frames", "time", "msgs", "config"]),
    ("model", &["wire", "frames", "time", "msgs", "config"]),
    ("motion", &["wire", "frames"]),
    ("reports", &["wire", "frames", "time", "msgs", "config"]),
    ("doctor", &["wire", "time", "transport", "ros"]),
    ("emulator", &["wire", "transport"]),
    (
        "node",
        &[
            "wire",
            "frames",
            "time",
            "noise",
            "config",
            "scene",
            "session",
            "msgs",
            "transport",
            "program",
            "ros",
            "sensors",
            "vehicle",
            "model",
            "motion",
            "reports",
            "doctor",
        ],
    ),
    ("calib", &["wire", "frames", "config", "msgs", "ros", "sensors", "node"]),
];
/// Crate roots; they assemble and may name everything.
const ROOTS: [&str; 3] = ["bin", "lib", "main"];
/// Modules without I/O, clock and panic.
const PURE: [&str; 13] = [
    "wire", "scene", "model", "msgs", "frames", "time", "noise", "config", "session", "reports",
    "calib", "doctor", "motion",
];
/// The only places that read a clock; everybody else is told the time.
const READ_CLOCKS: [&str; 4] = ["node", "emulator", "bin", "main"];
/// The only places with `unsafe`: files, and what begins like a folder.
const UNSAFE: [&str; 5] = [
    "src/transport/shm.rs",
    "src/transport/imp/linux/sigbus.rs",
    "src/ros/dds/ffi",
    "src/ros/pacing/sendmsg.rs",
    "src/ros/rclrs/sequence.rs",
];
/// Inside a call of the back end no time is at hand: spreads a big sample over time; knows the age of a kept sample.
const WITHOUT_TIME: [&str; 2] = ["src/ros/pacing/mod.rs", "src/ros/tap.rs"];

struct Source {
    /// Path below the package.
    path: String,
    /// First component below `src`, without `.rs`.
    module: String,
    /// Text without comments and string literals; as many lines as the file.
    code: String,
}

impl Source {
    /// Lines of code in which `pattern` stands as a whole word or path.
    fn lines_with<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = String> + 'a {
        let found = move |line: &&str| {
            line.match_indices(pattern).any(|(at, _)| {
                let word = |c: char| c.is_alphanumeric() || c == '_';
                let starts = pattern.starts_with(word) && line[..at].ends_with(word);
                let ends = pattern.ends_with(word) && line[at + pattern.len()..].starts_with(word);
                !starts && !ends
            })
        };
        let lines = self.code.lines().enumerate().filter(move |(_, line)| found(line));
        lines.map(|(number, line)| format!("{}:{}: {}", self.path, number + 1, line.trim()))
    }

    /// Names directly below `crate::`, also in `use crate::{a, b}`.
    fn names(&self) -> BTreeSet<String> {
        self.names_below("crate::")
    }

    /// Names directly below a path.
    fn names_below(&self, path: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (at, found) in self.code.match_indices(path) {
            let rest = &self.code[at + found.len()..];
            if self.code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c)) {
                continue;
            }
            let Some(group) = rest.strip_prefix('{') else {
                names.insert(identifier(rest));
                continue;
            };
            let mut depth = 0;
            let mut element = true;
            for (at, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => element = true,
                    c if element && depth == 0 && !c.is_whitespace() => {
                        names.insert(identifier(&group[at..]));
                        element = false;
                    }
                    _ => {}
                }
            }
        }
        names
    }
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![package().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn relative(path: &Path) -> String {
    path.strip_prefix(package()).unwrap().to_str().unwrap().to_owned()
}

fn sources() -> Vec<Source> {
    let source = |path: PathBuf| {
        let path_below = relative(&path);
        let module = path_below.split('/').nth(1).unwrap().trim_end_matches(".rs").to_owned();
        let code = without_comments_and_strings(&fs::read_to_string(&path).unwrap());
        Source { path: path_below, module, code }
    };
    files_below("src").into_iter().map(source).collect()
}

/// Blanks comments, strings and character literals; newlines stay.
fn without_comments_and_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let raw_quotes = rest.strip_prefix('r').map(|r| r.len() - r.trim_start_matches('#').len());
        let blank = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw_quotes
            .filter(|n| rest[1 + n..].starts_with('"') && !out.ends_with(char::is_alphanumeric))
        {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len())
        } else if c == '"' {
            string_len(rest)
        } else if let Some(escaped) = rest.strip_prefix("'\\") {
            escaped.find('\'').map_or(rest.len(), |at| at + 3)
        } else if c == '\'' && rest.chars().nth(2) == Some('\'') {
            rest.char_indices().nth(3).map_or(rest.len(), |(at, _)| at)
        } else {
            0
        };
        if blank == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(rest[..blank].chars().filter(|c| *c == '\n'));
            out.push(' ');
            rest = &rest[blank..];
        }
    }
    out
}

/// Length of the string literal at the start of `text`.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn nothing(findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn modules_name_only_the_layers_below_them() {
    let rules: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut findings = Vec::new();
    for source in sources().iter().filter(|s| !ROOTS.contains(&&*s.module)) {
        let allowed = rules[&*source.module];
        for name in source.names() {
            if name != source.module && rules.contains_key(&*name) && !allowed.contains(&&*name) {
                findings.push(format!("{}: `{}` may not use `{name}`", source.path, source.module));
            }
        }
    }
    nothing(findings);
}

#[test]
fn every_module_has_a_rule_and_every_rule_a_module() {
    let modules: BTreeSet<_> =
        sources().into_iter().map(|s| s.module).filter(|m| !ROOTS.contains(&&**m)).collect();
    let rules: BTreeSet<_> = MAY_USE.iter().map(|(module, _)| (*module).to_owned()).collect();
    assert_eq!(modules, rules);
    let arrows_down = MAY_USE.iter().all(|(module, used)| {
        used.iter().all(|u| MAY_USE.iter().any(|(m, uses)| m == u && !uses.contains(module)))
    });
    assert!(arrows_down, "two modules may not name each other");
}

/// What nobody uses is a way that nobody meant to open.
#[test]
fn every_permission_is_used() {
    let sources = sources();
    let uses = |module: &str, used: &str| {
        let mut files = sources.iter().filter(|s| s.module == module);
        files.any(|s| s.names().contains(used))
    };
    let unused = MAY_USE.iter().flat_map(|(module, used)| {
        let unused = used.iter().filter(|used| !uses(module, used));
        unused.map(move |used| format!("`{module}` does not use `{used}`"))
    });
    nothing(unused.collect());
}

/// The words between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn pure_modules_do_no_io_and_do_not_panic() {
    let forbidden = [
        "std::fs",
        "std::io",
        "std::thread",
        "std::process",
        "std::env",
        "UdpSocket",
        "TcpStream",
        "TcpListener",
        "tokio",
        "nix",
        "libc",
        "socket2",
        "memmap2",
        "cyclors",
        "println!",
        "eprintln!",
        "panic!",
        "todo!",
        "unimplemented!",
        "unreachable!",
        ".unwrap()",
        ".expect(",
    ];
    let sources = sources();
    let pure = sources.iter().filter(|s| PURE.contains(&&*s.module));
    nothing(pure.flat_map(|s| forbidden.iter().flat_map(|f| s.lines_with(f))).collect());
}

#[test]
fn only_assembly_reads_clocks() {
    let sources = sources();
    let may_read =
        |s: &Source| READ_CLOCKS.contains(&&*s.module) || WITHOUT_TIME.contains(&&*s.path);
    let others = sources.iter().filter(|s| !may_read(s));
    nothing(
        others
            .flat_map(|s| {
                ["Instant::now", "SystemTime::now"].into_iter().flat_map(|f| s.lines_with(f))
            })
            .collect(),
    );
}

#[test]
fn every_socket_that_receives_knows_who_may_send() {
    let sources = sources();
    let others = (sources.iter()).filter(|s| s.module == "node" && s.path != "src/node/senders.rs");
    let sockets = ["BindOptions::port", "recv_from", "Socket::new"];
    nothing(others.flat_map(|s| sockets.into_iter().flat_map(|f| s.lines_with(f))).collect());
}

#[test]
fn unsafe_code_is_only_where_memory_is_foreign() {
    let sources = sources();
    let allowed = |s: &Source| UNSAFE.iter().any(|place| s.path.starts_with(place));
    let others = sources.iter().filter(|s| !allowed(s));
    nothing(others.flat_map(|s| s.lines_with("unsafe")).collect());
}

/// A port to another system touches one folder, and what stands between a middleware and the C library.
#[test]
fn the_operating_system_is_behind_one_folder() {
    let homes = ["src/transport/imp/", "src/ros/pacing/", "src/ros/dds/ffi"];
    let sources = sources();
    let others = { sources.iter() }.filter(|s| !homes.iter().any(|home| s.path.starts_with(home)));
    let names =
        ["nix", "libc", "std::os", "os::fd", "os::unix", "os::linux", "signal::unix", "target_os"];
    let named = others.clone();
    let mut findings: Vec<_> =
        named.flat_map(|s| names.into_iter().flat_map(|name| s.lines_with(name))).collect();
    // What `code` leaves out.
    for source in others {
        let text = fs::read_to_string(package().join(&source.path)).unwrap();
        let opens = |line: &&str| line.contains("\"/proc") || line.contains("\"/dev/shm\"");
        let lines = text.lines().filter(opens);
        findings.extend(lines.map(|line| format!("{}: {}", source.path, line.trim())));
    }
    nothing(findings);
}

/// A task or thread that nobody watches can die without a word.
#[test]
fn tasks_of_the_bridge_are_started_in_one_place() {
    let sources = sources();
    let others = sources.iter().filter(|s| s.module == "node" && s.path != "src/node/tasks.rs");
    nothing(others.flat_map(|s| s.lines_with(".spawn(")).collect());
}

/// What a page of the network says today is not what it says tomorrow, or to others.
#[test]
fn nothing_goes_from_the_network_into_a_shell() {
    let folders = ["docker", ".devcontainer", ".github", ".ci", "scripts", "docs"];
    let mut files: Vec<_> =
        ["README.md", "CONTRIBUTING.md", "Makefile"].map(|name| package().join(name)).into();
    let mut folders: Vec<_> = folders.map(|name| package().join(name)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    let mut findings = Vec::new();
    for path in files {
        let Ok(text) = fs::read_to_string(&path) else {
            continue; // a picture
        };
        let text = text.replace("\\\n", " ");
        let fetches = |line: &&str| line.contains("curl ") || line.contains("wget ");
        let runs = |line: &&str| {
            let shells = ["sh", "bash", "python3", "python", "sudo"];
            let mut behind =
                line.split('|').skip(1).filter_map(|part| part.split_whitespace().next());
            behind.any(|word| shells.contains(&word))
                || ["$(curl", "<(curl", "$(wget", "<(wget"].iter().any(|f| line.contains(f))
        };
        let found = text.lines().filter(fetches).filter(runs);
        findings.extend(found.map(|line| format!("{}: {}", relative(&path), line.trim())));
    }
    nothing(findings);
}

#[test]
fn the_container_runs_as_an_ordinary_user() {
    let text = fs::read_to_string(package().join("docker/Dockerfile")).unwrap();
    let image = text.rsplit("\nFROM ").next().unwrap();
    let mut user = image.lines().filter_map(|line| line.strip_prefix("USER "));
    let user = user.next_back().expect("the image names a user");
    assert!(!["root", "0"].contains(&user.split(':').next().unwrap()), "{user}");
}

/// A wrong length is a panic that is told and survived, not a number that goes on (ADR 0011).
#[test]
fn overflow_is_checked_in_release_builds() {
    let text = fs::read_to_string(package().join("Cargo.toml")).unwrap();
    let (_, release) = text.split_once("\n[profile.release]\n").unwrap();
    let own = release.split("\n[").next().unwrap();
    assert!(own.contains("\noverflow-checks = true"), "{own}");
}

#[test]
fn no_source_file_is_longer_than_500_lines() {
    let long = files_below("src").into_iter().chain(files_below("test")).filter_map(|path| {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        (lines > 500).then(|| format!("{}: {lines} lines", relative(&path)))
    });
    nothing(long.collect());
}

#[test]
fn unfinished_code_does_not_pass() {
    let sources = sources();
    nothing(
        sources
            .iter()
            .flat_map(|s| {
                ["todo!", "unimplemented!", "dbg!"].into_iter().flat_map(|f| s.lines_with(f))
            })
            .collect(),
    );
    let ignored = files_below("test").into_iter().filter_map(|path| {
        let code = without_comments_and_strings(&fs::read_to_string(&path).unwrap());
        code.contains("#[ignore").then(|| format!("{}: an ignored test", relative(&path)))
    });
    nothing(ignored.collect());
}

/// The checks above are only as good as this.
#[test]
fn comments_and_strings_are_not_code() {
    let text = "use crate::{wire::A, time::{B, C}, ros}; // crate::x\nlet s = \"crate::y \\\" unsafe\"; 'a'; '\"'; crate::node::f();\n/* crate::z */ r#\"crate::q\"# for\"\"; &'a str";
    let code = without_comments_and_strings(text);
    assert_eq!(code.lines().count(), 3);
    let source = Source { path: "p".into(), module: "m".into(), code };
    let names: Vec<_> = source.names().into_iter().collect();
    assert_eq!(names, ["node", "ros", "time", "wire"]);
    assert_eq!(source.lines_with("unsafe").count(), 0);
    assert_eq!(source.lines_with("crate").count(), 2);
}
