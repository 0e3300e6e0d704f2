//! Cases with missing cells. If rows are left out, all claims are checked; if cells are filled,
//! only what must hold for any filling.
//!
//! Only the library knows the filled rows, so the claims about their scatter cannot be checked. But
//! the features of these rows are independent, so no estimate should leave the range of the
//! observed values.

use eigenspace::{EigenspaceModel, Engine, Error, FitOptions, Missing};
use ndarray::Array2;

use crate::chains::Outcome;
use crate::claims::{History, Violation, check};
use crate::elements::{Kind, with_block};
use crate::number::{Dd, Number};
use crate::oracle::{Rows, Truth};
use crate::random::Random;

/// Runs one case with missing cells, if the line that describes it holds these words.
pub(crate) fn run(outcome: &mut Outcome, only: &str) {
    let mut random = Random::new(outcome.seed);
    let (n, d) = (random.within(3..=120), random.within(2..=10));
    let offset = if random.one_in(2) { random.magnitude(0.0, 4.0) } else { 0.0 };
    let mut rows = Array2::from_shape_simple_fn((n, d), || offset + random.normal());
    let share = random.pick(&[3, 10, 50]);
    rows.mapv_inplace(|x| if random.one_in(share) { f64::NAN } else { x });
    // A feature that is first observed late.
    let late = random.one_in(3).then(|| (random.below(d), random.below(n)));
    if let Some((feature, first)) = late {
        (0..first).for_each(|i| rows[[i, feature]] = f64::NAN);
    }
    let kind = random.pick(&[Kind::F64, Kind::F32]);
    if kind == Kind::F32 {
        rows.mapv_inplace(|x| f64::from(x as f32));
    }
    let missing = random.pick(&[Missing::Skip, Missing::Impute]);
    let engine = random.pick(&[Engine::Auto, Engine::Factor]);
    let mut options = FitOptions::new().missing(missing).engine(engine).block_rows(random.within(1..=30));
    if random.one_in(2) {
        options = options.components(random.within(1..=d));
    }
    let step = format!("stream {n} rows, {options:?}");
    outcome.about = format!("Missing {missing:?} {kind:?} {n} x {d}, late {late:?}");
    outcome.group = format!("Missing/{missing:?}/{kind:?}");
    if !outcome.is_about(only) {
        return;
    }
    outcome.steps.push(step.clone());
    let mut fit = || -> Result<EigenspaceModel, Error> {
        let mut stream = options.stream(d)?;
        let mut start = 0;
        while start < n {
            let end = n.min(start + random.within(1..=40));
            let some = rows.slice_axis(ndarray::Axis(0), (start..end).into());
            with_block(kind, some, None, |block| stream.update(block))?;
            start = end;
        }
        Ok(EigenspaceModel::clone(&*stream.model()?))
    };
    let model = match fit() {
        Ok(model) => model,
        // A feature without an observation is refused, not quietly made up.
        Err(_) if missing == Missing::Impute && never_observed(&rows) => return,
        Err(error) => {
            let refused = Violation { claim: "no refusal", detail: error.to_string(), excess: 1.0 };
            outcome.violations.push((step, refused));
            return;
        }
    };
    outcome.checks = 1;
    let violations = if missing == Missing::Skip {
        let whole = (0..n).filter(|&i| rows.row(i).iter().all(|x| x.is_finite()));
        let members = Rows { members: whole.map(|i| (i, Dd::of(1.0))).collect(), about_origin: false };
        let truth = Truth::of(&rows, &members);
        check(&model, &truth, &truth.eigen(), &History::of(&truth)).0
    } else {
        filled(&model, &rows)
    };
    outcome.violations.extend(violations.into_iter().map(|violation| (step.clone(), violation)));
}

fn never_observed(rows: &Array2<f64>) -> bool {
    rows.columns().into_iter().any(|column| column.iter().all(|x| x.is_nan()))
}

/// What a model of filled rows must keep: counts, finite numbers, and the range of every feature.
fn filled(model: &EigenspaceModel, rows: &Array2<f64>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut that = |claim: &'static str, holds: bool, detail: String| {
        if !holds {
            violations.push(Violation { claim, detail, excess: 1.0 });
        }
    };
    let there = rows.rows().into_iter().filter(|row| row.iter().any(|x| x.is_finite()));
    let holes: usize = there.clone().map(|row| row.iter().filter(|x| x.is_nan()).count()).sum();
    that("count", model.count() == there.count() as u64, format!("{} rows", model.count()));
    that("count", model.imputed() == holes as u64, format!("{} of {holes} cells filled", model.imputed()));
    that("orthonormal", model.orthogonality_loss() <= 1e-12, format!("{:.1e}", model.orthogonality_loss()));
    for (j, column) in rows.columns().into_iter().enumerate() {
        let seen = column.iter().filter(|x| x.is_finite());
        let (low, high) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
        if low > high {
            continue;
        }
        // Two normal numbers may happen to be close together.
        let range = (high - low).max(2.0);
        let (mean, q) = (model.mean()[j], model.feature_scatter()[j]);
        that("filled", mean >= low - range && mean <= high + range, format!("mean {mean} of {low} to {high}"));
        let limit = model.weight() * (2.0 * range).powi(2);
        that("filled", q <= limit, format!("feature {j}: scatter {q:e} of {low} to {high}"));
    }
    violations
}
