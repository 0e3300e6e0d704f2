//! The accumulator: the state of a fit that travels. Rows stay where they are; their accumulators
//! are merged.
//!
//! ```text
//! n = n₁ + n₂        S = S₁ + S₂ + (n₁ n₂ / n) (μ₁ − μ₂)(μ₁ − μ₂)ᵀ
//! ```
//!
//! | features | what is kept | merging |
//! |---|---|---|
//! | up to 1,024 | count, mean and the D × D scatter S | an addition, without an eigenproblem; nothing is ever dropped |
//! | more | a factor of at most `max_rank` rows, with its error bound | a compression of both factors |
//!
//! An accumulator is a stream that can also be merged (`merge.rs`) and does not know the number of
//! features before the first row. Until there are enough rows to fill the buffer of the stream, the
//! state is the rows themselves, so a small partition has a small state.
//!
//! The rows of each accumulator, and the tree in which accumulators are merged, determine the
//! result to the last bit. How rows were divided into blocks does not matter, nor does the number
//! of threads, nor where a state went through bytes. Other trees give results that differ by
//! rounding, and by which directions are dropped; the certificate covers both. Options whose result
//! depends on the order of all rows are refused.

use crate::error::Error;
use crate::linalg;
use crate::linalg::Device;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::metadata::Metadata;
use crate::rows::block::Block;
use crate::rows::missing::Missing;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::forgetting::Forgetting;
use crate::stream::memory;
use crate::stream::options::FitOptions;

/// The mergeable state of a fit: absorb the rows of each partition where they are, move the
/// accumulators as bytes, merge them, and finish.
///
/// ```
/// use eigenspace::{Accumulator, FitOptions};
/// use ndarray::{Array2, Axis};
///
/// let rows = Array2::from_shape_fn((1000, 20), |(i, j)| ((i * (j + 3)) % 17) as f64);
/// let options = FitOptions::new().components(5);
/// let mut whole = options.accumulator()?;
/// for (number, partition) in rows.axis_chunks_iter(Axis(0), 300).enumerate() {
///     let mut part = options.accumulator()?.with_partition(format!("part-{number}"));
///     part.absorb(partition)?;                                   // on one machine
///     whole.merge(&Accumulator::from_bytes(&part.to_bytes())?)?; // on another
/// }
/// let model = whole.finish()?;
/// assert_eq!((model.count(), model.n_components()), (1000, 5));
/// assert!(model.certificate().is_exact());
/// # Ok::<(), eigenspace::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Accumulator {
    pub(crate) options: FitOptions,
    pub(crate) metadata: Metadata,
    /// `None` before the first row.
    pub(crate) stream: Option<EigenspaceStream>,
    /// The name of the partition, for messages.
    partition: Option<String>,
    /// Number of rows passed to `absorb`, including those that were left out.
    passed: usize,
}

impl FitOptions {
    /// An empty accumulator. Forgetting and [`Missing::Impute`] are refused, because their results
    /// depend on the order of all rows. Accumulators compute on the CPU, whatever the device, so
    /// that all of them have the same plan.
    pub fn accumulator(&self) -> Result<Accumulator, Error> {
        let options = self.clone().device(Device::Cpu);
        options.plan(1)?;
        if self.forgetting != Forgetting::Never {
            return Err(Error::OrderMatters { what: "forgetting" });
        }
        if self.missing == Missing::Impute {
            return Err(Error::OrderMatters { what: "imputed cells" });
        }
        let metadata = Metadata::new().with_standardize(self.standardize);
        Ok(Accumulator { options, metadata, stream: None, partition: None, passed: 0 })
    }
}

impl Accumulator {
    /// The same accumulator for the partition with this name, which is part of the errors of
    /// [`absorb`](Self::absorb). It is not part of the state: merging and bytes do not keep it.
    pub fn with_partition(self, name: impl Into<String>) -> Self {
        Self { partition: Some(name.into()), ..self }
    }

    /// The same accumulator with other metadata, such as the names of the features. Every finished
    /// model has it.
    pub fn with_metadata(self, metadata: Metadata) -> Result<Self, Error> {
        self.features().map_or(Ok(()), |features| metadata.check(features))?;
        Ok(Self { metadata, ..self })
    }

