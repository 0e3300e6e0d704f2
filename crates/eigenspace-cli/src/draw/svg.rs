//! Writes a scene as SVG text, without ids, external styles or timestamps.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::raster;
use super::scene::{Anchor, Area, Bitmap, Dash, Marker, Marks, Point, Scene, Shape, Text};
use super::typeface::Weight;

/// The whole plot on a white background.
pub(super) fn write(scene: &Scene) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{}" font-family="sans-serif">"#,
        escape(&scene.description)
    );
    let _ = write!(out, "\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n");
    for shape in &scene.shapes {
        out.push_str(&element(shape));
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

/// Text that is safe between tags and inside quotes. Characters that XML forbids, or that
/// reverse the text after them, become spaces.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            c if !eigenspace::internal::is_printable(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// At most two decimals, no trailing zeros, no negative zero.
pub(super) fn number(value: f64) -> String {
    trimmed(format!("{:.2}", value.clamp(-1e6, 1e6)))
}

/// One decimal is enough for the center of a point, and there may be thousands of points.
fn short(value: f64) -> String {
    trimmed(format!("{:.1}", value.clamp(-1e6, 1e6)))
}

fn trimmed(text: String) -> String {
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn class_of(class: &str) -> String {
    if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") }
}

fn list(points: &[Point]) -> String {
    points.iter().map(|p| format!("{},{}", number(p.0), number(p.1))).collect::<Vec<_>>().join(" ")
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Rect { area, fill, class } => {
            format!("<rect{} {} fill=\"{}\"/>", class_of(class), place(area), fill.hex())
        }
        Shape::Line { points, stroke, width, dash, class } => {
            let dash = if *dash == Dash::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            format!(
                "<polyline{} points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}/>",
                class_of(class),
                list(points),
                stroke.hex(),
                number(*width)
            )
        }
        Shape::Polygon { points, fill, class } => {
            format!("<polygon{} points=\"{}\" fill=\"{}\"/>", class_of(class), list(points), fill.hex())
        }
        Shape::Ring { center, radius, stroke, width } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>",
            number(center.0),
            number(center.1),
            number(*radius),
            stroke.hex(),
            number(*width)
        ),
        Shape::Marks(marks) => marked(marks),
        Shape::Text(text) => written(text),
        Shape::Image { area, bitmap } => image(area, bitmap),
    }
}

fn place(area: &Area) -> String {
    format!(
        "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
        number(area.left),
        number(area.top),
        number(area.width),
        number(area.height)
    )
}

fn marked(marks: &Marks) -> String {
    let mut out = format!("<g class=\"marks\" fill=\"{}\"", marks.fill.hex());
    if marks.opacity < 1.0 {
        let _ = write!(out, " fill-opacity=\"{}\"", number(marks.opacity));
    }
    if let Some((edge, width)) = marks.edge {
        let _ = write!(out, " stroke=\"{}\" stroke-width=\"{}\"", edge.hex(), number(width));
    }
    out.push('>');
    for &(x, y) in &marks.at {
        if marks.marker == Marker::Disc {
            let _ = write!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", short(x), short(y), short(marks.radius));
            continue;
        }
        let corners = raster::corners(marks.marker, marks.radius);
        let _ = write!(out, "<path d=\"M{} {}", short(x + corners[0].0), short(y + corners[0].1));
        for pair in corners.windows(2) {
            let _ = write!(out, "l{} {}", short(pair[1].0 - pair[0].0), short(pair[1].1 - pair[0].1));
        }
        out.push_str("z\"/>");
    }
    out.push_str("</g>");
    out
}

fn written(text: &Text) -> String {
    let (x, y) = (number(text.x), number(text.y));
    let mut out = format!(
        "<text{} x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"",
        class_of(text.class),
        text.size,
        text.fill.hex()
    );
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if text.weight == Weight::Bold {
        out.push_str(" font-weight=\"bold\"");
    }
    if text.turn != 0.0 {
        let _ = write!(out, " transform=\"rotate({} {x} {y})\"", number(text.turn));
    }
    if text.halo {
        let _ = write!(
            out,
            " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            raster::HALO
        );
    }
    let _ = write!(out, ">{}</text>", escape(&text.content));
    out
}

fn image(area: &Area, bitmap: &Bitmap) -> String {
    let color = if bitmap.gray { image::ExtendedColorType::L8 } else { image::ExtendedColorType::Rgb8 };
    // Writing to memory fails only for a bitmap of the wrong length, which `tile` never creates.
    let Ok(bytes) = raster::encode(&bitmap.bytes, bitmap.width, bitmap.height, color) else {
        return String::new();
    };
    format!(
        "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
        place(area),
        STANDARD.encode(bytes)
    )
}
