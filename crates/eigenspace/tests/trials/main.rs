//! Property trials: random rows, random chains of operations, and every claim compared with an
//! oracle in higher precision.
//!
//! ```text
//! cargo test -p eigenspace --test trials                          run by `cargo xtask test`: twenty thousand cases
//! cargo xtask soak -- 1000000                                     the laws, then a million cases
//! EIGENSPACE_TRIALS_SEED=4711 cargo test -p eigenspace --test trials -- --ignored --exact soak --nocapture
//!                                                                 one case, printed in full
//! ```
//!
//! A case is its seed: rows (`generators.rs`, `elements.rs`), a model (`fits.rs`), a chain of
//! operations (`chains.rs`), and after each of them a comparison of every claim (`claims.rs`) with
//! the truth about the rows (`oracle.rs`). In some cases all rows are also cut into partitions that
//! are accumulated and merged (`accumulators.rs`).
#![allow(missing_docs, clippy::print_stdout, clippy::result_large_err)]

mod accumulators;
mod chains;
mod claims;
mod eigen;
mod elements;
mod fits;
mod generators;
mod known;
mod missing;
mod number;
mod oracle;
mod random;
mod report;
mod selftest;
mod useful;

/// The default number of cases.
const CASES: u64 = 20_000;

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(format!("EIGENSPACE_TRIALS{name}")).ok();
    text.map(|text| text.parse().expect("a number of cases or a seed"))
}

/// The run of `cargo xtask test`: twenty thousand cases, the same ones every time; `cargo xtask
/// mutants` runs fewer.
#[test]
fn every_claim_is_true_in_random_cases() {
    let summary = report::run(0, number("").unwrap_or(CASES), "", false);
    assert_eq!(summary.violations(), 0, "{summary}");
}

/// Cases of long runs in which some claim was false once.
#[test]
fn cases_that_once_failed() {
    for seed in [
        105175, 153351, 245962, 254653, 267612, 269047, 342307, 351265, 359802, 365402, 418475, 419792, 496859, 530411,
        750283,
    ] {
        assert!(report::tell(seed), "case {seed} has violations");
    }
}

/// Any number of cases, by the environment: so many, from this seed, only those described by these
/// words; or one alone.
#[test]
#[ignore = "takes as long as it is told to"]
fn soak() {
    if let Some(seed) = number("_SEED") {
        assert!(report::tell(seed), "case {seed} has violations");
        return;
    }
    let (first, cases, only) = (number("_FIRST"), number(""), std::env::var("EIGENSPACE_TRIALS_ONLY"));
    let summary = report::run(first.unwrap_or(0), cases.unwrap_or(CASES), &only.unwrap_or_default(), true);
    println!("{summary}");
    assert_eq!(summary.violations(), 0, "run one of them with EIGENSPACE_TRIALS_SEED");
}
