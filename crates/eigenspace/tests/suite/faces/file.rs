//! The file of a recognizer: round trips, hostile bytes, and that it is a model file.

use std::fs;
use std::path::{Path, PathBuf};

use eigenspace::faces::{Error, FaceOptions, Faces, Pixels, Recognizer, Threshold};
use eigenspace::io::{self, FormatError};
use eigenspace::{EigenspaceModel, ImageShape, Metadata};
use ndarray::Array2;
use sha2::{Digest, Sha256};

use crate::faces::Album;

fn sample() -> Recognizer {
    let album = Album::new(1, 3, 2, 12);
    let options = FaceOptions::new()
        .components(3)
        .classifier("svm-rbf:2,0.5".parse().unwrap())
        .metric("mahalanobis-cosine".parse().unwrap())
        .unknown(Threshold::Fixed(0.25))
        .seed(9)
        .size((4, 3))
        .depth(16)
        .max_rank(5);
    Recognizer::train(album.all(), options).unwrap()
}

fn golden_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/recognizer-v2.safetensors")
}

/// The recognizer of the golden file, computed again.
fn golden_recognizer() -> Recognizer {
    let cell =
        |(i, j): (usize, usize)| ((i * i * (j + 2) + 3 * i + 7 * j) % 11) as f64 + 40.0 * ((i / 2 + j) % 3) as f64;
    let rows = Array2::from_shape_fn((6, 4), cell);
    let people = ["a", "a", "größe", "größe", "s 3", "s 3"].map(String::from);
    let images = ["1.pgm", "2.pgm"].repeat(3).into_iter().map(String::from).collect::<Vec<_>>();
    let options = FaceOptions::new()
        .components(2)
        .classifier("knn:3".parse().unwrap())
        .metric("mahalanobis".parse().unwrap())
        .pixels(Pixels::Standardized)
        .unknown(Threshold::Fixed(0.25))
        .not_a_face(Threshold::None)
        .accept(0.9)
        .max_rank(5)
        .seed(7)
        .size((2, 2))
        .depth(8)
        .resized(true);
    Recognizer::train(Faces::new(&rows, &people, &images), options).unwrap()
}

/// Writes the golden file for a new format version; run it with `--ignored`.
#[test]
#[ignore = "writes the golden file"]
fn the_golden_recognizer_is_written() {
    golden_recognizer().save(golden_path()).unwrap();
}

#[test]
fn the_golden_recognizer_of_version_2_is_read_for_ever() {
    let (found, wanted) = (Recognizer::load(golden_path()).unwrap(), golden_recognizer());
    assert_eq!((found.people(), found.options()), (wanted.people(), wanted.options()));
    let names =
        |recognizer: &Recognizer| recognizer.images().map(|(person, image)| format!("{person}/{image}")).collect();
    let (found_names, wanted_names): (Vec<String>, Vec<String>) = (names(&found), names(&wanted));
    assert_eq!(found_names, wanted_names);
    // Rounding differs between processors.
    let rounding = 1e-12 * wanted.model().all_singular_values()[0];
    assert!(found.scores().iter().zip(wanted.scores()).all(|(a, b)| (a - b).abs() < rounding));
    assert_eq!(found.to_bytes(), fs::read(golden_path()).unwrap());
}

fn format_error(bytes: &[u8]) -> FormatError {
    match Recognizer::from_bytes(bytes) {
        Err(Error::File(io::Error::Format(error))) => error,
        other => panic!("expected a format error, found {other:?}"),
    }
}

#[test]
fn a_recognizer_round_trips() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.safetensors");
    sample().save(&path).unwrap();
    let again = Recognizer::load(&path).unwrap();
    assert_eq!(again, sample());
    assert_eq!(again.to_bytes(), std::fs::read(&path).unwrap());
    // A model does not replace it: the people would be lost.
    let error = again.model().save(&path).unwrap_err();
    assert!(matches!(error, io::Error::Occupied { recognizer: true, .. }), "{error}");
    assert_eq!(again.to_bytes(), std::fs::read(&path).unwrap());
    // It goes on from there as it would have.
    let more = Album::new(2, 2, 2, 12);
    let (one, two) = (again.forget("p1").unwrap(), sample().forget("p1").unwrap());
    assert_eq!(one.to_bytes(), two.to_bytes());
    let renamed: Vec<String> = more.people.iter().map(|person| format!("new {person}")).collect();
    let faces = eigenspace::faces::Faces::new(&more.rows, &renamed, &more.images);
    assert_eq!(one.enroll(faces).unwrap(), two.enroll(faces).unwrap());
}

#[test]
fn every_reader_of_models_reads_a_recognizer() {
    let model = EigenspaceModel::from_bytes(&sample().to_bytes()).unwrap();
    assert_eq!(&model, sample().model());
}

