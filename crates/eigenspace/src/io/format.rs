//! The bytes of a model: safetensors, in which every number is checked when it is read.
//!
//! `docs/FORMAT.md` has the tables of tensors and header keys; a test compares them with a saved
//! model. Equal models give equal bytes, and any safetensors reader can read the tensors.
//!
//! A file may contain more tensors, which the checksum includes. A recognizer is a model file with
//! additional tensors (`faces/file.rs`), so every command that reads models can read it.

use ndarray::{Array1, Array2};
use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::Value;

use crate::io::error::{Error, FormatError};
use crate::io::header::{Header, KEY};
use crate::io::tensors::{
    self, Tensor, bound_of, bound_tensors, bytes_of_rows, check_moments, floats, floats_of, moments_of,
    moments_tensors, shape_of,
};
use crate::model::basis::Basis;
use crate::model::bound::largest;
use crate::model::decompose::SMALLEST_SINGULAR_VALUE;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::spectrum::Spectrum;

/// Largest accepted entry of V Vᵀ − I. We never write a basis that is further from orthonormal.
const FILE_ORTHONORMALITY_TOLERANCE: f64 = 1e-11;
/// Largest accepted singular value, whose square is finite.
const LARGEST_SINGULAR_VALUE: f64 = 1e145;
/// The squared singular values may exceed the feature scatter, with its bounds, by this share.
const SPECTRUM_TOLERANCE: f64 = 1e-6;

impl EigenspaceModel {
    /// The model as bytes: the content of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_with(None, Vec::new())
    }

    /// The same with the data of a recognizer: an entry of the header, and tensors with other names
    /// than the model's.
    pub(crate) fn to_bytes_with(&self, faces: Option<Value>, more: Vec<Tensor<'_>>) -> Vec<u8> {
        let (rank, features) = (self.rank(), self.features());
        let mut tensors: Vec<Tensor<'_>> = vec![
            ("basis", Dtype::F64, vec![rank, features], bytes_of_rows(self.basis())),
            ("singular_values", Dtype::F64, vec![rank], floats(self.all_singular_values().iter())),
        ];
        tensors.extend(moments_tensors(&self.moments));
        tensors.extend(bound_tensors(&self.bound));
        tensors.extend(more);
        let header = Header {
            centered: self.is_centered(),
            components: self.components,
            weight_kind: self.weight_kind(),
            metadata: self.metadata.clone(),
            faces,
        };
        tensors::write(tensors, KEY, |parts| header.write(parts.iter().copied()))
    }

    /// The model in these bytes, after all checks.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(parse(bytes)?.0)
    }
}

/// The model, the recognizer's entry of the header if there is one, and all tensors.
pub(crate) fn parse(bytes: &[u8]) -> Result<(EigenspaceModel, Option<Value>, SafeTensors<'_>), FormatError> {
    let (file, header) = tensors::open(bytes, KEY, |text, parts| Header::read(text, parts.iter().copied()))?;
    let Header { centered, components, weight_kind, metadata, faces } = header;
    let features = shape_of(&file, "mean", 1)?[0];
    let rank = shape_of(&file, "singular_values", 1)?[0];
    let moments = moments_of(&file, features, !centered, weight_kind)?;
    let values = floats_of(&file, "singular_values", &[rank], true)?;
    let basis = floats_of(&file, "basis", &[rank, features], false)?;
    let basis = Array2::from_shape_vec((rank, features), basis)
        .map_err(|_| FormatError::Inconsistent { what: "the shape and the length of the directions" })?;
    let bound = bound_of(&file, features)?;
    let model = EigenspaceModel {
        moments,
        basis: Basis::trusted(basis),
        spectrum: Spectrum::sorted(Array1::from(sorted(values)?)),
        bound,
        components,
        metadata,
    };
    check_sense(&model)?;
    Ok((model, faces, file))
}

/// Checks that the numbers of a model are consistent.
fn check_sense(model: &EigenspaceModel) -> Result<(), FormatError> {
    let rank = model.rank();
    if model.metadata.check(model.features()).is_err() {
        return Err(FormatError::Inconsistent { what: "the metadata and the number of features" });
    }
    if rank > model.features() || rank > model.moments.rank_limit() {
        return Err(FormatError::Inconsistent { what: "the rank and the numbers of rows and features" });
    }
    let spectrum =
        model.all_singular_values().iter().any(|s| *s > LARGEST_SINGULAR_VALUE || *s < SMALLEST_SINGULAR_VALUE);
    if spectrum {
        return Err(FormatError::Inconsistent { what: "some numbers and their limits" });
    }
    check_moments(&model.moments, &model.bound)?;
    let held: f64 = model.spectrum.squared().iter().sum();
    let most = model.moments.total() + (largest(model.bound.surplus()) + model.bound.noise()) * rank as f64;
    if held > most * (1.0 + SPECTRUM_TOLERANCE) {
        return Err(FormatError::Inconsistent { what: "the singular values and the feature scatter" });
    }
    let loss = model.orthogonality_loss();
    if loss <= FILE_ORTHONORMALITY_TOLERANCE { Ok(()) } else { Err(FormatError::NotOrthonormal { loss }) }
}

fn sorted(values: Vec<f64>) -> Result<Vec<f64>, FormatError> {
    if let Some(index) = values.iter().position(|&s| s == 0.0) {
        return Err(FormatError::Value { name: "singular_values", index, value: 0.0 });
    }
    match values.windows(2).position(|pair| pair[0] < pair[1]) {
        Some(index) => Err(FormatError::Unsorted { index: index + 1 }),
        None => Ok(values),
    }
}

#[cfg(test)]
mod tests;
