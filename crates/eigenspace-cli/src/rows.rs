//! Checks the rows of a command against a model, reads them ahead with a progress bar, and explains
//! what is wrong with them.

use std::path::{Path, PathBuf};

use eigenspace::internal::{Prefetch, begins_like_a_model};
use eigenspace::io::source::{Columns, Format, Notice, RowBlock, RowSource, SourceError};
use eigenspace::io::{Error, FileKind};
use eigenspace::{Metadata, Missing};

use crate::failure::Failure;
use crate::options::Input;
use crate::paths::{is_standard_input, names};
use crate::progress::Progress;
use crate::{advice, shell, table};

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

/// An error about a row of a block, with the location of the row.
pub(crate) fn located(error: anyhow::Error, block: &RowBlock, columns: &Columns) -> anyhow::Error {
    match error.downcast::<eigenspace::Error>() {
        Ok(error) => block.origin.locate(error, columns).into(),
        Err(other) => other,
    }
}
