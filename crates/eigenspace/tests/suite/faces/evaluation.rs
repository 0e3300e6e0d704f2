//! Protocols, trials and their summary.

use eigenspace::faces::{Error, FaceOptions, Protocol, Recognizer, evaluate, incremental, psnr, ssim};
use eigenspace::internal::add_noise;
use ndarray::{Array1, Array2};

use crate::faces::{Album, CLASSIFIERS, METRICS, decisions, open};
use crate::support::Random;

fn album() -> Album {
    let mut album = Album::new(21, 6, 5, 40);
    album.rows += &(Random::new(4).matrix(30, 40) * 50.0);
    album
}

#[test]
fn splits_hold_every_image_once_and_the_right_number_of_each_person() {
    let album = album();
    for (name, train, splits) in [("first-2", 2, 1), ("random-3", 3, 4), ("incremental-2", 2, 1)] {
        let protocol: Protocol = name.parse().unwrap();
        assert_eq!(protocol.to_string(), name);
        let found = protocol.splits(&album.people, 4, 7).unwrap();
        assert_eq!(found.len(), splits);
        for split in &found {
            let mut all: Vec<usize> = split.train.iter().chain(&split.test).copied().collect();
            all.sort();
            assert_eq!(all, (0..30).collect::<Vec<_>>(), "{name}");
            for person in 0..6 {
                assert_eq!(split.train.iter().filter(|&&i| i / 5 == person).count(), train, "{name}");
            }
        }
        assert_eq!(protocol.splits(&album.people, 4, 7).unwrap(), found, "the same seed draws the same");
    }
    let first = Protocol::First(2).splits(&album.people, 1, 0).unwrap();
    assert!(first[0].train.iter().all(|i| i % 5 < 2));
    let drawn = |seed| Protocol::Random(2).splits(&album.people, 2, seed).unwrap();
    assert!(drawn(1)[0] != drawn(1)[1] && drawn(1) != drawn(2));
    let out = Protocol::LeaveOneOut.splits(&album.people, 1, 0).unwrap();
    assert!(out.len() == 30 && out.iter().all(|split| split.train.len() == 29 && split.test.len() == 1));
}

#[test]
fn protocols_that_cannot_be_run() {
    let people = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let error = |protocol: Protocol, names: &[&str]| match protocol.splits(&people(names), 1, 0) {
        Err(error) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(error(Protocol::First(1), &[]), Error::NoImages));
    assert!(matches!(error(Protocol::LeaveOneOut, &["a", "a"]), Error::OnePerson));
    let found = error(Protocol::First(2), &["a", "a", "a", "b", "b"]);
    assert_eq!(found.to_string(), "the protocol first-2 needs 3 images of each person, and `b` has 2");
    assert!(matches!(error(Protocol::LeaveOneOut, &["a", "a", "b"]), Error::TooFewImages { .. }));
    for text in ["first-0", "first", "random-x", "all", ""] {
        let found = text.parse::<Protocol>().unwrap_err().to_string();
        assert!(found.starts_with(&format!("invalid protocol `{text}`: expected ")), "{found}");
    }
}

#[test]
fn trials_on_coordinates_decide_as_trials_on_pixels_do() {
    let album = album();
    let splits = Protocol::Random(3).splits(&album.people, 3, 5).unwrap();
    let settings: Vec<FaceOptions> =
        CLASSIFIERS.iter().flat_map(|classifier| METRICS.iter().map(|metric| open(classifier, metric, 5))).collect();
    let evaluations = evaluate(album.all(), &splits, &settings, &|| {}).unwrap();
    let mut mistakes = 0;
    for (options, evaluation) in settings.iter().zip(&evaluations) {
        for (split, trial) in splits.iter().zip(&evaluation.trials) {
            let recognizer = Recognizer::train(album.some(&split.train).all(), options.clone()).unwrap();
            let wanted = decisions(&recognizer, &album.some(&split.test).rows);
            let found: Vec<String> = trial.outcomes.iter().map(|outcome| outcome.ranking[0].clone()).collect();
            assert_eq!(found, wanted, "{} {}", options.get_classifier(), options.get_metric());
            mistakes += found.iter().zip(&split.test).filter(|(person, i)| **person != album.people[**i]).count();
        }
    }
    assert!(mistakes > 100, "faces that are all recognized show little");
}

