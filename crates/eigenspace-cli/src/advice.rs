//! Hints for errors of the library, rewritten to name command line options.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use eigenspace::io::source::{Format, Needed, SourceError};
use eigenspace::io::{FileKind, FormatError};
use eigenspace::{DeviceError, Error, faces, io as files};

use crate::args::Input;
use crate::failure::{Failure, listed};
use crate::rows::is_standard_input;
use crate::shell::{self, list_option, lists_option, option};

/// The hint for an error of the library, which has three error types.
pub(crate) fn advice(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let model = || error.downcast_ref().and_then(on_a_model);
    let file = || error.downcast_ref().and_then(on_a_file);
    model().or_else(file).or_else(|| error.downcast_ref().and_then(on_faces))
}

fn on_a_file(error: &files::Error) -> Option<String> {
    match error {
        files::Error::Model(error) => on_a_model(error),
        files::Error::Source { source, path } => on_a_source(source, path).or_else(|| error.hint()),
        files::Error::Io { action: "create", path, source } if source.kind() == ErrorKind::AlreadyExists => {
            Some(format!("pass a directory instead: `{}` is a file", path.display()))
        }
        files::Error::Io { action: "write", path, source } if source.kind() == ErrorKind::NotFound => {
            in_a_missing_directory(path).or_else(|| error.hint())
        }
        files::Error::Io { action: "read", path, source }
            if source.kind() == ErrorKind::NotFound && is_standard_input(path) =>
        {
            Some("pass a file name instead of `-`".into())
        }
        files::Error::Io { action: "read", path, source }
            if source.kind() == ErrorKind::NotFound && path.to_string_lossy().contains("://") =>
        {
            Some("download the file first, and pass its path: addresses are not read".into())
        }
        files::Error::NotAFile { .. } => {
            Some("write to an ordinary file with -o; a model or a plot cannot go to standard output".into())
        }
        files::Error::Changed { .. } => {
            Some("run the command again to use the file as it is now; nothing was written".into())
        }
        files::Error::File { path, source } => in_place_of_a_model(source, path).or_else(|| error.hint()),
        other => other.hint(),
    }
}

/// The hint for a file to write in a directory that does not exist.
fn in_a_missing_directory(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty() && !directory.exists())?;
    Some(format!("make the directory first: mkdir -p {}", shell::file(directory)))
}

/// The hint for a file of another kind, where a model or a recognizer is expected.
fn in_place_of_a_model(error: &FormatError, path: &Path) -> Option<String> {
    let FormatError::OtherFile { kind, expected } = error else {
        let train = "to train a recognizer, run: eigenspace faces train DIRECTORY -o RECOGNIZER";
        return matches!(error, FormatError::NoRecognizer).then(|| train.into());
    };
    let file = shell::file(path);
    Some(match kind {
        _ if *expected == "recognizer" => {
            "pass a recognizer here; to train one, run: eigenspace faces train DIRECTORY -o RECOGNIZER".into()
        }
        FileKind::Checkpoint => {
            format!("run the interrupted `eigenspace fit` again with --checkpoint {file}; it writes the model")
        }
        FileKind::Accumulator => {
            "pass a model here; the program that wrote the accumulator can finish it to a model".into()
        }
        kind if kind.is_image() => {
            "pass a model here; to make one, run: eigenspace fit DIRECTORY -o MODEL, with a directory of images".into()
        }
        FileKind::Text if Format::of(path).is_none() => {
            format!(
                "pass a model here; if this file is a table, make one from it: eigenspace fit {file} --format csv -o MODEL"
            )
        }
        _ if Format::of(path).is_none() => "pass a model here; to make one, run: eigenspace fit DATA -o MODEL".into(),
        _ => format!("pass a model here; to make one from this file, run: eigenspace fit {file} -o MODEL"),
    })
}

fn on_faces(error: &faces::Error) -> Option<String> {
    match error {
        faces::Error::Model(error) => on_a_model(error),
        faces::Error::File(error) => on_a_file(error),
        faces::Error::Dropped { .. } => Some(
            "train again on the remaining images; without --max-rank nothing is dropped, and any person can be forgotten"
                .into(),
        ),
        faces::Error::NoPerson { enrolling: true, path } => {
            let directory = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
            let named = |name| format!("; if it is {name}, add {}", option("--person", name));
            let named = directory.as_deref().map(named).unwrap_or_default();
            Some(format!("name the person with --person{named}"))
        }
        faces::Error::NoPerson { .. } => {
            Some("move it into a directory named after the person, or add it later with `faces enroll --person`".into())
        }
        faces::Error::TooFewImages { smaller: Some(smaller), .. } => {
            Some(format!("add images of this person, leave the person out, or try --protocol {smaller}"))
        }
        other => other.hint(),
    }
}

