//! Options of readers.

use std::path::Path;

/// The format of a source, if it cannot be inferred from the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A NumPy array.
    Npy,
    /// Several NumPy arrays in a zip file.
    Npz,
    /// Text with cells separated by commas.
    Csv,
    /// Text with cells separated by tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, the file or the stream format.
    Arrow,
    /// An image, or a directory of images.
    Images,
}

impl Format {
    /// The format that a name suggests; a directory is assumed to contain images.
    pub fn of(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return Some(Self::Images);
        }
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let name =
            name.strip_suffix(".gz").filter(|name| name.ends_with(".csv") || name.ends_with(".tsv")).unwrap_or(&name);
        Some(match name.rsplit_once('.')?.1 {
            "npy" => Self::Npy,
            "npz" => Self::Npz,
            "csv" | "txt" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "arrows" | "feather" | "ipc" => Self::Arrow,
            "pgm" | "ppm" | "pbm" | "pnm" | "png" | "jpg" | "jpeg" => Self::Images,
            _ => return None,
        })
    }
}

/// How to read a source. A format ignores the options that do not concern it.
///
/// ```no_run
/// use eigenspace::io::source::{self, ReadOptions};
///
/// let options = ReadOptions::new().columns(["height", "weight"]).label("name");
/// let rows = source::open(&["people.csv"], &options)?;
/// # Ok::<(), eigenspace::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    pub(crate) format: Option<Format>,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) model_columns: Option<Vec<String>>,
    pub(crate) model_features: Option<usize>,
    pub(crate) numbered: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) label: Option<String>,
    pub(crate) weight: Option<String>,
    pub(crate) header: Option<bool>,
    pub(crate) delimiter: Option<u8>,
    pub(crate) decimal: Option<u8>,
    pub(crate) missing_words: Vec<String>,
    pub(crate) keep_index: bool,
    pub(crate) key: Option<String>,
    pub(crate) vector: bool,
    pub(crate) resize: Option<(usize, usize)>,
    pub(crate) color: bool,
}

impl ReadOptions {
    /// Reads everything, in the format inferred from the name.
    pub fn new() -> Self {
        Self::default()
    }

    /// The format, instead of the one inferred from the name.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Columns to read, in this order: names, numbers from 0, or ranges such as `2-5`. By default,
    /// all columns except the label and the weight are read.
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Column names of a model. A source that has all of these names is read in this order, without
    /// its other columns. If [`columns`](Self::columns) is set too, those columns are read, in this
    /// order, provided that they are all among these names. Otherwise this setting is ignored.
    pub fn model_columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.model_columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Number of features of the model that the rows are for. Only messages depend on it: they do
    /// not suggest leaving out a column that the model has.
    pub fn model_features(mut self, features: usize) -> Self {
        self.model_features = Some(features);
        self
    }

    /// Why a column with this name, or without one, is read. Columns without names are those of the
    /// model by position.
    #[cfg(any(feature = "csv", feature = "parquet"))]
    pub(crate) fn needed(&self, column: Option<&str>) -> super::Needed {
        let has = |names: &[String], column: &str| {
            let list = format!("{column}[0]");
            names.iter().any(|name| name == column || *name == list)
        };
        let of_model = match (&self.model_columns, column) {
            (Some(names), Some(column)) => has(names, column),
            _ => self.model_features.is_some(),
        };
        match (of_model, &self.columns) {
            (true, _) => super::Needed::ByModel,
            (false, Some(_)) => super::Needed::ByRequest,
            (false, None) => super::Needed::No,
        }
    }

    /// Prefixes of numbered names, for example `PC`. If the source has the column `PC1`, only
    /// `PC1`, `PC2` and so on are read. Otherwise this setting is ignored.
    /// [`columns`](Self::columns) takes precedence.
    pub fn numbered<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.numbered = names.into_iter().map(Into::into).collect();
        self
    }

    /// Columns to leave out.
    pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.exclude = names.into_iter().map(Into::into).collect();
        self
    }

    /// The column of labels.
    pub fn label(mut self, column: impl Into<String>) -> Self {
        self.label = Some(column.into());
        self
    }

    /// The column of weights.
    pub fn weight(mut self, column: impl Into<String>) -> Self {
        self.weight = Some(column.into());
        self
    }

    /// Whether text begins with a line of names. By default, it does unless the first line consists
    /// of numbers.
    pub fn header(mut self, header: bool) -> Self {
        self.header = Some(header);
        self
    }

    /// The delimiter of cells in text. The default is a comma, or a tab for [`Format::Tsv`], or a
    /// semicolon if the comma is the decimal mark.
    pub fn delimiter(mut self, byte: u8) -> Self {
        self.delimiter = Some(byte);
        self
    }

    /// The decimal mark of numbers in text; a point by default.
    pub fn decimal(mut self, byte: u8) -> Self {
        self.decimal = Some(byte);
        self
    }

    /// Words for a missing value in text, in addition to `NA`, `N/A`, `#N/A`, `#NA`, `<NA>`, `NaN`,
    /// `null`, `None` and `?`, in upper or lower case.
    pub fn missing_words<N: Into<String>>(mut self, words: impl IntoIterator<Item = N>) -> Self {
        self.missing_words = words.into_iter().map(Into::into).collect();
        self
    }

    /// Whether to read a column that looks like the index of a data frame as a feature, instead of
    /// leaving it out with a [`Notice`](super::Notice).
    pub fn keep_index(mut self, yes: bool) -> Self {
        self.keep_index = yes;
        self
    }

    /// The array to read from an `.npz` file.
    pub fn key(mut self, name: impl Into<String>) -> Self {
        self.key = Some(name.into());
        self
    }

    /// Whether to read a one-dimensional array as one column, instead of rejecting it.
    pub fn vector(mut self, yes: bool) -> Self {
        self.vector = yes;
        self
    }

    /// Width and height to which images are resized. Without it, all images must have the same
    /// size.
    pub fn resize(mut self, size: (usize, usize)) -> Self {
        self.resize = Some(size);
        self
    }

    /// Whether to keep the three colors of images instead of converting them to gray.
    pub fn color(mut self, yes: bool) -> Self {
        self.color = yes;
        self
    }
}
