//! The bytes of an accumulator: its state, complete, as tensors that are checked when they are
//! read.
//!
//! ```text
//! absorb(from_bytes(to_bytes(a)), rows)  =  absorb(a, rows), bit for bit
//! ```
//!
//! `docs/FORMAT.md` has the table of tensors and header keys. The same accumulator always gives the
//! same bytes. The lower triangle of the scatter is written row by row, because it is symmetric. An
//! accumulator without rows has no tensors.

use std::borrow::Cow;

use ndarray::Array2;
use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::{Value, json};

use crate::io::error::{Error, FormatError};
use crate::io::file_kind::ACCUMULATOR as KEY;
use crate::io::header::{Summed, components_of, flag_of, sealed, setting_of, unsealed};
use crate::io::tensors::{
    self, Tensor, bound_of, bound_tensors, bytes_of_rows, check_moments, floats, floats_of, integer_of, integers_of,
    moments_of, moments_tensors, shape_of,
};
use crate::linalg::{columns_of, rows_of};
use crate::model::bound::Bound;
use crate::model::moments::Moments;
use crate::model::scatter::Scatter;
use crate::rows::block::Block;
use crate::rows::sparse::SparseRows;
use crate::stream::accumulator::Accumulator;
use crate::stream::buffer::RowBuffer;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::factor::Factor;
use crate::stream::options::FitOptions;
use crate::stream::plan::{self, Engine};
use crate::stream::state::EngineState;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 2;
/// The products of two features agree with the scatter of each up to this share, or up to the
/// square of a tiny number.
const PRODUCT_TOLERANCE: f64 = 1e-6;
const TINY: f64 = 1e-300;

impl Accumulator {
    /// The accumulator as bytes, which [`from_bytes`](Self::from_bytes) turns into the same
    /// accumulator on another machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tensors = self.stream.as_ref().map_or_else(Vec::new, tensors_of);
        tensors::write(tensors, KEY, |parts| sealed(header_of(self), VERSION, parts.iter().copied()))
    }

    /// The accumulator in these bytes, after all checks.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        parse(bytes).map_err(Error::Accumulator)
    }
}

fn header_of(accumulator: &Accumulator) -> Value {
    let options = &accumulator.options;
    json!({
        "block_rows": options.block_rows,
        "centered": !options.about_origin,
        "components": options.components.to_string(),
        "engine": options.engine.to_string(),
        "max_rank": options.max_rank.map(|rank| rank.to_string()),
        "metadata": accumulator.metadata,
        "missing": options.missing.to_string(),
        "standardize": options.standardize,
        "truncation": options.truncation.to_string(),
        "weight_kind": options.weight_kind.to_string(),
    })
}

fn options_of(header: &Value) -> Result<FitOptions, FormatError> {
    let block_rows = match &header["block_rows"] {
        Value::Null => None,
        rows => {
            let rows = rows.as_u64().and_then(|rows| usize::try_from(rows).ok());
            Some(rows.ok_or(FormatError::Metadata { key: "block_rows" })?)
        }
    };
    Ok(FitOptions {
        components: components_of(header)?,
        max_rank: if header["max_rank"].is_null() { None } else { Some(setting_of(header, "max_rank")?) },
        truncation: setting_of(header, "truncation")?,
        engine: setting_of(header, "engine")?,
        block_rows,
        missing: setting_of(header, "missing")?,
        about_origin: !flag_of(header, "centered")?,
        standardize: flag_of(header, "standardize")?,
        weight_kind: setting_of(header, "weight_kind")?,
        ..FitOptions::new()
    })
}

