//! Learns the distances above which images are rejected, from the enrolled images alone.
//!
//! ```text
//! t(m)  the quantile of  min_p d_p(z_i)   image i left out, so that m images of its person remain
//! t     = t(m₁) (t(m₁) / t(m₂))^e         e = ln(n / m₁) / ln(m₁ / m₂),   m₂ < m₁ < n
//! t_Q   the quantile of  √Q_i             all people in the group of i left out
//! ```
//!
//! **The goal of t.** A share of 1 − `accept` (5 %) of new images of enrolled people should be
//! rejected. This rate hardly depends on the number of enrolled people. The share of accepted
//! strangers does: each enrolled person is one more that a stranger may resemble. No threshold can
//! fix both rates, so this one fixes the first, and [`Recognizer::strangers_accepted`] estimates
//! the second.
//!
//! **How it is learned.** Enrolled images are nearer to the model than new ones, because the model
//! was fitted to them. So a fifth of the images is left out at a time, and their distances to the
//! nearest person, whoever that is, are computed with a model of the others. They are compared with
//! fewer images than a new image would be, so these distances are too large. Therefore two fifths
//! are left out as well, and the quantiles are extrapolated by a power law to the number of
//! enrolled images. With two images per person there is nothing to extrapolate from, and fewer
//! known people are rejected than intended. With one image per person, nothing is known about how
//! images of one person differ, and nobody is called unknown.
//!
//! For t_Q, whole people are left out, because a stranger's face is still a face. With fewer than
//! three people, images are left out instead. If the components span the whole space, √Q is only
//! rounding, and there is no t_Q.
//!
//! Everything is computed from scores. As long as no direction was dropped, they are the rotated
//! images, so the images are not needed. Otherwise, the distance between an image and its
//! reconstruction is added to Q.

use ndarray::{ArrayView1, Axis};
use rayon::prelude::*;

use crate::faces::error::Error;
use crate::faces::metric::deviations;
use crate::faces::recognizer::Recognizer;
use crate::faces::settings::Threshold;
use crate::faces::span::Spans;
use crate::model::eigenspace_model::EigenspaceModel;

/// Number of parts that are left out in turn.
const PARTS: usize = 5;
/// From this number of people on, whole people are left out.
const MIN_PEOPLE_TO_LEAVE_OUT: usize = 3;
/// √Q up to this share of the length of the images is rounding.
const DISTANCE_ROUNDING_SHARE: f64 = 1e-9;

/// Distances above which images are rejected; `None` rejects nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Thresholds {
    /// Distance to the nearest person: to the span of the person's images, in features of the
    /// metric.
    pub unknown: Option<f64>,
    /// Distance to the space of faces, √Q.
    pub not_a_face: Option<f64>,
}

impl Thresholds {
    /// Whether an image with these distances passes both thresholds.
    fn accept(&self, distance: f64, outside: f64) -> bool {
        let within = |threshold: Option<f64>, distance: f64| threshold.is_none_or(|threshold| distance <= threshold);
        within(self.unknown, distance) && within(self.not_a_face, outside)
    }
}

/// The thresholds according to the settings.
pub(crate) fn learn(recognizer: &Recognizer) -> Result<Thresholds, Error> {
    let options = recognizer.options();
    let pick = |threshold: Threshold, learned: &dyn Fn() -> Result<Option<f64>, Error>| match threshold {
        Threshold::None => Ok::<_, Error>(None),
        Threshold::Fixed(value) => Ok(Some(value)),
        Threshold::Learned => learned(),
    };
    let unknown = pick(options.unknown, &|| unknown(recognizer))?;
    let not_a_face = pick(options.not_a_face, &|| not_a_face(recognizer))?;
    Ok(Thresholds { unknown, not_a_face })
}

fn unknown(recognizer: &Recognizer) -> Result<Option<f64>, Error> {
    let person = recognizer.persons();
    let (folds, parts) = by_image(&person);
    let known = |images: Vec<LeftOut>| images.into_iter().filter(|image| image.own > 0).collect::<Vec<_>>();
    let one = known(left_out(recognizer, &person, &parts, folds, 1)?);
    let two = known(left_out(recognizer, &person, &parts, folds, 2)?);
    let accept = recognizer.options.accept;
    let quantile_of = |images: &[LeftOut]| quantile(images.iter().map(|image| image.distance).collect(), accept);
    let Some(threshold) = quantile_of(&one) else { return Ok(None) };
    // The same images, with one part of the others left out and with two.
    let both: Vec<LeftOut> =
        one.into_iter().filter(|a| two.binary_search_by_key(&a.image, |b| b.image).is_ok()).collect();
    let (Some(more), Some(fewer)) = (quantile_of(&both), quantile_of(&two)) else { return Ok(Some(threshold)) };
    let total = |images: &[LeftOut]| images.iter().map(|image| image.own as f64).sum::<f64>();
    let count = |p: usize| person.iter().filter(|&&other| other == p).count() as f64;
    let enrolled: f64 = both.iter().map(|image| count(person[image.image])).sum();
    let exponent = (enrolled / total(&both)).ln() / (total(&both) / total(&two)).ln();
    let shrink = if fewer > more && exponent.is_finite() { (more / fewer).powf(exponent) } else { 1.0 };
    Ok(Some(threshold * shrink))
}

