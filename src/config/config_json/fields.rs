//! Typed access to the keys of one object; collects all problems instead of stopping at the first.
use super::text::Node;
use crate::config::problem::{Problem, Problems, closest};
use std::ops::RangeInclusive;

/// Keys that the vendor's documents spell otherwise than its loader, which comes first.
pub(super) const SPELLINGS: [(&str, &str); 2] =
    [("EularOrQuat", "EulerOrQuat"), ("SensorAngEular", "SensorAngEuler")];

/// Problems and warnings found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Problems,
    pub(super) warnings: Vec<Problem>,
    /// Sensors that are left out.
    pub(super) skipped: Vec<Problem>,
}

/// Returns the value of a key; the last one of duplicates, as JSON readers do.
pub(super) fn value_of<'a>(pairs: &'a [(String, Node)], key: &str) -> Option<&'a Node> {
    let mut found = pairs.iter().rev().filter(|(k, _)| k == key);
    found.next().map(|(_, value)| value)
}

/// One entry of `VisionSensors` with its path.
pub(super) struct Entry<'a> {
    /// `Config.json: VisionSensors[1]`.
    pub(super) path: String,
    pairs: &'a [(String, Node)],
    findings: &'a mut Findings,
}

impl<'a> Entry<'a> {
    pub(super) fn new(
        path: String,
        pairs: &'a [(String, Node)],
        findings: &'a mut Findings,
    ) -> Self {
        Self { path, pairs, findings }
    }

    pub(super) fn problem(&mut self, key: &str, message: impl Into<String>) {
        let path = self.path_of(key);
        self.findings.problems.push(path, message);
    }

    pub(super) fn warning(&mut self, key: &str, message: impl Into<String>) {
        let path = self.path_of(key);
        self.findings.warnings.push(Problem::new(path, message));
    }

    /// Leaves the sensor out.
    pub(super) fn skip(&mut self, key: &str, message: impl Into<String>) {
        let path = self.path_of(key);
        self.findings.skipped.push(Problem::new(path, message));
    }

    /// Returns the path of a key, or of an element `key[i]`, as the file spells it.
    fn path_of(&self, key: &str) -> String {
        let end = key.find('[').unwrap_or(key.len());
        let (name, index) = key.split_at(end);
        format!("{}.{}{index}", self.path, self.spelt(name))
    }

