//! Functions of a model alone.
//!
//! | function | result |
//! |---|---|
//! | `pca_explained(model)` | the explained variance ratio of each component |
//! | `pca_components(model)` | the components, one list each |
//! | `pca_mean(model)` | the mean of the rows |
//! | `pca_count(model)` | the number of rows |
//! | `pca_describe(model)` | the model in a few words |
//! | `pca_certificate(model)` | bounds on the error caused by dropping directions |

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, ListArray, ListBuilder, StringArray, StructArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use eigenspace::{EigenspaceModel, View};

use super::by_columns;
use crate::error::Error;
use crate::models::{Models, check_type, describe};

/// What is read from a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reading {
    Certificate,
    Components,
    Count,
    Describe,
    Explained,
    Mean,
}

impl Reading {
    pub(crate) const ALL: [Self; 6] =
        [Self::Certificate, Self::Components, Self::Count, Self::Describe, Self::Explained, Self::Mean];

    fn name(self) -> &'static str {
        match self {
            Self::Certificate => "pca_certificate",
            Self::Components => "pca_components",
            Self::Count => "pca_count",
            Self::Describe => "pca_describe",
            Self::Explained => "pca_explained",
            Self::Mean => "pca_mean",
        }
    }

    fn data_type(self) -> DataType {
        let list = |element| DataType::new_list(element, true);
        match self {
            Self::Certificate => DataType::Struct(certificate_fields()),
            Self::Components => list(list(DataType::Float64)),
            Self::Count => DataType::UInt64,
            Self::Describe => DataType::Utf8,
            Self::Explained | Self::Mean => list(DataType::Float64),
        }
    }

    /// The results of some models, in their order.
    fn of(self, models: &[Arc<EigenspaceModel>]) -> Result<ArrayRef> {
        let view =
            |model: &Arc<EigenspaceModel>| View::new(Arc::clone(model)).map_err(|error| Error::of(self.name(), &error));
        Ok(match self {
            Self::Certificate => certificates(models),
            Self::Components => {
                let views = models.iter().map(view).collect::<Result<Vec<_>, _>>()?;
                Arc::new(components(&views)?)
            }
            Self::Count => Arc::new(UInt64Array::from_iter_values(models.iter().map(|model| model.count()))),
            Self::Describe => Arc::new(StringArray::from_iter_values(models.iter().map(|model| describe(model)))),
            Self::Explained => {
                let ratios = models.iter().map(|model| Ok(view(model)?.explained_variance_ratio().to_vec()));
                lists(&ratios.collect::<Result<Vec<_>>>()?)
            }
            Self::Mean => lists(&models.iter().map(|model| model.mean().to_vec()).collect::<Vec<_>>()),
        })
    }
}

fn lists(rows: &[Vec<f64>]) -> ArrayRef {
    let mut builder = ListBuilder::new(Float64Array::builder(0));
    for row in rows {
        builder.values().append_slice(row);
        builder.append(true);
    }
    Arc::new(builder.finish())
}

/// For each view a list of its components, which are lists.
fn components(views: &[View]) -> Result<ListArray> {
    let rows: Vec<_> = views.iter().map(View::components).collect();
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|rows| rows.nrows()));
    let inner: Vec<_> = rows.iter().flat_map(|rows| rows.rows().into_iter().map(|row| row.to_vec())).collect();
    let element = Field::new_list_field(DataType::new_list(DataType::Float64, true), true);
    Ok(ListArray::try_new(Arc::new(element), offsets, lists(&inner), None)?)
}

fn certificate_fields() -> Fields {
    let number = |name| Field::new(name, DataType::Float64, false);
    Fields::from(vec![
        Field::new("exact", DataType::Boolean, false),
        Field::new("proven", DataType::Boolean, false),
        number("error_bound"),
        number("relative_error_bound"),
        number("angle_bound"),
        number("confidence"),
    ])
}

fn certificates(models: &[Arc<EigenspaceModel>]) -> ArrayRef {
    let all: Vec<_> = models.iter().map(|model| (model.certificate(), model.n_components())).collect();
    let flags = |flag: fn(&eigenspace::Certificate) -> bool| -> ArrayRef {
        Arc::new(BooleanArray::from_iter(all.iter().map(|(certificate, _)| Some(flag(certificate)))))
    };
    let numbers = |number: fn(&eigenspace::Certificate, usize) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(all.iter().map(|(certificate, k)| number(certificate, *k))))
    };
    let columns = vec![
        flags(eigenspace::Certificate::is_exact),
        flags(eigenspace::Certificate::is_proven),
        numbers(|certificate, _| certificate.error_bound()),
        numbers(|certificate, _| certificate.relative_error_bound()),
        numbers(eigenspace::Certificate::angle_bound),
        numbers(|certificate, _| certificate.confidence()),
    ];
    Arc::new(StructArray::new(certificate_fields(), columns, None))
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct OfModel {
    reading: Reading,
    signature: Signature,
}

impl OfModel {
    pub(crate) fn new(reading: Reading) -> Self {
        Self { reading, signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for OfModel {
    fn name(&self) -> &str {
        self.reading.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        check_type(self.reading.name(), &types[0])?;
        Ok(self.reading.data_type())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        by_columns(&arguments, |columns, rows| {
            let models = Models::new(self.reading.name(), &columns[0], rows)?;
            let results = self.reading.of(&models.distinct)?;
            let indices = models.of_row.iter().map(|index| index.and_then(|index| u32::try_from(index).ok()));
            Ok(take(&results, &UInt32Array::from_iter(indices), None)?)
        })
    }
}
