//! cuBLAS and cuSOLVER.
//!
//! A row-major q × D matrix is a column-major D × q one. So A Bᵀ of row-major matrices is Aᵀ B of
//! column-major ones, and the lower triangle of a row-major matrix is the upper one of a
//! column-major matrix.
//!
//! cuBLAS adds the products of a sum in f64 in an order of its own, possibly with fused
//! multiplications. A dot product of length n then has an error of at most γ_n |x|ᵀ|y|, as any
//! order has, which is what `bound.rs` counts for the CPU too.

use cudarc::cublas::sys::{cublasFillMode_t, cublasOperation_t as Operation};
use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::cusolver::sys as solver;
use cudarc::driver::{CudaSlice, CudaStream, CudaView, DevicePtr, DevicePtrMut};

use super::Cuda;
use super::open::{Libraries, failed};
use crate::device_error::DeviceError;

/// A dimension, as cuBLAS counts.
pub(super) fn int(size: usize) -> Result<i32, DeviceError> {
    i32::try_from(size)
        .map_err(|_| DeviceError::Failed { reason: format!("a matrix with {size} rows or columns is too large") })
}

impl Libraries {
    /// B Aᵀ for two matrices with the same number of columns, written to a row-major square from
    /// cell `start` on.
    #[allow(unsafe_code, clippy::too_many_arguments)]
    pub(super) fn inner(
        &self,
        stream: &CudaStream,
        (a, a_rows): (&CudaView<'_, f64>, usize),
        (b, b_rows): (&CudaView<'_, f64>, usize),
        columns: usize,
        out: &mut CudaSlice<f64>,
        start: usize,
        order: usize,
    ) -> Result<(), DeviceError> {
        let (m, n, k, ldc) = (int(a_rows)?, int(b_rows)?, int(columns)?, int(order)?);
        let mut out = out.slice_mut(start..);
        let ((a, _a), (b, _b), (out, _out)) = (a.device_ptr(stream), b.device_ptr(stream), out.device_ptr_mut(stream));
        let (one, zero, t) = (1.0, 0.0, Operation::CUBLAS_OP_T);
        // SAFETY: `a` has a_rows × columns cells, `b` b_rows × columns, and the caller leaves room
        // for a_rows × b_rows with `order` cells from one to the next. The guards order this with
        // other uses of the same memory.
        unsafe {
            let (a, b, out) = (a as *const f64, b as *const f64, out as *mut f64);
            blas::dgemm(self.blas, t, Operation::CUBLAS_OP_N, m, n, k, &one, a, k, b, k, &zero, out, ldc)
        }
        .map_err(failed)
    }

    /// out = U A, or out += U A, for the columns of a small matrix from `first` on: `small` is (U,
    /// first, its columns, its rows).
    #[allow(unsafe_code)]
    pub(super) fn combine(
        &self,
        stream: &CudaStream,
        (a, rows): (&CudaSlice<f64>, usize),
        (u, first, order, keep): (&CudaSlice<f64>, usize, usize, usize),
        columns: usize,
        out: &mut CudaSlice<f64>,
        add: bool,
    ) -> Result<(), DeviceError> {
        let (m, n, k, ldb) = (int(columns)?, int(keep)?, int(rows)?, int(order)?);
        let u = u.slice(first..);
        let ((a, _a), (u, _u), (out, _out)) = (a.device_ptr(stream), u.device_ptr(stream), out.device_ptr_mut(stream));
        let (one, beta, plain) = (1.0, if add { 1.0 } else { 0.0 }, Operation::CUBLAS_OP_N);
        // SAFETY: `a` has rows × columns cells, `out` keep × columns, and `u` keep × order, of
        // which `rows` columns from `first` on are read. The guards order this with other uses of
        // the same memory.
        unsafe {
            let (a, u, out) = (a as *const f64, u as *const f64, out as *mut f64);
            blas::dgemm(self.blas, plain, plain, m, n, k, &one, a, m, u, ldb, &beta, out, m)
        }
        .map_err(failed)
    }

    /// The lower triangle of XᵀX for some rows of X, from row `first` on.
    #[allow(unsafe_code)]
    pub(super) fn scatter(
        &self,
        stream: &CudaStream,
        (x, first, rows): (&CudaSlice<f64>, usize, usize),
        columns: usize,
        out: &mut CudaSlice<f64>,
    ) -> Result<(), DeviceError> {
        let (n, k) = (int(columns)?, int(rows)?);
        let x = x.slice(first * columns..);
        let ((x, _x), (out, _out)) = (x.device_ptr(stream), out.device_ptr_mut(stream));
        let (one, zero) = (1.0, 0.0);
        let (upper, plain) = (cublasFillMode_t::CUBLAS_FILL_MODE_UPPER, Operation::CUBLAS_OP_N);
        // SAFETY: `x` has rows × columns cells after `first`, and `out` columns × columns. The
        // guards order this with other uses of the same memory.
        unsafe {
            let (x, out) = (x as *const f64, out as *mut f64);
            blas_sys::cublasDsyrk_v2(self.blas, upper, plain, n, k, &one, x, n, &zero, out, n).result()
        }
        .map_err(failed)
    }

    /// to += more for the first `count` cells.
    #[allow(unsafe_code)]
    pub(super) fn add(
        &self,
        stream: &CudaStream,
        to: &mut CudaSlice<f64>,
        more: &CudaSlice<f64>,
        count: usize,
    ) -> Result<(), DeviceError> {
        let n = int(count)?;
        let (mut to, more) = (to.slice_mut(..count), more.slice(..count));
        let ((more, _more), (to, _to)) = (more.device_ptr(stream), to.device_ptr_mut(stream));
        let one = 1.0;
        // SAFETY: both have `count` cells. The guards order this with other uses of the same
        // memory.
        unsafe {
            let (more, to) = (more as *const f64, to as *mut f64);
            blas_sys::cublasDaxpy_v2(self.blas, n, &one, more, 1, to, 1).result()
        }
        .map_err(failed)
    }

    /// out = V M − out for `keep` rows V and a symmetric matrix M, given by its lower triangle:
    /// `symmetric` is (M, its rows).
    #[allow(unsafe_code)]
    pub(super) fn subtract_from_product(
        &self,
        stream: &CudaStream,
        (lower, order): (&CudaSlice<f64>, usize),
        v: &CudaSlice<f64>,
        keep: usize,
        out: &mut CudaSlice<f64>,
    ) -> Result<(), DeviceError> {
        let (n, k) = (int(order)?, int(keep)?);
        let (lower, v) = (lower.slice(..order * order), v.slice(..keep * order));
        let mut out = out.slice_mut(..keep * order);
        let ((lower, _lower), (v, _v)) = (lower.device_ptr(stream), v.device_ptr(stream));
        let (out, _out) = out.device_ptr_mut(stream);
        let (one, minus_one) = (1.0, -1.0);
        let (left, upper) = (blas_sys::cublasSideMode_t::CUBLAS_SIDE_LEFT, cublasFillMode_t::CUBLAS_FILL_MODE_UPPER);
        // SAFETY: `lower` has order × order cells, and `v` and `out` have keep × order each, as the
        // slices have checked. The guards order this with other uses of the same memory.
        unsafe {
            let (lower, v, out) = (lower as *const f64, v as *const f64, out as *mut f64);
            blas_sys::cublasDsymm_v2(self.blas, left, upper, n, k, &one, lower, n, v, n, &minus_one, out, n).result()
        }
        .map_err(failed)
    }

    /// Replaces the last rows of a symmetric matrix, given by its lower triangle, by eigenvectors,
    /// one per row, by increasing eigenvalue: by the leading `wanted` ones if these are at most
    /// half of them, otherwise by all. Returns their number, or `None` if the method has not
    /// converged.
    pub(super) fn eigen(
        &self,
        card: &Cuda,
        matrix: &mut CudaSlice<f64>,
        order: usize,
        wanted: usize,
        values: &mut CudaSlice<f64>,
    ) -> Result<Option<usize>, DeviceError> {
        if self.leading(card, matrix, order, wanted, values)? {
            return Ok(Some(wanted));
        }
        self.eigen_of_all(card, matrix, order, if wanted <= order / 2 { wanted } else { order }, values)
    }

    /// The same by a reduction of the whole matrix to a tridiagonal one, which takes the most time
    /// however many eigenvectors are wanted.
    #[allow(unsafe_code)]
    pub(super) fn eigen_of_all(
        &self,
        card: &Cuda,
        matrix: &mut CudaSlice<f64>,
        order: usize,
        found: usize,
        values: &mut CudaSlice<f64>,
    ) -> Result<Option<usize>, DeviceError> {
        let stream = &card.main;
        let n = int(order)?;
        let range = match found == order {
            true => solver::cusolverEigRange_t::CUSOLVER_EIG_RANGE_ALL,
            false => solver::cusolverEigRange_t::CUSOLVER_EIG_RANGE_I,
        };
        let (first, last) = (int(order - found + 1)?, n);
        let vectors = solver::cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR;
        let upper = solver::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER;
        let mut info = stream.alloc_zeros::<i32>(1).map_err(failed)?;
        let (mut size, mut count) = (0, 0);
        {
            let ((matrix, _m), (values, _v)) = (matrix.device_ptr(stream), values.device_ptr(stream));
            // SAFETY: this only asks for the size of the workspace.
            unsafe {
                let (matrix, values) = (matrix as *const f64, values as *const f64);
                let (handle, count, size) = (self.solver, &mut count, &mut size);
                solver::cusolverDnDsyevdx_bufferSize(
                    handle, vectors, range, upper, n, matrix, n, 0.0, 0.0, first, last, count, values, size,
                )
                .result()
            }
            .map_err(failed)?;
        }
        let mut work = card.reserve(usize::try_from(size).map_err(failed)?)?;
        {
            let ((matrix, _m), (values, _v)) = (matrix.device_ptr_mut(stream), values.device_ptr_mut(stream));
            let ((work, _w), (info, _i)) = (work.device_ptr_mut(stream), info.device_ptr_mut(stream));
            // SAFETY: `matrix` has order × order cells, `values` has `order`, and the workspace the
            // size that was asked for. The guards order this with other uses of the same memory.
            unsafe {
                let (matrix, values, work) = (matrix as *mut f64, values as *mut f64, work as *mut f64);
                let (handle, count, info) = (self.solver, &mut count, info as *mut i32);
                solver::cusolverDnDsyevdx(
                    handle, vectors, range, upper, n, matrix, n, 0.0, 0.0, first, last, count, values, work, size, info,
                )
                .result()
            }
            .map_err(failed)?;
        }
        if found < order {
            // They are in the first rows, which are at most half of all.
            let (from, mut to) = matrix.split_at_mut((order - found) * order);
            stream.memcpy_dtod(&from.slice(..found * order), &mut to).map_err(failed)?;
        }
        let info = stream.clone_dtoh(&info).map_err(failed)?;
        stream.synchronize().map_err(failed)?;
        Ok((info == [0] && usize::try_from(count) == Ok(found)).then_some(found))
    }
}
