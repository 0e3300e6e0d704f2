//! Which columns are read from the batches of a table, and how they become features.
//!
//! A column of lists becomes one feature per list element, `x[0]`, `x[1]`, …; it is chosen as a
//! whole, by the name or number of the column. If the schema does not fix the length of the lists,
//! the first list that is not null does.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Fields};
use rayon::prelude::*;

use crate::io::source::array::{Lists, is_label, is_narrow, is_number, numbers};
use crate::io::source::block::name_or_number;
use crate::io::source::choice::Choice;
use crate::io::source::{Columns, Needed, Notice, ReadOptions, SourceError};
use crate::linalg::Real;

/// A file with more columns than this is rejected.
const MAX_COLUMNS: usize = 1 << 22;

/// Number of cells that stay in the cache of a core.
const CACHED_CELLS: usize = 1 << 14;

/// What to read from each batch.
pub(super) struct Layout {
    /// The columns to decode, in the order of the file.
    pub(super) decoded: Vec<usize>,
    /// The columns of numbers, in order.
    pub(super) features: Vec<Feature>,
    /// The index of the labels in a batch.
    pub(super) label: Option<usize>,
    /// The index of the weights in a batch.
    pub(super) weight: Option<usize>,
    /// How a message calls the column of weights.
    weight_name: Option<String>,
    /// Whether all numbers fit in f32.
    pub(super) narrow: bool,
    /// Notices about columns that were left out.
    notices: Vec<Notice>,
    /// Whether the columns are those of a model.
    of_model: bool,
}

/// Whether a column holds numbers or lists of numbers.
fn holds_numbers(fields: &Fields, column: usize) -> bool {
    let (_, width, element) = shape(fields[column].data_type());
    is_number(element) && width != Some(0)
}

/// Whether a column holds lists, their length if the type fixes it, and the type of a single
/// element.
fn shape(dtype: &DataType) -> (bool, Option<usize>, &DataType) {
    match dtype {
        DataType::FixedSizeList(of, width) => (true, usize::try_from(*width).ok(), of.data_type()),
        DataType::List(of) | DataType::LargeList(of) => (true, None, of.data_type()),
        single => (false, Some(1), single),
    }
}

/// A column of numbers or of lists of numbers.
pub(super) struct Feature {
    name: String,
    /// Its number in the file.
    number: usize,
    /// Its index in a batch.
    place: usize,
    /// Number of features that it becomes, once known.
    pub(super) width: Option<usize>,
    list: bool,
}

impl Layout {
    /// Chooses columns and checks their types.
    pub(super) fn new(fields: &Fields, options: &ReadOptions) -> Result<Self, SourceError> {
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let choice = Choice::new(names.len(), Some(&names), options)?;
        let mut decoded: Vec<usize> =
            choice.features.iter().copied().chain(choice.label).chain(choice.weight).collect();
        decoded.sort_unstable();
        decoded.dedup();
        let place = |column: usize| decoded.partition_point(|&other| other < column);
        let quoted = |column: usize| format!("`{}`", names[column]);
        let refused = |column: usize| {
            let dtype = fields[column].data_type().to_string();
            let (numbers, text) =
                choice.features.iter().partition::<Vec<usize>, _>(|&&other| holds_numbers(fields, other));
            let others = text.into_iter().filter(|&other| other != column).map(quoted).collect();
            // A model without names needs this column, unless the others are all that it has.
            let enough = options.model_columns.is_none() && options.model_features == Some(numbers.len());
            let needed = if enough { Needed::No } else { options.needed(Some(&names[column])) };
            Err(SourceError::ColumnType { column: quoted(column), dtype, needed, others, all: numbers.is_empty() })
        };

        let mut features = Vec::with_capacity(choice.features.len());
        let mut narrow = true;
        for &column in &choice.features {
            if !holds_numbers(fields, column) {
                return refused(column);
            }
            let (list, width, element) = shape(fields[column].data_type());
            narrow &= is_narrow(element);
            features.push(Feature { name: names[column].clone(), number: column, place: place(column), width, list });
        }
        if let Some(label) = choice.label.filter(|&column| !is_label(fields[column].data_type())) {
            return refused(label);
        }
        if let Some(weight) = choice.weight.filter(|&column| !is_number(fields[column].data_type())) {
            return refused(weight).map_err(SourceError::of_weights);
        }
        let notices = choice.notices();
        Ok(Self {
            features,
            label: choice.label.map(place),
            weight: choice.weight.map(place),
            weight_name: choice.weight.map(|column| name_or_number(Some(&names), column, column)),
            decoded,
            narrow,
            notices,
            of_model: options.model_features.is_some(),
        })
    }

    /// Whether the lengths of all lists are known.
    pub(super) fn measured(&self) -> bool {
        self.features.iter().all(|feature| feature.width.is_some())
    }

