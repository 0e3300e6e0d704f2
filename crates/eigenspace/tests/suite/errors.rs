//! Invalid input: the exact message and hint, and no partial changes.

#[cfg(feature = "faces")]
use eigenspace::io::source::{Needed, SourceError};
use eigenspace::{
    Block, Components, EigenspaceModel, Engine, Error, FitOptions, Metadata, Rank, SparseRows, Truncation,
};
#[cfg(feature = "faces")]
use eigenspace::{faces, io};
use ndarray::{Array2, array};

fn words<T: std::fmt::Debug>(result: Result<T, Error>) -> (String, Option<String>) {
    let error = result.unwrap_err();
    (error.to_string(), error.hint())
}

fn model() -> EigenspaceModel {
    EigenspaceModel::fit(array![[1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]].view()).unwrap()
}

#[test]
fn a_bad_cell_is_named_everywhere_rows_come_in() {
    for (value, shown) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let rows = array![[1.0, 2.0, 3.0], [4.0, value, 6.0]];
        let wanted = format!("row 1, column 1: the value is {shown}, expected a finite number");
        let m = model();
        let outcomes = [
            words(EigenspaceModel::fit(rows.view())),
            words(m.update(rows.view(), Truncation::None)),
            words(m.remove(rows.view())),
            words(m.replace(rows.view(), rows.view(), Truncation::None)),
            words(m.project(rows.view())),
            words(m.whiten(rows.view())),
            words(m.squared_distance(rows.view())),
            words(m.hotelling(rows.view())),
            words(m.reconstruct(rows.view())),
            words(m.covariance_times(rows.view())),
            words(FitOptions::new().fit(rows.view())),
            words(FitOptions::new().fit(rows.mapv(|x| x as f32).view())),
        ];
        for (text, hint) in outcomes {
            assert_eq!(text, wanted);
            let more =
                if value.is_nan() { "; a fit can also skip rows with missing cells, or impute them" } else { "" };
            assert_eq!(hint.unwrap(), format!("drop row 1, leave out column 1, or replace the value{more}"));
        }
        let row = rows.row(1);
        assert!(words(m.update_row(row, Truncation::None)).0.starts_with("row 0, column 1"));
        assert!(words(m.variance_along(row, 1.0)).0.starts_with("row 0, column 1"));
    }
}

#[test]
fn a_value_whose_square_would_overflow_is_refused() {
    let rows = array![[1e200, 0.0], [0.0, 1.0]];
    let (text, hint) = words(EigenspaceModel::fit(rows.view()));
    assert_eq!(text, "row 0, column 0: the value 1e200 is too large; the limit is 1e140");
    assert!(hint.unwrap().starts_with("divide column 0"));
    let large = array![[1e140, 0.0], [-1e140, 1.0], [0.0, 2.0]];
    let fitted = EigenspaceModel::fit(large.view()).unwrap();
    assert!(fitted.all_singular_values()[0].is_finite() && fitted.feature_scatter()[0].is_finite());
}

#[test]
fn a_wrong_width_names_both_widths() {
    let rows = Array2::<f64>::zeros((2, 5));
    let m = model();
    for (text, hint) in [
        words(m.update(rows.view(), Truncation::None)),
        words(m.update_row(rows.row(0), Truncation::None)),
        words(m.remove(rows.view())),
        words(m.project(rows.view())),
        words(m.squared_distance(rows.view())),
        words(m.variance_along(rows.row(0), 1.0)),
        words(m.covariance_times(rows.view())),
        words(FitOptions::new().stream(3).unwrap().update(rows.view())),
    ] {
        assert_eq!(text, "the rows have 5 columns, but the model has 3 features");
        assert_eq!(hint.unwrap(), "pass rows with exactly 3 columns, in the order used for fitting");
    }
    let (text, _) = words(m.reconstruct(rows.view()));
    assert_eq!(text, "the scores have 5 columns, but the model keeps 3 directions");
    assert!(m.reconstruct_whitened(rows.view()).is_err());
}

