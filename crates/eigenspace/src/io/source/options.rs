//! What a reader may be told beside the path.

/// The format of a source, where its name does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A NumPy array.
    Npy,
    /// Several NumPy arrays in a zip file.
    Npz,
    /// Text, cells separated by commas.
    Csv,
    /// Text, cells separated by tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, the file or the stream format.
    Arrow,
    /// A picture, or a folder of pictures.
    Images,
}

/// How to read a source. What does not concern a format is ignored by it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// The format, instead of the one that the name says.
    pub format: Option<Format>,
    /// Columns to read, in this order: names, or numbers from 0, or ranges such as `2-5`. `None` reads all
    /// but those used otherwise.
    pub columns: Option<Vec<String>>,
    /// Columns of a model. A source that has names, and all of these among them, gives these in this order. Where `columns` says
    /// which to read, they come in this order too, if their names are among these. Any other source is read as if nothing
    /// was said here.
    pub model_columns: Option<Vec<String>>,
    /// Beginnings of numbered names, for example `PC`. A source that has the column `PC1` gives `PC1`, `PC2` and so on and no
    /// others; one that has none is read as if nothing was said here. What `columns` says comes first.
    pub numbered: Vec<String>,
    /// Columns to leave out.
    pub exclude: Vec<String>,
    /// The column that holds labels.
    pub label: Option<String>,
    /// The column that holds weights.
    pub weight: Option<String>,
    /// Whether text begins with a line of names; `None` looks whether its first line is all numbers.
    pub header: Option<bool>,
    /// The byte between cells of text. `None` is a comma, a tab for [`Format::Tsv`], and a semicolon where the comma is the
    /// decimal mark.
    pub delimiter: Option<u8>,
    /// The byte that separates the decimals of numbers in text; `None` is the point.
    pub decimal: Option<u8>,
    /// Words that stand for a missing value in text, besides those that always do: `NA`, `N/A`, `#N/A`, `#NA`, `<NA>`,
    /// `NaN`, `null`, `None` and `?`, in any case.
    pub missing_words: Vec<String>,
    /// Read a column that looks like the index of a data frame as a feature, instead of leaving it out with a [`Notice`](super::Notice).
    pub keep_index: bool,
    /// The array to read out of an `.npz` file.
    pub key: Option<String>,
    /// Take a one-dimensional array for one column, instead of refusing it.
    pub vector: bool,
    /// Width and height that pictures are brought to; `None` takes only pictures of one size.
    pub resize: Option<(usize, usize)>,
    /// Keep the three colors of pictures instead of turning them gray.
    pub color: bool,
}
