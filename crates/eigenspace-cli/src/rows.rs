//! Opens the rows of a command, checks them against a model, and reads them ahead with a progress
//! bar.

use std::path::{Path, PathBuf};

use eigenspace::internal::{self, AtomicFile, InputFiles, Prefetch, begins_like_a_model};
use eigenspace::io::source::{Columns, Format, Notice, ReadOptions, RowBlock, RowSource, SourceError};
use eigenspace::io::{Error, FileKind};
use eigenspace::{Metadata, Missing};

use crate::args::Input;
use crate::failure::Failure;
use crate::inputs::{Inputs, leads_to};
use crate::progress::Progress;
use crate::{advice, output, shell, table};

/// Opens rows that must have the columns of a model. Named columns may come in any order.
pub(crate) fn open_for(
    data: &[PathBuf],
    input: &Input,
    metadata: &Metadata,
    features: usize,
) -> anyhow::Result<Box<dyn RowSource>> {
    Inputs::find(data, input)?.open_for(metadata, features)
}

/// Adds a hint to an error that the options of the input explain.
pub(crate) fn advised(input: &Input) -> impl Fn(anyhow::Error) -> anyhow::Error {
    |error| {
        let hint = advice::on_options(&error, input);
        Failure::advised(error, hint)
    }
}

/// An error of the library; a model in place of rows gets an error of its own.
pub(crate) fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::Source { path, source: SourceError::UnknownFormat } if begins_like_a_model(&path) == Some(true) => {
            Failure::ModelForRows { path }.into()
        }
        Error::Source { path, source: SourceError::OtherFile { kind: FileKind::Safetensors } } => {
            Failure::ModelForRows { path }.into()
        }
        other => other.into(),
    }
}

/// A notice of the library, with the option that changes the behavior.
pub(crate) fn notice_text(notice: &Notice) -> String {
    match notice {
        Notice::IndexColumn { .. } => format!("{notice} (use --keep-index to keep it)"),
        Notice::NumbersInHeader { .. } => format!("{notice} (use --no-header)"),
        Notice::OnlyNumbersInFirstLine => format!("{notice} (use --header)"),
        Notice::ImagesBesideTables { .. } => format!("{notice} (use --format images)"),
        other => other.to_string(),
    }
}

/// Compares the columns of rows with those of a model.
pub(crate) fn check(
    columns: &Columns,
    metadata: &Metadata,
    features: usize,
    input: &Input,
    data: &[PathBuf],
) -> anyhow::Result<()> {
    let chosen = !input.columns.is_empty();
    let path = data.first().expect("rows were opened, so there is a path").clone();
    if let Some(expected) = metadata.image() {
        let image = columns.image_file.clone().unwrap_or_else(|| path.clone());
        columns.check_image(expected).map_err(|source| Error::Source { path: image, source })?;
    }
    // In a table without names, chosen columns are matched by position.
    let names = columns.names.as_ref().filter(|_| !(chosen && columns.numbered));
    if let (Some(here), Some(there)) = (names, metadata.feature_names())
        && let Some(column) = there.iter().find(|&name| !here.contains(name))
    {
        if chosen {
            return Err(Failure::NotChosen { path, column: column.clone(), chosen: here.clone() }.into());
        }
        if input.excludes(column) {
            return Err(Failure::ModelExcluded { path, column: column.clone() }.into());
        }
        return Err(Failure::ModelColumn { path, column: column.clone(), available: here.clone() }.into());
    }
    if columns.count != features {
        let source = SourceError::ColumnCount { expected: features, found: columns.count };
        return Err(Error::Source { path, source }.into());
    }
    if let (Some(here), Some(there)) = (names, metadata.feature_names())
        && let Some((found, expected)) = here.iter().zip(there).find(|(here, there)| here != there)
    {
        return Err(Failure::ColumnOrder { path, expected: expected.clone(), found: found.clone() }.into());
    }
    Ok(())
}

/// Passes every block to `each`, with a progress bar. An error about a row of a block gets the
/// location of the row.
pub(crate) fn for_each(
    what: &str,
    rows: Box<dyn RowSource>,
    first: u64,
    mut each: impl FnMut(&RowBlock) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut progress = Progress::new(what, first, rows.rows());
    let done = for_each_quietly(rows, |block| {
        each(block)?;
        progress.add(block.rows() as u64);
        Ok(())
    })?;
    progress.finish();
    Ok(first + done)
}

/// The same without a progress bar. Returns the number of rows.
pub(crate) fn for_each_quietly(
    rows: Box<dyn RowSource>,
    mut each: impl FnMut(&RowBlock) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let blocks = Prefetch::new(rows);
    let columns = blocks.columns().clone();
    let mut done = 0;
    for block in blocks {
        let block = block.map_err(explained)?;
        each(&block).map_err(|error| located(error, &block, &columns))?;
        done += block.rows() as u64;
    }
    Ok(done)
}

