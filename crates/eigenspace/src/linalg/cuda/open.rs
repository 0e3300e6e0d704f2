//! Finds the libraries of CUDA and a device, each once in a process.

use std::collections::HashMap;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, OnceLock};

use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::cusolver::{result as solver, sys as solver_sys};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtrMut, DriverError, result, sys};

use super::super::card::RowsOnCard;
use super::kernels::Kernels;
use super::staging::Staging;
use super::{Cuda, hold};
use crate::device_error::DeviceError;

/// The version of CUDA that `kernels.ptx` needs, as the driver counts: 12.0.
const OLDEST_DRIVER: i32 = 12_000;
/// Bytes of the workspace of cuBLAS, as NVIDIA recommends for Hopper.
const WORKSPACE: usize = 32 << 20;
/// Memory that stays reserved after it was released, so that it need not be reserved again.
const KEPT_BYTES: u64 = 4 << 30;

/// An error that is not about memory.
pub(super) fn failed(error: impl Debug) -> DeviceError {
    DeviceError::Failed { reason: format!("{error:?}") }
}

/// cuBLAS and cuSOLVER.
pub(super) struct Libraries {
    pub(super) blas: blas_sys::cublasHandle_t,
    pub(super) solver: solver_sys::cusolverDnHandle_t,
    /// What cuBLAS computes with; reserved as long as the handle.
    _workspace: CudaSlice<f64>,
}

// SAFETY: both libraries allow a handle to be used by any thread, one at a time; a mutex holds it.
#[allow(unsafe_code)]
unsafe impl Send for Libraries {}

impl Cuda {
    /// The device with this number. It is opened once; later calls return the same.
    pub(crate) fn open(number: usize) -> Result<Arc<Self>, DeviceError> {
        static OPEN: OnceLock<Mutex<HashMap<usize, Arc<Cuda>>>> = OnceLock::new();
        let mut open = hold(OPEN.get_or_init(Mutex::default));
        if let Some(card) = open.get(&number) {
            return Ok(Arc::clone(card));
        }
        let card = Arc::new(Self::new(number)?);
        open.insert(number, Arc::clone(&card));
        Ok(card)
    }

    fn new(number: usize) -> Result<Self, DeviceError> {
        check_libraries()?;
        check_version(driver_version().map_err(no_device)?)?;
        let count = CudaContext::device_count().map_err(no_device)?;
        if usize::try_from(count).is_ok_and(|count| number >= count) {
            return Err(DeviceError::NoDevice { reason: format!("there is no device {number}, only {count} in all") });
        }
        let context = CudaContext::new(number).map_err(no_device)?;
        let kernels = Kernels::load(&context).map_err(|error| match is_of_old_driver(&error) {
            true => old_driver(driver_version().unwrap_or(0)),
            false => failed(error),
        })?;
        keep_memory(&context).map_err(failed)?;
        let main = context.new_stream().map_err(failed)?;
        let (to_card, from_card) = (Staging::new(&context).map_err(failed)?, Staging::new(&context).map_err(failed)?);
        let libraries = Mutex::new(Libraries::new(&main)?);
        Ok(Self { context, main, to_card, from_card, kernels, libraries })
    }
}

/// cudarc panics if a library is missing, so this looks for each first.
#[allow(unsafe_code)]
fn check_libraries() -> Result<(), DeviceError> {
    // SAFETY: loading a library runs its initialization. These are NVIDIA's, found where the system
    // looks for libraries.
    let found = unsafe {
        [
            ("libcuda", sys::is_culib_present()),
            ("libcublas", blas_sys::is_culib_present()),
            ("libcusolver", solver_sys::is_culib_present()),
        ]
    };
    check_found(&found)
}

/// The error for the first library that was not found.
fn check_found(libraries: &[(&'static str, bool)]) -> Result<(), DeviceError> {
    match libraries.iter().find(|(_, found)| !found) {
        Some((library, _)) => Err(DeviceError::MissingLibrary { library }),
        None => Ok(()),
    }
}

/// Rejects a driver that supports only versions of CUDA before the oldest one that is sufficient.
fn check_version(version: i32) -> Result<(), DeviceError> {
    if version < OLDEST_DRIVER { Err(old_driver(version)) } else { Ok(()) }
}

/// Whether the driver did not load the kernels because it is too old for their code.
fn is_of_old_driver(error: &DriverError) -> bool {
    error.0 == CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
}

#[allow(unsafe_code)]
fn driver_version() -> Result<i32, DriverError> {
    let mut version = 0;
    // SAFETY: the driver writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(version)
}

fn old_driver(version: i32) -> DeviceError {
    let text = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
    DeviceError::OldDriver { found: text(version), needed: text(OLDEST_DRIVER) }
}

/// The error of a driver that has no usable device.
fn no_device(error: DriverError) -> DeviceError {
    let reason = match error.0 {
        CUresult::CUDA_ERROR_NO_DEVICE => "the driver finds none".into(),
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => "the driver and its library have different versions".into(),
        _ => format!("{error:?}"),
    };
    DeviceError::NoDevice { reason }
}

/// Lets the driver keep released memory, which makes reserving it again fast.
#[allow(unsafe_code)]
fn keep_memory(context: &CudaContext) -> Result<(), DriverError> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut kept = KEPT_BYTES;
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the pool is that of the device of a live context, and the attribute is a number of 64
    // bits.
    unsafe {
        let pool = result::device::get_default_mem_pool(context.cu_device())?;
        result::mem_pool::set_attribute(pool, attribute, (&raw mut kept).cast())
    }
}

/// Checks that rows of another library are in the memory of the device, and waits until they are
/// written.
#[allow(unsafe_code)]
pub(super) fn check_rows(context: &CudaContext, rows: RowsOnCard) -> Result<(), DeviceError> {
    let bytes = rows.bytes();
    let wrong = rows.missing();
    context.synchronize().map_err(failed)?;
    let (mut base, mut length) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the driver writes two numbers, if it knows the address; otherwise it returns an
    // error.
    let (base, length) = unsafe {
        sys::cuMemGetAddressRange_v2(base.as_mut_ptr(), length.as_mut_ptr(), rows.address)
            .result()
            .map_err(|_| wrong.clone())?;
        (base.assume_init(), length.assume_init() as u64)
    };
    let inside = rows.address >= base && (rows.address - base).saturating_add(bytes) <= length;
    if inside && rows.address.is_multiple_of(rows.cell()) { Ok(()) } else { Err(wrong) }
}

impl Libraries {
    #[allow(unsafe_code)]
    fn new(stream: &Arc<CudaStream>) -> Result<Self, DeviceError> {
        let blas = blas::create_handle().map_err(failed)?;
        let solver = solver::dn_create().map_err(failed)?;
        let mut workspace = stream.alloc_zeros(WORKSPACE / 8).map_err(failed)?;
        let room = workspace.device_ptr_mut(stream).0;
        // SAFETY: the handles were just created, the stream is alive as long as the card, and so is
        // the workspace.
        unsafe {
            blas::set_stream(blas, stream.cu_stream().cast()).map_err(failed)?;
            blas_sys::cublasSetWorkspace_v2(blas, room as *mut _, WORKSPACE).result().map_err(failed)?;
            let never = blas_sys::cublasAtomicsMode_t::CUBLAS_ATOMICS_NOT_ALLOWED;
            blas_sys::cublasSetAtomicsMode(blas, never).result().map_err(failed)?;
            solver::dn_set_stream(solver, stream.cu_stream().cast()).map_err(failed)?;
        }
        Ok(Self { blas, solver, _workspace: workspace })
    }
}

#[cfg(test)]
mod tests;