#[test]
fn one_of_something_is_in_the_singular() {
    let one = EigenspaceModel::fit(array![[1.0], [2.0], [4.0]].view()).unwrap();
    let (text, hint) = words(one.project(array![[1.0, 2.0]].view()));
    assert_eq!(text, "the rows have 2 columns, but the model has 1 feature");
    assert_eq!(hint.unwrap(), "pass rows with exactly 1 column");
    let (text, hint) = words(one.reconstruct(array![[1.0, 2.0]].view()));
    assert_eq!(text, "the scores have 2 columns, but the model keeps 1 direction");
    assert_eq!(hint.unwrap(), "pass at most 1 score per row");
    let (text, hint) = words(SparseRows::new(1, &[0, 1], &[1], &[2.0]));
    assert_eq!(text, "row 0: column 1 is out of range; the rows have 1 column");
    assert_eq!(hint.unwrap(), "use only the column index 0");
    let (text, _) = words(SparseRows::new(1, &[0], &[0], &[2.0]));
    assert_eq!(text, "invalid sparse rows: the 1 offset cannot divide 1 index and 1 value into rows");
    let names =
        |names: &[&str]| Metadata::new().with_feature_names(names.iter().map(ToString::to_string).collect::<Vec<_>>());
    let (text, hint) = words(one.with_metadata(names(&["a", "b"])));
    assert_eq!(text, "found 2 feature names, expected 1: one for each feature");
    assert_eq!(hint.unwrap(), "pass 1 name, or none");
    assert_eq!(words(model().with_metadata(names(&["a"]))).0, "found 1 feature name, expected 3: one for each feature");
    let rows = array![[1.0], [2.0]];
    assert_eq!(words(EigenspaceModel::fit(Block::from(&rows).weighted(&[1.0]))).0, "cannot use 1 weight for 2 rows");
    let (cells, rank) = (Error::RefineImputed { cells: 1 }, Error::Singular { rank: 1, features: 5 });
    assert_eq!(cells.to_string(), "cannot refine the model: 1 missing cell of its rows was filled with an estimate");
    assert_eq!(rank.to_string(), "cannot invert the covariance: only 1 of 5 directions has any variance");
    let (text, _) = words(EigenspaceModel::fit(array![[1.0]].view()).and_then(|model| model.explained_variance(1.0)));
    assert_eq!(text, "cannot compute variances with ddof = 1: the divisor is too small (1 row, total weight 1)");
}

#[test]
fn bytes_are_counted_in_groups_of_three_digits() {
    let budget = Error::MemoryBudget { action: "read the stream", needed: 1_234_567, allowed: 1000 };
    let text = "cannot read the stream within 1,000 bytes of memory: up to 1,234,567 bytes are needed";
    assert_eq!(budget.to_string(), text);
    let large = Error::MetadataTooLarge { bytes: 33_554_433, limit: 33_554_432 };
    assert_eq!(large.to_string(), "the metadata has 33,554,433 bytes; the limit is 33,554,432");
    let truncated = eigenspace::io::source::SourceError::Truncated { expected: 1128, found: 999 };
    assert_eq!(truncated.to_string(), "it has 999 bytes, but its header says 1,128");
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let m = model();
    for share in [0.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        assert!(matches!(m.with_components(share), Err(Error::InvalidShare { rule: false, .. })), "{share}");
        assert!(
            matches!(m.truncate(Truncation::Energy(share)), Err(Error::InvalidShare { rule: true, .. })),
            "{share}"
        );
        assert!(FitOptions::new().components(share).stream(3).is_err());
    }
    for tolerance in [-0.1, 1.0, f64::NAN] {
        assert!(matches!(m.truncate(Truncation::Tolerance(tolerance)), Err(Error::InvalidTolerance { .. })));
    }
    assert_eq!(words(m.with_components(0)).0, "invalid number of components 0: expected at least 1");
    for truncation in [Truncation::Rank(0), Truncation::FrequentDirections(0)] {
        assert_eq!(words(m.merge(&m, truncation)).0, "invalid rank 0: expected at least 1");
        assert_eq!(
            words(m.update(array![[0.0, 0.0, 0.0]].view(), truncation)).0,
            "invalid rank 0: expected at least 1"
        );
    }
    assert!(FitOptions::new().max_rank(0).stream(3).is_err());
    assert!(FitOptions::new().block_rows(0).stream(3).is_err());
    assert!(matches!(FitOptions::new().stream(0), Err(Error::NoFeatures)));
    assert!(matches!(EigenspaceModel::fit(Array2::<f64>::zeros((3, 0)).view()), Err(Error::NoFeatures)));
    assert!(matches!(m.variance_along(array![0.0, 0.0, 0.0].view(), 1.0), Err(Error::ZeroDirection)));
    assert!(matches!(EigenspaceModel::merge_all([], Truncation::None), Err(Error::NoModels)));
    assert!(EigenspaceModel::merge_all([&m], Truncation::Rank(0)).is_err());
    assert_eq!(EigenspaceModel::merge_all([&m], Truncation::Rank(1)).unwrap().rank(), 1);
    assert!(m.explained_variance(f64::NEG_INFINITY).is_err() && m.explained_variance(f64::NAN).is_err());
    let (text, hint) = words(FitOptions::new().engine(Engine::Scatter).stream(100_000));
    assert_eq!(text, "cannot keep a scatter matrix of 100000 x 100000: the limit is 32768 features");
    assert!(hint.unwrap().contains("factor engine"));
}

