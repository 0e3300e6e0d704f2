//! Recognizes images: as a person, as unknown, or as not a face.
//!
//! ```text
//! z = V_k (x − μ),   Q = ‖x − μ − V_kᵀz‖²
//! √Q > t_Q               not a face
//! min_p d_p(z) > t       unknown              d_p: distance to the span of p's images (`span.rs`)
//! otherwise              the person with the best score
//! ```
//!
//! Whether a face is known and whose it is are two questions. The first is answered by the distance
//! to the nearest person, whatever the classifier; the second is answered by the classifier.

use ndarray::{Array2, ArrayView1};

use crate::faces::classify::{Gallery, Trained};
use crate::faces::error::Error;
use crate::faces::metric::deviations;
use crate::faces::recognizer::Recognizer;
use crate::faces::span::Spans;
use crate::faces::threshold::{self, Thresholds};
use crate::rows::block::Block;

/// Number of matches in a [`Recognition`].
const MAX_MATCHES: usize = 10;

/// The decision about an image. There will be no other variants, so a `match` can be complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// An image of this person.
    Person(String),
    /// A face of somebody who is not enrolled.
    Unknown,
    /// Not a face.
    NotAFace,
}

/// A person who may be in the image.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The name of the person.
    pub person: String,
    /// The score of the classifier. Larger is better; the unit depends on the classifier.
    pub score: f64,
    /// The distance to the span of the person's images, in features of the metric.
    pub distance: f64,
    /// The name of the person's nearest image.
    pub image: String,
}

/// An enrolled image near the recognized one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// The person in it.
    pub person: String,
    /// Its name.
    pub image: String,
    /// Its distance by the metric.
    pub distance: f64,
}

/// The result for one image.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recognition {
    /// The decision.
    pub verdict: Verdict,
    /// All people, best match first.
    pub candidates: Vec<Candidate>,
    /// The nearest enrolled images, of any person.
    pub matches: Vec<Match>,
    /// The distance to the nearest person; above [`Thresholds::unknown`] the face is unknown.
    pub distance: f64,
    /// The distance to the space of faces, √Q; above [`Thresholds::not_a_face`] the image is not a
    /// face.
    pub face_distance: f64,
}

impl Recognition {
    /// The person, if the face is known.
    pub fn person(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Person(person) => Some(person),
            Verdict::Unknown | Verdict::NotAFace => None,
        }
    }
}

/// A recognizer with a trained classifier and learned thresholds.
pub struct Matcher<'a> {
    recognizer: &'a Recognizer,
    people: Vec<&'a str>,
    person: Vec<usize>,
    features: Array2<f64>,
    deviations: Vec<f64>,
    spans: Spans,
    trained: Trained,
    thresholds: Thresholds,
}

impl Recognizer {
    /// Learns the classifier and the thresholds from the scores of the enrolled images.
    pub fn matcher(&self) -> Result<Matcher<'_>, Error> {
        let person = self.persons();
        let people = self.people();
        let k = self.model.n_components();
        let deviations = deviations(&self.model, self.options.metric, self.images.len() / 2)?;
        let shown = self.scores.slice_axis(ndarray::Axis(1), ndarray::Slice::from(..k)).to_owned();
        let features = self.options.metric.features(shown, &deviations);
        let gallery =
            Gallery { features: &features, person: &person, people: people.len(), metric: self.options.metric };
        let trained = Trained::new(&self.options, &gallery);
        let spans = Spans::new(features.view(), &person, people.len())?;
        let thresholds = threshold::learn(self)?;
        Ok(Matcher { recognizer: self, people, person, features, deviations, spans, trained, thresholds })
    }
}

impl Matcher<'_> {
    /// The thresholds in use.
    pub fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    /// The people that can be recognized.
    pub fn people(&self) -> &[&str] {
        &self.people
    }

    /// Recognizes images, one per row.
    pub fn recognize<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Vec<Recognition>, Error> {
        let model = &self.recognizer.model;
        let rows = rows.into().unweighted();
        rows.check(model.features())?;
        let rows = self.recognizer.options.pixels.apply(rows.all_widened().into_owned());
        let (q, scores) = model.distances(&rows)?;
        let metric = self.recognizer.options.metric;
        let features = metric.features(scores, &self.deviations);
        let gallery = Gallery { features: &self.features, person: &self.person, people: self.people.len(), metric };
        let spans = self.spans.distances(features.view())?;
        let found = features.rows().into_iter().zip(spans.rows()).zip(&q).map(|((x, spans), q)| {
            let near: Vec<f64> = self.features.rows().into_iter().map(|row| metric.distance(x, row)).collect();
            let scores = self.trained.scores(x, &near, spans, &gallery);
            self.recognition(&scores, &near, spans, q.sqrt())
        });
        Ok(found.collect())
    }

    fn recognition(&self, scores: &[f64], near: &[f64], spans: ArrayView1<'_, f64>, face_distance: f64) -> Recognition {
        let mut nearest = vec![(f64::INFINITY, 0); self.people.len()];
        for (i, (&person, &distance)) in self.person.iter().zip(near).enumerate() {
            if distance < nearest[person].0 {
                nearest[person] = (distance, i);
            }
        }
        let mut order: Vec<usize> = (0..self.people.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let candidate = |&p: &usize| Candidate {
            person: self.people[p].into(),
            score: scores[p],
            distance: spans[p],
            image: self.recognizer.images[nearest[p].1].name.clone(),
        };
        let candidates: Vec<Candidate> = order.iter().map(candidate).collect();
        let mut by_distance: Vec<usize> = (0..near.len()).collect();
        by_distance.sort_by(|&a, &b| near[a].total_cmp(&near[b]));
        let entry = |&i: &usize| {
            let image = &self.recognizer.images[i];
            Match { person: image.person.clone(), image: image.name.clone(), distance: near[i] }
        };
        let matches = by_distance.iter().take(MAX_MATCHES).map(entry).collect();
        let beyond = |threshold: Option<f64>, distance: f64| threshold.is_some_and(|threshold| distance > threshold);
        let distance = spans.iter().copied().fold(f64::INFINITY, f64::min);
        let verdict = match candidates.first() {
            _ if beyond(self.thresholds.not_a_face, face_distance) => Verdict::NotAFace,
            Some(best) if !beyond(self.thresholds.unknown, distance) => Verdict::Person(best.person.clone()),
            _ => Verdict::Unknown,
        };
        Recognition { verdict, candidates, matches, distance, face_distance }
    }
}
