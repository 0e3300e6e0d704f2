//! Property trials: random rows, random chains of operations, every claim against an oracle in higher precision.
//!
//! ```text
//! cargo test -p eigenspace --test trials                                    the gate
//! TRIALS=1000000 cargo test -p eigenspace --test trials -- --ignored soak --nocapture
//! TRIALS_SEED=4711 cargo test -p eigenspace --test trials -- --ignored soak --nocapture     one case, told in full
//! ```
#![allow(missing_docs, clippy::print_stdout)]

mod chains;
mod claims;
mod eigen;
mod elements;
mod fits;
mod generators;
mod number;
mod oracle;
mod random;
mod report;
mod useful;

/// Any number of cases, by the environment: `TRIALS`, `TRIALS_FIRST`, or `TRIALS_SEED` for one.
#[test]
#[ignore = "takes as long as it is told to"]
fn soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("TRIALS_SEED") {
        assert!(report::tell(seed), "case {seed} has violations");
        return;
    }
    let (first, cases) = (number("TRIALS_FIRST").unwrap_or(0), number("TRIALS").unwrap_or(20_000));
    let summary = report::run(first, cases, true);
    println!("{summary}");
    assert_eq!(summary.violations(), 0, "cases with violations; rerun one with TRIALS_SEED");
}
