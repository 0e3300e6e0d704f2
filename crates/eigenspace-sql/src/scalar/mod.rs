//! The scalar functions. NULL in, NULL out.

mod of_model;
mod of_rows;
mod split;

use datafusion::arrow::array::ArrayRef;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use datafusion::scalar::ScalarValue;

pub(crate) fn all() -> Vec<ScalarUDF> {
    let of_models = of_model::Reading::ALL.map(|reading| ScalarUDF::new_from_impl(of_model::OfModel::new(reading)));
    let of_rows = of_rows::Measure::ALL.map(|measure| ScalarUDF::new_from_impl(of_rows::OfRows::new(measure)));
    of_models.into_iter().chain(of_rows).chain([ScalarUDF::new_from_impl(split::PcaSplit::new())]).collect()
}

/// Computes a column from the columns of the arguments, and the number of rows. Constant arguments
/// are one row, unless another is a column. A constant model stays one row: copies for all rows
/// would take gigabytes.
fn by_columns(
    arguments: &ScalarFunctionArgs,
    compute: impl FnOnce(&[ArrayRef], usize) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    let constant = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
    let rows = if constant { 1 } else { arguments.number_rows };
    let column = |argument: &ColumnarValue| match argument {
        ColumnarValue::Scalar(value) if value.data_type().is_binary() => value.to_array(),
        other => other.to_array(rows),
    };
    let columns: Vec<_> = arguments.args.iter().map(column).collect::<Result<_>>()?;
    let result = compute(&columns, rows)?;
    if constant {
        return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
    }
    Ok(ColumnarValue::Array(result))
}
