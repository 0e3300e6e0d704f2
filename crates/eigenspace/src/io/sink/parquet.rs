//! Writes rows as a Parquet file: a text column for the labels, and one column of numbers for each
//! name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::io::atomic::AtomicFile;
use crate::io::error::Error;
use crate::io::sink::RowSink;
use crate::linalg::Real;
use crate::rows::values::{Values, in_precision};

pub(super) struct ParquetSink {
    /// `None` until the first rows determine the width of the numbers.
    file: Option<AtomicFile>,
    writer: Option<ArrowWriter<AtomicFile>>,
    path: PathBuf,
    names: Vec<String>,
    labels: bool,
    narrow: bool,
}

impl ParquetSink {
    pub(super) fn new(file: AtomicFile, names: &[String], labels: bool, path: &Path) -> Self {
        Self { file: Some(file), writer: None, path: path.to_owned(), names: names.to_vec(), labels, narrow: false }
    }

    fn schema(&self) -> Arc<Schema> {
        let kind = if self.narrow { DataType::Float32 } else { DataType::Float64 };
        let label = self.labels.then(|| Field::new("label", DataType::Utf8, true));
        let columns = self.names.iter().map(|name| Field::new(name, kind.clone(), false));
        Arc::new(Schema::new(label.into_iter().chain(columns).collect::<Vec<_>>()))
    }

    fn failed(&self, error: ParquetError) -> Error {
        let source = match error {
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                Ok(source) => *source,
                Err(other) => std::io::Error::other(other),
            },
            other => std::io::Error::other(other),
        };
        Error::Io { action: "write", path: self.path.clone(), source }
    }

    fn begin(&mut self) -> Result<(), ParquetError> {
        if let Some(file) = self.file.take() {
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            self.writer = Some(ArrowWriter::try_new(file, self.schema(), Some(properties))?);
        }
        Ok(())
    }

    fn append(&mut self, rows: &Values, labels: Option<&[String]>) -> Result<(), ParquetError> {
        if self.file.is_some() {
            self.narrow = rows.is_f32();
        }
        self.begin()?;
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.names.len() + 1);
        if self.labels {
            let label = |i| labels.and_then(|labels: &[String]| labels.get(i)).map(String::as_str);
            columns.push(Arc::new(StringArray::from((0..rows.dim().0).map(label).collect::<Vec<_>>())));
        }
        for j in 0..rows.dim().1 {
            columns.push(in_precision!(rows, rows => {
                let cells = rows.column(j).into_iter().map(|x| x.widen());
                match self.narrow {
                    true => Arc::new(Float32Array::from_iter_values(cells.map(f32::narrow))) as ArrayRef,
                    false => Arc::new(Float64Array::from_iter_values(cells)),
                }
            }));
        }
        let batch = RecordBatch::try_new(self.schema(), columns)?;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(&batch))
    }
}

impl RowSink for ParquetSink {
    fn write(&mut self, rows: &Values, labels: Option<&[String]>) -> Result<(), Error> {
        self.append(rows, labels).map_err(|error| self.failed(error))
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.begin().map_err(|error| self.failed(error))?;
        match self.writer.take() {
            Some(writer) => writer.into_inner().map_err(|error| self.failed(error))?.commit(),
            None => Ok(()),
        }
    }
}
