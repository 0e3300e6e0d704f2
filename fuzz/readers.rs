//! One function for each kind of untrusted input.
//!
//! ```text
//! bytes ─► reader ─► an error, or a usable result        never a panic or an endless loop
//! ```
//!
//! The fuzz targets (`targets/`, run by `cargo xtask fuzz`) call them with bytes from the fuzzer.
//! The ordinary tests (`crates/eigenspace/tests/suite/fuzz.rs`) call them with the files in
//! `seeds/`: valid files, and cases that once failed.
#![allow(dead_code, reason = "each target and the tests use some of them")]

use std::io::Write;
use std::path::Path;

use eigenspace::faces::{Classifier, FaceOptions, Metric, Pixels, Protocol, Recognizer, Threshold};
use eigenspace::io::source::{self, Format, ReadOptions};
use eigenspace::{
    Accumulator, Components, EigenspaceModel, EigenspaceStream, Engine, Error, FitOptions, Forgetting, Metadata,
    Method, Missing, SparseRows, Truncation,
};
use ndarray::Array2;

/// Largest number of rows and blocks to read: a few bytes can stand for billions of equal rows.
const BLOCK_ROWS: usize = 16;
const BLOCKS: usize = 64;

/// A reader: its name, and the function that calls it with bytes.
pub(crate) type Reader = (&'static str, fn(&[u8]));

/// All readers, by the names of their targets and of the directories of their seeds.
pub(crate) const ALL: [Reader; 11] = [
    ("accumulator", accumulator),
    ("arrow", arrow),
    ("checkpoint", checkpoint),
    ("csv", csv),
    ("model", model),
    ("npy", npy),
    ("npz", npz),
    ("parquet", parquet),
    ("image", image),
    ("recognizer", recognizer),
    ("words", words),
];

/// Runs before the first case of a target. The fuzzer ends the process on every panic, even on
/// those that a reader catches; an empty hook leaves it to the uncaught ones to end it. Files that
/// only this version of the library writes are stored as seeds in the directory named by
/// `EIGENSPACE_SEEDS`.
pub(crate) fn prepare(target: &str) {
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(directory) = std::env::var_os("EIGENSPACE_SEEDS") {
        for (number, bytes) in made(target).iter().enumerate() {
            std::fs::write(Path::new(&directory).join(format!("made-{number}")), bytes).expect("a seed is written");
        }
    }
}

/// Valid files of this version of the library.
pub(crate) fn made(target: &str) -> Vec<Vec<u8>> {
    let whole = EigenspaceModel::fit(ramp().view()).expect("rows");
    let short = whole.truncate(Truncation::Rank(1)).expect("a rank");
    match target {
        "model" => {
            let names = ["a", "b", "c"].map(String::from).to_vec();
            let described = short.with_metadata(Metadata::new().with_feature_names(names)).expect("three features");
            vec![whole.to_bytes(), described.to_bytes()]
        }
        "recognizer" => ["knn", "svm-rbf:2,0.5"].map(|word| trained(open_to(word)).to_bytes()).to_vec(),
        "accumulator" => accumulators().iter().map(Accumulator::to_bytes).collect(),
        "checkpoint" => checkpoint_options().iter().map(|options| stopped(options).checkpoint("row 6")).collect(),
        _ => Vec::new(),
    }
}

fn open_to(classifier: &str) -> FaceOptions {
    let classifier = classifier.parse().expect("a classifier");
    FaceOptions::new().classifier(classifier).unknown(Threshold::None).not_a_face(Threshold::None)
}

fn trained(options: FaceOptions) -> Recognizer {
    train(options).expect("faces")
}

fn stopped(options: &FitOptions) -> EigenspaceStream {
    let mut stream = options.stream(3).expect("options");
    stream.update(ramp().view()).expect("rows");
    stream
}

pub(crate) fn arrow(bytes: &[u8]) {
    rows(bytes, &of(Format::Arrow));
    rows(bytes, &of(Format::Arrow).label("0"));
}

pub(crate) fn parquet(bytes: &[u8]) {
    rows(bytes, &of(Format::Parquet));
    rows(bytes, &of(Format::Parquet).label("0"));
}

pub(crate) fn csv(bytes: &[u8]) {
    rows(bytes, &of(Format::Csv));
    rows(bytes, &of(Format::Tsv).header(false).weight("0"));
    rows(bytes, &of(Format::Csv).label("0").columns(["1-2"]));
}

pub(crate) fn npy(bytes: &[u8]) {
    rows(bytes, &of(Format::Npy));
    rows(bytes, &of(Format::Npy).vector(true));
}

pub(crate) fn npz(bytes: &[u8]) {
    rows(bytes, &of(Format::Npz));
    rows(bytes, &of(Format::Npz).key("a"));
}

pub(crate) fn image(bytes: &[u8]) {
    rows(bytes, &of(Format::Images));
    rows(bytes, &of(Format::Images).color(true).resize((3, 2)));
}

fn of(format: Format) -> ReadOptions {
    ReadOptions::new().format(format)
}

/// Reads a file with these bytes from its start, and again after skipping some rows.
fn rows(bytes: &[u8], options: &ReadOptions) {
    let mut file = temporary();
    file.write_all(bytes).expect("the case is written");
    for skipped in [0, 5] {
        let Ok(mut source) = source::open(&[file.path()], options) else { return };
        if source.skip(skipped).is_err() {
            return;
        }
        let columns = source.columns().clone();
        for _ in 0..BLOCKS {
            let Ok(Some(block)) = source.next_block(BLOCK_ROWS) else { break };
            assert!((1..=BLOCK_ROWS).contains(&block.rows()));
            assert_eq!(block.values.dim().1, columns.count);
            assert!(block.labels.as_ref().is_none_or(|labels| labels.len() == block.rows()));
            assert!(block.weights.as_ref().is_none_or(|weights| weights.len() == block.rows()));
        }
    }
}

/// A temporary file, in memory if the system has a directory for that.
fn temporary() -> tempfile::NamedTempFile {
    let memory = Path::new("/dev/shm");
    let file = if memory.is_dir() { tempfile::NamedTempFile::new_in(memory) } else { tempfile::NamedTempFile::new() };
    file.expect("a temporary file")
}

/// A model that can be read can be used, written, and read again.
pub(crate) fn model(bytes: &[u8]) {
    let Ok(model) = EigenspaceModel::from_bytes(bytes) else { return };
    use_model(&model);
    let again = EigenspaceModel::from_bytes(&model.to_bytes()).expect("it was read before");
    assert_eq!(again, model);
}

fn use_model(model: &EigenspaceModel) {
    let row = Array2::<f64>::zeros((1, model.features()));
    let _ = model.certificate();
    let _ = model.explained_variance_ratio();
    let _ = model.project(row.view()).and_then(|coordinates| model.reconstruct(coordinates.view()));
    let _ = model.limits(0.99).and_then(|limits| model.monitor(row.view(), limits));
    let _ = model.standardize();
    let _ = model.update(row.view(), Truncation::None);
    let _ = model.merge(model, Truncation::None);
    let _ = model.split(model);
    let _ = model.truncate(Truncation::Rank(1));
}

/// A recognizer that can be read can recognize images, be written, and be read again.
pub(crate) fn recognizer(bytes: &[u8]) {
    let Ok(recognizer) = Recognizer::from_bytes(bytes) else { return };
    let row = Array2::from_elem((1, recognizer.model().features()), 1.0);
    let _ = recognizer.matcher().and_then(|matcher| matcher.recognize(row.view()));
    let first = recognizer.people()[0].to_owned();
    let _ = recognizer.forget(&first);
    assert_eq!(Recognizer::from_bytes(&recognizer.to_bytes()).expect("it was read before"), recognizer);
}

/// A stream that can be restored accepts more rows and can be read.
pub(crate) fn checkpoint(bytes: &[u8]) {
    for options in checkpoint_options() {
        let Ok((mut stream, note)) = EigenspaceStream::restore(bytes, &options) else { continue };
        let row = Array2::from_elem((1, stream.features()), 1.0);
        let _ = stream.model();
        let _ = stream.update(row.view());
        let _ = stream.model();
        let _ = EigenspaceStream::restore(&stream.checkpoint(&note), &options).expect("it was restored before");
    }
}

/// An accumulator that can be read accepts more rows, can be merged, finished, written and read
/// again.
pub(crate) fn accumulator(bytes: &[u8]) {
    let Ok(mut accumulator) = Accumulator::from_bytes(bytes) else { return };
    let again = Accumulator::from_bytes(&accumulator.to_bytes()).expect("it was read before");
    assert_eq!((again.count(), again.features()), (accumulator.count(), accumulator.features()));
    let row = Array2::from_elem((1, accumulator.features().unwrap_or(1)), 1.0);
    let _ = accumulator.finish();
    let _ = accumulator.absorb(row.view());
    let _ = accumulator.merge(&again);
    let _ = accumulator.finish();
}

/// An accumulator without rows, with pending rows, with a scatter, and with a factor and sparse
/// rows.
fn accumulators() -> [Accumulator; 4] {
    let small = FitOptions::new().components(2_usize).block_rows(4);
    let absorbed = |options: &FitOptions| {
        let mut accumulator = options.accumulator().expect("options");
        accumulator.absorb(ramp().view()).expect("rows");
        accumulator
    };
    let mut factor = absorbed(&small.clone().engine(Engine::Factor).max_rank(2));
    factor.absorb(SparseRows::new(3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]).expect("sparse rows")).expect("rows");
    let empty = FitOptions::new().accumulator().expect("options");
    [empty, absorbed(&FitOptions::new()), absorbed(&small.engine(Engine::Scatter)), factor]
}

