//! The bytes of a model: safetensors, in which every number is checked when it is read.
//!
//! `docs/FORMAT.md` has the tables of tensors and header keys; a test compares them with a saved model. Equal
//! models give equal bytes, and any safetensors reader can read the tensors.
//!
//! A file may contain more tensors, which the checksum includes. A recognizer is a model file with additional tensors
//! (`faces/file.rs`), so every command that reads models can read it.

use std::borrow::Cow;

use ndarray::{Array1, Array2, ArrayView2};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value;

use crate::io::error::{Error, FormatError};
use crate::io::header::{Header, KEY};
use crate::model::basis::Basis;
use crate::model::bound::{Bound, largest};
use crate::model::decompose::SMALLEST_SINGULAR_VALUE;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::moments::Moments;
use crate::model::spectrum::Spectrum;
use crate::model::weight::Weight;
use crate::rows::element::LARGEST_MAGNITUDE;

/// Largest accepted header: a few thousand bytes, and the metadata, which is escaped in JSON twice and can become four
/// times as long.
pub(crate) const HEADER_LIMIT: u64 = 1 << 26;
/// Largest accepted entry of V Vᵀ − I. We never write a basis that is further from orthonormal.
const ORTHONORMALITY_TOLERANCE: f64 = 1e-11;

/// A tensor to be written: name, type, shape, bytes.
pub(crate) type Tensor<'a> = (&'static str, Dtype, Vec<usize>, Cow<'a, [u8]>);

/// Numbers as the bytes of a tensor.
pub(crate) fn floats<'a>(values: impl Iterator<Item = &'a f64>) -> Cow<'static, [u8]> {
    Cow::Owned(values.flat_map(|value| value.to_le_bytes()).collect())
}

/// The same without a copy if the numbers are already stored as these bytes; the basis is the largest part of a file.
fn bytes_of_rows(rows: ArrayView2<'_, f64>) -> Cow<'_, [u8]> {
    match rows.to_slice() {
        Some(numbers) if cfg!(target_endian = "little") => Cow::Borrowed(bytemuck::cast_slice(numbers)),
        _ => Cow::Owned(rows.iter().flat_map(|value| value.to_le_bytes()).collect()),
    }
}

impl EigenspaceModel {
    /// The model as bytes: the content of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_with(None, Vec::new())
    }

    /// The same with the data of a recognizer: an entry of the header, and tensors with other names than the model's.
    pub(crate) fn to_bytes_with(&self, faces: Option<Value>, more: Vec<Tensor<'_>>) -> Vec<u8> {
        let (rank, features) = (self.rank(), self.features());
        let scalar = |value: f64| Cow::Owned(value.to_le_bytes().to_vec());
        let mut tensors: Vec<Tensor<'_>> = vec![
            ("basis", Dtype::F64, vec![rank, features], bytes_of_rows(self.basis())),
            ("count", Dtype::U64, vec![], self.count().to_le_bytes().to_vec().into()),
            ("feature_scatter", Dtype::F64, vec![features], floats(self.feature_scatter().iter())),
            ("imputed", Dtype::U64, vec![], self.imputed().to_le_bytes().to_vec().into()),
            ("feature_noise", Dtype::F64, vec![features], floats(self.bound.feature_noise.iter())),
            ("lost", Dtype::F64, vec![features], floats(self.bound.lost.iter())),
            ("mean", Dtype::F64, vec![features], floats(self.mean().iter())),
            ("mean_low", Dtype::F64, vec![features], floats(self.moments.mean_low.iter())),
            ("mean_noise", Dtype::F64, vec![features], floats(self.bound.mean_noise.iter())),
            ("noise", Dtype::F64, vec![], scalar(self.bound.noise)),
            ("scatter_noise", Dtype::F64, vec![features], floats(self.bound.scatter_noise.iter())),
            ("singular_values", Dtype::F64, vec![rank], floats(self.all_singular_values().iter())),
            ("squared_weight", Dtype::F64, vec![], scalar(self.moments.squared_weight)),
            ("surplus", Dtype::F64, vec![features], floats(self.bound.surplus.iter())),
            ("weight", Dtype::F64, vec![], scalar(self.weight())),
            ("weight_low", Dtype::F64, vec![], scalar(self.moments.weight.low())),
        ];
        // Most models have none, and their bytes are those of a format without it.
        if self.bound.doubt > 0.0 {
            tensors.push(("doubt", Dtype::F64, vec![], scalar(self.bound.doubt)));
        }
        tensors.extend(more);
        tensors.sort_by_key(|tensor| tensor.0);
        let header = Header {
            about_origin: !self.is_centered(),
            components: self.components,
            weights: self.weight_kind(),
            metadata: self.metadata.clone(),
            faces,
        };
        let header = header.write(tensors.iter().map(|(name, _, shape, data)| (*name, &shape[..], &data[..])));
        let views = tensors
            .iter()
            .filter_map(|(name, dtype, shape, data)| Some((*name, TensorView::new(*dtype, shape.clone(), data).ok()?)));
        // There is only one key, because the order of several would differ from run to run.
        let metadata = [(KEY.to_owned(), header)].into_iter().collect();
        // Shapes and lengths agree by construction, so this cannot fail.
        safetensors::serialize(views, Some(metadata)).unwrap_or_default()
    }

    /// The model in these bytes, after all checks.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(parse(bytes)?.0)
    }
}

