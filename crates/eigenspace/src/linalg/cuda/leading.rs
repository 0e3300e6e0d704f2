//! The leading eigenvectors of a symmetric matrix without negative eigenvalues, by products alone.
//!
//! ```text
//! f(G) = I − (I − G/ν)^(2^p)           eigenvalues far above ν/2^p become about 1, smaller ones stay in proportion
//! Q ← orthonormal T_d(f(G)) Q          a Chebyshev polynomial, small where the eigenvalues of f are unwanted
//! H = Qᵀ G Q = S diag(θ) Sᵀ,  U = Q S  the eigenvectors
//! ```
//!
//! cuSOLVER reduces the whole matrix to a tridiagonal one, whose many small steps take most of its
//! time. Products of the matrix with a block of vectors are large steps. The result is as good as
//! that of cuSOLVER, or it is not used:
//!
//! * ‖G u − θ u‖ is at most what a backward stable method leaves, for each vector u.
//! * (θ_last + τ) I − (G − U diag(θ) Uᵀ) has a Cholesky factor, for τ of the size of rounding: so
//!   no eigenvalue above θ_last is missing.
//!
//! If there is no gap to find, or the matrix is nearly singular, [`Libraries::leading`] gives up
//! early.

use cudarc::cublas::sys::{cublasDiagType_t, cublasFillMode_t, cublasOperation_t as Operation, cublasSideMode_t};
use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::cusolver::sys as solver;
use cudarc::driver::{CudaSlice, CudaView, DevicePtr, DevicePtrMut};

use super::Cuda;
use super::open::{Libraries, failed};
use super::products::int;
use crate::device_error::DeviceError;

/// Smaller matrices are reduced to a tridiagonal one sooner.
const MIN_ORDER: usize = 640;
/// The block of vectors has at most this share of the rows of the matrix.
const MAX_SHARE: usize = 3;
/// Vectors beside the wanted ones: at least so many, and this share of them. They widen the gap.
const MIN_EXTRA: usize = 16;
const EXTRA_SHARE: usize = 8;
/// Squarings end when the eigenvalues of f(G) add up to this share of the number of wanted vectors.
const TRACE_SHARE: f64 = 0.7;
const MAX_SQUARINGS: usize = 40;
/// Logarithm of the growth of the largest eigenvalue of a polynomial that the Cholesky factor of a
/// first round, and of any round, still resolves.
const FIRST_GROWTH: f64 = 10.0;
const MAX_GROWTH: f64 = 30.0;
/// Logarithm of the reduction of unwanted vectors that reaches rounding.
const REDUCTION: f64 = 37.0;
/// More products than this take longer than the tridiagonal reduction.
const MAX_DEGREE: f64 = 150.0;
const MAX_ROUNDS: usize = 14;
/// A smaller largest unwanted eigenvalue of f(G) is not resolved.
const MIN_EDGE: f64 = 1e-3;

/// The block of vectors, one after the other, and memory for as many.
struct Block {
    order: usize,
    count: usize,
    q: CudaSlice<f64>,
    y: CudaSlice<f64>,
    small: CudaSlice<f64>,
}

