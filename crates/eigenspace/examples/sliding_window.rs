//! A sliding window over sensor readings: new rows are added, old ones removed, and the angle
//! to a reference model shows when the behavior of the sensors changes.
//!
//! `cargo run --example sliding_window`
#![allow(clippy::print_stdout)]

use eigenspace::{EigenspaceModel, Error, Truncation};
use ndarray::{Array2, Axis};

fn main() -> Result<(), Error> {
    let rows = readings();
    let window = 200;
    let step = 50;
    let first = rows.slice_axis(Axis(0), (..window).into());
    let reference = EigenspaceModel::fit(first)?.with_components(2)?;
    let mut model = reference.clone();
    println!("{:>6} {:>10} {:>13} {:>14}", "row", "in window", "2 comps hold", "sine to start");
    for start in (0..rows.nrows() - window).step_by(step) {
        let old = rows.slice_axis(Axis(0), (start..start + step).into());
        let new = rows.slice_axis(Axis(0), (start + window..start + window + step).into());
        model = model.replace(old, new, Truncation::None)?;
        let held: f64 = model.explained_variance_ratio().sum();
        println!(
            "{:>6} {:>10} {:>12.1}% {:>14.3}",
            start + window + step,
            model.count(),
            100.0 * held,
            model.subspace_distance(&reference)?
        );
    }
    let fresh = EigenspaceModel::fit(rows.slice_axis(Axis(0), (rows.nrows() - window..).into()))?.with_components(2)?;
    println!("sine to a model fitted on the last {window} rows alone: {:.1e}", model.subspace_distance(&fresh)?);
    Ok(())
}

/// 1,000 readings of 24 sensors that follow two hidden movements; from row 600 on, one of them
/// changes direction.
fn readings() -> Array2<f64> {
    let mut state = 42_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut rows = Array2::zeros((1000, 24));
    for (i, mut row) in rows.rows_mut().into_iter().enumerate() {
        let (one, two) = (10.0 * random(), 6.0 * random());
        let turn = if i < 600 { 0.0 } else { (i - 600) as f64 / 400.0 };
        for (j, value) in row.iter_mut().enumerate() {
            let place = j as f64 / 4.0;
            *value = 20.0 + one * place.sin() + two * (2.0 * place + 3.0 * turn).cos() + 0.2 * random();
        }
    }
    rows
}
