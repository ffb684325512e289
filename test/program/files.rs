//! A set of files is there whole, or not at all.
use rfly_bridge::program::{SetError, write_set};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of this test, not there yet.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files_{name}"));
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    path
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn a_set_is_written_into_a_directory_that_is_made_for_it() {
    let dir = directory("new").join("deep");
    write_set(&dir, &[("a", "1"), ("b", "2")], false).unwrap();
    assert_eq!(names(&dir), ["a", "b"]);
    assert_eq!(fs::read_to_string(dir.join("b")).unwrap(), "2");
}

#[test]
fn files_that_are_there_are_all_named_and_stay() {
    let dir = directory("there");
    write_set(&dir, &[("b", "mine"), ("c", "mine")], false).unwrap();
    let error = write_set(&dir, &[("a", "1"), ("b", "2"), ("c", "3")], false).unwrap_err();
    assert!(matches!(&error, SetError::Exist(files) if *files == [dir.join("b"), dir.join("c")]));
    assert_eq!(names(&dir), ["b", "c"]);
    assert_eq!(fs::read_to_string(dir.join("b")).unwrap(), "mine");
    write_set(&dir, &[("a", "1"), ("b", "2")], true).unwrap();
    assert_eq!(fs::read_to_string(dir.join("b")).unwrap(), "2");
}

#[test]
fn an_error_leaves_no_part_of_the_set() {
    let dir = directory("error");
    let error = write_set(&dir, &[("a", "1"), ("no/such/b", "2")], false).unwrap_err();
    assert!(matches!(error, SetError::Io { .. }));
    assert_eq!(names(&dir), [""; 0]);
}
