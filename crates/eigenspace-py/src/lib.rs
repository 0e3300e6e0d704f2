//! `eigenspace._core`: the library as the Python package sees it.
//!
//! ```text
//! numpy array ─► rows ─► compute (without the interpreter, in this process's threads) ─► numpy array
//! ```
//!
//! The module is private and thin: one class for each type of the library, arrays of `float64` or `float32` and
//! compressed sparse rows in, arrays out, settings as words. What a user sees, estimators and models that take
//! anything like an array, is plain Python over it (`python/eigenspace/`).
#![forbid(unsafe_code)]

mod certificate;
mod compute;
mod errors;
mod measures;
mod memory;
mod model;
mod options;
mod rows;
mod scaled;
mod stream;

/// The native part of the Python package `eigenspace`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::certificate::Certificate;
    #[pymodule_export]
    use crate::compute::{set_threads, threads};
    #[pymodule_export]
    use crate::errors::{EigenspaceError, FormatError, InternalError, NotAPartError};
    #[pymodule_export]
    use crate::measures::{principal_angles, subspace_distance};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::scaled::Scaled;
    #[pymodule_export]
    use crate::stream::Stream;

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::errors::prepare(module)
    }
}
