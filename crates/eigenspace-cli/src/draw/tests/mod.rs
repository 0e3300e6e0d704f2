//! Properties of every plot, checked on its SVG and PNG output.

mod charts;
mod images;
mod looks;
mod page;
mod placement;
mod robust;
mod text;
mod view;

use roxmltree::{Document, Node};

use super::Drawing;

/// The numbers of an attribute, split at spaces and commas.
fn numbers(node: Node<'_, '_>, attribute: &str) -> Vec<f64> {
    let text = node.attribute(attribute).unwrap();
    text.split([' ', ',']).map(|number| number.parse().unwrap()).collect()
}

fn number(node: Node<'_, '_>, attribute: &str) -> f64 {
    numbers(node, attribute)[0]
}

fn of_class<'a, 'i>(document: &'a Document<'i>, class: &str) -> Vec<Node<'a, 'i>> {
    document.descendants().filter(|n| n.attribute("class") == Some(class)).collect()
}

fn texts(document: &Document<'_>) -> Vec<String> {
    let text = |n: Node<'_, '_>| n.text().unwrap_or_default().to_owned();
    document.descendants().filter(|n| n.has_tag_name("text")).map(text).collect()
}

/// The places of all round points, in painting order.
fn places(document: &Document<'_>) -> Vec<(f64, f64)> {
    let marks = of_class(document, "marks").into_iter().flat_map(|group| group.children());
    marks.filter(|n| n.has_tag_name("circle")).map(|n| (number(n, "cx"), number(n, "cy"))).collect()
}

/// From a number to a place along an axis, as its ticks say.
fn axis(document: &Document<'_>, horizontal: bool) -> impl Fn(f64) -> f64 {
    let ticks: Vec<(f64, f64)> = document
        .descendants()
        .filter(|n| n.attribute("font-size") == Some("12.5") && n.attribute("fill") == Some("#666666"))
        .filter(|n| (n.attribute("text-anchor") == Some("middle")) == horizontal)
        .map(|n| {
            let text = n.text().unwrap().replace('−', "-").replace(',', "");
            let value: f64 = match text.strip_suffix(" %") {
                Some(percent) => percent.parse::<f64>().unwrap() / 100.0,
                None => text.parse().unwrap(),
            };
            (value, if horizontal { number(n, "x") } else { number(n, "y") - 4.5 })
        })
        .collect();
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    move |value| first.1 + (value - first.0) * (last.1 - first.1) / (last.0 - first.0)
}

/// Checks that the SVG is well-formed and has no NaN. Returns the parsed plot for further checks.
fn sound(drawing: &Drawing) -> Document<'_> {
    let document = Document::parse(drawing.svg()).unwrap();
    for node in document.descendants() {
        for attribute in node.attributes().filter(|a| a.name() != "href" && a.name() != "aria-label") {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{} = {value}", attribute.name());
        }
        assert!(node.attribute("id").is_none(), "ids would clash on a page");
    }
    document
}