    /// Absorbs a block with any number of rows. A block with an invalid cell is rejected as a
    /// whole; the error names the partition, if it has a name, and counts rows from the first one
    /// that this accumulator has absorbed.
    pub fn absorb<'a>(&mut self, rows: impl Into<Block<'a>>) -> Result<(), Error> {
        self.absorb_by(rows.into(), |stream, block| stream.update(block))
    }

    /// Like [`absorb`](Self::absorb), but fails without changing the accumulator if this could
    /// allocate more than `max_bytes`.
    pub fn try_absorb<'a>(&mut self, rows: impl Into<Block<'a>>, max_bytes: u64) -> Result<(), Error> {
        self.absorb_by(rows.into(), |stream, block| stream.try_update(block, max_bytes))
    }

    fn absorb_by(
        &mut self,
        block: Block<'_>,
        update: impl FnOnce(&mut EigenspaceStream, Block<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // An empty partition may have any number of columns.
        if block.nrows() == 0 {
            return Ok(());
        }
        let absorbed = match &mut self.stream {
            Some(stream) => update(stream, block),
            None => self.options.stream(block.ncols()).and_then(|mut stream| {
                self.metadata.check(block.ncols())?;
                update(&mut stream, block)?;
                // The number of features is known from the first row that counts.
                self.stream = (stream.count() > 0).then_some(stream);
                Ok(())
            }),
        };
        absorbed.map_err(|error| error.counted_from(self.passed).in_partition(self.partition.as_deref()))?;
        self.passed = self.passed.saturating_add(block.nrows());
        Ok(())
    }

    /// The name of the partition, if it has one.
    pub fn partition(&self) -> Option<&str> {
        self.partition.as_deref()
    }

    /// Adds the rows of another accumulator with the same options. If `other` is empty, nothing
    /// changes; if `self` is empty, it becomes a copy of `other`.
    ///
    /// Commutative and associative up to rounding and, with more than 1,024 features, up to which
    /// directions are dropped. If the two do not fit together, neither changes. The result has
    /// the metadata that both share.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let Some(theirs) = &other.stream else { return Ok(()) };
        let Some(own) = &mut self.stream else {
            let (options, metadata, stream) = (other.options.clone(), other.metadata.clone(), other.stream.clone());
            (self.options, self.metadata, self.stream) = (options, metadata, stream);
            return Ok(());
        };
        let same_features = match (own.features(), theirs.features()) {
            (left, right) if left != right => Err(Error::FeatureMismatch { left, right }),
            _ => self.metadata.check_feature_names(other.metadata.feature_names().unwrap_or_default()),
        };
        same_features
            .map_err(|error| error.between_partitions(self.partition.as_deref(), other.partition.as_deref()))?;
        self.options.check_same(&other.options)?;
        linalg::inside(|| own.merge_stream(theirs))?;
        self.metadata = self.metadata.shared_with(&other.metadata);
        Ok(())
    }

    /// The model of all rows so far. The accumulator can absorb and merge more rows afterward.
    pub fn finish(&self) -> Result<EigenspaceModel, Error> {
        let model = self.stream()?.model()?;
        EigenspaceModel::clone(&model).with_metadata(self.metadata.clone())
    }

    /// Like [`finish`](Self::finish), but fails if this could allocate more than `max_bytes`.
    pub fn try_finish(&self, max_bytes: u64) -> Result<EigenspaceModel, Error> {
        let model = self.stream()?.try_model(max_bytes)?;
        EigenspaceModel::clone(&model).with_metadata(self.metadata.clone())
    }

    /// Cells that the accumulator holds.
    #[doc(hidden)]
    pub fn cells(&self) -> usize {
        self.stream.as_ref().map_or(0, EigenspaceStream::cells)
    }

    /// Upper bound on the number of cells that absorbing these rows allocates.
    #[doc(hidden)]
    pub fn cells_to_absorb(&self, rows: &Block<'_>) -> usize {
        match &self.stream {
            Some(stream) => stream.cells_to_update(rows),
            // Invalid options or rows are reported when the rows are absorbed.
            None => self.options.stream(rows.ncols()).map_or(0, |stream| stream.cells_to_update(rows)),
        }
    }

    /// Upper bound on the number of cells that merging allocates.
    #[doc(hidden)]
    pub fn cells_to_merge(&self, other: &Self) -> usize {
        let features = self.features().unwrap_or(0);
        let held = self.cells().saturating_add(other.cells()).saturating_mul(2);
        held.saturating_add(memory::convert_dense(usize::MAX, features))
    }

    /// Upper bound on the number of cells that finishing allocates.
    #[doc(hidden)]
    pub fn cells_to_finish(&self) -> usize {
        self.stream.as_ref().map_or(0, EigenspaceStream::cells_to_read)
    }

    fn stream(&self) -> Result<&EigenspaceStream, Error> {
        self.stream.as_ref().ok_or(Error::NothingAbsorbed)
    }

    /// Number of rows absorbed, n.
    pub fn count(&self) -> u64 {
        self.stream.as_ref().map_or(0, EigenspaceStream::count)
    }

    /// Whether no row was absorbed.
    pub fn is_empty(&self) -> bool {
        self.stream.is_none()
    }

    /// Number of features, D; `None` before the first row.
    pub fn features(&self) -> Option<usize> {
        self.stream.as_ref().map(EigenspaceStream::features)
    }

    /// The options with which the accumulator was made.
    pub fn options(&self) -> &FitOptions {
        &self.options
    }

    /// What is known about the rows besides their values.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}
