//! Computes on a CUDA device, through cudarc. This is the only directory that uses it.
//!
//! | file | |
//! |---|---|
//! | `open.rs` | finds libcuda, cuBLAS and cuSOLVER, and the device |
//! | `staging.rs`, `memory.rs` | copies through page-locked memory |
//! | `kernels.rs` | starts the kernels of `kernels.cu` |
//! | `products.rs` | cuBLAS and cuSOLVER |
//! | `leading.rs` | the leading eigenvectors of a symmetric matrix, by products |
//!
//! Nothing of CUDA is needed to build: the libraries are loaded when a device is used for the first
//! time. cuBLAS sees the row-major matrices of this crate as column-major ones that are transposed.
//!
//! The same input on the same device gives the same bytes: cuBLAS has a workspace of its own and
//! may not add atomically, and the kernels add in a fixed order.

mod kernels;
mod leading;
mod memory;
mod open;
mod products;
mod staging;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use ndarray::{ArrayView2, ArrayViewMut2};

use super::card::{Card, Make, Matrix, RowsOnCard, Vectors, Words};
use super::products::SCATTER_SUMMED_ROWS;
use crate::device_error::DeviceError;
use kernels::Kernels;
use open::{Libraries, failed};
use staging::Staging;

/// Rows of a block of a Gram matrix. Blocks above the diagonal are not computed.
const GRAM_ROWS: usize = 256;

/// A CUDA device.
pub(crate) struct Cuda {
    context: Arc<CudaContext>,
    /// Products and kernels are queued here, copies of rows in the other two.
    main: Arc<CudaStream>,
    to_card: Staging,
    from_card: Staging,
    kernels: Kernels,
    libraries: Mutex<Libraries>,
}

impl std::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cuda({})", self.context.ordinal())
    }
}

/// The value, also if another thread has panicked while it held the lock: nothing is left half
/// done.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The numbers of a matrix of this card.
fn cells(matrix: &Matrix) -> &CudaSlice<f64> {
    matrix.memory.downcast_ref().expect("a matrix of a CUDA device")
}

fn cells_mut(matrix: &mut Matrix) -> &mut CudaSlice<f64> {
    matrix.memory.downcast_mut().expect("a matrix of a CUDA device")
}

impl Cuda {
    fn reserve(&self, cells: usize) -> Result<CudaSlice<f64>, DeviceError> {
        self.main.alloc_zeros(cells.max(1)).map_err(|error| self.without_memory(error, cells))
    }

    /// The error of a reservation of this number of cells.
    fn without_memory(&self, error: cudarc::driver::DriverError, cells: usize) -> DeviceError {
        if error.0 != cudarc::driver::sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return failed(error);
        }
        let free = self.context.mem_get_info().map_or(0, |(free, _)| free as u64);
        DeviceError::OutOfMemory { needed: (cells as u64).saturating_mul(8), free }
    }

    fn copied_to_card(&self, numbers: &[f64]) -> Result<CudaSlice<f64>, DeviceError> {
        let mut copy = self.reserve(numbers.len())?;
        self.from_card.send_now(&self.kernels, &self.main, numbers, &mut copy).map_err(failed)?;
        Ok(copy)
    }

    fn copied_from_card(&self, numbers: &CudaSlice<f64>) -> Result<Vec<f64>, DeviceError> {
        let copy = self.main.clone_dtoh(numbers).map_err(failed)?;
        self.main.synchronize().map_err(failed)?;
        Ok(copy)
    }
}

impl Card for Cuda {
    fn name(&self) -> String {
        let device = format!("cuda:{}", self.context.ordinal());
        match self.context.name() {
            Ok(name) => format!("{device} ({name})"),
            Err(_) => device,
        }
    }

    fn zeros(&self, rows: usize, columns: usize) -> Result<Matrix, DeviceError> {
        Ok(Matrix { rows, columns, memory: Box::new(self.reserve(rows * columns)?) })
    }

