//! Times a stream of sparse rows read from a folder; `bench/sparse.py` writes it and runs the peer.
//!
//! `cargo bench --bench sparse -- FOLDER FEATURES COMPONENTS MAX_RANK` reads `offsets`, `indices` (u64)
//! and `values` (f64), little-endian, absorbs the rows in blocks of 2,000 without centring, writes the
//! components to `components` and prints seconds and the peak memory in KiB.
#![allow(missing_docs, clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use eigenspace::{FitOptions, SparseRows};

fn words(path: &Path) -> Vec<[u8; 8]> {
    let bytes = std::fs::read(path).expect("a file of 8-byte words");
    bytes.as_chunks().0.to_vec()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let [folder, features, components, max_rank] = &arguments[..] else {
        println!("usage: cargo bench --bench sparse -- FOLDER FEATURES COMPONENTS MAX_RANK (see bench/sparse.py)");
        return;
    };
    let folder = Path::new(folder);
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let (features, components, max_rank) = (number(features), number(components), number(max_rank));
    let integers = |name: &str| {
        words(&folder.join(name)).into_iter().map(|word| u64::from_le_bytes(word) as usize).collect::<Vec<_>>()
    };
    let (offsets, indices) = (integers("offsets"), integers("indices"));
    let values: Vec<f64> = words(&folder.join("values")).into_iter().map(f64::from_le_bytes).collect();
    let before = peak();

    let start = Instant::now();
    let mut options = FitOptions::new().centred(false).components(components);
    if max_rank > 0 {
        options = options.max_rank(max_rank);
    }
    let mut stream = options.stream(features).expect("valid options");
    for block in (0..offsets.len() - 1).collect::<Vec<_>>().chunks(2_000) {
        let (first, last) = (block[0], block[block.len() - 1] + 1);
        let base = offsets[first];
        let local: Vec<usize> = offsets[first..=last].iter().map(|offset| offset - base).collect();
        let cells = base..offsets[last];
        let rows = SparseRows::new(features, &local, &indices[cells.clone()], &values[cells]).expect("good rows");
        stream.update(rows).expect("finite rows");
    }
    let model = stream.model().expect("a model");
    let seconds = start.elapsed().as_secs_f64();
    let bytes: Vec<u8> = model.components().iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.join("components"), bytes).expect("room on the disk");
    println!(
        "{{\"seconds\": {seconds}, \"peak_kib\": {}, \"input_kib\": {before}, \"bound\": {}}}",
        peak(),
        model.certificate().relative_error_bound()
    );
}

/// Peak memory of this process in KiB, where the system tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