impl Libraries {
    /// Replaces the last rows of a symmetric matrix, given by its lower triangle, by the leading
    /// `wanted` eigenvectors, one per row, by increasing eigenvalue. If it returns `false`, the
    /// lower triangle is unchanged.
    pub(super) fn leading(
        &self,
        card: &Cuda,
        matrix: &mut CudaSlice<f64>,
        order: usize,
        wanted: usize,
        values: &mut CudaSlice<f64>,
    ) -> Result<bool, DeviceError> {
        let count = wanted.saturating_add(MIN_EXTRA.max(wanted / EXTRA_SHARE)).next_multiple_of(8);
        if order < MIN_ORDER || count > order / MAX_SHARE {
            return Ok(false);
        }
        card.kernels.mirror(&card.main, matrix, order).map_err(failed)?;
        let Some(mut f) = self.compressed(card, matrix, order, wanted)? else { return Ok(false) };
        let (q, y) = (card.reserve(count * order)?, card.reserve(count * order)?);
        let mut block = Block { order, count, q, y, small: card.reserve(count * count)? };
        if !self.filter(card, &mut f, &mut block, wanted)? {
            return Ok(false);
        }
        // U = Q S for the eigenvectors S of H = Qᵀ G Q, in `q`.
        let Block { q, y, small, .. } = &mut block;
        let (plain, turned) = (Operation::CUBLAS_OP_N, Operation::CUBLAS_OP_T);
        let square = matrix.slice(..order * order);
        self.multiply(card, (plain, plain), (order, count, order), 1.0, (&square, &q.slice(..)), 0.0, y)?;
        self.multiply(card, (turned, plain), (count, count, order), 1.0, (&q.slice(..), &y.slice(..)), 0.0, small)?;
        let mut theta = card.reserve(count)?;
        if self.eigen_of_all(card, small, count, count, &mut theta)?.is_none() {
            return Ok(false);
        }
        self.multiply(card, (plain, plain), (order, count, count), 1.0, (&q.slice(..), &small.slice(..)), 0.0, y)?;
        let found = card.copied_from_card(&theta)?;
        let (least, largest) = (found[count - wanted], found[count - 1]);
        let allowed = (order as f64 + 16.0) * f64::EPSILON * largest;
        let u = y.slice((count - wanted) * order..);
        let theta = theta.slice(count - wanted..);
        // U diag(θ), in `q`.
        self.scale(card, &u, &theta, (order, wanted), q)?;
        card.kernels.affine(&card.main, (matrix, order), (-1.0, least + allowed), &mut f).map_err(failed)?;
        self.multiply(card, (plain, turned), (order, order, wanted), 1.0, (&q.slice(..), &u), 1.0, &mut f)?;
        self.multiply(card, (plain, plain), (order, wanted, order), 1.0, (&square, &u), -1.0, q)?;
        let (mut squared, mut above) = (card.reserve(wanted)?, card.reserve(wanted)?);
        let shape = (wanted, order);
        card.kernels.lengths(&card.main, q, shape, None, &mut squared, &mut above).map_err(failed)?;
        let complete = self.cholesky(card, &mut f, order)?;
        let exact = card.copied_from_card(&squared)?.iter().all(|square| square.sqrt() <= allowed); // false for NaN
        if !complete || !exact {
            return Ok(false);
        }
        let place = (order - wanted) * order;
        card.main.memcpy_dtod(&u, &mut matrix.slice_mut(place..order * order)).map_err(failed)?;
        card.main.memcpy_dtod(&theta, &mut values.slice_mut(..wanted)).map_err(failed)?;
        Ok(true)
    }

    /// f(G); `None` if the wanted eigenvalues are too small.
    fn compressed(
        &self,
        card: &Cuda,
        matrix: &CudaSlice<f64>,
        order: usize,
        wanted: usize,
    ) -> Result<Option<CudaSlice<f64>>, DeviceError> {
        let mut diagonal = card.reserve(order)?;
        card.kernels.diagonal(&card.main, matrix, order, &mut diagonal).map_err(failed)?;
        // Without negative eigenvalues, no eigenvalue is larger than their sum.
        let trace: f64 = card.copied_from_card(&diagonal)?.iter().sum();
        if !(trace > 0.0 && trace.is_finite()) {
            return Ok(None);
        }
        let (mut m, mut next) = (card.reserve(order * order)?, card.reserve(order * order)?);
        card.kernels.affine(&card.main, (matrix, order), (-1.0 / trace, 1.0), &mut m).map_err(failed)?;
        for _ in 0..MAX_SQUARINGS {
            card.kernels.diagonal(&card.main, &m, order, &mut diagonal).map_err(failed)?;
            let rest: f64 = card.copied_from_card(&diagonal)?.iter().map(|x| 1.0 - x).sum();
            if rest >= TRACE_SHARE * wanted as f64 {
                card.kernels.affine(&card.main, (&m, order), (-1.0, 1.0), &mut next).map_err(failed)?;
                return Ok(Some(next));
            }
            let (plain, whole) = (Operation::CUBLAS_OP_N, m.slice(..));
            self.multiply(card, (plain, plain), (order, order, order), 1.0, (&whole, &whole), 0.0, &mut next)?;
            std::mem::swap(&mut m, &mut next);
        }
        Ok(None)
    }

