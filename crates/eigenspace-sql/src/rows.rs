//! From Arrow columns to rows of numbers.
//!
//! ```text
//! one column of lists      row i = the numbers of list i
//! several columns          row i = ( column₁[i], column₂[i], … )
//! ```
//!
//! All numeric types become f64.

use std::ops::Range;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::error::Result;
use ndarray::Array2;

use crate::error::Error;

/// Whether columns of these types are rows: one column of lists of numbers, or columns of numbers.
pub(crate) fn check_types(function: &str, types: &[DataType]) -> Result<(), Error> {
    let wrong = |what: String| {
        let hint = "pass one column of lists of numbers, or one or more columns of numbers; cast other columns, for example CAST(c AS DOUBLE)";
        Err(Error::new(format!("{function}: {what}")).hint(hint))
    };
    match types {
        [] => wrong("there is no column".into()),
        [one] if element(one).is_some_and(DataType::is_numeric) => Ok(()),
        [one] if element(one).is_some() => wrong(format!("the elements of {one} are not numbers")),
        many => match many.iter().find(|one| !one.is_numeric()) {
            Some(one) if element(one).is_some() => {
                wrong("a column of lists cannot be combined with other columns".into())
            }
            Some(one) => wrong(format!("a column of {one} has no numbers")),
            None => Ok(()),
        },
    }
}

/// The type of the elements of a list.
fn element(list: &DataType) -> Option<&DataType> {
    match list {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            Some(field.data_type())
        }
        _ => None,
    }
}

/// The rows of a batch.
#[derive(Debug)]
pub(crate) enum Rows {
    Lists { values: Float64Array, cells: Vec<Option<Range<usize>>> },
    Columns { columns: Vec<Float64Array>, len: usize },
}

/// A row that has no numbers, or not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The row is NULL.
    Null,
    /// A cell is NULL.
    NullCell { column: usize },
    /// The list is shorter or longer than the first one.
    Width { expected: usize, found: usize },
}

impl Problem {
    /// What is wrong with this row.
    pub(crate) fn message(self, row: usize, names: Option<&[String]>) -> String {
        match self {
            Self::Null => format!("row {row}: the list is NULL"),
            Self::NullCell { column } => format!("row {row}, column {}: the value is NULL", named(names, column)),
            Self::Width { expected, found } => {
                format!("row {row}: the list has {found} numbers, those before it have {expected}")
            }
        }
    }

    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Null | Self::NullCell { .. } => {
                "leave out such rows with WHERE or FILTER (WHERE … IS NOT NULL), or replace the NULL with coalesce"
            }
            Self::Width { .. } => "pass lists of the same length",
        }
    }
}

/// A column in a message: its name in quotes, or its number.
pub(crate) fn named(names: Option<&[String]>, column: usize) -> String {
    names.and_then(|names| names.get(column)).map_or_else(|| column.to_string(), |name| format!("`{name}`"))
}

impl Rows {
    pub(crate) fn new(arrays: &[ArrayRef]) -> Result<Self> {
        match arrays {
            [list] if element(list.data_type()).is_some() => Self::of_lists(list),
            columns => {
                let len = columns.first().map_or(0, |column| column.len());
                Ok(Self::Columns { columns: columns.iter().map(numbers).collect::<Result<_>>()?, len })
            }
        }
    }

    fn of_lists(list: &ArrayRef) -> Result<Self> {
        let len = list.len();
        let (child, bounds): (&ArrayRef, Vec<usize>) = match list.data_type() {
            DataType::List(_) => {
                let list = list.as_list::<i32>();
                (list.values(), list.value_offsets().iter().map(|&offset| offset as usize).collect())
            }
            DataType::LargeList(_) => {
                let list = list.as_list::<i64>();
                (list.values(), list.value_offsets().iter().map(|&offset| offset as usize).collect())
            }
            _ => {
                let list = list.as_fixed_size_list();
                let width = list.value_length() as usize;
                (list.values(), (0..=len).map(|row| row * width).collect())
            }
        };
        let (first, last) = (bounds.first().copied().unwrap_or(0), bounds.last().copied().unwrap_or(0));
        // Only the part that these rows use: the child may hold the rows of all groups.
        let values = numbers(&child.slice(first, last - first))?;
        let cells = (0..len).map(|row| list.is_valid(row).then(|| bounds[row] - first..bounds[row + 1] - first));
        Ok(Self::Lists { cells: cells.collect(), values })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Lists { cells, .. } => cells.len(),
            Self::Columns { len, .. } => *len,
        }
    }

    /// Appends the numbers of a row.
    fn append(&self, row: usize, into: &mut Vec<f64>) -> Result<(), Problem> {
        match self {
            Self::Lists { values, cells } => {
                let range = cells[row].clone().ok_or(Problem::Null)?;
                if values.null_count() > 0
                    && let Some(column) = range.clone().position(|cell| values.is_null(cell))
                {
                    return Err(Problem::NullCell { column });
                }
                into.extend_from_slice(&values.values()[range]);
            }
            Self::Columns { columns, .. } => {
                for (column, values) in columns.iter().enumerate() {
                    if values.is_null(row) {
                        return Err(Problem::NullCell { column });
                    }
                    into.push(values.value(row));
                }
            }
        }
        Ok(())
    }

    /// Whether the row, or a cell of it, is NULL.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Lists { values, cells } => cells[row]
                .clone()
                .is_none_or(|mut range| values.null_count() > 0 && range.any(|cell| values.is_null(cell))),
            Self::Columns { columns, .. } => columns.iter().any(|column| column.is_null(row)),
        }
    }

    /// These rows as a matrix, or the first row that cannot be part of it.
    pub(crate) fn matrix(&self, rows: impl ExactSizeIterator<Item = usize>) -> Result<Array2<f64>, (usize, Problem)> {
        let (mut cells, mut width, count) = (Vec::new(), None, rows.len());
        for row in rows {
            let before = cells.len();
            self.append(row, &mut cells).map_err(|problem| (row, problem))?;
            let found = cells.len() - before;
            let expected = *width.get_or_insert(found);
            if before == 0 {
                cells.reserve(found * count.saturating_sub(1));
            }
            if found != expected {
                return Err((row, Problem::Width { expected, found }));
            }
        }
        Ok(Array2::from_shape_vec((count, width.unwrap_or(0)), cells).expect("all rows have the same width"))
    }
}

/// The values of an array as f64.
pub(crate) fn numbers(array: &ArrayRef) -> Result<Float64Array> {
    Ok(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
}
