//! Runs many cases on all cores, and prints the results.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::chains::{self, Outcome};
use crate::claims::Tightness;

/// Above this share of the largest eigenvalue a violation is more than rounding.
const GROSS: f64 = 1e-12;
/// Seeds listed for each claim and group.
const LISTED: usize = 6;
/// Cases with violations that are told in a line each.
const SHORT_LINES: usize = 1000;

/// Violations of one claim.
#[derive(Default)]
struct Tally {
    cases: usize,
    gross: usize,
    worst: f64,
    worst_seed: u64,
    seeds: Vec<u64>,
    groups: BTreeMap<String, usize>,
}

/// Cases of one family, twist or element type.
#[derive(Default)]
struct Kind {
    cases: usize,
    failed: usize,
    /// How many cases violate a claim by more than rounding.
    gross: BTreeMap<&'static str, usize>,
}

/// The results of all cases.
#[derive(Default)]
pub(crate) struct Summary {
    cases: u64,
    kinds: BTreeMap<String, Kind>,
    checks: usize,
    failed: usize,
    tallies: BTreeMap<&'static str, Tally>,
    tightness: BTreeMap<String, Vec<Tightness>>,
}

impl Summary {
    pub(crate) fn violations(&self) -> usize {
        self.failed
    }

    fn add(&mut self, outcome: Outcome) {
        self.cases += 1;
        self.checks += outcome.checks;
        self.failed += usize::from(!outcome.violations.is_empty());
        let mut worst: BTreeMap<&'static str, f64> = BTreeMap::new();
        for (_, violation) in &outcome.violations {
            let entry = worst.entry(violation.claim).or_default();
            *entry = entry.max(if violation.excess.is_nan() { f64::INFINITY } else { violation.excess });
        }
        for name in outcome.group.split('/') {
            let kind = self.kinds.entry(name.to_owned()).or_default();
            kind.cases += 1;
            kind.failed += usize::from(!worst.is_empty());
            for (claim, _) in worst.iter().filter(|(_, excess)| **excess > GROSS) {
                *kind.gross.entry(claim).or_default() += 1;
            }
        }
        for (claim, excess) in worst {
            let tally = self.tallies.entry(claim).or_default();
            tally.cases += 1;
            tally.gross += usize::from(excess > GROSS);
            if excess > tally.worst {
                (tally.worst, tally.worst_seed) = (excess, outcome.seed);
            }
            if excess > GROSS && tally.seeds.len() < LISTED {
                tally.seeds.push(outcome.seed);
            }
            *tally.groups.entry(outcome.group.clone()).or_default() += 1;
        }
        for (group, tightness) in outcome.tightness {
            self.tightness.entry(group).or_default().push(tightness);
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cases, {} models checked, {} cases with violations", self.cases, self.checks, self.failed)?;
        writeln!(f, "\n| claim | cases | above {GROSS:e} | worst | worst seed | seeds | most often in |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for (claim, tally) in &self.tallies {
            let mut groups: Vec<_> = tally.groups.iter().collect();
            groups.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let groups: Vec<String> = groups.iter().take(3).map(|(name, count)| format!("{name} {count}")).collect();
            let Tally { cases, gross, worst, worst_seed, seeds, .. } = tally;
            writeln!(
                f,
                "| {claim} | {cases} | {gross} | {worst:.1e} | {worst_seed} | {seeds:?} | {} |",
                groups.join(", ")
            )?;
        }
        writeln!(f, "\n| kind of case | cases | with violations | violations above {GROSS:e} |")?;
        writeln!(f, "|---|---|---|---|")?;
        for (name, Kind { cases, failed, gross }) in &self.kinds {
            let gross: Vec<String> = gross.iter().map(|(claim, count)| format!("{claim} {count}")).collect();
            writeln!(f, "| {name} | {cases} | {failed} | {} |", gross.join(", "))?;
        }
        writeln!(f, "\n| family | with loss | median bound/error | 95 % | exact | median bound/λ₁ | 95 % |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for (group, all) in &self.tightness {
            // A model that lost something above rounding.
            let mut lossy: Vec<f64> =
                all.iter().filter(|t| !t.exact && t.error > 1e-9).map(|t| t.bound / t.error).collect();
            let mut exact: Vec<f64> = all.iter().filter(|t| t.exact).map(|t| t.bound).collect();
            let (lost, kept) = (lossy.len(), exact.len());
            let lossy = (quantile(&mut lossy, 0.5), quantile(&mut lossy, 0.95));
            let exact = (quantile(&mut exact, 0.5), quantile(&mut exact, 0.95));
            writeln!(
                f,
                "| {group} | {lost} | {:.2} | {:.2} | {kept} | {:.1e} | {:.1e} |",
                lossy.0, lossy.1, exact.0, exact.1
            )?;
        }
        Ok(())
    }
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (share * values.len() as f64) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// Runs cases on all cores.
pub(crate) fn run(first: u64, cases: u64, only: &str, progress: bool) -> Summary {
    let (next, summary, start) = (AtomicU64::new(first), Mutex::new(Summary::default()), Instant::now());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Cases are small: one thread each, and no thread waits for another.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
                pool.install(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= first + cases {
                            return;
                        }
                        let outcome = chains::run(seed, only);
                        let mut summary = summary.lock().expect("no case panics");
                        if progress && !outcome.violations.is_empty() {
                            tell_short(&outcome, summary.failed);
                        }
                        summary.add(outcome);
                        if progress && summary.cases.is_multiple_of(10_000) {
                            let (done, failed, seconds) = (summary.cases, summary.failed, start.elapsed().as_secs());
                            println!("{done} cases in {seconds} s, {failed} with violations");
                        }
                    }
                });
            });
        }
    });
    std::panic::set_hook(quiet);
    summary.into_inner().expect("no case panics")
}

/// A line about a case with violations, unless there have been too many.
fn tell_short(outcome: &Outcome, before: usize) {
    match before.cmp(&SHORT_LINES) {
        std::cmp::Ordering::Less => {
            let mut claims: Vec<&str> = outcome.violations.iter().map(|(_, violation)| violation.claim).collect();
            claims.sort_unstable();
            claims.dedup();
            println!("case {}: {}: {}", outcome.seed, outcome.about, claims.join(", "));
        }
        std::cmp::Ordering::Equal => println!("further cases with violations are only counted"),
        std::cmp::Ordering::Greater => {}
    }
}

/// Prints one case in full; false if a claim is violated.
pub(crate) fn tell(seed: u64) -> bool {
    let outcome = chains::run(seed, "");
    println!("case {seed}: {}", outcome.about);
    outcome.steps.iter().for_each(|step| println!("  {step}"));
    let mut before = "";
    for (step, violation) in &outcome.violations {
        if step != before {
            println!("after {step}");
            before = step;
        }
        println!("  VIOLATED {}: {} (excess {:.1e})", violation.claim, violation.detail, violation.excess);
    }
    outcome.violations.is_empty()
}
