//! The page of measured figures.
use super::package;
use crate::support::python;
use std::process::Command;

#[test]
fn the_page_and_pictures_of_performance_are_what_the_figures_make() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let output = Command::new(python)
        .arg(package().join("scripts/performance.py"))
        .arg("--check")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
