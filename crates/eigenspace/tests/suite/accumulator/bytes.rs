//! The bytes of an accumulator: complete, checked, and refused if anything is wrong with them.

use std::fs;
use std::path::{Path, PathBuf};

use eigenspace::io::{Error, FormatError};
use eigenspace::{
    Accumulator, Block, EigenspaceModel, Engine, FitOptions, Metadata, SparseRows, Truncation, WeightKind,
};
use ndarray::{Array2, Axis};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::Random;

/// An accumulator in each kind of state: no rows, pending rows, a scatter and a factor, with dense
/// and sparse rows.
fn every_state() -> Vec<Accumulator> {
    let rows = Random::new(1).matrix(11, 3);
    let names = ["a", "größe", "\"c\""].map(String::from).to_vec();
    let scatter = FitOptions::new().engine(Engine::Scatter).block_rows(4).components(2);
    let factor =
        FitOptions::new().engine(Engine::Factor).block_rows(4).max_rank(2).truncation(Truncation::Energy(0.1 + 0.2));
    let mut states = vec![FitOptions::new().accumulator().unwrap()];
    for options in [FitOptions::new().components(0.3), scatter, factor] {
        let mut dense = options.accumulator().unwrap();
        dense.absorb(&rows).unwrap();
        let mut weighted = dense.clone().with_metadata(Metadata::new().with_feature_names(names.clone())).unwrap();
        weighted.absorb(Block::from(rows.slice_axis(Axis(0), (..2).into())).weighted(&[0.5, 2.0])).unwrap();
        let mut sparse = options.accumulator().unwrap();
        for _ in 0..3 {
            let rows = SparseRows::new(3, &[0, 2, 2, 3], &[0, 2, 1], &[1.0, -2.0, 4.0]).unwrap();
            sparse.absorb(rows).unwrap();
        }
        states.extend([dense, weighted, sparse]);
    }
    states
}

fn format_error(bytes: &[u8]) -> FormatError {
    match Accumulator::from_bytes(bytes) {
        Err(Error::Accumulator(error)) => error,
        other => panic!("expected a format error, found {other:?}"),
    }
}

/// The parts of a file: the header of safetensors, our header, and the bytes of the tensors.
struct Parts {
    tensors: Value,
    ours: Value,
    data: Vec<u8>,
}

impl Parts {
    fn of(bytes: &[u8]) -> Self {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut tensors: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let metadata = tensors.as_object_mut().unwrap().remove("__metadata__").unwrap();
        let ours = serde_json::from_str(metadata["eigenspace.accumulator"].as_str().unwrap()).unwrap();
        Self { tensors, ours, data: bytes[8 + length..].to_vec() }
    }

    /// The bytes with a checksum that is right, computed as `docs/FORMAT.md` says.
    fn sealed(mut self) -> Vec<u8> {
        self.ours["sha256"] = "0".repeat(64).into();
        let mut hash = Sha256::new();
        hash.update(self.ours.to_string());
        for (name, tensor) in self.tensors.as_object().unwrap() {
            let shape: Vec<u64> = serde_json::from_value(tensor["shape"].clone()).unwrap();
            let range: [usize; 2] = serde_json::from_value(tensor["data_offsets"].clone()).unwrap();
            hash.update(format!("\n{name} {shape:?}\n"));
            hash.update(&self.data[range[0]..range[1]]);
        }
        self.ours["sha256"] = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        let mut header = self.tensors.clone();
        header["__metadata__"] = serde_json::json!({ "eigenspace.accumulator": self.ours.to_string() });
        let header = header.to_string();
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &self.data].concat()
    }

    /// Where a tensor is.
    fn place(&self, name: &str) -> std::ops::Range<usize> {
        let range: [usize; 2] = serde_json::from_value(self.tensors[name]["data_offsets"].clone()).unwrap();
        range[0]..range[1]
    }

    fn set(&mut self, name: &str, index: usize, value: f64) {
        let start = self.place(name).start + 8 * index;
        self.data[start..start + 8].copy_from_slice(&value.to_le_bytes());
    }
}

