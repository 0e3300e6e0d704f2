//! The distance of an image to a person: to the eigenspace of the person's own images.
//!
//! ```text
//! d_p(x) = ‖ (I − B_pᵀB_p)(x − m_p) ‖         m_p: the mean of p's images, B_p: their leading directions
//! ```
//!
//! A face between two known images of a person is then as near as those two. This detects strangers
//! far better than the distance to the nearest image: on ORL with five images per person, it
//! accepts a third fewer strangers (`docs/FACES.md`). With a single image of a person, it is the
//! distance to that image.
//!
//! The span of many images would be the whole space, and every distance zero. So a person has at
//! most half as many directions as there are features.

use ndarray::{Array2, ArrayView2, Axis};

use crate::faces::error::Error;
use crate::model::eigenspace_model::EigenspaceModel;

/// The eigenspace of every person, in features; `None` for a person without images.
pub(crate) struct Spans(Vec<Option<EigenspaceModel>>);

impl Spans {
    /// Takes the features of images, the index of the person in each, and the number of people.
    pub(crate) fn new(features: ArrayView2<'_, f64>, person: &[usize], people: usize) -> Result<Self, Error> {
        let most = features.ncols() / 2;
        let mut own = vec![Vec::new(); people];
        person.iter().enumerate().for_each(|(i, &person)| own[person].push(i));
        let span = |own: &Vec<usize>| -> Result<Option<EigenspaceModel>, Error> {
            let rows = features.select(Axis(0), own);
            let Some(mean) = rows.mean_axis(Axis(0)).filter(|mean| !mean.is_empty()) else { return Ok(None) };
            // A model cannot report zero components, but a model of one row has no directions.
            Ok(Some(match most {
                0 => EigenspaceModel::fit(mean.insert_axis(Axis(0)).view())?,
                _ => EigenspaceModel::fit(rows.view())?.with_components(most)?,
            }))
        };
        own.iter().map(span).collect::<Result<_, Error>>().map(Self)
    }

    /// The distance of every image, given by its features, to every person: infinite for a person
    /// without images, and 0 if there are no features.
    pub(crate) fn distances(&self, features: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
        let absent = if features.ncols() == 0 { 0.0 } else { f64::INFINITY };
        let mut distances = Array2::from_elem((features.nrows(), self.0.len()), absent);
        for (mut column, span) in distances.columns_mut().into_iter().zip(&self.0) {
            if let Some(span) = span {
                column.assign(&span.squared_distance(features)?.mapv(f64::sqrt));
            }
        }
        Ok(distances)
    }
}
