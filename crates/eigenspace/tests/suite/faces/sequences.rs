//! After any sequence of enrolling and forgetting, a recognizer equals one that was trained on the
//! remaining images.

use eigenspace::faces::{self, Faces, Recognizer};
use eigenspace::{Block, SparseRows};
use ndarray::Array2;
use proptest::prelude::*;

use crate::faces::{Album, CLASSIFIERS, METRICS, decisions, open};
use crate::support::{EPS, Random, cases, distance, oracle};

/// Inner products of centered rows, by loops: what coordinates must have, whatever their signs.
fn gram(rows: &Array2<f64>) -> Array2<f64> {
    let (n, d) = rows.dim();
    let mean: Vec<f64> = (0..d).map(|j| rows.column(j).iter().sum::<f64>() / n as f64).collect();
    Array2::from_shape_fn((n, n), |(a, b)| {
        (0..d).map(|j| (rows[[a, j]] - mean[j]) * (rows[[b, j]] - mean[j])).sum::<f64>()
    })
}

/// Enrolls and forgets at random; returns the remaining images, and the recognizer.
fn play(album: &Album, seed: u64, steps: usize, k: usize) -> (Vec<usize>, Recognizer) {
    let mut random = Random::new(seed);
    let mut below = |bound: usize| ((random.uniform() * bound as f64) as usize).min(bound - 1);
    let n = album.people.len();
    let mut there: Vec<usize> = (0..2).collect();
    let first = album.some(&there);
    let mut recognizer = Recognizer::train(first.all(), open("knn", "euclidean", k)).unwrap();
    for _ in 0..steps {
        let outside: Vec<usize> = (0..n).filter(|i| !there.contains(i)).collect();
        let mut people: Vec<&String> = there.iter().map(|&i| &album.people[i]).collect();
        people.sort();
        people.dedup();
        match below(4) {
            0 if people.len() > 1 => {
                let person = people[below(people.len())].clone();
                recognizer = recognizer.forget(&person).unwrap();
                there.retain(|&i| album.people[i] != person);
            }
            1 if there.len() > 2 => {
                let i = there[below(there.len())];
                recognizer = recognizer.forget_image(&album.people[i], &album.images[i]).unwrap();
                there.retain(|&other| other != i);
            }
            _ if !outside.is_empty() => {
                // Some images of whoever it is, known or not, in no order.
                let mut new: Vec<usize> = (0..=below(4)).map(|_| outside[below(outside.len())]).collect();
                new.sort();
                new.dedup();
                new.reverse();
                recognizer = recognizer.enroll(album.some(&new).all()).unwrap();
                there.extend(new);
            }
            _ => {}
        }
    }
    there.sort();
    (there, recognizer)
}

/// A part that was refused once, because its image was rounded when the mean was added to it.
#[test]
fn a_sequence_that_was_once_refused() {
    let seed = 14_672_596_648_249_222_883;
    play(&Album::new(seed, 2, 2, 32), seed ^ 7, 3, 4);
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn coming_and_going_is_training_on_what_is_left(
        seed in 0u64..,
        people in 2usize..6,
        images in 1usize..5,
        pixels in 3usize..40,
        steps in 1usize..12,
    ) {
        let album = Album::new(seed, people, images.max(2), pixels);
        let k = 4;
        let (left, recognizer) = play(&album, seed ^ 7, steps, k);
        let rest = album.some(&left);
        // The model is that of the rows that are left, by an oracle of loops.
        let truth = oracle(rest.rows.view());
        let whole = oracle(album.rows.view());
        let grown = whole.eigenvalues[0] / truth.eigenvalues.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let n = album.people.len();
        let rounding = 1e3 * EPS * (n * (steps + 1)) as f64 * grown.max(1.0);
        if truth.eigenvalues.first().is_some_and(|first| *first > 0.0) {
            prop_assert!(distance(recognizer.model(), &truth).worst() < rounding, "{:?}", distance(recognizer.model(), &truth));
        }
        // So are the scores, in the order of the names, up to a rotation.
        let wanted = gram(&rest.rows);
        let found = recognizer.scores().dot(&recognizer.scores().t());
        let size = whole.eigenvalues[0];
        let worst = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        prop_assert!(worst < rounding * size, "{worst:e} of {size:e}");
        let names: Vec<(String, String)> = recognizer.images().map(|(a, b)| (a.into(), b.into())).collect();
        let expected: Vec<_> = rest.people.iter().cloned().zip(rest.images.iter().cloned()).collect();
        prop_assert_eq!(names, expected);
        prop_assert_eq!(recognizer.worst_distance(), 0.0);
        prop_assert!(recognizer.model().certificate().error_bound() < rounding * size);
    }
}

