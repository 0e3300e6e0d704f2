//! Rows arrive in blocks of any size, and the model reports its accuracy at any time.
//!
//! `captured` is the interval for the share of variance along the best ten directions, `sine at
//! most` bounds the sine of the largest angle between the model's ten directions and the true ones,
//! and `truly` is its true value.
//!
//! The same stream is absorbed three times: keeping spare rank (the default), keeping only the
//! reported directions, and with Frequent Directions. `cargo run --example stream_with_certificate`
#![allow(clippy::print_stdout)]

use eigenspace::{Engine, Error, FitOptions, Truncation, subspace_distance};
use ndarray::{Array2, Axis};

fn main() -> Result<(), Error> {
    let (features, k) = (1_500, 10);
    let rows = rows(3_000, features);
    let exact = FitOptions::new().components(k).engine(Engine::Scatter).fit(rows.view())?;
    let choices = [
        ("default", FitOptions::new().components(k)),
        ("lean", FitOptions::new().components(k).max_rank(k)),
        ("frequent directions", FitOptions::new().components(k).truncation(Truncation::FrequentDirections(3 * k))),
    ];
    for (name, options) in choices {
        println!("\n{name}: {}", options.plan(features)?);
        println!("{:>6} {:>5} {:>11} {:>13} {:>13}", "rows", "rank", "captured", "sine at most", "truly");
        let mut stream = options.stream(features)?;
        for (turn, block) in rows.axis_chunks_iter(Axis(0), 250).enumerate() {
            stream.update(block)?;
            if turn % 3 == 2 {
                let model = stream.model()?;
                let certificate = model.certificate();
                let (low, high) = certificate.captured_bounds(k);
                let truly = if model.count() == 3_000 {
                    format!("{:.1e}", subspace_distance(model.components(), exact.components())?)
                } else {
                    String::new()
                };
                let captured = format!("{:.1}–{:.1}%", 100.0 * low, 100.0 * high);
                println!(
                    "{:>6} {:>5} {captured:>11} {:>13.1e} {truly:>13}",
                    model.count(),
                    model.rank(),
                    certificate.angle_bound(k)
                );
            }
        }
    }
    Ok(())
}

/// Ten strong directions, in decreasing order, and noise in all others.
fn rows(n: usize, features: usize) -> Array2<f64> {
    let mut state = 3_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let strength = Array2::from_shape_fn((1, 10), |(_, k)| 8.0 * 0.7_f64.powi(k as i32));
    let amplitudes = Array2::from_shape_simple_fn((n, 10), &mut random) * strength.row(0);
    let directions = Array2::from_shape_fn((10, features), |(k, j)| (((k * k + 3) * (j + 1)) as f64 * 0.37).sin());
    amplitudes.dot(&directions) + Array2::from_shape_simple_fn((n, features), random)
}
