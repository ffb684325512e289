//! Where calibration files are looked for, by the program itself: its environment and its current folder decide.
use std::path::Path;
use std::process::Command;

/// What the program says when `sensor0.camera_info_url` is a file of the package `lenses`, which is no calibration; it does not
/// start.
fn says(folder: &Path, prefixes: &str) -> String {
    let config = concat!("config:=", env!("CARGO_MANIFEST_DIR"), "/config/Config.json");
    let url = "sensor0.camera_info_url:=package://lenses/wide.yaml";
    let output = Command::new(env!("CARGO_BIN_EXE_rfly_bridge"))
        .args(["--ros-args", "-p", config, "-p", url])
        .current_dir(folder)
        .env("AMENT_PREFIX_PATH", prefixes)
        .output()
        .expect("the program runs");
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_package_is_looked_for_in_the_named_folders_and_not_in_the_current_one() {
    let folder = std::env::temp_dir().join(format!("rfly_test_package_{}", std::process::id()));
    let package = folder.join("share/lenses");
    std::fs::create_dir_all(&package).expect("a folder");
    std::fs::write(package.join("wide.yaml"), "image_width: 48").expect("a file");
    let named = format!(":/nowhere:{}", folder.display());
    let (found, missing) =
        (says(&folder, &named), ["", ":", "/nowhere:"].map(|p| says(&folder, p)));
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(found.contains("is not a calibration of a camera"), "{found}");
    for said in missing {
        assert!(said.contains("there is no package lenses in AMENT_PREFIX_PATH"), "{said}");
    }
}
