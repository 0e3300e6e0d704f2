//! Parquet, and Arrow IPC as file and as stream: each table is written in all of them and must read
//! the same.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, FixedSizeListBuilder, Float32Builder, Int32Builder, LargeListBuilder, ListBuilder,
    StringDictionaryBuilder, StringViewBuilder,
};
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int8Type};
use arrow_array::{
    ArrayRef, Decimal128Array, Float16Array, Float32Array, Float64Array, Int64Array, LargeStringArray, NullArray,
    RecordBatch, StringArray, UInt8Array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use eigenspace::io::source::ReadOptions;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::{bits, directory, is_narrow, list, names, read, read_after, refusal, rows_of};

const NAN: f64 = f64::NAN;

/// Writes a table in each format, in batches (and row groups) of a few rows.
pub(super) fn written(directory: &Path, table: &RecordBatch, rows: usize) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> =
        ["t.parquet", "t.arrow", "t.arrows", "packed.feather"].iter().map(|name| directory.join(name)).collect();
    let create = |path: &Path| File::create(path).unwrap();
    let schema = table.schema();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
    let mut parquet = ArrowWriter::try_new(create(&paths[0]), schema.clone(), Some(properties)).unwrap();
    let mut file = FileWriter::try_new(create(&paths[1]), &schema).unwrap();
    let mut stream = StreamWriter::try_new(create(&paths[2]), &schema).unwrap();
    let packed = IpcWriteOptions::default().try_with_compression(Some(arrow_ipc::CompressionType::ZSTD)).unwrap();
    let mut packed = FileWriter::try_new_with_options(create(&paths[3]), &schema, packed).unwrap();
    for start in (0..table.num_rows()).step_by(rows) {
        let part = table.slice(start, rows.min(table.num_rows() - start));
        parquet.write(&part).unwrap();
        file.write(&part).unwrap();
        stream.write(&part).unwrap();
        packed.write(&part).unwrap();
    }
    parquet.close().unwrap();
    file.finish().unwrap();
    stream.finish().unwrap();
    packed.finish().unwrap();
    paths
}

pub(super) fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn plain() -> ReadOptions {
    ReadOptions::default()
}

#[test]
fn numbers_of_every_type_are_read_and_nulls_are_nan() {
    let directory = directory();
    let half = |value: f32| <Float16Type as ArrowPrimitiveType>::Native::from_f32(value);
    let big = (1_i64 << 53) + 2;
    let table = table(vec![
        ("double", Arc::new(Float64Array::from(vec![Some(0.1), None, Some(1e300)]))),
        ("single", Arc::new(Float32Array::from(vec![Some(0.1), Some(f32::INFINITY), None]))),
        ("half", Arc::new(Float16Array::from(vec![half(0.5), half(-2.0), half(65504.0)]))),
        ("long", Arc::new(Int64Array::from(vec![Some(-1), Some(big), None]))),
        ("byte", Arc::new(UInt8Array::from(vec![0, 255, 7]))),
        ("flag", Arc::new(arrow_array::BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("money", Arc::new(Decimal128Array::from(vec![110, -7, 0]).with_precision_and_scale(20, 2).unwrap())),
        ("nothing", Arc::new(NullArray::new(3))),
    ]);
    for path in written(directory.path(), &table, 2) {
        let expected = rows_of(&[
            &[0.1, f64::from(0.1_f32), 0.5, -1.0, 0.0, 1.0, 1.1, NAN],
            &[NAN, f64::INFINITY, -2.0, big as f64, 255.0, NAN, -0.07, NAN],
            &[1e300, NAN, 65504.0, NAN, 7.0, 0.0, 0.0, NAN],
        ]);
        assert_eq!(read(&path, &plain()).rows, expected, "{}", path.display());
        assert!(!is_narrow(&path, &plain()));
        let narrow = plain().columns(list(&["half", "single"]));
        assert!(is_narrow(&path, &narrow), "16 and 32 bits stay 32 bits");
        let mixed = plain().columns(list(&["single", "byte"]));
        assert!(!is_narrow(&path, &mixed));
    }
}

#[test]
fn columns_labels_and_weights_are_chosen_as_in_text() {
    let directory = directory();
    let table = table(vec![
        ("id", Arc::new(StringArray::from(vec!["p", "q", "r"]))),
        ("a", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]))),
        ("b", Arc::new(Float64Array::from(vec![4.0, 5.0, 6.0]))),
        ("w", Arc::new(Float64Array::from(vec![Some(1.0), Some(0.5), None]))),
        ("c", Arc::new(Int64Array::from(vec![7, 8, 9]))),
    ]);
    for path in written(directory.path(), &table, 2) {
        let options = plain().label("id").weight("w");
        let all = read(&path, &options);
        assert_eq!(names(&path, &options), Some(list(&["a", "b", "c"])));
        assert_eq!(all.rows, rows_of(&[&[1.0, 4.0, 7.0], &[2.0, 5.0, 8.0], &[3.0, 6.0, 9.0]]));
        assert_eq!(all.labels, ["p", "q", "r"]);
        assert_eq!(all.weights, bits(&[1.0, 0.5, NAN]));
        let turned = plain().columns(list(&["4", "1-2"])).exclude(list(&["b"]));
        assert_eq!(read(&path, &turned).rows, rows_of(&[&[7.0, 1.0], &[8.0, 2.0], &[9.0, 3.0]]));
        assert_eq!(names(&path, &turned), Some(list(&["c", "a"])));
        assert_eq!(
            refusal(&path, &plain()),
            "the column `id` holds text (Utf8), expected numbers\nleave out the column `id`, or use it as the label"
        );
        let unknown = plain().columns(list(&["z"]));
        assert_eq!(refusal(&path, &unknown), "there is no column `z`\nthe columns are: `id`, `a`, `b`, `w`, `c`");
    }
}

