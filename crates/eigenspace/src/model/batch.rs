//! Batch PCA, by four methods.
//!
//! ```text
//! Svd          X − 1μᵀ = U diag(s) V                      one decomposition of n × D
//! Covariance   (X − 1μᵀ)ᵀ (X − 1μᵀ) = Vᵀ diag(s²) V        one eigenproblem of D × D
//! Gram         (X − 1μᵀ) (X − 1μᵀ)ᵀ = U diag(s²) Uᵀ        one eigenproblem of n × n, V = diag(1/s) Uᵀ (X − 1μᵀ)
//! Iterative    products with X − 1μᵀ alone                 the leading directions, see `iterative.rs`
//! ```
//!
//! The slides connect the first two: the right singular vectors of the centered rows are the
//! eigenvectors of their covariance. `Iterative` agrees with the others up to its tolerance, and
//! these agree up to rounding. They differ in cost, and in the smallest singular value they can
//! resolve (`Covariance`: √ε of the largest; `Iterative`: 1e-4; the others: ε).

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::model::bound::Bound;
use crate::model::decompose::{Route, reduce};
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::iterative::{Wanted, iterate};
use crate::model::moments::Moments;
use crate::model::scatter::{SCATTER_ROWS, Scatter};
use crate::model::truncation::{Components, Truncation};
use crate::rows::block::Block;

/// If a squared singular value is below this share of the largest, a scatter matrix is not accurate
/// enough.
const MIN_SCATTER_SHARE: f64 = 1e-8;
/// Sparse rows with at most this many cells are made dense if an iteration does not converge.
const MAX_DENSE_FIT_CELLS: usize = 1 << 27;
/// Rows with more features are not added to a scatter matrix in pieces.
const MAX_SCATTER_FEATURES: usize = 8192;
/// Dense rows with more cells are processed in pieces, if there are more rows than features.
const MAX_WHOLE_CELLS: usize = 1 << 26;
/// With more features, a decomposition costs more than a pass over the rows.
const MAX_NARROW_FEATURES: usize = 1024;

/// How batch PCA is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// `Iterative` if few directions of many rows and features are kept; otherwise `Gram` for fewer
    /// rows than features, `Covariance` for more rows, `Svd` if small singular values require it.
    #[default]
    Auto,
    /// The thin singular value decomposition of the centered rows.
    Svd,
    /// The eigenproblem of the D × D scatter.
    Covariance,
    /// The dual eigenproblem of the n × n Gram matrix, for fewer rows than features.
    Gram,
    /// Multiplies the rows by vectors until the leading directions converge, for far fewer
    /// directions than rows and features: the truncation must limit their number
    /// ([`Truncation::Rank`]). Sparse rows stay sparse. The error bounds hold with a stated
    /// [confidence](crate::Certificate::confidence).
    ///
    /// Rows are decomposed as with `Auto` without [`Truncation::Rank`], or if the directions are too
    /// many or too weak. So are dense and small sparse rows if the directions do not converge, and
    /// dense rows if features have very different scales.
    Iterative,
}

/// `auto`, `svd`, `covariance`, `gram` or `iterative`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Svd => "svd",
            Self::Covariance => "covariance",
            Self::Gram => "gram",
            Self::Iterative => "iterative",
        })
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Self::Auto),
            "svd" => Ok(Self::Svd),
            "covariance" => Ok(Self::Covariance),
            "gram" => Ok(Self::Gram),
            "iterative" => Ok(Self::Iterative),
            _ => {
                let words = "`auto`, `svd`, `covariance`, `gram` or `iterative`";
                Err(Error::unknown_word("method of batch PCA", text, words))
            }
        }
    }
}

impl EigenspaceModel {
    /// Batch PCA of all rows at once, keeping every direction.
    ///
    /// ```
    /// use eigenspace::EigenspaceModel;
    /// use ndarray::array;
    ///
    /// let model = EigenspaceModel::fit(array![[4.0, 900.0], [7.0, 1200.0], [10.0, 1500.0]].view())?;
    /// assert_eq!(model.rank(), 1);                       // the three points lie on a line
    /// assert_eq!(model.mean().to_vec(), [7.0, 1200.0]);
    /// # Ok::<(), eigenspace::Error>(())
    /// ```
    pub fn fit<'a>(rows: impl Into<Block<'a>>) -> Result<Self, Error> {
        Self::fit_with(rows, Method::Auto, Truncation::None)
    }

    /// Batch PCA by a given method, with a truncation rule.
    pub fn fit_with<'a>(rows: impl Into<Block<'a>>, method: Method, truncation: Truncation) -> Result<Self, Error> {
        let rows = rows.into();
        rows.check(rows.ncols())?;
        let truncation = truncation.check()?;
        let tall = rows.nrows() > rows.ncols();
        if let Some(model) = by_iteration(rows, method, truncation)? {
            return Ok(model);
        }
        match method {
            Method::Covariance => by_covariance(rows, truncation, false),
            Method::Auto | Method::Iterative if tall => by_covariance(rows, truncation, true),
            Method::Auto | Method::Iterative => by_factor(rows, Route::Auto, truncation),
            Method::Gram => by_factor(rows, Route::Products, truncation),
            Method::Svd => by_factor(rows, Route::Svd, truncation),
        }
    }
}

