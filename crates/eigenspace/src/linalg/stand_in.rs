//! Computes on the CPU what a card would compute, and fails on request, to test the code around a
//! card.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use super::card::{Card, Make, Matrix, RowsOnCard, SUMMED_ROWS, Vectors, Words};
use super::eigen::eigh;
use super::products::{add_scatter, gram_with_orthogonal_groups, mirror, rotate, squared_length};
use super::slices::rows_of;
use crate::device_error::DeviceError;

/// A card whose memory is that of the CPU.
#[derive(Debug)]
pub(crate) struct StandIn {
    /// Operations until one fails.
    left: AtomicUsize,
    /// Operations so far.
    used: AtomicUsize,
    error: Mutex<Option<DeviceError>>,
    /// Whether eigenvectors are wrong.
    wrong_vectors: bool,
    /// Numbers that another library has put on the card. Their address is 8 times the number before
    /// them.
    theirs: Mutex<Vec<f64>>,
}

impl StandIn {
    /// A card that never fails.
    pub(crate) fn new() -> Self {
        let (left, used) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
        Self { left, used, error: Mutex::new(None), wrong_vectors: false, theirs: Mutex::default() }
    }

    /// A card whose eigenvectors are too long.
    pub(crate) fn with_wrong_vectors() -> Self {
        Self { wrong_vectors: true, ..Self::new() }
    }

    /// After this number of further operations, every operation fails; `None` repairs the card.
    pub(crate) fn fail(&self, after: usize, error: Option<DeviceError>) {
        self.left.store(if error.is_some() { after } else { usize::MAX }, Ordering::SeqCst);
        *self.error.lock().expect("nobody panicked") = error;
    }

    /// Puts rows on the card, as another library would.
    pub(crate) fn put(&self, rows: &Array2<f64>) -> RowsOnCard {
        let mut theirs = self.theirs.lock().expect("nobody panicked");
        let address = 8 * theirs.len() as u64;
        theirs.extend(rows.iter());
        RowsOnCard { address, rows: rows.nrows(), columns: rows.ncols(), narrow: false }
    }

    /// Number of operations so far, also of those that failed.
    pub(crate) fn operations(&self) -> usize {
        self.used.load(Ordering::SeqCst)
    }

    fn operate(&self) -> Result<(), DeviceError> {
        self.used.fetch_add(1, Ordering::SeqCst);
        let one_less = |left: usize| Some(if left == usize::MAX { left } else { left.saturating_sub(1) });
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).unwrap_or(0);
        match self.error.lock().expect("nobody panicked").as_ref() {
            Some(error) if left == 0 => Err(error.clone()),
            _ => Ok(()),
        }
    }
}

fn cells(matrix: &Matrix) -> &Array2<f64> {
    matrix.memory.downcast_ref().expect("a matrix of the stand-in")
}

fn cells_mut(matrix: &mut Matrix) -> &mut Array2<f64> {
    matrix.memory.downcast_mut().expect("a matrix of the stand-in")
}

fn matrix(cells: Array2<f64>) -> Matrix {
    Matrix { rows: cells.nrows(), columns: cells.ncols(), memory: Box::new(cells) }
}

/// Σ of `term` over the rows, in pieces, as on the CPU.
fn in_pieces(rows: usize, term: impl Fn(usize) -> f64) -> f64 {
    (0..rows)
        .step_by(SUMMED_ROWS)
        .fold(0.0, |sum, first| sum + (first..rows.min(first + SUMMED_ROWS)).fold(0.0, |part, i| part + term(i)))
}

fn stacked(f: (&Matrix, usize), x: (&Matrix, usize)) -> Array2<f64> {
    let (f, x) = (rows_of(cells(f.0).view(), 0..f.1), rows_of(cells(x.0).view(), 0..x.1));
    ndarray::concatenate![Axis(0), f, x]
}

impl Card for StandIn {
    fn name(&self) -> String {
        "a stand-in".into()
    }

    fn zeros(&self, rows: usize, columns: usize) -> Result<Matrix, DeviceError> {
        self.operate()?;
        Ok(matrix(Array2::zeros((rows, columns))))
    }

    fn upload(&self, rows: ArrayView2<'_, f64>, to: &mut Matrix, first: usize) -> Result<(), DeviceError> {
        self.operate()?;
        cells_mut(to).slice_axis_mut(Axis(0), Slice::from(first..first + rows.nrows())).assign(&rows);
        Ok(())
    }

    fn upload_made(
        &self,
        home: &mut [f64],
        keep: bool,
        make: Make<'_>,
        to: &mut Matrix,
        first: usize,
    ) -> Result<bool, DeviceError> {
        self.operate()?;
        let good = make.write(home);
        let rows = ArrayView2::from_shape((home.len() / to.columns, to.columns), home).expect("whole rows");
        cells_mut(to).slice_axis_mut(Axis(0), Slice::from(first..first + rows.nrows())).assign(&rows);
        if !keep {
            // Whoever uses them anyway finds out.
            home.fill(f64::NAN);
        }
        Ok(good)
    }

    fn within(&self, x: &Matrix, rows: usize, limit: f64) -> Result<bool, DeviceError> {
        self.operate()?;
        Ok(rows_of(cells(x).view(), 0..rows).iter().all(|x| x.abs() <= limit))
    }

    fn check(&self, rows: RowsOnCard) -> Result<(), DeviceError> {
        self.operate()?;
        let place = usize::try_from(rows.address).map_err(|_| rows.missing())? / 8;
        let theirs = self.theirs.lock().expect("nobody panicked");
        if place + rows.rows * rows.columns <= theirs.len() { Ok(()) } else { Err(rows.missing()) }
    }

