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
    /// The format that a name tells; a directory is one of images.
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
/// ```
/// use eigenspace::io::source::ReadOptions;
///
/// let options = ReadOptions::new().columns(["height", "weight"]).label("name");
/// assert_eq!(options.label.as_deref(), Some("name"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format, instead of the one inferred from the name.
    pub format: Option<Format>,
    /// Columns to read, in this order: names, numbers from 0, or ranges such as `2-5`. `None` reads all columns except
    /// the label and the weight.
    pub columns: Option<Vec<String>>,
    /// Column names of a model. If the source has all of these names, exactly these columns are read, in this order. If
    /// `columns` is set, those columns are read in this order, if their names are among these. Otherwise this is ignored.
    pub model_columns: Option<Vec<String>>,
    /// Prefixes of numbered names, for example `PC`. If the source has the column `PC1`, only `PC1`, `PC2` and so on are
    /// read. Otherwise this is ignored. `columns` takes precedence.
    pub numbered: Vec<String>,
    /// Columns to leave out.
    pub exclude: Vec<String>,
    /// The column of labels.
    pub label: Option<String>,
    /// The column of weights.
    pub weight: Option<String>,
    /// Whether text begins with a line of names; `None` decides by whether the first line consists of numbers.
    pub header: Option<bool>,
    /// The delimiter of cells in text. `None` is a comma, a tab for [`Format::Tsv`], or a semicolon if the comma is the
    /// decimal mark.
    pub delimiter: Option<u8>,
    /// The decimal mark of numbers in text; `None` is the point.
    pub decimal: Option<u8>,
    /// Words for a missing value in text, in addition to `NA`, `N/A`, `#N/A`, `#NA`, `<NA>`, `NaN`, `null`, `None` and
    /// `?`, in upper or lower case.
    pub missing_words: Vec<String>,
    /// Read a column that looks like the index of a data frame as a feature, instead of leaving it out with a
    /// [`Notice`](super::Notice).
    pub keep_index: bool,
    /// The array to read from an `.npz` file.
    pub key: Option<String>,
    /// Read a one-dimensional array as one column, instead of rejecting it.
    pub vector: bool,
    /// Width and height to which images are resized; with `None`, all images must have the same size.
    pub resize: Option<(usize, usize)>,
    /// Keep the three colors of images instead of converting them to gray.
    pub color: bool,
}

impl ReadOptions {
    /// Reads everything, in the format inferred from the name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`format`](Self#structfield.format).
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets [`columns`](Self#structfield.columns).
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`model_columns`](Self#structfield.model_columns).
    pub fn model_columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.model_columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`numbered`](Self#structfield.numbered).
    pub fn numbered<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.numbered = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`exclude`](Self#structfield.exclude).
    pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.exclude = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`label`](Self#structfield.label).
    pub fn label(mut self, column: impl Into<String>) -> Self {
        self.label = Some(column.into());
        self
    }

    /// Sets [`weight`](Self#structfield.weight).
    pub fn weight(mut self, column: impl Into<String>) -> Self {
        self.weight = Some(column.into());
        self
    }

    /// Sets [`header`](Self#structfield.header).
    pub fn header(mut self, header: bool) -> Self {
        self.header = Some(header);
        self
    }

    /// Sets [`delimiter`](Self#structfield.delimiter).
    pub fn delimiter(mut self, byte: u8) -> Self {
        self.delimiter = Some(byte);
        self
    }

    /// Sets [`decimal`](Self#structfield.decimal).
    pub fn decimal(mut self, byte: u8) -> Self {
        self.decimal = Some(byte);
        self
    }

    /// Sets [`missing_words`](Self#structfield.missing_words).
    pub fn missing_words<N: Into<String>>(mut self, words: impl IntoIterator<Item = N>) -> Self {
        self.missing_words = words.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`keep_index`](Self#structfield.keep_index).
    pub fn keep_index(mut self, yes: bool) -> Self {
        self.keep_index = yes;
        self
    }

    /// Sets [`key`](Self#structfield.key).
    pub fn key(mut self, name: impl Into<String>) -> Self {
        self.key = Some(name.into());
        self
    }

    /// Sets [`vector`](Self#structfield.vector).
    pub fn vector(mut self, yes: bool) -> Self {
        self.vector = yes;
        self
    }

    /// Sets [`resize`](Self#structfield.resize).
    pub fn resize(mut self, size: (usize, usize)) -> Self {
        self.resize = Some(size);
        self
    }

    /// Sets [`color`](Self#structfield.color).
    pub fn color(mut self, yes: bool) -> Self {
        self.color = yes;
        self
    }
}
