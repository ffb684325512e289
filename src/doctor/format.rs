//! Formats findings: as a table of 80 columns, as JSON, and as values of a diagnostic status.
use super::{Code, Finding, Severity, worst};
use serde_json::{Value, json};
use std::fmt::Write as _;

const COLUMNS: usize = 80;
const INDENT: &str = "    ";
/// Separates problem and remedy in a value of `/diagnostics`.
const DO: &str = "; do: ";

/// Formats findings for a terminal.
pub fn to_table(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let (severity, code) = (finding.severity().name(), finding.code.name());
        let head = format!("{severity}: {} ({code})", finding.subject);
        wrap(&mut text, "", &head);
        wrap(&mut text, INDENT, &finding.what);
        wrap(&mut text, INDENT, &format!("-> {}", finding.remedy));
    }
    let count = |severity| findings.iter().filter(|f| f.severity() == severity).count();
    let counted = [
        (count(Severity::Error), "error"),
        (count(Severity::Warning), "warning"),
        (count(Severity::Note), "note"),
    ];
    let counted = counted.map(|(n, word)| format!("{n} {word}{}", if n == 1 { "" } else { "s" }));
    let _ = writeln!(text, "{}", counted.join(", "));
    text
}

fn wrap(text: &mut String, indent: &str, words: &str) {
    let mut line = indent.to_owned();
    for word in words.split_whitespace() {
        if line.len() > indent.len() {
            if line.chars().count() + 1 + word.chars().count() > COLUMNS {
                let _ = writeln!(text, "{line}");
                indent.clone_into(&mut line);
            } else {
                line.push(' ');
            }
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}

/// Formats findings for a program: the highest severity (`ok` without findings), and one object per finding.
pub fn to_json(findings: &[Finding]) -> Value {
    let object = |finding: &Finding| {
        json!({
            "code": finding.code.name(),
            "severity": finding.severity().name(),
            "subject": finding.subject,
            "what": finding.what,
            "do": finding.remedy,
        })
    };
    let list: Vec<_> = findings.iter().map(object).collect();
    let severity = if findings.is_empty() { "ok" } else { worst(findings).name() };
    json!({"severity": severity, "findings": list})
}

/// Formats each finding as key and value of `/diagnostics`.
pub fn to_values(findings: &[Finding]) -> Vec<(String, String)> {
    let key_and_value = |finding: &Finding| {
        let Finding { subject, what, remedy, .. } = finding;
        let key = format!("{} {subject}", finding.code.name());
        (key, format!("{what}{DO}{remedy}"))
    };
    findings.iter().map(key_and_value).collect()
}

/// Reads the values of [`to_values`]. Skips unknown ones, which another version of the bridge may have written.
pub fn from_values<'a>(values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Finding> {
    let finding = |(key, value): (&str, &str)| {
        let (name, subject) = key.split_once(' ')?;
        let code = Code::ALL.iter().find(|code| code.name() == name)?;
        let (what, remedy) = value.split_once(DO)?;
        Some(Finding::new(*code, subject, what, remedy))
    };
    values.into_iter().filter_map(finding).collect()
}
