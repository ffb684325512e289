//! What ARCHITECTURE.md says is what the rules and the code say.
use super::{MAY_USE, PURE, UNSAFE, files_below, package, quoted};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn document() -> String {
    fs::read_to_string(package().join("ARCHITECTURE.md")).unwrap()
}

#[test]
fn the_rules_are_those_of_the_architecture_document() {
    let text = document();
    let rows = text.lines().skip_while(|line| !line.starts_with("| module | may name")).skip(2);
    let mut documented = BTreeMap::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<Vec<String>> = row.trim_matches('|').split('|').map(quoted).collect();
        let [module, used] = &cells[..] else { panic!("{row}") };
        documented.insert(module[0].clone(), used.iter().cloned().collect::<BTreeSet<_>>());
    }
    let set = |used: &[&str]| used.iter().map(ToString::to_string).collect();
    let rules = MAY_USE.iter().map(|(module, used)| ((*module).to_owned(), set(used))).collect();
    assert_eq!(documented, rules);
}

#[test]
fn the_files_that_the_architecture_document_names_exist() {
    let text = document();
    let named = text.lines().flat_map(quoted);
    let files: BTreeSet<_> = named
        .filter(|word| word.contains('/') && word.ends_with(".rs") && !word.contains(' '))
        .collect();
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let found = ["", "src/"].map(|root| package().join(root).join(&file).exists());
        assert!(found.contains(&true), "{file} is not there");
    }
}

#[test]
fn the_threads_are_those_of_the_architecture_document() {
    let text = document();
    let (_, table) = text.split_once("\n## Threads\n").unwrap();
    let rows = table.lines().filter(|line| line.starts_with('|'));
    let documented: BTreeSet<_> =
        rows.flat_map(quoted).filter(|word| word.starts_with("rfly-")).collect();
    let code = files_below("src").into_iter().map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let literals = text.split('"').skip(1).step_by(2).map(str::to_owned);
        let is_name = |word: &String| {
            word.strip_prefix("rfly-")
                .is_some_and(|name| name.chars().all(|c| c.is_ascii_lowercase()))
        };
        literals.filter(is_name).collect::<Vec<_>>()
    });
    let started: BTreeSet<_> = code.flatten().collect();
    assert!(started.len() > 10, "{started:?}");
    assert_eq!(documented, started);
}

#[test]
fn the_places_with_unsafe_code_are_those_of_the_architecture_document() {
    let text = document();
    let rule = text.lines().find(|line| line.starts_with("- `unsafe` only"));
    let documented: BTreeSet<_> = quoted(rule.unwrap())
        .into_iter()
        .filter(|word| word.contains('/'))
        .map(|place| format!("src/{place}"))
        .collect();
    assert_eq!(documented, UNSAFE.map(str::to_owned).into());
}

#[test]
fn the_pure_modules_are_those_of_the_architecture_document() {
    let text = document();
    let sentence = text.lines().find(|line| line.starts_with("Pure: "));
    let documented: BTreeSet<_> = quoted(sentence.unwrap()).into_iter().collect();
    assert_eq!(documented, PURE.map(str::to_owned).into());
}
