//! The error rates at the default threshold are as documented, with strangers that are not part of
//! the eigenspace.

use eigenspace::faces::{
    Classifier, FaceOptions, Metric, OpenEvaluation, OpenRates, Protocol, Recognizer, Threshold, Verdict,
    evaluate_open, with_strangers,
};
use ndarray::Array2;

use crate::faces::{Album, CLASSIFIERS};
use crate::support::Random;

/// What the default threshold aims at: known people who are rejected.
const AIM: f64 = 0.05;

/// Faces that differ most in a few directions, in which images of one person differ most too:
/// people by 30, images of one person by `varied`.
fn folk(seed: u64, people: usize, images: usize, varied: f64) -> Album {
    const LATENT: usize = 40;
    let basis = Random::new(77).matrix(LATENT, 150);
    let mut random = Random::new(seed);
    let size = |j: usize| 1.0 / (1.0 + j as f64 / 8.0).sqrt();
    let own = Array2::from_shape_fn((people, LATENT), |(_, j)| 30.0 * size(j) * random.normal());
    let all = Array2::from_shape_fn((people * images, LATENT), |(i, j)| {
        own[[i / images, j]] + varied * size(j) * random.normal()
    });
    let rows = all.dot(&basis) + random.matrix(people * images, 150);
    let name = |i: usize| (format!("p{}", i / images), format!("{}.pgm", i % images));
    let (people, images) = (0..people * images).map(name).unzip();
    Album { rows, people, images }
}

fn open(album: &Album, protocol: Protocol, times: usize, seed: u64, options: FaceOptions) -> OpenEvaluation {
    let splits = protocol.splits(&album.people, times, seed).unwrap();
    let splits = with_strangers(&splits, &album.people, seed);
    evaluate_open(album.all(), &splits, &[options], &|| {}).unwrap().remove(0)
}

/// The threshold of `unknown` alone: what is not a face is another question.
#[test]
fn known_people_are_rejected_as_often_as_is_stated() {
    const ALBUMS: u64 = 24;
    let options = FaceOptions::new().classifier(Classifier::Knn { k: 1 }).not_a_face(Threshold::None);
    for metric in [Metric::Cosine, Metric::Euclidean] {
        let (mut rejected, mut tested) = (0, 0);
        for seed in 0..ALBUMS {
            let album = folk(seed, 32, 10, 22.0);
            let options = options.clone().metric(metric);
            let rates = open(&album, Protocol::First(5), 1, seed, options).rates(&album.people);
            rejected += rates.false_rejects.count;
            // Every new image is tested in three of four trials.
            tested += rates.false_rejects.tested;
        }
        let share = rejected as f64 / tested as f64;
        // 160 new images in each album, and thresholds learned from about as many: both vary as
        // binomial counts do. Three deviations of their difference; thresholds learned from the
        // nearest image of the same person reject 2.4 % and 3.2 %.
        let spread = 3.0 * (2.0 * AIM * (1.0 - AIM) / (160 * ALBUMS) as f64).sqrt();
        assert!((share - AIM).abs() < spread, "{metric}: {share}, not within {spread} of {AIM}");
    }
}

#[test]
fn strangers_are_outside_of_the_eigenspace_and_everybody_is_one() {
    let album = folk(1, 10, 6, 22.0);
    let splits = Protocol::Random(4).splits(&album.people, 3, 9).unwrap();
    let open = with_strangers(&splits, &album.people, 9);
    assert_eq!(open.len(), 4, "a round of four quarters");
    assert_eq!(open, with_strangers(&splits, &album.people, 9), "the same seed draws the same");
    let mut times = vec![0; 10];
    for (i, split) in open.iter().enumerate() {
        let people = |list: &[usize]| {
            let mut people: Vec<usize> = list.iter().map(|i| i / 6).collect();
            people.dedup();
            people
        };
        let (enrolled, strangers) = (people(&split.train), people(&split.strangers));
        assert_eq!(people(&split.known), enrolled);
        assert_eq!(enrolled.len() + strangers.len(), 10);
        assert!(strangers.iter().all(|person| !enrolled.contains(person)));
        assert!(split.train.iter().all(|image| splits[i % 3].train.contains(image)));
        strangers.iter().for_each(|&person| times[person] += 1);
        assert_eq!(split.known.len() + split.strangers.len(), splits[i % 3].test.len());
    }
    assert_eq!(times, [1; 10]);
    assert!(with_strangers(&splits, &vec!["one".to_owned(); 60], 1).is_empty(), "somebody must be enrolled");
}

