//! The typeface of the program: how wide a text is, how to shorten it, and its outlines.
//!
//! Noto Sans (SIL Open Font License) covers Latin, Greek and Cyrillic; other characters become the empty box of the face in
//! a PNG, while an SVG is shown with the fonts of whoever opens it. Letters are set side by side,
//! without kerning.

use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Regular for nearly everything, bold for titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// Room for viewers whose sans-serif runs wider than ours.
const SPARE: f64 = 1.12;

/// No text in a picture is longer than this, whatever its width.
const LONGEST: usize = 300;

fn face(weight: Weight) -> Option<&'static Face<'static>> {
    static FACES: OnceLock<[Option<Face<'static>>; 2]> = OnceLock::new();
    let faces =
        FACES.get_or_init(|| [notosans::REGULAR_TTF, notosans::BOLD_TTF].map(|bytes| Face::parse(bytes, 0).ok()));
    faces[usize::from(weight == Weight::Bold)].as_ref()
}

/// The face lacks the minus of raised exponents, so that one is a small bar of our own.
const RAISED_MINUS: char = '⁻';

fn advance(face: &Face<'_>, character: char) -> f64 {
    if character == RAISED_MINUS {
        return 0.36;
    }
    f64::from(face.glyph_hor_advance(glyph(face, character)).unwrap_or(0)) / f64::from(face.units_per_em())
}

fn glyph(face: &Face<'_>, character: char) -> GlyphId {
    face.glyph_index(character).unwrap_or(GlyphId(0))
}

/// The width of a text in the given size, with a little to spare.
pub(super) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    SPARE * exact_width(text, size, weight)
}

fn exact_width(text: &str, size: f64, weight: Weight) -> f64 {
    let em = match face(weight) {
        Some(face) => text.chars().map(|c| advance(face, c)).sum(),
        None => 0.6 * text.chars().count() as f64,
    };
    em * size
}

/// The text on one line, cut with an ellipsis where it would be wider than `room`.
pub(super) fn shorten(text: &str, size: f64, weight: Weight, room: f64) -> String {
    let line: String = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    if text.chars().nth(LONGEST).is_none() && width(line, size, weight) <= room {
        return line.to_owned();
    }
    let mut kept: Vec<char> = line.chars().collect();
    let mut cut = String::from("…");
    while kept.pop().is_some() {
        cut = kept.iter().collect::<String>().trim_end().to_owned() + "…";
        if width(&cut, size, weight) <= room {
            break;
        }
    }
    cut
}

/// The outlines of a text whose baseline starts at the origin, y downwards, and its true width.
pub(super) fn outline(text: &str, size: f64, weight: Weight) -> Option<(Path, f64)> {
    let face = face(weight)?;
    let scale = size / f64::from(face.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), scale, x: 0.0 };
    for character in text.chars() {
        if character == RAISED_MINUS {
            let em = f32::from(face.units_per_em());
            let bar = [(0.05, 0.50), (0.31, 0.50), (0.31, 0.56), (0.05, 0.56)].map(|(x, y)| (x * em, y * em));
            pen.move_to(bar[0].0, bar[0].1);
            bar[1..].iter().for_each(|corner| pen.line_to(corner.0, corner.1));
            pen.close();
        } else {
            face.outline_glyph(glyph(face, character), &mut pen);
        }
        pen.x += size * advance(face, character);
    }
    let end = pen.x;
    pen.path.finish().map(|path| (path, end))
}

/// Moves glyph outlines from font units, y upwards, to the line of text.
struct Pen {
    path: PathBuilder,
    scale: f64,
    x: f64,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + self.scale * f64::from(x)) as f32, (-self.scale * f64::from(y)) as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.path.move_to(to.0, to.1);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.path.line_to(to.0, to.1);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (by, to) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(by.0, by.1, to.0, to.1);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second, to) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(first.0, first.1, second.0, second.1, to.0, to.1);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
