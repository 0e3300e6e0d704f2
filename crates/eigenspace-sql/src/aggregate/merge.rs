//! `pca_merge(model)` and `pca_merge(model, r)`: the model of the rows of all models of a group.
//!
//! ```text
//! M = Σ Mᵢ + Σ wᵢ (μᵢ − μ)(μᵢ − μ)ᵀ,      with at most r directions
//! ```
//!
//! NULL changes nothing. The state is the merged model. If the models report different numbers of
//! components, the result reports the largest one, so that it does not depend on the order in which
//! states arrive.

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use datafusion::scalar::ScalarValue;
use eigenspace::{Components, EigenspaceModel, Truncation};

use super::model_frame::ModelFrame;
use super::{constant, refuse_distinct, refusing_distinct, state_fields, whole};
use crate::error::Error;
use crate::models::{BYTES, bytes, check_type, read};

const NAME: &str = "pca_merge";

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct PcaMerge {
    signature: Signature,
}

impl PcaMerge {
    pub(crate) fn new() -> Self {
        Self { signature: Signature::variadic_any(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for PcaMerge {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [model] => check_type(NAME, model)?,
            [model, rank] if rank.is_integer() => check_type(NAME, model)?,
            _ => {
                let hint = "use pca_merge(model), or pca_merge(model, r) to keep at most r directions";
                return Err(Error::new(format!("{NAME}: invalid arguments")).hint(hint).into());
            }
        }
        Ok(BYTES)
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        refuse_distinct(NAME, arguments.is_distinct)?;
        Ok(state_fields(&arguments))
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(ModelAccumulator { job: MergeJob::new(&arguments)?, merged: None }))
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(ModelFrame::new(MergeJob::new(&arguments)?)))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        Some(refusing_distinct(NAME))
    }
}

/// How to merge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergeJob {
    truncation: Truncation,
}

impl MergeJob {
    fn new(arguments: &AccumulatorArgs<'_>) -> Result<Self, Error> {
        refuse_distinct(NAME, arguments.is_distinct)?;
        if arguments.exprs.len() < 2 {
            return Ok(Self { truncation: Truncation::None });
        }
        let rank = constant(arguments, 1).and_then(whole);
        let invalid = || {
            let message = format!("{NAME}: invalid rank: expected a constant of at least 1");
            Error::new(message).hint("use pca_merge(model, 10) to keep at most 10 directions, or leave out the rank")
        };
        Ok(Self { truncation: Truncation::Rank(rank.ok_or_else(invalid)?) })
    }

    /// The models of a column.
    pub(crate) fn read(self, column: &ArrayRef) -> Result<Vec<Option<EigenspaceModel>>> {
        let model = |row| Ok(bytes(column, row).map(|bytes| read(NAME, row, bytes)).transpose()?);
        (0..column.len()).map(model).collect()
    }

    /// The models merged, or `None` if there are none.
    pub(crate) fn merged<'a>(
        self,
        models: impl Iterator<Item = &'a EigenspaceModel>,
    ) -> Result<Option<EigenspaceModel>, Error> {
        let models: Vec<_> = models.collect();
        let Some(most) = models.iter().map(|model| model.n_components_setting()).reduce(larger) else {
            return Ok(None);
        };
        let merged = EigenspaceModel::merge_all(models, self.truncation).and_then(|whole| whole.with_components(most));
        merged.map(Some).map_err(|error| Error::of(NAME, &error))
    }
}

/// The larger of two numbers of components: all, then shares of the variance, then numbers.
fn larger(one: Components, two: Components) -> Components {
    match (one, two) {
        (Components::All, _) | (_, Components::All) => Components::All,
        (Components::Number(one), Components::Number(two)) => Components::Number(one.max(two)),
        (Components::Share(one), Components::Share(two)) => Components::Share(one.max(two)),
        (share @ Components::Share(_), _) | (_, share) => share,
    }
}

/// Bytes that a model takes, about.
pub(crate) fn size(model: &EigenspaceModel) -> usize {
    8 * model.features() * (model.rank() + 4)
}

#[derive(Debug)]
struct ModelAccumulator {
    job: MergeJob,
    merged: Option<EigenspaceModel>,
}

impl Accumulator for ModelAccumulator {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let models = self.job.read(&arguments[0])?;
        self.merged = self.job.merged(self.merged.iter().chain(models.iter().flatten()))?;
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::LargeBinary(self.merged.as_ref().map(EigenspaceModel::to_bytes)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.merged.as_ref().map_or(0, size)
    }
}
