//! A cheap read of a stream: the reported components, and what can be said about them.

use std::sync::Arc;

use ndarray::{Array1, ArrayView1, ArrayView2};

use crate::error::Error;
use crate::model::certificate::Certificate;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::metadata::Metadata;
use crate::model::projectable::Rows;

/// The reported components of a stream, without the other directions that a model keeps.
///
/// It cannot be merged, split or saved, because the other directions are missing: use
/// [`EigenspaceStream::model`](crate::EigenspaceStream::model) for that.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    model: Arc<EigenspaceModel>,
    unformed: Option<Unformed>,
}

/// Directions after the last one of the model whose singular values are known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unformed {
    /// Their squared singular values.
    pub(crate) squared: Vec<f64>,
    /// What the model counts as dropped: the first of them.
    pub(crate) dropped: f64,
    /// The squared singular value after the last.
    pub(crate) next: f64,
}

impl Preview {
    pub(crate) fn new(model: Arc<EigenspaceModel>) -> Self {
        Self { model, unformed: None }
    }

    /// A preview of a model whose next directions were not computed.
    pub(crate) fn without(model: EigenspaceModel, unformed: Unformed) -> Self {
        Self { model: Arc::new(model), unformed: Some(unformed) }
    }

    /// The same with the metadata of a stream.
    pub(crate) fn carrying(self, metadata: &Metadata) -> Self {
        let model = Arc::unwrap_or_clone(self.model).carrying(metadata);
        Self { model: Arc::new(model), ..self }
    }

    /// The model that this preview wraps. Only its reported components may be used.
    #[doc(hidden)]
    pub fn into_partial_model(self) -> Arc<EigenspaceModel> {
        self.model
    }

    /// n: number of rows so far.
    pub fn count(&self) -> u64 {
        self.model.count()
    }

    /// The total weight of the rows.
    pub fn weight(&self) -> f64 {
        self.model.weight()
    }

    /// D: number of features.
    pub fn features(&self) -> usize {
        self.model.features()
    }

    /// k: number of reported components.
    pub fn n_components(&self) -> usize {
        self.model.n_components()
    }

    /// What is known about the rows besides their values.
    pub fn metadata(&self) -> &Metadata {
        self.model.metadata()
    }

    /// The mean of the rows.
    pub fn mean(&self) -> ArrayView1<'_, f64> {
        self.model.mean()
    }

    /// The reported components, one per row.
    pub fn components(&self) -> ArrayView2<'_, f64> {
        self.model.components()
    }

    /// The singular values of the reported components.
    pub fn singular_values(&self) -> ArrayView1<'_, f64> {
        self.model.singular_values()
    }

    /// The variance along each component; [`WeightKind`](crate::WeightKind) describes the divisor.
    pub fn explained_variance(&self, ddof: f64) -> Result<Array1<f64>, Error> {
        self.model.explained_variance(ddof)
    }

    /// The share of the total variance along each component.
    pub fn explained_variance_ratio(&self) -> Array1<f64> {
        self.model.explained_variance_ratio()
    }

    /// The scores of rows.
    pub fn project<'a, R: Rows<'a>>(&self, rows: R) -> Result<R::Scores, Error> {
        self.model.project(rows)
    }

    /// Bounds on the error; directions that the preview leaves out count as dropped.
    pub fn certificate(&self) -> Certificate {
        match &self.unformed {
            None => self.model.certificate(),
            Some(Unformed { squared, dropped, next }) => Certificate::of_more(&self.model, squared, *dropped, *next),
        }
    }
}