#[test]
fn the_summary_counts_as_loops_do() {
    let album = album();
    let splits = Protocol::Random(2).splits(&album.people, 5, 1).unwrap();
    let evaluation = &evaluate(album.all(), &splits, &[open("knn", "euclidean", 4)], &|| {}).unwrap()[0];
    let summary = evaluation.summary(&album.people, 6);
    let mut shares = Vec::new();
    let (mut within, mut wrong) = (vec![0; 6], 0);
    for trial in &evaluation.trials {
        let mut right = 0;
        for outcome in &trial.outcomes {
            let truth = &album.people[outcome.image];
            if outcome.ranking[0] == *truth {
                right += 1;
            } else {
                wrong += 1;
            }
            let place = outcome.ranking.iter().position(|person| person == truth).unwrap();
            (place..6).for_each(|j| within[j] += 1);
        }
        shares.push(f64::from(right) / trial.outcomes.len() as f64);
    }
    let mean = shares.iter().sum::<f64>() / 5.0;
    let deviation = (shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    assert!((summary.accuracy - mean).abs() < 1e-14 && (summary.deviation - deviation).abs() < 1e-14);
    assert!(deviation > 0.0 && wrong > 0);
    assert_eq!((summary.tested, summary.tested - summary.correct), (90, wrong));
    let ranks: Vec<f64> = within.iter().map(|&n| f64::from(n) / 90.0).collect();
    assert_eq!(summary.ranks, ranks);
    assert_eq!(summary.ranks[5], 1.0, "everybody is among all six");
    assert_eq!(summary.confusions.iter().map(|(_, _, n)| n).sum::<usize>(), wrong);
    assert!(summary.confusions.iter().all(|(a, b, _)| a != b));
}

#[test]
fn people_arriving_one_by_one_are_recognized_as_if_all_were_there() {
    let album = album();
    let split = Protocol::Incremental(3).splits(&album.people, 1, 2).unwrap().remove(0);
    for classifier in CLASSIFIERS {
        let steps = incremental(album.all(), &split, &open(classifier, "cosine", 5), &|| {}).unwrap();
        assert_eq!(steps.iter().map(|step| step.enrolled).collect::<Vec<_>>(), [3, 6, 9, 12, 15, 18]);
        assert_eq!((steps[0].correct, steps[0].tested), (2, 2), "there is nobody else");
        for step in &steps {
            assert_eq!(step.differing, 0, "{classifier}");
            assert!(step.difference < 1e-10, "{classifier}: {:e}", step.difference);
        }
    }
}

#[test]
fn psnr_is_that_of_its_formula() {
    let (x, y) = (Array1::from(vec![0.0, 10.0, 20.0, 30.0]), Array1::from(vec![1.0, 8.0, 20.0, 30.0]));
    // Mean square 5/4.
    assert!((psnr(x.view(), y.view(), 255.0) - 10.0 * (255.0_f64 * 255.0 / 1.25).log10()).abs() < 1e-12);
    assert_eq!(psnr(x.view(), x.view(), 255.0), f64::INFINITY);
}

/// SSIM by loops over every window.
fn slow_ssim(x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let (c1, c2) = ((0.01_f64 * 255.0).powi(2), (0.03_f64 * 255.0).powi(2));
    let (height, width) = x.dim();
    let mut values = Vec::new();
    for top in 0..=height - 7 {
        for left in 0..=width - 7 {
            let window = |a: &Array2<f64>| -> Vec<f64> { (0..49).map(|i| a[[top + i / 7, left + i % 7]]).collect() };
            let (a, b) = (window(x), window(y));
            let mean = |v: &[f64]| v.iter().sum::<f64>() / 49.0;
            let (ma, mb) = (mean(&a), mean(&b));
            let spread = |v: &[f64], m: f64, w: &[f64], k: f64| {
                v.iter().zip(w).map(|(p, q)| (p - m) * (q - k)).sum::<f64>() / 48.0
            };
            let (va, vb, cov) = (spread(&a, ma, &a, ma), spread(&b, mb, &b, mb), spread(&a, ma, &b, mb));
            values.push((2.0 * ma * mb + c1) * (2.0 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2)));
        }
    }
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn ssim_is_that_of_loops_over_windows() {
    let mut random = Random::new(3);
    let x = Array2::from_shape_fn((11, 9), |(i, j)| 128.0 + 40.0 * (i as f64 / 3.0).sin() + 5.0 * j as f64);
    let y = &x + &(random.matrix(11, 9) * 15.0);
    let flat = |a: &Array2<f64>| Array1::from_iter(a.iter().copied());
    let found = ssim(flat(&x).view(), flat(&y).view(), 9, 255.0);
    assert!((found - slow_ssim(&x, &y)).abs() < 1e-9, "{found} {}", slow_ssim(&x, &y));
    assert!(found < 0.95);
    assert!((ssim(flat(&x).view(), flat(&x).view(), 9, 255.0) - 1.0).abs() < 1e-12);
    assert!(ssim(flat(&x).view(), flat(&y).view(), 3, 255.0).is_nan(), "narrower than the window");
}

#[test]
fn noise_has_the_deviation_that_was_asked_for() {
    let mut rows = Array2::zeros((100, 100));
    add_noise(&mut rows, 20.0, 1);
    let mean = rows.sum() / 1e4;
    let deviation = (rows.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4).sqrt();
    // Three standard errors of each.
    assert!(mean.abs() < 0.6 && (deviation - 20.0).abs() < 0.43, "{mean} {deviation}");
    let mut again = Array2::zeros((100, 100));
    add_noise(&mut again, 20.0, 1);
    assert_eq!(rows, again);
}
