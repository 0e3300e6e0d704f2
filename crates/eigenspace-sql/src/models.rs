//! Columns of models. Each distinct model of a batch is read once.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::DataType;
use eigenspace::EigenspaceModel;

use crate::error::Error;

/// The type of models and states. Offsets have 64 bits, because the models of 500 groups with 784
/// features have more than 2 GB.
pub(crate) const BYTES: DataType = DataType::LargeBinary;

/// Whether a column of this type can hold models.
pub(crate) fn check_type(function: &str, found: &DataType) -> Result<(), Error> {
    match found {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::Null => Ok(()),
        other => Err(Error::new(format!("{function}: expected a model, found a column of {other}"))
            .hint("pass the result of pca or pca_merge, or the bytes of a model file")),
    }
}

/// The bytes in a row of a column that passed [`check_type`].
pub(crate) fn bytes(column: &ArrayRef, row: usize) -> Option<&[u8]> {
    match column.data_type() {
        _ if column.is_null(row) => None,
        DataType::Binary => Some(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(column.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(column.as_binary_view().value(row)),
        _ => None,
    }
}

pub(crate) fn read(function: &str, row: usize, bytes: &[u8]) -> Result<EigenspaceModel, Error> {
    EigenspaceModel::from_bytes(bytes).map_err(|error| Error::of_bytes(&format!("{function}, row {row}"), &error))
}

/// The models of a batch.
pub(crate) struct Models {
    pub(crate) distinct: Vec<Arc<EigenspaceModel>>,
    /// For each row the index of its model; `None` for NULL.
    pub(crate) of_row: Vec<Option<usize>>,
}

impl Models {
    /// The models in a column, or a constant model for this many rows.
    pub(crate) fn new(function: &str, column: &ArrayRef, rows: usize) -> Result<Self, Error> {
        let mut models = Self { distinct: Vec::new(), of_row: Vec::with_capacity(rows) };
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        let mut last: Option<(&[u8], usize)> = None;
        for row in 0..column.len() {
            let Some(bytes) = bytes(column, row) else {
                models.of_row.push(None);
                continue;
            };
            let same = last.filter(|(before, _)| *before == bytes).map(|(_, index)| index);
            let index = match same.or_else(|| known.get(bytes).copied()) {
                Some(index) => index,
                None => {
                    models.distinct.push(Arc::new(read(function, row, bytes)?));
                    known.insert(bytes, models.distinct.len() - 1);
                    models.distinct.len() - 1
                }
            };
            last = Some((bytes, index));
            models.of_row.push(Some(index));
        }
        if let &[constant] = models.of_row.as_slice() {
            models.of_row.resize(rows, constant);
        }
        Ok(models)
    }

    /// The rows of the batch that have this model.
    pub(crate) fn rows_of(&self, model: usize) -> impl Iterator<Item = usize> {
        self.of_row.iter().enumerate().filter_map(move |(row, index)| (*index == Some(model)).then_some(row))
    }
}

/// A model in a few words: `model of 300 rows, 4 features, 2 components`.
pub fn describe(model: &EigenspaceModel) -> String {
    let counted = |number: u64, word: &str| match number {
        1 => format!("1 {word}"),
        _ => format!("{number} {word}s"),
    };
    let (features, components) = (model.features() as u64, model.n_components() as u64);
    let sizes = [(model.count(), "row"), (features, "feature"), (components, "component")];
    format!("model of {}", sizes.map(|(number, word)| counted(number, word)).join(", "))
}