    fn upload(&self, rows: ArrayView2<'_, f64>, to: &mut Matrix, first: usize) -> Result<(), DeviceError> {
        let start = first * to.columns;
        let copy = rows.as_standard_layout();
        let numbers = copy.as_slice().expect("a copy in standard layout is contiguous");
        self.to_card.send(numbers, &mut cells_mut(to).slice_mut(start..start + numbers.len())).map_err(failed)
    }

    fn upload_made(
        &self,
        home: &mut [f64],
        keep: bool,
        make: Make<'_>,
        to: &mut Matrix,
        first: usize,
    ) -> Result<bool, DeviceError> {
        let start = first * to.columns;
        let mut to = cells_mut(to).slice_mut(start..start + home.len());
        match make {
            Make::Wide(make) => self.to_card.send_made(home, keep, make, &mut to).map_err(failed),
            Make::Narrow(_) if home.is_empty() => Ok(true),
            Make::Narrow(make) => {
                let (stream, cells) = (self.to_card.stream(), home.len());
                let mut narrow = stream.alloc_zeros(cells).map_err(|error| self.without_memory(error, cells / 2))?;
                let good = self.to_card.send_made(home, keep, make, &mut narrow.slice_mut(..)).map_err(failed)?;
                self.kernels.widen(stream, &narrow, &mut to).map_err(failed)?;
                Ok(good)
            }
        }
    }

    fn within(&self, x: &Matrix, rows: usize, limit: f64) -> Result<bool, DeviceError> {
        let stream = self.to_card.stream();
        let mut beyond = stream.alloc_zeros::<i32>(1).map_err(failed)?;
        self.kernels.check(stream, cells(x), rows * x.columns, limit, &mut beyond).map_err(failed)?;
        let beyond = stream.clone_dtoh(&beyond).map_err(failed)?;
        stream.synchronize().map_err(failed)?;
        Ok(beyond == [0])
    }

    fn check(&self, rows: RowsOnCard) -> Result<(), DeviceError> {
        open::check_rows(&self.context, rows)
    }

    fn take_over(&self, rows: RowsOnCard, to: &mut Matrix) -> Result<(), DeviceError> {
        let stream = self.to_card.stream();
        let mut part = cells_mut(to).slice_mut(..rows.rows * rows.columns);
        self.kernels.take_over(stream, rows, &mut part).map_err(failed)?;
        // The rows may change as soon as this returns.
        stream.synchronize().map_err(failed)
    }

    fn download(&self, from: &Matrix, mut to: ArrayViewMut2<'_, f64>) -> Result<(), DeviceError> {
        let part = cells(from).slice(0..to.len());
        match to.as_slice_mut() {
            Some(to) => self.from_card.receive(&part, to).map_err(failed),
            None => {
                let mut copy = vec![0.0; to.len()];
                self.from_card.receive(&part, &mut copy).map_err(failed)?;
                to.iter_mut().zip(copy).for_each(|(to, from)| *to = from);
                Ok(())
            }
        }
    }

