//! A case: random rows, a model of them, and a chain of operations; each model is compared with the
//! truth.

use std::panic::{AssertUnwindSafe, catch_unwind};

use eigenspace::{EigenspaceModel, Error, Forgetting, Truncation};
use ndarray::Array1;

use crate::claims::{History, Tightness, Violation, check};
use crate::eigen::Eigen;
use crate::elements;
use crate::fits::{EXACT_ROWS, Fitted, Source, feed, fit, options, truncation};
use crate::generators::{Data, Family, Twist, WIDE, generate};
use crate::number::{Dd, Number};
use crate::oracle::{Rows, Truth};
use crate::random::Random;
use crate::{accumulators, missing, useful};

/// One in this number of cases has missing cells.
const MISSING_EVERY: u64 = 25;

/// Operations of a chain, by the numbers in [`Chain::step`].
const OPERATIONS: usize = 12;
/// Chains that random ones seldom are: parts and rows that leave a model after it was cut.
const SCRIPTS: [&[usize]; 6] = [&[2, 8, 5], &[8, 2, 5], &[8, 7, 7], &[2, 4, 8, 5, 7], &[9, 2, 5, 0], &[2, 8, 7, 10]];

/// The result of a case.
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) about: String,
    pub(crate) group: String,
    pub(crate) steps: Vec<String>,
    pub(crate) violations: Vec<(String, Violation)>,
    pub(crate) tightness: Vec<(String, Tightness)>,
    pub(crate) checks: usize,
}

impl Outcome {
    pub(crate) fn new(seed: u64, about: String, group: &str) -> Self {
        let (steps, violations, tightness) = (Vec::new(), Vec::new(), Vec::new());
        Self { seed, about, group: group.to_owned(), steps, violations, tightness, checks: 0 }
    }

    /// Whether the line that describes the case holds all of these words.
    pub(crate) fn is_about(&self, words: &str) -> bool {
        words.split_whitespace().all(|word| self.about.contains(word))
    }
}

/// A model in the chain.
#[derive(Clone)]
struct Item {
    model: EigenspaceModel,
    rows: Rows,
    history: History,
    lossless: bool,
    aged: bool,
}

struct Chain<'a> {
    random: Random,
    source: Source,
    family: Family,
    twist: Twist,
    /// The first row that has not been used.
    next: usize,
    outcome: &'a mut Outcome,
}

/// Why a chain ends early.
struct Refused;

/// Runs one case, if the line that describes it holds these words.
pub(crate) fn run(seed: u64, only: &str) -> Outcome {
    let mut outcome = Outcome::new(seed, String::new(), "Panic");
    let ended = catch_unwind(AssertUnwindSafe(|| {
        if seed % MISSING_EVERY == MISSING_EVERY - 1 {
            missing::run(&mut outcome, only);
        } else {
            begin(&mut outcome, only);
        }
    }));
    if let Err(cause) = ended {
        let text = cause.downcast_ref::<String>().cloned();
        let detail = text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
        let step = outcome.steps.last().cloned().unwrap_or_default();
        outcome.violations.push((step, Violation { claim: "no panic", detail, excess: 1.0 }));
    }
    outcome
}

/// Makes the rows of a case and starts its chain.
fn begin(outcome: &mut Outcome, only: &str) {
    let mut random = Random::new(outcome.seed);
    let Data { family, twist, mut rows } = generate(&mut random);
    let kind = elements::choose(&mut random, &mut rows);
    let weights = weights(&mut random, rows.nrows());
    let about_origin = random.one_in(30);
    outcome.about = format!(
        "{family:?} {twist:?} {kind:?} {} x {}{}{}{}{}",
        rows.nrows(),
        rows.ncols(),
        if rows.ncols() > WIDE { ", wide" } else { "" },
        if rows.nrows() > EXACT_ROWS { ", long" } else { "" },
        if weights.is_some() { ", weighted" } else { "" },
        if about_origin { ", about the origin" } else { "" }
    );
    outcome.group = format!("{family:?}/{twist:?}/{kind:?}");
    if outcome.is_about(only) {
        let source = Source { rows, kind, weights, about_origin };
        let mut chain = Chain { random, source, family, twist, next: 0, outcome };
        chain.go();
        chain.accumulate();
    }
}

