//! Starts the kernels of `kernels.cu`, which are stored compiled, in `kernels.ptx`.

use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, CudaViewMut, DriverError, LaunchArgs, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

use super::super::card::{RowsOnCard, SUMMED_ROWS};

/// Threads of a block.
const THREADS: u32 = 256;
/// Blocks of a kernel that walks over all cells.
const BLOCKS: u32 = 2048;

pub(super) struct Kernels {
    differences: CudaFunction,
    center: CudaFunction,
    total: CudaFunction,
    last_rows: CudaFunction,
    lengths: CudaFunction,
    set_diagonal: CudaFunction,
    accumulate: CudaFunction,
    widen: CudaFunction,
    copy: CudaFunction,
    check: CudaFunction,
    mirror: CudaFunction,
    affine: CudaFunction,
    diagonal: CudaFunction,
    random: CudaFunction,
}

/// One thread for each column, and `pieces` blocks of each.
fn by_columns(columns: usize, pieces: usize) -> LaunchConfig {
    let blocks = columns.div_ceil(THREADS as usize) as u32;
    LaunchConfig { grid_dim: (blocks, pieces as u32, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// Starts a kernel.
#[allow(unsafe_code)]
fn launch(arguments: &mut LaunchArgs<'_>, configuration: LaunchConfig) -> Result<(), DriverError> {
    // SAFETY: the functions of this file pass the arguments that `kernels.cu` declares, in order,
    // with slices at least as long as the shapes beside them; a kernel writes only to arguments
    // passed as `&mut`, and inside these shapes.
    unsafe { arguments.launch(configuration) }.map(drop)
}

impl Kernels {
    pub(super) fn load(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let module = context.load_module(Ptx::from_src(include_str!("kernels.ptx")))?;
        Ok(Self {
            differences: module.load_function("differences")?,
            center: module.load_function("center")?,
            total: module.load_function("total")?,
            last_rows: module.load_function("last_rows")?,
            lengths: module.load_function("lengths")?,
            set_diagonal: module.load_function("set_diagonal")?,
            accumulate: module.load_function("accumulate")?,
            widen: module.load_function("widen")?,
            copy: module.load_function("copy")?,
            check: module.load_function("check")?,
            mirror: module.load_function("mirror")?,
            affine: module.load_function("affine")?,
            diagonal: module.load_function("diagonal")?,
            random: module.load_function("random")?,
        })
    }

    /// Number of partial sums over so many rows.
    pub(super) fn pieces(rows: usize) -> usize {
        rows.div_ceil(SUMMED_ROWS).max(1)
    }

    pub(super) fn differences(
        &self,
        stream: &CudaStream,
        x: &CudaSlice<f64>,
        (rows, columns): (usize, usize),
        (high, low): (&CudaSlice<f64>, &CudaSlice<f64>),
        weights: Option<&CudaSlice<f64>>,
        part: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.differences);
        arguments.arg(x).arg(&rows).arg(&columns).arg(high).arg(low);
        match weights {
            Some(weights) => arguments.arg(weights),
            None => arguments.arg(&0_u64),
        };
        launch(arguments.arg(part), by_columns(columns, Self::pieces(rows)))
    }

    pub(super) fn center(
        &self,
        stream: &CudaStream,
        x: &mut CudaSlice<f64>,
        (rows, columns): (usize, usize),
        (high, low): (&CudaSlice<f64>, &CudaSlice<f64>),
        roots: Option<&CudaSlice<f64>>,
        part: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.center);
        arguments.arg(x).arg(&rows).arg(&columns).arg(high).arg(low);
        match roots {
            Some(roots) => arguments.arg(roots),
            None => arguments.arg(&0_u64),
        };
        launch(arguments.arg(part), by_columns(columns, Self::pieces(rows)))
    }

    pub(super) fn total(
        &self,
        stream: &CudaStream,
        part: &CudaSlice<f64>,
        (rows, columns): (usize, usize),
        sum: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        let pieces = Self::pieces(rows);
        let mut arguments = stream.launch_builder(&self.total);
        launch(arguments.arg(part).arg(&pieces).arg(&columns).arg(sum), by_columns(columns, 1))
    }

    pub(super) fn last_rows(
        &self,
        stream: &CudaStream,
        square: &CudaSlice<f64>,
        order: usize,
        scale: &CudaSlice<f64>,
        keep: usize,
        out: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.last_rows);
        launch(arguments.arg(square).arg(&order).arg(&keep).arg(scale).arg(out), by_columns(order, keep))
    }

    pub(super) fn lengths(
        &self,
        stream: &CudaStream,
        x: &CudaSlice<f64>,
        (rows, columns): (usize, usize),
        limits: Option<&CudaSlice<f64>>,
        squared: &mut CudaSlice<f64>,
        above: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.lengths);
        arguments.arg(x).arg(&columns);
        match limits {
            Some(limits) => arguments.arg(limits),
            None => arguments.arg(&0_u64),
        };
        let configuration =
            LaunchConfig { grid_dim: (rows as u32, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        launch(arguments.arg(squared).arg(above), configuration)
    }

    pub(super) fn set_diagonal(
        &self,
        stream: &CudaStream,
        square: &mut CudaSlice<f64>,
        order: usize,
        values: &CudaSlice<f64>,
        count: usize,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.set_diagonal);
        launch(arguments.arg(square).arg(&order).arg(values).arg(&count), by_columns(count, 1))
    }

    pub(super) fn accumulate(
        &self,
        stream: &CudaStream,
        m: &mut CudaSlice<f64>,
        low: &mut CudaSlice<f64>,
        more: &CudaSlice<f64>,
        order: usize,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.accumulate);
        launch(arguments.arg(m).arg(low).arg(more).arg(&order), by_columns(order, order))
    }

    /// `beyond` = 1 if any |x| is above the limit or not a number.
    pub(super) fn check(
        &self,
        stream: &CudaStream,
        x: &CudaSlice<f64>,
        cells: usize,
        limit: f64,
        beyond: &mut CudaSlice<i32>,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.check);
        let configuration = LaunchConfig { grid_dim: (BLOCKS, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        launch(arguments.arg(x).arg(&cells).arg(&limit).arg(beyond), configuration)
    }

    /// Converts as many f32 numbers as there are.
    pub(super) fn widen(
        &self,
        stream: &CudaStream,
        narrow: &CudaSlice<f32>,
        to: &mut CudaViewMut<'_, f64>,
    ) -> Result<(), DriverError> {
        let cells = to.len().min(narrow.len());
        let mut arguments = stream.launch_builder(&self.widen);
        let configuration = LaunchConfig { grid_dim: (BLOCKS, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        launch(arguments.arg(narrow).arg(to).arg(&cells), configuration)
    }

    /// Copies numbers that another library has put on the card at an address that was checked.
    pub(super) fn take_over(
        &self,
        stream: &CudaStream,
        rows: RowsOnCard,
        to: &mut CudaViewMut<'_, f64>,
    ) -> Result<(), DriverError> {
        let cells = rows.rows * rows.columns;
        let mut arguments = stream.launch_builder(if rows.narrow { &self.widen } else { &self.copy });
        let configuration = LaunchConfig { grid_dim: (BLOCKS, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        launch(arguments.arg(&rows.address).arg(to).arg(&cells), configuration)
    }

    /// Fills the upper triangle of a symmetric matrix from its lower one.
    pub(super) fn mirror(
        &self,
        stream: &CudaStream,
        square: &mut CudaSlice<f64>,
        order: usize,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.mirror);
        launch(arguments.arg(square).arg(&order), by_columns(order, order))
    }

    /// out = factor A + shift I for a square matrix A.
    pub(super) fn affine(
        &self,
        stream: &CudaStream,
        (square, order): (&CudaSlice<f64>, usize),
        (factor, shift): (f64, f64),
        out: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.affine);
        launch(arguments.arg(square).arg(&order).arg(&factor).arg(&shift).arg(out), by_columns(order, order))
    }

    /// Copies the diagonal of a square matrix.
    pub(super) fn diagonal(
        &self,
        stream: &CudaStream,
        square: &CudaSlice<f64>,
        order: usize,
        out: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.diagonal);
        launch(arguments.arg(square).arg(&order).arg(out), by_columns(order, 1))
    }

    /// Writes numbers that look random, the same in every call.
    pub(super) fn random(&self, stream: &CudaStream, to: &mut CudaSlice<f64>, cells: usize) -> Result<(), DriverError> {
        let mut arguments = stream.launch_builder(&self.random);
        let configuration = LaunchConfig { grid_dim: (BLOCKS, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        launch(arguments.arg(to).arg(&cells), configuration)
    }
}
