//! Reads files that parameters name. [`Files`] keeps their contents: a recording contains what the bridge used.
use crate::config::{Problem, Problems, encoding};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Limits of a text (one line per sensor or model) and of an elevation image.
const MAX_TEXT_BYTES: u64 = 16 << 20;
const MAX_IMAGE_BYTES: u64 = 512 << 20;

/// A file as the bridge uses it: a text is converted to UTF-8.
#[derive(Clone, Debug)]
pub struct NamedFile {
    /// The parameter or option that names it.
    pub parameter: &'static str,
    /// Its path.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Reads files; keeps their contents and problems.
#[derive(Default)]
pub(super) struct Files {
    pub(super) loaded: Vec<NamedFile>,
    pub(super) problems: Problems,
    pub(super) warnings: Vec<Problem>,
}

impl Files {
    /// Returns the path as text, and the contents.
    pub(super) fn load_text(
        &mut self,
        parameter: &'static str,
        path: &Path,
    ) -> Option<(String, String)> {
        let name = path.display().to_string();
        let read = read_text(path).map_err(|why| self.problems.push(&name, why));
        let (text, encoding) = read.ok()?;
        if let Some(encoding) = encoding {
            let what = format!("is decoded as {encoding}; write it in UTF-8, which needs no guess");
            self.warnings.push(Problem::new(&name, what));
        }
        self.keep(parameter, path, text.clone().into_bytes());
        Some((name, text))
    }

    pub(super) fn load_bytes(&mut self, parameter: &'static str, path: &Path) -> Option<Vec<u8>> {
        let read = read(path, MAX_IMAGE_BYTES).map_err(|error| {
            let problem = format!("{} cannot be read: {error}", path.display());
            self.problems.push(parameter, problem);
        });
        let bytes = read.ok()?;
        self.keep(parameter, path, bytes.clone());
        Some(bytes)
    }

    fn keep(&mut self, parameter: &'static str, path: &Path, bytes: Vec<u8>) {
        self.loaded.push(NamedFile { parameter, path: path.to_owned(), bytes });
    }
}

/// The text of a file, and its encoding if that is not UTF-8.
pub(super) fn read_text(path: &Path) -> Result<(String, Option<&'static str>), String> {
    let bytes = read(path, MAX_TEXT_BYTES).map_err(|error| format!("cannot be read: {error}"))?;
    encoding::decode(bytes)
}

/// Reads a file of at most `limit` bytes; a device may have no end.
fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let limit = limit >> 20;
        return Err(io::Error::other(format!("it is larger than {limit} MiB")));
    }
    Ok(bytes)
}
