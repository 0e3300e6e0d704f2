//! Numbers are drawn at the right positions on the axes.

use super::super::*;
use super::{axis, number, numbers, of_class, places, sound, texts};

const CLOSE: f64 = 0.11;

#[test]
fn bars_are_as_high_as_the_shares_and_the_curve_is_their_sum() {
    let ratios = [0.5, 0.25, 0.125, 0.0625];
    let drawing = scree(&Scree { ratios: &ratios, ..Scree::default() });
    let document = sound(&drawing);
    let y = axis(&document, false);
    let bars = of_class(&document, "bar");
    assert_eq!(bars.len(), ratios.len());
    for (bar, ratio) in bars.iter().zip(ratios) {
        assert!((number(*bar, "height") - (y(0.0) - y(ratio))).abs() < CLOSE);
        assert!((number(*bar, "y") - y(ratio)).abs() < CLOSE);
    }
    let curve = numbers(of_class(&document, "cumulative")[0], "points");
    for (place, sum) in curve.chunks(2).zip([0.5, 0.75, 0.875, 0.9375]) {
        assert!((place[1] - y(sum)).abs() < CLOSE);
    }
}

#[test]
fn whiskers_reach_from_the_lower_to_the_upper_bound() {
    let s = Scree { ratios: &[0.5, 0.2], bounds: Some(&[(0.4, 0.6), (0.1, f64::NAN)]), ..Scree::default() };
    let drawing = scree(&s);
    let document = sound(&drawing);
    let y = axis(&document, false);
    let whiskers = of_class(&document, "whisker");
    assert_eq!(whiskers.len(), 1, "a bound that is no number is left out");
    let places = numbers(whiskers[0], "points");
    assert!((places[1] - y(0.4)).abs() < CLOSE && (places[7] - y(0.6)).abs() < CLOSE);
}

#[test]
fn the_number_of_components_shown_is_written_with_what_they_explain() {
    let drawing = scree(&Scree { ratios: &[0.5, 0.25, 0.1], reported: Some(2), ..Scree::default() });
    assert!(texts(&sound(&drawing)).contains(&"k = 2: 75.0 %".to_owned()));
}

#[test]
fn points_stand_where_the_axes_say() {
    let points = [(-3.0, 10.0), (0.5, -20.0), (7.25, 42.0)];
    let drawing = scatter(&Scatter { points: &points, x_title: "x", y_title: "y", ..Scatter::default() });
    let document = sound(&drawing);
    let (x, y) = (axis(&document, true), axis(&document, false));
    for (place, point) in places(&document).iter().zip(points) {
        assert!((place.0 - x(point.0)).abs() < CLOSE && (place.1 - y(point.1)).abs() < CLOSE);
    }
}

#[test]
fn points_of_one_label_share_a_color_and_labels_are_listed_in_natural_order() {
    let labels = ["s10", "s2", "s10", "", "s1"].map(str::to_owned);
    let points = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)];
    let drawing = scatter(&Scatter { points: &points, labels: Some(&labels), ..Scatter::default() });
    let document = sound(&drawing);
    let listed: Vec<String> = texts(&document).into_iter().filter(|t| t.starts_with('s') || t == "no label").collect();
    assert_eq!(listed, ["s1", "s2", "s10", "no label"]);
    // The legend has one mark per class, the chart one group per class.
    let groups = of_class(&document, "marks");
    assert_eq!(groups.len(), 8);
    let sizes: Vec<usize> = groups[4..].iter().map(|g| g.children().count()).collect();
    assert_eq!(sizes, [1, 1, 1, 2]);
}

#[test]
fn an_arrow_of_the_circle_ends_at_its_correlations() {
    let arrows = [("a".to_owned(), 0.6, 0.8), ("b".to_owned(), -0.5, 0.25), ("none".to_owned(), f64::NAN, 0.1)];
    let drawing = circle(&Circle { arrows: &arrows, ..Circle::default() });
    let document = sound(&drawing);
    let (x, y) = (axis(&document, true), axis(&document, false));
    let heads = of_class(&document, "head");
    assert_eq!(heads.len(), 2);
    // The longest is painted last.
    for (head, arrow) in heads.iter().rev().zip(&arrows) {
        let tip = numbers(*head, "points");
        assert!((tip[0] - x(arrow.1)).abs() < CLOSE && (tip[1] - y(arrow.2)).abs() < CLOSE);
    }
}

#[test]
fn rows_beyond_a_limit_are_counted_and_the_furthest_are_named() {
    let t2 = [1.0, 2.0, 3.0, 30.0, 2.0, 1.5];
    let q = [0.5, 0.4, 0.6, 0.5, 9.0, f64::NAN];
    let names = ["a", "b", "c", "far", "off", "nothing"].map(str::to_owned);
    let m =
        Monitor { t2: &t2, q: &q, limits: Some((10.0, 2.0)), level: "99 %", names: Some(&names), ..Monitor::default() };
    let drawing = monitor(&m);
    let texts_of = texts(&sound(&drawing));
    for text in ["far", "off", "beyond: 2 of 6", "T² limit 99 %", "Q limit 99 %"] {
        assert!(texts_of.contains(&text.to_owned()), "{text}");
    }
    assert!(!texts_of.contains(&"a".to_owned()) && !texts_of.contains(&"nothing".to_owned()));
    let drawing = monitor(&Monitor { names: None, ..m });
    assert!(texts(&sound(&drawing)).contains(&"row 3".to_owned()));
}

#[test]
fn a_spread_over_two_decades_makes_a_logarithmic_axis() {
    let q = [1.0, 1.0, 1.0];
    let wide = monitor(&Monitor { t2: &[0.01, 0.1, 100.0], q: &q, ..Monitor::default() });
    let texts_of = texts(&sound(&wide));
    assert!(["0.01", "0.1", "1", "10", "100"].iter().all(|t| texts_of.contains(&(*t).to_owned())), "{texts_of:?}");
}

#[test]
fn a_curve_has_a_gap_where_a_value_is_missing() {
    let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 3.0), (4.0, 2.5)];
    let series = [Series { name: "one".into(), points, dashed: true }];
    let drawing = lines(&Lines { series: &series, x_title: "x", y_title: "y", ..Lines::default() });
    let document = sound(&drawing);
    let (x, y) = (axis(&document, true), axis(&document, false));
    let parts = of_class(&document, "series");
    assert_eq!(parts.len(), 2);
    assert!(parts.iter().all(|part| part.attribute("stroke-dasharray").is_some()));
    let second = numbers(parts[1], "points");
    for (found, wanted) in second.iter().zip([x(3.0), y(3.0), x(4.0), y(2.5)]) {
        assert!((found - wanted).abs() < CLOSE);
    }
}

#[test]
fn the_title_of_a_component_has_its_share_in_percent() {
    assert_eq!(component_title(1, Some(0.2344)), "PC 1 (23.4 %)");
    assert_eq!(component_title(2, None), "PC 2");
    assert_eq!(component_title(3, Some(f64::NAN)), "PC 3");
}
