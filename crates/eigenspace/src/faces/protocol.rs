//! Named ways to divide pictures into those to learn and those to recognize.
//!
//! ```text
//! first-5          of every person the first 5 are learned, the others recognized
//! random-5, -9     the same with 5 (9) drawn at random, several times over
//! leave-one-out    every picture is recognized by a recognizer of all the others
//! incremental      as random-5 once, people arriving one by one
//! ```

use std::fmt;
use std::str::FromStr;

use crate::faces::error::Error;
use crate::faces::random::Random;

/// How pictures are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// The first so many of every person are learned.
    First(usize),
    /// So many of every person, drawn at random, are learned.
    Random(usize),
    /// All but one are learned, for each of them.
    LeaveOneOut,
    /// People arrive one by one, each with so many pictures drawn at random.
    Incremental(usize),
}

/// Pictures to learn and pictures to recognize, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// To learn.
    pub train: Vec<usize>,
    /// To recognize.
    pub test: Vec<usize>,
}

/// Pictures that an arriving person brings, where no number was given.
const BROUGHT: usize = 5;

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(train) => write!(f, "first-{train}"),
            Self::Random(train) => write!(f, "random-{train}"),
            Self::LeaveOneOut => f.write_str("leave-one-out"),
            Self::Incremental(BROUGHT) => f.write_str("incremental"),
            Self::Incremental(train) => write!(f, "incremental-{train}"),
        }
    }
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number =
            |prefix: &str| -> Option<usize> { text.strip_prefix(prefix)?.parse().ok().filter(|number| *number > 0) };
        match text {
            "leave-one-out" => return Ok(Self::LeaveOneOut),
            "incremental" => return Ok(Self::Incremental(BROUGHT)),
            _ => {}
        }
        let found = number("first-")
            .map(Self::First)
            .or_else(|| number("random-").map(Self::Random))
            .or_else(|| number("incremental-").map(Self::Incremental));
        found.ok_or_else(|| Error::Setting { what: "protocol", text: text.into() })
    }
}

impl Protocol {
    /// The splits of pictures whose people are given, the pictures of one person in their order. `times` counts for
    /// those that draw at random; the same seed draws the same.
    pub fn splits(&self, people: &[String], times: usize, seed: u64) -> Result<Vec<Split>, Error> {
        let mut own: Vec<(&str, Vec<usize>)> = Vec::new();
        for (i, person) in people.iter().enumerate() {
            match own.iter_mut().find(|(name, _)| name == person) {
                Some((_, pictures)) => pictures.push(i),
                None => own.push((person, vec![i])),
            }
        }
        if own.is_empty() {
            return Err(Error::NoPictures);
        }
        if own.len() == 1 {
            return Err(Error::OnePerson);
        }
        let train = match *self {
            Self::First(train) | Self::Random(train) | Self::Incremental(train) => train,
            Self::LeaveOneOut => 1,
        };
        if let Some((person, pictures)) = own.iter().find(|(_, pictures)| pictures.len() <= train) {
            let (found, needed) = (pictures.len(), train.saturating_add(1));
            return Err(Error::TooFewPictures { protocol: self.to_string(), person: (*person).into(), found, needed });
        }
        let mut random = Random::new(seed);
        Ok(match self {
            Self::First(_) => vec![divide(&own, train, None)],
            Self::Random(_) => (0..times.max(1)).map(|_| divide(&own, train, Some(&mut random))).collect(),
            Self::Incremental(_) => vec![divide(&own, train, Some(&mut random))],
            Self::LeaveOneOut => {
                let all = || 0..people.len();
                all().map(|out| Split { train: all().filter(|&i| i != out).collect(), test: vec![out] }).collect()
            }
        })
    }
}

/// The first `train` of every person, or so many drawn at random.
fn divide(own: &[(&str, Vec<usize>)], train: usize, mut random: Option<&mut Random>) -> Split {
    let mut split = Split { train: Vec::new(), test: Vec::new() };
    for (_, pictures) in own {
        let mut order = pictures.clone();
        if let Some(random) = random.as_deref_mut() {
            random.shuffle(&mut order);
        }
        let (learn, recognize) = order.split_at(train);
        split.train.extend(learn);
        split.test.extend(recognize);
    }
    split.train.sort_unstable();
    split.test.sort_unstable();
    split
}
