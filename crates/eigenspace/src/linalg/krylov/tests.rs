//! The iteration and the bound on what it leaves out, on spectra that are hard for them.

use ndarray::Array1;

use super::{Krylov, Request, SEED};
use crate::linalg::lanes::Lanes;
use crate::linalg::random::Random;
use crate::linalg::remainder::remainder;
use crate::linalg::{Operator, orthogonality_loss, thin_svd};

/// M = diag(values).
struct Diagonal(Vec<f64>);

impl<const W: usize> Operator<W> for Diagonal {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn apply(&self, lanes: &[[f64; W]]) -> Lanes<W> {
        lanes.iter().zip(&self.0).map(|(x, value)| x.map(|x| value * x)).collect()
    }
}

#[test]
fn krylov_finds_the_leading_eigenpairs_of_hard_spectra() {
    let falling = |i: usize| 1.0 / (1.0 + i as f64).powi(2);
    let spectra: [(&str, Vec<f64>); 7] = [
        ("falling", (0..600).map(falling).collect()),
        ("equal", (0..600).map(|i| if i < 45 { 1.0 } else { 0.3 * falling(i - 45) }).collect()),
        ("cluster at the cut", (0..600).map(|i| if i < 15 { 2.0 } else { 1.0 - 1e-6 * i as f64 }).collect()),
        ("rank of 20", (0..600).map(|i| if i < 20 { 1.0 + i as f64 } else { 0.0 }).collect()),
        ("rank of 7", (0..600).map(|i| if i < 7 { 1.0 } else { 0.0 }).collect()),
        ("identity", vec![3.0; 600]),
        ("zero", vec![0.0; 600]),
    ];
    for (name, values) in spectra {
        let mut sorted = values.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let operator = Diagonal(values);
        let request = Request { wanted: 20, kept: 24, room: 128, products: 4000 };
        let mut krylov = Krylov::<_, 8>::new(&operator, request);
        let leading = krylov.run();
        assert!(leading.products < 1000, "{name}: {} products", leading.products);
        assert!(leading.converged, "{name}");
        assert!(orthogonality_loss(leading.vectors.view()) < 1e-13, "{name}");
        for i in 0..20 {
            assert!(
                (leading.values[i] - sorted[i]).abs() <= 1e-12 * sorted[0],
                "{name}: value {i}: {} beside {}",
                leading.values[i],
                sorted[i]
            );
        }
        let bound = remainder::<_, 8>(&operator, leading.vectors.view());
        assert!(bound.bound >= sorted[24] * (1.0 - 1e-12), "{name}");
        assert!(bound.bound <= 2.5 * sorted[24] + 1e-12 * sorted[0], "{name}");
    }
}

/// M = 10 u uᵀ + diag(values) outside u.
struct Hidden {
    u: Vec<f64>,
    values: Vec<f64>,
}

impl Operator<8> for Hidden {
    fn size(&self) -> usize {
        self.u.len()
    }

    fn apply(&self, lanes: &[[f64; 8]]) -> Lanes<8> {
        let along = |lanes: &[[f64; 8]]| {
            let mut sum = [0.0; 8];
            for (x, u) in lanes.iter().zip(&self.u) {
                sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += u * x);
            }
            sum
        };
        let less = |lanes: &[[f64; 8]], along: [f64; 8]| -> Vec<[f64; 8]> {
            lanes.iter().zip(&self.u).map(|(x, u)| std::array::from_fn(|k| x[k] - u * along[k])).collect()
        };
        let inside = along(lanes);
        let rest: Vec<[f64; 8]> =
            less(lanes, inside).iter().zip(&self.values).map(|(x, value)| x.map(|x| value * x)).collect();
        let rest = less(&rest, along(&rest));
        rest.iter().zip(&self.u).map(|(x, u)| std::array::from_fn(|k| x[k] + 10.0 * u * inside[k])).collect()
    }
}

#[test]
fn a_direction_that_the_start_misses_is_found_by_the_random_vectors_of_the_bound() {
    let size = 400;
    let start = Random::new(SEED).normal_matrix(8, size);
    // Orthogonal to the first rows, and to nothing else.
    let mut u = Array1::from_shape_fn(size, |i| (i as f64 * 0.7).sin());
    let (_, basis) = thin_svd(start.view());
    for _ in 0..3 {
        let along = basis.dot(&u);
        u -= &basis.t().dot(&along);
    }
    u /= u.dot(&u).sqrt();
    let operator = Hidden { u: u.to_vec(), values: (0..size).map(|i| if i < 12 { 1.0 } else { 0.0 }).collect() };
    let mut krylov = Krylov::<_, 8>::new(&operator, Request { wanted: 6, kept: 6, room: 64, products: 1000 });
    let first = krylov.run();
    if first.values[0] < 5.0 {
        let left = remainder::<_, 8>(&operator, first.vectors.view());
        assert!(left.found > 9.9 && left.bound >= 10.0 - 1e-9, "{} {}", left.found, left.bound);
        krylov.also(left.directions.view());
    }
    let second = krylov.run();
    assert!((second.values[0] - 10.0).abs() < 1e-10, "{}", second.values);
    assert!(second.vectors.row(0).dot(&u).abs() > 1.0 - 1e-10);
}
