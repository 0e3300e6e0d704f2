//! Classifiers, compared with plain loops and with known properties.

use eigenspace::faces::Recognizer;
use ndarray::{Array2, array};

use crate::faces::{Album, CLASSIFIERS, METRICS, decisions, open};
use crate::support::{Random, oracle};

/// Coordinates of rows on the leading directions of some others, by the oracle.
fn project(train: &Array2<f64>, rows: &Array2<f64>, k: usize) -> (Array2<f64>, Array2<f64>, Vec<f64>) {
    let truth = oracle(train.view());
    let directions = truth.directions.slice_axis(ndarray::Axis(0), (..k).into());
    let coordinates = |rows: &Array2<f64>| (rows - &truth.mean).dot(&directions.t());
    let deviations = truth.eigenvalues.iter().take(k).map(|value| (value / (truth.weight - 1.0)).sqrt()).collect();
    (coordinates(train), coordinates(rows), deviations)
}

/// The distance between two images, spelled out.
fn apart(a: &[f64], b: &[f64], metric: &str, deviations: &[f64]) -> f64 {
    let scale = |z: &[f64]| -> Vec<f64> {
        let whitened = metric.starts_with("mahalanobis");
        z.iter().zip(deviations).map(|(z, d)| if whitened { z / d } else { *z }).collect()
    };
    let (a, b) = (scale(a), scale(b));
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    if metric.ends_with("cosine") {
        return 1.0 - dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
    }
    a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

#[test]
fn neighbors_are_those_that_loops_find() {
    let album = Album::new(5, 6, 4, 25);
    let probes = &album.rows + &(Random::new(6).matrix(24, 25) * 20.0);
    let (train, test, deviations) = project(&album.rows, &probes, 7);
    for metric in METRICS {
        let recognizer = Recognizer::train(album.all(), open("knn", metric, 7)).unwrap();
        let found = recognizer.matcher().unwrap().recognize(probes.view()).unwrap();
        for (z, found) in test.rows().into_iter().zip(&found) {
            let mut distances: Vec<(f64, usize)> =
                (0..24).map(|i| (apart(&z.to_vec(), &train.row(i).to_vec(), metric, &deviations), i)).collect();
            distances.sort_by(|a, b| a.0.total_cmp(&b.0));
            let nearest = &found.matches[0];
            let (distance, i) = distances[0];
            assert_eq!((&nearest.person, &nearest.image), (&album.people[i], &album.images[i]), "{metric}");
            assert!((nearest.distance - distance).abs() < 1e-9 * (1.0 + distance), "{metric}");
            assert_eq!(found.person(), Some(album.people[i].as_str()));
            assert_eq!(found.candidates.len(), 6);
            // Everybody is ranked by their nearest image.
            let mut ranking: Vec<&str> = Vec::new();
            for (_, i) in distances {
                if !ranking.contains(&album.people[i].as_str()) {
                    ranking.push(&album.people[i]);
                }
            }
            let found: Vec<&str> = found.candidates.iter().map(|candidate| candidate.person.as_str()).collect();
            assert_eq!(found, ranking, "{metric}");
        }
    }
}

#[test]
fn three_neighbors_vote_and_the_nearest_decides_among_equals() {
    let rows = array![[0.0, 0.0], [4.0, 0.0], [5.0, 0.0], [100.0, 9.0]];
    let people = ["a", "b", "b", "c"].map(String::from);
    let images = ["1", "2", "3", "4"].map(String::from);
    let faces = eigenspace::faces::Faces::new(rows.view(), &people, &images);
    let probe = array![[1.0, 0.0]];
    let recognizer = Recognizer::train(faces, open("knn", "euclidean", 2)).unwrap();
    assert_eq!(decisions(&recognizer, &probe), ["a"]);
    let three = recognizer.with_options(open("knn:3", "euclidean", 2)).unwrap();
    assert_eq!(decisions(&three, &probe), ["b"]);
    let two = recognizer.with_options(open("knn:2", "euclidean", 2)).unwrap();
    assert_eq!(decisions(&two, &probe), ["a"], "one vote each");
}

#[test]
fn the_nearest_mean_is_the_one_that_loops_find() {
    let album = Album::new(9, 5, 4, 20);
    let probes = &album.rows + &(Random::new(3).matrix(20, 20) * 30.0);
    let (train, test, _) = project(&album.rows, &probes, 6);
    let recognizer = Recognizer::train(album.all(), open("centroid", "euclidean", 6)).unwrap();
    let found = recognizer.matcher().unwrap().recognize(probes.view()).unwrap();
    for (z, found) in test.rows().into_iter().zip(&found) {
        let distance = |person: usize| -> f64 {
            (0..6)
                .map(|j| {
                    let mean = (0..4).map(|i| train[[4 * person + i, j]]).sum::<f64>() / 4.0;
                    (z[j] - mean).powi(2)
                })
                .sum::<f64>()
                .sqrt()
        };
        let best = (0..5).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap();
        assert_eq!(found.person(), Some(format!("p{best}").as_str()));
        assert!((found.candidates[0].score + distance(best)).abs() < 1e-9 * distance(best));
    }
}

#[test]
fn a_point_in_the_span_of_a_person_is_that_person() {
    let album = Album::new(11, 4, 3, 40);
    let recognizer = Recognizer::train(album.all(), open("subspace", "euclidean", 11)).unwrap();
    // Far out, but on the plane through the three images of p2.
    let [a, b, c] = [6, 7, 8].map(|i| album.rows.row(i).to_owned());
    let far = &a + &((&b - &a) * 40.0) - ((&c - &a) * 25.0);
    let found = recognizer.matcher().unwrap().recognize(far.view().insert_axis(ndarray::Axis(0))).unwrap();
    assert_eq!(found[0].person(), Some("p2"));
    assert!(found[0].candidates[0].score.abs() < 1e-8 * far.dot(&far).sqrt());
}

#[test]
fn two_people_are_parted_by_the_plane_in_the_middle() {
    let rows = array![[-3.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, -1.0, 0.0]];
    let people = ["left", "left", "right", "right"].map(String::from);
    let images = ["1", "2", "3", "4"].map(String::from);
    let faces = eigenspace::faces::Faces::new(rows.view(), &people, &images);
    let recognizer = Recognizer::train(faces, open("svm:1e6", "euclidean", 2)).unwrap();
    let probes = array![[-0.05, 0.0, 0.0], [0.05, 0.0, 0.0]];
    assert_eq!(decisions(&recognizer, &probes), ["left", "right"]);
}

#[test]
fn machines_do_not_care_for_the_unit_of_the_pixels() {
    let album = Album::new(12, 5, 4, 30);
    let probes = &album.rows + &(Random::new(13).matrix(20, 30) * 35.0);
    for classifier in CLASSIFIERS {
        let large = Recognizer::train(album.all(), open(classifier, "euclidean", 8)).unwrap();
        let small = Album { rows: &album.rows / 256.0, people: album.people.clone(), images: album.images.clone() };
        let small = Recognizer::train(small.all(), open(classifier, "euclidean", 8)).unwrap();
        assert_eq!(decisions(&large, &probes), decisions(&small, &(&probes / 256.0)), "{classifier}");
    }
}

#[test]
fn a_sharp_kernel_takes_every_learned_image_for_who_it_is() {
    let album = Album::new(14, 6, 4, 20);
    for classifier in ["svm-rbf:100,5", "svm:1000", "perceptron:200", "knn", "subspace"] {
        let recognizer = Recognizer::train(album.all(), open(classifier, "euclidean", 10)).unwrap();
        assert_eq!(decisions(&recognizer, &album.rows), album.people, "{classifier}");
    }
}

#[test]
fn settings_are_written_as_they_are_read() {
    for text in
        CLASSIFIERS.iter().chain(&["svm:0.5", "svm-rbf:2", "svm-rbf:2,0.125", "perceptron:7", "perceptron:7,0.5"])
    {
        let classifier: eigenspace::faces::Classifier = text.parse().unwrap();
        assert_eq!(classifier.to_string(), *text);
    }
    for text in [
        "",
        "knn:0",
        "knn:x",
        "svm:-1",
        "svm:inf",
        "svm-rbf:1,0",
        "perceptron:0",
        "perceptron:5,-1",
        "perceptron:5,x",
        "forest",
        "centroid:2",
    ] {
        let error = text.parse::<eigenspace::faces::Classifier>().unwrap_err();
        let message = "expected knn, centroid, svm, svm-rbf, perceptron or subspace";
        assert_eq!(error.to_string(), format!("invalid classifier `{text}`: {message}"));
        assert!(error.hint().unwrap().contains("svm-rbf"));
    }
}
