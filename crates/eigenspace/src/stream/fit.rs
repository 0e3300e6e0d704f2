//! Creates streams and models from [`FitOptions`].

use crate::error::Error;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::truncation::Truncation;
use crate::rows::block::Block;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::options::FitOptions;
use crate::stream::plan::Engine;

impl FitOptions {
    /// An empty stream for rows with this number of features.
    pub fn stream(&self, features: usize) -> Result<EigenspaceStream, Error> {
        Ok(EigenspaceStream::new(self.clone(), self.plan(features)?, features))
    }

    /// A stream that continues from a model.
    pub fn resume(&self, model: &EigenspaceModel) -> Result<EigenspaceStream, Error> {
        if !model.is_empty() && model.is_centered() == self.about_origin {
            return Err(Error::CenteringDiffers);
        }
        Ok(EigenspaceStream::resume(self.clone(), self.plan(model.features())?, model))
    }

    /// An empty stream for this number of features and an expected number of rows. With at most five rows per feature,
    /// nothing is dropped, if no rank was set and the memory is sufficient.
    pub fn stream_of(&self, features: usize, rows: usize) -> Result<EigenspaceStream, Error> {
        let plan = self.plan(features)?;
        let unrestricted =
            self.max_rank.is_none() && self.truncation == Truncation::None && self.engine == Engine::Auto;
        let plan = if unrestricted && self.block_rows.is_none() { plan.for_known_rows(features, rows) } else { plan };
        Ok(EigenspaceStream::new(self.clone(), plan, features))
    }

    /// The model of these rows, computed by a stream.
    pub fn fit<'a>(&self, rows: impl Into<Block<'a>>) -> Result<EigenspaceModel, Error> {
        let block = rows.into();
        let dense = if block.sparse().is_some() { 0 } else { block.nrows() };
        let mut stream = self.stream_of(block.ncols(), dense)?;
        stream.update(block)?;
        Ok(EigenspaceModel::clone(&*stream.model()?))
    }
}