#[test]
fn rates_are_those_of_recognizers_trained_on_the_images() {
    let album = folk(3, 12, 7, 45.0);
    for classifier in CLASSIFIERS {
        let options = FaceOptions::new().classifier(classifier.parse().unwrap()).accept(0.9);
        let splits = with_strangers(&Protocol::First(4).splits(&album.people, 1, 0).unwrap(), &album.people, 5);
        let evaluation = &evaluate_open(album.all(), &splits, std::slice::from_ref(&options), &|| {}).unwrap()[0];
        let (mut accepted, mut rejected, mut right) = (0, 0, 0);
        for split in &splits {
            let recognizer = Recognizer::train(album.some(&split.train).all(), options.clone()).unwrap();
            let matcher = recognizer.matcher().unwrap();
            let verdicts = |which: &[usize]| -> Vec<Verdict> {
                let found = matcher.recognize(album.some(which).rows.view()).unwrap();
                found.into_iter().map(|found| found.verdict).collect()
            };
            accepted += verdicts(&split.strangers).iter().filter(|v| matches!(v, Verdict::Person(_))).count();
            for (verdict, i) in verdicts(&split.known).iter().zip(&split.known) {
                match verdict {
                    Verdict::Person(person) => right += usize::from(*person == album.people[*i]),
                    Verdict::Unknown | Verdict::NotAFace => rejected += 1,
                }
            }
        }
        let OpenRates { false_accepts, false_rejects, identified, misidentified, .. } = evaluation.rates(&album.people);
        let found = (false_accepts.count, false_rejects.count, identified.count);
        assert_eq!(found, (accepted, rejected, right), "{classifier}");
        assert!(accepted > 0 && rejected > 0 && right > 0, "{classifier}: {found:?}");
        assert_eq!(rejected + right + misidentified.count, false_rejects.tested);
        assert_eq!((false_accepts.tested, false_rejects.tested), (36, 108));
    }
}

#[test]
fn rejecting_more_known_people_accepts_fewer_strangers() {
    let album = folk(2, 16, 8, 45.0);
    let evaluation = open(&album, Protocol::First(4), 1, 2, FaceOptions::default());
    let curve = evaluation.rejections(&album.people, &[0.1, 0.25, 0.5]);
    assert!(curve.windows(2).all(|pair| pair[1].threshold < pair[0].threshold));
    assert!(curve.windows(2).all(|pair| pair[1].strangers <= pair[0].strangers));
    let outcomes = || evaluation.trials.iter().flat_map(|trial| &trial.strangers);
    let accepted = outcomes().filter(|outcome| outcome.distance <= curve[0].threshold).count();
    assert!(accepted > 0, "where no stranger is accepted this shows nothing");
    assert_eq!(curve[0].strangers, accepted as f64 / outcomes().count() as f64);
    for (point, share) in curve.iter().zip([0.1, 0.25, 0.5]) {
        assert!((point.rejected - share).abs() < 1.0 / 192.0, "{point:?}");
    }
}

#[test]
fn the_estimate_at_training_is_near_the_rate_of_true_strangers() {
    let (mut estimated, mut measured) = (0.0, 0.0);
    for seed in 0..8 {
        let album = folk(seed, 60, 5, 22.0);
        let enrolled = album.some(&(0..200).collect::<Vec<_>>());
        let recognizer = Recognizer::train(enrolled.all(), FaceOptions::new().accept(0.99));
        let recognizer = recognizer.unwrap();
        let matcher = recognizer.matcher().unwrap();
        estimated += recognizer.strangers_accepted(matcher.thresholds()).unwrap().unwrap() / 8.0;
        let strangers = album.some(&(200..300).collect::<Vec<_>>());
        let found = matcher.recognize(strangers.rows.view()).unwrap();
        measured += found.iter().filter(|found| found.person().is_some()).count() as f64 / 800.0;
    }
    assert!(measured > 0.02, "where no stranger is accepted this shows nothing: {measured}");
    assert!((estimated - measured).abs() < 0.5 * measured, "{estimated} {measured}");
}
