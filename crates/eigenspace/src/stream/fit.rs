//! Creates streams and models from [`FitOptions`].

use crate::error::Error;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::iterative::{Wanted, iterate};
use crate::model::truncation::{Components, Truncation};
use crate::rows::block::Block;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::options::FitOptions;
use crate::stream::plan::{Engine, spare_rank};

impl FitOptions {
    /// An empty stream for rows with this number of features.
    pub fn stream(&self, features: usize) -> Result<EigenspaceStream, Error> {
        Ok(EigenspaceStream::new(self.clone(), self.plan(features)?, features).on(self.device.open(features)?))
    }

    /// A stream that continues from a model.
    pub fn resume(&self, model: &EigenspaceModel) -> Result<EigenspaceStream, Error> {
        if !model.is_empty() && model.is_centered() == self.about_origin {
            return Err(Error::CenteringDiffers);
        }
        let card = self.device.open(model.features())?;
        Ok(EigenspaceStream::resume(self.clone(), self.plan(model.features())?, model).on(card))
    }

    /// An empty stream for this number of features and an expected number of rows. With at most
    /// five rows per feature, nothing is dropped, if no rank was set and the memory is sufficient.
    pub fn stream_of(&self, features: usize, rows: usize) -> Result<EigenspaceStream, Error> {
        let plan = self.plan(features)?;
        let unrestricted =
            self.max_rank.is_none() && self.truncation == Truncation::None && self.engine == Engine::Auto;
        let plan = if unrestricted && self.block_rows.is_none() { plan.for_known_rows(features, rows) } else { plan };
        Ok(EigenspaceStream::new(self.clone(), plan, features).on(self.device.open(features)?))
    }

    /// The model of these rows. It is computed by a stream, or iteratively
    /// ([`Method::Iterative`](crate::Method::Iterative)) if that is faster or, for sparse rows,
    /// more accurate. Iterative fits require a number of components that is much smaller than the
    /// numbers of rows and features, and no other options except `centered` and `weight_kind`.
    pub fn fit<'a>(&self, rows: impl Into<Block<'a>>) -> Result<EigenspaceModel, Error> {
        let block = rows.into();
        let sparse = block.sparse().is_some();
        if let Some(wanted) = self.wanted(block.nrows(), block.ncols(), sparse)? {
            block.check(block.ncols())?;
            if let Some(model) = iterate(block, &self.nothing(block.ncols()), wanted, self.components, !sparse)? {
                return Ok(model);
            }
        }
        let dense = if block.sparse().is_some() { 0 } else { block.nrows() };
        let mut stream = self.stream_of(block.ncols(), dense)?;
        stream.update(block)?;
        Ok(EigenspaceModel::clone(&*stream.model()?))
    }

    /// Whether [`fit`](Self::fit) computes the model of this many rows iteratively.
    #[doc(hidden)]
    pub fn iterates(&self, rows: usize, features: usize, sparse: bool) -> Result<bool, Error> {
        Ok(self.wanted(rows, features, sparse)?.is_some())
    }

    /// What an iterative fit has to find, if it is possible and better than a stream.
    fn wanted(&self, rows: usize, features: usize, sparse: bool) -> Result<Option<Wanted>, Error> {
        let plan = self.plan(features)?;
        let Components::Number(converged) = self.components else { return Ok(None) };
        let Self { components, about_origin, weight_kind, .. } = self.clone();
        let plain = *self == Self { components, about_origin, weight_kind, ..Self::default() };
        let wanted = Wanted { converged, kept: spare_rank(converged) };
        let better = if sparse { rows > plan.exact_rows } else { wanted.is_faster(rows, features) };
        let drops = plan.engine == Engine::Factor;
        Ok((plain && drops && better && wanted.is_possible(rows, features)).then_some(wanted))
    }
}
