//! Classes of points by label, and the color and shape of each.

use std::collections::BTreeMap;

use eigenspace::internal::natural;

use super::color::{self, NEUTRAL, Rgb};
use super::legend::{Legend, Sample};
use super::scale::thousands;
use super::scene::{Marker, Scene};

/// Largest number of classes with their own color and shape: a longer legend would not fit and
/// could not be read.
const DISTINGUISHED: usize = 20;
/// Marker shapes, for more classes than there are colors. Three shapes and eight colors have no
/// common divisor, so two classes with the same color differ in shape, and neighbors differ in
/// both.
const FORMS: [Marker; 3] = [Marker::Disc, Marker::Triangle, Marker::Square];
/// More points than this are drawn as cells, or thinned, so that a browser can still display them.
pub(super) const MOST: usize = 20_000;

/// The class of every point. Without labels, all points belong to one unnamed class.
pub(super) struct Classes {
    /// The classes with their own color and shape, in natural order.
    names: Vec<String>,
    of: Vec<Option<usize>>,
    /// Classes beyond those, and whether some points have no label.
    others: usize,
    unlabeled: bool,
    labeled: bool,
}

impl Classes {
    /// Classes in natural order: `s2` before `s10`. Points without a label, or with an empty one,
    /// belong to no class. Of very many classes, only the largest are distinguished.
    pub(super) fn new(labels: Option<&[String]>, count: usize) -> Self {
        let Some(labels) = labels else {
            return Self::plain(vec![String::new()], vec![Some(0); count]);
        };
        let labels = &labels[..labels.len().min(count)];
        let mut sizes: BTreeMap<&String, usize> = BTreeMap::new();
        for label in labels.iter().filter(|label| !label.is_empty()) {
            *sizes.entry(label).or_default() += 1;
        }
        let mut names: Vec<(&String, usize)> = sizes.into_iter().collect();
        names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| natural(a.0, b.0)));
        let others = names.len().saturating_sub(DISTINGUISHED);
        names.truncate(DISTINGUISHED);
        names.sort_by(|a, b| natural(a.0, b.0));
        let index: BTreeMap<&String, usize> = names.iter().enumerate().map(|(i, name)| (name.0, i)).collect();
        let of = (0..count).map(|i| labels.get(i).and_then(|label| index.get(label)).copied()).collect();
        let unlabeled = labels.len() < count || labels.iter().any(String::is_empty);
        let names = names.into_iter().map(|name| name.0.clone()).collect();
        Self { others, unlabeled, labeled: true, ..Self::plain(names, of) }
    }

    /// Two unnamed classes: ordinary points, and highlighted ones.
    pub(super) fn standing_out(which: &[usize], count: usize) -> Self {
        let mut of = vec![Some(0); count];
        for &i in which {
            of[i] = Some(1);
        }
        Self::plain(vec![String::new(); 2], of)
    }

    fn plain(names: Vec<String>, of: Vec<Option<usize>>) -> Self {
        Self { names, of, others: 0, unlabeled: false, labeled: false }
    }

    /// Color and shape of a class.
    pub(super) fn style(&self, class: Option<usize>) -> (Rgb, Marker) {
        let Some(class) = class else { return (NEUTRAL, Marker::Disc) };
        let form = if self.share_colors() { FORMS[class % FORMS.len()] } else { Marker::Disc };
        (color::class(class), form)
    }

    /// Whether some classes differ only in shape.
    pub(super) fn share_colors(&self) -> bool {
        self.names.len() > color::CLASSES.len()
    }

    /// The legend, if there are labels, with an entry for classes that are not distinguished.
    pub(super) fn legend(&self) -> Legend {
        let mut legend = Legend::default();
        if self.labeled && !self.names.is_empty() {
            for (i, name) in self.names.iter().enumerate() {
                let (color, marker) = self.style(Some(i));
                legend.push(Sample::Mark(marker, color), name);
            }
            let rest = match (self.others, self.unlabeled) {
                (0, false) => return legend,
                (0, true) => "no label".to_owned(),
                (others, false) => format!("{others} other classes"),
                (others, true) => format!("{others} others, or no label"),
            };
            legend.push(Sample::Mark(Marker::Disc, NEUTRAL), &rest);
        }
        legend
    }

    /// Notes below the plot that some classes look the same.
    pub(super) fn footnote(&self, scene: &mut Scene) {
        if self.others > 0 {
            let (shown, all) = (self.names.len(), self.names.len() + self.others);
            scene.footnote(&format!("{all} classes: the {shown} largest have their own colors, the others are gray"));
        }
    }

    pub(super) fn class_of(&self, point: usize) -> Option<usize> {
        self.of.get(point).copied().flatten()
    }

    /// The classes in painting order; points without a class are painted first.
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

/// The step at which points are thinned, and the note about it.
pub(super) fn thinning(count: usize) -> (usize, String) {
    let every = count.div_ceil(MOST).max(1);
    let remark =
        if every > 1 { format!("1 of every {every} of {} points drawn", thousands(count)) } else { String::new() };
    (every, remark)
}
