//! Renders a scene as pixels with tiny-skia, and text with the outlines of [`font`].
//!
//! We do not render our SVG with resvg. It would add about 30 crates to the build, and would not
//! remove the measuring of labels, which their placement needs before anything is drawn and which
//! is most of the code for text.

use anyhow::Context;
use image::{ExtendedColorType, ImageEncoder};
use tiny_skia::{
    Color, FillRule, FilterQuality, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Rect, Stroke,
    StrokeDash, Transform,
};

use super::color::Rgb;
use super::font;
use super::scene::{Anchor, Area, Bitmap, Dash, Marker, Marks, Point, Scene, Shape, Text, WHITE};

/// Pixels per unit of the plot.
pub(super) const DENSITY: f64 = 2.0;
/// Total width of the white rim of a text, both sides together.
pub(super) const HALO: f64 = 3.0;
/// A plot with more pixels than this at full density is rendered with one pixel per unit.
const MANY: f64 = 80e6;

/// The scene as the bytes of a PNG file.
pub(super) fn png(scene: &Scene) -> anyhow::Result<Vec<u8>> {
    let density = if scene.width * scene.height * DENSITY * DENSITY > MANY { 1.0 } else { DENSITY };
    let (width, height) = ((scene.width * density).round() as u32, (scene.height * density).round() as u32);
    let mut pixels = Pixmap::new(width, height)
        .with_context(|| format!("cannot create an image of {width} by {height} pixels: it is too large"))?;
    pixels.fill(Color::WHITE);
    let mut brush = Brush { pixels, view: Transform::from_scale(density as f32, density as f32) };
    for shape in &scene.shapes {
        brush.shape(shape);
    }
    // The background is opaque, so no alpha channel is needed.
    let rgb: Vec<u8> = brush.pixels.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    encode(&rgb, width as usize, height as usize, ExtendedColorType::Rgb8)
}

/// Bytes of an image as a PNG file.
pub(super) fn encode(bytes: &[u8], width: usize, height: usize, color: ExtendedColorType) -> anyhow::Result<Vec<u8>> {
    let samples = if color == ExtendedColorType::L8 { 1 } else { 3 };
    anyhow::ensure!(
        bytes.len() == width * height * samples,
        "internal error in the PNG writer; please report this: wrong length for {width} by {height} pixels"
    );
    let mut out = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut out);
    encoder.write_image(bytes, u32::try_from(width)?, u32::try_from(height)?, color)?;
    Ok(out)
}

/// The corners of a marker around the origin, with about the same area as a disc of that radius.
pub(super) fn corners(marker: Marker, radius: f64) -> Vec<Point> {
    let r = radius;
    match marker {
        Marker::Triangle => vec![(0.0, -1.35 * r), (1.2 * r, 0.75 * r), (-1.2 * r, 0.75 * r)],
        Marker::Disc | Marker::Square => {
            vec![(-0.9 * r, -0.9 * r), (0.9 * r, -0.9 * r), (0.9 * r, 0.9 * r), (-0.9 * r, 0.9 * r)]
        }
    }
}

fn paint(color: Rgb, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(color.0, color.1, color.2, (255.0 * opacity).round() as u8);
    paint
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (i, p) in points.iter().enumerate() {
        let (x, y) = (p.0 as f32, p.1 as f32);
        if i == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

struct Brush {
    pixels: Pixmap,
    view: Transform,
}

impl Brush {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { area, fill, .. } => {
                let rect = Rect::from_xywh(area.left as f32, area.top as f32, area.width as f32, area.height as f32);
                if let Some(rect) = rect {
                    self.pixels.fill_rect(rect, &paint(*fill, 1.0), self.view, None);
                }
            }
            Shape::Line { points, stroke, width, dash, .. } => {
                let dash = if *dash == Dash::Dashed { StrokeDash::new(vec![6.0, 4.0], 0.0) } else { None };
                self.stroke(path(points, false), *stroke, *width, dash);
            }
            Shape::Polygon { points, fill, .. } => self.fill(path(points, true), *fill, 1.0),
            Shape::Ring { center, radius, stroke, width } => {
                let ring = PathBuilder::from_circle(center.0 as f32, center.1 as f32, *radius as f32);
                self.stroke(ring, *stroke, *width, None);
            }
            Shape::Marks(marks) => self.marks(marks),
            Shape::Text(text) => self.text(text),
            Shape::Image { area, bitmap } => self.image(area, bitmap),
        }
    }

    fn fill(&mut self, path: Option<Path>, color: Rgb, opacity: f64) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, &paint(color, opacity), FillRule::Winding, self.view, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, color: Rgb, width: f64, dash: Option<StrokeDash>) {
        let stroke = Stroke {
            width: width as f32,
            line_join: LineJoin::Round,
            line_cap: LineCap::Butt,
            dash,
            ..Stroke::default()
        };
        if let Some(path) = path {
            self.pixels.stroke_path(&path, &paint(color, 1.0), &stroke, self.view, None);
        }
    }

    fn marks(&mut self, marks: &Marks) {
        let corners = corners(marks.marker, marks.radius);
        for &(x, y) in &marks.at {
            let outline = if marks.marker == Marker::Disc {
                PathBuilder::from_circle(x as f32, y as f32, marks.radius as f32)
            } else {
                path(&corners.iter().map(|c| (x + c.0, y + c.1)).collect::<Vec<_>>(), true)
            };
            self.fill(outline.clone(), marks.fill, marks.opacity);
            if let Some((edge, width)) = marks.edge {
                self.stroke(outline, edge, width, None);
            }
        }
    }

    fn text(&mut self, text: &Text) {
        let Some((glyphs, width)) = font::outline(&text.content, text.size, text.weight) else { return };
        let shift = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::End => -width,
        };
        let turn = Transform::from_rotate(text.turn as f32);
        let move_to = turn.pre_translate(shift as f32, 0.0).post_translate(text.x as f32, text.y as f32);
        let glyphs = glyphs.transform(move_to);
        if text.halo {
            self.stroke(glyphs.clone(), WHITE, HALO, None);
        }
        self.fill(glyphs, text.fill, 1.0);
    }

    fn image(&mut self, area: &Area, bitmap: &Bitmap) {
        let (Ok(width), Ok(height)) = (u32::try_from(bitmap.width), u32::try_from(bitmap.height)) else { return };
        let Some(mut image) = Pixmap::new(width, height) else { return };
        let samples = if bitmap.gray { 1 } else { 3 };
        for (to, from) in image.data_mut().chunks_exact_mut(4).zip(bitmap.bytes.chunks_exact(samples)) {
            let rgb = if bitmap.gray { [from[0]; 3] } else { [from[0], from[1], from[2]] };
            to.copy_from_slice(&[rgb[0], rgb[1], rgb[2], 255]);
        }
        let (sx, sy) = (area.width / bitmap.width as f64, area.height / bitmap.height as f64);
        let shrunk = sx * f64::from(self.view.sx) < 1.0;
        let quality = if shrunk { FilterQuality::Bilinear } else { FilterQuality::Nearest };
        let place = Transform::from_scale(sx as f32, sy as f32).post_translate(area.left as f32, area.top as f32);
        let how = PixmapPaint { quality, ..PixmapPaint::default() };
        self.pixels.draw_pixmap(0, 0, image.as_ref(), &how, place.post_concat(self.view), None);
    }
}
