//! What the answers of a driver mean. Nothing of CUDA is loaded.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use super::{check_found, check_version, is_of_old_driver, no_device, old_driver};
use crate::device_error::DeviceError;

const TOO_OLD: &str = "the NVIDIA driver is too old: it supports CUDA 11.8, and CUDA 12.0 is needed";

#[test]
fn a_driver_is_sufficient_from_cuda_12_on() {
    for version in [12_000, 12_010, 13_000] {
        assert_eq!(check_version(version), Ok(()));
    }
    assert_eq!(check_version(11_080).expect_err("too old").to_string(), TOO_OLD);
    let last = check_version(11_999).expect_err("too old");
    assert!(matches!(last, DeviceError::OldDriver { .. }), "{last}");
    assert!(last.hint().starts_with("update the NVIDIA driver"), "{}", last.hint());
}

#[test]
fn a_driver_that_does_not_know_the_code_of_the_kernels_is_too_old() {
    assert!(is_of_old_driver(&DriverError(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION)));
    assert!(!is_of_old_driver(&DriverError(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU)));
    assert_eq!(old_driver(11_080).to_string(), TOO_OLD);
}

#[test]
fn the_first_library_that_is_missing_is_named() {
    assert_eq!(check_found(&[("libcuda", true), ("libcublas", true)]), Ok(()));
    let missing = check_found(&[("libcuda", true), ("libcublas", false), ("libcusolver", false)]);
    assert_eq!(missing, Err(DeviceError::MissingLibrary { library: "libcublas" }));
}

#[test]
fn a_driver_without_a_device_says_so() {
    let none = no_device(DriverError(CUresult::CUDA_ERROR_NO_DEVICE));
    assert_eq!(none.to_string(), "no CUDA device: the driver finds none");
    let mismatch = no_device(DriverError(CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
    assert_eq!(mismatch.to_string(), "no CUDA device: the driver and its library have different versions");
}
