//! From which distance on a picture is turned away, learnt from the enrolled pictures alone.
//!
//! ```text
//! t    the quantile of  d(z_i, nearest other picture of the same person),   picture i left out
//! t_Q  the quantile of  √Q of a picture,                                    its person left out
//! ```
//!
//! An enrolled picture is nearer to the model than a new one, for the model was made of it. So a fifth of the pictures is left out at a
//! time, the model of the others is made, and the distances of those left out are taken. For t_Q whole people are left out: somebody else's face is still a face. All of it happens in coordinates: while no direction was dropped they are the pictures,
//! turned, so no picture is needed; where some was, the distance of a picture from them is added to Q.
//! With one picture of each person nothing is known of how pictures of one person differ, and nobody is called unknown; with fewer than three people t_Q is learnt as t is. Where the components fill the space, √Q is
//! rounding, and there is no t_Q.

use ndarray::{ArrayView1, Axis};
use rayon::prelude::*;

use crate::error::Error;
use crate::faces::Recognizer;
use crate::faces::matcher::deviations;
use crate::faces::options::Threshold;
use crate::model::EigenspaceModel;

/// Parts that are left out in turn.
const FOLDS: usize = 5;
/// From this many people on whole people are left out.
const MANY: usize = 3;
/// √Q up to this share of the size of the pictures is rounding.
const ROUNDING: f64 = 1e-9;

/// Distances beyond which pictures are turned away; `None` turns none away.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Thresholds {
    /// To the nearest picture of the person found, by the metric.
    pub unknown: Option<f64>,
    /// To face space, √Q.
    pub not_a_face: Option<f64>,
}

/// The thresholds that the settings ask for.
pub(crate) fn learn(recognizer: &Recognizer) -> Result<Thresholds, Error> {
    let options = recognizer.options();
    let person = recognizer.persons();
    let people = recognizer.people().len();
    // The n-th picture of a person is in part n mod FOLDS.
    let mut seen = vec![0; people];
    let by_picture: Vec<usize> = person
        .iter()
        .map(|&p| {
            seen[p] += 1;
            (seen[p] - 1) % FOLDS
        })
        .collect();
    let by_person: Vec<usize> = person.iter().map(|p| p % FOLDS).collect();
    let pick = |threshold: Threshold, learnt: &dyn Fn() -> Result<Vec<f64>, Error>| match threshold {
        Threshold::None => Ok::<_, Error>(None),
        Threshold::Fixed(value) => Ok(Some(value)),
        Threshold::Learnt => Ok(quantile(learnt()?, options.accept)),
    };
    let unknown = pick(options.unknown, &|| Ok(left_out(recognizer, &person, &by_picture)?.own))?;
    let folds = if people >= MANY { &by_person } else { &by_picture };
    let not_a_face = pick(options.not_a_face, &|| Ok(left_out(recognizer, &person, folds)?.outside))?;
    let rounding = ROUNDING * size(recognizer);
    let not_a_face = not_a_face.filter(|t| *t > rounding || options.not_a_face != Threshold::Learnt);
    Ok(Thresholds { unknown, not_a_face })
}

/// The length of the longest enrolled picture, at most.
fn size(recognizer: &Recognizer) -> f64 {
    let length = |row: ArrayView1<'_, f64>| row.dot(&row).sqrt();
    length(recognizer.model.mean()) + recognizer.coordinates.rows().into_iter().map(length).fold(0.0, f64::max)
}

/// Distances of pictures that were left out.
#[derive(Default)]
struct Distances {
    /// To the nearest picture of the same person.
    own: Vec<f64>,
    /// To face space.
    outside: Vec<f64>,
}

fn left_out(recognizer: &Recognizer, person: &[usize], folds: &[usize]) -> Result<Distances, Error> {
    let parts: Vec<Distances> = (0..FOLDS)
        .into_par_iter()
        .map(|fold| one_part(recognizer, person, folds, fold))
        .collect::<Result<_, Error>>()?;
    let mut all = Distances::default();
    for part in parts {
        all.own.extend(part.own);
        all.outside.extend(part.outside);
    }
    Ok(all)
}

fn one_part(recognizer: &Recognizer, person: &[usize], folds: &[usize], fold: usize) -> Result<Distances, Error> {
    let (out, rest): (Vec<usize>, Vec<usize>) = (0..person.len()).partition(|&i| folds[i] == fold);
    let mut distances = Distances::default();
    if out.is_empty() || rest.len() < 2 || recognizer.coordinates.ncols() == 0 {
        return Ok(distances);
    }
    let (new, old) = (recognizer.coordinates.select(Axis(0), &out), recognizer.coordinates.select(Axis(0), &rest));
    let model = EigenspaceModel::batch(old.view())?.with_components(recognizer.options.components)?;
    let (q, new) = model.distances(new.view())?;
    let old = model.project(old.view())?;
    let metric = recognizer.options.metric;
    let deviations = deviations(&model, metric)?;
    let (new, old) = (metric.features(new, &deviations), metric.features(old, &deviations));
    for (i, x) in out.iter().zip(new.rows()) {
        let same = rest.iter().zip(old.rows()).filter(|(j, _)| person[**j] == person[*i]);
        if let Some(nearest) = same.map(|(_, row)| metric.distance(x, row)).reduce(f64::min) {
            distances.own.push(nearest);
        }
    }
    let dropped = out.iter().map(|&i| recognizer.pictures[i].outside.powi(2));
    distances.outside.extend(q.iter().zip(dropped).map(|(q, dropped)| (q + dropped).sqrt()));
    Ok(distances)
}

/// The smallest value that this share does not exceed.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied()
}
