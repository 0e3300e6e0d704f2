//! What a reader left out, or what a user may not expect: for the user to know, not an error.

use std::fmt;

use crate::io::source_error::IMAGE_FORMATS;
use crate::printable::{first_names, grouped, printable};

/// Something to know about the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A column that looks like the index of a data frame.
    IndexColumn {
        /// Its name.
        column: String,
    },
    /// Names that several of the columns have. The columns are read, each as a separate feature.
    SharedNames {
        /// The names.
        names: Vec<String>,
    },
    /// A first line of text that was read as names although some of its cells are numbers.
    NumbersInHeader {
        /// Cells that are numbers.
        numbers: usize,
        /// All cells.
        cells: usize,
    },
    /// A first line of text that was read as a row although it looks like column names: 0, 1, 2, …
    /// or years.
    OnlyNumbersInFirstLine,
    /// Bytes of a file after the end of its array.
    AfterArray {
        /// The file.
        file: String,
        /// The number of bytes.
        bytes: u64,
    },
    /// Images in unsupported formats, next to others that are read.
    OtherImages {
        /// Their number.
        count: usize,
        /// Their formats.
        formats: Vec<&'static str>,
    },
    /// Images in a directory with tables or arrays, or in its subdirectories. Only the tables and
    /// arrays are read.
    ImagesBesideTables {
        /// Their number.
        count: usize,
    },
    /// Files that end in `.txt`, in a directory with tables or arrays. They are taken for notes and
    /// not read.
    TextFiles {
        /// Their names.
        names: Vec<String>,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexColumn { column } if column.is_empty() => {
                write!(f, "the first column has no name and looks like the index of a data frame; leaving it out")
            }
            Self::IndexColumn { column } => {
                write!(f, "the column `{column}` looks like the index of a data frame; leaving it out")
            }
            Self::SharedNames { names } => write!(
                f,
                "several columns have the same name: {}; each is a separate feature, and can be chosen only by its number",
                first_names(names)
            ),
            Self::NumbersInHeader { numbers, cells } => write!(
                f,
                "the first line was read as column names, although it has numbers ({numbers} of {cells} cells); \
                 if it is a row, read the text without a header"
            ),
            Self::OnlyNumbersInFirstLine => write!(
                f,
                "the first line holds only numbers and was read as a row; \
                 if these are column names, read the text with a header"
            ),
            Self::AfterArray { file, bytes } => {
                let (unit, were) = if *bytes == 1 { ("byte", "was") } else { ("bytes", "were") };
                let bytes = grouped(bytes);
                write!(f, "{bytes} {unit} after the end of the array in `{}` {were} not read", printable(file))
            }
            Self::OtherImages { count, formats } => {
                let left_out = if *count == 1 { "image was" } else { "images were" };
                let are = if formats.len() == 1 { "is" } else { "are" };
                let (formats, supported) = (formats.join(", "), IMAGE_FORMATS.replace(" or ", " and "));
                write!(f, "{count} {left_out} left out: {formats} {are} not supported; only {supported} are")
            }
            Self::ImagesBesideTables { count } => {
                let left_out = if *count == 1 { "image was" } else { "images were" };
                write!(
                    f,
                    "{count} {left_out} left out, because the directory has tables or arrays; \
                     to read the images instead, choose their format"
                )
            }
            Self::TextFiles { names } => write!(
                f,
                "left out {}, because the directory has files of other formats; to read a .txt file, pass the file itself",
                first_names(names)
            ),
        }
    }
}