    /// Turns the block into an orthonormal basis of the leading eigenvectors of f. Returns whether
    /// it has.
    fn filter(
        &self,
        card: &Cuda,
        f: &mut CudaSlice<f64>,
        block: &mut Block,
        wanted: usize,
    ) -> Result<bool, DeviceError> {
        let (order, count) = (block.order, block.count);
        let (plain, turned, cells) = (Operation::CUBLAS_OP_N, Operation::CUBLAS_OP_T, order * count);
        let (mut shifted, mut diagonal) = (card.reserve(order * order)?, card.reserve(count)?);
        card.kernels.random(&card.main, &mut block.q, cells).map_err(failed)?;
        let apply = |block: &mut Block| {
            let vectors = (&f.slice(..), &block.q.slice(..));
            self.multiply(card, (plain, plain), (order, count, order), 1.0, vectors, 0.0, &mut block.y)
        };
        apply(block)?;
        if !self.orthonormalize(card, block)? {
            return Ok(false);
        }
        let (mut grown, mut reduced) = (0.0, 0.0);
        for round in 0..MAX_ROUNDS {
            apply(block)?;
            let vectors = (&block.q.slice(..), &block.y.slice(..));
            self.multiply(card, (turned, plain), (count, count, order), 1.0, vectors, 0.0, &mut block.small)?;
            card.kernels.diagonal(&card.main, &block.small, count, &mut diagonal).map_err(failed)?;
            let mut quotients = card.copied_from_card(&diagonal)?;
            quotients.sort_by(|a, b| b.total_cmp(a));
            let (edge, last) = (quotients[count - 1], quotients[wanted - 1]);
            if !(edge >= MIN_EDGE && last.is_finite()) {
                return Ok(false);
            }
            let growth = (2.0 / edge - 1.0).max(1.0).acosh();
            let rate = (2.0 * last / edge - 1.0).max(1.0).acosh();
            let needed = (REDUCTION - reduced) / rate;
            if round > 1 && needed > MAX_DEGREE {
                return Ok(false);
            }
            let resolved = (FIRST_GROWTH + grown).min(MAX_GROWTH) / growth;
            let degree = needed.ceil().min(resolved).max(1.0);
            // T₁ = x Q and T_{i+1} = 2 x T_i − T_{i−1} for x = 2/edge f − I.
            card.kernels.affine(&card.main, (f, order), (2.0 / edge, -1.0), &mut shifted).map_err(failed)?;
            let Block { q, y, .. } = block;
            self.combine_in_place(card, (2.0 / edge, -1.0), y, q, cells)?;
            for _ in 1..degree as usize {
                let vectors = (&shifted.slice(..), &y.slice(..));
                self.multiply(card, (plain, plain), (order, count, order), 2.0, vectors, -1.0, q)?;
                std::mem::swap(q, y);
            }
            if !self.orthonormalize(card, block)? {
                return Ok(false);
            }
            grown += degree * growth;
            // The first estimates of the edge are rough.
            reduced += if round > 1 { degree * rate } else { 0.0 };
            if reduced >= REDUCTION {
                std::mem::swap(&mut block.q, &mut block.y);
                return self.orthonormalize(card, block);
            }
        }
        Ok(false)
    }

    /// Q = Y R⁻¹ for the Cholesky factor R of YᵀY. Returns whether there is one.
    #[allow(unsafe_code)]
    fn orthonormalize(&self, card: &Cuda, block: &mut Block) -> Result<bool, DeviceError> {
        let Block { order, count, q, y, small } = block;
        let (turned, plain) = (Operation::CUBLAS_OP_T, Operation::CUBLAS_OP_N);
        let vectors = (&y.slice(..), &y.slice(..));
        self.multiply(card, (turned, plain), (*count, *count, *order), 1.0, vectors, 0.0, small)?;
        if !self.cholesky(card, small, *count)? {
            return Ok(false);
        }
        let (m, n, one) = (int(*order)?, int(*count)?, 1.0);
        {
            let (r, mut y) = (small.slice(..*count * *count), y.slice_mut(..*order * *count));
            let ((r, _r), (y, _y)) = (r.device_ptr(&card.main), y.device_ptr_mut(&card.main));
            let (right, upper) = (cublasSideMode_t::CUBLAS_SIDE_RIGHT, cublasFillMode_t::CUBLAS_FILL_MODE_UPPER);
            let any = cublasDiagType_t::CUBLAS_DIAG_NON_UNIT;
            // SAFETY: `r` has count × count cells and `y` order × count, as the slices have
            // checked. The guards order this with other uses of the same memory.
            unsafe {
                let (r, y) = (r as *const f64, y as *mut f64);
                blas_sys::cublasDtrsm_v2(self.blas, right, upper, plain, any, m, n, &one, r, n, y, m).result()
            }
            .map_err(failed)?;
        }
        std::mem::swap(q, y);
        Ok(true)
    }

