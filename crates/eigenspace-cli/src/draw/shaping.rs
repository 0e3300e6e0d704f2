//! Text that is more than letters side by side: scripts that join, stack or run from right to left,
//! and characters that the built-in typeface does not have.
//!
//! ```text
//! text ─► runs of one direction (unicode-bidi) ─► spans of one font and script ─► glyphs (rustybuzz)
//! ```

use rustybuzz::{Direction, Face, UnicodeBuffer};
use ttf_parser::GlyphId;
use unicode_bidi::BidiInfo;
use unicode_script::{Script, UnicodeScript};

use super::fallback;
use super::typeface::{self, Weight};

/// What to draw at a position.
pub(super) enum Glyph {
    Outline(&'static Face<'static>, GlyphId),
    /// No font has this character.
    Missing(char),
}

/// A glyph and its position on the line, in units of the text size, y upward.
pub(super) struct Placed {
    pub(super) glyph: Glyph,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Adjacent characters with one font and script. Without a font, all of them are missing.
struct Span<'t> {
    text: &'t str,
    font: Option<&'static Face<'static>>,
    script: Script,
}

/// The glyphs of a line from left to right, and its length.
pub(super) fn line(text: &str, weight: Weight) -> (Vec<Placed>, f64) {
    let (mut placed, mut x) = (Vec::new(), 0.0);
    let directions = BidiInfo::new(text, None);
    for paragraph in &directions.paragraphs {
        let (levels, runs) = directions.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            let backward = levels[run.start].is_rtl();
            let mut spans = spans(&text[run], weight);
            if backward {
                spans.reverse();
            }
            for span in &spans {
                set(span, backward, &mut x, &mut placed);
            }
        }
    }
    (placed, x)
}

/// The characters of a text that no font has.
pub(super) fn missing(text: &str, weight: Weight) -> Vec<char> {
    let of = |placed: Placed| match placed.glyph {
        Glyph::Missing(character) => Some(character),
        Glyph::Outline(..) => None,
    };
    line(text, weight).0.into_iter().filter_map(of).collect()
}

/// Splits a run where the font or the script changes. Spaces, marks and joiners stay with the
/// preceding character.
fn spans(run: &str, weight: Weight) -> Vec<Span<'_>> {
    let mut spans: Vec<Span<'_>> = Vec::new();
    let mut start = 0;
    for (at, character) in run.char_indices() {
        let script = character.script();
        let neutral = matches!(script, Script::Common | Script::Inherited);
        let end = at + character.len_utf8();
        if let Some(last) = spans.last_mut() {
            let follows = script == Script::Inherited || is_ignorable(character);
            let covered = last.font.is_some_and(|font| font.glyph_index(character).is_some());
            if follows || (covered && (neutral || script == last.script)) {
                last.text = &run[start..end];
                continue;
            }
        }
        start = at;
        let has = |face: &&'static Face<'static>| face.glyph_index(character).is_some();
        let font = Some(typeface::built_in(weight)).filter(has).or_else(|| fallback::font_for(character, weight));
        spans.push(Span { text: &run[start..end], font, script });
    }
    spans
}

/// Invisible formatting characters.
fn is_ignorable(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

fn set(span: &Span<'_>, backward: bool, x: &mut f64, placed: &mut Vec<Placed>) {
    let Some(font) = span.font else {
        let shown: Vec<char> = span.text.chars().filter(|c| !is_ignorable(*c)).collect();
        let ordered: Box<dyn Iterator<Item = &char>> =
            if backward { Box::new(shown.iter().rev()) } else { Box::new(shown.iter()) };
        for &character in ordered {
            placed.push(Placed { glyph: Glyph::Missing(character), x: *x, y: 0.0 });
            *x += 1.0;
        }
        return;
    };
    let mut buffer = UnicodeBuffer::new();
    buffer.push_str(span.text);
    buffer.guess_segment_properties();
    buffer.set_direction(if backward { Direction::RightToLeft } else { Direction::LeftToRight });
    let glyphs = rustybuzz::shape(font, &[], buffer);
    let em = f64::from(font.units_per_em());
    for (info, position) in glyphs.glyph_infos().iter().zip(glyphs.glyph_positions()) {
        let id = GlyphId(u16::try_from(info.glyph_id).unwrap_or(0));
        let (dx, dy) = (f64::from(position.x_offset) / em, f64::from(position.y_offset) / em);
        placed.push(Placed { glyph: Glyph::Outline(font, id), x: *x + dx, y: dy });
        *x += f64::from(position.x_advance) / em;
    }
}
