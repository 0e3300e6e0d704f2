//! `pca_split(whole, part)`: the model of the rows of the whole that are not in the part.
//!
//! ```text
//! M₁ = M₃ − M₂ − c cᵀ
//! ```

use std::sync::Arc;

use datafusion::arrow::array::LargeBinaryArray;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use super::by_columns;
use crate::error::Error;
use crate::models::{BYTES, Models, check_type};

const NAME: &str = "pca_split";

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct PcaSplit {
    signature: Signature,
}

impl PcaSplit {
    pub(crate) fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for PcaSplit {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        types.iter().try_for_each(|one| check_type(NAME, one))?;
        Ok(BYTES)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        by_columns(&arguments, |columns, rows| {
            let (wholes, parts) = (Models::new(NAME, &columns[0], rows)?, Models::new(NAME, &columns[1], rows)?);
            let pairs = wholes.of_row.iter().zip(&parts.of_row);
            let rests = pairs.map(|pair| match pair {
                (Some(whole), Some(part)) => {
                    let rest = wholes.distinct[*whole].split(&parts.distinct[*part]);
                    Ok(Some(rest.map_err(|error| Error::of(NAME, &error))?.to_bytes()))
                }
                _ => Ok(None),
            });
            Ok(Arc::new(rests.collect::<Result<LargeBinaryArray>>()?))
        })
    }
}
