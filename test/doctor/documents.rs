//! `docs/doctor.md` lists what the code knows, and the page of the bridge the notes.
use rfly_bridge::doctor::{Code, Severity};

#[test]
fn every_finding_has_its_row_and_every_row_its_finding() {
    let text = include_str!("../../docs/doctor.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: Vec<_> = rows
        .map(|row| {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let [code, severity, means, todo, ..] = cells[..] else { panic!("{row}") };
            assert!(means.len() > 10 && todo.len() > 10, "{row}");
            (code.trim_end_matches('`').to_owned(), severity.to_owned())
        })
        .collect();
    let known: Vec<_> = Code::ALL
        .iter()
        .map(|code| (code.name().to_owned(), code.severity().name().to_owned()))
        .collect();
    assert_eq!(documented, known);
}

#[test]
fn the_page_knows_what_is_only_a_note() {
    let notes: Vec<_> = Code::ALL
        .iter()
        .filter(|code| code.severity() == Severity::Note)
        .map(|code| format!("\"{}\"", code.name()))
        .collect();
    let line = format!("const NOTES = [{}];", notes.join(", "));
    let page = include_str!("../../src/node/view/page/panels.js");
    assert!(page.contains(&line), "{line}");
}