    fn take_over(&self, rows: RowsOnCard, to: &mut Matrix) -> Result<(), DeviceError> {
        self.check(rows)?;
        let (place, count) = (rows.address as usize / 8, rows.rows * rows.columns);
        let theirs = self.theirs.lock().expect("nobody panicked");
        let rows = ArrayView2::from_shape((rows.rows, rows.columns), &theirs[place..place + count]).expect("its shape");
        cells_mut(to).slice_axis_mut(Axis(0), Slice::from(..rows.nrows())).assign(&rows);
        Ok(())
    }

    fn download(&self, from: &Matrix, mut to: ArrayViewMut2<'_, f64>) -> Result<(), DeviceError> {
        self.operate()?;
        let rows = to.nrows();
        to.assign(&rows_of(cells(from).view(), 0..rows));
        Ok(())
    }

    fn differences(
        &self,
        x: &Matrix,
        rows: usize,
        (high, low): Words<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Vec<f64>, DeviceError> {
        self.operate()?;
        let x = cells(x);
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        Ok((0..x.ncols()).map(|j| in_pieces(rows, |i| weight(i) * ((x[[i, j]] - high[j]) - low[j]))).collect())
    }

    fn center(
        &self,
        x: &mut Matrix,
        rows: usize,
        (high, low): Words<'_>,
        roots: Option<&[f64]>,
    ) -> Result<Vec<f64>, DeviceError> {
        self.operate()?;
        let x = cells_mut(x);
        for ((i, j), x) in x.indexed_iter_mut().filter(|((i, _), _)| *i < rows) {
            *x = roots.map_or(1.0, |roots| roots[i]) * ((*x - high[j]) - low[j]);
        }
        Ok((0..x.ncols()).map(|j| in_pieces(rows, |i| x[[i, j]] * x[[i, j]])).collect())
    }

    fn gram(&self, f: (&Matrix, usize), x: (&Matrix, usize), orthogonal: bool) -> Result<Matrix, DeviceError> {
        self.operate()?;
        let groups = if orthogonal { vec![f.1] } else { vec![] };
        Ok(matrix(gram_with_orthogonal_groups(stacked(f, x).view(), &groups)))
    }

    fn eigen(&self, lower: Matrix, wanted: usize) -> Result<(Vec<f64>, Vectors), DeviceError> {
        self.operate()?;
        let (values, mut vectors) = eigh(cells(&lower).view());
        if self.wrong_vectors {
            vectors *= 1.001;
        }
        Ok((values.iter().take(wanted).copied().collect(), Vectors(matrix(vectors))))
    }

    fn leading(&self, u: &Vectors, keep: usize) -> Result<Matrix, DeviceError> {
        self.operate()?;
        Ok(matrix(rows_of(cells(&u.0).view(), 0..keep).to_owned()))
    }

    fn rotate(
        &self,
        u: &Vectors,
        scales: &[f64],
        f: (&Matrix, usize),
        x: (&Matrix, usize),
        out: &mut Matrix,
    ) -> Result<(), DeviceError> {
        self.operate()?;
        let mut u = rows_of(cells(&u.0).view(), 0..scales.len()).to_owned();
        u.rows_mut().into_iter().zip(scales).for_each(|(mut row, scale)| row *= *scale);
        let rotated = rotate(u.view(), stacked(f, x).view());
        cells_mut(out).slice_axis_mut(Axis(0), Slice::from(..scales.len())).assign(&rotated);
        Ok(())
    }

    fn lengths(&self, f: &Matrix, rows: usize, limits: &[f64]) -> Result<(Vec<f64>, Vec<bool>), DeviceError> {
        self.operate()?;
        let f = rows_of(cells(f).view(), 0..rows);
        let above = |row: ndarray::ArrayView1<'_, f64>| row.iter().zip(limits).any(|(x, limit)| x.abs() > *limit);
        Ok((f.rows().into_iter().map(squared_length).collect(), f.rows().into_iter().map(above).collect()))
    }

    fn add_scatter(&self, m: &mut Matrix, low: &mut Matrix, x: &Matrix, rows: usize) -> Result<(), DeviceError> {
        self.operate()?;
        add_scatter(cells_mut(m), cells_mut(low), rows_of(cells(x).view(), 0..rows));
        Ok(())
    }

    fn copy(&self, from: &Matrix, rows: usize, to: &mut Matrix) -> Result<(), DeviceError> {
        self.operate()?;
        let rows = rows_of(cells(from).view(), 0..rows);
        cells_mut(to).slice_axis_mut(Axis(0), Slice::from(..rows.nrows())).assign(&rows);
        Ok(())
    }

    fn add(&self, to: &mut Matrix, more: &Matrix) -> Result<(), DeviceError> {
        self.operate()?;
        *cells_mut(to) += cells(more);
        Ok(())
    }

    fn products(&self, x: (&Matrix, usize), b: &Matrix) -> Result<Matrix, DeviceError> {
        self.operate()?;
        Ok(matrix(rows_of(cells(x.0).view(), 0..x.1).dot(&cells(b).t())))
    }

    fn combinations(&self, z: &Matrix, b: &Matrix) -> Result<Matrix, DeviceError> {
        self.operate()?;
        Ok(matrix(cells(z).dot(cells(b))))
    }

    fn residuals(&self, lower: &Matrix, u: &Vectors, values: &[f64]) -> Result<Vec<f64>, DeviceError> {
        self.operate()?;
        let mut whole = cells(lower).clone();
        mirror(&mut whole);
        let vectors = rows_of(cells(&u.0).view(), 0..values.len());
        let mut residuals = rotate(vectors, whole.view());
        for ((mut row, vector), value) in residuals.rows_mut().into_iter().zip(vectors.rows()).zip(values) {
            row.scaled_add(-value, &vector);
        }
        Ok(residuals.rows().into_iter().map(squared_length).collect())
    }
}
