//! Results as text: a model in a few words instead of its bytes, lists and structs as one cell.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use eigenspace::EigenspaceModel;

use crate::models::{bytes, describe};

/// The indices of the columns that can hold models.
pub fn hold_models(schema: &Schema) -> Vec<usize> {
    let binary = |kind: &DataType| matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    let fields = schema.fields().iter().enumerate();
    fields.filter(|(_, field)| binary(field.data_type())).map(|(index, _)| index).collect()
}

/// The same batch with models, lists and structs as text. Lists and structs are cut off after
/// `longest` characters.
pub fn readable(batch: &RecordBatch, longest: Option<usize>) -> Result<RecordBatch> {
    let models = hold_models(&batch.schema());
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns());
    for (index, (field, column)) in batch.schema().fields().iter().zip(batch.columns()).enumerate() {
        let text = match () {
            () if models.contains(&index) => Some(of_models(column)),
            () if column.data_type().is_nested() => Some(of_cells(column, longest)?),
            () => None,
        };
        columns.push(text.map_or_else(|| Arc::clone(column), |text| Arc::new(text) as ArrayRef));
        let kind = columns[index].data_type().clone();
        fields.push(Field::new(field.name(), kind, true));
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn of_models(column: &ArrayRef) -> StringArray {
    let text = |bytes: &[u8]| match EigenspaceModel::from_bytes(bytes) {
        Ok(model) => describe(&model),
        Err(_) => format!("{} bytes", bytes.len()),
    };
    (0..column.len()).map(|row| bytes(column, row).map(text)).collect()
}

fn of_cells(column: &ArrayRef, longest: Option<usize>) -> Result<StringArray> {
    let options = FormatOptions::default().with_null("NULL");
    let formatter = ArrayFormatter::try_new(column.as_ref(), &options)?;
    let cell = |row: usize| {
        let text = formatter.value(row).try_to_string()?;
        let cut = longest.and_then(|longest| text.char_indices().nth(longest).map(|(end, _)| end));
        Ok(cut.map_or_else(|| text.clone(), |end| format!("{} …", &text[..end])))
    };
    (0..column.len()).map(|row| column.is_valid(row).then(|| cell(row)).transpose()).collect()
}
