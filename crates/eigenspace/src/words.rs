//! Settings written as words, the same ones in the command and in Python.
//!
//! ```text
//! truncation   none · rank:100 · energy:0.99 · tolerance:1e-6 · fd:100
//! forgetting   never · 0.99 · block:0.9 · half-life:500
//! missing      refuse · skip · impute
//! engine       auto · factor · scatter
//! method       auto · svd · covariance · gram
//! weights      frequency · reliability
//! ```

use std::str::FromStr;

use crate::batch::Method;
use crate::error::Error;
use crate::forgetting::Forgetting;
use crate::missing::Missing;
use crate::moments::WeightKind;
use crate::plan::Engine;
use crate::truncation::Truncation;

/// A setting that has words: what it is called and which words it has.
trait Words {
    const WHAT: &'static str;
    const EXPECTED: &'static str;

    fn unknown(text: &str) -> Error {
        Error::UnknownWord { what: Self::WHAT, text: text.into(), expected: Self::EXPECTED }
    }

    /// The number after the colon.
    fn number<N: FromStr>(number: &str, text: &str) -> Result<N, Error> {
        number.parse().map_err(|_| Self::unknown(text))
    }
}

impl Words for Truncation {
    const WHAT: &'static str = "truncation rule";
    const EXPECTED: &'static str = "`none`, `rank:100`, `energy:0.99`, `tolerance:1e-6`, `fd:100`";
}

impl FromStr for Truncation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("rank", rank)) => Ok(Self::Rank(Self::number(rank, text)?)),
            Some(("energy", share)) => Ok(Self::Energy(Self::number(share, text)?)),
            Some(("tolerance", value)) => Ok(Self::Tolerance(Self::number(value, text)?)),
            Some(("fd", rank)) => Ok(Self::FrequentDirections(Self::number(rank, text)?)),
            _ => Err(Self::unknown(text)),
        }
    }
}

impl Words for Forgetting {
    const WHAT: &'static str = "way to forget";
    const EXPECTED: &'static str = "`never`, `0.99` (for each row), `block:0.9`, `half-life:500`";
}

impl FromStr for Forgetting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            None if text == "never" => Ok(Self::Never),
            None => Ok(Self::PerRow(Self::number(text, text)?)),
            Some(("block", factor)) => Ok(Self::PerBlock(Self::number(factor, text)?)),
            Some(("half-life", rows)) => Ok(Self::HalfLife(Self::number(rows, text)?)),
            _ => Err(Self::unknown(text)),
        }
    }
}

/// Settings whose words have no numbers.
macro_rules! plain_words {
    ($($setting:ty, $what:literal: $($word:literal => $value:ident),*;)*) => {$(
        impl Words for $setting {
            const WHAT: &'static str = $what;
            const EXPECTED: &'static str = plain_words!(@list $($word),*);
        }

        impl FromStr for $setting {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                match text {
                    $($word => Ok(Self::$value),)*
                    _ => Err(Self::unknown(text)),
                }
            }
        }
    )*};
    (@list $first:literal $(, $word:literal)*) => {
        concat!("`", $first, "`" $(, ", `", $word, "`")*)
    };
}

plain_words! {
    Missing, "policy for missing cells": "refuse" => Refuse, "skip" => SkipRows, "impute" => Impute;
    Engine, "engine": "auto" => Auto, "factor" => Factor, "scatter" => Scatter;
    WeightKind, "kind of weights": "frequency" => Frequency, "reliability" => Reliability;
    Method, "method of batch PCA": "auto" => Auto, "svd" => Svd, "covariance" => Covariance, "gram" => Gram;
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!("skip".parse::<Missing>().ok(), Some(Missing::SkipRows));
        assert_eq!("scatter".parse::<Engine>().ok(), Some(Engine::Scatter));
        assert_eq!("gram".parse::<Method>().ok(), Some(Method::Gram));
        assert_eq!("reliability".parse::<WeightKind>().ok(), Some(WeightKind::Reliability));
    }

    #[test]
    fn other_words_are_refused_with_those_that_exist() {
        let error = "rank:-1".parse::<Truncation>().expect_err("no rank is negative");
        assert_eq!(error.to_string(), "`rank:-1` is no truncation rule");
        let error = "drop".parse::<Missing>().expect_err("not a policy");
        assert_eq!(error.to_string(), "`drop` is no policy for missing cells");
        assert_eq!(error.hint().as_deref(), Some("one of `refuse`, `skip`, `impute`"));
    }
}
