//! Evaluation of recognizers on images that they were not trained on.

use eigenspace::faces::{self, FaceOptions, Faces, Protocol, Rate, Split};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::compute::compute;
use crate::memory::decomposition;
use crate::recognizer::Settings;
use crate::rows::{checked, matrix};

/// Number of ranks reported, as by the command.
const RANKS: usize = 5;

/// Count, number of tests, share, and the ends of its 95 % confidence interval.
type Share = (usize, usize, f64, f64, f64);

/// The result of one setting.
#[derive(IntoPyObject)]
pub(crate) struct Evaluation {
    accuracy: f64,
    deviation: f64,
    tested: usize,
    correct: usize,
    ranks: Vec<f64>,
    confusions: Vec<(String, String, usize)>,
    /// The images that were not recognized: index, and the person recognized instead.
    mistakes: Vec<(usize, String)>,
    /// With strangers: shares of false accepts, false rejects, identified and misidentified.
    open: Option<[Share; 4]>,
    /// With people who arrive one by one: people, enrolled, tested, correct, rank, differing,
    /// difference.
    steps: Option<Vec<ArrivalStep>>,
}

/// People, enrolled, tested, correct, rank, differing, difference.
type ArrivalStep = (usize, usize, usize, usize, usize, usize, f64);

/// Evaluate settings by a protocol.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "one for each argument in Python")]
pub(crate) fn evaluate_faces(
    py: Python<'_>,
    rows: &Bound<'_, PyArray2<f64>>,
    people: Vec<String>,
    images: Vec<String>,
    protocol: &str,
    settings: Vec<Bound<'_, PyAny>>,
    repeats: usize,
    seed: u64,
) -> PyResult<Vec<Evaluation>> {
    let protocol: Protocol = checked(py, protocol.parse())?;
    let options = settings.iter().map(|one| Settings::of(one)?.options(py)).collect::<PyResult<Vec<FaceOptions>>>()?;
    let rows = matrix(rows)?;
    let rows = rows.as_array();
    let splits = checked(py, protocol.splits(&people, repeats, seed))?;
    let cells = decomposition(rows.nrows(), rows.ncols()).saturating_mul(2);
    let faces = Faces::new(rows, &people, &images);
    compute(py, cells, || match protocol {
        Protocol::Incremental(_) => options.iter().map(|options| one_by_one(faces, &splits[0], options)).collect(),
        _ => by_splits(faces, &people, protocol, &splits, &options, seed),
    })
}

fn by_splits(
    faces: Faces<'_>,
    people: &[String],
    protocol: Protocol,
    splits: &[Split],
    options: &[FaceOptions],
    seed: u64,
) -> Result<Vec<Evaluation>, faces::Error> {
    // Every split of leave-one-out tests one image, which is too little to evaluate thresholds.
    let strangers = match protocol {
        Protocol::LeaveOneOut => Vec::new(),
        _ => faces::with_strangers(splits, people, seed),
    };
    let closed = faces::evaluate(faces, splits, options, &|| {})?;
    let open = faces::evaluate_open(faces, &strangers, options, &|| {})?;
    let one = |(closed, open): (faces::Evaluation, faces::OpenEvaluation)| {
        let summary = closed.summary(people, RANKS);
        let outcomes = closed.trials.iter().flat_map(|trial| &trial.outcomes);
        let mistake = |outcome: &faces::Outcome| {
            let found = outcome.ranking.first()?;
            (*found != people[outcome.image]).then(|| (outcome.image, found.clone()))
        };
        let mistakes = outcomes.filter_map(mistake).collect();
        let rates = (!open.trials.is_empty()).then(|| open.rates(people));
        Evaluation {
            accuracy: summary.accuracy,
            deviation: summary.deviation,
            tested: summary.tested,
            correct: summary.correct,
            ranks: summary.ranks,
            confusions: summary.confusions,
            mistakes,
            open: rates.map(|all| [all.false_accepts, all.false_rejects, all.identified, all.misidentified].map(share)),
            steps: None,
        }
    };
    Ok(closed.into_iter().zip(open).map(one).collect())
}

fn one_by_one(faces: Faces<'_>, split: &Split, options: &FaceOptions) -> Result<Evaluation, faces::Error> {
    let steps = faces::incremental(faces, split, options, &|| {})?;
    let (tested, correct) = steps.last().map_or((0, 0), |last| (last.tested, last.correct));
    let values = |s: &faces::Step| (s.people, s.enrolled, s.tested, s.correct, s.rank, s.differing, s.difference);
    Ok(Evaluation {
        accuracy: correct as f64 / (tested as f64).max(1.0),
        deviation: 0.0,
        tested,
        correct,
        ranks: Vec::new(),
        confusions: Vec::new(),
        mistakes: Vec::new(),
        open: None,
        steps: Some(steps.iter().map(values).collect()),
    })
}

fn share(rate: Rate) -> Share {
    (rate.count, rate.tested, rate.share(), rate.low, rate.high)
}
