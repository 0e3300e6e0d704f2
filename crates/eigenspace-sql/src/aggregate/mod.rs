//! The aggregates, and what they share.

mod merge;
mod model_frame;
mod pca;
mod row_frame;

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::AggregateUDF;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::physical_expr::expressions::Literal;
use datafusion::scalar::ScalarValue;

use crate::error::Error;
use crate::models::BYTES;

pub(crate) fn all() -> Vec<AggregateUDF> {
    vec![
        AggregateUDF::new_from_impl(pca::Pca::plain()),
        AggregateUDF::new_from_impl(pca::Pca::weighted()),
        AggregateUDF::new_from_impl(merge::PcaMerge::new()),
    ]
}

/// Whether the aggregate with this name reads rows.
pub(crate) fn reads_rows(name: &str) -> bool {
    pca::NAMES.contains(&name)
}

/// The state of every aggregate is one binary value.
fn state_fields(arguments: &StateFieldsArgs<'_>) -> Vec<FieldRef> {
    vec![Arc::new(Field::new(format_state_name(arguments.name, "state"), BYTES, true))]
}

/// A window frame never becomes the input of another aggregation.
fn no_state<T>() -> Result<T> {
    Err(DataFusionError::Internal("a window frame has no partial state".into()))
}

fn refuse_distinct(function: &str, distinct: bool) -> Result<(), Error> {
    if !distinct {
        return Ok(());
    }
    let message = format!("{function}: DISTINCT is not supported, because the state of a fit does not keep its rows");
    Err(Error::new(message).hint("remove duplicates first: FROM (SELECT DISTINCT … FROM …)"))
}

/// Refuses DISTINCT before the optimizer rewrites it into groups.
fn refusing_distinct(function: &'static str) -> AggregateFunctionSimplification {
    Box::new(move |call: AggregateFunction, _| {
        refuse_distinct(function, call.params.distinct)?;
        Ok(Expr::AggregateFunction(call))
    })
}

/// The constant that was passed as this argument.
fn constant<'a>(arguments: &AccumulatorArgs<'a>, index: usize) -> Option<&'a ScalarValue> {
    arguments.exprs.get(index)?.downcast_ref::<Literal>().map(Literal::value)
}

/// A positive whole number.
fn whole(value: &ScalarValue) -> Option<usize> {
    let number: Option<i128> = match *value {
        ScalarValue::Int8(number) => number.map(i128::from),
        ScalarValue::Int16(number) => number.map(i128::from),
        ScalarValue::Int32(number) => number.map(i128::from),
        ScalarValue::Int64(number) => number.map(i128::from),
        ScalarValue::UInt8(number) => number.map(i128::from),
        ScalarValue::UInt16(number) => number.map(i128::from),
        ScalarValue::UInt32(number) => number.map(i128::from),
        ScalarValue::UInt64(number) => number.map(i128::from),
        _ => None,
    };
    number.and_then(|number| usize::try_from(number).ok()).filter(|&number| number > 0)
}