#[test]
fn every_classifier_decides_as_if_trained_from_scratch() {
    for seed in 0..6 {
        let album = Album::new(seed, 5, 4, 30);
        let probes = Album::new(seed, 5, 9, 30).rows + Random::new(seed ^ 99).matrix(45, 30) * 25.0;
        let (left, recognizer) = play(&album, seed, 14, 6);
        let rest = album.some(&left);
        let mut different = 0;
        for classifier in CLASSIFIERS {
            for metric in METRICS {
                let scratch = Recognizer::train(rest.all(), open(classifier, metric, 6)).unwrap();
                let ours = recognizer.with_options(open(classifier, metric, 6)).unwrap();
                let decided = decisions(&scratch, &probes);
                assert_eq!(decisions(&ours, &probes), decided, "{classifier} {metric} {seed}");
                different += usize::from(decided.iter().any(|person| *person != decided[0]));
            }
        }
        assert!(different > 20, "probes that are all one person show nothing");
    }
}

#[test]
fn the_coordinates_looked_at_are_those_from_scratch_up_to_sign() {
    let album = Album::new(3, 6, 5, 200);
    let (left, recognizer) = play(&album, 5, 20, 6);
    let scratch = Recognizer::train(album.some(&left).all(), open("knn", "euclidean", 6)).unwrap();
    for j in 0..6 {
        let (a, b) = (recognizer.scores().column(j).to_owned(), scratch.scores().column(j).to_owned());
        let sign = a.dot(&b).signum();
        let worst = a.iter().zip(&b).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-10 * b.dot(&b).sqrt(), "{j}: {worst:e}");
    }
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let album = Album::new(1, 4, 3, 50);
    let forward: Vec<usize> = (0..12).collect();
    let backward: Vec<usize> = (0..12).rev().collect();
    let [one, two] = [forward, backward]
        .map(|order| Recognizer::train(album.some(&order).all(), open("perceptron", "cosine", 8)).unwrap());
    assert_eq!(one.to_bytes(), two.to_bytes());
}

