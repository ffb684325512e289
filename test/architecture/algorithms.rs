//! The page of what algorithms reach.
use super::package;
use crate::support::python;
use std::process::Command;

#[test]
fn the_page_and_picture_of_algorithms_are_what_the_figures_make() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let output = Command::new(python)
        .arg(package().join("scripts/algorithms.py"))
        .arg("--check")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
