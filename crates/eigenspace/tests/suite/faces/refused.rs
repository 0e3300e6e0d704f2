//! Errors of a recognizer, with their messages.

use eigenspace::Components;
use eigenspace::faces::{Error, FaceOptions, Faces, Recognizer};
use ndarray::{Array2, Axis};

use crate::faces::{Album, open};

fn error(result: Result<Recognizer, Error>) -> Error {
    match result {
        Ok(other) => panic!("expected an error about faces, found {other:?}"),
        Err(error @ (Error::Model(_) | Error::File(_))) => panic!("expected an error about faces, found {error:?}"),
        Err(error) => error,
    }
}

fn album() -> Album {
    Album::new(1, 3, 2, 12)
}

fn trained() -> Recognizer {
    Recognizer::train(album().all(), open("knn", "cosine", 3)).unwrap()
}

#[test]
fn no_images() {
    let none = Array2::<f64>::zeros((0, 12));
    let faces = Faces::new(&none, &[], &[]);
    assert!(matches!(error(Recognizer::train(faces, FaceOptions::default())), Error::NoImages));
    assert!(matches!(error(trained().enroll(faces)), Error::NoImages));
}

#[test]
fn names_that_are_missing() {
    let album = album();
    let faces = Faces::new(&album.rows, &album.people[..5], &album.images);
    let found = error(Recognizer::train(faces, FaceOptions::default()));
    assert_eq!(found.to_string(), "found 5 names of people for 6 images, expected one for each image");
    let mut people = album.people.clone();
    people[3].clear();
    let faces = Faces::new(&album.rows, &people, &album.images);
    assert!(matches!(error(Recognizer::train(faces, FaceOptions::default())), Error::NoName { image: 3 }));
}

#[test]
fn images_of_another_size() {
    let wider = Album::new(2, 1, 2, 13);
    let result = trained().enroll(wider.all());
    assert!(
        matches!(result, Err(Error::Model(eigenspace::Error::WidthMismatch { expected: 12, found: 13 }))),
        "{result:?}"
    );
    let recognizer = trained();
    let matcher = recognizer.matcher().unwrap();
    assert!(matches!(matcher.recognize(wider.rows.view()), Err(Error::Model(eigenspace::Error::WidthMismatch { .. }))));
    let options = FaceOptions::new().size((5, 3));
    let found = error(Recognizer::train(album().all(), options));
    assert!(matches!(found, Error::ImageSize { size: (5, 3), features: 12 }));
}

#[test]
fn an_image_that_is_enrolled_already_whoever_it_is_said_to_show() {
    let album = album();
    let recognizer = trained();
    let again = album.some(&[2]);
    let found = error(recognizer.enroll(again.all()));
    assert_eq!(found.to_string(), "the image `0.pgm` of `p1` is already enrolled");
    let (people, images) = (["q".to_owned()], ["other.pgm".to_owned()]);
    let faces = Faces::new(again.rows.view(), &people, &images);
    let found = error(recognizer.enroll(faces));
    assert_eq!(found.to_string(), "the image `other.pgm` of `q` is already enrolled, as `0.pgm` of `p1`");
    assert!(found.hint().unwrap().contains("forget the enrolled one first"));
    // The same in a single call.
    let twice = album.some(&[0, 1, 4, 0]);
    let people = ["p0", "p0", "p2", "p2"].map(String::from);
    let images = ["a", "b", "c", "d"].map(String::from);
    let faces = Faces::new(twice.rows.view(), &people, &images);
    let found = error(Recognizer::train(faces, FaceOptions::default()));
    assert_eq!(found.to_string(), "the image `d` of `p2` is already enrolled, as `a` of `p0`");
    // After it was forgotten, it can be enrolled again.
    let back = recognizer.forget("p1").unwrap().enroll(album.some(&[2, 3]).all()).unwrap();
    assert_eq!(back.people(), recognizer.people());
}

#[test]
fn another_image_of_the_same_name() {
    let other = Album::new(5, 1, 1, 12);
    let (people, images) = (["p1".to_owned()], ["1.pgm".to_owned()]);
    let faces = Faces::new(other.rows.view(), &people, &images);
    let found = error(trained().enroll(faces));
    assert_eq!(found.to_string(), "`p1` already has another image named `1.pgm`");
}

#[test]
fn people_and_images_that_are_not_there() {
    let found = error(trained().forget("nobody"));
    assert_eq!(found.to_string(), "unknown person `nobody`");
    assert_eq!(found.hint().unwrap(), "choose one of: `p0`, `p1`, `p2`");
    let found = error(trained().forget_image("p0", "7.pgm"));
    assert_eq!(found.to_string(), "`p0` has no image named `7.pgm`");
    assert_eq!(found.hint().unwrap(), "choose one of: `0.pgm`, `1.pgm`");
    assert!(trained().image("p9", "0.pgm").is_err());
}

#[test]
fn the_last_person_stays() {
    let one = trained().forget("p0").unwrap().forget("p1").unwrap();
    assert!(matches!(error(one.forget("p2")), Error::NobodyLeft));
    let single = one.forget_image("p2", "0.pgm").unwrap();
    assert!(matches!(error(single.forget_image("p2", "1.pgm")), Error::NobodyLeft));
}

#[test]
fn pixels_that_are_no_numbers() {
    let mut album = album();
    album.rows[[4, 7]] = f64::NAN;
    let result = Recognizer::train(album.all(), FaceOptions::default());
    assert!(matches!(result, Err(Error::Model(eigenspace::Error::NonFinite { row: 4, column: 7, .. }))), "{result:?}");
    let recognizer = trained();
    let probe = album.rows.select(Axis(0), &[4]);
    assert!(matches!(
        recognizer.matcher().unwrap().recognize(probe.view()),
        Err(Error::Model(eigenspace::Error::NonFinite { row: 0, .. }))
    ));
}

#[test]
fn settings_that_mean_nothing() {
    let album = album();
    let train = |options| Recognizer::train(album.all(), options);
    let defaults = FaceOptions::default;
    for accept in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(train(defaults().accept(accept)).is_err(), "{accept}");
    }
    assert!(train(defaults().max_rank(0)).is_err());
    assert!(train(defaults().components(Components::Number(0))).is_err());
    for c in [0.0, f64::NAN, f64::INFINITY] {
        let classifier = eigenspace::faces::Classifier::LinearSvm { c };
        assert!(train(defaults().classifier(classifier)).is_err(), "{c}");
    }
    let pixels = eigenspace::faces::Pixels::Standardized;
    assert!(trained().with_options(defaults().pixels(pixels)).is_err());
}

#[test]
fn names_of_several_lines() {
    let album = album();
    for bad in ["a\nb", "\u{1b}[31mred", "tab\t"] {
        let mut people = album.people.clone();
        people[2] = bad.into();
        let faces = Faces::new(&album.rows, &people, &album.images);
        let found = error(Recognizer::train(faces, FaceOptions::default()));
        assert!(matches!(found, Error::ControlName { name } if name == bad));
    }
}

#[test]
fn classifiers_that_would_never_end() {
    for text in ["knn:1000000", "perceptron:2000000000"] {
        assert!(
            text.parse::<eigenspace::faces::Classifier>().unwrap_err().hint().unwrap().contains("1 to 1000 neighbors"),
            "{text}"
        );
    }
}
