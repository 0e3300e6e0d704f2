//! Names cover no mark, arrow or other name, and are never closer to another point than to their
//! own.

use super::super::scene::{Anchor, Area, Marks, Point, Shape, Text};
use super::super::*;
use super::view::{Noise, clusters};
use super::{axis, sound};

/// A written name, and the line to its point if it has one.
struct Written<'a> {
    text: &'a Text,
    area: Area,
    leader: Option<(Point, Point)>,
}

/// The box of the letters: a little less than the room that is kept for them.
fn letters(text: &Text) -> Area {
    assert_eq!(text.anchor, Anchor::Middle);
    let width = font::width(&text.content, text.size, text.weight) / 1.12;
    Area { left: text.x - 0.5 * width, top: text.y - 0.75 * text.size, width, height: text.size }
}

fn written(drawing: &Drawing) -> Vec<Written<'_>> {
    let mut leader = None;
    let mut out = Vec::new();
    for shape in &drawing.scene.shapes {
        match shape {
            Shape::Line { points, class: "leader", .. } => leader = Some((points[0], points[1])),
            Shape::Text(text) if text.class == "name" => {
                out.push(Written { text, area: letters(text), leader: leader.take() });
            }
            _ => {}
        }
    }
    out
}

fn marks(drawing: &Drawing) -> impl Iterator<Item = &Marks> {
    drawing.scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Marks(marks) => Some(marks),
        _ => None,
    })
}

fn distance(area: &Area, point: Point) -> f64 {
    let near = area.nearest(point);
    (near.0 - point.0).hypot(near.1 - point.1)
}

fn assert_clear(drawing: &Drawing) {
    sound(drawing);
    let names = written(drawing);
    for (i, name) in names.iter().enumerate() {
        let what = &name.text.content;
        for other in &names[..i] {
            assert!(!name.area.overlaps(&other.area), "{what} over {}", other.text.content);
        }
        for (other, (from, to)) in names.iter().filter_map(|other| Some((other, other.leader?))) {
            let own = std::ptr::eq(other.text, name.text);
            assert!(own || !name.area.crossed_by(from, to), "{what} over the line of {}", other.text.content);
        }
        for mark in marks(drawing) {
            for at in &mark.at {
                assert!(distance(&name.area, *at) > 0.9 * mark.radius, "{what} over the mark at {at:?}");
            }
        }
        for shape in &drawing.scene.shapes {
            if let Shape::Line { points, class: "arrow", .. } = shape {
                assert!(!name.area.crossed_by(points[0], points[1]), "{what} over an arrow");
            }
        }
        if let Some((_, end)) = name.leader {
            assert!(distance(&name.area, end) < 10.0, "the line of {what} does not reach it");
        }
    }
}

/// Rows in a cloud, and some far out that stand in a tight group.
fn crowded(count: usize, group: usize) -> (Vec<f64>, Vec<f64>) {
    let mut noise = Noise::new(5);
    let mut near = |i: usize, far: f64| if i < group { far + 0.4 * noise.normal() } else { 8.0 + noise.normal() };
    (0..count).map(|i| (near(i, 40.0), near(i, 30.0))).unzip()
}

#[test]
fn every_name_of_a_crowd_stands_beside_its_own_point_or_has_a_line_to_it() {
    let (t2, q) = crowded(400, 8);
    let m = Monitor { t2: &t2, q: &q, limits: Some((20.0, 20.0)), level: "99 %", ..Monitor::default() };
    let drawing = monitor(&m);
    assert_clear(&drawing);
    let document = sound(&drawing);
    let (x, y) = (axis(&document, true), axis(&document, false));
    let names = written(&drawing);
    assert_eq!(names.len(), 8, "all eight are named");
    for name in &names {
        let row = name.text.content.strip_prefix("row ").unwrap().parse::<usize>().unwrap();
        let own = (x(t2[row]), y(q[row]));
        match name.leader {
            Some((start, _)) => assert!((start.0 - own.0).hypot(start.1 - own.1) < 6.5),
            None => {
                let nearest = marks(&drawing).flat_map(|m| &m.at).map(|at| distance(&name.area, *at));
                assert!(distance(&name.area, own) <= nearest.fold(f64::MAX, f64::min) + 0.5);
            }
        }
    }
}

#[test]
fn names_in_a_monitor_of_any_size_cover_nothing() {
    for (count, group) in [(60, 3), (400, 15), (400, 60), (5_000, 200), (30_000, 500)] {
        let (t2, q) = crowded(count, group);
        let long: Vec<String> = (0..count).map(|i| format!("/data/plant-{i}/sensor/recording.csv")).collect();
        for names in [None, Some(&long[..])] {
            let limits = Some((20.0, 20.0));
            assert_clear(&monitor(&Monitor { t2: &t2, q: &q, limits, level: "99 %", names, ..Monitor::default() }));
        }
    }
}

#[test]
fn names_of_arrows_cover_neither_points_nor_arrows() {
    let (points, labels) = clusters(150, 3);
    let points: Vec<Point> = points.iter().map(|p| (p[0], p[1])).collect();
    for count in [5, 13, 40, 120] {
        let mut noise = Noise::new(count);
        let mut arrow = |i: u64| (format!("feature number {i}"), 0.3 * noise.normal(), 0.2 * noise.normal());
        let arrows: Vec<_> = (0..count).map(&mut arrow).collect();
        let scatter = Scatter { points: &points, labels: Some(&labels), ..Scatter::default() };
        let drawing = biplot(&Biplot { scatter, arrows: &arrows });
        assert_clear(&drawing);
        assert!(written(&drawing).len() >= count.min(11) as usize, "{count} arrows: {}", written(&drawing).len());
        let drawing = circle(&Circle { arrows: &arrows, ..Circle::default() });
        assert_clear(&drawing);
        assert!(written(&drawing).len() >= count.min(11) as usize);
    }
}

#[test]
fn names_without_room_are_counted_below_the_plot() {
    // Points everywhere: there is no free place for any name.
    let points: Vec<Point> = (0..40_000).map(|i| (f64::from(i % 200), f64::from(i / 200))).collect();
    let arrows = [("a".to_owned(), 1.0, 1.0), ("b".to_owned(), 1.0, -1.0)];
    let drawing = biplot(&Biplot { scatter: Scatter { points: &points, ..Scatter::default() }, arrows: &arrows });
    assert_clear(&drawing);
    let left_out = 2 - written(&drawing).len();
    let says = super::texts(&sound(&drawing)).iter().any(|text| text.contains("left out for lack of room"));
    assert_eq!(says, left_out > 0);
}
