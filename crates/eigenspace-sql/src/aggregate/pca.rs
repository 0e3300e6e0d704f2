//! `pca(x, k)` and `pca_weighted(x, w, k)`: the model of the rows of each group.
//!
//! ```text
//! update   a ← a.absorb(rows)          state   bytes of a, or NULL without rows
//! merge    a ← a + b                   result  the model of a, or NULL without rows
//! ```
//!
//! x is one column of lists, or several columns of numbers. k is a constant: a number of
//! components, a share of the variance such as 0.95, or 'all'.

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use datafusion::physical_expr::expressions::Column;
use datafusion::scalar::ScalarValue;
use eigenspace::{Components, FitOptions, Metadata};

use super::row_frame::RowFrame;
use super::{constant, refuse_distinct, refusing_distinct, state_fields, whole};
use crate::error::{Error, hint_of};
use crate::models::{BYTES, bytes};
use crate::rows::{Rows, check_types, named, numbers};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pca {
    name: &'static str,
    weighted: bool,
    signature: Signature,
}

/// The names of the aggregates that read rows.
pub(crate) const NAMES: [&str; 2] = ["pca", "pca_weighted"];

impl Pca {
    pub(crate) fn plain() -> Self {
        Self { name: NAMES[0], weighted: false, signature: Signature::variadic_any(Volatility::Immutable) }
    }

    pub(crate) fn weighted() -> Self {
        Self { name: NAMES[1], weighted: true, ..Self::plain() }
    }

    /// Number of arguments after the columns.
    fn trailing(&self) -> usize {
        if self.weighted { 2 } else { 1 }
    }

    fn check(&self, types: &[DataType]) -> Result<(), Error> {
        let usage = if self.weighted { "pca_weighted(x, w, k)" } else { "pca(x, k)" };
        let Some(columns) = types.len().checked_sub(self.trailing()).filter(|&columns| columns > 0) else {
            let message = format!("{}: {} arguments are too few", self.name, types.len());
            let hint = format!("use {usage}, where x is one column of lists or several columns of numbers");
            return Err(Error::new(message).hint(hint));
        };
        check_types(self.name, &types[..columns])?;
        if self.weighted && !types[columns].is_numeric() {
            let message = format!("{}: the weight is a column of {}, expected numbers", self.name, types[columns]);
            return Err(Error::new(message).hint(format!("use {usage}")));
        }
        Ok(())
    }

    fn job(&self, arguments: &AccumulatorArgs<'_>) -> Result<Job, Error> {
        refuse_distinct(self.name, arguments.is_distinct)?;
        let columns = arguments.exprs.len().saturating_sub(self.trailing());
        let constant = constant(arguments, arguments.exprs.len().saturating_sub(1));
        let Some(components) = constant.and_then(components) else {
            let message = match constant {
                Some(value) => format!("{}: invalid number of components `{value}`", self.name),
                None => format!("{}: invalid number of components: expected a constant", self.name),
            };
            return Err(Error::new(message).hint("use a number such as 10, a share such as 0.95, or 'all'"));
        };
        let options = FitOptions::new().components(components);
        // Rejects invalid options before any row is read.
        options.plan(1).map_err(|error| Error::of(self.name, &error))?;
        Ok(Job { function: self.name, weighted: self.weighted, options, names: names(arguments, columns) })
    }
}

/// The number of components that a constant asks for.
fn components(value: &ScalarValue) -> Option<Components> {
    match value {
        ScalarValue::Float32(Some(share)) => Some(f64::from(*share).into()),
        ScalarValue::Float64(Some(share)) => Some((*share).into()),
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            text.parse().ok()
        }
        number => whole(number).map(Into::into),
    }
}

/// The names of the features, if they are different columns of a table.
fn names(arguments: &AccumulatorArgs<'_>, columns: usize) -> Option<Vec<String>> {
    let is_number = arguments.expr_fields.first().is_some_and(|field| field.data_type().is_numeric());
    let name = |index: usize| arguments.exprs[index].downcast_ref::<Column>().map(|column| column.name().to_owned());
    let names: Vec<String> = (0..columns).filter(|_| is_number).map(name).collect::<Option<_>>()?;
    // Columns that the optimizer adds have no name that a user knows.
    let known = |name: &String| !name.starts_with("__");
    let different = names.iter().enumerate().all(|(index, name)| !names[..index].contains(name));
    (!names.is_empty() && different && names.iter().all(known)).then_some(names)
}

impl AggregateUDFImpl for Pca {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.check(types)?;
        Ok(BYTES)
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        refuse_distinct(self.name, arguments.is_distinct)?;
        Ok(state_fields(&arguments))
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(RowAccumulator::new(self.job(&arguments)?)?))
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(RowFrame::new(self.job(&arguments)?)?))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        Some(refusing_distinct(self.name))
    }
}

/// What to compute, and from which arguments.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) function: &'static str,
    weighted: bool,
    pub(crate) options: FitOptions,
    names: Option<Vec<String>>,
}

/// Rows that were read from the arguments.
pub(crate) struct Batch {
    pub(crate) rows: ndarray::Array2<f64>,
    pub(crate) weights: Option<Vec<f64>>,
}

