//! A model loaded from a file, standardized if its note says so.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use eigenspace::faces::Pixels;
use eigenspace::io::source::{RowBlock, Values};
use eigenspace::{Components, EigenspaceModel, Error, Limits, Readings, Scaled};
use ndarray::{Array2, ArrayView1, Axis};

use crate::args::MissingName;
use crate::failure::Failure;
use crate::note::Note;
use crate::{memory, warn};

/// A raw model, and its standardized view if the note asks for one.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) raw: EigenspaceModel,
    pub(crate) note: Note,
    scaled: Option<Scaled>,
}

impl Opened {
    pub(crate) fn load(path: &Path) -> anyhow::Result<Self> {
        Self::load_with(path, None)
    }

    /// Loads a model and, if `components` is given, overrides the number of components that the file reports.
    pub(crate) fn load_with(path: &Path, components: Option<Components>) -> anyhow::Result<Self> {
        memory::for_model(path)?;
        let (mut raw, text) = EigenspaceModel::load_with_note(path)?;
        if let Some(components) = components {
            raw = raw.with_components(components)?;
        }
        let note = Note::from_text(&text, raw.features());
        let opened = Self::new(path, raw, note)?;
        if components.is_some() {
            warn::of_fewer_components(opened.model());
        }
        Ok(opened)
    }

    pub(crate) fn new(path: &Path, raw: EigenspaceModel, note: Note) -> anyhow::Result<Self> {
        let scaled = if note.standardize && !raw.is_empty() { Some(raw.standardize()?) } else { None };
        Ok(Self { path: path.to_owned(), raw, note, scaled })
    }

    /// Rejects another model whose columns have other names or another order, or whose images have other values.
    pub(crate) fn same_columns(&self, other: &Self) -> anyhow::Result<()> {
        if let (Some(left_bits), Some(right_bits)) = (self.bits(), other.bits())
            && left_bits != right_bits
        {
            let (left, right) = (self.path.clone(), other.path.clone());
            return Err(Failure::OtherDepth { left, right, left_bits, right_bits }.into());
        }
        let (Some(left), Some(right)) = (&self.note.names, &other.note.names) else { return Ok(()) };
        match left.iter().zip(right).find(|(left, right)| left != right) {
            Some((left_name, right_name)) if left.len() == right.len() => Err(Failure::OtherColumns {
                left: self.path.clone(),
                right: other.path.clone(),
                left_name: format!("`{left_name}`"),
                right_name: format!("`{right_name}`"),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// The bits per value of the images that the model was fitted on.
    fn bits(&self) -> Option<u8> {
        self.note.picture.and_then(|picture| picture.bits)
    }

    /// The model to report: the standardized view if there is one, the raw model otherwise.
    pub(crate) fn model(&self) -> &EigenspaceModel {
        self.scaled.as_ref().map_or(&self.raw, Scaled::model)
    }

    /// Rows as the model expects them: a recognizer may transform the pixels of each image first.
    pub(crate) fn preprocessed<'a>(&self, rows: &'a Values) -> Cow<'a, Values> {
        match self.note.pixels {
            Pixels::Raw => Cow::Borrowed(rows),
            pixels => Cow::Owned(Values::F64(pixels.apply(rows.to_f64()))),
        }
    }

    /// The scores of rows.
    pub(crate) fn project(&self, rows: &Values, whiten: bool) -> Result<Values, Error> {
        Ok(match (&*self.preprocessed(rows), &self.scaled) {
            (rows, Some(scaled)) if whiten => Values::F64(scaled.model().whiten(self.scale(rows).view())?),
            (Values::F32(rows), Some(scaled)) => Values::F32(scaled.project(rows.view())?),
            (Values::F64(rows), Some(scaled)) => Values::F64(scaled.project(rows.view())?),
            (Values::F32(rows), None) if whiten => Values::F32(self.raw.whiten(rows.view())?),
            (Values::F64(rows), None) if whiten => Values::F64(self.raw.whiten(rows.view())?),
            (Values::F32(rows), None) => Values::F32(self.raw.project(rows.view())?),
            (Values::F64(rows), None) => Values::F64(self.raw.project(rows.view())?),
        })
    }

    /// The rows reconstructed from scores.
    pub(crate) fn reconstruct(&self, scores: &Values, whitened: bool) -> Result<Values, Error> {
        if whitened {
            let mut rows = self.model().reconstruct_whitened(scores.to_f64().view())?;
            if let Some(scaled) = &self.scaled {
                rows /= &scaled.scales();
            }
            return Ok(Values::F64(rows));
        }
        Ok(match (scores, &self.scaled) {
            (Values::F32(rows), Some(scaled)) => Values::F32(scaled.reconstruct(rows.view())?),
            (Values::F64(rows), Some(scaled)) => Values::F64(scaled.reconstruct(rows.view())?),
            (Values::F32(rows), None) => Values::F32(self.raw.reconstruct(rows.view())?),
            (Values::F64(rows), None) => Values::F64(self.raw.reconstruct(rows.view())?),
        })
    }

    /// T² and Q of rows, compared with limits.
    pub(crate) fn monitor(&self, rows: &Values, limits: Limits) -> Result<Readings, Error> {
        self.model().monitor(self.scale(&self.preprocessed(rows)).view(), limits)
    }

    /// Rows in the units of the reported model.
    fn scale(&self, rows: &Values) -> Array2<f64> {
        let mut rows = rows.to_f64();
        if let Some(scaled) = &self.scaled {
            // A row of another width is rejected by the caller.
            for mut row in rows.rows_mut() {
                row.iter_mut().zip(scaled.scales()).for_each(|(x, scale)| *x *= scale);
            }
        }
        rows
    }

    /// A block without missing cells, or unchanged if the policy is to refuse them.
    pub(crate) fn complete<'a>(&self, block: &'a RowBlock, policy: MissingName) -> Result<Cow<'a, RowBlock>, Error> {
        if policy == MissingName::Refuse {
            return Ok(Cow::Borrowed(block));
        }
        let mut rows = block.values.to_f64();
        let is_incomplete = |row: ArrayView1<'_, f64>| row.iter().any(|x| x.is_nan());
        if !rows.rows().into_iter().any(is_incomplete) {
            return Ok(Cow::Borrowed(block));
        }
        let mut block = block.clone();
        if policy == MissingName::Impute {
            self.raw.fill_missing(rows.view_mut())?;
        } else {
            let whole: Vec<usize> = (0..rows.nrows()).filter(|&i| !is_incomplete(rows.row(i))).collect();
            rows = rows.select(Axis(0), &whole);
            let kept = |list: Option<Vec<String>>| list.map(|list| whole.iter().map(|&i| list[i].clone()).collect());
            block.labels = kept(block.labels);
            block.origin.names = kept(block.origin.names);
            block.origin.lines = block.origin.lines.map(|lines| whole.iter().map(|&i| lines[i]).collect());
        }
        block.values = Values::F64(rows);
        Ok(Cow::Owned(block))
    }

    /// The same model with another number of components.
    pub(crate) fn with_components(&self, components: usize) -> anyhow::Result<Self> {
        Self::new(&self.path, self.raw.with_components(components)?, self.note.clone())
    }
}
