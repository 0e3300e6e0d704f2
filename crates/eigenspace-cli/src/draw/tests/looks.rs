//! Classes are distinguishable, dense clouds readable, both axes of a plot have one scale if
//! required, and text is drawn.

use std::collections::BTreeSet;

use super::super::color::Rgb;
use super::super::scene::{Marker, Marks, Shape};
use super::super::*;
use super::view::clusters;
use super::{axis, of_class, places, sound, texts};

fn flat(points: &[[f64; 3]]) -> Vec<(f64, f64)> {
    points.iter().map(|p| (p[0], p[1])).collect()
}

fn marks(drawing: &Drawing) -> Vec<&Marks> {
    let shapes = drawing.scene.shapes.iter();
    shapes.filter_map(|shape| if let Shape::Marks(marks) = shape { Some(marks) } else { None }).collect()
}

/// Linear light as it is seen without one of the three kinds of cones (Machado, Oliveira and
/// Fernandes 2009).
const BLIND: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
];

/// Lightness and color in CIELAB, where equal distances look about equally large.
fn seen(color: Rgb, eye: &[[f64; 3]; 3]) -> [f64; 3] {
    let linear = [color.0, color.1, color.2].map(|v| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    });
    let times = |m: &[[f64; 3]; 3], v: [f64; 3]| m.map(|row| (0..3).map(|i| row[i] * v[i]).sum::<f64>());
    let rgb = times(eye, linear).map(|v| v.clamp(0.0, 1.0));
    let xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
    let white = [0.9505, 1.0, 1.089];
    let xyz = times(&xyz, rgb);
    let f = [0, 1, 2].map(|i| {
        let t: f64 = xyz[i] / white[i];
        if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 }
    });
    [116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])]
}

#[test]
fn classes_of_one_form_differ_in_color_for_every_eye() {
    for count in 2..=20 {
        let (points, labels) = clusters(10 * count, count);
        let drawing = scatter(&Scatter { points: &flat(&points), labels: Some(&labels), ..Scatter::default() });
        // The key shows each look once.
        let looks: Vec<(Rgb, Marker)> = marks(&drawing).iter().take(count).map(|m| (m.fill, m.marker)).collect();
        for (i, a) in looks.iter().enumerate() {
            for b in looks[..i].iter().filter(|b| b.1 == a.1) {
                for eye in &BLIND {
                    let (p, q) = (seen(a.0, eye), seen(b.0, eye));
                    let apart = (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>().sqrt();
                    assert!(apart > 10.0, "{count} classes: {a:?} and {b:?} are {apart:.1} apart");
                }
            }
        }
    }
}

#[test]
fn beyond_twenty_classes_the_largest_are_listed_and_the_rest_is_owned_up_to() {
    let (points, mut labels) = clusters(500, 25);
    labels[..60].fill("s25".to_owned()); // the last in the list, and now the largest
    let points = flat(&points);
    let drawing = scatter(&Scatter { points: &points, labels: Some(&labels), ..Scatter::default() });
    let document = sound(&drawing);
    let listed: BTreeSet<String> = texts(&document).into_iter().filter(|t| t.starts_with('s')).collect();
    assert_eq!(listed.len(), 20);
    assert!(listed.contains("s25"));
    let texts = texts(&document);
    assert!(texts.contains(&"5 other classes".to_owned()));
    assert!(texts.contains(&"25 classes: the 20 largest have their own colors, the others are gray".to_owned()));
    let drawn: usize = marks(&drawing)[21..].iter().map(|m| m.at.len()).sum();
    assert_eq!(drawn, 500, "points of the others are drawn too");
}

#[test]
fn a_unit_is_as_long_across_as_upwards() {
    for (across, up) in [(1.0, 1.0), (30.0, 1.0), (1.0, 30.0), (1e-6, 2e-6), (400.0, 3.0)] {
        let points: Vec<_> = clusters(200, 3).0.iter().map(|p| (across * p[0], up * p[1])).collect();
        let s = Scatter { points: &points, x_title: "x", y_title: "y", ..Scatter::default() };
        let arrows = [("a".to_owned(), 1.0, 0.4)];
        for drawing in [scatter(&s), biplot(&Biplot { scatter: s, arrows: &arrows })] {
            let document = sound(&drawing);
            if across > 1e-3 {
                let (x, y) = (axis(&document, true), axis(&document, false));
                let (right, upward) = (x(1.0) - x(0.0), y(0.0) - y(1.0));
                assert!((right - upward).abs() < 1e-3 * right.max(1.0), "{right} across, {upward} up");
            }
            let (width, height) = drawing.size();
            assert!(places(&document).iter().all(|p| p.0 > 0.0 && p.0 < width && p.1 > 0.0 && p.1 < height));
        }
    }
}

#[test]
fn a_hundred_thousand_points_are_cells_and_an_outlier_keeps_its_own() {
    let (points, labels) = clusters(100_000, 5);
    let mut points = flat(&points);
    points[77] = (60.0, -40.0);
    for labels in [None, Some(&labels[..])] {
        let drawing = scatter(&Scatter { points: &points, labels, x_title: "x", y_title: "y", ..Scatter::default() });
        assert!(drawing.svg().len() < 1_500_000, "{}", drawing.svg().len());
        let document = sound(&drawing);
        let (x, y) = (axis(&document, true)(60.0), axis(&document, false)(-40.0));
        let near = |m: &&Marks| m.at.iter().any(|at| (at.0 - x).abs() < 2.0 && (at.1 - y).abs() < 2.0);
        assert_eq!(marks(&drawing).into_iter().filter(near).count(), 1);
        assert!(texts(&document).iter().any(|t| t.starts_with("100,000 points in cells: up to ")));
        assert!(marks(&drawing).iter().all(|m| m.opacity == 1.0 && m.edge.is_none()));
    }
}

#[test]
fn thousands_of_rows_beyond_a_limit_have_no_dark_rims_but_the_named_ones() {
    let t2: Vec<f64> = (0..9_000).map(|i| 1.0 + f64::from(i % 3000) / 100.0).collect();
    let q: Vec<f64> = (0..9_000).map(|i| 1.0 + f64::from(i * 7 % 2003) / 100.0).collect();
    let drawing = monitor(&Monitor { t2: &t2, q: &q, limits: Some((15.0, 15.0)), ..Monitor::default() });
    let rims: usize = marks(&drawing).iter().filter(|m| m.edge.is_some()).map(|m| m.at.len()).sum();
    assert_eq!(rims, 8);
    let all: usize = marks(&drawing).iter().map(|m| m.at.len()).sum();
    assert_eq!(all, 9_000 + 8 + 1, "every row, the rims, and the sample of the key");
}

#[test]
fn bars_bear_their_values_where_there_is_room() {
    let ratios = [0.92, 0.053, 0.017, 0.005];
    for bounds in [None, Some(&[(0.9, 0.94), (0.04, 0.06), (0.01, 0.02), (0.0, 0.01)][..])] {
        let drawing = scree(&Scree { ratios: &ratios, bounds, ..Scree::default() });
        let document = sound(&drawing);
        let values: Vec<_> = of_class(&document, "value").iter().map(|n| n.text().unwrap().to_owned()).collect();
        assert_eq!(values, ["92.0 %", "5.3 %", "1.7 %", "0.5 %"]);
    }
    let drawing = scree(&Scree { ratios: &[0.006; 150], ..Scree::default() });
    assert!(of_class(&sound(&drawing), "value").is_empty(), "150 bars leave no room");
}
