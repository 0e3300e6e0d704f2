//! Writes results to files. A file appears complete or not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::DataFrame;
use eigenspace::EigenspaceModel;
use eigenspace::internal::AtomicFile;
use eigenspace_sql::{hold_models, readable};
use futures::StreamExt;

use crate::output::{Failure, message};

/// A writer of batches.
enum Writer {
    Csv(Box<csv::Writer<AtomicFile>>),
    Parquet(Box<ArrowWriter<AtomicFile>>),
}

impl Writer {
    fn new(path: &Path, schema: SchemaRef) -> Result<Self, Failure> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase()).unwrap_or_default();
        let file = || AtomicFile::create(path).map_err(|error| Failure::library(&error));
        if ending == "csv" {
            if let Some(&column) = hold_models(&schema).first() {
                let name = schema.field(column).name();
                let failure = Failure::new(format!("cannot write the models in column `{name}` to a CSV file"));
                return Err(failure.hint("write a .parquet file, or use --models DIR"));
            }
            return Ok(Self::Csv(Box::new(csv::Writer::new(file()?))));
        }
        if ending == "parquet" {
            let writer = ArrowWriter::try_new(file()?, schema, None).map_err(DataFusionError::from)?;
            return Ok(Self::Parquet(Box::new(writer)));
        }
        Err(Failure::new(format!("cannot infer the format of `{}` from its name", path.display()))
            .hint("use a name that ends in .csv or .parquet"))
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match self {
            Self::Csv(writer) => Ok(writer.write(&readable(batch, None)?).map_err(DataFusionError::from)?),
            Self::Parquet(writer) => Ok(writer.write(batch).map_err(DataFusionError::from)?),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        let file = match self {
            Self::Csv(writer) => writer.into_inner(),
            Self::Parquet(writer) => writer.into_inner().map_err(DataFusionError::from)?,
        };
        file.commit().map_err(|error| Failure::library(&error))
    }
}

/// Writes the result to a CSV or Parquet file.
pub(crate) async fn rows(frame: DataFrame, path: &Path) -> Result<(), Failure> {
    let schema: SchemaRef = frame.schema().inner().clone();
    let mut writer = Writer::new(path, schema.clone())?;
    let (mut stream, mut count) = (frame.execute_stream().await?, 0);
    // Writes the header even if there are no rows.
    writer.write(&RecordBatch::new_empty(schema))?;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        count += batch.num_rows();
        writer.write(&batch)?;
    }
    writer.finish()?;
    message(&format!("wrote {count} {} to {}", if count == 1 { "row" } else { "rows" }, path.display()));
    Ok(())
}

/// Writes every model of the result to a file in a directory.
pub(crate) async fn models(frame: DataFrame, directory: &Path) -> Result<(), Failure> {
    let schema: SchemaRef = frame.schema().inner().clone();
    if hold_models(&schema).is_empty() {
        return Err(Failure::new("the result has no column of models")
            .hint("select pca(…) or pca_merge(…), or leave out --models"));
    }
    let mut found: BTreeMap<PathBuf, EigenspaceModel> = BTreeMap::new();
    for batch in frame.collect().await? {
        for (name, bytes) in named(&batch)? {
            let model = EigenspaceModel::from_bytes(&bytes).map_err(|error| Failure::library(&error))?;
            let path = directory.join(format!("{name}.safetensors"));
            if found.insert(path.clone(), model).is_some() {
                return Err(Failure::new(format!("two rows would be written to `{}`", path.display()))
                    .hint("select the columns that tell the rows apart"));
            }
        }
    }
    let failed = |error| Failure::io(&format!("create the directory `{}`", directory.display()), &error);
    std::fs::create_dir_all(directory).map_err(failed)?;
    for (path, model) in &found {
        model.save(path).map_err(|error| Failure::library(&error))?;
        message(&format!("{}: {}", path.display(), eigenspace_sql::describe(model)));
    }
    Ok(())
}

/// The names and bytes of the models in a batch. A name is made of the other columns, and of the
/// name of the column if there are several columns of models, or no others.
fn named(batch: &RecordBatch) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let (schema, columns) = (batch.schema(), hold_models(&batch.schema()));
    let options = FormatOptions::default().with_null("null");
    let others: Vec<_> = (0..batch.num_columns())
        .filter(|index| !columns.contains(index) && !batch.column(*index).data_type().is_nested())
        .map(|index| ArrayFormatter::try_new(batch.column(index).as_ref(), &options))
        .collect::<Result<_, _>>()
        .map_err(DataFusionError::from)?;
    let mut named = Vec::new();
    for &column in &columns {
        let bytes = cast(batch.column(column), &DataType::LargeBinary).map_err(DataFusionError::from)?;
        let bytes = bytes.as_binary::<i64>();
        for row in (0..bytes.len()).filter(|&row| bytes.is_valid(row)) {
            let mut words: Vec<String> = others.iter().map(|other| other.value(row).to_string()).collect();
            if columns.len() > 1 || words.is_empty() {
                words.push(schema.field(column).name().clone());
            }
            named.push((file_name(&words.join("-")), bytes.value(row).to_vec()));
        }
    }
    Ok(named)
}

/// A name without characters that have a meaning in paths or shells.
fn file_name(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = text.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    if name.starts_with(['.', '-']) { format!("_{name}") } else { name }
}
