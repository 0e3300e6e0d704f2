//! Errors of the command itself. Their hints are in `advice/failure.rs`.

use std::fmt;
#[cfg(feature = "explore")]
use std::net::IpAddr;
use std::path::PathBuf;

use crate::table;

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
    #[error("cannot run the demo on `{}`: expected at least {least} images of several people, with a directory for each person, found {}", directory.display(), table::counted(*faces as u64, "image"))]
    FewFaces { directory: PathBuf, faces: usize, least: usize },
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
    pub(crate) hint: String,
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
