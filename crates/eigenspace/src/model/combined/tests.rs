//! Two models whose directions are neither equal nor orthogonal, and a step outside of both.

use ndarray::array;

use super::*;

#[track_caller]
fn all_near(found: &Array2<f64>, expected: &Array2<f64>, size: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-14 * size, "{found:e}, not {expected:e}");
    }
}

#[test]
fn products_give_the_eigenspace_of_all_rows_together() {
    let one = array![[0.6, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0], [-0.8, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0]];
    let two = array![
        [0.0, 0.6, 0.0, 0.8, 0.0, 0.0, 0.0],
        [0.8, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    ];
    let c = array![1.0, 2.0, 0.0, 0.5, -1.0, 1.5, 0.0];
    let (s_one, s_two) = (array![5.0, 2.0], array![4.0, 3.0, 1.0]);
    let a = Combined { one: (one.view(), s_one.view()), two: (two.view(), s_two.view()), c: c.view() };
    let written = array![
        [3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [-1.6, 1.2, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 2.4, 0.0, 3.2, 0.0, 0.0, 0.0],
        [2.4, 0.0, 1.8, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [1.0, 2.0, 0.0, 0.5, -1.0, 1.5, 0.0]
    ];
    all_near(&a.written(), &written, 4.0);

    // A matrix has one spectral decomposition: orthonormal directions that add up to it.
    let scatter = written.t().dot(&written);
    let q = scatter.diag().to_owned();
    let all = by_combined_products(&a, Rank::All, q.view());
    let (v, squared) = (&all.directions, &all.values * &all.values);
    assert_eq!((v.dim(), all.beyond), ((6, 7), 0.0));
    all_near(&v.dot(&v.t()), &Array2::eye(6), 10.0);
    all_near(&v.t().dot(&(v * &squared.view().insert_axis(Axis(1)))), &scatter, scatter.diag().sum());

    // A Gram matrix with mistakes would still give all directions, but not the leading ones.
    for limit in 1..6 {
        let leading = by_combined_products(&a, Rank::AtMost(limit), q.view());
        assert_eq!(leading.values.len(), limit);
        for (found, expected) in leading.values.iter().zip(&all.values) {
            assert!((found - expected).abs() <= 1e-14 * all.values[0], "{limit}: {found}, not {expected}");
        }
        assert!((leading.beyond - squared[limit]).abs() <= 1e-14 * squared[0], "{limit}");
    }
}
