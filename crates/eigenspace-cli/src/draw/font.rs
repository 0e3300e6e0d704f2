//! Text in the built-in typeface: width, shortening, and outlines.
//!
//! Noto Sans (SIL Open Font License) covers Latin, Greek and Cyrillic, whose letters are set side
//! by side, without kerning. [`shaping`] sets other scripts with system fonts. In a PNG, a
//! character that no font has becomes a box with its code point, and [`missing`] reports it. An SVG
//! keeps the text and is displayed with the fonts of the viewer.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::shaping::{self, Glyph};
use super::typeface::{Weight, built_in};

/// Margin for viewers whose sans-serif font is wider.
const SPARE: f64 = 1.12;

/// Largest number of characters of a text, whatever its width.
const LONGEST: usize = 300;

fn face(weight: Weight) -> &'static Face<'static> {
    built_in(weight)
}

/// The typeface has no superscript minus, so it is drawn as a small bar.
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

/// The width of a text in the given size, with a small margin.
pub(super) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    SPARE * exact_width(text, size, weight)
}

/// The characters of a text that no installed font has.
pub(super) fn missing(text: &str, weight: Weight) -> Vec<char> {
    if is_simple(text, weight) { Vec::new() } else { shaping::missing(text, weight) }
}

/// Whether the text can be set by placing letters side by side.
fn is_simple(text: &str, weight: Weight) -> bool {
    let simple = |c: char| {
        c == RAISED_MINUS
            || (matches!(c, ' '..='\u{2ff}' | '\u{370}'..='\u{58f}' | '\u{1e00}'..='\u{2000}' | '\u{2010}'..='\u{2027}'
                | '\u{2030}'..='\u{2e7f}')
                && face(weight).glyph_index(c).is_some())
    };
    text.chars().all(simple)
}

fn exact_width(text: &str, size: f64, weight: Weight) -> f64 {
    if !is_simple(text, weight) {
        return size * shaping::line(text, weight).1;
    }
    let face = face(weight);
    size * text.chars().map(|c| advance(face, c)).sum::<f64>()
}

/// The text on one line, cut with an ellipsis if it is wider than `room`.
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

/// The outlines of a text whose baseline starts at the origin, y downward, and its true width.
pub(super) fn outline(text: &str, size: f64, weight: Weight) -> Option<(Path, f64)> {
    let face = face(weight);
    let scale = size / f64::from(face.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), scale, x: 0.0, y: 0.0 };
    if !is_simple(text, weight) {
        let (glyphs, end) = shaping::line(text, weight);
        for placed in glyphs {
            (pen.x, pen.y) = (size * placed.x, -size * placed.y);
            match placed.glyph {
                Glyph::Outline(font, id) => {
                    pen.scale = size / f64::from(font.units_per_em());
                    font.outline_glyph(id, &mut pen);
                }
                Glyph::Missing(character) => pen.code_point(face, character, size),
            }
        }
        return pen.path.finish().map(|path| (path, size * end));
    }
    for character in text.chars() {
        if character == RAISED_MINUS {
            let em = f32::from(face.units_per_em());
            pen.corners([(0.05, 0.50), (0.31, 0.50), (0.31, 0.56), (0.05, 0.56)].map(|(x, y)| (x * em, y * em)));
        } else {
            face.outline_glyph(glyph(face, character), &mut pen);
        }
        pen.x += size * advance(face, character);
    }
    let end = pen.x;
    pen.path.finish().map(|path| (path, end))
}

/// Moves glyph outlines from font units, y upward, to the line of text.
struct Pen {
    path: PathBuilder,
    scale: f64,
    x: f64,
    y: f64,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + self.scale * f64::from(x)) as f32, (self.y - self.scale * f64::from(y)) as f32)
    }

    fn corners(&mut self, corners: [(f32, f32); 4]) {
        self.move_to(corners[0].0, corners[0].1);
        corners[1..].iter().for_each(|corner| self.line_to(corner.0, corner.1));
        self.close();
    }

    /// A box, one size wide, with the number of a character in two lines of small digits.
    fn code_point(&mut self, face: &Face<'_>, character: char, size: f64) {
        let (left, em) = (self.x, f64::from(face.units_per_em()));
        self.scale = size;
        self.corners([(0.06, -0.14), (0.94, -0.14), (0.94, 0.80), (0.06, 0.80)]);
        // In the opposite direction, which makes a hole.
        self.corners([(0.11, -0.09), (0.11, 0.75), (0.89, 0.75), (0.89, -0.09)]);
        let digits = format!("{:04X}", u32::from(character));
        let small = if digits.len() > 4 { 0.40 } else { 0.50 } * size;
        let (upper, lower) = digits.split_at(digits.len() / 2);
        for (line, height) in [(upper, 0.37), (lower, -0.04)] {
            let width: f64 = line.chars().map(|c| small * advance(face, c)).sum();
            (self.x, self.y) = (left + 0.5 * (size - width), -height * size);
            for digit in line.chars() {
                self.scale = small / em;
                face.outline_glyph(glyph(face, digit), self);
                self.x += small * advance(face, digit);
            }
        }
        self.y = 0.0;
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
