//! Files that parameters name, read once, so that a recording contains the bytes that the bridge used.
use crate::config::{Problem, Problems, encoding};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Limits in bytes of a text (one line per sensor or model) and of an image of heights.
const TEXT: u64 = 16 << 20;
const PICTURE: u64 = 512 << 20;

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct NamedFile {
    /// The parameter that names it.
    pub parameter: &'static str,
    /// Its path.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Reads files; keeps their contents and problems.
#[derive(Default)]
pub(super) struct Files {
    pub(super) read: Vec<NamedFile>,
    pub(super) problems: Problems,
    pub(super) warnings: Vec<Problem>,
}

impl Files {
    pub(super) fn text(
        &mut self,
        parameter: &'static str,
        path: &Path,
    ) -> Option<(String, String)> {
        let name = path.display().to_string();
        let read = read_text(path).map_err(|why| self.problems.push(&name, why));
        let (text, other) = read.ok()?;
        if let Some(other) = other {
            let what = format!("is decoded as {other}; write it in UTF-8, which needs no guess");
            self.warnings.push(Problem::new(&name, what));
        }
        self.keep(parameter, path, text.clone().into_bytes());
        Some((name, text))
    }

    pub(super) fn bytes(&mut self, parameter: &'static str, path: &Path) -> Option<Vec<u8>> {
        let read = read(path, PICTURE).map_err(|error| {
            let problem = format!("{} cannot be read: {error}", path.display());
            self.problems.push(parameter, problem);
        });
        let bytes = read.ok()?;
        self.keep(parameter, path, bytes.clone());
        Some(bytes)
    }

    fn keep(&mut self, parameter: &'static str, path: &Path, bytes: Vec<u8>) {
        self.read.push(NamedFile { parameter, path: path.to_owned(), bytes });
    }
}

/// The text of a file, and its encoding if that is not UTF-8.
pub(super) fn read_text(path: &Path) -> Result<(String, Option<&'static str>), String> {
    let bytes = read(path, TEXT).map_err(|error| format!("cannot be read: {error}"))?;
    encoding::decode(bytes)
}

/// The contents of a file of at most `most` bytes; a device may have no end.
fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let most = most >> 20;
        return Err(io::Error::other(format!("it is larger than {most} MiB")));
    }
    Ok(bytes)
}
