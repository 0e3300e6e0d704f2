//! What the command itself refuses, and what to do about it.

use std::path::PathBuf;

/// Refusals that are not the library's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("`{text}` is no number of components")]
    Components { text: String },
    #[error("`{text}` is no number of directions")]
    Rank { text: String },
    #[error("{found} axes were named, and a picture has two or three")]
    Axes { found: usize },
    #[error("invalid axes: component {number} was named twice")]
    SameAxes { number: usize },
    #[error("cannot draw a {kind} plot with {option}: {option} is for {kinds} only")]
    OptionOfOtherPlots { option: &'static str, kind: String, kinds: String },
    #[error("cannot write labels to `{}`: a NumPy array holds only numbers", path.display())]
    LabelsInArray { path: PathBuf },
    #[error("cannot use weights here: they do not change {what}")]
    UselessWeights { what: &'static str },
    #[error("`{}` and `{}` have other columns: {left_name} stands where {right_name} does", left.display(), right.display())]
    OtherColumns { left: PathBuf, right: PathBuf, left_name: String, right_name: String },
    #[error("cannot use the columns chosen from `{}`: the model's column `{column}` is not among {}", path.display(), listed(chosen))]
    NotChosen { path: PathBuf, column: String, chosen: Vec<String> },
    #[error("cannot use the columns of `{}`: `{found}` stands where the model has `{expected}`", path.display())]
    ColumnOrder { path: PathBuf, expected: String, found: String },
    #[error("cannot tell scores from distances in `{}`: it has {columns} columns without names, two more than the {components} components of the model", path.display())]
    MaybeDistances { path: PathBuf, columns: usize, components: usize },
    #[error("cannot read scores from `{}`: column {place} is `{found}`, expected `{expected}`", path.display())]
    NotScores { path: PathBuf, place: usize, expected: String, found: String },
    #[error("`-` is no file to write a model or a picture to")]
    NoFile,
    #[error("`{text}` is no size of pictures")]
    Size { text: String },
    #[error("`{text}` is no delimiter")]
    Delimiter { text: String },
    #[error("out of memory{}", needed(*bytes))]
    OutOfMemory { bytes: Option<u64> },
    #[error("cannot start threads to compute with")]
    NoThreads { source: rayon::ThreadPoolBuildError },
    #[error("eigenspace made a mistake at {place}")]
    Mistake { place: String },
    #[error("`{}` is to be read and cannot be written at the same time", path.display())]
    OverInput { path: PathBuf },
    #[error("there are no rows in the input")]
    NoRows,
    #[error("the model `{}` holds no variance to show", path.display())]
    NoVariance { path: PathBuf },
    #[error("the checkpoint `{}` belongs to another input: {what}", path.display())]
    OtherInput { path: PathBuf, what: String },
    #[error("could not take up the checkpoint `{}`", path.display())]
    BrokenCheckpoint { path: PathBuf, source: eigenspace::io::FormatError },
    #[error("standard input cannot be taken up again after an interruption")]
    CheckpointOfInput,
    #[error("the rows of this model are no pictures")]
    NoPictures,
    #[error("the columns of this model have no names")]
    NoNames,
    #[error("this needs rows to show, beside the model")]
    NoData,
    #[error("`{}` holds {faces} pictures, not 40 or more of several people in a folder each", folder.display())]
    FewFaces { folder: PathBuf, faces: usize },
    #[error("`{}` holds no folder of pictures for each person", folder.display())]
    NoPeople { folder: PathBuf },
    #[error("`{}` lies in nobody's folder", path.display())]
    NoPerson { path: PathBuf },
    #[error("`{}` is a recognizer, and would lose its people", path.display())]
    IsRecognizer { path: PathBuf },
    #[error("cannot use the checkpoint `{}`: another fit is using it", path.display())]
    CheckpointInUse { path: PathBuf },
    #[error("`{}` lies two folders or more below `{}`", path.display(), folder.display())]
    Nested { path: PathBuf, folder: PathBuf },
    #[error("the name of `{}` is not UTF-8", path.display())]
    NotText { path: PathBuf },
    #[error("no {what} was named")]
    NothingNamed { what: &'static str },
    #[error("could not write to standard output")]
    Output { source: std::io::Error },
    #[error("{deviation} is no deviation of noise")]
    Noise { deviation: f64 },
    #[error("there is no row {row}")]
    NoRow { row: u64 },
    #[error("the file `{}` would have no known format", path.display())]
    PictureFormat { path: PathBuf },
    #[error("component {wanted} is not shown, the model shows {shown}")]
    NoComponent { wanted: usize, shown: usize },
    #[error("the shape {width}x{height} does not make {features} features")]
    Shape { width: usize, height: usize, features: usize },
}

impl Failure {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Components { .. } => "a whole number such as 50, a share of variance such as 0.95, or `all`",
            Self::Rank { .. } => "a whole number such as 100, or `all`",
            Self::Axes { .. } => "for example --axes 1,2; a scatter may have three, and a biplot and a circle two",
            Self::SameAxes { .. } => "name different components, for example --axes 1,2",
            Self::OptionOfOtherPlots { .. } => "leave the option out, or choose another kind of plot",
            Self::LabelsInArray { .. } => {
                "write to a .csv, .tsv or .parquet file, or leave out the column with --exclude instead of --label"
            }
            Self::UselessWeights { .. } => {
                "leave out --weights; a column of weights in a table is named with --weight-column"
            }
            Self::OtherColumns { .. } => "fit both on the same columns in the same order; --columns gives the order",
            Self::NotChosen { .. } => "leave out --columns: the columns of the model are found by their names",
            Self::ColumnOrder { .. } => "bring the columns into the order in which the model has them",
            Self::MaybeDistances { columns, .. } => {
                return Some(format!(
                    "distances are told by their names: write the scores to .csv or .parquet, or without --distances; \
                     if all {columns} columns are scores, say so with -k {columns}"
                ));
            }
            Self::NotScores { .. } => "leave out --columns: scores are found by their names, PC1, PC2, … or W1, W2, …",
            Self::NoFile => "name a file",
            Self::Size { .. } => "width x height in pixels, such as 92x112",
            Self::Delimiter { .. } => "one character, such as `;`, or `tab`",
            Self::OutOfMemory { .. } => {
                "nothing was written; keep fewer directions with -k and --max-rank, use --engine factor, or free memory"
            }
            Self::NoThreads { .. } => "use fewer with --threads, or raise the limits on memory and processes",
            Self::Mistake { .. } => "please report it, with the command and, if you can, the data",
            Self::OverInput { .. } => "name another file with -o; nothing was changed",
            Self::NoRows => "the files are there, but empty; with `--missing skip` rows with holes are left out too",
            Self::NoVariance { .. } => "it has no rows, or only equal ones; add others with `eigenspace update`",
            Self::OtherInput { .. } => "name the input of the interrupted fit, or remove the checkpoint to begin anew",
            Self::BrokenCheckpoint { .. } => {
                "remove it to begin anew; a checkpoint can be taken up only by the version that wrote it"
            }
            Self::CheckpointOfInput => "save the rows to a file first, or leave out --checkpoint",
            Self::NoPictures => "tell the size of the pictures with --shape WIDTHxHEIGHT",
            Self::NoNames => "fit the model on a table with a header",
            Self::NoData => "name the rows after the model: eigenspace plot KIND MODEL DATA",
            Self::FewFaces { .. } => "faces lie as person/picture.pgm; without --faces the ORL faces are fetched",
            Self::NoPeople { .. } => "pictures lie as person/picture.pgm in it; the folder's name is the person's",
            Self::NoPerson { .. } => {
                "put it into a folder that is named as the person; `faces enroll` also takes --person"
            }
            Self::IsRecognizer { .. } => {
                "add pictures with `eigenspace faces enroll`, or write a model of them elsewhere with -o"
            }
            Self::CheckpointInUse { .. } => "wait until that fit has ended, or name another file with --checkpoint",
            Self::Nested { .. } => "pictures lie as person/picture.pgm; name the folder above them, or put them there",
            Self::NotText { .. } => "rename it: people and pictures are kept under the names of folders and files",
            Self::NothingNamed { .. } => "leave out the option for its default, or see --help for what it may be",
            Self::Output { .. } => "files that were to be written are written; only what is said of them is lost",
            Self::Noise { .. } => "a number of gray values, 0 or more, such as 25",
            Self::NoRow { .. } => "rows are counted from 0",
            Self::PictureFormat { .. } => "pictures are written to files that end in .svg or .png",
            Self::NoComponent { .. } => "components are counted from 1; show more with -k",
            Self::Shape { .. } => "width times height (times 3 for colors) must be the number of features",
        };
        Some(text.into())
    }
}

/// Names in a sentence, the first few of many.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown}, … ({} in all)", names.len()) } else { shown }
}

/// How much memory was needed, where that is known.
fn needed(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!(": this needs about {} MiB", bytes.div_ceil(1 << 20)))
}
