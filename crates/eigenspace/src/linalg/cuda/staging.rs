//! Copies between ordinary memory and a card, through page-locked memory that the card reads and writes by itself.
//!
//! ```text
//! rows ──all cores──► [ page-locked | page-locked | … ] ──card──► memory of the card
//! ```
//!
//! While the card copies one part, the cores fill the next. The parts are small enough to stay in the cache.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::CUresult;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, DevicePtr, DevicePtrMut, DriverError, HostSlice, PinnedHostSlice,
    result,
};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

use super::hold;

/// Cells of a part: 8 MiB.
const PART: usize = 1 << 20;
/// Number of parts.
const PARTS: usize = 4;
/// Cells that one core copies at a time.
const TASK: usize = 1 << 15;

/// Page-locked memory, and the queue of the copies.
///
/// Nothing is locked while the cores copy: a thread that waits for the others may start another copy meanwhile.
pub(super) struct Staging {
    stream: Arc<CudaStream>,
    /// Parts that no thread uses, the one that was used longest ago first.
    free: Mutex<VecDeque<PinnedHostSlice<f64>>>,
}

impl Staging {
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let free = (0..PARTS).map(|_| new_part(context)).collect::<Result<_, _>>()?;
        Ok(Self { stream: context.new_stream()?, free: Mutex::new(free) })
    }

    /// A part, or a new one if other threads use all of them.
    fn take(&self) -> Result<PinnedHostSlice<f64>, DriverError> {
        let free = hold(&self.free).pop_front();
        free.map_or_else(|| new_part(self.stream.context()), Ok)
    }

    fn put_back(&self, part: PinnedHostSlice<f64>) {
        hold(&self.free).push_back(part);
    }

    /// Copies numbers to the card, from this cell on. They may change as soon as this returns.
    pub(super) fn send(&self, numbers: &[f64], to: &mut CudaSlice<f64>, first: usize) -> Result<(), DriverError> {
        for (i, some) in numbers.chunks(PART).enumerate() {
            let mut part = self.take()?;
            // Waits until the card has read what was in it before.
            let memory = part.as_mut_slice()?;
            copy(some, &mut memory[..some.len()]);
            let start = first + i * PART;
            let mut to = to.slice_mut(start..start + some.len());
            transfer_to_card(&self.stream, &part, some.len(), &mut to)?;
            self.put_back(part);
        }
        Ok(())
    }

    /// Copies numbers from the card, and waits until they are there.
    pub(super) fn receive(&self, from: &CudaView<'_, f64>, to: &mut [f64]) -> Result<(), DriverError> {
        let count = to.len().div_ceil(PART);
        let (mut rest, mut queued) = (to, VecDeque::new());
        for i in 0..count + PARTS - 1 {
            if i < count {
                let start = i * PART;
                let mut part = self.take()?;
                transfer_from_card(&self.stream, &from.slice(start..from.len().min(start + PART)), &mut part)?;
                queued.push_back(part);
            }
            if i + 1 >= PARTS
                && let Some(part) = queued.pop_front()
            {
                let (some, later) = rest.split_at_mut(PART.min(rest.len()));
                // Waits until the card has written it.
                copy(&part.as_slice()?[..some.len()], some);
                self.put_back(part);
                rest = later;
            }
        }
        Ok(())
    }

    /// The queue of the copies.
    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

/// Reserves page-locked memory.
#[allow(unsafe_code)]
fn new_part(context: &Arc<CudaContext>) -> Result<PinnedHostSlice<f64>, DriverError> {
    // SAFETY: the memory is written before it is read: by `send` before the card reads it, and by the card before `receive`
    // reads it.
    unsafe { context.alloc_pinned_with_flags(PART, 0) }
}

/// Copies with all cores.
fn copy(from: &[f64], to: &mut [f64]) {
    from.par_chunks(TASK).zip(to.par_chunks_mut(TASK)).for_each(|(from, to)| to.copy_from_slice(from));
}

/// Queues a copy of the first `count` numbers of a part.
#[allow(unsafe_code)]
fn transfer_to_card(
    stream: &Arc<CudaStream>,
    part: &PinnedHostSlice<f64>,
    count: usize,
    to: &mut cudarc::driver::CudaViewMut<'_, f64>,
) -> Result<(), DriverError> {
    stream.context().bind_to_thread()?;
    // SAFETY: both ranges have `count` numbers. The guards make the stream wait for earlier uses of both, and later uses
    // of both wait for this copy; `as_mut_slice` waits for the event of the part before it is written again.
    unsafe {
        let (from, _read) = part.stream_synced_slice(stream);
        let (to, _written) = to.device_ptr_mut(stream);
        result::memcpy_htod_async(to, from.get(..count).ok_or(OUT_OF_RANGE)?, stream.cu_stream())
    }
}

/// Queues a copy to the beginning of a part.
#[allow(unsafe_code)]
fn transfer_from_card(
    stream: &Arc<CudaStream>,
    from: &CudaView<'_, f64>,
    part: &mut PinnedHostSlice<f64>,
) -> Result<(), DriverError> {
    stream.context().bind_to_thread()?;
    // SAFETY: as in `transfer_to_card`; `as_slice` waits for the event of the part before it is read.
    unsafe {
        let (to, _written) = part.stream_synced_mut_slice(stream);
        let (start, _read) = from.device_ptr(stream);
        result::memcpy_dtoh_async(to.get_mut(..from.len()).ok_or(OUT_OF_RANGE)?, start, stream.cu_stream())
    }
}

const OUT_OF_RANGE: DriverError = DriverError(CUresult::CUDA_ERROR_INVALID_VALUE);
