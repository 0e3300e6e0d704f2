//! Chooses the engine, the number of rows per block and the rank of a stream.
//!
//! ```text
//! D ≤ 1024        scatter engine: the D × D matrix M       D² operations per row
//! otherwise       factor engine: F and a buffer of rows    about (4r + m + 2r²/m) D per row, m rows at a time
//! ```
//!
//! The cost of the factor engine per row is smallest near m = r. With fewer rows, the r kept
//! directions are rotated too often; with more rows, the eigenproblem, which costs (r + m)³,
//! becomes too large.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::model::scatter::SCATTER_ROWS;
use crate::model::truncation::{Components, Rank, Truncation};

/// Up to this number of features, the scatter engine is the default.
const SCATTER_FEATURES: usize = 1024;
/// Largest number of features for the scatter engine: its two matrices take 16 GiB.
const SCATTER_LIMIT: usize = 32_768;
/// Number of rows kept before the first compression, if they fit in [`EXACT_BYTES`].
const EXACT_ROWS: usize = 512;
/// Memory for those rows.
const EXACT_BYTES: usize = 256 << 20;
/// [`SCATTER_FEATURES`] on a card.
const CARD_SCATTER_FEATURES: usize = 4096;
/// [`SCATTER_ROWS`] on a card.
const CARD_SCATTER_ROWS: usize = 8192;
/// Number of rows per compression on a card.
const CARD_ROWS: usize = 1024;
/// Largest number of cells of a block on a card.
const CARD_CELLS: usize = 1 << 27;
/// If all rows are known in advance, nothing is dropped as long as there are at most this many rows
/// per feature, the eigenproblem has at most [`MAX_EIGENPROBLEM`] rows, and everything fits in
/// [`MAX_EXACT_BYTES`].
const MAX_ROWS_PER_FEATURE: usize = 5;
const MAX_EIGENPROBLEM: usize = 4096;
const MAX_EXACT_BYTES: usize = 1 << 30;

/// How a stream absorbs rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// `Scatter` for up to 1,024 features, or 4,096 on a GPU; otherwise `Factor`. With up to 4,096
    /// features, [`FitOptions::fit`](crate::FitOptions::fit) and
    /// [`FitOptions::stream_of`](crate::FitOptions::stream_of) can choose `Scatter` on the CPU too,
    /// because they know the number of rows.
    #[default]
    Auto,
    /// Keeps at most `max_rank` directions and a buffer of rows. Resolves singular values down to ε
    /// times the largest.
    Factor,
    /// Keeps the D × D scatter and drops nothing. Resolves singular values down to √ε times the
    /// largest.
    Scatter,
}

/// `auto`, `factor` or `scatter`.
impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Factor => "factor",
            Self::Scatter => "scatter",
        })
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Self::Auto),
            "factor" => Ok(Self::Factor),
            "scatter" => Ok(Self::Scatter),
            _ => Err(Error::unknown_word("engine", text, "`auto`, `factor` or `scatter`")),
        }
    }
}

/// The settings of a stream, chosen from its options and the number of features.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The engine, never [`Engine::Auto`].
    pub engine: Engine,
    /// Number of rows kept unchanged before the first compression.
    pub exact_rows: usize,
    /// Number of rows per compression after that.
    pub block_rows: usize,
    /// Number of directions that a compression keeps; `None` if all are kept, or if it depends on
    /// the data. The scatter engine ignores it.
    pub max_rank: Option<usize>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.engine == Engine::Scatter {
            return write!(f, "scatter engine, nothing dropped, blocks of {} rows", self.block_rows);
        }
        let (exact, block) = (self.exact_rows, self.block_rows);
        match self.max_rank {
            None => write!(f, "factor engine, exact for the first {exact} rows, then blocks of {block} rows"),
            Some(rank) => {
                let kept = if rank == 1 { "1 direction".into() } else { format!("{rank} directions") };
                write!(
                    f,
                    "factor engine, exact for the first {exact} rows, then {kept} kept after each block of {block} rows"
                )
            }
        }
    }
}

/// Default number of directions to keep if k are reported.
pub(crate) fn spare_rank(k: usize) -> usize {
    k.saturating_mul(2).saturating_add(32)
}