    /// Replaces the upper triangle, column by column, of a symmetric matrix by its Cholesky factor.
    /// Returns whether it has one.
    #[allow(unsafe_code)]
    fn cholesky(&self, card: &Cuda, matrix: &mut CudaSlice<f64>, order: usize) -> Result<bool, DeviceError> {
        let (stream, n) = (&card.main, int(order)?);
        let upper = solver::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER;
        let mut size = 0;
        let mut info = stream.alloc_zeros::<i32>(1).map_err(failed)?;
        {
            let (matrix, _m) = matrix.device_ptr_mut(stream);
            // SAFETY: this only asks for the size of the workspace.
            unsafe { solver::cusolverDnDpotrf_bufferSize(self.solver, upper, n, matrix as *mut f64, n, &mut size) }
                .result()
                .map_err(failed)?;
        }
        let mut work = card.reserve(usize::try_from(size).map_err(failed)?)?;
        {
            let mut matrix = matrix.slice_mut(..order * order);
            let ((matrix, _m), (work, _w)) = (matrix.device_ptr_mut(stream), work.device_ptr_mut(stream));
            let (info, _i) = info.device_ptr_mut(stream);
            // SAFETY: `matrix` has order × order cells, and the workspace the size that was asked
            // for. The guards order this with other uses of the same memory.
            unsafe {
                let (matrix, work, info) = (matrix as *mut f64, work as *mut f64, info as *mut i32);
                solver::cusolverDnDpotrf(self.solver, upper, n, matrix, n, work, size, info).result()
            }
            .map_err(failed)?;
        }
        let info = stream.clone_dtoh(&info).map_err(failed)?;
        stream.synchronize().map_err(failed)?;
        Ok(info == [0])
    }

    /// C = alpha op(A) op(B) + beta C for column-major matrices without gaps, of m × k, k × n and m
    /// × n cells.
    #[allow(unsafe_code, clippy::too_many_arguments)]
    fn multiply(
        &self,
        card: &Cuda,
        (op_a, op_b): (Operation, Operation),
        (m, n, k): (usize, usize, usize),
        alpha: f64,
        (a, b): (&CudaView<'_, f64>, &CudaView<'_, f64>),
        beta: f64,
        c: &mut CudaSlice<f64>,
    ) -> Result<(), DeviceError> {
        let (a, b, mut c) = (a.slice(..m * k), b.slice(..k * n), c.slice_mut(..m * n));
        let (m, n, k) = (int(m)?, int(n)?, int(k)?);
        let lda = if op_a == Operation::CUBLAS_OP_N { m } else { k };
        let ldb = if op_b == Operation::CUBLAS_OP_N { k } else { n };
        let stream = &card.main;
        let ((a, _a), (b, _b), (c, _c)) = (a.device_ptr(stream), b.device_ptr(stream), c.device_ptr_mut(stream));
        // SAFETY: the three have m × k, k × n and m × n cells, as the slices have checked. The
        // guards order this with other uses of the same memory.
        unsafe {
            let (a, b, c) = (a as *const f64, b as *const f64, c as *mut f64);
            blas::dgemm(self.blas, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, m)
        }
        .map_err(failed)
    }

    /// y = factor y + share x for the first `cells` numbers: `how` is (factor, share).
    #[allow(unsafe_code)]
    fn combine_in_place(
        &self,
        card: &Cuda,
        (factor, share): (f64, f64),
        y: &mut CudaSlice<f64>,
        x: &CudaSlice<f64>,
        cells: usize,
    ) -> Result<(), DeviceError> {
        let n = int(cells)?;
        let (x, mut y) = (x.slice(..cells), y.slice_mut(..cells));
        let ((x, _x), (y, _y)) = (x.device_ptr(&card.main), y.device_ptr_mut(&card.main));
        // SAFETY: both have this number of cells, as the slices have checked. The guards order this
        // with other uses of the same memory.
        unsafe {
            let (x, y) = (x as *const f64, y as *mut f64);
            blas_sys::cublasDscal_v2(self.blas, n, &factor, y, 1).result().map_err(failed)?;
            blas_sys::cublasDaxpy_v2(self.blas, n, &share, x, 1, y, 1).result()
        }
        .map_err(failed)
    }

    /// out = U diag(values) for column-major U with this number of rows and columns.
    #[allow(unsafe_code)]
    fn scale(
        &self,
        card: &Cuda,
        u: &CudaView<'_, f64>,
        values: &CudaView<'_, f64>,
        (rows, columns): (usize, usize),
        out: &mut CudaSlice<f64>,
    ) -> Result<(), DeviceError> {
        let (m, n, stream) = (int(rows)?, int(columns)?, &card.main);
        let (u, values, mut out) =
            (u.slice(..rows * columns), values.slice(..columns), out.slice_mut(..rows * columns));
        let ((u, _u), (values, _v)) = (u.device_ptr(stream), values.device_ptr(stream));
        let (out, _out) = out.device_ptr_mut(stream);
        // SAFETY: `u` and `out` have rows × columns cells, and `values` has `columns`, as the
        // slices have checked. The guards order this with other uses of the same memory.
        unsafe {
            let (u, values, out) = (u as *const f64, values as *const f64, out as *mut f64);
            let right = cublasSideMode_t::CUBLAS_SIDE_RIGHT;
            blas_sys::cublasDdgmm(self.blas, right, m, n, u, m, values, 1, out, m).result()
        }
        .map_err(failed)
    }
}