/// The hint for an error that an option of the input or a forgotten quotation mark explains.
pub(crate) fn on_options(error: &anyhow::Error, input: &Input) -> Option<String> {
    let missing = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(Failure::ModelColumn { column, available, .. }), _)
        | (_, Some(files::Error::Source { source: SourceError::NoColumn { column, available }, .. })) => {
            Some((available, column))
        }
        _ => None,
    };
    if let Some((available, column)) = missing
        && input.decimal.as_deref() == Some(",")
        && unread_delimiter(available, column) == Some(',')
    {
        return Some("leave out --decimal ',': the header is delimited by commas".into());
    }
    if let Some(files::Error::Source {
        source: SourceError::NotANumber { column, text, others, all: true, .. }, ..
    }) = error.downcast_ref()
        && others.is_empty()
        && input.decimal.as_deref() == Some(",")
        && input.delimiter.is_none()
        && column.contains(',')
        && text.contains(',')
    {
        return Some(
            "leave out --decimal ',' and write the numbers with decimal points: the header is delimited by commas"
                .into(),
        );
    }
    if let Some(files::Error::Source { path, source }) = error.downcast_ref()
        && let SourceError::Malformed { format, .. }
        | SourceError::Encoding { format, .. }
        | SourceError::LineEndings { format } = source
        && input.format.is_some()
        && (*format != "image" || Format::of(path) != Some(Format::Images))
    {
        return Some(CHECK_FORMAT.into());
    }
    if let Some(files::Error::Source { source: SourceError::OtherFile { .. }, .. }) = error.downcast_ref()
        && input.format.is_some()
    {
        return Some(CHECK_FORMAT.into());
    }
    let is_aligned = |source: &SourceError| match source {
        SourceError::Width { .. } => true,
        // Between two spaces is an empty cell.
        SourceError::Missing { place, column, .. } => place.row == 0 && !column.starts_with('`'),
        _ => false,
    };
    if let Some(files::Error::Source { path, source }) = error.downcast_ref()
        && input.delimiter.as_deref() == Some(" ")
        && is_aligned(source)
    {
        return Some(one_space(path));
    }
    if let Some(files::Error::Source { source: SourceError::NoColumn { available, .. }, .. }) = error.downcast_ref()
        && input.no_header
    {
        let last = available.len().saturating_sub(1);
        return Some(format!("leave out --no-header, or choose a column by its number, from 0 to {last}"));
    }
    let Some(files::Error::Io { action: "read", path, source }) = error.downcast_ref() else { return None };
    let columns = !input.columns.is_empty() || !input.exclude.is_empty() || input.label.is_some();
    let is_word = path.extension().is_none() && path.components().count() == 1;
    (source.kind() == ErrorKind::NotFound && columns && is_word)
        .then(|| "check the spelling of the path; put a column name that contains a space in quotation marks".into())
}

/// The hint for an input without images of people.
pub(crate) fn on_people(error: &anyhow::Error, enrolled: bool) -> Option<String> {
    let error = match error.downcast_ref() {
        Some(faces::Error::File(error)) => error,
        _ => error.downcast_ref()?,
    };
    let files::Error::Source { path, source } = error else { return None };
    let hint = match (source, enrolled) {
        (SourceError::NoFiles, false) if path.is_dir() => {
            "add a subdirectory of images for each person to this directory"
        }
        (SourceError::NoFiles, true) if path.is_dir() => "put images in it",
        (SourceError::Malformed { format: "image", .. }, _) if Format::of(path) == Some(Format::Images) => return None,
        (SourceError::Malformed { format: "image", .. }, false) => {
            "pass a directory with a subdirectory of images for each person"
        }
        (SourceError::Malformed { format: "image", .. }, true) => "pass images, or directories of images",
        _ => return None,
    };
    Some(hint.into())
}

