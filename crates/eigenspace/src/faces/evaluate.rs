//! Evaluates a recognizer on images that it was not trained on.
//!
//! ```text
//! X = 1μᵀ + Z V   ⇒   PCA of some rows of X  =  PCA of the same rows of Z, rotated by V
//! ```
//!
//! The scores Z of all images in all directions have the same distances and angles as the images.
//! Each trial fits its model to its training rows alone, so nothing of a test image reaches the
//! model. It works on n × r scores instead of n × D pixels and makes the same decisions, which
//! makes leave-one-out affordable.

use ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::faces::error::Error;
use crate::faces::options::FaceOptions;
use crate::faces::protocol::Split;
use crate::faces::recognizer::{Faces, Recognizer};
use crate::faces::settings::{Pixels, Threshold};
use crate::model::eigenspace_model::EigenspaceModel;

/// The result for one image.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Its index among all images.
    pub image: usize,
    /// The names of all people, best match first.
    pub ranking: Vec<String>,
    /// The distance to the nearest person.
    pub distance: f64,
    /// The index, among all images, of the nearest image of the best match.
    pub nearest: usize,
}

/// One split of the images, and its results.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// The split.
    pub split: Split,
    /// One for each test image.
    pub outcomes: Vec<Outcome>,
}

/// All trials of a protocol.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// One for each split.
    pub trials: Vec<Trial>,
}

/// The images as shorter rows with the same distances.
pub(super) fn isometric(faces: Faces<'_>, pixels: Pixels) -> Result<Array2<f64>, Error> {
    let rows = pixels.apply(faces.rows.all_widened().into_owned());
    Ok(EigenspaceModel::fit(rows.view())?.project(rows.view())?)
}

/// The selected rows, and the names of their people and images.
pub(super) fn chosen(rows: &Array2<f64>, faces: Faces<'_>, which: &[usize]) -> (Array2<f64>, Vec<String>, Vec<String>) {
    let names = |names: &[String]| which.iter().map(|&i| names[i].clone()).collect();
    (rows.select(Axis(0), which), names(faces.people), names(faces.images))
}