/// The error of a fit that has read this many rows and used none of them.
pub(crate) fn no_rows(data: &[PathBuf], input: &Input, missing: Missing, rows: u64) -> Failure {
    let weighted = input.weights.is_some() || input.weight_column.is_some();
    let (reason, hint) = match (missing, weighted) {
        _ if rows == 0 => {
            let (has, hint) = match data {
                [path] if is_standard_input(path) => ("has", advice::EMPTY_PIPE),
                [_] => ("has", advice::EMPTY_FILE),
                _ => ("have", advice::EMPTY_FILES),
            };
            return Failure::NoRows { input: format!("{} {has}", names(data)), hint };
        }
        (Missing::Skip, false) => ("have missing cells and were skipped", ALL_SKIPPED),
        (Missing::Skip, true) => ("have missing cells or weight 0 and were skipped", ALL_SKIPPED),
        (Missing::Impute, false) => ("have no value in any cell", ALL_EMPTY),
        (Missing::Impute, true) => ("have weight 0 or no value in any cell", ALL_EMPTY),
        _ => ("have weight 0", "give some rows a weight above 0"),
    };
    let reason = match rows {
        1 => format!("the only row {}", reason.replace("have", "has").replace("were", "was")),
        rows => format!("all {} rows {reason}", table::count(rows)),
    };
    Failure::AllLeftOut { reason, hint }
}

/// The hints for input of which no row was used.
pub(crate) const ALL_SKIPPED: &str =
    "fill missing cells with --missing impute, or leave out the columns that have many of them";
const ALL_EMPTY: &str = "check that this is the right file, and that --na does not match all cells";

/// The error of reading a stream. It names the column if no row has a value in it.
pub(crate) fn unreadable(error: eigenspace::Error, data: &[PathBuf], columns: &Columns) -> anyhow::Error {
    let eigenspace::Error::NeverObserved { column, .. } = error else { return error.into() };
    let column = columns.name(column);
    let file = data.first().map_or(Path::new(""), PathBuf::as_path);
    // Columns of arrays and images cannot be left out.
    let array = |path: &PathBuf| matches!(Format::of(path), Some(Format::Npy | Format::Npz | Format::Images));
    let exclude = (!data.iter().any(array)).then(|| shell::list_option("--exclude", advice::excludable(&column, file)));
    Failure::NeverObserved { input: names(data), column, exclude }.into()
}

/// The inputs of a command, for a message.
pub(crate) fn names(data: &[PathBuf]) -> String {
    let name = |path: &PathBuf| match is_standard_input(path) {
        true => "standard input".to_owned(),
        false => format!("`{}`", path.display()),
    };
    table::list(&data.iter().map(name).collect::<Vec<_>>())
}

/// An error about a row of a block, with the location of the row.
pub(crate) fn located(error: anyhow::Error, block: &RowBlock, columns: &Columns) -> anyhow::Error {
    match error.downcast::<eigenspace::Error>() {
        Ok(error) => block.origin.locate(error, columns).into(),
        Err(other) => other,
    }
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
    let rows = internal::follow(path, &options, stop)?;
    for notice in &rows.columns().notices {
        output::message(&notice_text(notice));
    }
    check(rows.columns(), metadata, features, input, &data)?;
    Ok(rows)
}

/// Whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Checks that a file can be written, before the work starts.
pub(crate) fn try_output(path: &Path) -> anyhow::Result<()> {
    if is_standard_input(path) {
        return Err(Failure::NoFile.into());
    }
    AtomicFile::sweep(path);
    AtomicFile::create(path)?;
    Ok(())
}

/// The same for a model or a recognizer, which must not replace a file of another kind, such as a
/// table.
pub(crate) fn try_model_or_recognizer(path: &Path) -> anyhow::Result<()> {
    if path.is_file() && !may_be_model(path) {
        return Err(Failure::NotAModel { path: path.to_owned() }.into());
    }
    try_output(path)?;
    if Format::of(path).is_some() {
        output::message(&format!(
            "`{}` becomes a model, but its name ends like that of a data file; use a name that ends in .safetensors",
            path.display()
        ));
    }
    Ok(())
}

/// Whether a file is empty, cannot be read, or begins like a model.
pub(crate) fn may_be_model(path: &Path) -> bool {
    begins_like_a_model(path).unwrap_or(true)
}

/// The first path that is a model instead of rows.
pub(crate) fn find_model(data: &[PathBuf]) -> Option<&PathBuf> {
    data.iter().find(|path| Format::of(path).is_none() && begins_like_a_model(path) == Some(true))
}

/// The same for a model, which must not replace a recognizer either: its people would be lost.
pub(crate) fn try_model(path: &Path) -> anyhow::Result<()> {
    if path.is_file() && internal::is_recognizer(path) {
        return Err(Failure::IsRecognizer { path: path.to_owned() }.into());
    }
    try_model_or_recognizer(path)
}

/// Fails if the output would overwrite an image or another file that the command reads.
pub(crate) fn spare_images(data: &[PathBuf], output: &Path) -> anyhow::Result<()> {
    if !output.exists() {
        return Ok(());
    }
    let same = leads_to(output);
    for path in InputFiles::find(data, &ReadOptions::new().format(Format::Images))?.paths() {
        let inside = if path.is_dir() { internal::image_files(path)? } else { Vec::new() };
        if same(path) || inside.iter().any(|file| same(&path.join(file))) {
            return Err(Failure::OverInput { path: output.to_owned() }.into());
        }
    }
    Ok(())
}
