//! System fonts, for characters that the built-in typeface does not have.
//!
//! They are searched when such a character first occurs. A plot with only Latin, Greek or Cyrillic
//! letters looks the same on every machine.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use fontdb::{Database, ID, Style};
use rustybuzz::Face;
use ttf_parser::{GlyphId, OutlineBuilder};
use unicode_script::{Script, UnicodeScript};

use super::typeface::Weight;

/// A system font that has this character.
pub(super) fn font_for(character: char, weight: Weight) -> Option<&'static Face<'static>> {
    static SYSTEM: OnceLock<Mutex<Fonts>> = OnceLock::new();
    let load = || {
        let mut database = Database::new();
        database.load_system_fonts();
        Mutex::new(Fonts::new(database))
    };
    SYSTEM.get_or_init(load).lock().unwrap_or_else(PoisonError::into_inner).font_for(character, weight)
}

/// The fonts to install for characters that no font has.
pub(super) fn advice(characters: &[char]) -> String {
    let mut fonts: Vec<String> = characters.iter().map(|c| font_of(c.script())).collect();
    fonts.sort();
    fonts.dedup();
    fonts.join(", ")
}

fn font_of(script: Script) -> String {
    match script {
        Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo => {
            "Noto Sans CJK (package fonts-noto-cjk)".to_owned()
        }
        Script::Common | Script::Inherited | Script::Unknown => "Symbola (package fonts-symbola)".to_owned(),
        script => format!("Noto Sans {} (package fonts-noto-core)", script.full_name().replace('_', " ")),
    }
}

/// The system fonts, and a cache of the font for each character.
pub(super) struct Fonts {
    database: Database,
    found: BTreeMap<(char, bool), Option<ID>>,
    opened: Vec<(ID, Option<&'static Face<'static>>)>,
}

impl Fonts {
    pub(super) fn new(database: Database) -> Self {
        Self { database, found: BTreeMap::new(), opened: Vec::new() }
    }

    pub(super) fn font_for(&mut self, character: char, weight: Weight) -> Option<&'static Face<'static>> {
        let bold = weight == Weight::Bold;
        let id = match self.found.get(&(character, bold)) {
            Some(found) => *found,
            None => {
                let found = self.search(character, bold);
                self.found.insert((character, bold), found);
                found
            }
        };
        self.open(id?)
    }

    /// The best font with this character: upright, sans serif, of the wanted weight.
    fn search(&self, character: char, bold: bool) -> Option<ID> {
        let wanted = if bold { 700 } else { 400 };
        let mut faces: Vec<_> = self.database.faces().collect();
        faces.sort_by_key(|face| {
            let family = face.families.first().map_or("", |family| family.0.as_str());
            let opened = self.opened.iter().any(|(id, _)| *id == face.id);
            let upright = face.style == Style::Normal;
            (!upright, face.weight.0.abs_diff(wanted), !opened, !family.contains("Sans"), face.monospaced, family)
        });
        faces.iter().find(|face| self.draws(face.id, character)).map(|face| face.id)
    }

    /// Whether the font has an outline for it; color bitmap fonts have none.
    fn draws(&self, id: ID, character: char) -> bool {
        let draws = |data: &[u8], index: u32| {
            let face = ttf_parser::Face::parse(data, index).ok()?;
            let glyph: GlyphId = face.glyph_index(character)?;
            (character.is_whitespace() || face.outline_glyph(glyph, &mut Nowhere).is_some()).then_some(())
        };
        self.database.with_face_data(id, draws).flatten().is_some()
    }

    /// The font data, which stays in memory until the program ends.
    fn open(&mut self, id: ID) -> Option<&'static Face<'static>> {
        if let Some((_, face)) = self.opened.iter().find(|opened| opened.0 == id) {
            return *face;
        }
        let (bytes, index) = self.database.with_face_data(id, |data, index| (data.to_vec(), index))?;
        let face = Face::from_slice(Box::leak(bytes.into_boxed_slice()), index);
        let face = face.map(|face| &*Box::leak(Box::new(face)));
        self.opened.push((id, face));
        face
    }
}

/// Ignores an outline.
struct Nowhere;

impl OutlineBuilder for Nowhere {
    fn move_to(&mut self, _: f32, _: f32) {}
    fn line_to(&mut self, _: f32, _: f32) {}
    fn quad_to(&mut self, _: f32, _: f32, _: f32, _: f32) {}
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {}
    fn close(&mut self) {}
}