/// The options of the seeds.
pub(crate) fn checkpoint_options() -> [FitOptions; 2] {
    let base = FitOptions::new().components(2_usize);
    [base.clone(), base.engine(Engine::Factor).max_rank(3).block_rows(4).missing(Missing::Impute)]
}

/// Text of settings: either an error, or settings with which a fit succeeds or returns an error.
pub(crate) fn words(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let base = FitOptions::new().block_rows(4);
    let settings = [
        text.parse().map(|rule: Truncation| base.clone().truncation(rule)),
        text.parse().map(|way: Forgetting| base.clone().forgetting(way)),
        text.parse().map(|policy: Missing| base.clone().missing(policy)),
        text.parse().map(|engine: Engine| base.clone().engine(engine)),
    ];
    for options in settings.into_iter().flatten() {
        let _ = fit(&options.clone().engine(Engine::Factor));
        let _ = fit(&options);
    }
    if let Ok(method) = text.parse::<Method>() {
        let _ = EigenspaceModel::fit_with(ramp().view(), method, Truncation::None);
    }
    let open = open_to("knn");
    let faces = [
        text.parse().map(|classifier: Classifier| open.clone().classifier(classifier)),
        text.parse().map(|metric: Metric| open.clone().metric(metric)),
        text.parse().map(|pixels: Pixels| open.clone().pixels(pixels)),
        text.parse().map(|unknown: Threshold| open.clone().unknown(unknown)),
    ];
    for options in faces.into_iter().flatten() {
        let _ = train(options).and_then(|recognizer| recognizer.matcher()?.recognize(ramp().view()));
    }
    if let Ok(protocol) = text.parse::<Protocol>() {
        let _ = protocol.splits(&people(), 2, 1);
    }
}

fn ramp() -> Array2<f64> {
    Array2::from_shape_fn((6, 3), |(i, j)| ((i * i + 3 * i * j + j) % 7) as f64)
}

fn people() -> Vec<String> {
    ["a", "a", "b", "b", "c", "c"].map(String::from).to_vec()
}

fn fit(options: &FitOptions) -> Result<(), Error> {
    let mut stream = options.clone().components(Components::All).stream(3)?;
    stream.update(ramp().view())?;
    stream.model().map(|_| ())
}

fn train(options: FaceOptions) -> Result<Recognizer, eigenspace::faces::Error> {
    let (rows, people, images) = (ramp(), people(), ["1", "2", "1", "2", "1", "2"].map(String::from));
    let faces = eigenspace::faces::Faces::new(rows.view(), &people, &images);
    Recognizer::train(faces, options)
}