/// The tensors of the moments, the bound, the engine and the pending rows.
fn tensors_of(stream: &EigenspaceStream) -> Vec<Tensor<'_>> {
    let (buffer, features) = (&stream.state.buffer, stream.features());
    let (moments, bound) = match &stream.state.engine {
        EngineState::Factor(factor) => (factor.moments(), factor.bound()),
        EngineState::Scatter(scatter) => (scatter.moments(), scatter.bound()),
    };
    let mut tensors: Vec<Tensor<'_>> = moments_tensors(moments);
    tensors.extend(bound_tensors(bound));
    let whole = |numbers: &[usize]| {
        Cow::Owned(numbers.iter().flat_map(|&number| (number as u64).to_le_bytes()).collect::<Vec<u8>>())
    };
    match &stream.state.engine {
        EngineState::Scatter(scatter) => {
            let cells = vec![features * (features + 1) / 2];
            tensors.push(("scatter", Dtype::F64, cells.clone(), lower_triangle(scatter.matrix())));
            tensors.push(("scatter_low", Dtype::F64, cells, lower_triangle(scatter.low())));
        }
        EngineState::Factor(factor) if factor.compressions() > 0 => {
            let rows = bytes_of_rows(buffer.factor());
            tensors.push(("factor", Dtype::F64, vec![buffer.kept(), features], rows));
            tensors.push(("compressions", Dtype::U64, vec![], factor.compressions().to_le_bytes().to_vec().into()));
        }
        EngineState::Factor(_) => {}
    }
    if buffer.is_sparse() {
        let (offsets, columns, values) = buffer.sparse().parts();
        tensors.push(("row_columns", Dtype::U64, vec![columns.len()], whole(columns)));
        tensors.push(("row_offsets", Dtype::U64, vec![offsets.len()], whole(&offsets)));
        tensors.push(("row_values", Dtype::F64, vec![values.len()], floats(values.iter())));
    } else if buffer.pending() > 0 {
        tensors.push(("rows", Dtype::F64, vec![buffer.pending(), features], bytes_of_rows(buffer.raw())));
    }
    if let Some(weights) = buffer.own_weights() {
        tensors.push(("row_weights", Dtype::F64, vec![weights.len()], floats(weights.iter())));
    }
    tensors
}

/// The rows of the lower triangle of a matrix, one after the other.
fn lower_triangle(matrix: &Array2<f64>) -> Cow<'static, [u8]> {
    let mut bytes = Vec::with_capacity(size_of::<f64>() * (matrix.len() + matrix.nrows()) / 2);
    for i in 0..matrix.nrows() {
        bytes.extend_from_slice(&bytes_of_rows(columns_of(rows_of(matrix.view(), i..i + 1), 0..i + 1)));
    }
    Cow::Owned(bytes)
}

