//! Settings as text, the same in the command and in Python.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use eigenspace::{Components, Engine, Forgetting, Method, Missing, Rank, Truncation, WeightKind};

#[test]
fn every_word_means_its_setting() {
    assert_eq!("none".parse::<Truncation>().ok(), Some(Truncation::None));
    assert_eq!("rank:100".parse::<Truncation>().ok(), Some(Truncation::Rank(100)));
    assert_eq!("energy:0.99".parse::<Truncation>().ok(), Some(Truncation::Energy(0.99)));
    assert_eq!("tolerance:1e-6".parse::<Truncation>().ok(), Some(Truncation::Tolerance(1e-6)));
    assert_eq!("fd:7".parse::<Truncation>().ok(), Some(Truncation::FrequentDirections(7)));
    assert_eq!("never".parse::<Forgetting>().ok(), Some(Forgetting::Never));
    assert_eq!("0.99".parse::<Forgetting>().ok(), Some(Forgetting::PerRow(0.99)));
    assert_eq!("block:0.5".parse::<Forgetting>().ok(), Some(Forgetting::PerBlock(0.5)));
    assert_eq!("half-life:500".parse::<Forgetting>().ok(), Some(Forgetting::HalfLife(500.0)));
    assert_eq!("skip".parse::<Missing>().ok(), Some(Missing::Skip));
    assert_eq!("scatter".parse::<Engine>().ok(), Some(Engine::Scatter));
    assert_eq!("gram".parse::<Method>().ok(), Some(Method::Gram));
    assert_eq!("reliability".parse::<WeightKind>().ok(), Some(WeightKind::Reliability));
}

#[test]
fn a_setting_is_printed_as_the_word_that_means_it() {
    fn check<T: Copy + Debug + Display + FromStr + PartialEq>(settings: &[T]) {
        for setting in settings {
            assert_eq!(setting.to_string().parse().ok(), Some(*setting), "{setting}");
        }
    }
    use Truncation::{Energy, FrequentDirections, Tolerance};
    check(&[Truncation::None, Truncation::Rank(100), Energy(0.1 + 0.2), Tolerance(1e-6), FrequentDirections(7)]);
    check(&[Engine::Auto, Engine::Factor, Engine::Scatter]);
    check(&[Missing::Refuse, Missing::Skip, Missing::Impute]);
    check(&[Rank::All, Rank::AtMost(100), Rank::AtMost(usize::MAX)]);
    check(&[Components::All, Components::Number(1), Components::Share(1.0), Components::Share(1e-9)]);
    check(&[
        Forgetting::Never,
        Forgetting::PerRow(1.0),
        Forgetting::PerRow(0.1 + 0.2),
        Forgetting::PerBlock(1e-9),
        Forgetting::HalfLife(500.0),
    ]);
    check(&[Method::Auto, Method::Svd, Method::Covariance, Method::Gram, Method::Iterative]);
    check(&[WeightKind::Frequency, WeightKind::Reliability]);
}

#[test]
fn other_words_are_refused_with_those_that_exist() {
    let error = "rank:-1".parse::<Truncation>().expect_err("no rank is negative");
    assert_eq!(
        error.to_string(),
        "invalid truncation rule `rank:-1`: expected none, rank:N, energy:SHARE, tolerance:T or fd:N"
    );
    let error = "drop".parse::<Missing>().expect_err("not a policy");
    assert_eq!(error.to_string(), "invalid policy for missing cells `drop`: expected `refuse`, `skip` or `impute`");
    assert_eq!(error.hint().as_deref(), Some("check the spelling"));
}
