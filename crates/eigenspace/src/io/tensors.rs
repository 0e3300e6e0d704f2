//! The parts of a file: tensors of numbers, each checked when it is read, and a header with a
//! checksum.
//!
//! ```text
//! header length · header (JSON) · tensors, sorted by name        safetensors
//! ```
//!
//! Models (`format.rs`) and accumulators (`accumulator.rs`) consist of the same moments and bounds;
//! they are written and read here.

use std::borrow::Cow;

use ndarray::{Array1, ArrayView2};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::io::error::FormatError;
use crate::io::file_kind::{ACCUMULATOR, CHECKPOINT, FileKind};
use crate::io::header::Summed;
use crate::model::bound::Bound;
use crate::model::moments::Moments;
use crate::model::weight::Weight;
use crate::model::weight::WeightKind;
use crate::rows::element::LARGEST_MAGNITUDE;

/// Largest accepted header: a few thousand bytes, and the metadata, which is escaped in JSON twice
/// and can become four times as long.
pub(crate) const HEADER_LIMIT: u64 = 1 << 26;

/// Largest accepted scatter of a feature; sums of several are finite.
const LARGEST_SCATTER: f64 = 1e290;
/// Σ w² may exceed (Σ w)² by this share, because both are rounded.
const SQUARED_WEIGHT_TOLERANCE: f64 = 1e-9;
/// A mean below this magnitude counts as this magnitude where its low part is compared with it.
const SMALLEST_MEAN: f64 = 1e-300;

/// A tensor to be written: name, type, shape, bytes.
pub(crate) type Tensor<'a> = (&'static str, Dtype, Vec<usize>, Cow<'a, [u8]>);

/// Numbers as the bytes of a tensor.
pub(crate) fn floats<'a>(values: impl Iterator<Item = &'a f64>) -> Cow<'static, [u8]> {
    Cow::Owned(values.flat_map(|value| value.to_le_bytes()).collect())
}

/// The same without a copy if the numbers are already stored as these bytes; the basis is the
/// largest part of a file.
pub(crate) fn bytes_of_rows(rows: ArrayView2<'_, f64>) -> Cow<'_, [u8]> {
    match rows.to_slice() {
        Some(numbers) if cfg!(target_endian = "little") => Cow::Borrowed(bytemuck::cast_slice(numbers)),
        _ => Cow::Owned(rows.iter().flat_map(|value| value.to_le_bytes()).collect()),
    }
}

/// The tensors of moments.
pub(crate) fn moments_tensors(moments: &Moments) -> Vec<Tensor<'static>> {
    let features = vec![moments.features()];
    vec![
        ("count", Dtype::U64, vec![], moments.count.to_le_bytes().to_vec().into()),
        ("feature_scatter", Dtype::F64, features.clone(), floats(moments.scatter.iter())),
        ("imputed", Dtype::U64, vec![], moments.imputed.to_le_bytes().to_vec().into()),
        ("mean", Dtype::F64, features.clone(), floats(moments.mean.iter())),
        ("mean_low", Dtype::F64, features, floats(moments.mean_low.iter())),
        ("squared_weight", Dtype::F64, vec![], floats([moments.squared_weight].iter())),
        ("weight", Dtype::F64, vec![], floats([moments.weight.value()].iter())),
        ("weight_low", Dtype::F64, vec![], floats([moments.weight.low()].iter())),
    ]
}

/// The tensors of a bound.
pub(crate) fn bound_tensors(bound: &Bound) -> Vec<Tensor<'static>> {
    let features = vec![bound.lost.len()];
    let mut tensors: Vec<Tensor<'static>> = vec![
        ("feature_noise", Dtype::F64, features.clone(), floats(bound.feature_noise.iter())),
        ("lost", Dtype::F64, features.clone(), floats(bound.lost.iter())),
        ("mean_noise", Dtype::F64, features.clone(), floats(bound.mean_noise.iter())),
        ("noise", Dtype::F64, vec![], floats([bound.noise].iter())),
        ("scatter_noise", Dtype::F64, features.clone(), floats(bound.scatter_noise.iter())),
        ("surplus", Dtype::F64, features, floats(bound.surplus.iter())),
    ];
    // Most models have none, and their bytes are those of a format without it.
    if bound.failure_probability > 0.0 {
        tensors.push(("failure_probability", Dtype::F64, vec![], floats([bound.failure_probability].iter())));
    }
    tensors
}

/// The bytes of a file with these tensors, and with a header under this key.
pub(crate) fn write(mut tensors: Vec<Tensor<'_>>, key: &str, header: impl FnOnce(&[Summed<'_>]) -> String) -> Vec<u8> {
    tensors.sort_by_key(|tensor| tensor.0);
    let parts: Vec<Summed<'_>> = tensors.iter().map(|(name, _, shape, data)| (*name, &shape[..], &data[..])).collect();
    let header = header(&parts);
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        (*name, TensorView::new(*dtype, shape.clone(), data).expect("the shape of a tensor fits its bytes"))
    });
    // There is only one key, because the order of several would differ from run to run.
    let metadata = [(key.to_owned(), header)].into_iter().collect();
    safetensors::serialize(views, Some(metadata)).expect("checked tensors in memory can always be serialized")
}

