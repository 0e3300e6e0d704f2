//! The model file: the golden file, round trips, and all kinds of invalid files.

use std::fs;
use std::path::{Path, PathBuf};

use eigenspace::io::{Error, FormatError};
use eigenspace::{EigenspaceModel, FitOptions, ImageShape, Metadata, Truncation};
use ndarray::{Array2, ArrayView2};
use sha2::{Digest, Sha256};

use crate::support::Random;

fn golden_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/model-v4.safetensors")
}

/// The model of the golden file, computed again.
fn golden_model() -> EigenspaceModel {
    let cell = |(i, j): (usize, usize)| ((i * i * (j + 2) + 3 * i + 7 * j) % 11) as f64 - 5.0 + 0.25 * j as f64;
    let rows = Array2::from_shape_fn((12, 5), cell);
    let whole = EigenspaceModel::fit(rows.view()).unwrap();
    let names = ["a", "größe", "\"c\"", "d e", "0"].map(String::from).to_vec();
    let metadata = Metadata::new()
        .with_feature_names(names)
        .with_standardize(true)
        .with_image(ImageShape::new(5, 1, 1).with_depth(8))
        .with_component_labels(vec!["size".into(), "form".into()])
        .with_value("unit", "mm");
    let model = whole.truncate(Truncation::Rank(3)).unwrap().with_components(2).unwrap();
    model.with_metadata(metadata).unwrap()
}

fn sample() -> EigenspaceModel {
    EigenspaceModel::fit(Random::new(1).matrix(9, 6).view()).unwrap().truncate(Truncation::Rank(4)).unwrap()
}

fn format_error(bytes: &[u8]) -> FormatError {
    match EigenspaceModel::from_bytes(bytes) {
        Err(Error::Format(error)) => error,
        other => panic!("expected a format error, found {other:?}"),
    }
}

/// Writes the golden file for a new format version; run it with `--ignored`.
#[test]
#[ignore = "writes the golden file"]
fn the_golden_file_is_written() {
    fs::write(golden_path(), golden_model().to_bytes()).unwrap();
}

#[test]
fn the_golden_file_of_version_4_is_read_for_ever() {
    let model = EigenspaceModel::load(golden_path()).unwrap();
    let wanted = golden_model();
    assert_eq!((model.count(), model.rank(), model.n_components()), (12, 3, 2));
    let close =
        |a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12 * 20.0);
    assert!(close(model.basis(), wanted.basis()));
    assert!(
        model.all_singular_values().iter().zip(wanted.all_singular_values()).all(|(a, b)| (a / b - 1.0).abs() < 1e-12)
    );
    assert_eq!(model.mean(), wanted.mean());
    assert_eq!(model.metadata(), wanted.metadata());
    assert!((model.certificate().lost() / wanted.certificate().lost() - 1.0).abs() < 1e-12);
    // What was read is written again byte for byte.
    assert_eq!(model.to_bytes(), fs::read(golden_path()).unwrap());
}

#[test]
fn a_file_round_trips_and_replaces_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.safetensors");
    sample().save(&path).unwrap();
    golden_model().save(&path).unwrap();
    assert_eq!(EigenspaceModel::load(&path).unwrap(), golden_model());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn a_new_file_has_ordinary_permissions_and_an_old_one_keeps_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let plain = directory.path().join("plain");
    fs::write(&plain, "").unwrap();
    let path = directory.path().join("m.safetensors");
    sample().save(&path).unwrap();
    assert_eq!(mode(&path), mode(&plain), "as any other new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    sample().save(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let (target, link) = (directory.path().join("real"), directory.path().join("link"));
    sample().save(&target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    golden_model().save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
    assert_eq!(EigenspaceModel::load(&target).unwrap(), golden_model());
}

#[cfg(unix)]
#[test]
fn only_ordinary_files_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (socket, dangling) = (directory.path().join("socket"), directory.path().join("dangling"));
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink(directory.path().join("nowhere"), &dangling).unwrap();
    assert!(sample().save(&socket).is_err() && sample().save(&dangling).is_err());
    assert!(fs::symlink_metadata(&dangling).unwrap().file_type().is_symlink());
    sample().save(directory.path().join("n".repeat(255))).unwrap();
}

