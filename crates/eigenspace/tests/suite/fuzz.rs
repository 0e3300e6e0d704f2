//! The seeds of the fuzz targets: good files, and cases that once made a reader fail, read again by
//! the same functions.

use std::path::Path;

#[path = "../../../../fuzz/readers.rs"]
mod readers;

#[test]
fn no_kept_case_makes_a_reader_fail() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut read = 0;
    for (name, reader) in readers::ALL {
        let Ok(directory) = std::fs::read_dir(seeds.join(name)) else { continue };
        for entry in directory {
            reader(&std::fs::read(entry.unwrap().path()).unwrap());
            read += 1;
        }
    }
    assert!(read > 50, "the seeds are there");
}

#[test]
fn good_files_of_this_version_are_read_and_no_changed_byte_makes_their_readers_fail() {
    for (name, reader) in readers::ALL {
        for bytes in readers::made(name) {
            reader(&bytes);
            for place in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[place] ^= 1 << (place % 8);
                reader(&changed);
            }
        }
    }
    use eigenspace::faces::Recognizer;
    use eigenspace::{Accumulator, EigenspaceModel, EigenspaceStream};
    assert!(readers::made("accumulator").iter().all(|bytes| Accumulator::from_bytes(bytes).is_ok()));
    assert!(readers::made("model").iter().all(|bytes| EigenspaceModel::from_bytes(bytes).is_ok()));
    assert!(readers::made("recognizer").iter().all(|bytes| Recognizer::from_bytes(bytes).is_ok()));
    for (bytes, options) in readers::made("checkpoint").iter().zip(readers::checkpoint_options()) {
        assert!(EigenspaceStream::restore(bytes, &options).is_ok());
    }
}
