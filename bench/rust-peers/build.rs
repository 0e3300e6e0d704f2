//! Links the OpenBLAS that comes in SciPy's wheel.
//!
//! The build scripts of the crates that would bring their own fetch it from outside the registries and need a Fortran
//! compiler. SciPy's is the same library, and the one that the Python peers run on.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=PEER_OPENBLAS");
    if std::env::var_os("CARGO_FEATURE_OPENBLAS").is_none() {
        return;
    }
    let library = std::env::var("PEER_OPENBLAS").expect("PEER_OPENBLAS names libscipy_openblas-….so");
    let folder = Path::new(&library).parent().expect("a file in a folder");
    println!("cargo:rustc-link-arg-bins={library}");
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", folder.display());
    // Its own dependencies lie beside it.
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath-link,{}", folder.display());
}