    fn differences(
        &self,
        x: &Matrix,
        rows: usize,
        near: Words<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Vec<f64>, DeviceError> {
        let (high, low) = (self.copied_to_card(near.0)?, self.copied_to_card(near.1)?);
        let weights = weights.map(|weights| self.copied_to_card(weights)).transpose()?;
        let mut part = self.reserve(Kernels::pieces(rows) * x.columns)?;
        let mut sum = self.reserve(x.columns)?;
        let shape = (rows, x.columns);
        self.kernels
            .differences(&self.main, cells(x), shape, (&high, &low), weights.as_ref(), &mut part)
            .map_err(failed)?;
        self.kernels.total(&self.main, &part, shape, &mut sum).map_err(failed)?;
        self.copied_from_card(&sum)
    }

    fn center(
        &self,
        x: &mut Matrix,
        rows: usize,
        center: Words<'_>,
        roots: Option<&[f64]>,
    ) -> Result<Vec<f64>, DeviceError> {
        let (high, low) = (self.copied_to_card(center.0)?, self.copied_to_card(center.1)?);
        let roots = roots.map(|roots| self.copied_to_card(roots)).transpose()?;
        let mut part = self.reserve(Kernels::pieces(rows) * x.columns)?;
        let mut sum = self.reserve(x.columns)?;
        let shape = (rows, x.columns);
        self.kernels
            .center(&self.main, cells_mut(x), shape, (&high, &low), roots.as_ref(), &mut part)
            .map_err(failed)?;
        self.kernels.total(&self.main, &part, shape, &mut sum).map_err(failed)?;
        self.copied_from_card(&sum)
    }

    fn gram(&self, f: (&Matrix, usize), x: (&Matrix, usize), orthogonal: bool) -> Result<Matrix, DeviceError> {
        let ((f, kept), (x, pending)) = (f, x);
        let (order, columns) = (kept + pending, f.columns);
        let mut gram = self.reserve(order * order)?;
        let libraries = hold(&self.libraries);
        let (f, x) = (cells(f), cells(x));
        if kept > 0 && orthogonal {
            let (mut squared, mut above) = (self.reserve(kept)?, self.reserve(kept)?);
            self.kernels.lengths(&self.main, f, (kept, columns), None, &mut squared, &mut above).map_err(failed)?;
            self.kernels.set_diagonal(&self.main, &mut gram, order, &squared, kept).map_err(failed)?;
        } else if kept > 0 {
            libraries.inner(&self.main, (&f.slice(..), kept), (&f.slice(..), kept), columns, &mut gram, 0, order)?;
        }
        if kept > 0 && pending > 0 {
            let (f, x) = (f.slice(..), x.slice(..));
            libraries.inner(&self.main, (&f, kept), (&x, pending), columns, &mut gram, kept * order, order)?;
        }
        // Only the blocks of X Xᵀ on and below the diagonal.
        for first in (0..pending).step_by(GRAM_ROWS) {
            let (some, start) = (GRAM_ROWS.min(pending - first), first * columns);
            let place = (kept + first) * order + kept + first;
            let (left, below) = (x.slice(start..), x.slice(start..));
            libraries.inner(&self.main, (&left, some), (&below, pending - first), columns, &mut gram, place, order)?;
        }
        Ok(Matrix { rows: order, columns: order, memory: Box::new(gram) })
    }

    fn eigen(&self, mut lower: Matrix, wanted: usize) -> Result<(Vec<f64>, Vectors), DeviceError> {
        let order = lower.rows;
        let mut values = self.reserve(order)?;
        let found = hold(&self.libraries).eigen(self, cells_mut(&mut lower), order, wanted, &mut values)?;
        let mut values = self.copied_from_card(&values)?;
        if found.is_none() {
            // Not converged: values that no check accepts.
            values.fill(f64::NAN);
        }
        values.truncate(found.unwrap_or(order));
        values.reverse();
        Ok((values, Vectors(lower)))
    }

    fn leading(&self, u: &Vectors, keep: usize) -> Result<Matrix, DeviceError> {
        let order = u.0.rows;
        let scale = self.copied_to_card(&vec![1.0; keep])?;
        let mut leading = self.reserve(keep * order)?;
        self.kernels.last_rows(&self.main, cells(&u.0), order, &scale, keep, &mut leading).map_err(failed)?;
        Ok(Matrix { rows: keep, columns: order, memory: Box::new(leading) })
    }

    fn rotate(
        &self,
        u: &Vectors,
        scales: &[f64],
        f: (&Matrix, usize),
        x: (&Matrix, usize),
        out: &mut Matrix,
    ) -> Result<(), DeviceError> {
        let ((f, kept), (x, pending)) = (f, x);
        let (order, columns, keep) = (u.0.rows, f.columns, scales.len());
        if keep == 0 {
            return Ok(());
        }
        let scale = self.copied_to_card(scales)?;
        let mut leading = self.reserve(keep * order)?;
        self.kernels.last_rows(&self.main, cells(&u.0), order, &scale, keep, &mut leading).map_err(failed)?;
        let libraries = hold(&self.libraries);
        let (f, x, out) = (cells(f), cells(x), cells_mut(out));
        if kept > 0 {
            libraries.combine(&self.main, (f, kept), (&leading, 0, order, keep), columns, out, false)?;
        }
        if pending > 0 {
            libraries.combine(&self.main, (x, pending), (&leading, kept, order, keep), columns, out, kept > 0)?;
        }
        Ok(())
    }

    fn lengths(&self, f: &Matrix, rows: usize, limits: &[f64]) -> Result<(Vec<f64>, Vec<bool>), DeviceError> {
        if rows == 0 {
            return Ok((Vec::new(), Vec::new()));
        }
        let limits = self.copied_to_card(limits)?;
        let (mut squared, mut above) = (self.reserve(rows)?, self.reserve(rows)?);
        let shape = (rows, f.columns);
        self.kernels.lengths(&self.main, cells(f), shape, Some(&limits), &mut squared, &mut above).map_err(failed)?;
        let above = self.copied_from_card(&above)?.into_iter().map(|above| above > 0.0).collect();
        Ok((self.copied_from_card(&squared)?, above))
    }

    fn add_scatter(&self, m: &mut Matrix, low: &mut Matrix, x: &Matrix, rows: usize) -> Result<(), DeviceError> {
        let order = m.rows;
        let mut product = self.reserve(order * order)?;
        let libraries = hold(&self.libraries);
        for first in (0..rows).step_by(SCATTER_SUMMED_ROWS) {
            let some = SCATTER_SUMMED_ROWS.min(rows - first);
            libraries.scatter(&self.main, (cells(x), first, some), order, &mut product)?;
            self.kernels.accumulate(&self.main, cells_mut(m), cells_mut(low), &product, order).map_err(failed)?;
        }
        Ok(())
    }

    fn copy(&self, from: &Matrix, rows: usize, to: &mut Matrix) -> Result<(), DeviceError> {
        let count = rows * from.columns;
        let mut to = cells_mut(to).slice_mut(..count);
        self.main.memcpy_dtod(&cells(from).slice(..count), &mut to).map_err(failed)
    }

    fn add(&self, to: &mut Matrix, more: &Matrix) -> Result<(), DeviceError> {
        let count = to.rows * to.columns;
        hold(&self.libraries).add(&self.main, cells_mut(to), cells(more), count)
    }

    fn products(&self, x: (&Matrix, usize), b: &Matrix) -> Result<Matrix, DeviceError> {
        let ((x, rows), columns) = (x, b.columns);
        let mut out = self.reserve(rows * b.rows)?;
        let (left, right) = (cells(b).slice(..), cells(x).slice(..));
        if rows > 0 && b.rows > 0 {
            let libraries = hold(&self.libraries);
            libraries.inner(&self.main, (&left, b.rows), (&right, rows), columns, &mut out, 0, b.rows)?;
        }
        Ok(Matrix { rows, columns: b.rows, memory: Box::new(out) })
    }

    fn combinations(&self, z: &Matrix, b: &Matrix) -> Result<Matrix, DeviceError> {
        let mut out = self.reserve(z.rows * b.columns)?;
        if z.rows > 0 {
            let small = (cells(z), 0, b.rows, z.rows);
            hold(&self.libraries).combine(&self.main, (cells(b), b.rows), small, b.columns, &mut out, false)?;
        }
        Ok(Matrix { rows: z.rows, columns: b.columns, memory: Box::new(out) })
    }

    fn residuals(&self, lower: &Matrix, u: &Vectors, values: &[f64]) -> Result<Vec<f64>, DeviceError> {
        let (order, keep) = (lower.rows, values.len());
        if keep == 0 {
            return Ok(Vec::new());
        }
        let vectors = self.leading(u, keep)?;
        let scale = self.copied_to_card(values)?;
        let mut residuals = self.reserve(keep * order)?;
        self.kernels.last_rows(&self.main, cells(&u.0), order, &scale, keep, &mut residuals).map_err(failed)?;
        let symmetric = (cells(lower), order);
        hold(&self.libraries).subtract_from_product(&self.main, symmetric, cells(&vectors), keep, &mut residuals)?;
        let (mut squared, mut above) = (self.reserve(keep)?, self.reserve(keep)?);
        let shape = (keep, order);
        self.kernels.lengths(&self.main, &residuals, shape, None, &mut squared, &mut above).map_err(failed)?;
        self.copied_from_card(&squared)
    }
}