#[test]
fn a_model_is_no_recognizer() {
    let album = Album::new(1, 3, 2, 12);
    let model = EigenspaceModel::fit(album.rows.view()).unwrap();
    assert_eq!(format_error(&model.to_bytes()), FormatError::NoRecognizer);
    let image = model.clone().with_metadata(Metadata::new().with_image(ImageShape::new(4, 3, 1))).unwrap();
    assert_eq!(format_error(&image.to_bytes()), FormatError::NoRecognizer);
    let error = Recognizer::from_bytes(&model.to_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "not a valid recognizer: it is a model without people");
    assert!(error.hint().unwrap().contains("train a recognizer"));
}

#[test]
fn every_cut_is_refused() {
    let bytes = sample().to_bytes();
    for length in 0..bytes.len() {
        let error = format_error(&bytes[..length]);
        assert!(matches!(error, FormatError::Truncated { .. }), "{length}: {error:?}");
    }
}

#[test]
fn every_turned_bit_is_refused() {
    let bytes = sample().to_bytes();
    for place in 0..bytes.len() {
        let mut turned = bytes.clone();
        turned[place] ^= 1 << (place % 8);
        assert!(Recognizer::from_bytes(&turned).is_err(), "{place}");
    }
}

/// The bytes with another text in their header, and a checksum that is right again.
fn forged(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let data = &bytes[8 + length..];
    let ours = header["__metadata__"]["eigenspace"].as_str().unwrap();
    assert!(ours.contains(from), "{ours}");
    let sum = serde_json::from_str::<serde_json::Value>(ours).unwrap()["sha256"].as_str().unwrap().to_owned();
    let ours = ours.replace(from, to).replace(&sum, &"0".repeat(64));
    let mut hash = Sha256::new();
    hash.update(&ours);
    let mut tensors: Vec<(&String, &serde_json::Value)> =
        header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__").collect();
    tensors.sort_by(|a, b| a.0.cmp(b.0));
    for (name, tensor) in tensors {
        let shape: Vec<u64> = tensor["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        let at = |i: usize| tensor["data_offsets"][i].as_u64().unwrap() as usize;
        hash.update(format!("\n{name} {shape:?}\n"));
        hash.update(&data[at(0)..at(1)]);
    }
    let sum: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    header["__metadata__"]["eigenspace"] = ours.replace(&"0".repeat(64), &sum).into();
    let mut text = header.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    [&(text.len() as u64).to_le_bytes()[..], &text, data].concat()
}

#[test]
fn a_forged_header_is_refused_where_it_contradicts_the_rest() {
    let bytes = sample().to_bytes();
    assert_eq!(Recognizer::from_bytes(&forged(&bytes, "\"seed\":9", "\"seed\":10")).unwrap().options().get_seed(), 10);
    for (from, to) in [
        ("\"version\":2", "\"version\":1"),
        ("\"version\":2", "\"version\":3"),
        ("\"version\":2", "\"version\":\"x\""),
        ("\"p1\"", "\"p0\""),
        ("\"p2\"", "\"p2\",\"p3\""),
        ("[\"p0\",\"p1\",\"p2\"]", "[]"),
        ("[\"p0\",\"p1\",\"p2\"]", "7"),
        ("\"0.pgm\",\"1.pgm\"]", "\"0.pgm\"]"),
        ("\"0.pgm\",\"1.pgm\"]", "\"1.pgm\",\"0.pgm\"]"),
        ("\"1.pgm\"]", "\"\"]"),
        ("svm-rbf:2,0.5", "svm-rbf:2,-0.5"),
        ("mahalanobis-cosine", "taxicab"),
        ("\"accept\":0.95", "\"accept\":0"),
        ("\"max_rank\":5", "\"max_rank\":0"),
        ("\"unknown\":\"0.25\"", "\"unknown\":\"-1\""),
    ] {
        let forged = forged(&bytes, from, to);
        assert!(Recognizer::from_bytes(&forged).is_err(), "{from} -> {to}");
        // The model in it is still what it was, unless the header is not even JSON.
        assert!(EigenspaceModel::from_bytes(&forged).is_ok(), "{from} -> {to}");
    }
    assert!(Recognizer::from_bytes(&forged(&bytes, "\"accept\":0.95", "\"accept\":1e999")).is_err());
    // A size that fits nothing, and a depth that there is not: such a file was not written by us.
    for (from, to) in [("\"width\":4", "\"width\":5"), ("\"depth\":16", "\"depth\":17")] {
        let refused = FormatError::Inconsistent { what: "the metadata and the number of features" };
        assert_eq!(format_error(&forged(&bytes, from, to)), refused, "{from} -> {to}");
    }
}