fn parse(bytes: &[u8]) -> Result<Accumulator, FormatError> {
    let read = |text: &str, parts: &[Summed<'_>]| unsealed(text, VERSION, parts.iter().copied());
    let (file, header) = tensors::open(bytes, KEY, read).map_err(|error| match error {
        FormatError::Metadata { key: KEY } => FormatError::NoAccumulator,
        other => other,
    })?;
    let options = options_of(&header)?;
    let mut accumulator = options.accumulator().map_err(|_| wrong("the settings and their valid ranges"))?;
    let metadata = header.get("metadata").cloned().unwrap_or_default();
    let metadata = serde_json::from_value(metadata).map_err(|_| FormatError::Metadata { key: "metadata" })?;
    accumulator.stream = if file.is_empty() { None } else { Some(stream_of(&file, &options)?) };
    accumulator.with_metadata(metadata).map_err(|_| wrong("the metadata and the number of features"))
}

fn wrong(what: &'static str) -> FormatError {
    FormatError::Inconsistent { what }
}

/// The stream that these tensors hold.
fn stream_of(file: &SafeTensors<'_>, options: &FitOptions) -> Result<EigenspaceStream, FormatError> {
    let features = shape_of(file, "mean", 1)?[0];
    let moments = moments_of(file, features, options.about_origin, options.weight_kind)?;
    let bound = bound_of(file, features)?;
    check_moments(&moments, &bound)?;
    let mut stream = options.stream(features).map_err(|_| wrong("the settings and the number of features"))?;
    let (inside, planned) = (moments.count() > 0, stream.plan().engine);
    let has = |name: &str| file.tensor(name).is_ok();
    match (has("scatter"), has("factor")) {
        (true, false) if inside && planned == Engine::Scatter => {
            stream.state.engine = EngineState::Scatter(scatter_of(file, moments, bound)?);
        }
        (false, true) if inside && planned == Engine::Factor => {
            let rows = factor_of(file, &moments, &bound)?;
            let compressions = integer_of(file, "compressions")?;
            // A count that could overflow is impossible: that would take a billion compressions per
            // second for a century.
            if compressions == 0 || compressions > 1 << 62 {
                return Err(wrong("the count and the number of compressions"));
            }
            stream.state.engine = EngineState::Factor(Factor::restored(moments, bound, compressions));
            stream.state.buffer = RowBuffer::starting_with(rows);
        }
        (false, false) if !inside => {}
        _ => return Err(wrong("the tensors and the settings")),
    }
    absorb_pending(file, &mut stream)?;
    if stream.count() == 0 {
        return Err(wrong("the tensors and the number of rows"));
    }
    Ok(stream)
}

/// The scatter, whose entries fit the scatter of each feature.
fn scatter_of(file: &SafeTensors<'_>, moments: Moments, bound: Bound) -> Result<Scatter, FormatError> {
    let features = moments.features();
    plan::check_scatter(features).map_err(|_| wrong("the scatter and the number of features"))?;
    let cells = [features * (features + 1) / 2];
    let (high, low) = (floats_of(file, "scatter", &cells, false)?, floats_of(file, "scatter_low", &cells, false)?);
    let spread: Vec<f64> = moments.scatter().iter().map(|q| q.sqrt()).collect();
    let (mut matrix, mut matrix_low) = (Array2::zeros((features, features)), Array2::zeros((features, features)));
    let mut cells = high.into_iter().zip(low);
    for i in 0..features {
        for j in 0..=i {
            let (x, x_low) = cells.next().expect("the lengths were checked");
            let most = spread[i] * spread[j];
            let allowed = PRODUCT_TOLERANCE * most + TINY;
            let fits = if i == j { (x - most).abs() <= allowed } else { x.abs() <= most + allowed };
            if !fits || x_low.abs() > allowed {
                return Err(wrong("the scatter and the feature scatter"));
            }
            (matrix[[i, j]], matrix_low[[i, j]]) = (x, x_low);
        }
    }
    Ok(Scatter::new(moments, bound, matrix, matrix_low))
}

/// The factor, whose columns are not longer than the spread of their features.
fn factor_of(file: &SafeTensors<'_>, moments: &Moments, bound: &Bound) -> Result<Array2<f64>, FormatError> {
    let features = moments.features();
    let rank = shape_of(file, "factor", 2)?[0];
    let rows = floats_of(file, "factor", &[rank, features], false)?;
    let rows =
        Array2::from_shape_vec((rank, features), rows).map_err(|_| wrong("the shape and the length of the factor"))?;
    if rank > features {
        return Err(wrong("the rank and the number of features"));
    }
    for (j, column) in rows.columns().into_iter().enumerate() {
        let most = moments.scatter()[j] + bound.surplus()[j] + bound.noise();
        if column.dot(&column) > most * (1.0 + PRODUCT_TOLERANCE) + TINY {
            return Err(wrong("the factor and the feature scatter"));
        }
    }
    Ok(rows)
}

/// Absorbs the rows that no engine has absorbed yet.
fn absorb_pending(file: &SafeTensors<'_>, stream: &mut EigenspaceStream) -> Result<(), FormatError> {
    let features = stream.features();
    let has = |name: &str| file.tensor(name).is_ok();
    let weights = |rows: usize| match has("row_weights") {
        true => floats_of(file, "row_weights", &[rows], true).map(Some),
        false => Ok(None),
    };
    // A state has no rows without weight, and no more rows than the buffer holds.
    let mut absorb = |block: Block<'_>, weights: Option<Vec<f64>>| {
        let block = weights.as_deref().map_or(block, |weights| block.weighted(weights));
        let absorbed = stream.update(block).is_ok() && stream.state.buffer.pending() == block.nrows();
        if absorbed { Ok(()) } else { Err(wrong("the pending rows and their limits")) }
    };
    if has("rows") {
        let shape = shape_of(file, "rows", 2)?;
        let rows = floats_of(file, "rows", &[shape[0], features], false)?;
        let rows = Array2::from_shape_vec((shape[0], features), rows)
            .map_err(|_| wrong("the shape and the length of the rows"))?;
        return absorb(Block::from(&rows), weights(shape[0])?);
    }
    if has("row_offsets") {
        let whole = |name: &'static str| {
            let numbers = integers_of(file, name, shape_of(file, name, 1)?[0])?;
            let number = |number: u64| usize::try_from(number).map_err(|_| wrong("the cells of sparse rows"));
            numbers.into_iter().map(number).collect::<Result<Vec<usize>, _>>()
        };
        let (offsets, columns) = (whole("row_offsets")?, whole("row_columns")?);
        let values = floats_of(file, "row_values", &[columns.len()], false)?;
        let rows = SparseRows::new(features, &offsets, &columns, &values);
        let rows = rows.map_err(|_| wrong("the cells of sparse rows"))?;
        return absorb(Block::from(rows), weights(rows.nrows())?);
    }
    Ok(())
}
