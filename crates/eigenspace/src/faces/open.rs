//! Evaluates the thresholds of a recognizer with known people and with strangers.
//!
//! ```text
//! people ─┬─ enrolled ─┬─ training images ─► eigenspace, classifier, thresholds
//!         │            └─ test images     ─► identified, misidentified, or rejected
//!         └─ strangers ── test images     ─► accepted, or rejected
//! ```
//!
//! The eigenspace is never fitted to images of strangers; otherwise the share of accepted strangers
//! would be lower than in practice. A quarter of the people are strangers at a time, and everybody
//! is a stranger equally often. The thresholds are learned from the enrolled images, or fixed by
//! the settings.

use ndarray::{Array2, Axis};

use crate::faces::error::Error;
use crate::faces::evaluate::{by_setting, chosen, trained};
use crate::faces::matcher::Verdict;
use crate::faces::options::FaceOptions;
use crate::faces::protocol::Split;
use crate::faces::rate::Rate;
use crate::faces::recognizer::{Faces, Recognizer};
use crate::faces::settings::{Pixels, Threshold};
use crate::faces::threshold::{self, Thresholds};
use crate::linalg::random::Random;

/// Number of groups of people that are strangers in turn.
const GROUPS: usize = 4;

/// Training images, test images of the same people, and images of strangers, by their indices.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenSplit {
    /// Training images.
    pub train: Vec<usize>,
    /// Test images of enrolled people, to be recognized.
    pub known: Vec<usize>,
    /// Test images of strangers, to be rejected.
    pub strangers: Vec<usize>,
}

/// The result for one image.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenOutcome {
    /// Its index among all images.
    pub image: usize,
    /// The decision.
    pub verdict: Verdict,
    /// The best match of the classifier, whatever the distance.
    pub best: String,
    /// The distance to the nearest person; infinite if the image was rejected as not a face.
    pub distance: f64,
}

/// One split of people and images, and its results.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenTrial {
    /// The split.
    pub split: OpenSplit,
    /// The thresholds in use.
    pub thresholds: Thresholds,
    /// One for each test image of an enrolled person.
    pub known: Vec<OpenOutcome>,
    /// One for each image of a stranger.
    pub strangers: Vec<OpenOutcome>,
}

/// All trials of a protocol, with strangers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenEvaluation {
    /// One for each split.
    pub trials: Vec<OpenTrial>,
}

/// Error rates for known people and for strangers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OpenRates {
    /// Images of strangers that were accepted as an enrolled person.
    pub false_accepts: Rate,
    /// Images of enrolled people that were rejected as unknown or as not a face.
    pub false_rejects: Rate,
    /// Images of enrolled people that were accepted with the right name.
    pub identified: Rate,
    /// Images of enrolled people that were accepted with a wrong name.
    pub misidentified: Rate,
}

/// A threshold on the distance to the nearest person, and its effect.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rejection {
    /// The threshold.
    pub threshold: f64,
    /// Share of images of known people that are rejected.
    pub rejected: f64,
    /// Share of the accepted ones that get the right name.
    pub accuracy: f64,
    /// Share of images of strangers that are accepted.
    pub strangers: f64,
}

/// The splits with a quarter of the people as strangers, each quarter in turn, for at least one
/// round. The same seed gives the same splits.
pub fn with_strangers(splits: &[Split], people: &[String], seed: u64) -> Vec<OpenSplit> {
    let mut names: Vec<&String> = Vec::new();
    for person in people {
        if !names.contains(&person) {
            names.push(person);
        }
    }
    let groups = GROUPS.min(names.len());
    if splits.is_empty() || groups < 2 {
        return Vec::new();
    }
    let mut random = Random::new(seed);
    let mut open = Vec::new();
    for round in 0..splits.len().div_ceil(groups) {
        random.shuffle(&mut names);
        for group in 0..groups {
            let split = &splits[(round * groups + group) % splits.len()];
            let away: Vec<&String> = names.iter().copied().skip(group).step_by(groups).collect();
            let is_stranger = |&i: &usize| away.contains(&&people[i]);
            let (strangers, known) = split.test.iter().copied().partition(is_stranger);
            let train = split.train.iter().copied().filter(|i| !is_stranger(i)).collect();
            open.push(OpenSplit { train, known, strangers });
        }
    }
    open
}

/// Runs every split with every setting, with strangers. The arguments are those of
/// [`evaluate`](crate::faces::evaluate()).
pub fn evaluate_open(
    faces: Faces<'_>,
    splits: &[OpenSplit],
    options: &[FaceOptions],
    done: &(dyn Fn() + Sync),
) -> Result<Vec<OpenEvaluation>, Error> {
    let trials = by_setting(faces, splits, options, done, of_split)?;
    Ok(trials.into_iter().map(|trials| OpenEvaluation { trials }).collect())
}

