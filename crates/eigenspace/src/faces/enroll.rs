//! More pictures, and fewer.
//!
//! ```text
//! enroll   M' = M ∪ X                     Z' = [ carry(Z) ; V'(X − μ') ]
//! forget   M' = M ∖ X̂,  X̂ = 1μᵀ + Ẑ V     Z' = carry(Z without Ẑ)
//! ```
//!
//! X̂ are the rows that leave, from their coordinates: equal to the pictures while no direction was dropped. Where some were, each picture is
//! known to within a distance ε_i, and M ∖ X̂ differs from M ∖ X by at most
//!
//! ```text
//! 2 s₁ ε + ε² + 2 ‖c‖ δ + δ²,      ε² = Σ ε_i²,   δ = √(w / w') ε
//! ```
//!
//! with s₁ the largest singular value of the centred X̂, c the row that a split takes off for the means (`split.rs`), w and w' the weights before and after. That is
//! added to both sides of the certificate.

use ndarray::{Axis, concatenate};

use crate::error::Error;
use crate::faces::carry::carry;
use crate::faces::error::FaceError;
use crate::faces::{Enrolled, Faces, Recognizer, admit, in_all_directions};
use crate::model::EigenspaceModel;

impl Recognizer {
    /// The recogniser that also knows these pictures, of new people or of known ones. Nothing is computed from old
    /// pictures. A picture that is enrolled already is refused.
    pub fn enroll(&self, faces: Faces<'_>) -> Result<Self, Error> {
        if faces.rows.nrows() > 0 {
            crate::block::check(faces.rows, self.model.features())?;
        }
        let (mut new, order) = admit(faces, &self.pictures)?;
        let rows = self.options.pixels.apply(faces.rows.select(Axis(0), &order));
        let model = self.model.update(rows.view(), self.options.truncation())?;
        let (theirs, outside) = in_all_directions(&model, rows.view())?;
        new.iter_mut().zip(outside).for_each(|(picture, outside)| picture.outside = outside);
        let all: Vec<usize> = (0..self.pictures.len()).collect();
        let mut result = self.carried(model, &all);
        result.pictures.extend(new);
        result.coordinates = concatenate![Axis(0), result.coordinates, theirs];
        Ok(result.sorted())
    }

    /// The recogniser that never saw this person.
    pub fn forget(&self, person: &str) -> Result<Self, Error> {
        let theirs: Vec<usize> = (0..self.pictures.len()).filter(|&i| self.pictures[i].person == person).collect();
        if theirs.is_empty() {
            return Err(self.no_picture(person, ""));
        }
        self.without(&theirs)
    }

    /// The recogniser that never saw this picture.
    pub fn forget_picture(&self, person: &str, picture: &str) -> Result<Self, Error> {
        let found = self.pictures.iter().position(|p| p.person == person && p.name == picture);
        let found = found.ok_or_else(|| self.no_picture(person, picture))?;
        self.without(&[found])
    }

    /// Takes pictures out of the model and off the list.
    fn without(&self, leaving: &[usize]) -> Result<Self, Error> {
        let staying: Vec<usize> = (0..self.pictures.len()).filter(|i| leaving.binary_search(i).is_err()).collect();
        if staying.is_empty() {
            return Err(FaceError::NobodyLeft.into());
        }
        let part = EigenspaceModel::batch(self.rows_of(leaving)?.view())?;
        let mut model = self.model.split(&part)?;
        let distance = leaving.iter().map(|&i| self.pictures[i].outside.powi(2)).sum::<f64>().sqrt();
        if distance > 0.0 {
            let (before, after) = (self.model.weight(), model.weight());
            let between = &model.mean() - &part.mean();
            let c = (after * part.weight() / before).sqrt() * between.dot(&between).sqrt();
            let delta = (before / after).sqrt() * distance;
            let more = 2.0 * part.spectrum.largest() * distance + distance.powi(2) + 2.0 * c * delta + delta.powi(2);
            model.bound.lost += more;
            model.bound.surplus += more;
        }
        Ok(self.carried(model, &staying))
    }

    /// Some of the pictures, in another eigenspace.
    fn carried(&self, model: EigenspaceModel, chosen: &[usize]) -> Self {
        let carried = carry(&self.model, &model, self.coordinates.select(Axis(0), chosen).view());
        let moved = |(&i, lost): (&usize, &f64)| {
            let picture = self.pictures[i].clone();
            Enrolled { outside: picture.outside + lost, ..picture }
        };
        let pictures = chosen.iter().zip(&carried.lost).map(moved).collect();
        Self { model, options: self.options.clone(), pictures, coordinates: carried.coordinates }
    }

    /// The pictures in the order of their names.
    fn sorted(self) -> Self {
        let mut order: Vec<usize> = (0..self.pictures.len()).collect();
        order.sort_by(|&a, &b| self.pictures[a].order(&self.pictures[b]));
        let pictures = order.iter().map(|&i| self.pictures[i].clone()).collect();
        Self { coordinates: self.coordinates.select(Axis(0), &order), pictures, ..self }
    }
}
