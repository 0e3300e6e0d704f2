//! How well a recognizer does on pictures it has not learned.
//!
//! ```text
//! X = 1μᵀ + Z V   ⇒   PCA of some rows of X  =  PCA of the same rows of Z, turned by V
//! ```
//!
//! The coordinates Z of all pictures, in all directions, are an isometry: they have the distances and angles of the pictures. So each trial, whose
//! model is made of its training rows alone, works on n × r numbers in the place of n × D and comes to the same decisions; nothing of a
//! picture to be recognized reaches the model. That makes leave-one-out affordable.

use ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::faces::error::Error;
use crate::faces::options::{FaceOptions, Pixels, Threshold};
use crate::faces::protocol::Split;
use crate::faces::recognizer::{Faces, Recognizer};
use crate::model::eigenspace_model::EigenspaceModel;

/// What became of one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its number among all pictures.
    pub picture: usize,
    /// Everybody, the best first, by name.
    pub ranking: Vec<String>,
    /// The distance from the nearest person.
    pub distance: f64,
    /// The number of the best person's nearest picture among all.
    pub nearest: usize,
}

/// One division of the pictures, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The division.
    pub split: Split,
    /// One for each picture that was to be recognized.
    pub outcomes: Vec<Outcome>,
}

/// All trials of a protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// One for each split.
    pub trials: Vec<Trial>,
}

/// Pictures as short rows with the same distances.
pub(super) fn isometric(faces: Faces<'_>, pixels: Pixels) -> Result<Array2<f64>, Error> {
    let rows = pixels.apply(faces.rows.to_owned());
    Ok(EigenspaceModel::fit(rows.view())?.project(rows.view())?)
}

/// Some of the pictures.
pub(super) fn chosen(rows: &Array2<f64>, faces: Faces<'_>, which: &[usize]) -> (Array2<f64>, Vec<String>, Vec<String>) {
    let names = |names: &[String]| which.iter().map(|&i| names[i].clone()).collect();
    (rows.select(Axis(0), which), names(faces.people), names(faces.pictures))
}

/// Runs every split with every setting; `done` is told after each. The settings must agree in what is done to pixels.
pub fn evaluate(
    faces: Faces<'_>,
    splits: &[Split],
    options: &[FaceOptions],
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Evaluation>, Error> {
    let pixels = options.first().map_or(Pixels::Raw, |options| options.pixels);
    let rows = isometric(faces, pixels)?;
    let all: Vec<Vec<Trial>> = splits
        .par_iter()
        .map(|split| {
            let trials = of_split(&rows, faces, split, options);
            done();
            trials
        })
        .collect::<Result<_, Error>>()?;
    let mut evaluations = vec![Evaluation { trials: Vec::with_capacity(splits.len()) }; options.len()];
    for trials in all {
        evaluations.iter_mut().zip(trials).for_each(|(evaluation, trial)| evaluation.trials.push(trial));
    }
    Ok(evaluations)
}

/// Settings for trials: nobody is turned away, and rows are ready.
fn for_trials(options: &FaceOptions) -> FaceOptions {
    FaceOptions {
        pixels: Pixels::Raw,
        unknown: Threshold::None,
        not_a_face: Threshold::None,
        size: None,
        ..options.clone()
    }
}

/// The model is made once for all settings.
fn of_split(rows: &Array2<f64>, faces: Faces<'_>, split: &Split, options: &[FaceOptions]) -> Result<Vec<Trial>, Error> {
    let (train, people, pictures) = chosen(rows, faces, &split.train);
    let theirs = Faces { rows: train.view(), people: &people, pictures: &pictures };
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

/// A recognizer of these faces, from the one of the same faces with the settings before.
pub(super) fn trained(before: Option<Recognizer>, faces: Faces<'_>, options: FaceOptions) -> Result<Recognizer, Error> {
    match before {
        Some(before) if before.options().max_rank == options.max_rank => before.with_options(options),
        _ => Recognizer::train(faces, options),
    }
}

/// Recognizes some pictures; `train` are the numbers of those that are enrolled.
fn recognize(
    recognizer: &Recognizer,
    rows: &Array2<f64>,
    faces: Faces<'_>,
    train: &[usize],
    test: &[usize],
) -> Result<Vec<Outcome>, Error> {
    let number = |person: &str, picture: &str| {
        train.iter().copied().find(|&i| faces.people[i] == person && faces.pictures[i] == picture).unwrap_or(0)
    };
    let found = recognizer.matcher()?.recognize(rows.select(Axis(0), test).view())?;
    let outcome = |(&picture, found): (&usize, crate::faces::Recognition)| Outcome {
        picture,
        distance: found.distance,
        nearest: found.candidates.first().map_or(picture, |best| number(&best.person, &best.picture)),
        ranking: found.candidates.into_iter().map(|candidate| candidate.person).collect(),
    };
    Ok(test.iter().zip(found).map(outcome).collect())
}

/// A step of incremental enrolment: one more person has arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// People so far.
    pub people: usize,
    /// Pictures enrolled so far.
    pub enrolled: usize,
    /// Pictures of these people that were to be recognized.
    pub tested: usize,
    /// And were.
    pub correct: usize,
    /// Directions of the model.
    pub rank: usize,
    /// Pictures for which a recognizer trained from scratch decides otherwise.
    pub differing: usize,
    /// The largest difference between its coordinates and ours, up to sign, as a share of the largest coordinate.
    pub difference: f64,
}

/// Enrolls people one by one, in the order of their first picture, and after each tests all pictures of those so far against a
/// recognizer that was trained from scratch.
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
        let (new, people, pictures) = chosen(&rows, faces, &theirs);
        let arriving = Faces { rows: new.view(), people: &people, pictures: &pictures };
        let recognizer = match &grown {
            Some(before) => before.enroll(arriving)?,
            None => Recognizer::train(arriving, options.clone())?,
        };
        let (all, people, pictures) = chosen(&rows, faces, &train);
        let scratch =
            Recognizer::train(Faces { rows: all.view(), people: &people, pictures: &pictures }, options.clone())?;
        let outcomes = recognize(&recognizer, &rows, faces, &train, &test)?;
        let again = recognize(&scratch, &rows, faces, &train, &test)?;
        let right = |outcome: &&Outcome| outcome.ranking.first() == Some(&faces.people[outcome.picture]);
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

/// The largest difference of the coordinates that are looked at, up to sign, as a share of the largest.
fn difference(one: &Recognizer, two: &Recognizer) -> f64 {
    let k = one.model().n_components().min(two.model().n_components());
    let (a, b) = (one.coordinates(), two.coordinates());
    let largest = a.iter().fold(f64::MIN_POSITIVE, |largest, z| largest.max(z.abs()));
    let column = |j: usize| {
        let sign = if a.column(j).dot(&b.column(j)) < 0.0 { -1.0 } else { 1.0 };
        a.column(j).iter().zip(b.column(j)).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max)
    };
    (0..k).map(column).fold(0.0, f64::max) / largest
}