#[test]
fn enormous_settings_are_harmless() {
    let rows = array![[1.0, 2.0], [3.0, 1.0], [0.0, 5.0]];
    for options in [
        FitOptions::new().components(usize::MAX),
        FitOptions::new().max_rank(Rank::All).engine(Engine::Factor),
        FitOptions::new().max_rank(usize::MAX).engine(Engine::Factor),
        FitOptions::new().block_rows(usize::MAX).engine(Engine::Factor),
        FitOptions::new().block_rows(usize::MAX),
        FitOptions::new().truncation(Truncation::FrequentDirections(usize::MAX)).engine(Engine::Factor),
        FitOptions::new().components(Components::Number(usize::MAX)).engine(Engine::Factor),
    ] {
        assert_eq!(options.fit(rows.view()).unwrap().rank(), 2, "{options:?}");
        let mut resumed = options.resume(&EigenspaceModel::fit(rows.view()).unwrap()).unwrap();
        resumed.update(rows.view()).unwrap();
        resumed.merge(&EigenspaceModel::fit(rows.view()).unwrap()).unwrap();
        resumed.update(rows.view()).unwrap();
        assert_eq!(resumed.count(), 12);
    }
    for features in [usize::MAX, 1 << 61] {
        let _ = FitOptions::new().components(3).plan(features).unwrap();
    }
}

#[cfg(feature = "faces")]
#[test]
fn names_in_errors_cannot_give_orders_to_a_terminal() {
    let evil = "a\u{1b}[2J\u{9b}m\u{202e}\nb".to_owned();
    let shown = r"a\u001b[2J\u009bm\u202e\nb";
    let list = vec![evil.clone()];
    let sources = [
        SourceError::NoColumn { column: evil.clone(), available: list.clone() },
        SourceError::ColumnTwice { column: evil.clone() },
        SourceError::NoArray { key: evil.clone(), available: list.clone() },
        SourceError::NotANumber {
            line: 1,
            first: true,
            column: evil.clone(),
            text: evil.clone(),
            needed: Needed::No,
            others: list.clone(),
            all: false,
            delimiter: None,
        },
        SourceError::WeightText { line: 1, column: evil.clone(), text: evil.clone() },
        SourceError::CellTooLarge { line: 1, column: evil.clone(), text: evil.clone() },
        SourceError::ColumnMissing { column: evil.clone(), available: list.clone() },
        SourceError::ColumnType {
            column: evil.clone(),
            dtype: evil.clone(),
            needed: Needed::ByRequest,
            others: list.clone(),
            all: false,
        },
        SourceError::WeightType { column: evil.clone(), dtype: evil.clone() },
        SourceError::Malformed { format: "table", problem: evil.clone() },
        SourceError::ElementType { dtype: evil.clone() },
    ];
    let in_source = |source| io::Error::Source { path: (&evil).into(), source };
    let mut errors: Vec<faces::Error> = sources.into_iter().map(|source| in_source(source).into()).collect();
    errors.extend([
        evil.parse::<Truncation>().unwrap_err().into(),
        EigenspaceModel::load(&evil).unwrap_err().into(),
        faces::Error::UnknownPerson { person: evil.clone(), people: list },
        faces::Error::NameTaken { person: evil.clone(), image: evil.clone() },
    ]);
    for error in errors {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let texts = [Some(error.to_string()), cause, error.hint()];
        assert!(texts[0].as_ref().unwrap().contains(shown), "{texts:?}");
        assert!(texts.iter().flatten().all(|text| text.chars().all(eigenspace::internal::is_printable)), "{texts:?}");
    }
}