pub(crate) fn plan(
    features: usize,
    components: Components,
    max_rank: Option<Rank>,
    truncation: Truncation,
    engine: Engine,
    block_rows: Option<usize>,
) -> Result<Plan, Error> {
    let engine = match engine {
        Engine::Auto if features <= SCATTER_FEATURES => Engine::Scatter,
        Engine::Auto => Engine::Factor,
        chosen => chosen,
    };
    if engine == Engine::Scatter {
        check_scatter(features)?;
        let block_rows = block_rows.unwrap_or(SCATTER_ROWS);
        let max_rank = max_rank.and_then(Rank::number);
        return Ok(Plan { engine, exact_rows: block_rows, block_rows, max_rank });
    }
    let asked = max_rank.unwrap_or(Rank::All).min(truncation.rank_limit()).number();
    let max_rank = match (asked, truncation, components) {
        (Some(rank), _, _) => Some(rank),
        _ if max_rank == Some(Rank::All) => None,
        (None, Truncation::None, Components::Number(k)) => Some(spare_rank(k)),
        _ => None,
    };
    // More directions than features do not exist, and rows would be kept in their place.
    let max_rank = max_rank.map(|rank| rank.min(features));
    let block_rows = block_rows.unwrap_or_else(|| max_rank.unwrap_or(128).clamp(64, 256));
    let room = max_rank.unwrap_or(0).saturating_add(block_rows);
    let affordable = EXACT_ROWS.min(EXACT_BYTES / features.saturating_mul(8));
    let exact_rows = match (asked, truncation, components) {
        (Some(_), _, _) => room,
        // Nothing will ever be dropped, so the rows themselves can be the factor until there are D
        // of them.
        (None, Truncation::None, Components::All) => EXACT_ROWS.max(features),
        _ => room.max(affordable),
    };
    Ok(Plan { engine, exact_rows, block_rows, max_rank })
}

impl Plan {
    /// The plan if the number of rows is known in advance: nothing is dropped if keeping everything
    /// is affordable.
    pub(crate) fn for_known_rows(self, features: usize, rows: usize) -> Self {
        let few = rows <= features.saturating_mul(MAX_ROWS_PER_FEATURE) && rows.min(features) <= MAX_EIGENPROBLEM;
        let affordable = rows.min(features).saturating_mul(features).saturating_mul(8) <= MAX_EXACT_BYTES;
        if self.engine == Engine::Scatter || rows <= self.exact_rows || !few || !affordable {
            return self;
        }
        if rows <= features {
            return Self { exact_rows: rows, ..self };
        }
        self.with_scatter()
    }

    /// The plan on a card. Unless the number of rows per block was set, the first block of a factor
    /// has as many rows as the others, so that blocks of that size are never divided, and that of a
    /// scatter is as small as on the CPU.
    pub(crate) fn on_card(self, block_rows: Option<usize>) -> Self {
        let exact_rows = match (block_rows, self.engine, self.max_rank) {
            (None, Engine::Scatter, _) => SCATTER_ROWS,
            (None, _, Some(rank)) if rank < self.block_rows => self.block_rows,
            _ => self.exact_rows,
        };
        Self { exact_rows, ..self }
    }

    /// Largest number of directions that a compression keeps.
    pub(crate) fn rank_limit(self) -> Rank {
        self.max_rank.map_or(Rank::All, Rank::AtMost)
    }

    /// The same with the scatter engine.
    pub(crate) fn with_scatter(self) -> Self {
        match self.engine {
            Engine::Scatter => self,
            _ => Self { engine: Engine::Scatter, exact_rows: SCATTER_ROWS, block_rows: SCATTER_ROWS, ..self },
        }
    }
}

/// The engine on a card, where the D × D matrix pays for more features: its eigenproblem is solved
/// once, and the products of all rows are one large product after the other.
pub(crate) fn engine_on_card(engine: Engine, features: usize) -> Engine {
    if engine == Engine::Auto && features <= CARD_SCATTER_FEATURES { Engine::Scatter } else { engine }
}

/// Number of rows per block on a card: many, because each block costs an eigenproblem or the copy
/// of a matrix.
pub(crate) fn block_rows_on_card(engine: Engine, features: usize) -> usize {
    let most = if engine == Engine::Scatter { CARD_SCATTER_ROWS } else { CARD_ROWS };
    (CARD_CELLS / features.max(1)).clamp(64, most)
}

pub(crate) fn check_scatter(features: usize) -> Result<(), Error> {
    if features > SCATTER_LIMIT { Err(Error::ScatterTooLarge { features, limit: SCATTER_LIMIT }) } else { Ok(()) }
}