/// The accumulators of the golden files, computed again: a scatter and a factor, both with pending
/// rows.
fn golden() -> [(&'static str, Accumulator); 2] {
    let rows = Array2::from_shape_fn((9, 3), |(i, j)| ((i * i * (j + 2) + 3 * i + 7 * j) % 11) as f64 - 4.5);
    let names = ["a", "größe", "\"c\""].map(String::from).to_vec();
    let metadata = Metadata::new().with_feature_names(names).with_value("unit", "mm");
    let options = FitOptions::new().components(0.95).block_rows(4);
    let factor = options.clone().engine(Engine::Factor).max_rank(2).truncation(Truncation::Energy(0.99));
    let factor = factor.centered(false).weight_kind(WeightKind::Reliability);
    let weights = [0.5, 1.0, 2.0, 1.0, 0.25, 1.0, 4.0, 1.0, 0.5];
    let filled = |options: &FitOptions, block: Block<'_>| {
        let mut accumulator = options.accumulator().unwrap().with_metadata(metadata.clone()).unwrap();
        accumulator.absorb(block).unwrap();
        accumulator
    };
    [
        ("accumulator-scatter-v2", filled(&options.engine(Engine::Scatter), Block::from(&rows))),
        ("accumulator-factor-v2", filled(&factor, Block::from(&rows).weighted(&weights))),
    ]
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.safetensors"))
}

/// Writes the golden files for a new format version; run it with `--ignored`.
#[test]
#[ignore = "writes the golden files"]
fn the_golden_accumulators_are_written() {
    for (name, accumulator) in golden() {
        fs::write(golden_path(name), accumulator.to_bytes()).unwrap();
    }
}

#[test]
fn the_golden_accumulators_of_version_2_are_read_for_ever() {
    for (name, wanted) in golden() {
        let bytes = fs::read(golden_path(name)).unwrap();
        let found = Accumulator::from_bytes(&bytes).unwrap();
        assert_eq!((found.options(), found.metadata()), (wanted.options(), wanted.metadata()));
        assert_eq!((found.count(), found.features()), (wanted.count(), wanted.features()));
        assert_eq!(found.to_bytes(), bytes, "{name}");
        // Rounding differs between processors.
        let [found, wanted] = [found, wanted].map(|accumulator| accumulator.finish().unwrap());
        assert_eq!((found.weight(), found.n_components()), (wanted.weight(), wanted.n_components()));
        assert!(found.mean().iter().zip(wanted.mean()).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
        let (found, wanted) = (found.all_singular_values(), wanted.all_singular_values());
        assert!(found.iter().zip(wanted).all(|(a, b)| (a / b - 1.0).abs() < 1e-12), "{name}");
    }
}

#[test]
fn every_state_comes_back_bit_for_bit_and_goes_on_in_the_same_way() {
    let more = Random::new(2).matrix(9, 3);
    for mut state in every_state() {
        let bytes = state.to_bytes();
        let mut again = Accumulator::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes(), bytes);
        assert_eq!((again.options(), again.metadata()), (state.options(), state.metadata()));
        assert_eq!((again.count(), again.features()), (state.count(), state.features()));
        state.absorb(&more).unwrap();
        again.absorb(&more).unwrap();
        assert_eq!(again.to_bytes(), state.to_bytes());
        assert_eq!(again.finish().unwrap(), state.finish().unwrap());
    }
}

