//! The same rows in every format.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, FixedSizeListArray, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use zip::write::SimpleFileOptions;

use crate::oracle::Rows;

/// Text with a row on each line.
pub(crate) fn lines(header: Option<&str>, rows: &Rows, separator: &str) -> String {
    let mut text = header.map_or_else(String::new, |header| format!("{}\n", header.replace(',', separator)));
    for row in rows {
        text += &row.iter().map(f64::to_string).collect::<Vec<_>>().join(separator);
        text += "\n";
    }
    text
}

/// CSV with a header.
pub(crate) fn csv(rows: &Rows) -> String {
    lines(Some(&names(rows[0].len()).join(",")), rows, ",")
}

/// a, b, c, …, z, a1, b1, …
fn names(count: usize) -> Vec<String> {
    let letters = ('a'..='z').map(String::from);
    letters.chain((1..).flat_map(|i| ('a'..='z').map(move |letter| format!("{letter}{i}")))).take(count).collect()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The header of an array file; `shape` as NumPy writes it.
pub(crate) fn npy_header(kind: &str, fortran: bool, shape: &str) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}

/// An array of `<f8`, `>f8`, `<f4` or `<i2`, rows first or columns first.
pub(crate) fn npy(rows: &Rows, kind: &str, fortran: bool) -> Vec<u8> {
    let (n, d) = (rows.len(), rows[0].len());
    let mut bytes = npy_header(kind, fortran, &format!("({n}, {d})"));
    for place in 0..n * d {
        let value = if fortran { rows[place % n][place / n] } else { rows[place / d][place % d] };
        match kind {
            "<f8" => bytes.extend(value.to_le_bytes()),
            ">f8" => bytes.extend(value.to_be_bytes()),
            "<f4" => bytes.extend((value as f32).to_le_bytes()),
            "<i2" => bytes.extend((value as i16).to_le_bytes()),
            other => unreachable!("{other}"),
        }
    }
    bytes
}

/// Arrays in a zip file.
pub(crate) fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A table as Arrow knows it, with labels in the column `kind`.
fn batch(rows: &Rows, labels: &[&str]) -> RecordBatch {
    let column = |j: usize| Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row[j]))) as ArrayRef;
    let mut columns: Vec<(String, ArrayRef)> =
        names(rows[0].len()).into_iter().enumerate().map(|(j, name)| (name, column(j))).collect();
    columns.push(("kind".into(), Arc::new(StringArray::from(labels.to_vec()))));
    RecordBatch::try_from_iter(columns).unwrap()
}

pub(crate) fn parquet(rows: &Rows, labels: &[&str]) -> Vec<u8> {
    let batch = batch(rows, labels);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// A Parquet file of ten rows with a list of two numbers in each column; equal names hold equal
/// lists.
pub(crate) fn lists(path: &std::path::Path, names: &[&str]) {
    let column = |name: &&str| {
        let seed = name.bytes().map(u64::from).sum();
        let rows = crate::oracle::table(10, 2, seed).into_iter().map(|row| Some(row.into_iter().map(Some)));
        let lists = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(rows, 2);
        ((*name).to_owned(), Arc::new(lists) as ArrayRef)
    };
    let batch = RecordBatch::try_from_iter(names.iter().map(column)).unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A Parquet file of three rows with a list of two numbers in the column `v`, of which one is
/// missing.
pub(crate) fn list_with_a_null() -> Vec<u8> {
    let rows = [Some(vec![Some(1.0), Some(2.0)]), None, Some(vec![Some(3.0), Some(5.0)])];
    let lists = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(rows, 2);
    let batch = RecordBatch::try_from_iter([("v", Arc::new(lists) as ArrayRef)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn arrow(rows: &Rows, labels: &[&str]) -> Vec<u8> {
    let batch = batch(rows, labels);
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// A gray image.
pub(crate) fn pgm(width: usize, height: usize, pixel: impl Fn(usize) -> u8) -> Vec<u8> {
    let mut bytes = format!("P5\n{width} {height}\n255\n").into_bytes();
    bytes.extend((0..width * height).map(pixel));
    bytes
}
