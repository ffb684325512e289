//! Typed access to the keys of one object; collects all problems instead of stopping at the first.
use super::text::JsonValue;
use crate::config::problem::{Problem, Problems, closest};
use std::ops::RangeInclusive;

/// Keys that the vendor spells differently: first as in the loader, then as in the documents.
pub(super) const SPELLINGS: [(&str, &str); 2] =
    [("EularOrQuat", "EulerOrQuat"), ("SensorAngEular", "SensorAngEuler")];

#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Problems,
    pub(super) warnings: Vec<Problem>,
    pub(super) skipped: Vec<Problem>,
}

/// Returns the value of a key; the last of duplicates, as JSON readers do.
pub(super) fn value_of<'a>(pairs: &'a [(String, JsonValue)], key: &str) -> Option<&'a JsonValue> {
    let mut found = pairs.iter().rev().filter(|(k, _)| k == key);
    found.next().map(|(_, value)| value)
}

/// One entry of `VisionSensors` with its path.
pub(super) struct SensorEntry<'a> {
    /// `Config.json: VisionSensors[1]`.
    pub(super) path: String,
    pub(super) pairs: &'a [(String, JsonValue)],
    pub(super) findings: &'a mut Findings,
}

impl<'a> SensorEntry<'a> {
    pub(super) fn problem(&mut self, key: &str, message: impl Into<String>) {
        let path = self.path_of(key);
        self.findings.problems.push(path, message);
    }

    pub(super) fn warning(&mut self, key: &str, message: impl Into<String>) {
        let path = self.path_of(key);
        self.findings.warnings.push(Problem::new(path, message));
    }

    pub(super) fn skip(&mut self, key: &str, message: impl Into<String>) {
        let path = self.path_of(key);
        self.findings.skipped.push(Problem::new(path, message));
    }

    /// Returns the path of a key, or of an element `key[i]`, as the file spells it.
    fn path_of(&self, key: &str) -> String {
        let end = key.find('[').unwrap_or(key.len());
        let (name, index) = key.split_at(end);
        format!("{}.{}{index}", self.path, self.spelling_of(name))
    }