#[test]
fn labels_may_be_texts_of_any_kind_integers_and_booleans() {
    let directory = directory();
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    let mut view = StringViewBuilder::new();
    let mut flag = BooleanBuilder::new();
    for text in [Some("cat"), None, Some("a dog with a long name"), Some("cat"), Some("")] {
        dictionary.append_option(text);
        view.append_option(text);
        flag.append_option(text.map(|text| text == "cat"));
    }
    let table = table(vec![
        ("x", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0, 5.0]))),
        ("dictionary", Arc::new(dictionary.finish())),
        ("view", Arc::new(view.finish())),
        ("large", Arc::new(LargeStringArray::from(vec![Some("a"), None, Some("b"), Some("c"), Some("d")]))),
        ("long", Arc::new(Int64Array::from(vec![Some(i64::MAX), None, Some(-3), Some(0), Some(1)]))),
        ("byte", Arc::new(UInt8Array::from(vec![1, 2, 3, 4, 255]))),
        ("single", Arc::new(Float32Array::from(vec![0.1, 2.0, 3.5, 4.0, 5.0]))),
        ("flag", Arc::new(flag.finish())),
    ]);
    let texts = ["cat", "", "a dog with a long name", "cat", ""];
    for path in written(directory.path(), &table, 2) {
        for (name, expected) in [
            ("dictionary", texts),
            ("view", texts),
            ("large", ["a", "", "b", "c", "d"]),
            ("long", ["9223372036854775807", "", "-3", "0", "1"]),
            ("byte", ["1", "2", "3", "4", "255"]),
            ("single", ["0.1", "2", "3.5", "4", "5"]),
            ("flag", ["true", "", "false", "true", "false"]),
        ] {
            let options = plain().columns(list(&["x"])).label(name);
            assert_eq!(read(&path, &options).labels, expected, "{name} in {}", path.display());
        }
    }
}

/// A table with three kinds of lists of two numbers, null in some rows.
fn lists(rows: &[Option<[f32; 2]>]) -> RecordBatch {
    let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 2);
    let mut small = ListBuilder::new(Float32Builder::new());
    let mut large = LargeListBuilder::new(Int32Builder::new());
    for row in rows {
        for value in row.map_or([None; 2], |row| row.map(Some)) {
            fixed.values().append_option(value);
        }
        fixed.append(row.is_some());
        small.append_option(row.map(|row| row.map(Some)));
        large.append_option(row.map(|row| row.map(|value| Some(value as i32))));
    }
    table(vec![
        ("fixed", Arc::new(fixed.finish())),
        ("plain", Arc::new(Float32Array::from_iter_values((0..rows.len()).map(|row| row as f32)))),
        ("small", Arc::new(small.finish())),
        ("large", Arc::new(large.finish())),
    ])
}

#[test]
fn lists_become_as_many_columns_as_they_are_long() {
    let directory = directory();
    let rows: Vec<Option<[f32; 2]>> =
        (0..40).map(|row| (row >= 20 && row != 31).then_some([row as f32, -(row as f32)])).collect();
    for path in written(directory.path(), &lists(&rows), 9) {
        let columns = ["fixed[0]", "fixed[1]", "plain", "small[0]", "small[1]", "large[0]", "large[1]"];
        assert_eq!(names(&path, &plain()), Some(list(&columns)));
        let expected: Vec<Vec<u64>> = (0_u8..40)
            .map(|row| {
                let value = if row >= 20 && row != 31 { f64::from(row) } else { NAN };
                bits(&[value, -value, f64::from(row), value, -value, value, -value])
            })
            .collect();
        assert_eq!(read(&path, &plain()).rows, expected, "{}", path.display());
        assert!(!is_narrow(&path, &plain()));
        let some = plain().columns(list(&["small", "plain", "0"]));
        assert_eq!(names(&path, &some), Some(list(&["small[0]", "small[1]", "plain", "fixed[0]", "fixed[1]"])));
        assert!(is_narrow(&path, &some));
    }
}

#[test]
fn lists_of_different_lengths_are_told_with_their_row() {
    let directory = directory();
    let mut ragged = ListBuilder::new(Float32Builder::new());
    for row in 0..8 {
        ragged.append_value((0..if row == 5 { 4 } else { 3 }).map(|value| Some(value as f32)));
    }
    let table = table(vec![("x", Arc::new(Float64Array::from(vec![0.0; 8]))), ("ragged", Arc::new(ragged.finish()))]);
    for path in written(directory.path(), &table, 3) {
        let expected =
            "row 5, column `ragged`: the list has 4 numbers, expected 3\nsave lists of the same length in all rows";
        assert_eq!(refusal(&path, &plain()), expected, "{}", path.display());
    }
}

