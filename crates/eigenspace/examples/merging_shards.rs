//! Four sites fit a model each, the models are merged, and one site leaves again.
//!
//! `cargo run --example merging_shards`
#![allow(clippy::print_stdout)]

use eigenspace::{EigenspaceModel, Error, FitOptions, Truncation};
use ndarray::Array2;

fn main() -> Result<(), Error> {
    // Each site measures the same 300 features, with its own mean.
    let sites: Vec<Array2<f64>> = (0..4).map(site).collect();
    let options = FitOptions::new().components(5);
    let models = sites.iter().map(|rows| options.fit(rows.view())).collect::<Result<Vec<_>, _>>()?;

    // Only the models are exchanged, never the rows.
    let bytes: usize = models.iter().map(|model| model.to_bytes().len()).sum();
    let all = EigenspaceModel::merge_all(&models, Truncation::None)?;
    let rows: usize = sites.iter().map(|rows| rows.len() * 8).sum();
    println!("4 models of {} KiB traveled in place of {} KiB of rows", bytes / 1024, rows / 1024);

    let rows = ndarray::concatenate(ndarray::Axis(0), &sites.iter().map(|rows| rows.view()).collect::<Vec<_>>())
        .expect("the sites have the same features");
    let batch = EigenspaceModel::fit(rows.view())?.with_components(5)?;
    println!(
        "{} rows, sine of the largest angle to batch PCA of them: {:.1e}",
        all.count(),
        all.subspace_distance(&batch)?
    );

    let three = all.split(&models[3])?;
    let wanted = EigenspaceModel::merge_all(&models[..3], Truncation::None)?;
    println!(
        "after site 4 has left: {} rows, sine to the other three {:.1e}",
        three.count(),
        three.subspace_distance(&wanted)?
    );

    let stranger = options.fit(site(9).view())?;
    if let Err(error) = three.split(&stranger) {
        println!("a site that was never there: {error}");
    }
    Ok(())
}

/// 2,000 rows: five waves with random amplitudes, some noise, and the mean of the site.
fn site(number: u32) -> Array2<f64> {
    let mut state = 0x5DEE_CE66_u64 + u64::from(number);
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let amplitudes = Array2::from_shape_simple_fn((2_000, 5), &mut random);
    let waves =
        Array2::from_shape_fn((5, 300), |(k, j)| ((k + 1) as f64 * j as f64 / 40.0).sin() * 5.0 / (k + 1) as f64);
    amplitudes.dot(&waves) + Array2::from_shape_simple_fn((2_000, 300), random) * 0.1 + f64::from(number)
}
