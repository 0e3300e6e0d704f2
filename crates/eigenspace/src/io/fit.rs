//! Fits a model to a source of rows, such as files.

use crate::io::error::Error;
use crate::io::source::{Prefetch, RowSource};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::stream::options::FitOptions;

impl FitOptions {
    /// The model of all rows of a source. The next block is read while the last one is computed, so
    /// memory holds at most three blocks and the state of the stream. The model has the column
    /// names and the image shape of the source.
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
