//! The pending rows of a stream on a card, and where they come from.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::device_error::DeviceError;
use crate::error::Error;
use crate::linalg::{Card, Matrix, RowsOnCard};
use crate::rows::block::{self, Block};
use crate::rows::element::LARGEST_MAGNITUDE;
use crate::rows::missing::Missing;

/// The first pending rows, on the card.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) x: Option<Matrix>,
    pub(crate) rows: usize,
}

/// A copy of rows of another library, which are on the card.
pub(crate) fn downloaded(card: &dyn Card, rows: RowsOnCard) -> Result<Array2<f64>, Error> {
    let mut x = card.zeros(rows.rows, rows.columns)?;
    card.take_over(rows, &mut x)?;
    let mut copy = Array2::zeros((rows.rows, rows.columns));
    card.download(&x, copy.view_mut())?;
    Ok(copy)
}

impl Pending {
    /// Reserves memory for so many rows. If there was less, the rows in it must be sent again.
    pub(crate) fn make_room(&mut self, card: &dyn Card, rows: usize, columns: usize) -> Result<(), DeviceError> {
        if self.x.as_ref().is_none_or(|x| x.rows < rows || x.columns != columns) {
            *self = Self::default();
            self.x = Some(card.zeros(rows, columns)?);
        }
        Ok(())
    }

    /// Sends rows after those that were sent before.
    pub(crate) fn add(&mut self, card: &dyn Card, rows: ArrayView2<'_, f64>) -> Result<(), DeviceError> {
        let x = self.x.as_mut().expect("callers reserve memory first");
        card.upload(rows, x, self.rows)?;
        self.rows += rows.nrows();
        Ok(())
    }

    /// Copies the selected rows to the card and to memory with at least as many rows, and checks
    /// them on the way. If not `keep`, they are only on the card afterward, and the memory is
    /// undefined.
    pub(crate) fn fill(
        &mut self,
        card: &dyn Card,
        source: &Source<'_>,
        which: &[usize],
        mut to: ArrayViewMut2<'_, f64>,
        keep: bool,
    ) -> Result<(), Error> {
        if which.is_empty() {
            return Ok(());
        }
        let (columns, capacity) = (to.ncols(), to.nrows());
        let room = self.make_room(card, capacity, columns);
        let mut to = to.slice_axis_mut(Axis(0), Slice::from(..which.len()));
        match source {
            Source::Host(block) => block.made(which, |make| {
                let home = to.as_slice_mut().expect("rows of a buffer are contiguous");
                let x = self.x.as_mut();
                let made =
                    room.and_then(|()| card.upload_made(home, keep, make, x.expect("memory was reserved above"), 0));
                // If the card fails, the next compression sends the rows again and reports it.
                let good = match made {
                    Ok(good) => {
                        self.rows = which.len();
                        good
                    }
                    Err(_) if keep => make.write(home),
                    Err(error) => return Err(error.into()),
                };
                if !good && !keep {
                    make.write(home); // to name the cell
                }
                if good { Ok(()) } else { source.check(to.view(), which) }
            }),
            Source::Card(rows) => {
                room?;
                let x = self.x.as_mut().expect("memory was reserved above");
                card.take_over(rows.part(which), x)?;
                let good = card.within(x, which.len(), LARGEST_MAGNITUDE)?;
                if keep || !good {
                    card.download(x, to.view_mut())?;
                }
                self.rows = which.len();
                if good { Ok(()) } else { source.check(to.view(), which) }
            }
        }
    }
}

/// Where the rows of an update are.
pub(crate) enum Source<'a> {
    /// In the memory of the host.
    Host(Block<'a>),
    /// On the card.
    Card(RowsOnCard),
}

impl Source<'_> {
    /// The rows to use. Their values are checked where they are copied to, if every row is used.
    pub(crate) fn admit(&self, features: usize, missing: Missing) -> Result<Vec<usize>, Error> {
        match self {
            Self::Host(block) => block.admit_unchecked(features, missing).map(|(selected, _)| selected),
            Self::Card(rows) => Ok((0..rows.rows).collect()),
        }
    }

    /// Writes the selected rows, which were checked, to as many rows of the host.
    pub(crate) fn write(&self, card: &dyn Card, which: &[usize], mut to: ArrayViewMut2<'_, f64>) -> Result<(), Error> {
        match self {
            Self::Host(block) => block.write(which, to),
            Self::Card(rows) => to.assign(&downloaded(card, rows.part(which))?),
        }
        Ok(())
    }

    /// Whether rows that fill a block exactly are compressed at once, instead of together with the
    /// next row: keeping them would mean to download them.
    pub(crate) fn is_eager(&self) -> bool {
        matches!(self, Self::Card(_))
    }

    /// Whether all rows have weight 1.
    pub(crate) fn is_unweighted(&self, which: &[usize]) -> bool {
        which.iter().all(|&row| self.weight(row) == 1.0)
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        match self {
            Self::Host(block) => block.weight(row),
            Self::Card(_) => 1.0,
        }
    }

    /// Checks copied rows; the error names the cell as it was given.
    pub(crate) fn check(&self, copy: ArrayView2<'_, f64>, which: &[usize]) -> Result<(), Error> {
        let Err(error) = block::check(copy, copy.ncols()) else { return Ok(()) };
        match self {
            Self::Host(block) => block.check(copy.ncols()).and(Err(error)),
            Self::Card(_) => Err(error.counted_from(which.first().copied().unwrap_or(0))),
        }
    }
}