/// Runs one split; the model is fitted once for all settings, and thresholds are learned once for
/// all classifiers.
fn of_split(
    rows: &Array2<f64>,
    faces: Faces<'_>,
    split: &OpenSplit,
    options: &[FaceOptions],
) -> Result<Vec<OpenTrial>, Error> {
    let (train, people, images) = chosen(rows, faces, &split.train);
    let theirs = Faces::new(&train, &people, &images);
    let mut trials = Vec::new();
    let mut before: Option<Recognizer> = None;
    let mut learned: Vec<(FaceOptions, Thresholds)> = Vec::new();
    for options in options {
        let options = FaceOptions { pixels: Pixels::Raw, size: None, ..options.clone() };
        let recognizer = trained(before.take(), theirs, options.clone())?;
        let any_classifier = FaceOptions { classifier: FaceOptions::default().classifier, ..options.clone() };
        let thresholds = match learned.iter().find(|(options, _)| *options == any_classifier) {
            Some((_, thresholds)) => *thresholds,
            None => threshold::learn(&recognizer)?,
        };
        learned.push((any_classifier, thresholds));
        let fixed = |threshold: Option<f64>| threshold.map_or(Threshold::None, Threshold::Fixed);
        let (unknown, not_a_face) = (fixed(thresholds.unknown), fixed(thresholds.not_a_face));
        let ready = recognizer.with_options(FaceOptions { unknown, not_a_face, ..options })?;
        let [known, strangers] = [&split.known, &split.strangers].map(|test| recognize(&ready, rows, test));
        trials.push(OpenTrial { split: split.clone(), thresholds, known: known?, strangers: strangers? });
        before = Some(recognizer);
    }
    Ok(trials)
}

fn recognize(recognizer: &Recognizer, rows: &Array2<f64>, test: &[usize]) -> Result<Vec<OpenOutcome>, Error> {
    let found = recognizer.matcher()?.recognize(rows.select(Axis(0), test).view())?;
    let outcome = |(&image, found): (&usize, crate::faces::Recognition)| OpenOutcome {
        image,
        distance: if found.verdict == Verdict::NotAFace { f64::INFINITY } else { found.distance },
        best: found.candidates.first().map_or_else(String::new, |best| best.person.clone()),
        verdict: found.verdict,
    };
    Ok(test.iter().zip(found).map(outcome).collect())
}

impl OpenEvaluation {
    fn known(&self) -> impl Iterator<Item = &OpenOutcome> {
        self.trials.iter().flat_map(|trial| &trial.known)
    }

    fn strangers(&self) -> impl Iterator<Item = &OpenOutcome> {
        self.trials.iter().flat_map(|trial| &trial.strangers)
    }

    /// The rates over all trials; `people` is the person in each image.
    pub fn rates(&self, people: &[String]) -> OpenRates {
        fn rate<'a>(
            outcomes: impl Iterator<Item = &'a OpenOutcome>,
            people: &'a [String],
            counts: impl Fn(&OpenOutcome, &str) -> bool,
        ) -> Rate {
            Rate::of(outcomes.map(|outcome| {
                let person = people[outcome.image].as_str();
                (person, outcome.image, counts(outcome, person))
            }))
        }
        let named = |outcome: &OpenOutcome, person: &str| match &outcome.verdict {
            Verdict::Person(found) => Some(found == person),
            Verdict::Unknown | Verdict::NotAFace => None,
        };
        OpenRates {
            false_accepts: rate(self.strangers(), people, |outcome, person| named(outcome, person).is_some()),
            false_rejects: rate(self.known(), people, |outcome, person| named(outcome, person).is_none()),
            identified: rate(self.known(), people, |outcome, person| named(outcome, person) == Some(true)),
            misidentified: rate(self.known(), people, |outcome, person| named(outcome, person) == Some(false)),
        }
    }

    /// The effect of thresholds that reject these shares of the images of known people.
    pub fn rejections(&self, people: &[String], shares: &[f64]) -> Vec<Rejection> {
        let mut distances: Vec<f64> = self.known().map(|outcome| outcome.distance).collect();
        distances.sort_by(f64::total_cmp);
        let (known, strangers) = (distances.len() as f64, self.strangers().count() as f64);
        // Images that are not a face are rejected by every threshold.
        distances.retain(|distance| distance.is_finite());
        let of = |share: &f64| {
            let kept = (((1.0 - share) * known).round() as usize).clamp(1, distances.len().max(1));
            let threshold = distances.get(kept - 1).copied().unwrap_or(0.0);
            let inside: Vec<&OpenOutcome> = self.known().filter(|outcome| outcome.distance <= threshold).collect();
            let right = inside.iter().filter(|outcome| outcome.best == people[outcome.image]).count();
            let accepted = self.strangers().filter(|outcome| outcome.distance <= threshold).count();
            Rejection {
                threshold,
                rejected: 1.0 - inside.len() as f64 / known.max(1.0),
                accuracy: right as f64 / (inside.len() as f64).max(1.0),
                strangers: accepted as f64 / strangers.max(1.0),
            }
        };
        shares.iter().map(of).collect()
    }
}
