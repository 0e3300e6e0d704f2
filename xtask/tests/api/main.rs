//! The public items of the library are those listed in `docs/API.txt`.
//!
//! The list is made from the source: every `pub` item that `lib.rs` leads to, with its public
//! fields, variants, methods and written-out trait implementations. Items marked `#[doc(hidden)]`
//! are left out. After a change on purpose, rewrite it with `EIGENSPACE_WRITE_API=1 cargo test -p
//! xtask --test api` and look at the difference.
#![allow(clippy::unwrap_used, missing_docs)]

mod crate_source;
mod listing;

use std::fs;
use std::path::Path;

use crate_source::CrateSource;

#[test]
fn the_public_items_are_those_on_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let found = listing::of(&CrateSource::read(&root.join("crates/eigenspace/src/lib.rs")));
    let path = root.join("docs/API.txt");
    if std::env::var_os("EIGENSPACE_WRITE_API").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let listed = fs::read_to_string(&path).unwrap();
    let missing = |from: &str, of: &str| -> Vec<String> {
        from.lines().filter(|line| !of.lines().any(|other| other == *line)).map(str::to_owned).collect()
    };
    assert!(
        listed == found,
        "docs/API.txt is out of date\nnot on the list: {:#?}\nno longer there: {:#?}",
        missing(&found, &listed),
        missing(&listed, &found)
    );
}
