//! Fitting a source of rows: the way from files to a model.

use crate::io::error::Error;
use crate::io::source::{Prefetch, RowSource};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::stream::options::FitOptions;

impl FitOptions {
    /// The model of all rows of a source. Reading and computing overlap; memory stays within three blocks and
    /// the engine's own. The model has the names of the columns and the shape of the images.
    ///
    /// ```
    /// use eigenspace::FitOptions;
    /// use eigenspace::io::source;
    ///
    /// let path = std::env::temp_dir().join(format!("eigenspace-fit-{}.csv", std::process::id()));
    /// std::fs::write(&path, "length,width\n4.0,2.0\n6.0,2.5\n9.0,4.5\n")?;
    /// let rows = source::open(&[&path], &source::ReadOptions::default())?;
    /// let model = FitOptions::new().components(1).fit_from(rows)?;
    /// assert_eq!((model.count(), model.features()), (3, 2));
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_from(&self, source: Box<dyn RowSource>) -> Result<EigenspaceModel, Error> {
        let blocks = Prefetch::new(source);
        let columns = blocks.columns().clone();
        let stream = self.stream(columns.count)?;
        let metadata = columns.metadata().with_standardize(stream.metadata().standardize());
        let mut stream = stream.with_metadata(metadata)?;
        for block in blocks {
            let block = block?;
            stream.update(block.as_block()).map_err(|error| block.origin.locate(error, &columns))?;
        }
        Ok(EigenspaceModel::clone(&*stream.model()?))
    }
}
