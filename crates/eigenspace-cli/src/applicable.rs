//! Which options concern which formats. An option that would be ignored is an error.

use std::path::{Path, PathBuf};

use eigenspace::io::source::Format;

use crate::failure::Failure;
use crate::options::Input;
use crate::paths::is_standard_input;
use crate::table;

const TEXT: &[Format] = &[Format::Csv, Format::Tsv];
const TABLES: &[Format] = &[Format::Csv, Format::Tsv, Format::Parquet, Format::Arrow];
const NPZ: &[Format] = &[Format::Npz];
const IMAGES: &[Format] = &[Format::Images];

/// An option of the input, whether it was given, and the formats that it concerns.
type Rule = (&'static str, fn(&Input) -> bool, &'static [Format]);

const INPUT: [Rule; 13] = [
    ("--columns", |input| !input.columns.is_empty(), TABLES),
    ("--exclude", |input| !input.exclude.is_empty(), TABLES),
    ("--label", |input| input.label.is_some(), TABLES),
    ("--weight-column", |input| input.weight_column.is_some(), TABLES),
    ("--keep-index", |input| input.keep_index, TABLES),
    ("--header", |input| input.header, TEXT),
    ("--no-header", |input| input.no_header, TEXT),
    ("--delimiter", |input| input.delimiter.is_some(), TEXT),
    ("--decimal", |input| input.decimal.is_some(), TEXT),
    ("--na", |input| !input.na.is_empty(), TEXT),
    ("--key", |input| input.key.is_some(), NPZ),
    ("--resize", |input| input.resize.is_some(), IMAGES),
    ("--color", |input| input.color, IMAGES),
];

/// Rejects an option that concerns none of the files to read.
pub(crate) fn check_input(files: &[PathBuf], input: &Input) -> anyhow::Result<()> {
    let format_of = |path: &PathBuf| input.format().or_else(|| Format::of(path));
    // Standard input without --format may be text or an array, and a file of unknown format is
    // rejected later.
    if input.format().is_none() && files.iter().any(|path| is_standard_input(path)) {
        return Ok(());
    }
    let formats: Vec<Format> = files.iter().filter_map(format_of).collect();
    let Some(&first) = formats.first() else { return Ok(()) };
    for (option, given, concerned) in INPUT {
        if given(input) && !formats.iter().any(|format| concerned.contains(format)) {
            let (format, formats, given) = (name(first), names(concerned), input.format_name());
            return Err(Failure::OptionOfOtherFormats { option, format, formats, given }.into());
        }
    }
    Ok(())
}

/// The first option about rows that was given, for a command that reads none.
pub(crate) fn given(input: &Input) -> Option<&'static str> {
    let others = [("--weights", input.weights.is_some()), ("--format", input.format().is_some())];
    let option = INPUT.iter().find(|(_, given, _)| given(input)).map(|(option, ..)| *option);
    option.or_else(|| others.iter().find(|(_, given)| *given).map(|(option, _)| *option))
}

/// Rejects options about rows where none are named.
pub(crate) fn check_no_rows(input: &Input) -> Result<(), Failure> {
    given(input).map_or(Ok(()), |option| Err(Failure::OptionWithoutRows { option }))
}

/// Rejects labels for an output file that cannot hold them.
pub(crate) fn check_output(output: &Path, input: &Input) -> Result<(), Failure> {
    let array = Format::of(output) == Some(Format::Npy);
    if array && input.label.is_some() { Err(Failure::LabelsInArray { path: output.to_owned() }) } else { Ok(()) }
}

fn name(format: Format) -> &'static str {
    match format {
        Format::Npy => ".npy",
        Format::Npz => ".npz",
        Format::Csv => "CSV",
        Format::Tsv => "TSV",
        Format::Parquet => "Parquet",
        Format::Arrow => "Arrow",
        Format::Images => "image",
        _ => "other",
    }
}

/// `CSV, TSV and Parquet`.
fn names(formats: &[Format]) -> String {
    table::list(&formats.iter().map(|&format| name(format).to_owned()).collect::<Vec<_>>())
}
