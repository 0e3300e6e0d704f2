//! How far a picture is from a person: from the eigenspace of that person's own pictures.
//!
//! ```text
//! d_p(x) = ‖ (I − B_pᵀB_p)(x − m_p) ‖         m_p the mean of p's pictures, B_p their leading directions
//! ```
//!
//! A face between two known pictures of a person is then as near as they are, which tells strangers
//! apart far better than the distance to the nearest picture does: on ORL with five pictures of each
//! person it accepts a third fewer of them (`docs/FACES.md`). With one picture of a person it is the
//! distance to that picture.
//!
//! The span of many pictures is the whole space, from which nothing is far. So a person has at most
//! half as many directions as there are features.

use ndarray::{Array2, ArrayView2, Axis};

use crate::faces::error::Error;
use crate::model::eigenspace_model::EigenspaceModel;

/// The eigenspace of every person, in features; `None` for somebody without a picture.
pub(crate) struct Spans(Vec<Option<EigenspaceModel>>);

impl Spans {
    /// Features of pictures, the number of the person of each, and how many people there are.
    pub(crate) fn new(features: ArrayView2<'_, f64>, person: &[usize], people: usize) -> Result<Self, Error> {
        let most = features.ncols() / 2;
        let mut own = vec![Vec::new(); people];
        person.iter().enumerate().for_each(|(i, &person)| own[person].push(i));
        let span = |own: &Vec<usize>| -> Result<Option<EigenspaceModel>, Error> {
            let rows = features.select(Axis(0), own);
            let Some(mean) = rows.mean_axis(Axis(0)).filter(|mean| !mean.is_empty()) else { return Ok(None) };
            // No model reports zero components; that of one row has none.
            Ok(Some(match most {
                0 => EigenspaceModel::fit(mean.insert_axis(Axis(0)).view())?,
                _ => EigenspaceModel::fit(rows.view())?.with_components(most)?,
            }))
        };
        own.iter().map(span).collect::<Result<_, Error>>().map(Self)
    }

    /// The distance of every picture, by its features, from every person: infinite from nobody's
    /// pictures, and 0 where there are no features.
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