    /// Returns the spelling of a key in the file; the loader's spelling if the file does not have the key.
    pub(super) fn spelling_of<'k>(&self, key: &'k str) -> &'k str {
        let spelling = SPELLINGS.iter().find(|(loader, _)| *loader == key);
        match spelling.map(|(_, documents)| *documents) {
            Some(documents) if self.lookup(key).is_none() && self.lookup(documents).is_some() => {
                documents
            }
            _ => key,
        }
    }

    pub(super) fn problem_count(&self) -> usize {
        self.findings.problems.0.len()
    }

    /// Returns the value of a key, in either spelling.
    pub(super) fn get(&self, key: &str) -> Option<&'a JsonValue> {
        self.lookup(self.spelling_of(key))
    }

    fn lookup(&self, key: &str) -> Option<&'a JsonValue> {
        value_of(self.pairs, key)
    }

    /// Returns the first keys that are not in `known`, each once.
    pub(super) fn unknown_keys(&self, known: &[&str]) -> Vec<&'a str> {
        /// Bounds the time: each key is compared with all others.
        const MAX_UNKNOWN: usize = 100;
        let mut unknown: Vec<&str> = Vec::new();
        for (key, _) in self.pairs {
            let is_new = !known.contains(&key.as_str()) && !unknown.contains(&key.as_str());
            if is_new && unknown.len() < MAX_UNKNOWN {
                unknown.push(key);
            }
        }
        unknown
    }

    pub(super) fn warn_duplicates(&mut self) {
        for (i, (key, _)) in self.pairs.iter().enumerate() {
            if self.pairs[..i].iter().any(|(earlier, _)| earlier == key) {
                self.warning(key, "occurs twice, the last one counts");
            }
        }
    }

    /// Reports keys that occur in both spellings with different values.
    pub(super) fn check_spellings(&mut self) {
        for (loader, documents) in SPELLINGS {
            if let (Some(a), Some(b)) = (self.lookup(loader), self.lookup(documents))
                && !a.is_equivalent(b)
            {
                let path = format!("{}.{documents}", self.path);
                let message =
                    format!("must be the same as {loader}, or be left out: both are the same key");
                self.findings.problems.push(path, message);
            }
        }
    }

    /// Reports missing mandatory keys and unknown keys.
    ///
    /// The vendor ignores unknown keys, so they are only warnings; but if a mandatory key is missing, a similar unknown key is
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
                let why = format!("unknown key, and {meant:?} is missing; did you mean {meant:?}?");
                self.problem(key, why);
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

    pub(super) fn integer<T: TryFrom<i64>>(
        &mut self,
        key: &str,
        range: RangeInclusive<i64>,
        unit: &str,
    ) -> Option<T> {
        let node = self.get(key)?;
        let Some(value) = node.integer() else {
            let hint = match node {
                JsonValue::Float(v) if v.fract() == 0.0 && v.abs() < 1e9 => {
                    format!("; write {v:.0}")
                }
                JsonValue::Str(text) if text.trim().parse::<i64>().is_ok() => {
                    "; remove the quotes".to_owned()
                }
                _ => String::new(),
            };
            self.problem(key, format!("must be an integer, is {node}{hint}"));
            return None;
        };
        if let JsonValue::Bool(given) = node {
            self.warning(key, format!("is {given}, taken as {value}"));
        }
        self.check_range(key, value, range, unit)
    }

    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        let node = self.get(key)?;
        self.check_number(key, node)
    }

    pub(super) fn numbers<const N: usize>(&mut self, key: &str) -> Option<[f64; N]> {
        let values = self.array(key, N, "")?;
        self.check_numbers(key, values)?.try_into().ok()
    }

    pub(super) fn check_numbers(&mut self, key: &str, values: &[JsonValue]) -> Option<Vec<f64>> {
        let values = values.iter().enumerate();
        let numbers: Vec<_> =
            values.map(|(i, value)| self.check_number(&format!("{key}[{i}]"), value)).collect();
        numbers.into_iter().collect()
    }

    /// Returns an array of a given length; a problem names `why` after the length.
    pub(super) fn array(&mut self, key: &str, length: usize, why: &str) -> Option<&'a [JsonValue]> {
        let why = match self.get(key)? {
            JsonValue::Array(values) if values.len() == length => return Some(values),
            JsonValue::Array(values) => {
                format!("must have {length} values{why}, has {}", values.len())
            }
            other => format!("must be an array of {length} values{why}, is {other}"),
        };
        self.problem(key, why);
        None
    }

    pub(super) fn check_integer<T: TryFrom<i64>>(
        &mut self,
        key: &str,
        node: &JsonValue,
        range: RangeInclusive<i64>,
    ) -> Option<T> {
        let value = node.integer();
        if value.is_none() {
            self.problem(key, format!("must be an integer, is {node}"));
        }
        self.check_range(key, value?, range, "")
    }

    /// Returns a number in the range of single precision, the type on the wire.
    pub(super) fn check_number(&mut self, key: &str, node: &JsonValue) -> Option<f64> {
        let why = match node.number() {
            Some(value) if (value as f32).is_finite() => return Some(value),
            Some(_) => format!("does not fit single precision, is {node}"),
            None => {
                let hint = match node {
                    JsonValue::Str(text) if text.trim().parse::<f64>().is_ok() => {
                        "; remove the quotes"
                    }
                    _ => "",
                };
                format!("must be a number, is {node}{hint}")
            }
        };
        self.problem(key, why);
        None
    }

    fn check_range<T: TryFrom<i64>>(
        &mut self,
        key: &str,
        value: i64,
        range: RangeInclusive<i64>,
        unit: &str,
    ) -> Option<T> {
        if range.contains(&value) {
            return value.try_into().ok();
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        self.problem(key, format!("must be in {range:?}{unit}, is {value}"));
        None
    }
}
