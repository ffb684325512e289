use std::fmt;

/// A parameter of the bridge that goes with the files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Need {
    /// Its name.
    pub name: String,
    /// The value that the consumer needs.
    pub value: &'static str,
    /// The value now, if that does not fit.
    pub now: Option<String>,
    /// What needs it.
    pub why: &'static str,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, why, .. } = self;
        write!(f, "-p {name}:={value}   ")?;
        match &self.now {
            Some(now) => write!(f, "does not fit now, is {now}: {why}"),
            None => write!(f, "is so: {why}"),
        }
    }
}
