//! Moments of small sets of rows, computed by hand: what only enters bounds and divisors, and so
//! does not change directions.

use ndarray::{Array2, array};

use super::*;

/// The moments of rows with these weights.
fn moments(mut rows: Array2<f64>, weights: Option<&[f64]>) -> Moments {
    Moments::empty(rows.ncols()).absorb(rows.view_mut(), weights).expect("few rows").moments
}

#[test]
fn a_block_is_centered_between_the_means() {
    // Nine rows of mean 3, and three of mean 7 with weights that sum to 7: w = 16, 1 − β = √(9 /
    // 16).
    let before = moments(array![[1.0], [1.0], [1.0], [3.0], [3.0], [3.0], [5.0], [5.0], [5.0]], None);
    let mut rows = array![[4.0], [7.0], [10.0]];
    let weights = [1.0, 5.0, 1.0];
    let Absorbed { moments, step, c, roundings } = before.absorb(rows.view_mut(), Some(&weights)).expect("few rows");
    let t = 3.0 + 0.25 * 4.0;
    assert_eq!(rows, array![[4.0 - t], [5_f64.sqrt() * (7.0 - t)], [10.0 - t]]);
    assert_eq!(step, array![4.0]);
    // √(w₁ w₂ / w₃) (b − μ)
    assert!((c[0] - (9.0 * 7.0 / 16.0_f64).sqrt() * 4.0).abs() <= 4.0 * f64::EPSILON * c[0]);
    assert_eq!(roundings, 48.0);
    assert_eq!((moments.count, moments.weight.value(), moments.squared_weight), (12, 16.0, 9.0 + 27.0));
    assert_eq!(moments.mean, array![3.0 + 4.0 * 7.0 / 16.0]);
    // 24 within the earlier rows, 18 within the block, and c².
    assert!((moments.scatter[0] - (24.0 + 18.0 + 63.0)).abs() <= 1e-13);
}

#[test]
fn the_first_block_has_no_difference_of_means() {
    let mut rows = Array2::from_shape_fn((100, 2), |(i, j)| (i * (j + 1)) as f64);
    let absorbed = Moments::empty(2).absorb(rows.view_mut(), None).expect("few rows");
    assert_eq!(absorbed.c, array![0.0, 0.0]);
    // Sums of 32 rows, of three such sums, and 16.
    assert_eq!(absorbed.roundings, 32.0 + 3.0 + 16.0);
    assert_eq!(absorbed.moments.squared_weight, 100.0);
}

#[test]
fn a_block_keeps_what_is_not_counted() {
    let before = Moments { imputed: 4, ..moments(array![[1.0], [2.0]], None) }.weighing(WeightKind::Reliability);
    let after = before.absorb(array![[5.0]].view_mut(), None).expect("few rows").moments;
    assert_eq!((after.imputed, after.weights, after.about_origin), (4, WeightKind::Reliability, false));
    assert!(before.about(true).absorb(array![[5.0]].view_mut(), None).expect("few rows").moments.about_origin);
}

#[test]
fn moments_are_consistent_if_every_field_has_all_features() {
    let whole = Moments::empty(3);
    let short = || Array1::zeros(2);
    assert!(whole.is_consistent(3) && !whole.is_consistent(2));
    for other in [
        Moments { mean: short(), ..whole.clone() },
        Moments { mean_low: short(), ..whole.clone() },
        Moments { scatter: short(), ..whole },
    ] {
        assert!(!other.is_consistent(3));
    }
}

#[test]
fn the_heaviest_row_is_the_first_of_those_with_the_largest_weight() {
    assert_eq!(heaviest(0, None), None);
    assert_eq!(heaviest(3, None), Some((0, 1.0)));
    assert_eq!(heaviest(4, Some(&[1.0, 5.0, 5.0, 2.0])), Some((1, 5.0)));
    assert_eq!(heaviest(3, Some(&[5.0, 0.5, 2.0])), Some((0, 5.0)));
}

#[test]
fn means_relative_to_others_are_added_in_two_words() {
    let others = Moments { mean: array![4e15], mean_low: array![0.125], ..Moments::empty(1) };
    let differences = Moments { mean: array![0.25], mean_low: array![1e-18], count: 7, ..Moments::empty(1) };
    let found = differences.relative_to(&others);
    assert_eq!((found.mean[0], found.mean_low[0], found.count), (4e15 + 0.5, 0.375 - 0.5 + 1e-18, 7));
    let small = Moments { mean: array![0.25], mean_low: array![1e-18], ..Moments::empty(1) };
    let moved = small.relative_to(&Moments { mean: array![0.5], mean_low: array![3e-18], ..Moments::empty(1) });
    assert_eq!((moved.mean[0], moved.mean_low[0]), (0.75, 4e-18));
}

