//! The recognizer in the demo: recognizes held-out faces, then forgets and enrolls a person.

use std::path::Path;
use std::time::Instant;

use eigenspace::faces::{self, FaceOptions, Faces as Album, Recognition, Recognizer, Threshold};
use ndarray::{Array2, Axis};

use crate::commands::demo::faces::Faces;
use crate::commands::demo::measures::{distance, milliseconds};
use crate::commands::faces::plots;
use crate::draw::Drawing;
use crate::table::percent;

/// Classifiers to try; the first is the best.
const CLASSIFIERS: [&str; 4] = ["svm", "subspace", "knn", "centroid"];
/// Number of held-out faces drawn.
const DRAWN: usize = 6;

/// The results, and a plot of them.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) findings: Vec<(&'static str, String)>,
    pub(super) probes: Option<Drawing>,
}

impl Shown {
    /// Explains why there are no results.
    pub(super) fn refused(error: &faces::Error) -> Self {
        Self { findings: vec![("Recognizing", format!("Not possible with these images: {error}."))], probes: None }
    }
}

/// A subset of the faces.
struct Part {
    rows: Array2<f64>,
    people: Vec<String>,
    images: Vec<String>,
}

impl Part {
    fn of(faces: &Faces, numbers: &[usize], chosen: &[usize]) -> Self {
        Self {
            rows: faces.rows.select(Axis(0), chosen),
            people: chosen.iter().map(|&i| faces.people[i].clone()).collect(),
            images: chosen.iter().map(|&i| format!("{}", numbers[i])).collect(),
        }
    }

    fn album(&self) -> Album<'_> {
        Album::new(&self.rows, &self.people, &self.images)
    }

    fn without(&self, person: &str) -> Vec<usize> {
        (0..self.people.len()).filter(|&i| self.people[i] != person).collect()
    }

    fn some(&self, chosen: &[usize]) -> Self {
        let names = |names: &[String]| chosen.iter().map(|&i| names[i].clone()).collect();
        Self { rows: self.rows.select(Axis(0), chosen), people: names(&self.people), images: names(&self.images) }
    }
}

/// Recognizes faces without a threshold.
fn decide(recognizer: &Recognizer, classifier: &str, rows: &Array2<f64>) -> anyhow::Result<Vec<Recognition>> {
    let options = recognizer.options().clone().classifier(classifier.parse()?);
    Ok(recognizer.with_options(options)?.matcher()?.recognize(rows.view())?)
}

pub(super) fn show(faces: &Faces, directory: &Path) -> anyhow::Result<Shown> {
    // The first half of each person's images are training images.
    let count = |person: &String| faces.people.iter().filter(|other| *other == person).count();
    let numbers: Vec<usize> = (0..faces.people.len())
        .map(|i| faces.people[..=i].iter().filter(|other| **other == faces.people[i]).count())
        .collect();
    let (learned, held): (Vec<usize>, Vec<usize>) =
        (0..faces.people.len()).partition(|&i| 2 * (numbers[i] - 1) < count(&faces.people[i]));
    if held.is_empty() {
        return Ok(Shown::default());
    }
    let (learned, held) = (Part::of(faces, &numbers, &learned), Part::of(faces, &numbers, &held));
    let options = FaceOptions::new()
        .unknown(Threshold::None)
        .not_a_face(Threshold::None)
        .size((faces.image.width(), faces.image.height()));
    let start = Instant::now();
    let recognizer = Recognizer::train(learned.album(), options)?;
    let training = start.elapsed().as_secs_f64();

    let right = |found: &[Recognition]| {
        let same = found.iter().zip(&held.people).filter(|(found, person)| found.person() == Some(person));
        same.count() as f64 / held.people.len() as f64
    };
    let mut shares = Vec::new();
    for classifier in CLASSIFIERS {
        shares.push(format!("{} {classifier}", percent(right(&decide(&recognizer, classifier, &held.rows)?))));
    }
    let recognizing = format!(
        "Training on {} images of {} people takes {}. The other {} images are recognized by the angles between their \
         first {} scores. Correct: {}.",
        learned.people.len(),
        recognizer.people().len(),
        milliseconds(training),
        held.people.len(),
        recognizer.model().n_components(),
        shares.join(", ")
    );

    let person = learned.people.last().expect("the demo has faces").clone();
    let others = learned.without(&person);
    let theirs: Vec<usize> = (0..learned.people.len()).filter(|i| !others.contains(i)).collect();
    let forgetting = if others.is_empty() {
        String::new()
    } else {
        let start = Instant::now();
        let without = recognizer.forget(&person)?;
        let forgot = start.elapsed().as_secs_f64();
        let never = Recognizer::train(learned.some(&others).album(), recognizer.options().clone())?;
        let start = Instant::now();
        let back = without.enroll(learned.some(&theirs).album())?;
        let enrolled = start.elapsed().as_secs_f64();
        let decisions = |recognizer: &Recognizer| -> anyhow::Result<Vec<Option<String>>> {
            let found = decide(recognizer, CLASSIFIERS[0], &held.rows)?;
            Ok(found.iter().map(|found| found.person().map(str::to_owned)).collect())
        };
        let k = without.model().n_components();
        let same = |a: bool| if a { "makes the same decisions" } else { "makes other decisions" };
        format!(
            "{person} is forgotten in {}, without any images. The remaining recognizer {} as one that was trained \
             without {person}, and both have the same components, up to {:.0e}. After {person} is enrolled again in {}, \
             the recognizer {} as before.",
            milliseconds(forgot),
            same(decisions(&without)? == decisions(&never)?),
            distance(without.model(), never.model(), k)?,
            milliseconds(enrolled),
            same(decisions(&back)? == decisions(&recognizer)?),
        )
    };

    // The saved recognizer rejects unknown people.
    let kept = recognizer
        .options()
        .clone()
        .classifier(CLASSIFIERS[0].parse()?)
        .unknown(Threshold::Learned)
        .not_a_face(Threshold::Learned);
    recognizer.with_options(kept)?.save(directory.join("people.safetensors"))?;
    let found = decide(&recognizer, CLASSIFIERS[0], &held.rows)?;
    let shown = drawn(&found, &held.people);
    let chosen: Vec<Recognition> = shown.iter().map(|&i| found[i].clone()).collect();
    let size = (faces.image.width(), faces.image.height());
    let probes = plots::matches(&recognizer, held.some(&shown).rows.view(), size, &chosen, 5)?;
    let mut findings = vec![("Recognizing", recognizing)];
    if !forgetting.is_empty() {
        findings.push(("Forgetting and enrolling", forgetting));
    }
    Ok(Shown { findings, probes: Some(probes) })
}

/// A selection of correct and wrong results.
fn drawn(found: &[Recognition], people: &[String]) -> Vec<usize> {
    let (right, wrong): (Vec<usize>, Vec<usize>) =
        (0..found.len()).partition(|&i| found[i].person() == Some(&people[i]));
    let wrong: Vec<usize> = wrong.into_iter().take(DRAWN / 2).collect();
    let step = (right.len() / DRAWN).max(1);
    let mut shown: Vec<usize> = right.into_iter().step_by(step).take(DRAWN - wrong.len()).collect();
    shown.extend(wrong);
    shown
}