/// Length of the whole file according to its header.
pub(crate) fn announced_length(bytes: &[u8]) -> Result<u64, FormatError> {
    let start: [u8; 8] = bytes.get(..8).and_then(|start| start.try_into().ok()).unwrap_or_default();
    let header = u64::from_le_bytes(start);
    let end = usize::try_from(header).ok().and_then(|header| header.checked_add(8));
    let Some(text) = end.and_then(|end| bytes.get(8..end)).filter(|_| header <= HEADER_LIMIT) else {
        return Err(FormatError::Truncated { expected: header.saturating_add(8), found: bytes.len() as u64 });
    };
    let json: serde_json::Value =
        serde_json::from_slice(text).map_err(|error| FormatError::Header(error.to_string()))?;
    let tensors = json.as_object().ok_or_else(|| FormatError::Header("no JSON object".into()))?;
    let ends = tensors.values().filter_map(|tensor| tensor.get("data_offsets")?.get(1)?.as_u64());
    Ok(ends.max().unwrap_or(0).saturating_add(8 + header))
}

/// The model, the recognizer's entry of the header if there is one, and all tensors.
pub(crate) fn parse(bytes: &[u8]) -> Result<(EigenspaceModel, Option<Value>, SafeTensors<'_>), FormatError> {
    let announced = announced_length(bytes)?;
    if announced != bytes.len() as u64 {
        return Err(FormatError::Truncated { expected: announced, found: bytes.len() as u64 });
    }
    let header = |error: safetensors::SafeTensorError| FormatError::Header(error.to_string());
    let file = SafeTensors::deserialize(bytes).map_err(header)?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(header)?;
    let missing = || FormatError::Metadata { key: KEY };
    let text = metadata.metadata().as_ref().and_then(|map| map.get(KEY)).ok_or_else(missing)?;
    let mut tensors = file.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let parts = tensors.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data()));
    let Header { about_origin, components, weights, metadata, faces } = Header::read(text, parts)?;
    let features = shape_of(&file, "mean", 1)?[0];
    let rank = shape_of(&file, "singular_values", 1)?[0];
    let moments = Moments {
        count: integer_of(&file, "count")?,
        imputed: integer_of(&file, "imputed")?,
        about_origin,
        weights,
        weight: Weight::from_words(positive_of(&file, "weight")?, scalar_of(&file, "weight_low", false)?),
        squared_weight: positive_of(&file, "squared_weight")?,
        mean: Array1::from(floats_of(&file, "mean", &[features], false)?),
        mean_low: Array1::from(floats_of(&file, "mean_low", &[features], false)?),
        scatter: Array1::from(floats_of(&file, "feature_scatter", &[features], true)?),
    };
    let values = floats_of(&file, "singular_values", &[rank], true)?;
    let basis = floats_of(&file, "basis", &[rank, features], false)?;
    let basis = Array2::from_shape_vec((rank, features), basis)
        .map_err(|_| FormatError::Inconsistent { what: "the shape and the length of the directions" })?;
    let limits = |name: &'static str| floats_of(&file, name, &[features], true).map(Array1::from);
    let bound = Bound {
        lost: limits("lost")?,
        surplus: limits("surplus")?,
        noise: positive_of(&file, "noise")?,
        feature_noise: limits("feature_noise")?,
        mean_noise: limits("mean_noise")?,
        scatter_noise: limits("scatter_noise")?,
        doubt: if file.tensor("doubt").is_ok() { positive_of(&file, "doubt")?.min(1.0) } else { 0.0 },
    };
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
    if (model.count() == 0) != (model.weight() == 0.0)
        || model.weight() > LARGEST_MAGNITUDE
        || !model.moments.weight.is_normal()
    {
        return Err(FormatError::Inconsistent { what: "the count and the weight" });
    }
    let values = model.mean().iter().chain(&model.moments.scatter).any(|x| x.abs() > 1e290);
    let spectrum = model.all_singular_values().iter().any(|s| *s > 1e145 || *s < SMALLEST_SINGULAR_VALUE);
    if values || spectrum || model.mean().iter().any(|x| x.abs() > LARGEST_MAGNITUDE) {
        return Err(FormatError::Inconsistent { what: "some numbers and their limits" });
    }
    let moments = &model.moments;
    let low =
        moments.mean.iter().zip(&moments.mean_low).any(|(mean, low)| low.abs() > f64::EPSILON * mean.abs().max(1e-300));
    if low {
        return Err(FormatError::Inconsistent { what: "the high and the low part of the mean" });
    }
    // By the Cauchy–Schwarz inequality, up to rounding.
    let (weight, squares) = (moments.weight.value(), moments.squared_weight);
    if squares > weight * weight * (1.0 + 1e-9) {
        return Err(FormatError::Inconsistent { what: "the weight and the squared weight" });
    }
    if model.moments.rank_limit() == 0 && model.moments.total() > model.bound.scatter_noise.sum() {
        return Err(FormatError::Inconsistent { what: "the count and the feature scatter" });
    }
    let held: f64 = model.spectrum.squared().iter().sum();
    let most = model.moments.total() + (largest(&model.bound.surplus) + model.bound.noise) * rank as f64;
    if held > most * (1.0 + 1e-6) {
        return Err(FormatError::Inconsistent { what: "the singular values and the feature scatter" });
    }
    let loss = model.orthogonality_loss();
    if loss <= ORTHONORMALITY_TOLERANCE { Ok(()) } else { Err(FormatError::NotOrthonormal { loss }) }
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