/// Weights of several kinds, for one case in five.
fn weights(random: &mut Random, rows: usize) -> Option<Vec<f64>> {
    if !random.one_in(5) {
        return None;
    }
    let style = random.below(5);
    let mut weights: Vec<f64> = (0..rows)
        .map(|_| match style {
            0 => random.within(1..=3) as f64,
            1 => random.uniform() + 0.01,
            2 => random.magnitude(-3.0, 3.0),
            3 => random.pick(&[0.0, 1.0, 1.0, 2.0]),
            _ => 1.0 / rows as f64,
        })
        .collect();
    // At least one row takes part.
    weights[0] = weights[0].max(0.001);
    Some(weights)
}

impl Chain<'_> {
    fn go(&mut self) {
        let total = self.source.rows.nrows();
        let (wide, long) = (self.source.rows.ncols() > WIDE, total > EXACT_ROWS);
        let length = if wide || long && !self.random.one_in(4) || self.random.one_in(3) {
            total
        } else {
            self.random.within(1..=total)
        };
        let first = self.take(length);
        let Ok(mut whole) = self.fitted(&first) else { return };
        let mut parts: Vec<Item> = Vec::new();
        self.hold(&whole);
        // Wide rows take as long to check as all the others, so their chains are short.
        let steps = if wide { 2 } else { 5 };
        let script: Vec<usize> = if !wide && self.random.one_in(6) {
            self.random.pick(&SCRIPTS).to_vec()
        } else {
            (0..self.random.below(steps)).map(|_| self.random.below(OPERATIONS)).collect()
        };
        for operation in script {
            if self.step(&mut whole, &mut parts, operation).is_err() {
                return;
            }
        }
    }

    /// Compares the model of all rows by accumulators with the truth, in some cases.
    fn accumulate(&mut self) {
        let wide = self.source.rows.ncols() > WIDE;
        let Some(mut random) = accumulators::chosen(self.outcome.seed, wide) else { return };
        let all: Vec<usize> = (0..self.source.rows.nrows()).collect();
        let fitted = accumulators::accumulate(&mut random, &self.source, &all);
        self.random = random;
        if let Ok(item) = self.item(fitted) {
            self.hold(&item);
        }
    }

    /// The next rows that no model has yet.
    fn take(&mut self, rows: usize) -> Vec<usize> {
        let end = self.source.rows.nrows().min(self.next + rows);
        let which = (self.next..end).collect();
        self.next = end;
        which
    }

    fn fitted(&mut self, which: &[usize]) -> Result<Item, Refused> {
        let fitted = fit(&mut self.random, &self.source, which);
        self.item(fitted)
    }

    /// A fitted model with the truth about its rows.
    fn item(&mut self, fitted: Result<Fitted, (String, Error)>) -> Result<Item, Refused> {
        match fitted {
            Ok(Fitted { model, rows, lossless, aged, how }) => {
                self.outcome.steps.push(how);
                let history = History::of(&Truth::of(&self.source.rows, &rows));
                Ok(Item { model, rows, history, lossless, aged })
            }
            Err((how, error)) => {
                self.outcome.steps.push(how);
                self.refused(&error)
            }
        }
    }

    fn refused<T>(&mut self, error: &Error) -> Result<T, Refused> {
        let claim = if matches!(error, Error::NotAPart { .. }) { "rightful part" } else { "no refusal" };
        self.report(Violation { claim, detail: error.to_string(), excess: 1.0 });
        Err(Refused)
    }

    fn report(&mut self, violation: Violation) {
        let step = self.outcome.steps.last().cloned().unwrap_or_default();
        self.outcome.violations.push((step, violation));
    }

    /// Compares a model with the truth, and sometimes a view of it.
    fn hold(&mut self, item: &Item) {
        let truth = Truth::of(&self.source.rows, &item.rows);
        let eigen = self.compare(&item.model, &truth, &item.history, "");
        for violation in useful::raw(&item.model, &truth, &eigen.values, item.lossless, self.family, self.twist) {
            self.report(violation);
        }
        let views = match self.twist {
            _ if self.source.rows.ncols() > WIDE => 8,
            Twist::ColumnScales => 1,
            _ => 3,
        };
        if item.model.is_empty() || !self.random.one_in(views) {
            return;
        }
        let standard = self.random.one_in(2);
        let scales = Array1::from_shape_simple_fn(truth.features, || self.random.magnitude(-3.0, 3.0));
        let view = if standard { item.model.standardize() } else { item.model.scale_by(scales.view()) };
        match view {
            Ok(view) => {
                let given = || scales.iter().map(|x| Dd::of(*x)).collect();
                let Some(scales) = (if standard { truth.standard_scales() } else { Some(given()) }) else {
                    return;
                };
                // The mean of standardized rows is as good as the scales, and those are checked by
                // the scatter.
                let (seen, mean) = (truth.scaled(&scales), if standard { f64::INFINITY } else { 4.0 * f64::EPSILON });
                let history = item.history.scaled(&scales, mean);
                let name = if standard { ", standardized" } else { ", scaled" };
                self.compare(view.model(), &seen, &history, name);
                if standard {
                    for violation in useful::standardized(view.model(), item.lossless, self.family, self.twist) {
                        self.outcome.violations.push((format!("{}{name}", self.last()), violation));
                    }
                }
            }
            Err(error) => drop(self.refused::<()>(&error)),
        }
    }

    fn last(&self) -> String {
        self.outcome.steps.last().cloned().unwrap_or_default()
    }

    fn compare(&mut self, model: &EigenspaceModel, truth: &Truth, history: &History, view: &str) -> Eigen {
        let eigen = truth.eigen();
        let (violations, tightness) = check(model, truth, &eigen, history);
        let step = format!("{}{view}", self.last());
        self.outcome.violations.extend(violations.into_iter().map(|violation| (step.clone(), violation)));
        let group = format!("{:?}{view}", self.family);
        self.outcome.tightness.extend(tightness.map(|tightness| (group, tightness)));
        self.outcome.checks += 1;
        eigen
    }

    /// One operation on the whole.
    fn step(&mut self, whole: &mut Item, parts: &mut Vec<Item>, operation: usize) -> Result<(), Refused> {
        let left = self.source.rows.nrows() - self.next;
        let features = self.source.rows.ncols();
        let rule = truncation(&mut self.random, features);
        let lossless = rule == Truncation::None;
        let some = self.random.within(1..=left.max(1)).min(self.random.within(1..=left.max(1)));
        let which = |chain: &mut Self| chain.take(some);
        let (how, model) = match operation {
            0 if left > 0 => {
                let which = which(self);
                whole.rows = whole.rows.and(&self.source.members(&which));
                let model = self.source.with(&which, |block| whole.model.update(block, rule));
                (format!("update {} rows, {rule:?}", which.len()), model)
            }
            1 if left > 0 && self.source.weights.is_none() => {
                let which = self.take(1);
                whole.rows = whole.rows.and(&self.source.members(&which));
                let row = self.source.rows.row(which[0]);
                (format!("update_row, {rule:?}"), whole.model.update_row(row, rule))
            }
            2..4 if left > 0 => {
                let which = which(self);
                let part = self.fitted(&which)?;
                self.hold(&part);
                whole.join(&part);
                let model = whole.model.merge(&part.model, rule);
                parts.push(part);
                (format!("merge that, {rule:?}"), model)
            }
            4 if left > 1 => {
                let count = self.random.pick(&[2, 3, 5, 20]);
                let mut models = vec![whole.model.clone()];
                for _ in 0..count {
                    let which = self.take(some.div_ceil(count));
                    if !which.is_empty() {
                        let part = self.fitted(&which)?;
                        whole.join(&part);
                        models.push(part.model.clone());
                        parts.push(part);
                    }
                }
                (format!("merge_all {} models, {rule:?}", models.len()), EigenspaceModel::merge_all(&models, rule))
            }
            5..7 if !parts.is_empty() => {
                let part = parts.swap_remove(self.random.below(parts.len()));
                whole.rows = whole.rows.without(&part.rows);
                whole.lossless = false;
                (format!("split out a part of {} rows", part.rows.members.len()), whole.model.split(&part.model))
            }
            7 if !whole.aged && !self.source.about_origin && !whole.rows.members.is_empty() => {
                let (leaving, old) = self.leaving(whole, parts);
                whole.lossless = false;
                let model = if left > 0 && self.random.one_in(2) {
                    let which = which(self);
                    let new = self.source.members(&which);
                    whole.rows = whole.rows.and(&new).without(&leaving);
                    let before = Truth::of(&self.source.rows, &whole.rows.and(&leaving));
                    whole.history = whole.history.and(&History::of(&before));
                    self.source.with(&old, |old| self.source.with(&which, |new| whole.model.replace(old, new, rule)))
                } else {
                    whole.rows = whole.rows.without(&leaving);
                    self.source.with(&old, |block| whole.model.remove(block))
                };
                (format!("remove or replace {} rows, {rule:?}", old.len()), model)
            }
            8 => (format!("truncate, {rule:?}"), whole.model.truncate(rule)),
            9 => {
                let factor = self.random.pick(&[0.1, 0.5, 0.9, 1.0]);
                whole.rows.weigh_less(Dd::of(factor));
                whole.aged = true;
                parts.clear();
                (format!("forget {factor}"), whole.model.forget(factor))
            }
            10 if left > 0 => return self.resume(whole, parts, some),
            _ => (
                "bytes and back".to_owned(),
                Ok(EigenspaceModel::from_bytes(&whole.model.to_bytes()).expect("what was just written")),
            ),
        };
        whole.lossless &= lossless;
        self.outcome.steps.push(how);
        match model {
            Ok(model) => whole.model = model,
            Err(error) => return self.refused(&error),
        }
        whole.history = whole.history.and(&History::of(&Truth::of(&self.source.rows, &whole.rows)));
        self.hold(whole);
        Ok(())
    }

    /// Some rows of the whole that leave it, and every part that has one of them.
    fn leaving(&mut self, whole: &Item, parts: &mut Vec<Item>) -> (Rows, Vec<usize>) {
        let members = &whole.rows.members;
        let start = self.random.below(members.len());
        let length = if self.random.one_in(2) { self.random.within(1..=4) } else { members.len() };
        let length = self.random.within(1..=length).min(members.len() - start);
        let old: Vec<usize> = members[start..start + length].iter().map(|(row, _)| *row).collect();
        parts.retain(|part| part.rows.members.iter().all(|(row, _)| !old.contains(row)));
        (self.source.members(&old), old)
    }

    /// A stream that goes on from the whole.
    fn resume(&mut self, whole: &mut Item, parts: &mut Vec<Item>, some: usize) -> Result<(), Refused> {
        let which = self.take(some);
        let (options, forgetting, lossless) = options(&mut self.random, &self.source);
        self.outcome.steps.push(format!("resume a stream with {} rows, {options:?}", which.len()));
        let result = (|| {
            let mut stream = options.resume(&whole.model)?;
            let (rows, faded) = feed(&mut self.random, &self.source, &mut stream, forgetting, &which)?;
            Ok((EigenspaceModel::clone(&*stream.model()?), rows, faded))
        })();
        match result {
            Ok((model, rows, faded)) => {
                whole.rows.weigh_less(faded);
                whole.rows = whole.rows.and(&rows);
                whole.model = model;
            }
            Err(error) => return self.refused(&error),
        }
        if forgetting != Forgetting::Never {
            whole.aged = true;
            parts.clear();
        }
        whole.lossless &= lossless;
        whole.history = whole.history.and(&History::of(&Truth::of(&self.source.rows, &whole.rows)));
        self.hold(whole);
        Ok(())
    }
}

impl Item {
    fn join(&mut self, part: &Self) {
        self.rows = self.rows.and(&part.rows);
        self.history = self.history.and(&part.history);
        self.lossless &= part.lossless;
        self.aged |= part.aged;
    }
}