impl Batch {
    fn block(&self) -> eigenspace::Block<'_> {
        let block = eigenspace::Block::from(self.rows.view());
        self.weights.as_ref().map_or(block, |weights| block.weighted(weights))
    }
}

impl Job {
    pub(crate) fn accumulator(&self) -> Result<eigenspace::Accumulator, Error> {
        let metadata = Metadata::new().with_feature_names(self.names.clone());
        let empty = self.options.accumulator().and_then(|empty| empty.with_metadata(metadata));
        empty.map_err(|error| Error::of(self.function, &error))
    }

    /// The rows and weights in these arguments. `passed` rows came before.
    pub(crate) fn read(&self, arguments: &[ArrayRef], passed: usize) -> Result<Batch> {
        let columns = arguments.len().saturating_sub(if self.weighted { 2 } else { 1 });
        let rows = Rows::new(&arguments[..columns])?;
        let rows = rows.matrix(0..rows.len()).map_err(|(row, problem)| {
            let message = problem.message(passed.saturating_add(row), self.names.as_deref());
            self.refused(&message, Some(problem.hint().into()))
        })?;
        let weights = if self.weighted { Some(self.weights(&arguments[columns], passed)?) } else { None };
        Ok(Batch { rows, weights })
    }

    fn weights(&self, column: &ArrayRef, passed: usize) -> Result<Vec<f64>> {
        let weights = numbers(column)?;
        if let Some(row) = (0..weights.len()).find(|&row| weights.is_null(row)) {
            let message = format!("row {}: the weight is NULL", passed.saturating_add(row));
            return Err(self.refused(&message, Some("use a weight of 0 to leave the row out".into())).into());
        }
        Ok(weights.values().to_vec())
    }

    /// Absorbs a batch; the library counts the rows that the accumulator has absorbed.
    pub(crate) fn absorb(&self, accumulator: &mut eigenspace::Accumulator, batch: &Batch) -> Result<()> {
        accumulator.absorb(batch.block()).map_err(|error| self.refused(&self.message(&error), hint_of(&error)).into())
    }

    /// Rejects an invalid batch before it becomes part of a frame. `passed` rows came before.
    pub(crate) fn check(&self, batch: &Batch, passed: usize) -> Result<()> {
        let refused = |error: eigenspace::Error| {
            let error = error.counted_from(passed);
            self.refused(&self.message(&error), hint_of(&error))
        };
        Ok(self.accumulator()?.absorb(batch.block()).map_err(refused)?)
    }

    /// The message of the library, with the name of the column.
    fn message(&self, error: &eigenspace::Error) -> String {
        match error {
            eigenspace::Error::NonFinite { row, column, value } => {
                let column = named(self.names.as_deref(), *column);
                format!("row {row}, column {column}: the value is {value}, expected a finite number")
            }
            eigenspace::Error::WidthMismatch { expected, found } => {
                format!("a list has {found} numbers, those before it have {expected}")
            }
            other => other.to_string(),
        }
    }

    fn refused(&self, message: &str, hint: Option<String>) -> Error {
        let error = Error::of_row(self.function, message);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    pub(crate) fn model(&self, accumulator: &eigenspace::Accumulator) -> Result<ScalarValue> {
        if accumulator.is_empty() {
            return Ok(ScalarValue::LargeBinary(None));
        }
        let model = accumulator.finish().map_err(|error| Error::of(self.function, &error))?;
        Ok(ScalarValue::LargeBinary(Some(model.to_bytes())))
    }
}

/// Bytes that a state takes, about: its pending rows, and the two matrices of a scatter or the
/// directions of a factor.
pub(crate) fn size(state: &eigenspace::Accumulator) -> usize {
    let features = state.features().unwrap_or(0);
    let rows = usize::try_from(state.count()).unwrap_or(usize::MAX).min(1024);
    let held = if rows < 512 { rows } else { rows + 2 * features.min(1024) };
    8 * features.saturating_mul(held)
}

#[derive(Debug)]
struct RowAccumulator {
    job: Job,
    state: eigenspace::Accumulator,
    /// Number of rows passed to `update_batch`.
    passed: usize,
}

impl RowAccumulator {
    fn new(job: Job) -> Result<Self> {
        Ok(Self { state: job.accumulator()?, job, passed: 0 })
    }
}

impl Accumulator for RowAccumulator {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let batch = self.job.read(arguments, self.passed)?;
        self.job.absorb(&mut self.state, &batch)?;
        self.passed = self.passed.saturating_add(batch.rows.nrows());
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for row in 0..states[0].len() {
            let Some(state) = bytes(&states[0], row) else { continue };
            let other = eigenspace::Accumulator::from_bytes(state)
                .map_err(|error| Error::of_bytes(self.job.function, &error))?;
            self.state.merge(&other).map_err(|error| Error::of(self.job.function, &error))?;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let state = (!self.state.is_empty()).then(|| self.state.to_bytes());
        Ok(vec![ScalarValue::LargeBinary(state)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.job.model(&self.state)
    }

    fn size(&self) -> usize {
        size_of_val(self) + size(&self.state)
    }
}
