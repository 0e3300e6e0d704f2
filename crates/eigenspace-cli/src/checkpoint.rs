//! Checkpoints, from which an interrupted fit resumes.
//!
//! A checkpoint file holds the stream, the number of rows read so far, and a fingerprint of the
//! input: the path, length and modification time of each file, and a SHA-256 over samples of its
//! bytes. An input with another fingerprint is rejected.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use eigenspace::internal::FileEdit;
use eigenspace::io::{Error, FormatError};
use eigenspace::{EigenspaceStream, FitOptions};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::paths;

/// Number of samples taken of a file, spread evenly, and the bytes of each.
const SAMPLES: u64 = 64;
const SAMPLE: u64 = 4096;

/// The file to which a fit saves its state, and how often. The file is locked against other fits.
pub(crate) struct Checkpoint {
    path: PathBuf,
    file: FileEdit,
    every: u64,
    input: Value,
    /// Rows read when the file was last written.
    written: u64,
}

impl Checkpoint {
    /// Takes the fingerprint of the input, including a file of weights.
    pub(crate) fn new(path: &Path, every: u64, inputs: &Inputs<'_>) -> anyhow::Result<Self> {
        if inputs.named().any(paths::is_standard_input) {
            return Err(Failure::CheckpointOfInput.into());
        }
        let files = inputs.files().map(|file| fingerprint(file)).collect::<Result<Vec<_>, _>>()?;
        let in_use = || Failure::CheckpointInUse { path: path.to_owned() };
        Ok(Self {
            path: path.to_owned(),
            file: FileEdit::try_open_or_new(path)?.ok_or_else(in_use)?,
            every,
            input: json!({ "files": files, "reading": format!("{:?} {:?}", inputs.options(), inputs.weights()) }),
            written: 0,
        })
    }

    /// The stream and the number of rows read by an earlier fit, if there was one.
    pub(crate) fn resume(&mut self, options: &FitOptions) -> anyhow::Result<Option<(EigenspaceStream, u64)>> {
        let bytes = match std::fs::read(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|source| Error::Io { action: "read", path: self.path.clone(), source })?,
        };
        let (stream, progress) = EigenspaceStream::restore(&bytes, options).map_err(|error| match error {
            Error::Format(FormatError::NoCheckpoint) => Failure::NotACheckpoint { path: self.path.clone() }.into(),
            Error::Format(source) => Failure::BrokenCheckpoint { path: self.path.clone(), source }.into(),
            Error::OptionsDiffer { option } => {
                let what = format!("it was made with another {}", flag(&option));
                Failure::OtherInput { path: self.path.clone(), what }.into()
            }
            other => anyhow::Error::from(other)
                .context(format!("cannot resume from the checkpoint `{}`", self.path.display())),
        })?;
        // A program that uses the library can write something else.
        let foreign = || Failure::NotACheckpoint { path: self.path.clone() };
        let progress: Value = serde_json::from_str(&progress).map_err(|_| foreign())?;
        if let Some(what) = difference(&progress["input"], &self.input) {
            return Err(Failure::OtherInput { path: self.path.clone(), what }.into());
        }
        let rows = progress["rows"].as_u64().ok_or_else(foreign)?;
        self.written = rows;
        Ok(Some((stream, rows)))
    }

    /// Saves the state if enough rows have been read since the last time.
    pub(crate) fn save_if_due(&mut self, stream: &EigenspaceStream, rows: u64) -> Result<(), Error> {
        if rows - self.written < self.every {
            return Ok(());
        }
        let progress = json!({ "input": self.input, "rows": rows }).to_string();
        self.file.replace(&stream.checkpoint(&progress))?;
        self.written = rows;
        Ok(())
    }

    /// Removes the checkpoint of a fit that is complete and saved.
    pub(crate) fn remove(self) -> Result<(), Error> {
        self.file.remove()
    }
}

/// The option of the command that sets an option of a fit.
fn flag(option: &str) -> String {
    match option {
        "components" => "-k".into(),
        "forgetting" => "--forgetting or --half-life".into(),
        "centered" => "--uncentered".into(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

/// The first difference between two fingerprints.
fn difference(before: &Value, now: &Value) -> Option<String> {
    if before == now {
        return None;
    }
    let empty = Vec::new();
    let (old, new) = (before["files"].as_array().unwrap_or(&empty), now["files"].as_array().unwrap_or(&empty));
    if old.len() != new.len() {
        return Some(format!(
            "the checkpoint was written for {} input files, but now there are {}",
            old.len(),
            new.len()
        ));
    }
    for (old, new) in old.iter().zip(new) {
        let name = |file: &Value| file["path"].as_str().unwrap_or("?").to_owned();
        if old["path"] != new["path"] {
            return Some(format!("the input was `{}` and is now `{}`", name(old), name(new)));
        }
        if old != new {
            return Some(format!("`{}` has changed since the checkpoint was written", name(new)));
        }
    }
    Some("the options for reading the input have changed".into())
}

/// The fingerprint of a file, or of a directory of images.
fn fingerprint(path: &Path) -> Result<Value, Error> {
    let mut sum = Sha256::new();
    let (mut bytes, mut modified) = (0, 0);
    let visit = |file: &Path, sum: &mut Sha256| -> std::io::Result<(u64, u128)> {
        let found = file.metadata()?;
        let time = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        sample(file, found.len(), sum)?;
        Ok((found.len(), time.map_or(0, |time| time.as_nanos())))
    };
    for file in files_in(path)? {
        // Relative to the directory, so that the way to it does not matter.
        sum.update(file.strip_prefix(path).unwrap_or(&file).to_string_lossy().as_bytes());
        let (length, time) =
            visit(&file, &mut sum).map_err(|source| Error::Io { action: "read", path: file.clone(), source })?;
        bytes += length;
        modified = modified.max(time);
    }
    let sum: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(json!({ "path": path.to_string_lossy(), "bytes": bytes, "modified": modified.to_string(), "sample": sum }))
}

/// The file itself, or every image below a directory; other files there, such as the checkpoint,
/// are not read.
fn files_in(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    Ok(eigenspace::internal::image_files(path)?.iter().map(|image| path.join(image)).collect())
}

fn sample(path: &Path, length: u64, sum: &mut Sha256) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let whole = length <= SAMPLES * SAMPLE;
    let places = if whole { 1 } else { SAMPLES };
    for place in 0..places {
        let (offset, take) = if whole { (0, length) } else { ((length - SAMPLE) * place / (SAMPLES - 1), SAMPLE) };
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        (&mut file).take(take).read_to_end(&mut bytes)?;
        sum.update(&bytes);
    }
    Ok(())
}
