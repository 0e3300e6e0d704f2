//! Which faces are unknown, and which images are not faces.

use eigenspace::faces::{FaceOptions, Recognizer, Threshold, Verdict};
use ndarray::Array2;

use crate::faces::Album;
use crate::support::Random;

fn defaults() -> FaceOptions {
    FaceOptions::new().components(8).metric("euclidean".parse().unwrap())
}

/// Faces that have something in common: they spread in a few directions only.
fn alike(seed: u64, people: usize, images: usize) -> Album {
    further(seed, people, images, 1.0)
}

/// The same, further from the mean face, with no more noise.
fn further(seed: u64, people: usize, images: usize, times: f64) -> Album {
    let album = Album::new(seed, people, images, 8);
    let basis = Random::new(77).matrix(8, 120);
    let noise = Random::new(seed ^ 5).matrix(people * images, 120);
    Album {
        rows: ((album.rows - 100.0) * times + 100.0).dot(&basis) + noise,
        people: album.people,
        images: album.images,
    }
}

#[test]
fn the_learned_thresholds_let_pass_the_share_that_was_asked_for() {
    let album = alike(1, 20, 6);
    let learned: Vec<usize> = (0..120).filter(|i| i % 6 < 4).collect();
    let new: Vec<usize> = (0..120).filter(|i| i % 6 >= 4).collect();
    for accept in [0.8, 0.95] {
        let options = defaults().accept(accept);
        let recognizer = Recognizer::train(album.some(&learned).all(), options).unwrap();
        let matcher = recognizer.matcher().unwrap();
        let found = matcher.recognize(album.some(&new).rows.view()).unwrap();
        let passed = found.iter().filter(|found| found.person().is_some()).count() as f64 / new.len() as f64;
        // Two thresholds, and forty new images: three deviations of such a share.
        let spread = 3.0 * (accept * (1.0 - accept) / new.len() as f64).sqrt();
        assert!(passed > accept * accept - spread && passed < 1.0, "{accept}: {passed}");
    }
}

#[test]
fn a_stranger_is_rejected_and_noise_is_no_face() {
    let album = alike(2, 12, 5);
    let recognizer = Recognizer::train(album.all(), defaults().accept(1.0)).unwrap();
    let matcher = recognizer.matcher().unwrap();
    let verdicts = |rows: &Array2<f64>| -> Vec<Verdict> {
        matcher.recognize(rows.view()).unwrap().into_iter().map(|found| found.verdict).collect()
    };
    // Faces of others, in the same few directions, none of them near anybody.
    let strangers = further(99, 6, 1, 3.0).rows;
    let rejected = |verdict: &Verdict| !matches!(verdict, Verdict::Person(_));
    assert!(verdicts(&strangers).iter().all(rejected), "{:?}", verdicts(&strangers));
    let noise = Random::new(3).matrix(5, 120) * 100.0;
    assert!(verdicts(&noise).iter().all(|verdict| *verdict == Verdict::NotAFace));
    let known = verdicts(&album.rows);
    let right = known.iter().zip(&album.people).filter(|(v, p)| **v == Verdict::Person((*p).clone())).count();
    assert!(right >= 57, "{right} of 60");
}

#[test]
fn thresholds_can_be_set_and_left_out() {
    let album = alike(3, 6, 4);
    let with = |unknown, not_a_face| {
        let options = defaults().unknown(unknown).not_a_face(not_a_face);
        let recognizer = Recognizer::train(album.all(), options).unwrap();
        let matcher = recognizer.matcher().unwrap();
        let probe = &album.rows + 0.5;
        (matcher.thresholds(), matcher.recognize(probe.view()).unwrap())
    };
    let (thresholds, found) = with(Threshold::Fixed(0.0), Threshold::None);
    assert_eq!((thresholds.unknown, thresholds.not_a_face), (Some(0.0), None));
    assert!(found.iter().all(|found| found.verdict == Verdict::Unknown));
    let (_, found) = with(Threshold::Fixed(1e9), Threshold::Fixed(0.0));
    assert!(found.iter().all(|found| found.verdict == Verdict::NotAFace));
    let (thresholds, found) = with(Threshold::None, Threshold::None);
    assert_eq!((thresholds.unknown, thresholds.not_a_face), (None, None));
    assert!(found.iter().all(|found| found.person().is_some()));
    for text in ["-1", "NaN", "inf", "much"] {
        assert!(text.parse::<Threshold>().is_err(), "{text}");
    }
    assert_eq!("2.5".parse::<Threshold>().unwrap(), Threshold::Fixed(2.5));
}

#[test]
fn one_image_of_each_person_recognizes_and_calls_nobody_unknown() {
    let album = alike(4, 7, 1);
    let recognizer = Recognizer::train(album.all(), defaults()).unwrap();
    let matcher = recognizer.matcher().unwrap();
    assert_eq!(matcher.thresholds().unknown, None);
    assert!(matcher.thresholds().not_a_face.is_some());
    let found = matcher.recognize((&album.rows + 0.1).view()).unwrap();
    for (found, person) in found.iter().zip(&album.people) {
        assert_eq!(found.candidates[0].person, *person);
    }
}

#[test]
fn one_person_is_known_from_others() {
    let album = alike(5, 1, 8);
    for classifier in crate::faces::CLASSIFIERS {
        let options = defaults().classifier(classifier.parse().unwrap());
        let recognizer = Recognizer::train(album.all(), options).unwrap();
        let matcher = recognizer.matcher().unwrap();
        let own = matcher.recognize(album.rows.view()).unwrap();
        assert!(own.iter().filter(|found| found.person() == Some("p0")).count() >= 7, "{classifier}");
        let other = matcher.recognize(further(6, 1, 3, 4.0).rows.view()).unwrap();
        assert!(other.iter().all(|found| found.person().is_none()), "{classifier}");
    }
}

#[test]
fn a_single_image_is_a_recognizer() {
    let album = alike(7, 1, 1);
    for classifier in crate::faces::CLASSIFIERS {
        for metric in crate::faces::METRICS {
            let options = FaceOptions::new().classifier(classifier.parse().unwrap()).metric(metric.parse().unwrap());
            let recognizer = Recognizer::train(album.all(), options).unwrap();
            let found = recognizer.matcher().unwrap().recognize(album.rows.view()).unwrap();
            assert_eq!(found[0].person(), Some("p0"), "{classifier} {metric}");
            assert_eq!(Recognizer::from_bytes(&recognizer.to_bytes()).unwrap(), recognizer);
        }
    }
}

#[test]
fn what_was_dropped_counts_as_outside_of_face_space() {
    let album = alike(1, 12, 5);
    let options = defaults().max_rank(4).components(4).unknown(Threshold::None);
    let recognizer = Recognizer::train(album.all(), options).unwrap();
    let found = recognizer.matcher().unwrap().recognize(album.rows.view()).unwrap();
    let passed = found.iter().filter(|found| found.verdict != Verdict::NotAFace).count();
    assert!(passed >= 54, "{passed} of 60");
}

#[test]
fn where_nothing_lies_outside_nothing_is_no_face() {
    let album = Album::new(1, 8, 4, 6);
    let options = defaults().components(eigenspace::Components::All).unknown(Threshold::None);
    let recognizer = Recognizer::train(album.all(), options).unwrap();
    let matcher = recognizer.matcher().unwrap();
    assert_eq!(matcher.thresholds().not_a_face, None);
    let found = matcher.recognize((&album.rows * 1e3).view()).unwrap();
    assert!(found.iter().all(|found| found.verdict != Verdict::NotAFace));
}
