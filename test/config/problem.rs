//! Texts of problems.
use rfly_bridge::config::Problems;

#[test]
fn a_long_path_is_truncated() {
    let mut problems = Problems::default();
    problems.push("x".repeat(100_000), "is long");
    problems.push("short", "is short");
    let text = problems.to_string();
    assert!(text.len() < 1000, "{}", text.len());
    assert!(text.contains("...") && text.contains("short ") && text.contains("is long"));
    assert!(problems.0[0].to_string().len() < 1000);
}
