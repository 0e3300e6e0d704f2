//! Model files: written completely or not at all, and read only up to the length that the header
//! states.
//!
//! ```text
//! save = to_bytes ─► AtomicFile        load = header ─► stated length ─► bytes ─► checks
//! ```

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use serde_json::Value;

use crate::io::atomic::AtomicFile;
use crate::io::error::{Error, FormatError};
use crate::io::file_kind::{FileKind, START};
use crate::io::format::parse;
use crate::io::header::KEY;
use crate::io::tensors::{HEADER_LIMIT, announced_length};
use crate::model::eigenspace_model::EigenspaceModel;

impl EigenspaceModel {
    /// Writes the file atomically: to a temporary file in the same directory, which is synced and
    /// then renamed. If anything fails, an existing file is unchanged. A model replaces only a
    /// model: a recognizer and a file of another kind, such as a table, are an error.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        if path.is_file() && is_recognizer(path) {
            return Err(Error::Occupied { path: path.into(), recognizer: true });
        }
        check_replaceable(path)?;
        AtomicFile::write(path, &self.to_bytes())
    }

    /// Reads a model file and checks it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        match parse(&read(path, "model")?) {
            Ok((model, ..)) => Ok(model),
            Err(source) => Err(Error::File { path: path.into(), source }),
        }
    }
}

/// The bytes of a file that has the length stated in its header; `expected` is `model` or
/// `recognizer`.
pub(crate) fn read(path: &Path, expected: &'static str) -> Result<Vec<u8>, Error> {
    read_announced(path, expected)
        .map_err(|source| Error::Io { action: "read", path: path.into(), source })?
        .map_err(|source| Error::File { path: path.into(), source })
}

/// Fails if a model or a recognizer would replace a file of another kind.
pub(crate) fn check_replaceable(path: &Path) -> Result<(), Error> {
    if path.is_file() && begins_like_a_model(path) == Some(false) {
        return Err(Error::Occupied { path: path.into(), recognizer: false });
    }
    Ok(())
}

/// Whether a file begins with the length of a header in braces; `None` if it is empty or cannot be
/// read.
pub fn begins_like_a_model(path: &Path) -> Option<bool> {
    const LENGTH: usize = 8;
    let mut start = [0; LENGTH + 1];
    let mut file = File::open(path).ok()?;
    if file.metadata().ok()?.len() == 0 {
        return None;
    }
    Some(file.read_exact(&mut start).is_ok() && start[LENGTH] == b'{')
}

/// Whether a file is a recognizer. Only its header is read, so its tensors may be broken.
pub fn is_recognizer(path: &Path) -> bool {
    let header = header(path, KEY).and_then(|header| serde_json::from_str::<Value>(&header).ok());
    header.is_some_and(|header| header.get("faces").is_some())
}

/// The entry with this key in the header of a file, of which nothing else is read; `None` if there
/// is none, or if the file is broken.
fn header(path: &Path, key: &str) -> Option<String> {
    let bytes = read_header(&mut File::open(path).ok()?, "model").ok()?.ok()?;
    // The reader of safetensors demands the tensors too.
    let header: Value = serde_json::from_slice(bytes.get(8..)?).ok()?;
    Some(header.get("__metadata__")?.get(key)?.as_str()?.to_owned())
}

/// Reads at most as many bytes as the header states, and rejects a file of another length.
fn read_announced(path: &Path, expected: &'static str) -> std::io::Result<Result<Vec<u8>, FormatError>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = match read_header(&mut file, expected)? {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Err(error)),
    };
    let announced = match announced_length(&bytes) {
        Ok(announced) => announced,
        Err(error) => return Ok(Err(error)),
    };
    if announced != length {
        return Ok(Err(FormatError::Truncated { expected: announced, found: length }));
    }
    let rest = length - bytes.len() as u64;
    let fits = usize::try_from(rest).is_ok_and(|rest| bytes.try_reserve_exact(rest).is_ok());
    if !fits {
        return Ok(Err(FormatError::TooLarge { bytes: length }));
    }
    file.take(rest).read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}

/// Reads the length of the header and the header.
fn read_header(file: &mut File, expected: &'static str) -> std::io::Result<Result<Vec<u8>, FormatError>> {
    let length = file.metadata()?.len();
    let mut start = Vec::new();
    (&mut *file).take(START as u64).read_to_end(&mut start)?;
    if let Some(kind) = FileKind::of(&start) {
        return Ok(Err(FormatError::OtherFile { kind, expected }));
    }
    file.rewind()?;
    let mut start = [0_u8; 8];
    if length < 8 {
        return Ok(Err(FormatError::Truncated { expected: 8, found: length }));
    }
    file.read_exact(&mut start)?;
    let header = u64::from_le_bytes(start);
    if header > HEADER_LIMIT {
        return Ok(Err(FormatError::NotSafetensors));
    }
    if length < 8 + header {
        return Ok(Err(FormatError::Truncated { expected: 8 + header, found: length }));
    }
    let mut bytes = start.to_vec();
    file.take(header).read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}
