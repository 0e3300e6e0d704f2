//! The built-in typeface.

use std::sync::OnceLock;

/// Regular for nearly everything, bold for titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// The built-in typeface, parsed once for shaping and for outlines.
pub(super) fn built_in(weight: Weight) -> &'static rustybuzz::Face<'static> {
    static FACES: OnceLock<[rustybuzz::Face<'static>; 2]> = OnceLock::new();
    let parsed = |bytes| rustybuzz::Face::from_slice(bytes, 0).expect("the built-in typeface is a valid font");
    let faces = FACES.get_or_init(|| [notosans::REGULAR_TTF, notosans::BOLD_TTF].map(parsed));
    &faces[usize::from(weight == Weight::Bold)]
}
