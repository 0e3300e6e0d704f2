//! Errors of the command itself, each with a hint.

use std::fmt;
#[cfg(feature = "explore")]
use std::io::ErrorKind;
#[cfg(feature = "explore")]
use std::net::IpAddr;
use std::path::PathBuf;

use crate::commands::demo::MIN_FACES;
use crate::{advice, shell, table};

/// How standard input was passed, if it was named twice as rows.
pub(crate) const AS_ROWS_TWICE: &str = "more than once as rows";

/// Errors that do not come from the library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("invalid number of components `{text}`: expected a whole number, a share of variance or `all`")]
    Components { text: String },
    #[error("invalid rank `{text}`: expected a whole number or `all`")]
    Rank { text: String },
    #[error("invalid axes: expected {expected}, found {found}")]
    Axes { expected: &'static str, found: usize },
    #[error("invalid axes: component {number} is chosen twice")]
    SameAxes { number: usize },
    #[error("cannot draw a {kind} plot with {option}: only {kinds} {} it", if kinds.contains(" and ") { "use" } else { "uses" })]
    OptionOfOtherPlots { option: &'static str, kind: String, kinds: String },
    #[error("cannot use {option} without DATA")]
    OptionWithoutRows { option: &'static str },
    #[error("cannot use {option} with {format} files: it is for {formats} files only")]
    OptionOfOtherFormats { option: &'static str, format: &'static str, formats: String, given: Option<String> },
    #[error("cannot write labels to `{}`: a NumPy array holds only numbers", path.display())]
    LabelsInArray { path: PathBuf },
    #[error("cannot use weights here: they do not change {what}")]
    UselessWeights { what: &'static str },
    #[error("cannot use `{}` with `{}`: their columns differ: {left_name} in the first, {right_name} in the second", left.display(), right.display())]
    OtherColumns { left: PathBuf, right: PathBuf, left_name: String, right_name: String },
    #[error("cannot use `{}` with `{}`: their columns are in a different order: column {column} is {left_name} in the first and {right_name} in the second", left.display(), right.display())]
    OtherOrder { left: PathBuf, right: PathBuf, column: usize, left_name: String, right_name: String },
    #[error("cannot use `{}` with `{}`: the first was fitted on images of {left_bits} bits per value, the second on images of {right_bits}", left.display(), right.display())]
    OtherDepth { left: PathBuf, right: PathBuf, left_bits: u8, right_bits: u8 },
    #[error("cannot use `{}`: the model needs the column `{column}`, and the file does not have it", path.display())]
    ModelColumn { path: PathBuf, column: String, available: Vec<String> },
    #[error("cannot leave out the column `{column}` of `{}`: the model needs it", path.display())]
    ModelExcluded { path: PathBuf, column: String },
    #[error("cannot read rows from `{}`: it is a model", path.display())]
    ModelForRows { path: PathBuf },
    #[error("cannot use the columns chosen from `{}`: the model's column `{column}` is not among {}", path.display(), listed(chosen))]
    NotChosen { path: PathBuf, column: String, chosen: Vec<String> },
    #[error("cannot use the columns of `{}`: found `{found}` where the model has `{expected}`", path.display())]
    ColumnOrder { path: PathBuf, expected: String, found: String },
    #[error("cannot tell scores from distances in `{}`: none of its {columns} columns is named as a score (PC1, PC2, …), and the model reports {}", path.display(), table::counted(*components as u64, "component"))]
    MaybeDistances { path: PathBuf, columns: usize, components: usize },
    #[error("cannot read {} from `{}`: it has {} of scores", table::counted(*wanted as u64, "score"), path.display(), table::counted(*columns as u64, "column"))]
    ScoreCount { path: PathBuf, wanted: usize, columns: usize },
    #[error("cannot read scores from `{}`: it has {}, and the model keeps {}", path.display(), table::counted(*columns as u64, "column"), table::counted(*rank as u64, "direction"))]
    ManyScores { path: PathBuf, columns: usize, rank: usize },
    #[error("cannot read scores from `{}`: column {place} is `{found}`, expected `{expected}`", path.display())]
    NotScores { path: PathBuf, place: usize, expected: String, found: String },
    #[error("cannot read scores from `{}`: its columns are those of the rows that the model was fitted on", path.display())]
    RowsForScores { path: PathBuf },
    #[error("cannot use --whiten with `{}`: its scores are named PC1, PC2, …, so they are not whitened", path.display())]
    NotWhitened { path: PathBuf },
    #[error("cannot write a model or a plot to standard output: expected a file name")]
    NoFile,
    #[error("cannot read a model from standard input: expected a file name")]
    NoModelFile,
    #[error("invalid image size `{text}`: expected WIDTHxHEIGHT in pixels")]
    Size { text: String },
    #[error("invalid image size {width}x{height}: expected at most {} pixels", table::count(*limit))]
    SizeLimit { width: usize, height: usize, limit: u64 },
    #[error("invalid delimiter `{text}`: expected one character or `tab`")]
    Delimiter { text: String },
    #[error("out of memory{}", needed(*bytes))]
    OutOfMemory { bytes: Option<u64>, hint: &'static str },
    #[error("cannot start the worker threads")]
    NoThreads { source: rayon::ThreadPoolBuildError },
    #[error("internal error at {place}; please report this")]
    Internal { place: String },
    #[error("cannot write `{}`: the same command reads it", path.display())]
    OverInput { path: PathBuf },
    #[error("cannot write the checkpoint to `{}`: the same command reads it", path.display())]
    CheckpointOverInput { path: PathBuf },
    #[error("cannot use `{}` for both the checkpoint and the model", path.display())]
    CheckpointIsOutput { path: PathBuf },
    #[error("cannot fit a model: {input} no rows")]
    NoRows { input: String, hint: &'static str },
    #[error("cannot fit a model: {reason}")]
    AllLeftOut { reason: String, hint: &'static str },
    #[error("cannot use the weights in `{}` for the rows in {input}: found {} for {}", path.display(), table::counted(*weights, "weight"), table::counted(*rows, "row"))]
    WeightCount { path: PathBuf, input: String, rows: u64, weights: u64 },
    #[error("cannot fill the missing cells of column {column} in {input}: the column has no value in any row")]
    NeverObserved { input: String, column: String, exclude: Option<String> },
    #[error("cannot use the model `{}`: it has no variance", path.display())]
    NoVariance { path: PathBuf },
    #[error("cannot resume from the checkpoint `{}`: {what}", path.display())]
    OtherInput { path: PathBuf, what: String },
    #[error("cannot resume from the checkpoint `{}`", path.display())]
    BrokenCheckpoint { path: PathBuf, source: eigenspace::io::FormatError },
    #[error("cannot resume from `{}`: it is not a checkpoint", path.display())]
    NotACheckpoint { path: PathBuf },
    #[error("cannot use --checkpoint with standard input: it cannot be read again after an interruption")]
    CheckpointOfInput,
    #[error("cannot use --passes with {input}: it cannot be read again")]
    PassesOfInput { input: String },
    #[error("cannot use --passes with --missing impute: each pass would fill the cells with different numbers")]
    PassesOfFilled,
    #[error("cannot show the rows as images: the model does not store their width and height")]
    NoImages,
    #[error("cannot draw this plot: the columns of the model have no names")]
    NoNames,
    #[error("cannot draw a {kind} plot without rows")]
    NoData { kind: String },
    #[cfg(feature = "explore")]
    #[error("cannot use --standardize with a model: the model already stores this setting")]
    StandardizeModel,
    #[error("cannot read standard input twice: it was passed {passed}")]
    InputTwice { passed: &'static str },
    #[cfg(feature = "explore")]
    #[error("cannot save models in `{}`: {}", path.display(), if path.exists() { "it is a file, expected a directory" } else { "there is no such directory" })]
    NoDirectory { path: PathBuf },
    #[error("cannot run the demo on `{}`: expected at least {MIN_FACES} images of several people, with a directory for each person, found {}", directory.display(), table::counted(*faces as u64, "image"))]
    FewFaces { directory: PathBuf, faces: usize },
    #[error("cannot write a model to `{}`: it is a recognizer, and its people would be lost", path.display())]
    IsRecognizer { path: PathBuf },
    #[error("cannot write a model to `{}`: the file exists and is not a model", path.display())]
    NotAModel { path: PathBuf },
    #[error("cannot use the checkpoint `{}`: another fit is using it", path.display())]
    CheckpointInUse { path: PathBuf },
    #[error("invalid list of {what}s: expected at least one")]
    NothingNamed { what: &'static str },
    #[error("cannot write to standard output")]
    Output { source: std::io::Error },
    #[error("invalid noise deviation {deviation}: expected a number of at least 0, in gray values")]
    Noise { deviation: f64 },
    #[error("cannot show row {row}: the input has {}", fewer_rows(*rows))]
    NoRow { row: u64, rows: Option<u64> },
    #[error("cannot infer the image format of `{}` from its name", path.display())]
    PlotFormat { path: PathBuf },
    #[error("cannot use component {wanted}: the model reports {}", table::counted(*reported as u64, "component"))]
    NoComponent { wanted: usize, reported: usize, rank: usize },
    #[error("cannot compare {}: `{}` has {rank}", table::counted(*wanted as u64, "component"), path.display())]
    FewDirections { path: PathBuf, wanted: usize, rank: usize },
    #[error("invalid shape {width}x{height}: it does not match the {features} features of the model")]
    Shape { width: usize, height: usize, features: usize },
    #[error("cannot use --shape {}x{}: the model stores images of {}x{}", given.0, given.1, stored.0, stored.1)]
    OtherShape { given: (usize, usize), stored: (usize, usize) },
    #[error("cannot forget `{name}` twice")]
    ForgottenTwice { name: String, what: &'static str },
    #[cfg(feature = "explore")]
    #[error("cannot listen on {address}, port {port}")]
    Listen { address: IpAddr, port: u16, source: std::io::Error },
    #[cfg(feature = "explore")]
    #[error("invalid view `{text}`: expected a view as copied from the page, which begins with `#`")]
    View { text: String },
    #[error(transparent)]
    Advised(Advised),
}

/// An error of the library with a hint that depends on the command line.
#[derive(Debug)]
pub(crate) struct Advised {
    error: anyhow::Error,
    hint: String,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Advised {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl Failure {
    /// An error with a hint of its own; the same error if there is no such hint.
    pub(crate) fn advised(error: anyhow::Error, hint: Option<String>) -> anyhow::Error {
        match hint {
            Some(hint) => Self::Advised(Advised { error, hint }).into(),
            None => error,
        }
    }

    /// What the user can do about this error.
    pub(crate) fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Components { .. } => "use, for example, -k 50, -k 0.95 or -k all",
            Self::Rank { .. } => "use, for example, --max-rank 100 or --max-rank all",
            Self::Axes { .. } => "choose two components, for example --axes 1,2; only a scatter plot can have three",
            Self::SameAxes { .. } => "choose different components, for example --axes 1,2",
            Self::OptionOfOtherPlots { option, .. } => {
                return Some(format!("leave out {option}, or choose another kind of plot"));
            }
            Self::OptionWithoutRows { option } => {
                return Some(format!("leave out {option}, or pass rows after the model"));
            }
            Self::OptionOfOtherFormats { option, given: Some(given), .. } => {
                return Some(format!(
                    "leave out {option}, or leave out --format {given} to infer the format from the file name"
                ));
            }
            Self::OptionOfOtherFormats { option, .. } => {
                return Some(format!(
                    "leave out {option}; if the format was inferred wrongly from the file name, set it with --format"
                ));
            }
            Self::LabelsInArray { .. } => {
                "write to a .csv, .tsv or .parquet file, or leave out the column with --exclude instead of --label"
            }
            Self::UselessWeights { .. } => "leave out --weights",
            Self::OtherColumns { .. } | Self::OtherOrder { .. } => {
                "fit both models on the same columns in the same order; set the order with --columns"
            }
            Self::OtherDepth { .. } => {
                "convert all images to the same number of bits per value, and fit both models again"
            }
            Self::ModelColumn { available, column, .. } => {
                return Some(advice::single_column(available, column).unwrap_or_else(|| {
                    format!("add the column, or rename the column that holds it; the file has: {}", listed(available))
                }));
            }
            Self::ModelExcluded { column, .. } => {
                return Some(format!("leave out {}", shell::list_option("--exclude", column)));
            }
            Self::ModelForRows { .. } => {
                "pass rows here, for example a table or a directory of images; to combine models, use `eigenspace merge`"
            }
            Self::NotChosen { .. } => "leave out --columns: the columns of the model are found by name",
            Self::ManyScores { .. } => {
                "pass the output of `eigenspace project`; if it has columns of distances, write it to .csv (with its header) \
                 or .parquet, because these columns are recognized by name"
            }
            Self::ScoreCount { path, wanted, .. } if advice::is_array(path) => {
                return Some(format!(
                    "leave out -k to use all scores; to use {wanted}, run `eigenspace project` again with -k {wanted}"
                ));
            }
            Self::ScoreCount { .. } => {
                "leave out -k to use all scores; to use only some of them, choose them, for example --columns PC1,PC2"
            }
            Self::ColumnOrder { .. } => "put the columns into the order of the model",
            Self::MaybeDistances { columns, .. } => {
                return Some(format!(
                    "let `eigenspace project` write the scores to .csv or .parquet, which keep the names, or leave out --distances; \
                     if all {columns} columns are scores, use -k {columns}"
                ));
            }
            Self::NotScores { .. } => {
                "the columns of scores must be PC1, PC2, … (or W1, W2, …), in this order and without gaps; leave out \
                 --columns and --exclude if you used them"
            }
            Self::RowsForScores { .. } => "compute the scores of the rows first, with `eigenspace project`",
            Self::NotWhitened { .. } => "leave out --whiten",
            Self::NoFile | Self::NoModelFile => "pass a file name instead of `-`",
            Self::Size { .. } => "use, for example, 92x112",
            Self::SizeLimit { .. } => "use a smaller width and height",
            Self::Delimiter { .. } => "use, for example, --delimiter ';' or --delimiter tab",
            Self::OutOfMemory { hint, .. } => hint,
            Self::NoThreads { .. } => "use fewer threads with --threads, or raise the limits on memory and processes",
            Self::Internal { .. } => "include the command in the report and, if you can, the data",
            Self::OverInput { .. } => "write to another file with -o; nothing was changed",
            Self::CheckpointOverInput { .. } | Self::CheckpointIsOutput { .. } | Self::NotACheckpoint { .. } => {
                "use another file with --checkpoint; nothing was changed"
            }
            Self::NoRows { hint, .. } | Self::AllLeftOut { hint, .. } => hint,
            Self::WeightCount { .. } => "pass exactly one weight for each row",
            Self::NeverObserved { exclude: Some(exclude), .. } => return Some(format!("leave it out with {exclude}")),
            Self::NeverObserved { .. } => "remove the column from the data",
            Self::NoVariance { .. } => "use `eigenspace update` to add rows that are not all equal",
            Self::OtherInput { .. } => {
                "pass the same files and options as in the interrupted fit, or remove the checkpoint to start over"
            }
            Self::BrokenCheckpoint { .. } => {
                "remove it to start over; only the version that wrote a checkpoint can resume from it"
            }
            Self::PassesOfInput { .. } => "save the rows to a file first, or leave out --passes",
            Self::PassesOfFilled => "use --missing skip, or leave out --passes",
            Self::CheckpointOfInput => "save the rows to a file first, or leave out --checkpoint",
            Self::NoImages => "set the size of the images with --shape WIDTHxHEIGHT",
            Self::NoNames => "fit the model on a table with a header",
            Self::NoData { .. } => "pass the rows after the model: eigenspace plot KIND MODEL DATA",
            #[cfg(feature = "explore")]
            Self::StandardizeModel => "leave out --standardize, or pass only rows, so that a model is fitted to them",
            Self::InputTwice { passed: AS_ROWS_TWICE } => "pass `-` only once",
            Self::InputTwice { .. } => "save the rows to a file first",
            #[cfg(feature = "explore")]
            Self::NoDirectory { path } if path.exists() => "pass a directory with --write",
            #[cfg(feature = "explore")]
            Self::NoDirectory { path } => {
                return Some(format!("make the directory first: mkdir -p {}", crate::shell::file(path)));
            }
            Self::FewFaces { .. } => {
                return Some(format!(
                    "pass at least {MIN_FACES} images, arranged as person/image.pgm, or leave out --faces to fetch the ORL faces"
                ));
            }
            Self::IsRecognizer { .. } => {
                "add images with `eigenspace faces enroll`, or write the model to another file with -o"
            }
            Self::NotAModel { .. } => "write to another file with -o, or delete this one first; nothing was changed",
            Self::CheckpointInUse { .. } => "wait until the other fit has ended, or use another file with --checkpoint",
            Self::NothingNamed { .. } => {
                "leave out the option to use its default, or see --help for the possible values"
            }
            Self::Output { .. } => "check where standard output goes; all output files were written",
            Self::Noise { .. } => "try --denoising 25",
            Self::NoRow { rows: Some(1), .. } => "choose row 0",
            Self::NoRow { rows: Some(rows @ 2..), .. } => return Some(format!("choose a row from 0 to {}", rows - 1)),
            Self::NoRow { .. } => "choose a smaller row number; the first row is 0",
            Self::PlotFormat { .. } => "use a name that ends in .svg or .png",
            Self::FewDirections { rank: 1, .. } => "use -k 1",
            Self::FewDirections { rank, .. } => return Some(format!("use -k with a number from 1 to {rank}")),
            Self::NoComponent { wanted: 0, .. } => "count components from 1",
            Self::NoComponent { wanted, rank, .. } if wanted <= rank => return Some(format!("use -k {wanted}")),
            Self::NoComponent { reported, .. } if *reported > 1 => {
                return Some(format!("choose components from 1 to {reported}"));
            }
            Self::NoComponent { rank, .. } => {
                return Some(format!(
                    "the model keeps only {}; choose another kind of plot, or fit a model with more columns and rows",
                    table::counted(*rank as u64, "direction")
                ));
            }
            Self::Shape { .. } => {
                "choose a width and height whose product (times 3 for color) is the number of features"
            }
            Self::OtherShape { .. } => "leave out --shape",
            Self::ForgottenTwice { what, .. } => return Some(format!("name each {what} once")),
            #[cfg(feature = "explore")]
            Self::Listen { source, .. } => match source.kind() {
                ErrorKind::PermissionDenied => {
                    "use a port of 1024 or more with --port, or leave out --port to use a free one"
                }
                ErrorKind::AddrInUse => "choose another port with --port, or leave out --port to use a free one",
                ErrorKind::AddrNotAvailable => "use an address of this machine with --bind, or leave out --bind",
                _ => return None,
            },
            #[cfg(feature = "explore")]
            Self::View { .. } => "put the view in quotation marks, or leave out --state",
            Self::Advised(advised) => return Some(advised.hint.clone()),
        };
        Some(text.into())
    }
}

/// Lists names for a message; of many, only the first few.
pub(crate) fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown}, … ({} in all)", names.len()) } else { shown }
}

/// The number of rows of an input that has too few, if known.
fn fewer_rows(rows: Option<u64>) -> String {
    rows.map_or_else(|| "fewer rows".into(), |rows| format!("only {}", table::counted(rows, "row")))
}

/// The amount of memory needed, if known.
fn needed(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!(": this needs about {} MiB", bytes.div_ceil(1 << 20)))
}
