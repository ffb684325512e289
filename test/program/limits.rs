//! What is used up is named with its limit.
use rfly_bridge::program::{Needs, limit_that_causes, limits};
use std::io;

const EMFILE: i32 = 24;

#[test]
fn an_error_of_too_many_files_names_their_limit() {
    let text = limit_that_causes(&io::Error::from_raw_os_error(EMFILE));
    let number = text.strip_prefix(" (the limit of open files is ").unwrap();
    let number = number.strip_suffix(" (ulimit -n))").unwrap();
    assert!(number.parse::<u64>().unwrap() > 0, "{text}");
    assert_eq!(limit_that_causes(&io::ErrorKind::NotFound.into()), "");
    assert!(limits().contains("open files is "));
}

#[test]
fn needs_above_the_limit_are_refused_with_both_numbers() {
    let (few, many) = (Needs { files: 1, bytes: 1 }, u64::MAX - 1);
    assert_eq!(few.check(), Ok(()));
    let refused = Needs { files: many, ..few }.check().unwrap_err().to_string();
    assert!(refused.starts_with(&format!("about {many} files and sockets are needed")));
    assert!(refused.contains("limit of open files is "), "{refused}");
}
