//! The element types of rows: the same numbers in the form that is passed to the library.

use eigenspace::{Block, SparseRows};
use ndarray::{Array2, ArrayView2, Axis};

use crate::random::Random;

/// How rows are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    F64,
    /// Column after column in memory.
    Transposed,
    F32,
    U8,
    U16,
    I32,
    Sparse,
}

/// Picks a kind and rounds the rows to what it can hold.
pub(crate) fn choose(random: &mut Random, rows: &mut Array2<f64>) -> Kind {
    let kind = match random.below(20) {
        0..10 => Kind::F64,
        10 => Kind::Transposed,
        11..16 => Kind::F32,
        16 => Kind::U8,
        17 => Kind::U16,
        18 => Kind::I32,
        _ => Kind::Sparse,
    };
    let (low, high) = rows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let into = |rows: &mut Array2<f64>, from: f64, to: f64| {
        let whole = rows.iter().all(|x| x.fract() == 0.0 && (from..=to).contains(x));
        if !whole {
            let step = if high > low { (to - from) / (high - low) } else { 0.0 };
            rows.mapv_inplace(|x| (from + (x - low) * step).round().clamp(from, to));
        }
    };
    match kind {
        Kind::F64 | Kind::Transposed | Kind::Sparse => {}
        Kind::F32 => rows.mapv_inplace(|x| f64::from(x.clamp(-1e30, 1e30) as f32)),
        Kind::U8 => into(rows, 0.0, 255.0),
        Kind::U16 => into(rows, 0.0, 65535.0),
        Kind::I32 => into(rows, f64::from(i32::MIN), f64::from(i32::MAX)),
    }
    kind
}

/// Rows in their element type.
enum Owned {
    F64(Array2<f64>),
    Transposed(Array2<f64>),
    F32(Array2<f32>),
    U8(Array2<u8>),
    U16(Array2<u16>),
    I32(Array2<i32>),
    Sparse { features: usize, offsets: Vec<usize>, indices: Vec<usize>, values: Vec<f64> },
}

/// Gives the rows, with their weights, to a function as the library takes them.
pub(crate) fn with_block<R>(
    kind: Kind,
    rows: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    then: impl FnOnce(Block<'_>) -> R,
) -> R {
    let owned = match kind {
        Kind::F64 => Owned::F64(rows.to_owned()),
        Kind::Transposed => Owned::Transposed(rows.t().as_standard_layout().into_owned()),
        Kind::F32 => Owned::F32(rows.mapv(|x| x as f32)),
        Kind::U8 => Owned::U8(rows.mapv(|x| x as u8)),
        Kind::U16 => Owned::U16(rows.mapv(|x| x as u16)),
        Kind::I32 => Owned::I32(rows.mapv(|x| x as i32)),
        Kind::Sparse => sparse(rows),
    };
    let slices;
    let block = match &owned {
        Owned::F64(rows) => Block::from(rows),
        Owned::Transposed(rows) => Block::from(rows.t()),
        Owned::F32(rows) => Block::from(rows),
        Owned::U8(rows) => Block::from(rows),
        Owned::U16(rows) => Block::from(rows),
        Owned::I32(rows) => Block::from(rows),
        Owned::Sparse { features, offsets, indices, values } => {
            slices = SparseRows::new(*features, offsets, indices, values).expect("well-formed sparse rows");
            Block::from(slices)
        }
    };
    then(match weights {
        Some(weights) => block.weighted(weights),
        None => block,
    })
}

fn sparse(rows: ArrayView2<'_, f64>) -> Owned {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows.axis_iter(Axis(0)) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j);
            values.push(*x);
        }
        offsets.push(indices.len());
    }
    Owned::Sparse { features: rows.ncols(), offsets, indices, values }
}