pub(crate) fn shape_of(
    file: &SafeTensors<'_>,
    name: &'static str,
    dimensions: usize,
) -> Result<Vec<usize>, FormatError> {
    let found = file.tensor(name).map_err(|_| FormatError::MissingTensor { name })?.shape().to_vec();
    if found.len() == dimensions {
        return Ok(found);
    }
    Err(FormatError::Shape { name, expected: vec![0; dimensions], found })
}

fn bytes_of<'a>(
    file: &SafeTensors<'a>,
    name: &'static str,
    dtype: Dtype,
    shape: &[usize],
) -> Result<&'a [u8], FormatError> {
    let tensor = file.tensor(name).map_err(|_| FormatError::MissingTensor { name })?;
    if tensor.dtype() != dtype {
        let expected = if dtype == Dtype::U64 { "U64" } else { "F64" };
        return Err(FormatError::Dtype { name, expected });
    }
    if tensor.shape() != shape {
        return Err(FormatError::Shape { name, expected: shape.to_vec(), found: tensor.shape().to_vec() });
    }
    Ok(tensor.data())
}

pub(crate) fn floats_of(
    file: &SafeTensors<'_>,
    name: &'static str,
    shape: &[usize],
    positive: bool,
) -> Result<Vec<f64>, FormatError> {
    let data = bytes_of(file, name, Dtype::F64, shape)?;
    let values: Vec<f64> = data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    match values.iter().position(|x| !x.is_finite() || (positive && *x < 0.0)) {
        Some(index) => Err(FormatError::Value { name, index, value: values[index] }),
        None => Ok(values),
    }
}

/// A list of whole numbers.
pub(crate) fn integers_of(file: &SafeTensors<'_>, name: &'static str, length: usize) -> Result<Vec<u64>, FormatError> {
    let data = bytes_of(file, name, Dtype::U64, &[length])?;
    Ok(data.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect())
}

fn integer_of(file: &SafeTensors<'_>, name: &'static str) -> Result<u64, FormatError> {
    let bytes = bytes_of(file, name, Dtype::U64, &[])?;
    Ok(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

fn positive_of(file: &SafeTensors<'_>, name: &'static str) -> Result<f64, FormatError> {
    scalar_of(file, name, true)
}

fn scalar_of(file: &SafeTensors<'_>, name: &'static str, positive: bool) -> Result<f64, FormatError> {
    Ok(floats_of(file, name, &[], positive)?[0])
}

#[cfg(test)]
mod tests;