fn on_a_model(error: &Error) -> Option<String> {
    match error {
        Error::CenteringDiffers => Some("fit both models with --uncentered, or both without".into()),
        Error::Device(DeviceError::Failed { .. }) => Some(
            "run the command again, or use --device cpu; a fit with --checkpoint continues where it was saved".into(),
        ),
        Error::Device(device) => match device.remedy() {
            Some(remedy) => Some(format!("{remedy}, or use --device cpu")),
            None => error.hint(),
        },
        Error::NonFinite { value, .. } if value.is_nan() => Some(MISSING.into()),
        Error::Divisor { count, weight, .. } if *weight < *count as f64 => {
            Some("add rows; if the weights do not count repeated rows, fit with --weight-kind reliability".into())
        }
        Error::Divisor { .. } => Some("add rows".into()),
        Error::ScatterTooLarge { .. } => Some("leave out --engine, or use --engine factor".into()),
        Error::FeatureMismatch { .. } => {
            Some("merge, split and compare only models that were fitted on the same columns".into())
        }
        Error::TooLittleWeight { needed, .. } if *needed <= 2.0 => Some("add rows with `eigenspace update`".into()),
        Error::TooLittleWeight { .. } => {
            Some("add rows with `eigenspace update`, or ask for fewer components with -k".into())
        }
        other => other.hint(),
    }
}

const MISSING: &str = "fill missing cells with --missing impute, or leave out their rows with --missing skip";

const CHECK_FORMAT: &str = "check that --format is the format of the file, or leave it out";

/// The hints for input without rows.
pub(crate) const EMPTY_FILE: &str = "check that this is the right file and that it is complete";
pub(crate) const EMPTY_FILES: &str = "check that these are the right files and that they are complete";
pub(crate) const EMPTY_PIPE: &str = "check the command before the pipe";

fn on_a_source(error: &SourceError, path: &Path) -> Option<String> {
    Some(match error {
        SourceError::UnknownFormat => {
            "set the format with --format; known endings are .npy, .npz, .csv, .txt, .tsv (also with .gz), .parquet, .arrow, \
             .feather, .pgm, .ppm, .pbm, .png, .jpg and .jpeg"
                .into()
        }
        SourceError::ManyArrays { available } if is_sparse_matrix(available) => return error.hint(),
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
        SourceError::ImageSize { expected: (width, height), .. } if is_array(path) => {
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

/// Whether a file holds NumPy arrays.
pub(crate) fn is_array(path: &Path) -> bool {
    matches!(Format::of(path), Some(Format::Npy | Format::Npz))
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
fn one_space(path: &Path) -> String {
    let command = match is_standard_input(path) {
        true => "tr -s ' '".to_owned(),
        false => format!("tr -s ' ' < {} > new.txt", shell::file(path)),
    };
    format!("separate the cells with one delimiter each, for example: {command}, and use --delimiter ' '")
}

/// A delimiter as a value of its option.
fn quoted(mark: char) -> String {
    if mark == '\t' { "tab".into() } else { format!("'{mark}'") }
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

/// The hint for a header that was read as one column, because the cells have another delimiter.
/// With that delimiter, the header has the wanted column.
pub(crate) fn single_column(names: &[String], wanted: &str) -> Option<String> {
    let mark = unread_delimiter(names, wanted)?;
    Some(format!("use --delimiter {}: the header was read as a single column", quoted(mark)))
}

/// The delimiter of a header that was read as one column, if with it the header has the wanted
/// column.
fn unread_delimiter(names: &[String], wanted: &str) -> Option<char> {
    let [name] = names else { return None };
    let has_wanted = |mark: char| {
        let cells = || name.split(mark).map(|cell| cell.trim().trim_matches('"'));
        cells().any(|cell| cell == wanted) || wanted.parse::<usize>().is_ok_and(|number| number < cells().count())
    };
    [';', '\t', '|', ','].into_iter().find(|&mark| name.contains(mark) && has_wanted(mark))
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

/// Whether the arrays of an .npz file are the parts of a sparse matrix, as SciPy saves it.
fn is_sparse_matrix(arrays: &[String]) -> bool {
    ["data", "format", "shape"].iter().all(|part| arrays.iter().any(|name| name == part))
}

/// Whether a cell is a mark such as `-` or `#DIV/0!` rather than a word.
fn is_mark(text: &str) -> bool {
    text.starts_with('#') || !text.contains(char::is_alphanumeric)
}

/// What leaves a column of a file out: its name, its number, or the name of the list that it is in.
pub(crate) fn excludable<'a>(column: &'a str, file: &Path) -> &'a str {
    let name = name_of(column);
    let has_lists = matches!(Format::of(file), Some(Format::Parquet | Format::Arrow));
    let list = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    match list {
        Some((list, place)) if has_lists && place.parse::<usize>().is_ok() => list,
        _ => name,
    }
}

/// The name or the number of a column, without the backticks around a name.
fn name_of(column: &str) -> &str {
    column.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or(column)
}