    /// Takes the length of lists from the first one that is not null.
    pub(super) fn measure(&mut self, batch: &RecordBatch) -> Result<(), SourceError> {
        for feature in self.features.iter_mut().filter(|feature| feature.width.is_none()) {
            let lists = Lists::of(batch.column(feature.place)).ok_or_else(|| feature.no_numbers())?;
            feature.width = (0..batch.num_rows()).find_map(|row| lists.row(row)).map(|values| values.len());
            if feature.width == Some(0) {
                return Err(feature.no_numbers());
            }
        }
        Ok(())
    }

    /// The columns of the source.
    pub(super) fn columns(&self) -> Result<Columns, SourceError> {
        let widths: Vec<usize> = self
            .features
            .iter()
            .map(|feature| feature.width.ok_or_else(|| feature.no_numbers()))
            .collect::<Result<_, _>>()?;
        let count = widths.iter().fold(0_usize, |count, width| count.saturating_add(*width));
        if count > MAX_COLUMNS {
            return Err(SourceError::TooManyColumns { found: count, limit: MAX_COLUMNS });
        }
        let mut names = Vec::with_capacity(count);
        let mut numbers = Vec::with_capacity(count);
        for (feature, width) in self.features.iter().zip(widths) {
            numbers.extend(std::iter::repeat_n(feature.number, width));
            match feature.list {
                false => names.push(feature.name.clone()),
                true => names.extend((0..width).map(|i| format!("{}[{i}]", feature.name))),
            }
        }
        let (weight, notices) = (self.weight_name.clone(), self.notices.clone());
        Ok(Columns { numbers, weight, notices, of_model: self.of_model, ..Columns::named(names) })
    }

    /// Writes some rows of the batch, of which the first has the number `row` in the file, into
    /// `cells`, which has `stride` columns. A few rows are written at a time, so that they stay in
    /// the cache of a core while one column after the other is written into them.
    pub(super) fn fill<T: Real>(
        &self,
        batch: &RecordBatch,
        rows: Range<usize>,
        row: u64,
        cells: &mut [T],
        stride: usize,
    ) -> Result<(), SourceError> {
        let stride = stride.max(1);
        let few = (CACHED_CELLS / stride).max(1);
        let part = |(part, cells): (usize, &mut [T])| {
            let from = part * few;
            let start = rows.start + from;
            self.fill_columns(batch, start..start + cells.len() / stride, row + from as u64, cells, stride)
        };
        let filled = match rayon::current_num_threads() {
            1 => cells.chunks_mut(few * stride).enumerate().try_for_each(part),
            _ => cells.par_chunks_mut(few * stride).enumerate().try_for_each(part),
        };
        // The error to report is that of the first column that has one.
        filled.or_else(|_| self.fill_columns(batch, rows.clone(), row, cells, stride))
    }

    /// Writes one column after the other.
    fn fill_columns<T: Real>(
        &self,
        batch: &RecordBatch,
        rows: Range<usize>,
        row: u64,
        cells: &mut [T],
        stride: usize,
    ) -> Result<(), SourceError> {
        let mut first = 0;
        for feature in &self.features {
            feature.fill(batch, rows.clone(), row, cells, stride, first)?;
            first += feature.known_width();
        }
        Ok(())
    }
}

impl Feature {
    /// The number of its columns. Rows are read after [`Layout::columns`] has succeeded.
    fn known_width(&self) -> usize {
        self.width.expect("the columns were counted before rows are read")
    }

    fn no_numbers(&self) -> SourceError {
        SourceError::ColumnType {
            column: format!("`{}`", self.name),
            dtype: "no lists with anything in them".into(),
            needed: Needed::No,
            others: Vec::new(),
            all: false,
        }
    }

    /// Writes some rows of the batch into `cells`, which has `stride` columns, from the column
    /// `first` on.
    fn fill<T: Real>(
        &self,
        batch: &RecordBatch,
        rows: Range<usize>,
        row: u64,
        cells: &mut [T],
        stride: usize,
        first: usize,
    ) -> Result<(), SourceError> {
        let array = batch.column(self.place);
        if !self.list {
            let read = numbers(array, rows, |place, value| cells[place * stride + first] = T::narrow(value));
            return if read { Ok(()) } else { Err(self.no_numbers()) };
        }
        let width = self.known_width();
        let lists = Lists::of(array).ok_or_else(|| self.no_numbers())?;
        for (place, at) in rows.enumerate() {
            let into = &mut cells[place * stride + first..][..width];
            let Some(values) = lists.row(at) else {
                into.fill(T::narrow(f64::NAN));
                continue;
            };
            if values.len() != width {
                return Err(SourceError::ListLength {
                    row: row + place as u64,
                    column: format!("`{}`", self.name),
                    expected: width,
                    found: values.len(),
                });
            }
            if !numbers(lists.values(), values, |place, value| into[place] = T::narrow(value)) {
                return Err(self.no_numbers());
            }
        }
        Ok(())
    }
}
