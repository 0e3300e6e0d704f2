//! Hints for errors of reading rows.

use std::path::{Path, PathBuf};

use eigenspace::io::FileKind;
use eigenspace::io::source::{Format, Needed, SourceError};

use super::columns::{excludable, name_of, quoted, single_column};
use crate::failure::listed;
use crate::paths::{self, is_standard_input};
use crate::shell::{self, list_option, lists_option, option};

/// The hint for missing cells.
pub(super) const MISSING: &str =
    "fill missing cells with --missing impute, or leave out their rows with --missing skip";

/// The hints for input without rows.
pub(crate) const EMPTY_FILE: &str = "check that this is the right file and that it is complete";
pub(crate) const EMPTY_FILES: &str = "check that these are the right files and that they are complete";
pub(crate) const EMPTY_PIPE: &str = "check the command before the pipe";

pub(super) fn on_a_source(error: &SourceError, path: &Path) -> Option<String> {
    Some(match error {
        SourceError::UnknownFormat => {
            "set the format with --format; known endings are .npy, .npz, .csv, .txt, .tsv (also with .gz), .parquet, .arrow, \
             .feather, .pgm, .ppm, .pbm, .png, .jpg and .jpeg"
                .into()
        }
        SourceError::ManyArrays { .. } if error.is_sparse_matrix() => return error.hint(),
        SourceError::ManyArrays { available } | SourceError::NoArray { available, .. } => {
            format!("choose one of them with --key: {}", listed(available))
        }
        // The cell goes on in the next line.
        SourceError::NotANumber { text, .. } if text.contains('\n') => return error.hint(),
        SourceError::NotANumber { text, .. } if is_aligned(text) => one_space(path),
        SourceError::NotANumber { delimiter: Some(mark), text, .. } => delimiter(*mark, text.contains(',')),
        // Commas divided the line into more cells than the first.
        SourceError::Width { delimiter: Some(mark), found, expected, .. } => delimiter(*mark, found > expected),
        SourceError::Shape { key: Some(_), .. } => {
            "choose another array with --key, or save it with one row for each observation".into()
        }
        SourceError::ColumnCount { .. } if is_table(path) => {
            format!("{}; choose columns with --columns or --exclude", error.hint().unwrap_or_default())
        }
        SourceError::NotANumber { text, .. } if is_decimal_comma(text) => {
            "if the comma is the decimal mark, use --decimal ',' or, if commas also separate the cells, write the \
             numbers with decimal points; if the comma separates thousands, remove it"
                .into()
        }
        SourceError::NotANumber { text, needed, column, .. } if thousands(text).is_some() => {
            with_exclude(thousands(text)?.into(), *needed, column, path)
        }
        SourceError::TooManyColumns { .. } => {
            "leave out columns that the model does not need, with --columns or --exclude".into()
        }
        SourceError::DecimalMark { .. } => {
            "set the delimiter of the file, for example --delimiter ';'; if the delimiter is a comma, write the numbers with decimal points"
                .into()
        }
        SourceError::OtherFile { .. } if is_standard_input(path) => "save the rows to a file first".into(),
        SourceError::OtherFile { kind } => {
            let format = match kind {
                FileKind::Array => "npy",
                FileKind::Zip => "npz",
                FileKind::Parquet => "parquet",
                FileKind::Arrow => "arrow",
                FileKind::Png | FileKind::Jpeg => "images",
                _ => return error.hint(),
            };
            format!("use --format {format}")
        }
        SourceError::Empty if is_standard_input(path) => EMPTY_PIPE.into(),
        SourceError::Truncated { .. } if is_standard_input(path) => {
            "check the command before the pipe: its output is incomplete".into()
        }
        SourceError::Empty => EMPTY_FILE.into(),
        SourceError::NoFiles if tables_below(path).is_some() => {
            let file = tables_below(path)?;
            let ending = file.extension()?.to_string_lossy().into_owned();
            let pattern = shell::word(&format!("{}/*/*.{ending}", path.display()));
            format!(
                "tables in subdirectories are not read; pass {}, or a pattern such as {pattern}",
                shell::file(file.parent()?)
            )
        }
        SourceError::NoFiles if path.is_dir() => {
            "put files in it whose names end in a known ending, such as .csv, .npy, .parquet or .png".into()
        }
        SourceError::NoMatch => "check the spelling of the pattern, and put patterns in quotation marks".into(),
        SourceError::NoFiles => "check the spelling of the pattern or the directory, and put patterns in quotation marks".into(),
        SourceError::Malformed { format: "pattern", .. } => {
            "check the spelling of the path; in a pattern, write [[] for a square bracket".into()
        }
        SourceError::Malformed { format: "image", .. } => "check that the file is complete and has the format that its name suggests".into(),
        SourceError::LineEndings { .. } => "convert the line endings to LF".into(),
        SourceError::Malformed { .. } => {
            "check that the file is complete and has the format that its name suggests, or set the format with --format".into()
        }
        SourceError::NotANumber { text, needed, column, others, .. } if others.is_empty() && is_mark(text) => {
            let na = option("--na", text);
            let na = format!("if `{text}` stands for a missing value, add {na} and --missing impute or --missing skip");
            with_exclude(na, *needed, column, path)
        }
        SourceError::NotANumber { text, needed, column, others, .. } if others.is_empty() && unit(text).is_some() => {
            let unit = unit(text).unwrap_or_default();
            with_exclude(format!("remove `{unit}` from the cells"), *needed, column, path)
        }
        SourceError::NotANumber { text, all: true, .. } if unit(text).is_some() => {
            format!("remove symbols and units, such as `{}`, from the cells", unit(text).unwrap_or_default())
        }
        SourceError::NotANumber { line: 1, all: true, .. } => {
            "if the first line holds the names of the columns, leave out --no-header".into()
        }
        // No column of this line has a number, but those of the lines above do.
        SourceError::NotANumber { first: false, all: true, others, .. } if !others.is_empty() => return error.hint(),
        // It would be a number without --decimal.
        SourceError::NotANumber { text, .. } if text.parse::<f64>().is_ok() => {
            "if the point is the decimal mark, leave out --decimal; remove points that separate thousands".into()
        }
        SourceError::NotANumber { column, text, needed: Needed::ByModel, others, .. } => match others.is_empty() {
            true => {
                let correct = correct(text);
                format!("{correct}; the column {column} cannot be left out, because the model uses it")
            }
            false => "correct the cells of these columns; they cannot be left out, because the model uses them".into(),
        },
        SourceError::ColumnType { column, needed: Needed::ByModel, others, .. } => match others.is_empty() {
            true => format!("save the column {column} as numbers; it cannot be left out, because the model uses it"),
            false => "save these columns as numbers; they cannot be left out, because the model uses them".into(),
        },
        SourceError::NotANumber { all: true, .. } | SourceError::ColumnType { all: true, .. } => {
            "check that this is the right file: none of the columns to read holds numbers".into()
        }
        SourceError::NotANumber { column, others, .. } | SourceError::ColumnType { column, others, .. }
            if others.len() >= MOST_EXCLUDED =>
        {
            format!("choose columns of numbers with --columns, for example by number; leave out {column} and the others")
        }
        SourceError::NotANumber { column, others, .. } | SourceError::ColumnType { column, others, .. }
            if !others.is_empty() =>
        {
            let exclude = lists_option("--exclude", std::iter::once(column).chain(others).map(|name| name_of(name)));
            format!("if the model does not need these columns, leave them out with {exclude}")
        }
        // The cells above are numbers.
        SourceError::NotANumber { first: false, column, text, needed, .. } => {
            let correct = correct(text);
            match needed {
                Needed::ByRequest => format!("{correct}; if the model does not need the column, leave it out of --columns"),
                _ => with_exclude(correct, *needed, column, path),
            }
        }
        SourceError::NotANumber { column, needed: Needed::ByRequest, .. }
        | SourceError::ColumnType { column, needed: Needed::ByRequest, .. } => {
            format!("leave {column} out of --columns")
        }
        SourceError::NotANumber { column, .. } | SourceError::ColumnType { column, .. } => {
            let column = name_of(column);
            let (exclude, label) = (list_option("--exclude", column), option("--label", column));
            format!("if the model does not need the column, leave it out with {exclude}, or use it as the label with {label}")
        }
        // Columns of arrays and images cannot be left out: they have no line and no name.
        SourceError::Missing { column, place, .. } if place.line.is_none() && !column.starts_with('`') => MISSING.into(),
        SourceError::Missing { of_model: true, .. } => MISSING.into(),
        SourceError::Missing { column, .. } => {
            let exclude = list_option("--exclude", excludable(column, path));
            format!("{MISSING}; if the model does not need the column, leave it out with {exclude}")
        }
        SourceError::Value { column, place, .. } if place.line.is_none() && !column.starts_with('`') => return None,
        SourceError::Value { column, value, place } if value.is_infinite() && place.line.is_some() => {
            // In upper or lower case; the error has the number, not the text of the cell.
            let words = if value > &0.0 { "inf,+inf,infinity,+infinity" } else { "-inf,-infinity" };
            let na = option("--na", words);
            let skip = format!("to leave out the row, treat the value as missing, for example with {na} --missing skip");
            with_exclude(skip, Needed::No, column, path)
        }
        SourceError::Value { column, value, .. } if value.is_infinite() => {
            with_exclude("remove the row".into(), Needed::No, column, path)
        }
        SourceError::Value { column, .. } | SourceError::CellTooLarge { column, .. } => {
            with_exclude("remove the row, or divide the column by a constant".into(), Needed::No, column, path)
        }
        SourceError::ImageSize { expected: (width, height), .. } if paths::is_array(path) => {
            format!("save arrays of images that are {width}x{height}")
        }
        SourceError::ImageSize { expected: (width, height), .. } => {
            format!("resize all images to one size with --resize {width}x{height}")
        }
        SourceError::DuplicateColumn { places, .. } => {
            let numbers: Vec<_> = places.iter().map(usize::to_string).collect();
            let choose = lists_option("--columns", numbers.iter().map(String::as_str));
            let exclude = lists_option("--exclude", numbers.iter().skip(1).map(String::as_str));
            format!(
                "choose columns by number instead of by name, for example {choose}; with a model, leave out those that it \
                 does not have, for example with {exclude}"
            )
        }
        SourceError::ImageColor { expected: 3, .. } => "read the images in color with --color".into(),
        SourceError::ImageColor { .. } => "leave out --color".into(),
        SourceError::FeatureAndRole { column, .. } => format!("leave `{column}` out of --columns"),
        SourceError::NoColumn { column, .. } if column.is_empty() => "remove the extra comma from the list of columns".into(),
        SourceError::NoColumn { column, available } => return single_column(available, column),
        SourceError::ColumnMissing { available, .. } => {
            let names = listed(available);
            format!("use only columns that all files have, with --columns; this file has: {names}")
        }
        SourceError::ColumnName { .. } => "choose columns by name with --columns; their order then does not matter".into(),
        _ => return None,
    })
}

