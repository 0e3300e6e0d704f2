//! Split, remove and replace: what they reject, and the accuracy of what remains.

use eigenspace::{EigenspaceModel, Error, FitOptions, Truncation};
use ndarray::{Array2, Axis};

use crate::support::{self, Random, oracle, stack};

fn batch(rows: &Array2<f64>) -> EigenspaceModel {
    EigenspaceModel::fit(rows.view()).unwrap()
}

#[test]
fn a_part_that_was_never_in_the_whole_is_refused() {
    let mut random = Random::new(1);
    // In few dimensions, a wrong part is detected if it has more spread, or another position, than
    // the whole allows;
    let narrow = batch(&random.matrix(40, 6));
    let strangers =
        [random.matrix(10, 6) * 3.0, random.matrix(1, 6) * 5.0, random.matrix(10, 6) * 0.1 + 7.0, random.matrix(40, 6)];
    for stranger in &strangers {
        refused(&narrow, stranger);
    }
    // in many dimensions, any wrong part lies outside the span.
    let wide = batch(&random.matrix(30, 200));
    for stranger in [random.matrix(10, 200), random.matrix(2, 200) * 0.01, random.matrix(30, 200)] {
        refused(&wide, &stranger);
    }
}

fn refused(whole: &EigenspaceModel, stranger: &Array2<f64>) {
    let error = whole.split(&batch(stranger)).unwrap_err();
    assert!(matches!(error, Error::NotAPart { scatter, allowed, .. } if scatter < allowed), "{error:?}");
    assert!(error.hint().is_some());
}

#[test]
fn a_part_larger_than_the_whole_is_refused() {
    let rows = Random::new(2).matrix(20, 4);
    let (whole, part) = (batch(&rows.slice_axis(Axis(0), (..5).into()).to_owned()), batch(&rows));
    let error = whole.split(&part).unwrap_err();
    assert!(matches!(error, Error::SplitTooLarge { whole: 5, part: 20, .. }));
    assert!(error.to_string().contains("cannot split 20 rows"), "{error}");
    assert!(EigenspaceModel::empty(4).split(&part).is_err());
}

#[test]
fn models_of_different_width_are_refused_by_name() {
    let (a, b) = (batch(&Random::new(3).matrix(5, 4)), batch(&Random::new(3).matrix(5, 64)));
    for error in
        [a.split(&b).unwrap_err(), a.merge(&b, Truncation::None).unwrap_err(), a.subspace_distance(&b).unwrap_err()]
    {
        assert_eq!(error.to_string(), "the numbers of features differ: 4 and 64");
    }
}

#[test]
fn taking_everything_out_leaves_the_empty_model() {
    let rows = Random::new(4).matrix(12, 5) + 100.0;
    let whole = batch(&rows);
    assert_eq!(whole.split(&whole).unwrap(), EigenspaceModel::empty(5));
    assert_eq!(whole.remove(rows.view()).unwrap(), EigenspaceModel::empty(5));
    let moved = batch(&(rows + 1.0));
    assert!(matches!(whole.split(&moved), Err(Error::NotAPart { .. })));
}

#[test]
fn a_single_row_that_remains_has_a_mean_and_no_scatter() {
    let rows = Random::new(5).matrix(9, 3);
    let left = batch(&rows).remove(rows.slice_axis(Axis(0), (1..).into())).unwrap();
    assert_eq!((left.count(), left.rank()), (1, 0));
    for (a, b) in left.mean().iter().zip(rows.row(0)) {
        assert!((a - b).abs() < 1e-13);
    }
}

#[test]
fn a_window_can_slide_over_many_rows() {
    let rows = Random::new(6).matrix(3000, 7) * 2.0 + 30.0;
    let mut window = batch(&rows.slice_axis(Axis(0), (..100).into()).to_owned());
    for start in (0..2900).step_by(10) {
        let old = rows.slice_axis(Axis(0), (start..start + 10).into());
        let new = rows.slice_axis(Axis(0), (start + 100..start + 110).into());
        window = window.replace(old, new, Truncation::None).unwrap();
    }
    let truth = oracle(rows.slice_axis(Axis(0), (2900..).into()));
    let far = support::distance(&window, &truth);
    // 290 steps, each leaving the rounding of a window of the same size, and of a mean fifteen
    // spreads away.
    assert!(far.worst() <= 290.0 * support::allowed(110, 7), "{far:?}");
    assert_eq!(window.count(), 100);
    assert!(window.orthogonality_loss() <= 1e-13);
    assert!(window.certificate().is_exact());
}

