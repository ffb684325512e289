use std::fmt;

/// One problem, with its place.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Problem {
    /// Place, for example `Config.json: VisionSensors[1].DataWidth` or `imu.rate_hz`.
    pub path: String,
    /// What is wrong, with the value found, the allowed values and a suggestion if there is one.
    pub message: String,
}

impl Problem {
    /// Creates a problem.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", truncate(&self.path), self.message)
    }
}

/// Maximum length of a printed path in characters: an input may have names of any length.
const MAX_PATH: usize = 200;
/// Maximum width of the column of paths in characters.
const MAX_COLUMN: usize = 80;

fn truncate(path: &str) -> std::borrow::Cow<'_, str> {
    match path.char_indices().nth(MAX_PATH) {
        Some((end, _)) => format!("{}...", &path[..end]).into(),
        None => path.into(),
    }
}

/// All problems of all inputs, in the order of the inputs. As an error it is never empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Adds a problem.
    pub fn push(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem::new(path, message));
    }

    /// Returns the value of a result, or adds its problems.
    pub fn keep<T>(&mut self, result: Result<T, impl Into<Self>>) -> Option<T> {
        result.map_err(Into::into).map_err(|Self(found): Self| self.0.extend(found)).ok()
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `value` if there is no problem.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    /// A headline, then one line per problem, with aligned messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width =
            self.0.iter().map(|p| p.path.chars().count()).max().unwrap_or(0).min(MAX_COLUMN);
        let plural = if self.0.len() == 1 { "" } else { "s" };
        write!(f, "{} problem{plural}", self.0.len())?;
        for problem in &self.0 {
            write!(f, "\n  {:width$}   {}", truncate(&problem.path), problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Returns the known word that `word` probably misspells, shortens or lengthens.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (similarity(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Minimum similarity of a suggested name.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns a similarity from 0 to 1. The edit distance detects typing errors; containment relates `frame` to `map_frame`, and
/// `DataCheckFrequency` to `DataCheckFreq`.
fn similarity(word: &str, candidate: &str) -> f64 {
    let (a, b) = (word.chars().count() as f64, candidate.chars().count() as f64);
    // Words of very different lengths are not similar; counting their edits would take time in proportion to both lengths.
    let by_edits = match a.min(b) / a.max(b) < MIN_SIMILARITY {
        true => 0.0,
        false => strsim::normalized_damerau_levenshtein(word, candidate),
    };
    let (short, long) =
        if word.len() < candidate.len() { (word, candidate) } else { (candidate, word) };
    if short.len() >= 4 && long.contains(short) {
        by_edits.max(MIN_SIMILARITY + 0.2 * short.len() as f64 / long.len() as f64)
    } else {
        by_edits
    }
}

/// Returns `; did you mean "x"?` or nothing.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, known).map(|c| format!("; did you mean \"{c}\"?")).unwrap_or_default()
}