#[test]
fn lists_without_any_number_are_refused() {
    let directory = directory();
    let mut empty = ListBuilder::new(Float32Builder::new());
    let mut texts = ListBuilder::new(arrow_array::builder::StringBuilder::new());
    for _ in 0..3 {
        empty.append_null();
        texts.append_value([Some("a")]);
    }
    let table = table(vec![("empty", Arc::new(empty.finish()) as ArrayRef), ("texts", Arc::new(texts.finish()))]);
    for path in written(directory.path(), &table, 2) {
        let only = |name: &str| plain().columns(list(&[name]));
        let told = refusal(&path, &only("empty"));
        assert!(told.starts_with("the column `empty` holds no lists with anything in them"), "{told}");
        let told = refusal(&path, &only("texts"));
        assert!(told.starts_with("the column `texts` holds lists of text"), "{told}");
        let told = refusal(&path, &only("texts").model_columns(list(&["texts"])));
        assert!(told.ends_with("\nsave the column as numbers; the model needs it"), "{told}");
    }
}

#[test]
fn lists_that_are_longer_than_a_row_may_be_are_refused() {
    let directory = directory();
    let mut long = FixedSizeListBuilder::new(Float32Builder::new(), (1 << 22) + 1);
    for path in written(directory.path(), &table(vec![("long", Arc::new(long.finish()))]), 1) {
        let expected = "it has 4194305 columns; the limit is 4194304\nleave out columns that the model does not need";
        assert_eq!(refusal(&path, &plain()), expected, "{}", path.display());
    }
}

#[test]
fn a_table_without_rows_has_columns_and_ends_at_once() {
    let directory = directory();
    let table = table(vec![("x", Arc::new(Float64Array::from(Vec::<f64>::new())))]);
    for path in written(directory.path(), &table, 2) {
        assert!(read(&path, &plain()).rows.is_empty());
        assert_eq!(names(&path, &plain()), Some(list(&["x"])));
    }
    for path in written(directory.path(), &lists(&[]), 2) {
        assert_eq!(refusal(&path, &plain()), "it has no rows");
    }
}

#[test]
fn blocks_do_not_depend_on_the_batches_of_the_file() {
    let directory = directory();
    let table = table(vec![("x", Arc::new(Float64Array::from_iter_values((0..100).map(f64::from))))]);
    for rows in [1, 7, 100] {
        for path in written(directory.path(), &table, rows) {
            let mut source = eigenspace::io::source::open(&[&path], &plain()).unwrap();
            let mut sizes = Vec::new();
            while let Some(block) = source.next_block(32).unwrap() {
                sizes.push(block.rows());
            }
            assert_eq!(sizes, [32, 32, 32, 4], "{}", path.display());
        }
    }
}

#[test]
fn skipping_and_reading_may_alternate_and_the_block_size_may_change() {
    let directory = directory();
    let table = table(vec![("x", Arc::new(Float64Array::from_iter_values((0..500).map(f64::from))))]);
    for path in written(directory.path(), &table, 37) {
        let mut source = eigenspace::io::source::open(&[&path], &plain()).unwrap();
        let mut next = 0;
        for (skip, rows) in [(0, 1), (3, 50), (100, 7), (0, 90), (36, 2), (74, 40)] {
            assert_eq!(source.skip(skip).unwrap(), skip);
            next += skip;
            let block = source.next_block(rows).unwrap().unwrap();
            assert_eq!((block.rows(), block.origin.first), (rows, next), "{}", path.display());
            let values = block.values.to_f64();
            assert!(values.iter().zip(next..).all(|(value, row)| *value == row as f64));
            next += rows as u64;
        }
        assert_eq!(source.skip(1000).unwrap(), 500 - next);
        assert!(source.next_block(1).unwrap().is_none());
    }
}

#[test]
fn files_of_different_formats_are_one_stream_if_their_columns_agree() {
    let directory = directory();
    let table = table(vec![
        ("x", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
        ("y", Arc::new(Float64Array::from(vec![3.0, 4.0]))),
    ]);
    let mut paths = written(directory.path(), &table, 2);
    let rows = eigenspace::io::source::open(&paths[..2], &plain()).unwrap().rows();
    assert_eq!(rows, Some(4), "Parquet and Arrow files know their rows");
    paths.push(directory.path().join("t.csv"));
    std::fs::write(&paths[4], "x,y\n1,3\n2,4\n").unwrap();
    let all = read_after(&paths, &plain(), 0, 1000).unwrap();
    let expected: Vec<&[f64]> = (0..10).map(|row| [&[1.0, 3.0][..], &[2.0, 4.0]][row % 2]).collect();
    assert_eq!(all.rows, rows_of(&expected));
    assert_eq!(read_after(&paths, &plain(), 5, 7).unwrap(), all.after(5));
}
