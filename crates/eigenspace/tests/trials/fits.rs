//! Ways to fit a model: streams with random blocks, batch PCA by every method, updates of the empty
//! model.

use eigenspace::{
    Components, EigenspaceModel, EigenspaceStream, Engine, Error, FitOptions, Forgetting, Method, Rank, Truncation,
};
use ndarray::{Array2, Axis};

use crate::elements::{Kind, with_block};
use crate::number::{Dd, Number};
use crate::oracle::Rows;
use crate::random::Random;

/// Rows that a stream holds before it computes anything, by default.
pub(crate) const EXACT_ROWS: usize = 512;

/// The rows of a case, as the library gets them.
pub(crate) struct Source {
    pub(crate) rows: Array2<f64>,
    pub(crate) kind: Kind,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) about_origin: bool,
}

impl Source {
    /// Hands some of the rows to a function.
    pub(crate) fn with<R>(&self, which: &[usize], then: impl FnOnce(eigenspace::Block<'_>) -> R) -> R {
        let rows = self.rows.select(Axis(0), which);
        let weights: Option<Vec<f64>> =
            self.weights.as_ref().map(|weights| which.iter().map(|&i| weights[i]).collect());
        with_block(self.kind, rows.view(), weights.as_deref(), then)
    }

    /// What those rows are in truth: those of weight zero are not there.
    pub(crate) fn members(&self, which: &[usize]) -> Rows {
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let members = which.iter().filter(|&&i| weight(i) > 0.0).map(|&i| (i, Dd::of(weight(i)))).collect();
        Rows { members, about_origin: self.about_origin }
    }
}

/// A model, the rows it stands for, and whether anything may have been dropped by order.
pub(crate) struct Fitted {
    pub(crate) model: EigenspaceModel,
    pub(crate) rows: Rows,
    pub(crate) lossless: bool,
    pub(crate) aged: bool,
    pub(crate) how: String,
}

/// Fits these rows in one way or another.
pub(crate) fn fit(random: &mut Random, source: &Source, which: &[usize]) -> Result<Fitted, (String, Error)> {
    match random.below(10) {
        0..2 if !source.about_origin => batch(random, source, which),
        2 if !source.about_origin && which.len() < 80 => updates(random, source, which),
        _ => stream(random, source, which),
    }
}

pub(crate) fn truncation(random: &mut Random, features: usize) -> Truncation {
    match random.below(8) {
        0 => Truncation::Rank(random.within(1..=features)),
        1 => Truncation::Energy(random.pick(&[0.5, 0.9, 0.99, 0.999_999, 1.0])),
        2 => Truncation::Tolerance(random.pick(&[0.0, 1e-12, 1e-6, 1e-3, 0.1])),
        3 => Truncation::FrequentDirections(random.within(1..=features)),
        _ => Truncation::None,
    }
}

fn batch(random: &mut Random, source: &Source, which: &[usize]) -> Result<Fitted, (String, Error)> {
    let method = random.pick(&[Method::Auto, Method::Svd, Method::Covariance, Method::Gram]);
    let truncation = truncation(random, source.rows.ncols());
    let how = format!("batch {} rows by {method:?}, {truncation:?}", which.len());
    let model = source.with(which, |block| EigenspaceModel::fit_with(block, method, truncation));
    let model = model.map_err(|error| (how.clone(), error))?;
    Ok(Fitted { model, rows: source.members(which), lossless: truncation == Truncation::None, aged: false, how })
}

fn updates(random: &mut Random, source: &Source, which: &[usize]) -> Result<Fitted, (String, Error)> {
    let features = source.rows.ncols();
    let (truncation, cut) = (truncation(random, features), random.within(1..=which.len()));
    let how = format!("update from nothing, {} rows in blocks of {cut}, {truncation:?}", which.len());
    let mut model = EigenspaceModel::empty(features);
    for some in which.chunks(cut) {
        model = source.with(some, |block| model.update(block, truncation)).map_err(|error| (how.clone(), error))?;
    }
    Ok(Fitted { model, rows: source.members(which), lossless: truncation == Truncation::None, aged: false, how })
}

/// Options of a stream, and whether they drop nothing.
pub(crate) fn options(random: &mut Random, source: &Source) -> (FitOptions, Forgetting, bool) {
    let features = source.rows.ncols();
    let mut options = FitOptions::new().centered(!source.about_origin);
    // What everybody uses, most often where it goes beyond its first block.
    if random.one_in(if source.rows.nrows() > EXACT_ROWS { 2 } else { 10 }) {
        return (options, Forgetting::Never, true);
    }
    let mut lossless = true;
    let engine = random.pick(&[Engine::Auto, Engine::Auto, Engine::Scatter, Engine::Factor]);
    options = options.engine(engine);
    if random.one_in(3) {
        let k = random.within(1..=features);
        options = options.components(k);
        // The factor keeps 2k + 32 directions by default.
        lossless &= engine != Engine::Factor || 2 * k + 32 >= features;
    } else if random.one_in(6) {
        options = options.components(Components::Share(random.pick(&[0.5, 0.9, 0.999])));
        lossless &= engine != Engine::Factor;
    }
    if engine == Engine::Factor && random.one_in(2) {
        let rank = if random.one_in(5) { Rank::All } else { random.within(1..=features).into() };
        options = options.max_rank(rank);
        lossless &= [Rank::All, Rank::AtMost(features)].contains(&rank);
    }
    if engine == Engine::Factor && random.one_in(3) {
        let rule = truncation(random, features);
        options = options.truncation(rule);
        lossless &= rule == Truncation::None;
    }
    if !random.one_in(3) {
        options = options.block_rows(random.within(1..=24));
    }
    let forgetting = match random.below(30) {
        0 => Forgetting::PerRow(random.pick(&[0.5, 0.9, 0.99, 0.999])),
        1 => Forgetting::PerBlock(random.pick(&[0.5, 0.9, 0.99])),
        2 => Forgetting::HalfLife(random.pick(&[1.0, 7.0, 100.0])),
        _ => Forgetting::Never,
    };
    (options.forgetting(forgetting), forgetting, lossless)
}

/// Feeds rows to a stream in random cuts; returns the weight that time leaves to each row that
/// takes part, and to whatever was in the stream before.
pub(crate) fn feed(
    random: &mut Random,
    source: &Source,
    stream: &mut EigenspaceStream,
    forgetting: Forgetting,
    which: &[usize],
) -> Result<(Rows, Dd), Error> {
    let longest = if random.one_in(2) { which.len() } else { random.within(1..=40) };
    let (mut rest, mut blocks) = (which, Vec::new());
    while !rest.is_empty() {
        let (some, later) = rest.split_at(random.within(1..=longest).min(rest.len()));
        source.with(some, |block| stream.update(block))?;
        blocks.push(source.members(some));
        rest = later;
        if random.one_in(20) {
            stream.model()?;
        }
        if random.one_in(20) {
            let options = stream.options().clone();
            *stream = EigenspaceStream::restore(&stream.checkpoint("note"), &options).expect("what was just written").0;
        }
    }
    let (mut rows, mut age) = (Vec::new(), 0_u64);
    let by_row = !matches!(forgetting, Forgetting::PerBlock(_));
    for block in blocks.iter().rev() {
        for (row, weight) in block.members.iter().rev() {
            rows.push((*row, *weight * faded(forgetting, age)));
            age += u64::from(by_row);
        }
        age += u64::from(!by_row && !block.members.is_empty());
    }
    rows.reverse();
    Ok((Rows { members: rows, about_origin: source.about_origin }, faded(forgetting, age)))
}

/// f^age, in double-double.
fn faded(forgetting: Forgetting, age: u64) -> Dd {
    match forgetting {
        Forgetting::Never => Dd::ONE,
        Forgetting::PerRow(factor) | Forgetting::PerBlock(factor) => Dd::of(factor).power(age),
        Forgetting::HalfLife(rows) => Dd::of(0.5).root(rows as u64).power(age),
        other => unreachable!("{other:?} is not among the options drawn"),
    }
}

fn stream(random: &mut Random, source: &Source, which: &[usize]) -> Result<Fitted, (String, Error)> {
    let (options, forgetting, lossless) = options(random, source);
    let how = format!("stream {} rows, {options:?}", which.len());
    let mut run = || {
        let mut stream = options.stream(source.rows.ncols())?;
        let (rows, _) = feed(random, source, &mut stream, forgetting, which)?;
        Ok((EigenspaceModel::clone(&*stream.model()?), rows))
    };
    let (model, rows) = run().map_err(|error| (how.clone(), error))?;
    Ok(Fitted { model, rows, lossless, aged: forgetting != Forgetting::Never, how })
}