/// A table or an array in a subdirectory.
fn tables_below(directory: &Path) -> Option<PathBuf> {
    let entries =
        |directory: &Path| std::fs::read_dir(directory).into_iter().flatten().flatten().map(|file| file.path());
    let is_read = |file: &PathBuf| Format::of(file).is_some_and(|format| format != Format::Images);
    entries(directory).filter(|path| path.is_dir()).filter_map(|inner| entries(&inner).filter(is_read).min()).min()
}

/// Whether a file is a table, of which columns can be left out.
fn is_table(path: &Path) -> bool {
    matches!(Format::of(path), Some(Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow))
}

/// Number of columns from which on they are not all named in a hint.
const MOST_EXCLUDED: usize = 30;

/// The hint for cells with another delimiter than the chosen one.
fn delimiter(mark: char, has_commas: bool) -> String {
    let comma = if mark == ',' || !has_commas { "" } else { "; add --decimal ',' if the decimal mark is a comma" };
    format!("use --delimiter {}, which seems to separate the cells{comma}", quoted(mark))
}

/// Whether a cell is a line of numbers between which there are several spaces.
fn is_aligned(text: &str) -> bool {
    text.trim().contains("  ") && text.split_whitespace().all(|word| word.parse::<f64>().is_ok())
}

/// The hint for text whose cells are aligned with spaces.
pub(super) fn one_space(path: &Path) -> String {
    let command = match is_standard_input(path) {
        true => "tr -s ' '".to_owned(),
        false => format!("tr -s ' ' < {} > new.txt", shell::file(path)),
    };
    format!("separate the cells with one delimiter each, for example: {command}, and use --delimiter ' '")
}

