//! Distances of rows to a model.
//!
//! ```text
//! Q  = ‖ x − μ − V_kᵀ z ‖²                 distance to the subspace, squared (SPE)
//! T² = Σ_{i≤k} z_i² (w − 1) / s_i²          distance inside it, in standard deviations (Hotelling)
//! ‖X − X̂‖_F = √ΣQ        RMSE = ‖X − X̂‖_F / √(n D)
//! ```
//!
//! Q is computed from the residual itself, because ‖x − μ‖² − ‖z‖² would lose digits by
//! cancellation.

use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, Axis};

use crate::error::Error;
use crate::linalg;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::rows::block::Block;

/// Number of rows per task.
const TASK_ROWS: usize = 64;

/// A mean row in two words.
pub(crate) type Center<'a> = (ArrayView1<'a, f64>, ArrayView1<'a, f64>);

/// The error of projecting rows and reconstructing them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ReconstructionError {
    /// The Frobenius norm of the residual.
    pub frobenius: f64,
    /// The root of the mean squared residual per cell.
    pub rmse: f64,
}

impl EigenspaceModel {
    /// Q of each row: its squared distance to the subspace of the k components.
    pub fn squared_distance<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array1<f64>, Error> {
        Ok(self.distances(rows)?.0)
    }

    /// Hotelling's T² of each row, over the k components (ddof = 1).
    pub fn hotelling<'a>(&self, rows: impl Into<Block<'a>>) -> Result<Array1<f64>, Error> {
        Ok(self.distances_and_hotelling(rows.into(), self.center(), None)?.1)
    }

    /// μ in two words.
    pub(crate) fn center(&self) -> Center<'_> {
        (self.moments.mean().view(), self.moments.mean_low().view())
    }

    /// Q and T² of each row, after it is centered and its features are multiplied by scales.
    pub(crate) fn distances_and_hotelling(
        &self,
        rows: Block<'_>,
        center: Center<'_>,
        scales: Option<ArrayView1<'_, f64>>,
    ) -> Result<(Array1<f64>, Array1<f64>), Error> {
        let divisor = self.divisor(1.0)?;
        let (q, coordinates) = self.distances_from(rows, center, scales)?;
        let squares = |z: ArrayView1<'_, f64>| {
            z.iter().zip(self.all_singular_values()).map(|(z, s)| (z / s).powi(2)).sum::<f64>()
        };
        Ok((q, coordinates.rows().into_iter().map(|z| squares(z) * divisor).collect()))
    }

    /// The error when these rows are projected on the k components and reconstructed.
    pub fn reconstruction_error<'a>(&self, rows: impl Into<Block<'a>>) -> Result<ReconstructionError, Error> {
        let rows = rows.into();
        let squared = self.squared_distance(rows)?.sum();
        let cells = (rows.nrows() as f64 * rows.ncols() as f64).max(1.0);
        Ok(ReconstructionError { frobenius: squared.sqrt(), rmse: (squared / cells).sqrt() })
    }

    /// Q and z of each row.
    pub(crate) fn distances<'a>(&self, rows: impl Into<Block<'a>>) -> Result<(Array1<f64>, Array2<f64>), Error> {
        self.distances_from(rows.into(), self.center(), None)
    }

    fn distances_from(
        &self,
        rows: Block<'_>,
        (mean, mean_low): Center<'_>,
        scales: Option<ArrayView1<'_, f64>>,
    ) -> Result<(Array1<f64>, Array2<f64>), Error> {
        rows.unweighted().check(self.features())?;
        let components = self.components();
        let mut q = Array1::zeros(rows.nrows());
        let mut z = Array2::zeros((rows.nrows(), components.nrows()));
        q.axis_chunks_iter_mut(Axis(0), TASK_ROWS)
            .into_par_iter()
            .zip(z.axis_chunks_iter_mut(Axis(0), TASK_ROWS))
            .enumerate()
            .for_each(|(task, (mut q, mut z))| {
                let which: Vec<usize> = (task * TASK_ROWS..).take(q.len()).collect();
                let mut residual = rows.select(&which) - mean;
                residual -= &mean_low;
                if let Some(scales) = scales {
                    residual *= &scales;
                }
                linalg::multiply_add(z.view_mut(), residual.view(), components.reversed_axes());
                linalg::multiply_add(residual.view_mut(), (-&z).view(), components);
                for (q, row) in q.iter_mut().zip(residual.rows()) {
                    *q = row.dot(&row);
                }
            });
        Ok((q, z))
    }
}