fn not_a_face(recognizer: &Recognizer) -> Result<Option<f64>, Error> {
    let person = recognizer.persons();
    let (folds, parts) =
        if recognizer.people().len() >= MIN_PEOPLE_TO_LEAVE_OUT { by_person(&person) } else { by_image(&person) };
    let outside = left_out(recognizer, &person, &parts, folds, 1)?.iter().map(|image| image.outside).collect();
    let rounding = DISTANCE_ROUNDING_SHARE * size(recognizer);
    Ok(quantile(outside, recognizer.options.accept).filter(|threshold| *threshold > rounding))
}

impl Recognizer {
    /// The share of strangers that these thresholds would accept, estimated by leaving out a fifth
    /// of the people at a time; `None` for fewer than three people.
    pub fn strangers_accepted(&self, thresholds: Thresholds) -> Result<Option<f64>, Error> {
        let person = self.persons();
        if self.people().len() < MIN_PEOPLE_TO_LEAVE_OUT {
            return Ok(None);
        }
        let (folds, parts) = by_person(&person);
        let strangers = left_out(self, &person, &parts, folds, 1)?;
        let accepted = strangers.iter().filter(|image| thresholds.accept(image.distance, image.outside)).count();
        Ok((!strangers.is_empty()).then(|| accepted as f64 / strangers.len() as f64))
    }
}

/// Assigns the n-th image of a person to part n modulo the number of parts. Returns the number of
/// parts and the part of each image.
fn by_image(person: &[usize]) -> (usize, Vec<usize>) {
    let mut seen = vec![0; person.len()];
    let place: Vec<usize> = person
        .iter()
        .map(|&p| {
            seen[p] += 1;
            seen[p] - 1
        })
        .collect();
    let folds = seen.iter().copied().max().unwrap_or(0).min(PARTS);
    (folds, place.iter().map(|place| place % folds).collect())
}

/// Assigns all images of a person to one part. Returns the number of parts and the part of each
/// image.
fn by_person(person: &[usize]) -> (usize, Vec<usize>) {
    (PARTS, person.iter().map(|p| p % PARTS).collect())
}

/// Upper bound on the length of the longest enrolled image.
fn size(recognizer: &Recognizer) -> f64 {
    let length = |row: ArrayView1<'_, f64>| row.dot(&row).sqrt();
    length(recognizer.model.mean()) + recognizer.scores.rows().into_iter().map(length).fold(0.0, f64::max)
}

/// The distances of an image that was left out.
struct LeftOut {
    image: usize,
    /// Number of images of the same person that were not left out.
    own: usize,
    /// Distance to the nearest person.
    distance: f64,
    /// Distance to the space of faces.
    outside: f64,
}

/// The distances of every image if its part and the next `parts_out` − 1 parts are left out, in the
/// order of the images.
fn left_out(
    recognizer: &Recognizer,
    person: &[usize],
    parts: &[usize],
    folds: usize,
    parts_out: usize,
) -> Result<Vec<LeftOut>, Error> {
    let one_part = |part: usize| {
        let of = |chosen: &dyn Fn(usize) -> bool| (0..parts.len()).filter(|&i| chosen(parts[i])).collect::<Vec<_>>();
        let stays = |other: usize| (other + folds - part) % folds >= parts_out;
        compare(recognizer, person, &of(&|other| other == part), &of(&stays))
    };
    let found: Vec<Vec<LeftOut>> = (0..folds).into_par_iter().map(one_part).collect::<Result<_, Error>>()?;
    let mut all: Vec<LeftOut> = found.into_iter().flatten().collect();
    all.sort_unstable_by_key(|image| image.image);
    Ok(all)
}

/// The distances of the images `out` in the eigenspace of the images `rest`.
fn compare(recognizer: &Recognizer, person: &[usize], out: &[usize], rest: &[usize]) -> Result<Vec<LeftOut>, Error> {
    if out.is_empty() || rest.len() < 2 || recognizer.scores.ncols() == 0 {
        return Ok(Vec::new());
    }
    let [new, old] = [out, rest].map(|chosen| recognizer.scores.select(Axis(0), chosen));
    let model = EigenspaceModel::fit(old.view())?.with_components(recognizer.options.components)?;
    let (q, new) = model.distances(new.view())?;
    let old = model.project(old.view())?;
    let metric = recognizer.options.metric;
    // The same number of features as for all images, so that distances can be compared.
    let deviations = deviations(&model, metric, person.len() / 2)?;
    let [new, old] = [new, old].map(|rows| metric.features(rows, &deviations));
    let whose: Vec<usize> = rest.iter().map(|&i| person[i]).collect();
    let spans = Spans::new(old.view(), &whose, recognizer.people().len())?;
    let distances = spans.distances(new.view())?;
    let found = out.iter().zip(distances.rows()).zip(&q).map(|((&image, distances), q)| LeftOut {
        image,
        own: whose.iter().filter(|&&p| p == person[image]).count(),
        distance: distances.iter().copied().fold(f64::INFINITY, f64::min),
        outside: (q + recognizer.images[image].outside.powi(2)).sqrt(),
    });
    Ok(found.collect())
}

/// The smallest value that at least this share of the values does not exceed.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied()
}
