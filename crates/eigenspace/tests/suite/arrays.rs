//! NumPy arrays as row sources. `tests/python` checks with numpy that they are read correctly; this
//! module checks blocks, skipping, and errors of broken files.

use std::path::{Path, PathBuf};

use eigenspace::FitOptions;
use eigenspace::io::source::{ReadOptions, RowSource, SourceError, Values, open};
use eigenspace::io::{Error, sink};
use ndarray::{Array2, Axis, concatenate};

use crate::support::Random;

fn bytes(header: &str, cells: &[f64]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(cells.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

/// Writes rows in either order.
fn write(path: &Path, rows: &Array2<f64>, by_column: bool) {
    let (n, d) = rows.dim();
    let order = if by_column { "True" } else { "False" };
    let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({n}, {d}), }}\n");
    let cells: Vec<f64> = if by_column { rows.t().iter().copied().collect() } else { rows.iter().copied().collect() };
    std::fs::write(path, bytes(&header, &cells)).unwrap();
}

fn source(path: &Path) -> Result<Box<dyn RowSource>, Error> {
    open(&[path], &ReadOptions::default())
}

fn read(mut source: Box<dyn RowSource>, rows: usize) -> Array2<f64> {
    let mut all = Array2::zeros((0, source.columns().count));
    while let Some(block) = source.next_block(rows).unwrap() {
        assert!(block.rows() >= 1 && block.rows() <= rows);
        all = concatenate(Axis(0), &[all.view(), block.values.to_f64().view()]).unwrap();
    }
    all
}

#[test]
fn blocks_of_any_length_are_the_same_rows_in_either_order() {
    let directory = tempfile::tempdir().unwrap();
    let rows = Random::new(1).matrix(23, 4);
    for by_column in [false, true] {
        let path = directory.path().join("x.npy");
        write(&path, &rows, by_column);
        for length in [1, 5, 23, 1000] {
            assert_eq!(read(source(&path).unwrap(), length), rows);
        }
        for skip in [0, 1, 7, 23, 40] {
            let mut skipping = source(&path).unwrap();
            assert_eq!(skipping.rows(), Some(23));
            assert_eq!(skipping.skip(skip).unwrap(), skip.min(23));
            assert_eq!(read(skipping, 6), rows.slice_axis(Axis(0), (skip.min(23) as usize..).into()));
        }
    }
}

#[test]
fn what_a_sink_writes_a_source_reads() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npy");
    let rows = Random::new(2).matrix(9, 3);
    let mut sink = sink::create(&path, &["a", "b", "c"].map(String::from), false).unwrap();
    for block in rows.axis_chunks_iter(Axis(0), 4) {
        sink.write(&Values::F64(block.to_owned()), None).unwrap();
    }
    assert!(!path.exists(), "nothing is there before it is whole");
    sink.finish().unwrap();
    assert_eq!(read(source(&path).unwrap(), 2), rows);
}

#[test]
fn a_fit_from_a_file_is_the_fit_of_its_rows() {
    let directory = tempfile::tempdir().unwrap();
    let rows = Random::new(3).matrix(700, 1100);
    let paths: Vec<PathBuf> = (0..3).map(|i| directory.path().join(format!("part{}.npy", 9 + i))).collect();
    for (path, part) in paths.iter().zip(rows.axis_chunks_iter(Axis(0), 250)) {
        write(path, &part.to_owned(), false);
    }
    let options = FitOptions::new().components(4);
    let pattern = directory.path().join("part*.npy");
    let model = options.fit_from(open(&[pattern], &ReadOptions::default()).unwrap()).unwrap();
    let mut stream = options.stream(1100).unwrap();
    stream.update(rows.view()).unwrap();
    assert_eq!(model, *stream.model().unwrap(), "files in natural order, part9 before part10");
}

#[test]
fn an_array_that_is_cut_short_while_it_is_read_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npy");
    let rows = Random::new(4).matrix(50, 4);
    for by_column in [false, true] {
        write(&path, &rows, by_column);
        let mut reading = source(&path).unwrap();
        reading.next_block(10).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(500).unwrap();
        let error = reading.next_block(10).unwrap_err();
        assert!(matches!(error, Error::Source { source: SourceError::Truncated { .. }, .. }), "{error:?}");
    }
}

/// A zip file with one array in it, stored as it is or compressed.
fn npz(array: &[u8], method: zip::CompressionMethod) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    archive.start_file("x.npy", options).unwrap();
    archive.write_all(array).unwrap();
    archive.finish().unwrap().into_inner()
}

#[test]
fn no_changed_byte_of_an_array_in_a_zip_file_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npz");
    let array = bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n", &[1.5; 6]);
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let whole = npz(&array, method);
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(read(source(&path).unwrap(), 2), Array2::from_elem((3, 2), 1.5));
        let member = whole.windows(5).position(|name| name == b"x.npy").unwrap() + 5;
        let directory = whole.windows(4).position(|mark| mark == b"PK\x01\x02").unwrap();
        for place in member..directory {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            std::fs::write(&path, changed).unwrap();
            for skip in [0, 1] {
                let outcome = source(&path).and_then(|mut source| {
                    source.skip(skip)?;
                    source.next_block(10)
                });
                match outcome {
                    Err(Error::Source { path: named, .. }) => assert_eq!(named, path),
                    other => panic!("byte {place}: {other:?}"),
                }
            }
        }
    }
    let mut changed = npz(&array, zip::CompressionMethod::Stored);
    let cell = changed.windows(8).rposition(|bytes| bytes == 1.5_f64.to_le_bytes()).unwrap();
    changed[cell] ^= 1;
    std::fs::write(&path, changed).unwrap();
    let Err(Error::Source { source, .. }) = source(&path).unwrap().next_block(10) else { panic!("it was read") };
    assert_eq!(source.to_string(), "not a valid npz file: the array `x`: Invalid checksum");
}

#[test]
fn an_array_does_not_go_on_behind_its_member() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npz");
    // The directory of the zip file follows, with more bytes than the missing row has.
    let array = bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }\n", &[1.5; 6]);
    std::fs::write(&path, npz(&array, zip::CompressionMethod::Stored)).unwrap();
    let refused = source(&path).err().unwrap();
    assert!(matches!(refused, Error::Source { source: SourceError::Truncated { .. }, .. }), "{refused:?}");
}

#[test]
fn no_broken_array_panics_or_allocates_what_it_does_not_hold() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npy");
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n";
    let whole = bytes(header, &[1.0; 6]);
    let attempt = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        source(&path).and_then(|mut source| source.next_block(10).map(|block| block.map(|block| block.rows())))
    };
    for length in 0..whole.len() {
        assert!(attempt(&whole[..length]).is_err(), "{length} bytes");
    }
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = attempt(&flipped);
    }
    for shape in [
        "()",
        "(6,)",
        "(-1, 2)",
        "(18446744073709551615, 2)",
        "(4294967296, 4294967296)",
        "(1, 9223372036854775807)",
        "(0, 9223372036854775807)",
        "(0, 2)",
        "(3, 0)",
        "(2, 3, 4, 5, 6)",
        "(3, 2.0)",
        "('a', 2)",
    ] {
        let forged = bytes(&header.replace("(3, 2)", shape), &[1.0; 6]);
        assert!(!matches!(attempt(&forged), Ok(Some(_))), "{shape}");
    }
    for kind in ["<c16", "|O", "<U5", "<M8[s]", "|S3", "<f16", "|V8", "<i3", "f"] {
        let forged = bytes(&header.replace("<f8", kind), &[1.0; 6]);
        assert!(attempt(&forged).is_err(), "{kind}");
    }
}
