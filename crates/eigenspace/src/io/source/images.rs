//! Reads a directory of images, or one image, as rows.
//!
//! ```text
//! faces/s1/1.pgm   faces/s1/2.pgm   …   faces/s40/10.pgm          row = image, label = `s1` … `s40`
//! ```
//!
//! Only the first image is inspected when the source is opened; the others are read later, in
//! blocks and in parallel. All must have the size of the first, unless they are resized.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::directory::Images;
use crate::io::source::image_file::{Shape, check_size, header};
use crate::io::source::{Columns, Notice, Origin, ReadOptions, RowBlock, RowSource, SourceError, Values};
use crate::model::metadata::ImageShape;

/// Images in order, and how many of them have been read.
struct ImageSource {
    path: Arc<PathBuf>,
    files: Vec<PathBuf>,
    names: Vec<String>,
    labels: Option<Vec<String>>,
    shape: Shape,
    columns: Columns,
    next: usize,
}

/// Opens an image, or a directory with images in it or in its subdirectories.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let (root, Images { files: inside, others }) = if path.is_dir() {
        (path, Images::below(path)?)
    } else {
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        (path.parent().unwrap_or(path), Images { files: vec![name], ..Images::default() })
    };
    let formats: Vec<&'static str> = others.keys().copied().collect();
    let files: Vec<PathBuf> = inside.iter().map(|file| root.join(file)).collect();
    let first = files.first().ok_or_else(|| match formats[..] {
        [] => at(path)(SourceError::NoFiles),
        _ => at(path)(SourceError::ImageFormat { format: formats.join(", ") }),
    })?;
    if let Some(size) = options.resize {
        check_size(size).map_err(at(path))?;
    }
    let shape = Shape { header: header(first)?, resize: options.resize, channels: if options.color { 3 } else { 1 } };
    let (width, height) = shape.size();
    let image = ImageShape::new(width, height, shape.channels).with_depth(shape.header.bits);
    let left_out = Notice::OtherImages { count: others.values().sum(), formats };
    let notices = if others.is_empty() { Vec::new() } else { vec![left_out] };
    let image_file = Some(first.clone());
    Ok(Box::new(ImageSource {
        path: Arc::new(path.to_owned()),
        names: inside.iter().map(|file| slashed(file)).collect(),
        labels: labels(path, &inside),
        files,
        shape,
        columns: Columns {
            image: Some(image),
            image_file,
            notices,
            ..Columns::unnamed(width * height * shape.channels)
        },
        next: 0,
    }))
}

/// The name of the directory of each image; `None` if all are directly in the given directory.
fn labels(given: &Path, inside: &[PathBuf]) -> Option<Vec<String>> {
    let parent = |file: &PathBuf| file.parent().and_then(Path::file_name).map(|name| name.to_owned());
    inside.iter().any(|file| parent(file).is_some()).then(|| {
        let own = given.file_name().unwrap_or(given.as_os_str());
        let label = |file| parent(file).unwrap_or_else(|| own.to_owned()).to_string_lossy().into_owned();
        inside.iter().map(label).collect()
    })
}

/// A relative path with slashes, on every system.
fn slashed(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl RowSource for ImageSource {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn rows(&self) -> Option<u64> {
        Some(self.files.len() as u64)
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        let (first, width) = (self.next, self.columns.count);
        let range = first..first.saturating_add(rows.max(1)).min(self.files.len());
        if range.is_empty() {
            return Ok(None);
        }
        let files = &self.files[range.clone()];
        let mut values = Array2::zeros((files.len(), width));
        let rows = values.axis_iter_mut(Axis(0)).into_par_iter().zip(files);
        // All are read before the first error, in order, is returned, so that it is always the same
        // one.
        let read: Vec<Result<(), Error>> =
            rows.map(|(row, file)| self.shape.read(file, row.into_slice().expect("new rows are contiguous"))).collect();
        read.into_iter().collect::<Result<(), Error>>()?;
        self.next = range.end;
        Ok(Some(RowBlock {
            values: Values::F64(values),
            weights: None,
            labels: self.labels.as_ref().map(|labels| labels[range.clone()].to_vec()),
            origin: Origin {
                path: Arc::clone(&self.path),
                first: first as u64,
                lines: None,
                names: Some(self.names[range].to_vec()),
            },
        }))
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let left = self.files.len() - self.next;
        let skipped = usize::try_from(rows).unwrap_or(usize::MAX).min(left);
        self.next += skipped;
        Ok(skipped as u64)
    }
}
