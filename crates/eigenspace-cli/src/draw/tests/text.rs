//! Text in scripts that the built-in typeface does not have.

use super::super::fallback::{Fonts, advice};
use super::super::shaping::{Glyph, line};
use super::super::typeface::Weight;
use super::super::*;

/// For private use, and in no font that is known.
const NOWHERE: &str = "\u{10abcd}";

fn titled(title: &str) -> Drawing {
    scatter(&Scatter { title, points: &[(0.0, 0.0), (1.0, 1.0)], ..Scatter::default() })
}

#[test]
fn a_character_that_no_font_has_is_named_and_drawn_as_its_code_point() {
    let drawing = titled(&format!("a {NOWHERE} b"));
    let (characters, fonts) = drawing.missing_characters().unwrap();
    assert_eq!(characters, ['\u{10abcd}']);
    assert!(fonts.contains("package"));
    assert!(drawing.svg().contains(NOWHERE), "SVG keeps the text");
    // Two missing characters do not look the same: no anonymous boxes.
    assert_ne!(drawing.png().unwrap(), titled("a \u{10abce} b").png().unwrap());
}

#[test]
fn the_built_in_typeface_misses_nothing_in_european_texts() {
    for text in ["PC 1 (42.1 %)", "Größe · Ελληνικά · Кириллица", "10⁻³ × 2.5 − 1", "e\u{301} …", ""]
    {
        assert!(titled(text).missing_characters().is_none(), "{text}");
    }
}

#[test]
fn a_font_is_found_by_its_outlines_and_only_if_it_has_them() {
    let mut database = fontdb::Database::new();
    database.load_font_data(notosans::REGULAR_TTF.to_vec());
    let mut fonts = Fonts::new(database);
    assert!(fonts.font_for('Ж', Weight::Bold).is_some());
    assert!(fonts.font_for('\u{10abcd}', Weight::Regular).is_none());
    assert!(Fonts::new(fontdb::Database::new()).font_for('Ж', Weight::Regular).is_none());
}

#[test]
fn the_advice_names_a_font_for_each_script() {
    assert_eq!(advice(&['漢', '字', 'か']), "Noto Sans CJK (package fonts-noto-cjk)");
    let both = advice(&['ש', 'ا']);
    assert!(both.contains("Noto Sans Hebrew") && both.contains("Noto Sans Arabic"), "{both}");
}

#[test]
fn text_that_runs_from_right_to_left_is_set_so() {
    let id = |placed: &shaping::Placed| match placed.glyph {
        Glyph::Outline(_, id) => id,
        Glyph::Missing(character) => panic!("{character} is missing"),
    };
    let forward: Vec<_> = line("abc", Weight::Regular).0.iter().map(id).collect();
    // An override turns even Latin letters around.
    let mut backward: Vec<_> = line("\u{202e}abc", Weight::Regular).0.iter().map(id).collect();
    backward.retain(|id| forward.contains(id));
    assert_eq!(backward, forward.iter().rev().copied().collect::<Vec<_>>());
}
