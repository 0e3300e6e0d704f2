//! The model file: the golden file, round trips, and all kinds of invalid files.

use std::fs;
use std::path::{Path, PathBuf};

use eigenspace::io::{Error, FormatError};
use eigenspace::{EigenspaceModel, Truncation};
use ndarray::{Array2, ArrayView2};
use sha2::{Digest, Sha256};

use crate::support::Random;

fn golden_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v2.safetensors")
}

/// The model of the golden file, computed again.
fn golden_model() -> EigenspaceModel {
    let cell = |(i, j): (usize, usize)| ((i * i * (j + 2) + 3 * i + 7 * j) % 11) as f64 - 5.0 + 0.25 * j as f64;
    let rows = Array2::from_shape_fn((12, 5), cell);
    let whole = EigenspaceModel::fit(rows.view()).unwrap();
    whole.truncate(Truncation::Rank(3)).unwrap().with_components(2).unwrap()
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
fn the_golden_file_of_version_2_is_read_for_ever() {
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
    assert!((model.certificate().lost() / wanted.certificate().lost() - 1.0).abs() < 1e-12);
    // What was read is written again byte for byte.
    assert_eq!(model.to_bytes(), fs::read(golden_path()).unwrap());
}

#[test]
fn a_file_round_trips_and_replaces_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    sample().save(&path).unwrap();
    golden_model().save(&path).unwrap();
    assert_eq!(EigenspaceModel::load(&path).unwrap(), golden_model());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn a_new_file_has_ordinary_permissions_and_an_old_one_keeps_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let path = folder.path().join("m.safetensors");
    sample().save(&path).unwrap();
    assert_eq!(mode(&path), mode(&plain), "as any other new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    sample().save(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("real"), folder.path().join("link"));
    sample().save(&target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    golden_model().save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
    assert_eq!(EigenspaceModel::load(&target).unwrap(), golden_model());
}

#[cfg(unix)]
#[test]
fn only_ordinary_files_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, dangling) = (folder.path().join("socket"), folder.path().join("dangling"));
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &dangling).unwrap();
    assert!(sample().save(&socket).is_err() && sample().save(&dangling).is_err());
    assert!(fs::symlink_metadata(&dangling).unwrap().file_type().is_symlink());
    sample().save(folder.path().join("n".repeat(255))).unwrap();
}

#[test]
fn a_failed_save_names_the_file_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("no/such/folder/m"), folder.path().to_owned()] {
        let error = sample().save(&path).unwrap_err();
        assert!(matches!(&error, Error::Io { action: "write", path: named, .. } if *named == path), "{error:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let error = EigenspaceModel::load(folder.path().join("nothing")).unwrap_err();
    assert!(matches!(error, Error::Io { action: "read", .. }));
    assert!(EigenspaceModel::load(folder.path()).is_err());
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
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

/// Bytes of a safetensors file with a right checksum, whatever the tensors say.
struct Forgery {
    components: String,
    version: u64,
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
        Self { components: "all".into(), version: 2, tensors }
    }

    fn with(mut self, name: &str, shape: &[usize], data: Vec<u8>) -> Self {
        let tensor = self.tensors.iter_mut().find(|tensor| tensor.0 == name).unwrap();
        (tensor.2, tensor.3) = (shape.to_vec(), data);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut hash = Sha256::new();
        hash.update(format!("eigenspace 2\n{}\nmean\nfrequency\n", self.components));
        let (mut header, mut data) = (String::new(), Vec::new());
        for (name, dtype, shape, bytes) in &self.tensors {
            hash.update(format!("{name} {shape:?}\n"));
            hash.update(bytes);
            let (from, to) = (data.len(), data.len() + bytes.len());
            header += &format!(r#","{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{from},{to}]}}"#);
            data.extend(bytes);
        }
        let sum: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let (components, version) = (&self.components, self.version);
        let inner = format!(
            r#"{{\"center\":\"mean\",\"components\":\"{components}\",\"sha256\":\"{sum}\",\"version\":{version},\"weights\":\"frequency\"}}"#
        );
        raw(&format!(r#"{{"__metadata__":{{"eigenspace":"{inner}"}}{header}}}"#), &data)
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
    let mut future = good();
    future.version = 3;
    assert_eq!(refused(future), E::Version { found: 3, supported: 2 });
    let mut strange = good();
    strange.components = "number 0".into();
    assert!(matches!(refused(strange), E::Metadata { key: "components" }));
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge");
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
fn a_note_goes_with_the_model_and_is_under_the_checksum() {
    let model = sample();
    let bytes = model.to_bytes_with_note("{\"columns\": [\"größe\"]}");
    let (back, note) = EigenspaceModel::from_bytes_with_note(&bytes).unwrap();
    assert_eq!((&back, note.as_str()), (&model, "{\"columns\": [\"größe\"]}"));
    assert_eq!(EigenspaceModel::from_bytes(&bytes).unwrap(), model);
    let at = bytes.windows(6).position(|window| window == "größ".as_bytes()).unwrap();
    let mut other = bytes.clone();
    other[at] = b'G';
    assert!(EigenspaceModel::from_bytes(&other).is_err());
    assert_eq!(model.to_bytes_with_note(""), model.to_bytes());
}