#[test]
fn removing_nearly_everything_is_not_called_exact() {
    let mut random = Random::new(7);
    let (huge, tiny) = (random.matrix(50, 4) * 1e6, random.matrix(50, 4) * 1e-2);
    let left = batch(&stack(&huge, &tiny)).split(&batch(&huge)).unwrap();
    let certificate = left.certificate();
    assert!(!certificate.is_exact(), "eight digits were canceled");
    let truth = oracle(tiny.view());
    for (i, value) in truth.eigenvalues.iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        assert!(low <= *value && *value <= high, "{low} {value} {high}");
    }
}

#[test]
fn a_part_of_a_truncated_whole_can_be_taken_out_with_a_bound() {
    let mut random = Random::new(8);
    let spectrum: Vec<f64> = (0..20).map(|i| 10.0 * 0.8f64.powi(i)).collect();
    let rows = random.with_spectrum(100, 30, &spectrum);
    let part = rows.slice_axis(Axis(0), (..20).into()).to_owned();
    let rest = rows.slice_axis(Axis(0), (20..).into()).to_owned();
    let whole = FitOptions::new()
        .components(5)
        .max_rank(10)
        .engine(eigenspace::Engine::Factor)
        .block_rows(20)
        .fit(rows.view())
        .unwrap();
    let left = whole.split(&batch(&part)).unwrap();
    let difference = &oracle(rest.view()).scatter - &support::scatter_of(&left);
    let error = support::jacobi_svd(difference).0[0];
    assert!(error <= left.certificate().error_bound() && left.certificate().error_bound() < 100.0);
}

#[test]
fn what_was_put_in_can_be_taken_out_one_after_the_other() {
    let mut random = Random::new(9);
    for (first, second, d) in [(1000, 5, 50), (100, 2, 10), (30, 30, 200), (3, 40, 7)] {
        for offset in [0.0, 1.0, 1e3, 1e6] {
            let (a, b) = (random.matrix(first, d) + offset, random.matrix(second, d) + offset);
            let both = batch(&a).update(b.view(), Truncation::None).unwrap();
            let rest = both.remove(a.view()).unwrap();
            assert!(rest.remove(b.view()).unwrap().is_empty(), "{first} {second} {d} {offset}");
            let truth = oracle(b.view());
            for (i, value) in truth.eigenvalues.iter().enumerate() {
                let (low, high) = rest.certificate().eigenvalue_bound(i);
                let slack = 1e-12 * truth.eigenvalues[0];
                assert!(low <= value + slack && *value <= high + slack, "{offset} {i}: {low} {value} {high}");
            }
        }
    }
}

#[test]
fn an_outlier_can_pass_through_a_window() {
    let mut random = Random::new(10);
    let mut rows = random.matrix(200, 50);
    rows.row_mut(40).mapv_inplace(|x| 100.0 * x);
    let mut window = batch(&rows.slice_axis(Axis(0), (..20).into()).to_owned());
    for start in 0..180 {
        let (old, new) = (start..start + 1, start + 20..start + 21);
        let part = |range: std::ops::Range<usize>| rows.slice_axis(Axis(0), range.into());
        window = window.replace(part(old), part(new), Truncation::None).unwrap();
    }
    let truth = oracle(rows.slice_axis(Axis(0), (180..).into()));
    assert!(support::distance(&window, &truth).scatter < 1e-8);
}

#[test]
fn what_canceled_altogether_is_not_called_exact() {
    let far = ndarray::array![[1e9], [-1e9]];
    let all = ndarray::array![[0.0], [1.0], [1e9], [-1e9]];
    let left = batch(&all).remove(far.view()).unwrap();
    assert!(!left.certificate().is_exact());
    assert!(left.certificate().eigenvalue_bound(0).1 >= 0.5);

    let graded = ndarray::array![
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
        [1e8, 0.0, 0.0],
        [-1e8, 0.0, 0.0],
        [0.0, 2e6, 0.0],
        [0.0, -2e6, 0.0]
    ];
    let part = |range: std::ops::Range<usize>| graded.slice_axis(Axis(0), range.into());
    let left = batch(&graded).remove(part(2..4)).unwrap().remove(part(4..6)).unwrap();
    assert!(!left.certificate().is_exact());
    assert!(left.certificate().eigenvalue_bound(0).1 >= 2.0);
}

#[test]
fn a_rest_whose_weight_is_lost_in_rounding_is_refused() {
    let rows = Random::new(11).matrix(4, 8);
    let weights = [1e16, 1.0, 1.0, 1.0];
    let whole = EigenspaceModel::fit(eigenspace::Block::from(&rows).weighted(&weights)).unwrap();
    let first = rows.slice_axis(Axis(0), (..1).into());
    let error = whole.remove(eigenspace::Block::from(first).weighted(&weights[..1])).unwrap_err();
    assert!(matches!(error, Error::SplitTooLarge { .. }), "{error:?}");
}