/// Runs every split with every setting. All settings must have the same `pixels`.
///
/// The evaluation functions have the same arguments in the same order: images, splits, settings,
/// progress. They take all settings together, because the model of a split is fitted once for all
/// of them. `done` is called after each split, from any thread, for a progress bar; pass `&|| {}`
/// to ignore it.
pub fn evaluate(
    faces: Faces<'_>,
    splits: &[Split],
    options: &[FaceOptions],
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Evaluation>, Error> {
    let trials = by_setting(faces, splits, options, done, of_split)?;
    Ok(trials.into_iter().map(|trials| Evaluation { trials }).collect())
}

/// The trials of each setting: every split is run once for all settings, and `done` is called after
/// each.
pub(super) fn by_setting<S: Sync, T: Send>(
    faces: Faces<'_>,
    splits: &[S],
    options: &[FaceOptions],
    done: &(dyn Fn() + Sync),
    of_split: impl Fn(&Array2<f64>, Faces<'_>, &S, &[FaceOptions]) -> Result<Vec<T>, Error> + Sync,
) -> Result<Vec<Vec<T>>, Error> {
    let pixels = options.first().map_or(Pixels::Raw, |options| options.pixels);
    let rows = isometric(faces, pixels)?;
    let one = |split: &S| {
        let trials = of_split(&rows, faces, split, options);
        done();
        trials
    };
    let all: Vec<Vec<T>> = splits.par_iter().map(one).collect::<Result<_, Error>>()?;
    let mut settings: Vec<Vec<T>> = options.iter().map(|_| Vec::with_capacity(splits.len())).collect();
    for trials in all {
        settings.iter_mut().zip(trials).for_each(|(setting, trial)| setting.push(trial));
    }
    Ok(settings)
}

/// Settings for trials: nobody is rejected, and the pixels are already transformed.
fn for_trials(options: &FaceOptions) -> FaceOptions {
    FaceOptions {
        pixels: Pixels::Raw,
        unknown: Threshold::None,
        not_a_face: Threshold::None,
        size: None,
        ..options.clone()
    }
}

/// Runs one split; the model is fitted once for all settings.
fn of_split(rows: &Array2<f64>, faces: Faces<'_>, split: &Split, options: &[FaceOptions]) -> Result<Vec<Trial>, Error> {
    let (train, people, images) = chosen(rows, faces, &split.train);
    let theirs = Faces::new(&train, &people, &images);
    let mut trials = Vec::new();
    let mut before: Option<Recognizer> = None;
    for options in options.iter().map(for_trials) {
        let recognizer = trained(before.take(), theirs, options)?;
        let outcomes = recognize(&recognizer, rows, faces, &split.train, &split.test)?;
        trials.push(Trial { split: split.clone(), outcomes });
        before = Some(recognizer);
    }
    Ok(trials)
}

/// A recognizer of these faces. Reuses `before`, a recognizer of the same faces with other
/// settings, if possible.
pub(super) fn trained(before: Option<Recognizer>, faces: Faces<'_>, options: FaceOptions) -> Result<Recognizer, Error> {
    match before {
        Some(before) if before.options().max_rank == options.max_rank => before.with_options(options),
        _ => Recognizer::train(faces, options),
    }
}

/// Recognizes test images; `train` are the indices of the enrolled ones.
fn recognize(
    recognizer: &Recognizer,
    rows: &Array2<f64>,
    faces: Faces<'_>,
    train: &[usize],
    test: &[usize],
) -> Result<Vec<Outcome>, Error> {
    let number = |person: &str, image: &str| {
        let mut enrolled = train.iter().copied();
        enrolled
            .find(|&i| faces.people[i] == person && faces.images[i] == image)
            .expect("candidates are enrolled images")
    };
    let found = recognizer.matcher()?.recognize(rows.select(Axis(0), test).view())?;
    let outcome = |(&image, found): (&usize, crate::faces::Recognition)| Outcome {
        image,
        distance: found.distance,
        nearest: found.candidates.first().map_or(image, |best| number(&best.person, &best.image)),
        ranking: found.candidates.into_iter().map(|candidate| candidate.person).collect(),
    };
    Ok(test.iter().zip(found).map(outcome).collect())
}

/// A step of incremental enrollment, after one more person was enrolled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Number of people enrolled so far.
    pub people: usize,
    /// Number of images enrolled so far.
    pub enrolled: usize,
    /// Number of test images of these people.
    pub tested: usize,
    /// Number of test images that were recognized correctly.
    pub correct: usize,
    /// Rank of the model.
    pub rank: usize,
    /// Number of test images for which a recognizer trained from scratch decides differently.
    pub differing: usize,
    /// The largest difference between its scores and ours, up to sign, relative to the largest
    /// score.
    pub difference: f64,
}

/// Enrolls people one by one, in the order of their first image. After each, recognizes all test
/// images of the people so far, and compares the results with those of a recognizer trained from
/// scratch. Each step continues from the last one, so there is one split and one setting; `done` is
/// called after each person, as in [`evaluate`].
pub fn incremental(
    faces: Faces<'_>,
    split: &Split,
    options: &FaceOptions,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Step>, Error> {
    let rows = isometric(faces, options.pixels)?;
    let options = for_trials(options);
    let mut order: Vec<&String> = Vec::new();
    for person in faces.people {
        if !order.contains(&person) {
            order.push(person);
        }
    }
    let mut steps = Vec::new();
    let mut grown: Option<Recognizer> = None;
    for (i, person) in order.iter().enumerate() {
        let of = |list: &[usize], who: &[&String]| -> Vec<usize> {
            list.iter().copied().filter(|&i| who.contains(&&faces.people[i])).collect()
        };
        let so_far = &order[..=i];
        let (theirs, train, test) = (of(&split.train, &[person]), of(&split.train, so_far), of(&split.test, so_far));
        let (new, people, images) = chosen(&rows, faces, &theirs);
        let arriving = Faces::new(&new, &people, &images);
        let recognizer = match &grown {
            Some(before) => before.enroll(arriving)?,
            None => Recognizer::train(arriving, options.clone())?,
        };
        let (all, people, images) = chosen(&rows, faces, &train);
        let scratch = Recognizer::train(Faces::new(&all, &people, &images), options.clone())?;
        let outcomes = recognize(&recognizer, &rows, faces, &train, &test)?;
        let again = recognize(&scratch, &rows, faces, &train, &test)?;
        let right = |outcome: &&Outcome| outcome.ranking.first() == Some(&faces.people[outcome.image]);
        let differs = |(one, two): &(&Outcome, &Outcome)| one.ranking.first() != two.ranking.first();
        steps.push(Step {
            people: i + 1,
            enrolled: train.len(),
            tested: test.len(),
            correct: outcomes.iter().filter(right).count(),
            rank: recognizer.model().rank(),
            differing: outcomes.iter().zip(&again).filter(differs).count(),
            difference: difference(&recognizer, &scratch),
        });
        grown = Some(recognizer);
        done();
    }
    Ok(steps)
}

/// The largest difference of the first k scores, up to sign, relative to the largest score.
fn difference(one: &Recognizer, two: &Recognizer) -> f64 {
    let k = one.model().n_components().min(two.model().n_components());
    let (a, b) = (one.scores(), two.scores());
    let largest = a.iter().fold(f64::MIN_POSITIVE, |largest, z| largest.max(z.abs()));
    let column = |j: usize| {
        let sign = if a.column(j).dot(&b.column(j)) < 0.0 { -1.0 } else { 1.0 };
        a.column(j).iter().zip(b.column(j)).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max)
    };
    (0..k).map(column).fold(0.0, f64::max) / largest
}
