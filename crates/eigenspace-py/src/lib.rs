//! `eigenspace._core`: the native module of the Python package.
//!
//! ```text
//! numpy array ─► rows ─► compute (interpreter lock released, in a thread pool) ─► numpy array
//! ```
//!
//! The module is private and thin. It has one class for each type of the library, takes arrays of
//! `float64` or `float32` and compressed sparse rows, returns arrays, and takes settings as
//! strings. The public estimators and models accept anything array-like; they are plain Python
//! (`python/eigenspace/`).
#![forbid(unsafe_code)]

mod accumulator;
mod certificate;
mod compute;
mod datasets;
mod errors;
mod evaluate;
mod measures;
mod memory;
mod metadata;
mod model;
mod options;
mod recognizer;
mod refinement;
mod rows;
mod shared;
mod stream;
mod view;

/// The native module of the Python package `eigenspace`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::accumulator::Accumulator;
    #[pymodule_export]
    use crate::certificate::Certificate;
    #[pymodule_export]
    use crate::compute::{set_threads, threads};
    #[pymodule_export]
    use crate::datasets::{check_orl, fetch_orl, read_images, read_more, read_people};
    #[pymodule_export]
    use crate::errors::{EigenspaceError, FormatError, InternalError, NotAPartError};
    #[pymodule_export]
    use crate::evaluate::evaluate_faces;
    #[pymodule_export]
    use crate::measures::{principal_angles, subspace_distance};
    #[pymodule_export]
    use crate::metadata::Metadata;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::recognizer::Recognizer;
    #[pymodule_export]
    use crate::refinement::Refinement;
    #[pymodule_export]
    use crate::stream::Stream;
    #[pymodule_export]
    use crate::view::View;

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::errors::prepare(module)
    }
}