#[test]
fn a_model_does_not_replace_a_file_of_another_kind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv");
    fs::write(&path, "a,b\n1,2\n").unwrap();
    let error = sample().save(&path).unwrap_err();
    assert!(matches!(&error, Error::Occupied { path: named, recognizer: false } if *named == path), "{error:?}");
    assert!(error.hint().is_some());
    assert_eq!(fs::read(&path).unwrap(), b"a,b\n1,2\n");
    // An empty file, such as one that was just created, is replaced.
    fs::write(&path, "").unwrap();
    sample().save(&path).unwrap();
}

#[test]
fn bytes_of_other_kinds_are_named() {
    let mut accumulator = FitOptions::new().accumulator().unwrap();
    accumulator.absorb(&Array2::<f64>::zeros((2, 3))).unwrap();
    let checkpoint = FitOptions::new().stream(3).unwrap().checkpoint("");
    for (bytes, named) in [
        (accumulator.to_bytes(), "not a valid model: it is an accumulator"),
        (checkpoint, "not a valid model: it is the checkpoint of a fit that has not ended"),
    ] {
        let error = EigenspaceModel::from_bytes(&bytes).unwrap_err();
        assert_eq!(error.to_string(), named);
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_failed_save_names_the_file_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for path in [directory.path().join("no/such/directory/m"), directory.path().to_owned()] {
        let error = sample().save(&path).unwrap_err();
        assert!(matches!(&error, Error::Io { action: "write", path: named, .. } if *named == path), "{error:?}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    let error = EigenspaceModel::load(directory.path().join("nothing")).unwrap_err();
    assert!(matches!(error, Error::Io { action: "read", .. }));
    assert!(EigenspaceModel::load(directory.path()).is_err());
}

#[test]
fn every_truncation_of_the_bytes_is_refused() {
    let bytes = sample().to_bytes();
    for length in 0..bytes.len() {
        let error = format_error(&bytes[..length]);
        assert!(matches!(error, FormatError::Truncated { found, .. } if found == length as u64), "{length}: {error:?}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(matches!(format_error(&longer), FormatError::Truncated { .. }));
}

#[test]
fn a_truncated_file_says_how_many_bytes_are_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m");
    let bytes = sample().to_bytes();
    for length in [0, 7, 8, 100, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let error = EigenspaceModel::load(&path).unwrap_err();
        let Error::File { source: FormatError::Truncated { expected, found }, .. } = error else {
            panic!("{length}: {error:?}");
        };
        assert!(found == length as u64 && expected > found);
        if length > 1000 {
            assert_eq!(expected, bytes.len() as u64);
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = sample().to_bytes();
    let wanted = EigenspaceModel::from_bytes(&bytes).unwrap();
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[position] ^= 1 << bit;
            // A flip in the padding or the spelling of the header may leave the same model.
            if let Ok(model) = EigenspaceModel::from_bytes(&changed) {
                assert_eq!(model, wanted, "byte {position}, bit {bit}");
            }
        }
    }
}

/// Metadata that says nothing.
const METADATA: &str = r#"{"component_labels":[],"feature_names":null,"image":null,"standardize":false,"values":{}}"#;

/// Bytes of a safetensors file with a right checksum, whatever the tensors say.
struct Forgery {
    components: String,
    version: u64,
    metadata: serde_json::Value,
    tensors: Vec<(&'static str, &'static str, Vec<usize>, Vec<u8>)>,
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

impl Forgery {
    /// A good model of 3 rows and 2 features, of rank 1.
    fn good() -> Self {
        let tensors = vec![
            ("basis", "F64", vec![1, 2], floats(&[0.6, 0.8])),
            ("count", "U64", vec![], 3_u64.to_le_bytes().to_vec()),
            ("feature_noise", "F64", vec![2], floats(&[0.0, 0.0])),
            ("feature_scatter", "F64", vec![2], floats(&[2.0, 3.0])),
            ("imputed", "U64", vec![], 0_u64.to_le_bytes().to_vec()),
            ("lost", "F64", vec![2], floats(&[1.0, 1.0])),
            ("mean", "F64", vec![2], floats(&[0.5, 0.25])),
            ("mean_low", "F64", vec![2], floats(&[0.0, 0.0])),
            ("mean_noise", "F64", vec![2], floats(&[0.0, 0.0])),
            ("noise", "F64", vec![], floats(&[0.0])),
            ("scatter_noise", "F64", vec![2], floats(&[0.0, 0.0])),
            ("singular_values", "F64", vec![1], floats(&[2.0])),
            ("squared_weight", "F64", vec![], floats(&[3.0])),
            ("surplus", "F64", vec![2], floats(&[0.0, 0.0])),
            ("weight", "F64", vec![], floats(&[3.0])),
            ("weight_low", "F64", vec![], floats(&[0.0])),
        ];
        Self { components: "all".into(), version: 4, metadata: serde_json::from_str(METADATA).unwrap(), tensors }
    }

    fn with(mut self, name: &str, shape: &[usize], data: Vec<u8>) -> Self {
        let tensor = self.tensors.iter_mut().find(|tensor| tensor.0 == name).unwrap();
        (tensor.2, tensor.3) = (shape.to_vec(), data);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut hash = Sha256::new();
        let text = |sum: &str| {
            let (components, metadata, version) = (&self.components, &self.metadata, self.version);
            format!(
                r#"{{"centered":true,"components":"{components}","metadata":{metadata},"sha256":"{sum}","version":{version},"weight_kind":"frequency"}}"#
            )
        };
        hash.update(text(&"0".repeat(64)));
        let (mut header, mut data) = (String::new(), Vec::new());
        for (name, dtype, shape, bytes) in &self.tensors {
            hash.update(format!("\n{name} {shape:?}\n"));
            hash.update(bytes);
            let (from, to) = (data.len(), data.len() + bytes.len());
            header += &format!(r#","{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{from},{to}]}}"#);
            data.extend(bytes);
        }
        let sum: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let inner = serde_json::Value::from(text(&sum));
        raw(&format!(r#"{{"__metadata__":{{"eigenspace":{inner}}}{header}}}"#), &data)
    }
}

fn raw(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn the_documented_format_written_by_hand_is_read() {
    let model = EigenspaceModel::from_bytes(&Forgery::good().bytes()).unwrap();
    assert_eq!((model.count(), model.features(), model.rank()), (3, 2, 1));
    assert_eq!(model.all_singular_values()[0], 2.0);
}

#[test]
fn numbers_that_cannot_be_are_refused_with_a_right_checksum_too() {
    let nan = f64::NAN;
    let huge = u64::MAX.to_le_bytes().to_vec();
    let refused = |forgery: Forgery| format_error(&forgery.bytes());
    let good = Forgery::good;
    use FormatError as E;
    assert!(matches!(refused(good().with("mean", &[2], floats(&[0.0, nan]))), E::Value { name: "mean", index: 1, .. }));
    assert!(matches!(refused(good().with("basis", &[1, 2], floats(&[nan, 1.0]))), E::Value { name: "basis", .. }));
    assert!(matches!(refused(good().with("basis", &[1, 2], floats(&[0.6, 0.9]))), E::NotOrthonormal { .. }));
    assert!(matches!(refused(good().with("lost", &[2], floats(&[1.0, -1.0]))), E::Value { name: "lost", .. }));
    assert!(matches!(refused(good().with("weight", &[], floats(&[f64::INFINITY]))), E::Value { name: "weight", .. }));
    assert!(matches!(refused(good().with("weight", &[], floats(&[0.0]))), E::Inconsistent { .. }));
    assert!(matches!(refused(good().with("weight_low", &[], floats(&[-1e-3]))), E::Inconsistent { .. }));
    assert!(matches!(refused(good().with("feature_scatter", &[2], floats(&[-1.0, 9.0]))), E::Value { .. }));
    assert!(matches!(refused(good().with("feature_scatter", &[2], floats(&[1.0, 1.0]))), E::Inconsistent { .. }));
    assert!(matches!(refused(good().with("singular_values", &[1], floats(&[0.0]))), E::Value { .. }));
    assert!(matches!(refused(good().with("singular_values", &[1], floats(&[-2.0]))), E::Value { .. }));
    assert!(matches!(refused(good().with("count", &[], 1_u64.to_le_bytes().to_vec())), E::Inconsistent { .. }));
    assert!(matches!(refused(good().with("mean", &[2], floats(&[0.5, 1e300]))), E::Inconsistent { .. }));
    assert!(matches!(refused(good().with("singular_values", &[1], floats(&[1e-170]))), E::Inconsistent { .. }));
    assert!(matches!(refused(good().with("weight", &[], floats(&[1e300]))), E::Inconsistent { .. }));
    let two =
        good().with("singular_values", &[2], floats(&[1.0, 1.5])).with("basis", &[2, 2], floats(&[1.0, 0.0, 0.0, 1.0]));
    assert!(matches!(refused(two), E::Unsorted { index: 1 }));
    let large = EigenspaceModel::from_bytes(&good().with("count", &[], huge).bytes()).unwrap();
    assert_eq!(large.count(), u64::MAX, "the count is exact up to 2^64 - 1");
}

/// A forgery with two directions, with singular values 3 and 2.
fn two_directions() -> Forgery {
    let forgery = Forgery::good().with("singular_values", &[2], floats(&[3.0, 2.0]));
    forgery.with("basis", &[2, 2], floats(&[0.6, 0.8, -0.8, 0.6]))
}

/// A forgery of one row, which has no scatter but this.
fn one_row(scatter: f64) -> Forgery {
    let forgery = Forgery::good().with("singular_values", &[0], vec![]).with("basis", &[0, 2], vec![]);
    let forgery = forgery.with("count", &[], 1_u64.to_le_bytes().to_vec()).with("weight", &[], floats(&[1.0]));
    forgery.with("squared_weight", &[], floats(&[1.0])).with("feature_scatter", &[2], floats(&[scatter, 0.0]))
}

#[test]
fn numbers_are_accepted_up_to_their_limits_and_refused_beyond() {
    let good = Forgery::good;
    let scalar = |name: &'static str, value: f64| good().with(name, &[], floats(&[value]));
    let pair = |name: &'static str, value: f64| good().with(name, &[2], floats(&[value, 0.25]));
    let singular = |value: f64, scatter: f64| {
        good().with("singular_values", &[1], floats(&[value])).with("feature_scatter", &[2], floats(&[scatter, 0.0]))
    };
    // Two directions of 13 need this surplus and noise, 5 + 2 (3 + noise) in all.
    let surplus = |noise: f64| {
        let forgery = two_directions().with("surplus", &[2], floats(&[3.0, 1.0]));
        forgery.with("noise", &[], floats(&[noise]))
    };
    let accepted = [
        scalar("weight", 1e140),
        pair("mean", 1e140),
        pair("feature_scatter", 1e290),
        singular(1e145, 1e290),
        singular(1e-150, 1.0),
        good().with("mean_low", &[2], floats(&[0.5 * f64::EPSILON, 0.0])),
        scalar("squared_weight", 9.0 * (1.0 + 1e-9)),
        one_row(0.0),
        one_row(1e-20).with("scatter_noise", &[2], floats(&[0.0, 2e-20])),
        surplus(1.2),
    ];
    for (i, forgery) in accepted.iter().enumerate() {
        let read = EigenspaceModel::from_bytes(&forgery.bytes());
        assert!(read.is_ok(), "{i}: {:?}", read.err());
    }
    let (numbers, weights) = ("some numbers and their limits", "the weight and the squared weight");
    let refused = [
        (
            two_directions().with("count", &[], 2_u64.to_le_bytes().to_vec()),
            "the rank and the numbers of rows and features",
        ),
        (scalar("weight", 1.001e140), "the count and the weight"),
        (pair("mean", 1.001e140), numbers),
        (pair("feature_scatter", 1.001e290), numbers),
        (singular(1.001e145, 9e289), numbers),
        (singular(0.999e-150, 1.0), numbers),
        (good().with("mean_low", &[2], floats(&[0.501 * f64::EPSILON, 0.0])), "the high and the low part of the mean"),
        (scalar("squared_weight", 9.1), weights),
        (scalar("squared_weight", 9.0 * (1.0 + 1.1e-9)), weights),
        (one_row(1.0), "the count and the feature scatter"),
        (surplus(0.9), "the singular values and the feature scatter"),
    ];
    for (forgery, expected) in refused {
        let error = format_error(&forgery.bytes());
        assert!(matches!(error, FormatError::Inconsistent { what } if what == expected), "{expected}: {error:?}");
    }
}

#[test]
fn wrong_shapes_types_and_names_are_refused() {
    use FormatError as E;
    let refused = |forgery: Forgery| format_error(&forgery.bytes());
    let good = Forgery::good;
    assert!(matches!(refused(good().with("basis", &[2, 1], floats(&[0.6, 0.8]))), E::Shape { name: "basis", .. }));
    assert!(matches!(refused(good().with("mean", &[1], floats(&[0.5]))), E::Shape { .. }));
    assert!(matches!(refused(good().with("mean", &[1, 2], floats(&[0.5, 0.5]))), E::Shape { name: "mean", .. }));
    let mut other = good();
    other.tensors[0].1 = "I64";
    assert!(matches!(refused(other), E::Dtype { name: "basis", expected: "F64" }));
    for missing in 0..15 {
        let mut fewer = good();
        let (name, ..) = fewer.tensors.remove(missing);
        assert_eq!(refused(fewer), E::MissingTensor { name });
    }
    for (version, hint) in [(3, "fit the model again"), (5, "update eigenspace")] {
        let other = Forgery { version, ..good() };
        let error = EigenspaceModel::from_bytes(&other.bytes()).unwrap_err();
        assert_eq!(refused(other), E::Version { found: version, supported: 4 });
        assert!(error.to_string().contains(&format!("format version is {version}")), "{error}");
        assert!(error.hint().unwrap().contains(hint), "{:?}", error.hint());
    }
    for strange in ["0", "number 50", "", "some", "all 1", "2.0", "-1"] {
        let strange = Forgery { components: strange.into(), ..good() };
        assert_eq!(refused(strange), E::Metadata { key: "components" });
    }
}

#[test]
fn hostile_headers_are_refused_before_anything_is_allocated() {
    let tensor = |shape: &str, to: &str| {
        format!(
            r#"{{"__metadata__":{{"eigenspace":"{{}}"}},"mean":{{"dtype":"F64","shape":{shape},"data_offsets":[0,{to}]}}}}"#
        )
    };
    let headers = [
        "".to_owned(),
        "{}".to_owned(),
        "[]".to_owned(),
        "{".repeat(2000),
        "[".repeat(500_000),
        tensor("[1152921504606846976]", "9223372036854775808"),
        tensor("[4294967296, 4294967296, 4294967296]", "8"),
        tensor("[1]", "18446744073709551615"),
        tensor("[-1]", "8"),
        r#"{"__metadata__":{"eigenspace":5}}"#.to_owned(),
        r#"{"__metadata__":null}"#.to_owned(),
    ];
    for header in headers {
        format_error(&raw(&header, &[0; 8]));
        format_error(&raw(&header, &[]));
    }
    for length in [0, u64::MAX, u64::MAX - 7, 1 << 40, 1 << 62] {
        format_error(&[&length.to_le_bytes()[..], b"{}"].concat());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_huge_sparse_file_is_refused_without_reading_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("huge");
    let file = fs::File::create(&path).unwrap();
    file.set_len(1 << 42).unwrap();
    assert!(matches!(EigenspaceModel::load(&path), Err(Error::File { .. })));
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::new(2);
    let good = sample().to_bytes();
    for _ in 0..2000 {
        let mut bytes = good.clone();
        for _ in 0..1 + (random.uniform() * 8.0) as usize {
            let position = (random.uniform() * bytes.len() as f64) as usize;
            bytes[position] = (random.uniform() * 256.0) as u8;
        }
        let _ = EigenspaceModel::from_bytes(&bytes);
    }
}

#[test]
fn metadata_goes_with_the_model_and_is_under_the_checksum() {
    let names: Vec<String> = (0..6).map(|j| format!("größe {j}")).collect();
    let model = sample().with_metadata(Metadata::new().with_feature_names(names).with_value("a", "\"b\"\n")).unwrap();
    let bytes = model.to_bytes();
    assert_eq!(EigenspaceModel::from_bytes(&bytes).unwrap(), model);
    let at = bytes.windows(6).position(|window| window == "größ".as_bytes()).unwrap();
    let mut other = bytes.clone();
    other[at] = b'G';
    assert_eq!(format_error(&other), FormatError::Checksum);
}

#[test]
fn metadata_that_does_not_fit_is_refused() {
    use FormatError as E;
    let with = |key: &str, value: serde_json::Value| {
        let mut forgery = Forgery::good();
        forgery.metadata[key] = value;
        forgery
    };
    let read = |forgery: Forgery| EigenspaceModel::from_bytes(&forgery.bytes()).unwrap();
    assert_eq!(read(with("feature_names", vec!["a", "b"].into())).metadata().feature_names().unwrap(), ["a", "b"]);
    let image =
        |width: u64, depth: u64| serde_json::json!({ "width": width, "height": 1, "channels": 1, "depth": depth });
    assert_eq!(read(with("image", image(2, 16))).metadata().image(), Some(ImageShape::new(2, 1, 1).with_depth(16)));
    let inconsistent = [
        ("feature_names", vec!["a"].into()),
        ("component_labels", vec!["a", "b", "c"].into()),
        ("image", image(3, 16)),
        ("image", image(2, 12)),
        ("image", image(u64::MAX, 8)),
    ];
    for (key, value) in inconsistent {
        let error = format_error(&with(key, value.clone()).bytes());
        assert!(matches!(error, E::Inconsistent { .. }), "{key} {value}: {error:?}");
    }
    for (key, value) in [("values", 7.into()), ("feature_names", "a".into()), ("other", 1.into())] {
        assert_eq!(format_error(&with(key, value).bytes()), E::Metadata { key: "metadata" });
    }
}

/// The first three cells of each line of the table under a heading of `docs/FORMAT.md`.
fn documented(heading: &str) -> Vec<[String; 3]> {
    let text = include_str!("../../../../docs/FORMAT.md");
    let section = text.split("\n## ").find(|section| section.lines().next() == Some(heading)).unwrap();
    let cells = |line: &str| {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect();
        [cells[1].clone(), cells[2].clone(), cells[3].clone()]
    };
    section.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
}

#[test]
fn the_tables_of_the_format_name_what_a_saved_model_holds() {
    let bytes = golden_model().to_bytes();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let symbol = |size: &serde_json::Value| if size == 3 { "r" } else { "D" };
    let mut tensors: Vec<[String; 3]> = Vec::new();
    for (name, tensor) in header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__") {
        let shape: Vec<&str> = tensor["shape"].as_array().unwrap().iter().map(symbol).collect();
        tensors.push([name.clone(), tensor["dtype"].as_str().unwrap().into(), format!("[{}]", shape.join(", "))]);
    }
    tensors.sort();
    // Only models that were fitted iteratively have it
    // (`iterative::the_confidence_follows_a_model_into_files_and_merges`).
    let (optional, always): (Vec<_>, Vec<_>) =
        documented("Tensors").into_iter().partition(|[name, ..]| name == "failure_probability");
    assert_eq!((tensors, optional.len()), (always, 1));
    let names = |object: &serde_json::Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let first = |heading: &str| documented(heading).into_iter().map(|[name, ..]| name).collect::<Vec<_>>();
    let ours: serde_json::Value = serde_json::from_str(header["__metadata__"]["eigenspace"].as_str().unwrap()).unwrap();
    assert_eq!(names(&header["__metadata__"]), ["eigenspace"]);
    assert_eq!(names(&ours), first("Header"));
    assert_eq!(names(&ours["metadata"]), first("Metadata"));
}
