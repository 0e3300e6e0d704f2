//! How a stream will work: which engine, how many rows at a time, how much rank.
//!
//! ```text
//! D ≤ 1024        M, the D × D scatter          D² per row
//! otherwise       the factor buffer             about (4r + m + 2r²/m) D per row, m rows at a time
//! ```
//!
//! The factor's cost per row is least near m = r: fewer rows waste the rotation of the r kept ones,
//! more rows grow the eigenproblem, which costs (r + m)³.

use std::str::FromStr;

use crate::error::Error;
use crate::model::truncation::{Components, Rank, Truncation};

/// Up to this many features the scatter matrix is the default.
const SCATTER_FEATURES: usize = 1024;
/// No scatter matrix beyond this many features: it would take more than 8 GiB.
const SCATTER_LIMIT: usize = 32_768;
/// Rows held before the first compression, if they fit in [`EXACT_BYTES`].
const EXACT_ROWS: usize = 512;
/// Memory for those rows.
const EXACT_BYTES: usize = 256 << 20;
/// Rows added to the scatter at a time.
const SCATTER_ROWS: usize = 512;
/// Rows at hand are all held, or summed in a scatter, while there are at most this many for each feature,
const ROWS_AT_HAND: usize = 5;
/// the eigenproblem is at most this large,
const EIGENPROBLEM: usize = 4096;
/// and they fit in this memory.
const BYTES_AT_HAND: usize = 1 << 30;

/// What a stream keeps between blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// The scatter for up to 1,024 features, otherwise the factor buffer.
    #[default]
    Auto,
    /// At most `max_rank` directions and a buffer of rows; sees singular values down to ε of the
    /// largest.
    Factor,
    /// The D × D scatter: exact for ever, sees singular values down to √ε of the largest.
    Scatter,
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Self::Auto),
            "factor" => Ok(Self::Factor),
            "scatter" => Ok(Self::Scatter),
            _ => Err(Error::unknown_word("engine", text, "`auto`, `factor`, `scatter`")),
        }
    }
}

/// The choices a stream made for its width and options.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The engine, never [`Engine::Auto`].
    pub engine: Engine,
    /// Rows held before anything is compressed; up to here the rows themselves are kept.
    pub exact_rows: usize,
    /// Rows gathered for each compression after that.
    pub block_rows: usize,
    /// Directions kept by a compression; `None` if the data decide.
    pub max_rank: Option<usize>,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.engine == Engine::Scatter {
            return write!(f, "scatter engine, nothing dropped, blocks of {} rows", self.block_rows);
        }
        write!(f, "factor engine, exact for {} rows, then blocks of {}", self.exact_rows, self.block_rows)?;
        match self.max_rank {
            Some(rank) => write!(f, " reduced to {rank} directions"),
            None => Ok(()),
        }
    }
}

/// Spare directions kept beside the k that are shown.
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
        let max_rank = max_rank.map(Rank::limit);
        return Ok(Plan { engine, exact_rows: block_rows, block_rows, max_rank });
    }
    let asked = max_rank.map_or(usize::MAX, Rank::limit).min(truncation.rank_limit());
    let asked = (asked < usize::MAX).then_some(asked);
    let unlimited = max_rank.is_some_and(|rank| rank.limit() == usize::MAX);
    let max_rank = match (asked, truncation, components) {
        (Some(rank), _, _) => Some(rank),
        _ if unlimited => None,
        (None, Truncation::None, Components::Number(k)) => Some(spare_rank(k)),
        _ => None,
    };
    let block_rows = block_rows.unwrap_or_else(|| max_rank.unwrap_or(128).clamp(64, 256));
    let room = max_rank.unwrap_or(0).saturating_add(block_rows);
    let affordable = EXACT_ROWS.min(EXACT_BYTES / features.saturating_mul(8));
    let exact_rows = match (asked, truncation, components) {
        (Some(_), _, _) => room,
        // Nothing will ever be dropped, so rows are as good a factor as any until there are D of them.
        (None, Truncation::None, Components::All) => EXACT_ROWS.max(features),
        _ => room.max(affordable),
    };
    Ok(Plan { engine, exact_rows, block_rows, max_rank })
}

impl Plan {
    /// The plan for rows that are all at hand: nothing is dropped where holding everything is affordable.
    pub(crate) fn at_hand(self, features: usize, rows: usize) -> Self {
        let few = rows <= features.saturating_mul(ROWS_AT_HAND) && rows.min(features) <= EIGENPROBLEM;
        let affordable = rows.min(features).saturating_mul(features).saturating_mul(8) <= BYTES_AT_HAND;
        if self.engine == Engine::Scatter || rows <= self.exact_rows || !few || !affordable {
            return self;
        }
        if rows <= features {
            return Self { exact_rows: rows, ..self };
        }
        self.with_scatter()
    }

    /// The same with the scatter engine.
    pub(crate) fn with_scatter(self) -> Self {
        match self.engine {
            Engine::Scatter => self,
            _ => Self { engine: Engine::Scatter, exact_rows: SCATTER_ROWS, block_rows: SCATTER_ROWS, ..self },
        }
    }
}

pub(crate) fn check_scatter(features: usize) -> Result<(), Error> {
    if features > SCATTER_LIMIT { Err(Error::ScatterTooLarge { features, limit: SCATTER_LIMIT }) } else { Ok(()) }
}
