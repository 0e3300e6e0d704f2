//! Metadata goes with the model through every operation, and merging keeps what models share.

use eigenspace::{EigenspaceModel, EigenspaceStream, Error, FitOptions, ImageShape, Metadata, Truncation};
use ndarray::{Array2, Axis, Slice};

use crate::support::Random;

fn names(letters: &str) -> Vec<String> {
    letters.chars().map(String::from).collect()
}

fn described() -> Metadata {
    Metadata::new()
        .with_feature_names(names("abcdef"))
        .with_image(ImageShape::new(3, 2, 1).with_depth(8))
        .with_component_labels(vec!["size".into()])
        .with_value("unit", "mm")
}

fn rows() -> Array2<f64> {
    Random::new(7).matrix(30, 6)
}

fn model() -> EigenspaceModel {
    EigenspaceModel::fit(rows().view()).unwrap().with_metadata(described()).unwrap()
}

#[test]
fn every_operation_keeps_the_metadata() {
    let (model, more) = (model(), Random::new(8).matrix(4, 6));
    let part = EigenspaceModel::fit(rows().slice_axis(Axis(0), Slice::from(..5))).unwrap();
    let none = Truncation::None;
    let changed = [
        model.update(more.view(), none).unwrap(),
        model.update_row(more.row(0), none).unwrap(),
        model.split(&part).unwrap(),
        model.split(&model).unwrap(),
        model.remove(rows().slice_axis(Axis(0), Slice::from(..2))).unwrap(),
        model.truncate(Truncation::Rank(2)).unwrap(),
        model.forget(0.5).unwrap(),
        model.with_components(1).unwrap(),
        model.merge(&model, none).unwrap(),
        model.merge(&EigenspaceModel::empty(6), none).unwrap(),
        EigenspaceModel::empty(6).merge(&model, none).unwrap(),
        EigenspaceModel::from_bytes(&model.to_bytes()).unwrap(),
    ];
    for (i, changed) in changed.iter().enumerate() {
        assert_eq!(changed.metadata(), &described(), "operation {i}");
    }
    let standardized = model.clone().with_metadata(described().with_standardize(true)).unwrap();
    let scaled = standardized.standardize().unwrap();
    assert_eq!(scaled.model().metadata(), &described(), "the model of standardized rows is not standardized again");
}

#[test]
fn a_stream_and_its_checkpoint_keep_the_metadata() {
    for engine in ["scatter", "factor"] {
        let options = FitOptions::new().components(2).engine(engine.parse().unwrap());
        let mut stream = options.stream(6).unwrap().with_metadata(described()).unwrap();
        stream.update(rows().view()).unwrap();
        assert_eq!(stream.model().unwrap().metadata(), &described());
        assert_eq!(stream.preview().unwrap().metadata(), &described());
        let (restored, _) = EigenspaceStream::restore(&stream.checkpoint(""), &options).unwrap();
        assert_eq!(restored.metadata(), &described());
        assert_eq!(restored.model().unwrap(), stream.model().unwrap());
        let mut resumed = options.resume(&stream.model().unwrap()).unwrap();
        resumed.update(rows().view()).unwrap();
        resumed.merge(&model()).unwrap();
        assert_eq!(resumed.model().unwrap().metadata(), &described());
    }
}

#[test]
fn a_stream_that_standardizes_says_so() {
    let standardize = FitOptions::new().standardize(true);
    let mut stream = standardize.stream(6).unwrap();
    stream.update(rows().view()).unwrap();
    assert!(stream.model().unwrap().metadata().standardize());
    assert!(standardize.resume(&model()).unwrap().metadata().standardize());
    // A checkpoint of a raw stream may be resumed standardized: the state is the same.
    let raw = FitOptions::new().stream(6).unwrap();
    assert!(!raw.metadata().standardize());
    assert!(EigenspaceStream::restore(&raw.checkpoint(""), &standardize).unwrap().0.metadata().standardize());
}

#[test]
fn merging_keeps_what_both_share() {
    let merged = |other: Metadata| {
        let other = EigenspaceModel::fit(rows().view()).unwrap().with_metadata(other).unwrap();
        model().merge(&other, Truncation::None).unwrap().metadata().clone()
    };
    assert_eq!(merged(described()), described());
    assert_eq!(merged(Metadata::new()), Metadata::new());
    assert_eq!(merged(described().with_standardize(true)), described());
    assert_eq!(merged(described().with_value("unit", "cm").with_value("more", "1")).values().len(), 0);
    assert_eq!(merged(described().with_component_labels(Vec::new())).component_labels().len(), 0);
    let turned = ImageShape::new(2, 3, 1);
    assert_eq!(merged(described().with_image(turned)), described().with_image(None));
    let deeper = ImageShape::new(3, 2, 1).with_depth(16);
    assert_eq!(merged(described().with_image(deeper)).image(), Some(ImageShape::new(3, 2, 1)));
}

#[test]
fn features_of_other_names_are_refused() {
    let metadata = described().with_feature_names(names("abxdef"));
    let other = EigenspaceModel::fit(rows().view()).unwrap().with_metadata(metadata).unwrap();
    for result in [model().merge(&other, Truncation::None), model().split(&other)] {
        let error = result.unwrap_err();
        let expected = "the features differ: column 2 is `c` in one and `x` in the other";
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().unwrap().contains("reorder"));
    }
    let mut stream = FitOptions::new().resume(&model()).unwrap();
    assert!(matches!(stream.merge(&other), Err(Error::FeatureNamesDiffer { column: 2, .. })));
    assert!(model().metadata().check_feature_names(&names("abcdef")).is_ok());
    assert!(Metadata::new().check_feature_names(&names("abcdef")).is_ok());
}

#[test]
fn metadata_that_does_not_fit_the_features_is_refused() {
    let refused = |metadata: Metadata| model().with_metadata(metadata).unwrap_err();
    assert!(matches!(
        refused(described().with_feature_names(names("abc"))),
        Error::NameCount { names: 3, features: 6 }
    ));
    let labels = vec![String::new(); 7];
    assert!(matches!(refused(described().with_component_labels(labels)), Error::LabelCount { labels: 7, .. }));
    for image in [ImageShape::new(3, 3, 1), ImageShape::new(usize::MAX, 2, 3)] {
        assert!(matches!(refused(described().with_image(image)), Error::ImageShape { features: 6, .. }));
    }
    let deep = ImageShape::new(3, 2, 1).with_depth(12);
    assert!(matches!(refused(described().with_image(deep)), Error::ImageDepth { depth: 12 }));
    let long = "x".repeat(1 << 24);
    assert!(matches!(refused(Metadata::new().with_value("a", long.clone())), Error::MetadataTooLarge { .. }));
    // As much as is accepted can be written and read, however it must be escaped.
    let escaped = "\"".repeat((1 << 23) - 100);
    let large = model().with_metadata(Metadata::new().with_value("a", escaped)).unwrap();
    assert_eq!(EigenspaceModel::from_bytes(&large.to_bytes()).unwrap(), large);
    assert!(
        FitOptions::new().stream(6).unwrap().with_metadata(Metadata::new().with_feature_names(names("a"))).is_err()
    );
}
