//! Copies between ordinary memory and a card, through page-locked memory that the card reads and
//! writes by itself.
//!
//! ```text
//! rows ──core──► [ page-locked ] ──card──► memory of the card
//! rows ──core──► [ page-locked ] ──┘
//! ```
//!
//! Numbers are divided into parts. Each core fills parts of its own and queues their copies, so no
//! core waits for another. A part is small enough to stay in the cache of a core, and numbers that
//! the host keeps beside it are written past the cache, so that they cost one write to memory and
//! no read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::CUresult;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceRepr, DriverError,
    HostSlice, PinnedHostSlice, result,
};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

use super::super::card::RowsOnCard;
use super::hold;
use super::kernels::Kernels;
use super::memory::{Staged, copy_past_cache};

/// Bytes of a part.
const PART_BYTES: usize = 2 << 20;
/// Number of parts.
const PARTS: usize = 32;
/// Numbers that are made at a time.
const MADE: usize = crate::linalg::card::CONVERTED;

/// Page-locked memory, and the queue of the copies.
pub(super) struct Staging {
    stream: Arc<CudaStream>,
    /// Parts that no thread uses, the one that was used longest ago first.
    free: Mutex<VecDeque<PinnedHostSlice<u8>>>,
}

impl Staging {
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let free = (0..PARTS).map(|_| new_part(context)).collect::<Result<_, _>>()?;
        Ok(Self { stream: context.new_stream()?, free: Mutex::new(free) })
    }

    /// A part, or a new one if other threads use all of them.
    fn take(&self) -> Result<PinnedHostSlice<u8>, DriverError> {
        let free = hold(&self.free).pop_front();
        free.map_or_else(|| new_part(self.stream.context()), Ok)
    }

    fn put_back(&self, part: PinnedHostSlice<u8>) {
        hold(&self.free).push_back(part);
    }

    /// Copies numbers to the card. They may change as soon as this returns.
    pub(super) fn send(&self, numbers: &[f64], to: &mut CudaViewMut<'_, f64>) -> Result<(), DriverError> {
        let cells = PART_BYTES / size_of::<f64>();
        numbers
            .par_chunks(cells)
            .zip(parts_of(to, cells).into_par_iter())
            .try_for_each(|(numbers, mut to)| self.send_part(&mut to, |part: &mut [f64]| part.copy_from_slice(numbers)))
    }

    /// Makes numbers, copies them to the card and, if `keep`, to `home`, and returns whether they
    /// are valid.
    pub(super) fn send_made<T: Staged>(
        &self,
        home: &mut [f64],
        keep: bool,
        make: &(dyn Fn(usize, &mut [T]) -> bool + Sync),
        to: &mut CudaViewMut<'_, T>,
    ) -> Result<bool, DriverError> {
        let cells = PART_BYTES / size_of::<T>();
        let parts = home.par_chunks_mut(cells).zip(parts_of(to, cells).into_par_iter()).enumerate();
        let send = |(i, (home, mut to)): (usize, (&mut [f64], CudaViewMut<'_, T>))| {
            let mut good = true;
            self.send_part(&mut to, |part: &mut [T]| {
                for (j, (part, home)) in part.chunks_mut(MADE).zip(home.chunks_mut(MADE)).enumerate() {
                    good &= make(i * cells + j * MADE, part);
                    if keep {
                        T::keep(part, home);
                    }
                }
            })?;
            Ok(good)
        };
        parts.map(send).try_reduce(|| true, |one, other| Ok(one & other))
    }

    /// Fills a part, and queues its copy.
    fn send_part<T: Staged>(
        &self,
        to: &mut CudaViewMut<'_, T>,
        fill: impl FnOnce(&mut [T]),
    ) -> Result<(), DriverError> {
        let mut part = self.take()?;
        // Waits until the card has read what was in it before.
        let numbers: &mut [T] = bytemuck::cast_slice_mut(part.as_mut_slice()?);
        fill(numbers.get_mut(..to.len()).ok_or(OUT_OF_RANGE)?);
        transfer_to_card(&self.stream, &part, to)?;
        self.put_back(part);
        Ok(())
    }

    /// Copies a few numbers to the card with a kernel of another queue, which reads page-locked
    /// memory itself. So they need not wait for the copies of rows that are under way. They may
    /// change as soon as this returns.
    #[allow(unsafe_code)]
    pub(super) fn send_now(
        &self,
        kernels: &Kernels,
        queue: &Arc<CudaStream>,
        numbers: &[f64],
        to: &mut CudaSlice<f64>,
    ) -> Result<(), DriverError> {
        for (i, numbers) in numbers.chunks(PART_BYTES / size_of::<f64>()).enumerate() {
            let (start, mut part) = (i * (PART_BYTES / size_of::<f64>()), self.take()?);
            // Waits until the card has read what was in it before.
            let place: &mut [f64] = bytemuck::cast_slice_mut(part.as_mut_slice()?);
            place[..numbers.len()].copy_from_slice(numbers);
            {
                // SAFETY: only the address is used. The guard makes later uses of the part wait for
                // the kernel.
                let (from, _read) = unsafe { part.stream_synced_slice(queue) };
                let rows = RowsOnCard { address: from.as_ptr() as u64, rows: 1, columns: numbers.len(), narrow: false };
                kernels.take_over(queue, rows, &mut to.slice_mut(start..start + numbers.len()))?;
            }
            self.put_back(part);
        }
        Ok(())
    }

    /// Copies numbers from the card, and waits until they are there.
    pub(super) fn receive(&self, from: &CudaView<'_, f64>, to: &mut [f64]) -> Result<(), DriverError> {
        let cells = PART_BYTES / size_of::<f64>();
        let (first, others) = to.split_at_mut(cells.min(to.len()));
        // The other threads have better things to do until the card has computed the numbers.
        self.receive_part(&from.slice(..first.len()), first)?;
        others.par_chunks_mut(cells).enumerate().try_for_each(|(i, some)| {
            let start = (i + 1) * cells;
            self.receive_part(&from.slice(start..start + some.len()), some)
        })
    }

    fn receive_part(&self, from: &CudaView<'_, f64>, to: &mut [f64]) -> Result<(), DriverError> {
        if to.is_empty() {
            return Ok(());
        }
        let mut part = self.take()?;
        transfer_from_card(&self.stream, from, &mut part)?;
        // Waits until the card has written it.
        let numbers: &[f64] = bytemuck::cast_slice(part.as_slice()?);
        copy_past_cache(&numbers[..to.len()], to);
        self.put_back(part);
        Ok(())
    }

    /// The queue of the copies.
    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

/// Parts of so many cells; the last one has fewer, or none.
fn parts_of<'a, T>(whole: &'a mut CudaViewMut<'_, T>, cells: usize) -> Vec<CudaViewMut<'a, T>> {
    let (parts, last) = whole.split_at_mut(whole.len() / cells * cells);
    parts.chunks_exact_mut(cells).chain([last]).collect()
}

/// Reserves page-locked memory, which begins at the start of a page.
#[allow(unsafe_code)]
fn new_part(context: &Arc<CudaContext>) -> Result<PinnedHostSlice<u8>, DriverError> {
    // SAFETY: the memory is written before it is read: by a core before the card reads it, and by
    // the card before a core reads it. Any bytes are valid numbers.
    unsafe { context.alloc_pinned_with_flags(PART_BYTES, 0) }
}

/// Queues a copy of as many numbers of a part as fit.
#[allow(unsafe_code)]
fn transfer_to_card<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    part: &PinnedHostSlice<u8>,
    to: &mut CudaViewMut<'_, T>,
) -> Result<(), DriverError> {
    stream.context().bind_to_thread()?;
    let bytes = to.len() * size_of::<T>();
    // SAFETY: both ranges have this number of bytes. The guards make the stream wait for earlier
    // uses of both, and later uses of both wait for this copy; `as_mut_slice` waits for the event
    // of the part before it is written again.
    unsafe {
        let (from, _read) = part.stream_synced_slice(stream);
        let (to, _written) = to.device_ptr_mut(stream);
        result::memcpy_htod_async(to, from.get(..bytes).ok_or(OUT_OF_RANGE)?, stream.cu_stream())
    }
}

/// Queues a copy to the beginning of a part.
#[allow(unsafe_code)]
fn transfer_from_card(
    stream: &Arc<CudaStream>,
    from: &CudaView<'_, f64>,
    part: &mut PinnedHostSlice<u8>,
) -> Result<(), DriverError> {
    stream.context().bind_to_thread()?;
    let bytes = from.len() * size_of::<f64>();
    // SAFETY: as in `transfer_to_card`; `as_slice` waits for the event of the part before it is
    // read.
    unsafe {
        let (to, _written) = part.stream_synced_mut_slice(stream);
        let (start, _read) = from.device_ptr(stream);
        result::memcpy_dtoh_async(to.get_mut(..bytes).ok_or(OUT_OF_RANGE)?, start, stream.cu_stream())
    }
}

const OUT_OF_RANGE: DriverError = DriverError(CUresult::CUDA_ERROR_INVALID_VALUE);
