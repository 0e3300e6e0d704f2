//! Enrolls and forgets images.
//!
//! ```text
//! enroll   M' = M ∪ X                     Z' = [ carry(Z) ; V'(X − μ') ]
//! forget   M' = M ∖ X̂,  X̂ = 1μᵀ + Ẑ V     Z' = carry(Z without Ẑ)
//! ```
//!
//! X̂ are the rows to forget, reconstructed from their scores. They equal the images as long as no
//! direction was dropped. Otherwise, an image may have a part outside the kept directions. This
//! part also contributed to the mean and to the scatter of every pixel, but is no longer known, so
//! M ∖ X̂ would still contain a trace of the forgotten person. An image with such a part therefore
//! cannot be forgotten.

use ndarray::{Axis, concatenate};

use crate::faces::carry::carry;
use crate::faces::error::Error;
use crate::faces::recognizer::{Enrolled, Faces, Recognizer, admit, in_all_directions};
use crate::linalg;
use crate::model::decompose::rotation;
use crate::model::eigenspace_model::EigenspaceModel;

/// The part of an image outside the kept directions counts as rounding up to this share of the
/// largest singular value.
const OUTSIDE_TOLERANCE: f64 = 1e-7;

impl Recognizer {
    /// Enrolls images of new or known people. The old images are not needed. An image that is
    /// already enrolled is rejected.
    pub fn enroll(&self, faces: Faces<'_>) -> Result<Self, Error> {
        if faces.rows.nrows() > 0 {
            faces.rows.check(self.model.features())?;
        }
        let (mut new, order) = admit(faces, &self.images)?;
        let rows = self.options.pixels.apply(faces.rows.select(&order));
        let model = self.model.update(rows.view(), self.options.truncation())?;
        let (theirs, outside) = in_all_directions(&model, rows.view())?;
        new.iter_mut().zip(outside).for_each(|(image, outside)| image.outside = outside);
        let all: Vec<usize> = (0..self.images.len()).collect();
        let mut result = self.carried(model, &all);
        result.images.extend(new);
        result.scores = concatenate![Axis(0), result.scores, theirs];
        Ok(result.sorted())
    }

    /// Forgets a person: returns the recognizer as if it had never seen the person's images. This
    /// is impossible, and an error, if directions were dropped
    /// ([`max_rank`](crate::faces::FaceOptions::max_rank)) that the images contributed to.
    pub fn forget(&self, person: &str) -> Result<Self, Error> {
        let theirs: Vec<usize> = (0..self.images.len()).filter(|&i| self.images[i].person == person).collect();
        if theirs.is_empty() {
            return Err(self.no_image(person, ""));
        }
        self.without(&theirs)
    }

    /// Forgets one image.
    pub fn forget_image(&self, person: &str, image: &str) -> Result<Self, Error> {
        let found = self.images.iter().position(|p| p.person == person && p.name == image);
        let found = found.ok_or_else(|| self.no_image(person, image))?;
        self.without(&[found])
    }

    /// Removes images from the model and from the list.
    fn without(&self, leaving: &[usize]) -> Result<Self, Error> {
        let staying: Vec<usize> = (0..self.images.len()).filter(|i| leaving.binary_search(i).is_err()).collect();
        if staying.is_empty() {
            return Err(Error::NobodyLeft);
        }
        let rounding = OUTSIDE_TOLERANCE * self.model.spectrum.largest();
        if let Some(image) = leaving.iter().map(|&i| &self.images[i]).find(|image| image.outside > rounding) {
            let (person, image) = (image.person.clone(), image.name.clone());
            return Err(Error::Dropped { person, image });
        }
        Ok(self.carried(self.model.split(&self.part_of(leaving)?)?, &staying))
    }

    /// The model of the images X̂ to forget. Their differences from the mean are used, because
    /// adding a mean that is far from zero would round them. Scores round whenever they are carried
    /// into another eigenspace.
    fn part_of(&self, leaving: &[usize]) -> Result<EigenspaceModel, Error> {
        let scores = self.scores.select(Axis(0), leaving);
        let differences = linalg::rotate(scores.view(), self.model.basis());
        let part = EigenspaceModel::fit(differences.view())?;
        let whole = self.model.moments.scatter();
        let rounding = rotation(2 * self.model.rank());
        let largest = self.model.spectrum.largest().powi(2);
        let bound = part.bound.rounded(rounding, whole, largest).rotated(rounding, whole);
        Ok(EigenspaceModel { moments: part.moments.relative_to(&self.model.moments), bound, ..part })
    }

    /// The chosen images in another eigenspace.
    fn carried(&self, model: EigenspaceModel, chosen: &[usize]) -> Self {
        let carried = carry(&self.model, &model, self.scores.select(Axis(0), chosen).view());
        let moved = |(&i, lost): (&usize, &f64)| {
            let image = self.images[i].clone();
            Enrolled { outside: image.outside + lost, ..image }
        };
        let images = chosen.iter().zip(&carried.lost).map(moved).collect();
        Self { model, options: self.options.clone(), images, scores: carried.scores }
    }

    /// The same recognizer with its images in the order of their names.
    fn sorted(self) -> Self {
        let mut order: Vec<usize> = (0..self.images.len()).collect();
        order.sort_by(|&a, &b| self.images[a].order(&self.images[b]));
        let images = order.iter().map(|&i| self.images[i].clone()).collect();
        Self { scores: self.scores.select(Axis(0), &order), images, ..self }
    }
}
