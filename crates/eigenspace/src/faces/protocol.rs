//! Protocols: named ways to split images into training and test images.
//!
//! ```text
//! first-5              train on the first 5 images of every person, test on the others
//! random-5, random-9   train on 5 (9) random images of every person, test on the others; repeated
//! leave-one-out        test every image with a recognizer trained on all others
//! incremental          random-5 once, with people enrolled one by one
//! ```

use std::fmt;
use std::str::FromStr;

use crate::faces::error::Error;
use crate::linalg::random::Random;

/// How images are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// Train on the first N images of every person.
    First(usize),
    /// Train on N random images of every person.
    Random(usize),
    /// Train on all images but one, for each image.
    LeaveOneOut,
    /// Enroll people one by one, each with this many random images.
    Incremental(usize),
}

/// Training and test images, by their indices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Split {
    /// Training images.
    pub train: Vec<usize>,
    /// Test images.
    pub test: Vec<usize>,
}

/// Default number of images of an enrolled person in the incremental protocol.
const DEFAULT_INCREMENTAL_IMAGES: usize = 5;

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(train) => write!(f, "first-{train}"),
            Self::Random(train) => write!(f, "random-{train}"),
            Self::LeaveOneOut => f.write_str("leave-one-out"),
            Self::Incremental(DEFAULT_INCREMENTAL_IMAGES) => f.write_str("incremental"),
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
            "incremental" => return Ok(Self::Incremental(DEFAULT_INCREMENTAL_IMAGES)),
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
    /// A protocol of the same kind with another number of training images of each person; `None`
    /// for 0, or if the kind has no such number.
    fn with_training_images(self, train: usize) -> Option<Self> {
        match self {
            _ if train == 0 => None,
            Self::First(_) => Some(Self::First(train)),
            Self::Random(_) => Some(Self::Random(train)),
            Self::Incremental(_) => Some(Self::Incremental(train)),
            Self::LeaveOneOut => None,
        }
    }

    /// The splits of images; `people` is the person in each image. Random protocols are repeated
    /// `times` times, and give the same splits for the same seed.
    pub fn splits(&self, people: &[String], times: usize, seed: u64) -> Result<Vec<Split>, Error> {
        let mut own: Vec<(&str, Vec<usize>)> = Vec::new();
        for (i, person) in people.iter().enumerate() {
            match own.iter_mut().find(|(name, _)| name == person) {
                Some((_, images)) => images.push(i),
                None => own.push((person, vec![i])),
            }
        }
        if own.is_empty() {
            return Err(Error::NoImages);
        }
        if own.len() == 1 {
            return Err(Error::OnePerson);
        }
        let train = match *self {
            Self::First(train) | Self::Random(train) | Self::Incremental(train) => train,
            Self::LeaveOneOut => 1,
        };
        if let Some((person, images)) = own.iter().find(|(_, images)| images.len() <= train) {
            let (found, needed) = (images.len(), train.saturating_add(1));
            let (protocol, person) = (self.to_string(), (*person).into());
            let smaller = self.with_training_images(found.saturating_sub(1)).map(|smaller| smaller.to_string());
            return Err(Error::TooFewImages { protocol, person, found, needed, smaller });
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

/// Trains on the first `train` images of every person, or on random ones.
fn divide(own: &[(&str, Vec<usize>)], train: usize, mut random: Option<&mut Random>) -> Split {
    let mut split = Split { train: Vec::new(), test: Vec::new() };
    for (_, images) in own {
        let mut order = images.clone();
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