#[test]
fn an_image_comes_back_out_of_its_coordinates() {
    let album = Album::new(8, 3, 4, 60);
    let recognizer = Recognizer::train(album.some(&[0, 4, 8]).all(), open("knn", "cosine", 2)).unwrap();
    let recognizer = recognizer.enroll(album.some(&[1, 5]).all()).unwrap().forget("p2").unwrap();
    let again = recognizer.image("p1", "1.pgm").unwrap();
    let worst = again.iter().zip(album.rows.row(5)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn with_fewer_directions_nobody_is_forgotten_by_halves() {
    let album = Album::new(4, 8, 6, 300);
    let options = open("knn", "euclidean", 6).max_rank(12);
    let first = album.some(&(0..30).collect::<Vec<_>>());
    let second = album.some(&(30..48).collect::<Vec<_>>());
    let recognizer = Recognizer::train(first.all(), options).unwrap().enroll(second.all()).unwrap();
    assert_eq!(recognizer.model().rank(), 12);
    assert!(recognizer.worst_distance() > 0.0);
    // What is said of each image is true.
    for i in 0..48 {
        let again = recognizer.image(&album.people[i], &album.images[i]).unwrap();
        let off = again.iter().zip(album.rows.row(i)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(off <= recognizer.worst_distance() * (1.0 + 1e-9), "{off}");
    }
    // So what p3 had in what was dropped is in the mean, and cannot be taken out of it.
    let refused = [recognizer.forget("p3"), recognizer.forget_image("p3", "1.pgm")].map(|result| result.unwrap_err());
    for error in refused {
        assert!(matches!(error, faces::Error::Dropped { .. }), "{error:?}");
        assert!(error.hint().unwrap().contains("max_rank"), "{error:?}");
    }
}

#[test]
fn a_rank_that_drops_nothing_forgets_exactly() {
    let album = Album::new(4, 4, 3, 60);
    let options = open("knn", "euclidean", 6).max_rank(11);
    let without = Recognizer::train(album.all(), options).unwrap().forget("p3").unwrap();
    let truth = oracle(album.some(&(0..9).collect::<Vec<_>>()).rows.view());
    assert!(distance(without.model(), &truth).worst() < 1e-10);
}

#[test]
fn whitened_decisions_do_not_hang_on_rounding() {
    for seed in 0..4 {
        let album = Album::new(seed, 4, 3, 40);
        let probes = Album::new(seed, 4, 6, 40).rows + Random::new(seed ^ 99).matrix(24, 40) * 25.0;
        let (left, grown) = play(&album, seed, 10, 20);
        for metric in ["mahalanobis", "mahalanobis-cosine"] {
            let scratch = Recognizer::train(album.some(&left).all(), open("knn", metric, 20)).unwrap();
            let grown = grown.with_options(open("knn", metric, 20)).unwrap();
            let [a, b] = [&scratch, &grown].map(|r| r.matcher().unwrap().recognize(probes.view()).unwrap());
            for (a, b) in a.iter().zip(&b) {
                let off = (a.matches[0].distance - b.matches[0].distance).abs();
                assert!(off < 1e-8, "{metric} {seed}: {off:e}");
            }
        }
    }
    // All k = n - 1 directions whitened would put all images equally far from each other.
    let album = Album::new(1, 4, 3, 40);
    let recognizer = Recognizer::train(album.all(), open("knn", "mahalanobis", 11)).unwrap();
    let found = recognizer.matcher().unwrap().recognize(album.rows.view()).unwrap();
    assert!(found.iter().all(|found| found.matches[9].distance > 1.2 * found.matches[1].distance));
}

#[test]
fn the_mean_image_has_no_direction() {
    let album = Album::new(6, 3, 4, 30);
    let recognizer = Recognizer::train(album.all(), open("knn", "cosine", 4)).unwrap();
    let mean = recognizer.model().mean().to_owned().insert_axis(ndarray::Axis(0));
    let found = recognizer.matcher().unwrap().recognize((mean * (1.0 + 1e-15)).view()).unwrap();
    assert!(found[0].matches.iter().all(|near| near.distance == 1.0), "{:?}", found[0].matches);
}

#[test]
fn standardized_images_do_not_care_for_light() {
    let album = Album::new(2, 4, 4, 80);
    let options = open("knn", "euclidean", 5).pixels(eigenspace::faces::Pixels::Standardized);
    let recognizer = Recognizer::train(album.all(), options).unwrap();
    let dark = album.rows.mapv(|pixel| 0.2 * pixel + 3.0);
    assert_eq!(decisions(&recognizer, &dark), album.people);
    let (a, b) = (recognizer.matcher().unwrap(), recognizer.matcher().unwrap());
    let (bright, dark) = (a.recognize(album.rows.view()).unwrap(), b.recognize(dark.view()).unwrap());
    for (bright, dark) in bright.iter().zip(&dark) {
        assert!((bright.face_distance - dark.face_distance).abs() < 1e-9);
        assert!(dark.matches[0].distance < 1e-6, "{:?}", dark.matches[0]);
    }
    let flat = Array2::from_elem((1, 80), 7.0);
    assert!(a.recognize(flat.view()).unwrap()[0].face_distance.is_finite());
}

#[test]
fn faces_are_given_as_rows_of_any_kind() {
    let rows = ndarray::array![[1.0, 2.0, 4.0], [2.0, 1.0, 0.0]];
    let names = ["x", "y"].map(String::from);
    let train = |faces: Faces<'_>| Recognizer::train(faces, open("knn", "euclidean", 5)).unwrap();
    let recognizer = train(Faces::new(&rows, &names, &names));
    assert_eq!((recognizer.model().rank(), recognizer.people()), (1, vec!["x", "y"]));
    let bytes = rows.mapv(|pixel| pixel as u8);
    let sparse = SparseRows::new(3, &[0, 3, 5], &[0, 1, 2, 0, 1], &[1.0, 2.0, 4.0, 2.0, 1.0]).unwrap();
    let same = [
        Faces::new(rows.view(), &names, &names),
        Faces::new(&bytes, &names, &names),
        Faces::new(sparse, &names, &names),
        Faces::new(Block::from(&rows).weighted(&[1.0, 9.0]), &names, &names),
    ];
    for faces in same {
        assert_eq!(train(faces), recognizer);
        // An image is known by the values of its pixels, whatever their type.
        assert!(matches!(recognizer.enroll(faces), Err(faces::Error::AlreadyEnrolled { .. })));
    }
}