/// Whether [`Method::Auto`] computes so many directions iteratively.
pub fn is_iterative(rows: usize, features: usize, rank: usize, sparse: bool) -> bool {
    let wanted = Wanted { converged: rank, kept: rank };
    wanted.is_possible(rows, features) && (sparse || wanted.is_faster(rows, features))
}

/// Whether a caller that has to convert rows adds them in pieces to a stream with the scatter
/// engine instead of calling [`EigenspaceModel::fit_with`], which needs all of them converted:
/// sparse rows and large arrays, if there are more rows than features. The results differ in
/// rounding. `rank` is the number of directions to keep; `None` for all.
pub fn is_in_pieces(rows: usize, features: usize, rank: Option<usize>, sparse: bool) -> bool {
    let few = rank.is_some_and(|rank| is_iterative(rows, features, rank, sparse));
    let fits = (1..=MAX_SCATTER_FEATURES).contains(&features) && rows > features;
    fits && !few && (sparse || rows.saturating_mul(features) > MAX_WHOLE_CELLS)
}

/// Whether a caller that wants a few components first adds the rows to a stream with the factor
/// engine, which keeps them as they are until all directions are needed: few wide rows, whose
/// decomposition costs more than a pass over them.
pub fn is_held(rows: usize, features: usize, sparse: bool) -> bool {
    !sparse && features > MAX_NARROW_FEATURES && rows.saturating_mul(2) <= features
}

/// The model by products, if this is asked for or faster, and possible.
fn by_iteration(rows: Block<'_>, method: Method, truncation: Truncation) -> Result<Option<EigenspaceModel>, Error> {
    let Truncation::Rank(rank) = truncation else { return Ok(None) };
    let wanted = Wanted { converged: rank, kept: rank };
    let faster = is_iterative(rows.nrows(), rows.ncols(), rank, rows.sparse().is_some());
    if method == Method::Iterative || (method == Method::Auto && faster) {
        // Sparse rows cannot be decomposed otherwise, if they do not fit in memory when made dense.
        let direct = rows.sparse().is_none() || rows.nrows().saturating_mul(rows.ncols()) <= MAX_DENSE_FIT_CELLS;
        return iterate(rows, &Moments::empty(rows.ncols()), wanted, Components::All, direct);
    }
    Ok(None)
}

fn by_covariance(rows: Block<'_>, truncation: Truncation, doubt: bool) -> Result<EigenspaceModel, Error> {
    let mut scatter = Scatter::empty(Moments::empty(rows.ncols()));
    for (mut piece, weights) in rows.pieces(SCATTER_ROWS) {
        scatter.absorb(piece.view_mut(), weights.as_deref())?;
    }
    let model = scatter.model(truncation, Components::All, false);
    let possible = truncation.rank_limit().of(scatter.moments().rank_limit().min(rows.ncols()));
    let values = model.all_singular_values();
    let smallest = values.get(possible.wrapping_sub(1)).map_or(0.0, |s| s * s);
    if doubt && smallest < MIN_SCATTER_SHARE * values.first().map_or(0.0, |s| s * s) {
        return by_factor(rows, Route::Svd, truncation);
    }
    Ok(model)
}

fn by_factor(rows: Block<'_>, route: Route, truncation: Truncation) -> Result<EigenspaceModel, Error> {
    let (mut a, weights) = rows.widened();
    let before = Moments::empty(rows.ncols());
    let absorbed = before.absorb(a.view_mut(), weights.as_deref())?;
    let bound = Bound::exact(rows.ncols()).absorbed(&before, &absorbed);
    let reduced = reduce(a, route, truncation, absorbed.moments());
    Ok(EigenspaceModel::from_reduced(absorbed.into_moments(), reduced, bound, Components::All))
}