#[test]
fn merging_and_splitting_count_weights_and_filled_cells() {
    let one = Moments { imputed: 2, ..moments(array![[1.0], [2.0], [6.0]], Some(&[2.0, 1.0, 3.0])) };
    let two = Moments { imputed: 5, ..moments(array![[4.0], [9.0]], Some(&[2.0, 4.0])) };
    let (both, c) = one.merge(&two).expect("few rows");
    assert_eq!((both.count, both.weight.value(), both.squared_weight, both.imputed), (5, 12.0, 34.0, 7));
    let (left, again) = both.split(&two);
    assert_eq!((left.count, left.weight.value(), left.squared_weight, left.imputed), (3, 6.0, 14.0, 2));
    assert!((c[0].abs() - again[0].abs()).abs() <= 1e-14);
    assert!((left.mean[0] - one.mean[0]).abs() <= 1e-14);
}

#[test]
fn two_kinds_of_weights_merge_to_reliability() {
    use WeightKind::{Frequency, Reliability};
    let some = |kind| moments(array![[1.0], [2.0]], None).weighing(kind);
    for (one, two, expected) in [
        (Frequency, Frequency, Frequency),
        (Reliability, Reliability, Reliability),
        (Frequency, Reliability, Reliability),
        (Reliability, Frequency, Reliability),
    ] {
        let (both, _) = some(one).merge(&some(two)).expect("few rows");
        assert_eq!(both.weights, expected);
        assert_eq!(both.split(&some(two)).0.weights, expected);
    }
}

#[test]
fn squared_weights_stay_between_equal_weights_and_all_weight_on_one_row() {
    let with = |count: u64, weight: f64, squared_weight: f64| Moments {
        count,
        weight: Weight::of(&[weight]),
        squared_weight,
        ..Moments::empty(1)
    };
    // Four rows of weight 6 remain: Σw² is between 36 / 4 and 36.
    for (whole, part, expected) in [(30.0, 10.0, 20.0), (30.0, 25.0, 9.0), (90.0, 10.0, 36.0)] {
        let (left, _) = with(7, 10.0, whole).split(&with(3, 4.0, part));
        assert_eq!(left.squared_weight, expected);
    }
}

#[test]
fn differences_of_two_words_keep_the_second() {
    let words = |low: f64| TwoWords { high: vec![4e15], low: vec![low] };
    assert_eq!(words(0.25).less(&words(0.0625)), array![0.1875]);
}

#[test]
fn kinds_of_weights_are_read_by_their_names() {
    for kind in [WeightKind::Frequency, WeightKind::Reliability] {
        assert_eq!(kind.to_string().parse::<WeightKind>().ok(), Some(kind));
    }
    assert!("often".parse::<WeightKind>().is_err());
}

#[test]
fn some_features_of_the_same_rows_keep_what_all_features_share() {
    let all = Moments {
        count: 5,
        weight: Weight::of(&[4.0]),
        squared_weight: 9.0,
        mean: array![1.0, 2.0, 3.0],
        mean_low: array![4.0, 5.0, 6.0],
        scatter: array![7.0, 8.0, 9.0],
        imputed: 2,
        weights: WeightKind::Reliability,
        about_origin: true,
    };
    let some = Moments { mean: array![2.0, 3.0], mean_low: array![5.0, 6.0], scatter: array![8.0, 9.0], ..all.clone() };
    assert_eq!(all.of_features(1..3), some);
    let part = |columns: std::ops::Range<usize>, c: f64| {
        let size = columns.len();
        let (step, c) = (Array1::from_elem(size, -c), Array1::from_elem(size, c));
        Absorbed { moments: all.of_features(columns), step, c, roundings: 11.0 }
    };
    let together = Absorbed::side_by_side(vec![part(0..1, 1.0), part(1..3, 2.0)]);
    assert_eq!((together.moments, together.roundings), (all.clone(), 11.0));
    assert_eq!((together.step, together.c), (array![-1.0, -2.0, -2.0], array![1.0, 2.0, 2.0]));
    assert_eq!(Absorbed::side_by_side(Vec::new()).moments, Moments::empty(0));
}

#[test]
fn sums_that_were_kept_and_a_copy_give_the_same_bits() {
    let rows =
        Array2::from_shape_fn((77, 300), |(i, j)| ((i * 7919 + j * 104_729 + i * j) % 9973) as f64 / 997.0 + 1e5);
    let earlier = Array2::from_shape_fn((9, 300), |(i, j)| ((i * 31 + j * 17) % 101) as f64 + 1e5);
    for before in [Moments::empty(300), moments(earlier, None)] {
        let (high, low) = match before.count {
            0 => (rows.row(0).to_vec(), vec![0.0; 300]),
            _ => (before.mean.to_vec(), before.mean_low.to_vec()),
        };
        let mut sums = DifferenceSums::default();
        rows.rows().into_iter().for_each(|row| sums.add(row.as_slice().expect("contiguous"), &high, &low));
        let (mut plain, mut copy) = (rows.clone(), Array2::zeros(rows.raw_dim()));
        let one = before.absorb(plain.view_mut(), None).expect("few rows");
        let two = before.absorb_copy(Some(rows.view()), copy.view_mut(), None, Some(&sums.sums())).expect("few rows");
        assert_eq!((plain, one.moments, one.step, one.c), (copy, two.moments, two.step, two.c));
    }
}
