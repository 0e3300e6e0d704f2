//! The page is well-formed, complete and safe.

use roxmltree::{Document, ParsingOptions};

use super::super::*;

#[test]
fn a_page_holds_escaped_text_tables_and_several_drawings() {
    let hostile = "<script>alert('x & \"y\"')</script>";
    let drawing = scatter(&Scatter { title: hostile, points: &[(1.0, 2.0)], ..Scatter::default() });
    let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    let page = Page::new(hostile)
        .section("One")
        .text("First.\n\nSecond <b>.")
        .table(&row("name", hostile), &[row("a", "1,234.5"), row(hostile, "−3 %")])
        .section("Two")
        .drawing(&drawing, hostile)
        .drawing(&drawing, "")
        .section(hostile);
    let html = page.html();
    assert_eq!(html, page.clone().html());
    assert!(!html.contains("<script") && !html.contains("<b>"));
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&html, options).unwrap();
    let count = |tag: &str| document.descendants().filter(|n| n.tag_name().name() == tag).count();
    assert_eq!((count("svg"), count("h2"), count("p"), count("td"), count("figcaption")), (2, 3, 2, 4, 1));
    assert_eq!(html.matches("<td class=\"number\">").count(), 2);
    let mut ids: Vec<_> = document.descendants().filter_map(|n| n.attribute("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for node in document.descendants() {
        for attribute in node.attributes().filter(|a| ["href", "src"].contains(&a.name())) {
            assert!(attribute.value().starts_with('#') || attribute.value().starts_with("data:"));
        }
    }
}

#[test]
fn an_empty_page_is_a_page() {
    let html = Page::new("").html();
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
}