/// The tensors in these bytes, and what `read` makes of the header under this key.
pub(crate) fn open<'a, T>(
    bytes: &'a [u8],
    key: &'static str,
    read: impl FnOnce(&str, &[Summed<'_>]) -> Result<T, FormatError>,
) -> Result<(SafeTensors<'a>, T), FormatError> {
    let other = |kind| {
        let expected = if key == ACCUMULATOR { "accumulator" } else { "model" };
        FormatError::OtherFile { kind, expected }
    };
    if bytes.starts_with(CHECKPOINT) {
        return Err(other(FileKind::Checkpoint));
    }
    let announced = announced_length(bytes)?;
    if announced != bytes.len() as u64 {
        return Err(FormatError::Truncated { expected: announced, found: bytes.len() as u64 });
    }
    let header = |error: safetensors::SafeTensorError| FormatError::Header(error.to_string());
    let file = SafeTensors::deserialize(bytes).map_err(header)?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(header)?;
    let entry = |key| metadata.metadata().as_ref().and_then(|map| map.get(key));
    let text = entry(key).ok_or_else(|| match entry(ACCUMULATOR) {
        Some(_) => other(FileKind::Accumulator),
        None => FormatError::Metadata { key },
    })?;
    let mut tensors = file.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let parts: Vec<Summed<'_>> =
        tensors.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data())).collect();
    let header = read(text, &parts)?;
    drop(parts);
    Ok((file, header))
}

/// The moments of rows of this many features.
pub(crate) fn moments_of(
    file: &SafeTensors<'_>,
    features: usize,
    about_origin: bool,
    weights: WeightKind,
) -> Result<Moments, FormatError> {
    Ok(Moments {
        count: integer_of(file, "count")?,
        imputed: integer_of(file, "imputed")?,
        about_origin,
        weights,
        weight: Weight::from_words(positive_of(file, "weight")?, scalar_of(file, "weight_low", false)?),
        squared_weight: positive_of(file, "squared_weight")?,
        mean: Array1::from(floats_of(file, "mean", &[features], false)?),
        mean_low: Array1::from(floats_of(file, "mean_low", &[features], false)?),
        scatter: Array1::from(floats_of(file, "feature_scatter", &[features], true)?),
    })
}

/// The bound of a model of this many features.
pub(crate) fn bound_of(file: &SafeTensors<'_>, features: usize) -> Result<Bound, FormatError> {
    let limits = |name: &'static str| floats_of(file, name, &[features], true).map(Array1::from);
    Ok(Bound {
        lost: limits("lost")?,
        surplus: limits("surplus")?,
        noise: positive_of(file, "noise")?,
        feature_noise: limits("feature_noise")?,
        mean_noise: limits("mean_noise")?,
        scatter_noise: limits("scatter_noise")?,
        failure_probability: if file.tensor("failure_probability").is_ok() {
            positive_of(file, "failure_probability")?.min(1.0)
        } else {
            0.0
        },
    })
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

/// Checks that moments are consistent.
pub(crate) fn check_moments(moments: &Moments, bound: &Bound) -> Result<(), FormatError> {
    let weight = moments.weight.value();
    if (moments.count == 0) != (weight == 0.0) || weight > LARGEST_MAGNITUDE || !moments.weight.is_normal() {
        return Err(FormatError::Inconsistent { what: "the count and the weight" });
    }
    let large = |x: &f64, limit: f64| x.abs() > limit;
    if moments.mean.iter().any(|x| large(x, LARGEST_MAGNITUDE))
        || moments.scatter.iter().any(|x| large(x, LARGEST_SCATTER))
    {
        return Err(FormatError::Inconsistent { what: "some numbers and their limits" });
    }
    let low = moments
        .mean
        .iter()
        .zip(&moments.mean_low)
        .any(|(mean, low)| low.abs() > f64::EPSILON * mean.abs().max(SMALLEST_MEAN));
    if low {
        return Err(FormatError::Inconsistent { what: "the high and the low part of the mean" });
    }
    // By the Cauchy–Schwarz inequality, up to rounding.
    if moments.squared_weight > weight * weight * (1.0 + SQUARED_WEIGHT_TOLERANCE) {
        return Err(FormatError::Inconsistent { what: "the weight and the squared weight" });
    }
    if moments.rank_limit() == 0 && moments.total() > bound.scatter_noise.sum() {
        return Err(FormatError::Inconsistent { what: "the count and the feature scatter" });
    }
    Ok(())
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

pub(crate) fn integer_of(file: &SafeTensors<'_>, name: &'static str) -> Result<u64, FormatError> {
    let bytes = bytes_of(file, name, Dtype::U64, &[])?;
    Ok(u64::from_le_bytes(bytes.try_into().expect("one checked number of 8 bytes")))
}

fn positive_of(file: &SafeTensors<'_>, name: &'static str) -> Result<f64, FormatError> {
    scalar_of(file, name, true)
}

fn scalar_of(file: &SafeTensors<'_>, name: &'static str, positive: bool) -> Result<f64, FormatError> {
    Ok(floats_of(file, name, &[], positive)?[0])
}