/// The hint for a single cell that is not a number.
fn correct(text: &str) -> String {
    // A comma would divide the words of --na.
    match text.contains(',') {
        true => "correct the cell, or remove its row".into(),
        false => format!("correct the cell, or leave out its row with {} --missing skip", option("--na", text)),
    }
}

/// A hint about the cells of a column that can also be left out, unless a model has it.
fn with_exclude(hint: String, needed: Needed, column: &str, path: &Path) -> String {
    let exclude = list_option("--exclude", excludable(column, path));
    match needed {
        Needed::ByModel => hint,
        _ => format!("{hint}; if the model does not need the column, leave it out with {exclude}"),
    }
}

/// A symbol such as `$` or `%`, or a unit such as `cm` after a space, without which a cell would be
/// a number.
fn unit(text: &str) -> Option<String> {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    if let Some((number, word)) = text.trim().rsplit_once(' ')
        && is_number(number)
        && word.chars().all(char::is_alphabetic)
    {
        return Some(word.to_owned());
    }
    let symbol = text.chars().find(|&c| "$€£¥₹₩%‰°'_".contains(c))?;
    is_number(&text.replace([symbol, ','], "")).then(|| symbol.to_string())
}

/// Whether a cell looks like a number with a decimal comma.
fn is_decimal_comma(text: &str) -> bool {
    text.contains(',') && !text.contains('.') && text.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// The hint for a number in which one mark separates thousands and the other is the decimal mark.
fn thousands(text: &str) -> Option<&'static str> {
    let is_number = |text: String| text.parse::<f64>().is_ok();
    let comma = text.find(',')?;
    if text.rfind('.').map_or(text.matches(',').count() > 1, |point| comma < point) {
        return is_number(text.replace(',', "")).then_some("remove the commas that separate thousands from the cells");
    }
    is_number(text.replace('.', "").replace(',', "."))
        .then_some("remove the points that separate thousands from the cells, and use --decimal ','")
}

/// Whether a cell is a mark such as `-` or `#DIV/0!` rather than a word.
fn is_mark(text: &str) -> bool {
    text.starts_with('#') || !text.contains(char::is_alphanumeric)
}
