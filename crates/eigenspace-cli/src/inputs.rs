//! The files of the rows and weights of a command. Patterns and directories are expanded once, when
//! the command begins; everything after that sees the same files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use eigenspace::Metadata;
use eigenspace::internal::InputFiles;
use eigenspace::io::Error;
use eigenspace::io::source::{ReadOptions, RowSource, SourceError, Weighted};

use crate::failure::{AS_ROWS_TWICE, Failure};
use crate::options::Input;
use crate::paths::{self, is_standard_input, leads_to};
use crate::rows::{self, advised, explained};
use crate::{applicable, output};

/// The files that a command reads, and how to read them.
pub(crate) struct Inputs<'a> {
    data: &'a [PathBuf],
    input: &'a Input,
    options: ReadOptions,
    rows: InputFiles,
    weights: Option<(&'a Path, InputFiles)>,
}

impl<'a> Inputs<'a> {
    /// Finds the files that were named.
    pub(crate) fn find(data: &'a [PathBuf], input: &'a Input) -> anyhow::Result<Self> {
        let options = input.options()?;
        let from_pipe = data.iter().filter(|path| is_standard_input(path)).count();
        let passed = match input.weights.as_deref() {
            _ if from_pipe > 1 => Some(AS_ROWS_TWICE),
            Some(path) if from_pipe > 0 && is_standard_input(path) => Some("both as rows and with --weights"),
            _ => None,
        };
        if let Some(passed) = passed {
            return Err(Failure::InputTwice { passed }.into());
        }
        let rows = InputFiles::find(data, &options).map_err(anyhow::Error::from).map_err(advised(input))?;
        let weights = match input.weights.as_deref() {
            Some(path) => Some((path, InputFiles::find(&[path], &options)?)),
            None => None,
        };
        Ok(Self { data, input, options, rows, weights })
    }

    /// The paths as they were named.
    pub(crate) fn named(&self) -> impl Iterator<Item = &'a Path> {
        self.data.iter().map(PathBuf::as_path).chain(self.weights())
    }

    /// Says which file of rows was given more than once.
    pub(crate) fn notify_of_repetition(&self) {
        notify_of_repetition(self.rows.paths());
    }

    /// An error while reading the rows, with a hint about the options; if there is another number of
    /// weights, it names both.
    pub(crate) fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        match (error.downcast_ref(), self.weights()) {
            (Some(Error::Model(eigenspace::Error::WeightCount { rows, weights })), Some(path)) => {
                let (input, path) = (paths::names(self.data), path.to_owned());
                Failure::WeightCount { path, input, rows: *rows as u64, weights: *weights as u64 }.into()
            }
            _ => advised(self.input)(error),
        }
    }

    /// The files of rows, and those of weights.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.rows.paths().iter().chain(self.weights.iter().flat_map(|(_, files)| files.paths()))
    }

    /// The file of weights as it was named.
    pub(crate) fn weights(&self) -> Option<&'a Path> {
        self.input.weights.as_deref()
    }

    /// How the files are read.
    pub(crate) fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Whether a file to write is one of these files.
    pub(crate) fn contain(&self, output: &Path) -> bool {
        let same = leads_to(output);
        !is_standard_input(output) && self.files().any(|file| same(file))
    }

    /// Fails if the output would overwrite one of these files.
    pub(crate) fn spare(&self, output: &Path) -> Result<(), Failure> {
        if self.contain(output) { Err(Failure::OverInput { path: output.to_owned() }) } else { Ok(()) }
    }

    /// Opens the rows, with their weights.
    pub(crate) fn open(&self) -> anyhow::Result<Box<dyn RowSource>> {
        self.open_with(&self.options)
    }

    /// Opens the rows and keeps only the columns with numbered names, if there are any.
    pub(crate) fn open_numbered(&self, prefixes: &[&str]) -> anyhow::Result<Box<dyn RowSource>> {
        self.open_with(&self.options.clone().numbered(prefixes.iter().copied()))
    }

    /// Opens rows that must have the columns of a model. Named columns may come in any order.
    pub(crate) fn open_for(&self, metadata: &Metadata, features: usize) -> anyhow::Result<Box<dyn RowSource>> {
        // Standard input can be opened only once, so the reader must know the columns in advance.
        let mut options = self.options.clone().model_features(features);
        if let Some(names) = metadata.feature_names() {
            options = options.model_columns(names);
        }
        let opened = self.open_with(&options)?;
        rows::check(opened.columns(), metadata, features, self.input, self.data).map_err(advised(self.input))?;
        Ok(opened)
    }

    fn open_with(&self, options: &ReadOptions) -> anyhow::Result<Box<dyn RowSource>> {
        applicable::check_input(self.rows.paths(), self.input).map_err(advised(self.input))?;
        let opened = self.rows.open(options).map_err(explained).map_err(advised(self.input))?;
        for notice in &opened.columns().notices {
            output::message(&rows::notice_text(notice));
        }
        let Some((path, files)) = &self.weights else { return Ok(opened) };
        let weights = files.open(&ReadOptions::new().vector(true)).map_err(|error| match error {
            Error::Source { path, source: SourceError::ColumnType { column, dtype, .. } } => {
                Error::Source { path, source: SourceError::WeightType { column, dtype } }
            }
            other => other,
        })?;
        let weighted = Weighted::new(opened, weights).map_err(|error| match error {
            Error::Source { source, .. } => Error::Source { path: (*path).to_owned(), source },
            other => other,
        })?;
        Ok(Box::new(weighted))
    }
}

/// Says which of these files was given more than once, because its rows then count as often.
pub(crate) fn notify_of_repetition(paths: &[PathBuf]) {
    let mut seen = HashSet::new();
    let mut files = paths.iter().filter(|path| !is_standard_input(path));
    if let Some(path) = files.find(|path| !seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()))) {
        output::message(&format!("`{}` was given twice; its rows count twice", path.display()));
    }
}

/// Opens rows that must have the columns of a model. Named columns may come in any order.
pub(crate) fn open_for(
    data: &[PathBuf],
    input: &Input,
    metadata: &Metadata,
    features: usize,
) -> anyhow::Result<Box<dyn RowSource>> {
    Inputs::find(data, input)?.open_for(metadata, features)
}

/// Opens a text file for reading while it grows, or standard input; its rows must have the columns
/// of a model.
#[cfg(feature = "explore")]
pub(crate) fn follow_for(
    path: &Path,
    input: &Input,
    metadata: &Metadata,
    features: usize,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
) -> anyhow::Result<Box<dyn RowSource>> {
    let data = [path.to_owned()];
    if is_standard_input(path) {
        return open_for(&data, input, metadata, features);
    }
    let mut options = input.options()?.model_features(features);
    if let Some(names) = metadata.feature_names() {
        options = options.model_columns(names);
    }
    let rows = eigenspace::internal::follow(path, &options, stop)?;
    for notice in &rows.columns().notices {
        output::message(&rows::notice_text(notice));
    }
    rows::check(rows.columns(), metadata, features, input, &data)?;
    Ok(rows)
}
