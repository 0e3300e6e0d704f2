//! Labels of points: which classes there are, and the look of each.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::colour::{self, BLUE, NEUTRAL, Rgb};
use super::legend::{Legend, Sample};
use super::scene::Marker;

/// With more classes than this the key would be longer than the picture.
const LISTED: usize = 20;
/// More points than this are thinned, so that a file stays of a size a browser can show.
const MOST: usize = 20_000;

/// The class of every point. Without labels, all points are of one nameless class.
pub(super) struct Classes {
    names: Vec<String>,
    of: Vec<Option<usize>>,
    labelled: bool,
}

impl Classes {
    /// Classes in the order a person would list them: `s2` before `s10`. Points without a label, or
    /// with an empty one, belong to none.
    pub(super) fn new(labels: Option<&[String]>, count: usize) -> Self {
        let Some(labels) = labels else {
            return Self { names: vec![String::new()], of: vec![Some(0); count], labelled: false };
        };
        let labels = &labels[..labels.len().min(count)];
        let mut names: Vec<&String> =
            labels.iter().filter(|l| !l.is_empty()).collect::<BTreeSet<_>>().into_iter().collect();
        names.sort_by(|a, b| natural(a, b));
        let index: BTreeMap<&String, usize> = names.iter().enumerate().map(|(i, name)| (*name, i)).collect();
        let of = (0..count).map(|i| labels.get(i).and_then(|label| index.get(label)).copied()).collect();
        Self { names: names.into_iter().cloned().collect(), of, labelled: true }
    }

    /// Colour and form of a class.
    pub(super) fn look(&self, class: Option<usize>) -> (Rgb, Marker) {
        let (Some(class), count) = (class, self.names.len()) else { return (NEUTRAL, Marker::Disc) };
        if !self.labelled {
            return (BLUE, Marker::Disc);
        }
        let forms = [Marker::Disc, Marker::Triangle, Marker::Square, Marker::Diamond];
        let form = match count {
            0..=8 => 0,
            9..=20 => class / 10,
            _ => class % 4,
        };
        (colour::class(class, count), forms[form])
    }

    /// The key, if there are labels and not too many.
    pub(super) fn legend(&self) -> Legend {
        let mut legend = Legend::default();
        if self.labelled && self.names.len() <= LISTED {
            for (i, name) in self.names.iter().enumerate() {
                let (colour, marker) = self.look(Some(i));
                legend.push(Sample::Mark(marker, colour), name);
            }
            if !self.names.is_empty() && self.of.contains(&None) {
                legend.push(Sample::Mark(Marker::Disc, NEUTRAL), "no label");
            }
        }
        legend
    }

    pub(super) fn of(&self, point: usize) -> Option<usize> {
        self.of.get(point).copied().flatten()
    }

    /// The classes in painting order, points without a label lowest.
    pub(super) fn all(&self) -> impl Iterator<Item = Option<usize>> {
        std::iter::once(None).chain((0..self.names.len()).map(Some))
    }
}

/// The radius and the opacity that suit a number of points.
pub(super) fn weight_of(count: usize) -> (f64, f64) {
    match count {
        0..=60 => (5.0, 0.9),
        61..=500 => (4.0, 0.8),
        501..=3000 => (3.0, 0.65),
        _ => (2.0, 0.45),
    }
}

/// Every how many-th point is drawn, and the remark that says so.
pub(super) fn thinning(count: usize) -> (usize, String) {
    let every = count.div_ceil(MOST).max(1);
    let remark = if every > 1 { format!("one in {every} of {count} points shown") } else { String::new() };
    (every, remark)
}

/// Compares runs of digits as numbers and the rest as text.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (runs(a).into_iter(), runs(b).into_iter());
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(x), Some(y)) => match (x.parse::<u64>(), y.parse::<u64>()) {
                (Ok(x), Ok(y)) => x.cmp(&y),
                _ => x.cmp(y),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (i, character) in text.char_indices() {
        let digit = character.is_ascii_digit();
        if before.is_some_and(|b| b != digit) {
            runs.push(&text[start..i]);
            start = i;
        }
        before = Some(digit);
    }
    if start < text.len() {
        runs.push(&text[start..]);
    }
    runs
}
