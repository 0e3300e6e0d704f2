//! Unusual input: no panic, a valid plot, and always the same one.

use super::super::*;
use super::view::clusters;
use super::{places, sound, texts};

const STRANGE: &[&[f64]] = &[
    &[],
    &[0.0],
    &[-7.5],
    &[3.0, 3.0, 3.0],
    &[f64::NAN],
    &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
    &[1.0, f64::NAN, 2.0],
    &[-1e-310, 1e-310],
    &[1e-320, 2e-320],
    &[-1.7e308, 1.7e308],
    &[-9e299, 9e299],
    &[1e15, 1e15 + 1.0],
    &[-3.0, -2.0, -1.0],
    &[0.0, 0.0, 1e-12, 1e12],
];

fn hostile() -> Vec<String> {
    let long = "x".repeat(5000);
    ["<a href='#'>&amp;\"", "]]>", "\u{0}\u{1}\u{7f}\u{fffe}", "λ ≤ 3 漢字 🦀", "", long.as_str(), "a\nb\tc"]
        .map(str::to_owned)
        .to_vec()
}

/// Every kind of chart from the same numbers and names.
fn all_kinds(x: &[f64], y: &[f64], names: &[String]) -> Vec<Drawing> {
    let title = names.first().map_or("", String::as_str);
    let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    let solid: Vec<[f64; 3]> = points.iter().map(|p| [p.0, p.1, p.0]).collect();
    let arrows: Vec<_> = points.iter().zip(names.iter().cycle()).map(|(p, n)| (n.clone(), p.0, p.1)).collect();
    let s = Scatter { title, points: &points, labels: Some(names), x_title: title, y_title: title };
    let size = ImageSize { width: 3, height: 2, channels: 1 };
    let tiles: Vec<Tile> = names.iter().map(|n| Tile { pixels: x.to_vec(), caption: n.clone() }).collect();
    let g = Gallery { title, tiles: &tiles, size, columns: 2, range: Range::Own };
    let row = StripRow { heading: title.into(), tiles: vec![x.to_vec(), y.to_vec()], range: Range::Signed(None) };
    let rows = [row.clone(), StripRow { range: Range::Own, ..row }];
    let series: Vec<Series> =
        names.iter().map(|n| Series { name: n.clone(), points: points.clone(), dashed: false }).collect();
    let l = Lines { title, series: &series, x_title: title, y_title: title, log_x: false, log_y: false };
    let limits = Some((x.first().copied().unwrap_or(1.0), 0.0));
    let m = Monitor { title, t2: x, q: y, limits, level: title, labels: Some(names), names: Some(names) };
    vec![
        scree(&Scree { title, ratios: x, bounds: Some(&points), reported: Some(1) }),
        scatter(&s),
        scatter(&Scatter { labels: None, ..s }),
        scatter3(&Scatter3 { title, points: &solid, labels: Some(names), titles: [title; 3] }),
        biplot(&Biplot { scatter: s, arrows: &arrows }),
        circle(&Circle { title, arrows: &arrows, x_title: title, y_title: title }),
        monitor(&m),
        monitor(&Monitor { limits: None, labels: None, names: None, ..m }),
        lines(&l),
        lines(&Lines { log_x: true, log_y: true, ..l }),
        gallery(&g),
        gallery(&Gallery { range: Range::Signed(None), size: ImageSize { channels: 3, ..size }, ..g }),
        gallery(&Gallery { size: ImageSize { width: 0, ..size }, columns: 0, range: Range::Unit(1.0, 1.0), ..g }),
        strip(&Strip { title, columns: names, rows: &rows, size }),
    ]
}

#[test]
fn strange_numbers_give_sound_plots() {
    for x in STRANGE {
        for y in STRANGE {
            for drawing in all_kinds(x, y, &["a".to_owned(), "b".to_owned()]) {
                sound(&drawing);
            }
        }
        for drawing in all_kinds(x, x, &[]) {
            drawing.png().unwrap();
        }
    }
}

#[test]
fn hostile_names_give_well_formed_plots_with_the_names_in_them() {
    let x: Vec<f64> = (0..7).map(f64::from).collect();
    for first in 0..hostile().len() {
        let mut names = hostile();
        names.rotate_left(first);
        for drawing in all_kinds(&x, &x, &names) {
            let document = sound(&drawing);
            assert!(texts(&document).iter().all(|t| t.chars().count() < 200));
        }
    }
    let names = hostile();
    let points: Vec<(f64, f64)> = x.iter().map(|v| (*v, *v)).collect();
    let drawing = scatter(&Scatter { points: &points, labels: Some(&names), ..Scatter::default() });
    let texts = texts(&sound(&drawing));
    assert!(texts.contains(&names[0]) && texts.contains(&"]]>".to_owned()));
    assert!(texts.iter().any(|t| t.starts_with("xxxx") && t.ends_with('…')));
}

#[test]
fn a_point_that_is_not_finite_is_left_out_alone() {
    let points = [(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 3.0)];
    let drawing = scatter(&Scatter { points: &points, ..Scatter::default() });
    assert_eq!(places(&sound(&drawing)).len(), 2);
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    let (points, labels) = clusters(60, 12);
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p[0], p[1])).unzip();
    for (first, second) in all_kinds(&x, &y, &labels).iter().zip(all_kinds(&x, &y, &labels)) {
        assert_eq!(first.svg(), second.svg());
    }
    let twice = [0; 2].map(|_| all_kinds(&x, &y, &labels)[1].png().unwrap());
    assert_eq!(twice[0], twice[1]);
}

#[test]
fn ten_thousand_points_stay_below_half_a_megabyte() {
    let (points, labels) = clusters(10_000, 5);
    let flat: Vec<(f64, f64)> = points.iter().map(|p| (p[0], p[1])).collect();
    let drawing = scatter(&Scatter { points: &flat, labels: Some(&labels), ..Scatter::default() });
    assert!(drawing.svg().len() < 500_000, "{}", drawing.svg().len());
    assert_eq!(places(&sound(&drawing)).len(), 10_000 + 5);
}
