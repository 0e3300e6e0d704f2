//! Missing cells: rejected, skipped, or filled better than by means.

use eigenspace::{Block, EigenspaceModel, Engine, Error, FitOptions, Forgetting, Missing, subspace_distance};
use ndarray::{Array2, Axis, array};

use crate::support::{Random, allowed, cut, distance, oracle};

/// Rows of rank 4 and some noise, and the same with a tenth of the cells taken out.
fn damaged(seed: u64, n: usize, d: usize) -> (Array2<f64>, Array2<f64>) {
    let mut random = Random::new(seed);
    let scale = (n as f64).sqrt();
    let rows = random.with_spectrum(n, d, &[9.0 * scale, 6.0 * scale, 4.0 * scale, 3.0 * scale])
        + random.matrix(n, d) * 0.05
        + 7.0;
    let damaged = rows.mapv(|x| if random.uniform() < 0.1 { f64::NAN } else { x });
    (rows, damaged)
}

fn engines() -> [FitOptions; 3] {
    let base = FitOptions::new().components(4);
    [base.clone(), base.clone().engine(Engine::Factor).block_rows(50), base.engine(Engine::Scatter).block_rows(50)]
}

/// The usual method: every missing cell is filled with the mean of its feature.
fn mean_filled(rows: &Array2<f64>) -> Array2<f64> {
    let mut filled = rows.clone();
    for mut column in filled.columns_mut() {
        let there: Vec<f64> = column.iter().copied().filter(|x| !x.is_nan()).collect();
        let mean = there.iter().sum::<f64>() / there.len() as f64;
        column.mapv_inplace(|x| if x.is_nan() { mean } else { x });
    }
    filled
}

#[test]
fn filling_by_the_model_beats_filling_by_means_with_a_tenth_of_the_cells_gone() {
    for (n, d) in [(1500, 30), (400, 30), (900, 200)] {
        let (whole, holes) = damaged(1, n, d);
        let truth = EigenspaceModel::fit(whole.view()).unwrap().with_components(4).unwrap();
        let means = EigenspaceModel::fit(mean_filled(&holes).view()).unwrap().with_components(4).unwrap();
        let by_means = subspace_distance(means.components(), truth.components()).unwrap();
        for options in engines() {
            let model = options.missing(Missing::Impute).fit(holes.view()).unwrap();
            let by_model = subspace_distance(model.components(), truth.components()).unwrap();
            assert!(by_model < by_means / 4.0, "{n} x {d}: {by_model} against {by_means}");
            let cells = holes.iter().filter(|x| x.is_nan()).count() as u64;
            assert_eq!(model.imputed(), cells);
            // Means lose the variance of what they fill; the model keeps nearly all of it.
            let share =
                |m: &EigenspaceModel| m.explained_variance(1.0).unwrap()[0] / truth.explained_variance(1.0).unwrap()[0];
            assert!((share(&model) - 1.0).abs() < 0.02 && share(&means) < 0.95, "{} {}", share(&model), share(&means));
        }
    }
}

#[test]
fn filling_does_not_depend_on_how_rows_were_cut_nor_on_reading() {
    let (_, holes) = damaged(2, 330, 12);
    for options in engines() {
        let options = options.missing(Missing::Impute).forgetting(Forgetting::HalfLife(500.0));
        let whole = options.fit(holes.view()).unwrap();
        let mut stream = options.stream(12).unwrap();
        for block in cut(&holes, &[1, 17, 40]) {
            stream.update(block).unwrap();
            let _ = stream.model(); // an error while a feature has no value in any row
        }
        assert_eq!(*stream.model().unwrap(), whole);
    }
}

#[test]
fn skipped_rows_are_not_there() {
    let (_, holes) = damaged(3, 300, 6);
    let complete: Vec<usize> = (0..300).filter(|&i| holes.row(i).iter().all(|x| !x.is_nan())).collect();
    let truth = oracle(holes.select(Axis(0), &complete).view());
    for options in engines() {
        let model = options.missing(Missing::Skip).fit(holes.view()).unwrap();
        let far = distance(&model, &truth);
        assert!(far.worst() <= allowed(300, 6), "{far:?}");
        assert_eq!(model.imputed(), 0);
    }
}

#[test]
fn without_a_policy_a_missing_cell_is_refused_by_name() {
    let rows = array![[1.0, 2.0], [3.0, f64::NAN]];
    let error = FitOptions::new().fit(rows.view()).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 1, column: 1, .. }));
}

#[test]
fn an_infinite_cell_is_refused_by_every_policy() {
    let rows = array![[f64::NAN, 2.0, f64::INFINITY], [3.0, 1.0, 0.0]];
    for missing in [Missing::Skip, Missing::Impute] {
        let error = FitOptions::new().missing(missing).fit(rows.view()).unwrap_err();
        assert!(matches!(error, Error::NonFinite { row: 0, column: 2, .. }), "{error:?}");
    }
}

#[test]
fn a_row_without_any_cell_is_left_out_and_a_feature_without_any_is_refused() {
    let nan = f64::NAN;
    let rows = array![[nan, nan, nan], [1.0, nan, 3.0], [2.0, nan, 1.0], [0.0, nan, 2.0]];
    let options = FitOptions::new().components(1).missing(Missing::Impute);
    let error = options.fit(rows.view()).unwrap_err();
    assert!(matches!(error, eigenspace::Error::NeverObserved { column: 1, rows: 3 }), "{error}");
    let mut rows = rows;
    rows[[3, 1]] = 5.0;
    let model = options.fit(rows.view()).unwrap();
    assert_eq!((model.count(), model.imputed(), model.mean()[1]), (3, 2, 5.0));
    let weighted = Block::from(&rows).weighted(&[1.0, 2.0, 0.0, 1.0]);
    assert_eq!(FitOptions::new().missing(Missing::Impute).fit(weighted).unwrap().count(), 2);
}

#[test]
fn the_count_of_filled_cells_goes_with_merge_split_and_file() {
    let (_, holes) = damaged(4, 60, 5);
    let options = FitOptions::new().components(2).missing(Missing::Impute);
    let [a, b] = [0..30, 30..60].map(|range| options.fit(holes.slice_axis(Axis(0), range.into())).unwrap());
    let both = a.merge(&b, eigenspace::Truncation::None).unwrap();
    assert_eq!(both.imputed(), a.imputed() + b.imputed());
    assert_eq!(both.split(&b).unwrap().imputed(), a.imputed());
    assert_eq!(EigenspaceModel::from_bytes(&both.to_bytes()).unwrap().imputed(), both.imputed());
}

#[test]
fn a_feature_that_is_missing_in_a_whole_block_keeps_the_mean_known_before() {
    let same = Array2::from_shape_fn((512, 3), |(_, j)| 1000.0 + j as f64);
    let mut later = same.slice_axis(Axis(0), (..10).into()).to_owned();
    later.column_mut(2).fill(f64::NAN);
    for engine in [Engine::Factor, Engine::Scatter] {
        let options = FitOptions::new().missing(Missing::Impute).engine(engine);
        let mut stream = options.resume(&EigenspaceModel::fit(same.view()).unwrap()).unwrap();
        stream.update(later.view()).unwrap();
        let model = stream.model().unwrap();
        assert_eq!((model.mean()[2], model.feature_scatter()[2]), (1002.0, 0.0), "{engine:?}");
    }
}
