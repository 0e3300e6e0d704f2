//! The laws: statements that hold for any rows, compared with the oracle of `support`.

use crate::support::{self, Random, allowed, cut, distance, oracle, stack};
use eigenspace::{EigenspaceModel, Engine, Truncation};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

/// Well-conditioned rows: normal, with a mean of the same size as the spread.
fn rows(seed: u64, n: usize, d: usize) -> Array2<f64> {
    let mut random = Random::new(seed);
    let mean = random.matrix(1, d);
    random.matrix(n, d) + mean.row(0)
}

/// The promise of the issue for well-conditioned data.
const PROMISE: f64 = 1e-12;

proptest! {
    #![proptest_config(support::cases(96))]

    #[test]
    fn the_batch_model_is_what_the_oracle_says(seed in 0u64.., n in 1usize..70, d in 1usize..40) {
        // Half of the cases are wide enough for the route by products.
        let d = if seed % 2 == 0 { d + 128 } else { d };
        let rows = rows(seed, n, d);
        let model = EigenspaceModel::fit(rows.view()).unwrap();
        let far = distance(&model, &oracle(rows.view()));
        prop_assert!(far.worst() <= allowed(n, d).min(PROMISE), "{far:?}");
        prop_assert_eq!(model.rank(), d.min(n - 1));
        prop_assert!(model.certificate().is_exact());
    }

    #[test]
    fn any_partition_of_the_rows_gives_the_batch_model(
        seed in 0u64.., n in 1usize..70, d in 1usize..40, cuts in prop::collection::vec(1usize..20, 1..6),
    ) {
        let d = if seed % 2 == 0 { d + 128 } else { d };
        let rows = rows(seed, n, d);
        let truth = oracle(rows.view());
        let mut updated = EigenspaceModel::empty(d);
        let mut stream = support::options().stream(d).unwrap();
        let mut factor = support::options().engine(Engine::Factor).block_rows(5).stream(d).unwrap();
        let mut scatter = support::options().engine(Engine::Scatter).block_rows(5).stream(d).unwrap();
        let mut models = Vec::new();
        for block in cut(&rows, &cuts) {
            updated = updated.update(block, Truncation::None).unwrap();
            stream.update(block).unwrap();
            factor.update(block).unwrap();
            scatter.update(block).unwrap();
            models.push(EigenspaceModel::fit(block).unwrap());
        }
        let tree = EigenspaceModel::merge_all(&models, Truncation::None).unwrap();
        let chain = models.iter().try_fold(EigenspaceModel::empty(d), |sum, m| sum.merge(m, Truncation::None)).unwrap();
        let streamed = [stream.model().unwrap(), factor.model().unwrap(), scatter.model().unwrap()];
        for model in streamed.iter().map(|m| &**m).chain([&updated, &tree, &chain]) {
            let far = distance(model, &truth);
            prop_assert!(far.worst() <= (4.0 * allowed(n, d)).min(PROMISE), "{far:?}");
            prop_assert!(model.certificate().is_exact());
            prop_assert!(support::orthogonality_loss(model.basis()) <= allowed(d, d));
        }
    }

    #[test]
    fn brands_rank_one_update_is_the_block_update(seed in 0u64.., n in 1usize..40, d in 1usize..30) {
        let rows = rows(seed, n, d);
        let brand = rows.rows().into_iter()
            .try_fold(EigenspaceModel::empty(d), |m, row| m.update_row(row, Truncation::None)).unwrap();
        let far = distance(&brand, &oracle(rows.view()));
        prop_assert!(far.worst() <= (4.0 * allowed(n, d)).min(PROMISE), "{far:?}");
        prop_assert_eq!(brand.rank(), d.min(n - 1));
    }

    #[test]
    fn merging_commutes_to_the_last_bit(seed in 0u64.., n in 1usize..40, m in 1usize..40, d in 1usize..30) {
        let a = EigenspaceModel::fit(rows(seed, n, d).view()).unwrap();
        let b = EigenspaceModel::fit(rows(seed ^ 1, m, d).view()).unwrap();
        prop_assert_eq!(a.merge(&b, Truncation::None).unwrap(), b.merge(&a, Truncation::None).unwrap());
    }

    #[test]
    fn merging_associates(seed in 0u64.., n in 1usize..30, d in 1usize..30) {
        let parts: Vec<_> = (0..3).map(|i| rows(seed.wrapping_add(i), n + i as usize, d)).collect();
        let [a, b, c] = [0, 1, 2].map(|i| EigenspaceModel::fit(parts[i].view()).unwrap());
        let left = a.merge(&b, Truncation::None).unwrap().merge(&c, Truncation::None).unwrap();
        let right = a.merge(&b.merge(&c, Truncation::None).unwrap(), Truncation::None).unwrap();
        let truth = oracle(stack(&stack(&parts[0], &parts[1]), &parts[2]).view());
        for model in [left, right] {
            prop_assert!(distance(&model, &truth).worst() <= (4.0 * allowed(3 * n, d)).min(PROMISE));
        }
    }

    #[test]
    fn the_empty_model_is_neutral(seed in 0u64.., n in 1usize..40, d in 1usize..30) {
        let model = EigenspaceModel::fit(rows(seed, n, d).view()).unwrap().with_components(0.9).unwrap();
        let empty = EigenspaceModel::empty(d);
        prop_assert_eq!(&empty.merge(&model, Truncation::None).unwrap(), &model);
        prop_assert_eq!(&model.merge(&empty, Truncation::None).unwrap(), &model);
        prop_assert_eq!(&model.split(&empty).unwrap(), &model);
        prop_assert_eq!(empty.merge(&empty, Truncation::None).unwrap(), empty);
    }

    #[test]
    fn split_undoes_merge(seed in 0u64.., n in 1usize..40, m in 1usize..40, d in 1usize..30) {
        let (a, b) = (rows(seed, n, d), rows(seed ^ 1, m, d));
        let [one, two] = [&a, &b].map(|x| EigenspaceModel::fit(x.view()).unwrap());
        let both = one.merge(&two, Truncation::None).unwrap();
        let again = both.split(&two).unwrap();
        let truth = oracle(a.view());
        // Rounding of the whole, and of a mean that was divided by what remains, is left behind.
        let whole = oracle(stack(&a, &b).view()).eigenvalues.first().copied().unwrap_or(0.0);
        let first = truth.eigenvalues.first().copied().unwrap_or(0.0);
        let rounding = 16.0 * allowed(n + m, d) * whole * (1.0 + (m as f64 / n as f64).sqrt());
        let error = support::frobenius(&(support::scatter_of(&again) - &truth.scatter));
        prop_assert!(error <= rounding, "{error:e} {rounding:e} {first:e}");
        prop_assert_eq!(again.count(), n as u64);
        prop_assert!(again.rank() <= d.min(n - 1));
        for (x, y) in again.mean().iter().zip(&truth.mean) {
            prop_assert!((x - y).abs() <= 64.0 * support::EPS * (1.0 + y.abs()) * (n + m) as f64 / n as f64);
        }
    }

    #[test]
    fn remove_undoes_update_and_replace_is_both(seed in 0u64.., n in 2usize..30, m in 1usize..20, d in 1usize..30) {
        let (a, b, c) = (rows(seed, n, d), rows(seed ^ 1, m, d), rows(seed ^ 2, m, d));
        let model = EigenspaceModel::fit(a.view()).unwrap();
        let grown = model.update(b.view(), Truncation::None).unwrap();
        let back = grown.remove(b.view()).unwrap();
        let moved = grown.replace(b.view(), c.view(), Truncation::None).unwrap();
        let whole = oracle(stack(&stack(&a, &b), &c).view()).eigenvalues[0];
        for (result, rows) in [(back, a.clone()), (moved, stack(&a, &c))] {
            let truth = oracle(rows.view());
            let error = support::frobenius(&(support::scatter_of(&result) - &truth.scatter));
            let rounding = 32.0 * allowed(n + 2 * m, d) * whole * (1.0 + (m as f64 / n as f64).sqrt());
            prop_assert!(error <= rounding, "{error:e} {rounding:e}");
        }
    }

    #[test]
    fn the_bytes_round_trip(seed in 0u64.., n in 0usize..40, d in 1usize..30, k in 1usize..5) {
        let model = if n == 0 { EigenspaceModel::empty(d) } else {
            let whole = EigenspaceModel::fit(rows(seed, n, d).view()).unwrap();
            whole.truncate(Truncation::FrequentDirections(k)).unwrap().with_components(k).unwrap()
        };
        let bytes = model.to_bytes();
        prop_assert_eq!(&EigenspaceModel::from_bytes(&bytes).unwrap(), &model);
        prop_assert_eq!(EigenspaceModel::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    }

    #[test]
    fn strides_do_not_matter(seed in 0u64.., n in 2usize..30, d in 1usize..20) {
        let rows = rows(seed, n, d);
        let wanted = EigenspaceModel::fit(rows.view()).unwrap();
        let fortran = rows.t().to_owned();
        let mut backward = rows.clone();
        backward.invert_axis(Axis(1));
        let mut backward = backward.as_standard_layout().into_owned();
        backward.invert_axis(Axis(1));
        for view in [fortran.t(), backward.view()] {
            prop_assert_eq!(&EigenspaceModel::fit(view).unwrap(), &wanted);
            prop_assert_eq!(&support::options().fit(view).unwrap(), &support::options().fit(rows.view()).unwrap());
            prop_assert_eq!(wanted.project(view).unwrap(), wanted.project(rows.view()).unwrap());
        }
    }
}