#[test]
fn truncated_and_changed_bytes_are_refused() {
    for state in every_state() {
        let bytes = state.to_bytes();
        for length in 0..bytes.len() {
            assert!(Accumulator::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
        for place in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << (place % 8);
            assert!(Accumulator::from_bytes(&flipped).is_err(), "byte {place}");
        }
        assert!(matches!(format_error(&[&bytes[..], &[0]].concat()), FormatError::Truncated { .. }));
    }
    let error = Accumulator::from_bytes(&EigenspaceModel::empty(3).to_bytes()).unwrap_err();
    let words = "not a valid accumulator: expected an accumulator, found another safetensors file";
    assert!(error.to_string() == words && error.hint().is_some(), "{error}");
    assert!(EigenspaceModel::from_bytes(&every_state()[1].to_bytes()).is_err());
    let mut later = Parts::of(&every_state()[1].to_bytes());
    later.ours["version"] = 3.into();
    assert_eq!(format_error(&later.sealed()), FormatError::Version { found: 3, supported: 2 });
}

#[test]
fn numbers_that_contradict_each_other_are_refused_although_the_checksum_is_right() {
    let states = every_state();
    let (scatter, factor) = (states[4].to_bytes(), states[7].to_bytes());
    for (bytes, name, index, value) in [
        (&scatter, "scatter", 0, 1e9),
        (&scatter, "scatter", 1, -1e9),
        (&scatter, "scatter", 5, 0.0),
        (&scatter, "scatter", 0, f64::NAN),
        (&scatter, "scatter_low", 3, 1.0),
        (&scatter, "feature_scatter", 1, 1e-9),
        (&scatter, "weight", 0, 0.0),
        (&scatter, "mean", 0, 1e200),
        (&scatter, "noise", 0, -1.0),
        (&scatter, "rows", 2, f64::INFINITY),
        (&scatter, "rows", 2, 1e141),
        (&factor, "factor", 0, 1e9),
        (&factor, "compressions", 0, f64::from_bits(0)),
        (&factor, "compressions", 0, f64::from_bits(u64::MAX)),
        (&factor, "count", 0, f64::from_bits(u64::MAX)),
    ] {
        let mut parts = Parts::of(bytes);
        parts.set(name, index, value);
        let error = format_error(&parts.sealed());
        let expected = matches!(error, FormatError::Inconsistent { .. } | FormatError::Value { .. });
        assert!(expected, "{name} {index} {value}: {error}");
    }
    // Settings that do not fit the tensors, or no settings.
    for (key, value) in [
        ("engine", "factor".into()),
        ("missing", "impute".into()),
        ("components", "0".into()),
        ("truncation", "rank:0".into()),
        ("max_rank", 0.into()),
        ("block_rows", (-1).into()),
        ("weight_kind", Value::Null),
        ("centered", "mean".into()),
        ("metadata", serde_json::json!({ "feature_names": ["a"] })),
    ] {
        let mut parts = Parts::of(&scatter);
        parts.ours[key] = value;
        let error = format_error(&parts.sealed());
        assert!(matches!(error, FormatError::Inconsistent { .. } | FormatError::Metadata { .. }), "{key}: {error}");
    }
    // A tensor too few.
    let names: Vec<String> = Parts::of(&scatter).tensors.as_object().unwrap().keys().cloned().collect();
    for name in names.iter().filter(|name| *name != "rows") {
        let mut parts = Parts::of(&scatter);
        let hidden = parts.tensors.as_object_mut().unwrap().remove(name).unwrap();
        parts.tensors[format!("x{name}")] = hidden;
        assert!(Accumulator::from_bytes(&parts.sealed()).is_err(), "without {name}");
    }
}

#[test]
fn a_forged_accumulator_with_a_right_checksum_neither_panics_nor_allocates() {
    for state in every_state() {
        let bytes = state.to_bytes();
        for start in (0..Parts::of(&bytes).data.len()).step_by(8) {
            for value in [0, 1, 7, u64::MAX, 1 << 40, 1e-5_f64.to_bits(), (-3.0_f64).to_bits(), 1e120_f64.to_bits()] {
                let mut parts = Parts::of(&bytes);
                parts.data[start..start + 8].copy_from_slice(&value.to_le_bytes());
                let Ok(mut forged) = Accumulator::from_bytes(&parts.sealed()) else { continue };
                let _ = forged.finish().map(|model| model.to_bytes());
                let _ = forged.absorb(&Array2::<f64>::ones((5, 3)));
                let _ = forged.merge(&forged.clone());
                let _ = forged.finish();
            }
        }
    }
}

#[test]
fn the_tables_of_the_format_name_what_an_accumulator_holds() {
    let text = include_str!("../../../../../docs/FORMAT.md");
    let section = text.split("\n## ").find(|section| section.starts_with("Accumulators\n")).unwrap();
    let lines: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let documented = |dtype: bool| {
        let first = |line: &&str| line.split('|').nth(1).unwrap().trim().trim_matches('`').to_owned();
        let is_tensor = |line: &&&str| line.contains("| F64 |") || line.contains("| U64 |");
        let mut names: Vec<String> = lines.iter().filter(|line| is_tensor(line) == dtype).map(first).collect();
        names.sort();
        names
    };
    let model: Vec<String> = EigenspaceModel::empty(2).to_bytes()[8..]
        .split(|byte| *byte == b'"')
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let mut own: Vec<String> = Vec::new();
    for state in every_state() {
        let parts = Parts::of(&state.to_bytes());
        let names = parts.tensors.as_object().unwrap().keys().cloned();
        own.extend(names.filter(|name| !model.contains(name)));
        assert_eq!(parts.ours.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), documented(false));
    }
    own.sort();
    own.dedup();
    assert_eq!(own, documented(true));
}
