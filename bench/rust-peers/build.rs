//! Links the OpenBLAS library of SciPy's wheel.
//!
//! The crates that provide OpenBLAS download it from outside the registries and need a Fortran
//! compiler. SciPy's wheel contains the same library, and the Python peers use it too.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=PEER_OPENBLAS");
    if std::env::var_os("CARGO_FEATURE_OPENBLAS").is_none() {
        return;
    }
    let library = std::env::var("PEER_OPENBLAS").expect("PEER_OPENBLAS names libscipy_openblas-….so");
    let directory = Path::new(&library).parent().expect("a file in a directory");
    println!("cargo:rustc-link-arg-bins={library}");
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", directory.display());
    // Its dependencies are in the same directory.
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath-link,{}", directory.display());
}
