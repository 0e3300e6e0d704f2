//! Times batch PCA of other Rust libraries on the rows of an .npy file.
//!
//! `rust-peers PEER ROWS.npy COMPONENTS RUNS OUT` fits RUNS times, writes the components of the
//! last fit to OUT (f64, little-endian, one component after another) and prints the seconds of each
//! run and the peak memory as JSON.

#[cfg(feature = "openblas")]
mod openblas;

use std::path::Path;
use std::time::Instant;

use linfa::prelude::Fit as _;

/// A closure that runs one fit and returns its seconds and components. It owns the rows, in the
/// peer's array type.
type Fit = Box<dyn Fn() -> (f64, Vec<f64>)>;

fn linfa(shape: (usize, usize), values: Vec<f64>, k: usize) -> Fit {
    let rows = ndarray16::Array2::from_shape_vec(shape, values).expect("as many values as cells");
    let rows = linfa::DatasetBase::from(rows);
    Box::new(move || {
        let start = Instant::now();
        let model = linfa_reduction::Pca::params(k).fit(&rows).expect("a fit");
        (start.elapsed().as_secs_f64(), model.components().iter().copied().collect())
    })
}

#[cfg(feature = "openblas")]
fn petal(shape: (usize, usize), values: Vec<f64>, k: usize) -> Fit {
    let rows = ndarray17::Array2::from_shape_vec(shape, values).expect("as many values as cells");
    Box::new(move || {
        let start = Instant::now();
        let mut model = petal_decomposition::PcaBuilder::new(k).build();
        model.fit(&rows).expect("a fit");
        (start.elapsed().as_secs_f64(), model.components().iter().copied().collect())
    })
}

#[cfg(feature = "openblas")]
fn petal_randomized(shape: (usize, usize), values: Vec<f64>, k: usize) -> Fit {
    let rows = ndarray17::Array2::from_shape_vec(shape, values).expect("as many values as cells");
    Box::new(move || {
        let start = Instant::now();
        let mut model = petal_decomposition::RandomizedPcaBuilder::new(k).seed(0).build();
        model.fit(&rows).expect("a fit");
        (start.elapsed().as_secs_f64(), model.components().iter().copied().collect())
    })
}

/// Reads the shape and the values of an .npy file of float64 in C order, as written by the
/// benchmark.
fn read(path: &Path) -> ((usize, usize), Vec<f64>) {
    let bytes = std::fs::read(path).expect("a file of rows");
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = std::str::from_utf8(&bytes[10..10 + header]).expect("a header of text");
    assert!(text.contains("'<f8'") && text.contains("'fortran_order': False"), "float64 in C order: {text}");
    let shape = &text[text.find("'shape': (").expect("a shape") + 10..];
    let mut sizes = shape.split([',', ')']).map(|size| size.trim().parse().expect("a size"));
    let shape = (sizes.next().expect("rows"), sizes.next().expect("columns"));
    let values = bytes[10 + header..].as_chunks().0.iter().map(|&cell| f64::from_le_bytes(cell)).collect();
    (shape, values)
}

fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [peer, rows, k, runs, out] = &arguments[..] else {
        panic!("usage: rust-peers linfa|petal|petal-randomized ROWS.npy COMPONENTS RUNS OUT");
    };
    let make: fn((usize, usize), Vec<f64>, usize) -> Fit = match peer.as_str() {
        "linfa" => linfa,
        #[cfg(feature = "openblas")]
        "petal" => petal,
        #[cfg(feature = "openblas")]
        "petal-randomized" => petal_randomized,
        _ => panic!("unknown peer `{peer}`: this build does not include it"),
    };
    let (shape, values) = read(Path::new(rows));
    let (k, runs): (usize, usize) = (k.parse().expect("a number"), runs.parse().expect("a number"));
    let fit = make(shape, values, k);
    // Reset the peak, so that only the fits count. If the system does not allow it, reading counts
    // too.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS:");
    let (mut seconds, mut components) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (time, found) = fit();
        seconds.push(time.to_string());
        components = found;
    }
    let peak = memory("VmHWM:").saturating_sub(before);
    let bytes: Vec<u8> = components.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(out, bytes).expect("room on the disk");
    println!("{{\"seconds\": [{}], \"peak_kib\": {peak}}}", seconds.join(", "));
}