    /// Returns the spelling of a key in the file; that of the loader if it stands in no spelling.
    pub(super) fn spelt<'k>(&self, key: &'k str) -> &'k str {
        let spelling = SPELLINGS.iter().find(|(loader, _)| *loader == key);
        match spelling.map(|(_, documents)| *documents) {
            Some(documents) if !self.has(key) && self.has(documents) => documents,
            _ => key,
        }
    }

    fn has(&self, key: &str) -> bool {
        self.exactly(key).is_some()
    }

    pub(super) fn problem_count(&self) -> usize {
        self.findings.problems.0.len()
    }

    /// Returns the value of a key, in either spelling.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.exactly(self.spelt(key))
    }

    /// Returns the value of a key in this spelling.
    fn exactly(&self, key: &str) -> Option<&'a Node> {
        value_of(self.pairs, key)
    }

    /// Returns the first keys that are not in `known`, each once.
    pub(super) fn unknown_keys(&self, known: &[&str]) -> Vec<&'a str> {
        /// Each is compared with all others.
        const SHOWN: usize = 100;
        let mut unknown: Vec<&str> = Vec::new();
        for (key, _) in self.pairs {
            if unknown.len() >= SHOWN {
                break;
            }
            if !known.contains(&key.as_str()) && !unknown.contains(&key.as_str()) {
                unknown.push(key);
            }
        }
        unknown
    }

    /// Warns about duplicate keys.
    pub(super) fn warn_duplicates(&mut self) {
        for (i, (key, _)) in self.pairs.iter().enumerate() {
            if self.pairs[..i].iter().any(|(earlier, _)| earlier == key) {
                self.warning(key, "occurs twice, the last one counts");
            }
        }
    }

    /// Reports keys that stand in both spellings and say different things.
    pub(super) fn check_spellings(&mut self) {
        for (loader, documents) in SPELLINGS {
            if let (Some(a), Some(b)) = (self.exactly(loader), self.exactly(documents))
                && !a.means(b)
            {
                let path = format!("{}.{documents}", self.path);
                let message =
                    format!("must be the same as {loader}, or be left out: both are the same key");
                self.findings.problems.push(path, message);
            }
        }
    }

    /// Reports mandatory keys that are missing and explains unknown ones.
    ///
    /// The vendor ignores unknown keys, so they only matter if a mandatory key is missing: then a similar key is
    /// probably a misspelling, and one problem reports both.
    pub(super) fn check_keys(&mut self, mandatory: &[&str], optional: &[&str]) {
        let documents = SPELLINGS.iter().map(|(_, documents)| *documents);
        let known: Vec<&str> =
            (mandatory.iter().chain(optional).copied()).chain(documents).collect();
        let mut missing: Vec<&str> =
            mandatory.iter().copied().filter(|key| self.get(key).is_none()).collect();
        for key in self.unknown_keys(&known) {
            if let Some(meant) = closest(key, missing.iter().copied()) {
                missing.retain(|m| *m != meant);
                self.problem(
                    key,
                    format!("unknown key, and {meant:?} is missing; did you mean {meant:?}?"),
                );
            } else if let Some(meant) = closest(key, known.iter().copied()) {
                self.warning(key, format!("unknown key, ignored; did you mean {meant:?}?"));
            } else {
                self.warning(key, "unknown key, ignored");
            }
        }
        for key in missing {
            self.problem(key, "is missing");
        }
    }

    /// Returns an integer in a range.
    pub(super) fn integer(
        &mut self,
        key: &str,
        range: RangeInclusive<i64>,
        unit: &str,
    ) -> Option<i64> {
        let node = self.get(key)?;
        let Some(value) = node.integer() else {
            let hint = match node {
                Node::Float(v) if v.fract() == 0.0 && v.abs() < 1e9 => format!("; write {v:.0}"),
                Node::Str(text) if text.trim().parse::<i64>().is_ok() => {
                    "; remove the quotes".to_owned()
                }
                _ => String::new(),
            };
            self.problem(key, format!("must be an integer, is {node}{hint}"));
            return None;
        };
        if let Node::Bool(given) = node {
            self.warning(key, format!("is {given}, taken as {value}"));
        }
        self.in_range(key, value, range, unit)
    }

    /// Returns a real number.
    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        let node = self.get(key)?;
        self.check_number(key, node)
    }

    /// Returns `N` real numbers.
    pub(super) fn numbers<const N: usize>(&mut self, key: &str) -> Option<[f64; N]> {
        let values = self.array(key, N, "")?;
        let mut out = [0.0; N];
        let mut good = true;
        for (i, (slot, node)) in out.iter_mut().zip(values).enumerate() {
            match self.check_number(&format!("{key}[{i}]"), node) {
                Some(value) => *slot = value,
                None => good = false,
            }
        }
        good.then_some(out)
    }

    /// Returns an array of a given length; `why` completes the message.
    pub(super) fn array(&mut self, key: &str, length: usize, why: &str) -> Option<&'a [Node]> {
        match self.get(key)? {
            Node::Array(values) if values.len() == length => Some(values),
            Node::Array(values) => {
                self.problem(key, format!("must have {length} values{why}, has {}", values.len()));
                None
            }
            other => {
                self.problem(key, format!("must be an array of {length} values{why}, is {other}"));
                None
            }
        }
    }

    pub(super) fn check_integer(
        &mut self,
        key: &str,
        node: &Node,
        range: RangeInclusive<i64>,
    ) -> Option<i64> {
        match node.integer() {
            Some(value) => self.in_range(key, value, range, ""),
            None => {
                self.problem(key, format!("must be an integer, is {node}"));
                None
            }
        }
    }

    /// A number in the range of single precision, the type on the wire.
    pub(super) fn check_number(&mut self, key: &str, node: &Node) -> Option<f64> {
        match node.number() {
            Some(value) if (value as f32).is_finite() => Some(value),
            Some(_) => {
                self.problem(key, format!("does not fit single precision, is {node}"));
                None
            }
            None => {
                let hint = match node {
                    Node::Str(text) if text.trim().parse::<f64>().is_ok() => "; remove the quotes",
                    _ => "",
                };
                self.problem(key, format!("must be a number, is {node}{hint}"));
                None
            }
        }
    }

    fn in_range(
        &mut self,
        key: &str,
        value: i64,
        range: RangeInclusive<i64>,
        unit: &str,
    ) -> Option<i64> {
        if range.contains(&value) {
            return Some(value);
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        self.problem(
            key,
            format!("must be in {}..={}{unit}, is {value}", range.start(), range.end()),
        );
        None
    }
}
