//! Files as tables: `FROM 'data/*.parquet'`. Parquet, CSV, Arrow and JSON files are read by
//! DataFusion, NPY and NPZ files by the library.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::Result;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::error::Error;
use crate::npy::NpyTable;
use crate::partition::NamePartitions;
use crate::present::{self, FilesArePresent};

/// A session with the functions of this crate, in which the name of a file is a table. It computes
/// in this many partitions; `None` means one for each core.
pub fn context(partitions: Option<usize>) -> SessionContext {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(partitions) = partitions {
        config = config.with_target_partitions(partitions.max(1));
    }
    let (state, files) = state(config, Patterns::Kept);
    session(state, &files)
}

/// What becomes of a pattern such as `data/*.parquet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patterns {
    /// The table knows the pattern.
    Kept,
    /// The table knows the files that match. Plans that are sent to other processes lose patterns,
    /// and would read all files of the directory.
    #[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "only clusters send plans"))]
    Expanded,
}

/// The state of a session in which the name of a file is a table.
pub(crate) fn state(config: SessionConfig, patterns: Patterns) -> (SessionState, Arc<Files>) {
    let partitions = config.target_partitions();
    let state = SessionStateBuilder::new().with_default_features().with_config(config).build();
    let files = Arc::new(Files { listing: DynamicListTableFactory::default(), partitions, patterns });
    let catalogs = DynamicFileCatalog::new(Arc::clone(state.catalog_list()), Arc::clone(&files) as _);
    let mut state = SessionStateBuilder::new_from_existing(state)
        .with_catalog_list(Arc::new(catalogs))
        .with_physical_optimizer_rule(Arc::new(NamePartitions))
        .build();
    state.add_analyzer_rule(Arc::new(FilesArePresent { place: "" }));
    (state, files)
}

/// The session with this state, and the functions of this crate.
pub(crate) fn session(state: SessionState, files: &Files) -> SessionContext {
    let context = SessionContext::new_with_state(state);
    files.listing.session_store().with_state(context.state_weak_ref());
    crate::register(&context);
    context
}

/// Refuses statements that are not queries. SET or CREATE TABLE would have no effect, because a
/// session ends with its first statement; what COPY and INSERT write can be incomplete, or there
/// twice if a cluster starts a query again.
pub fn check_query(plan: &LogicalPlan) -> Result<()> {
    plan.apply_with_subqueries(|node| match node {
        LogicalPlan::Ddl(_) | LogicalPlan::Statement(_) | LogicalPlan::Copy(_) | LogicalPlan::Dml(_) => {
            let hint = "use SELECT, and write its result with --output FILE or --models DIR";
            Err(Error::new("this statement is not a query").hint(hint).into())
        }
        _ => Ok(TreeNodeRecursion::Continue),
    })?;
    Ok(())
}

/// Turns the names of files into tables.
#[derive(Debug)]
pub(crate) struct Files {
    listing: DynamicListTableFactory,
    partitions: usize,
    patterns: Patterns,
}

/// The same table with the files that match its pattern instead of the pattern.
fn expanded(name: &str, table: Arc<dyn TableProvider>) -> Result<Arc<dyn TableProvider>> {
    let Some(listing) = table.downcast_ref::<ListingTable>() else { return Ok(table) };
    let Some(pattern) = listing.table_paths().iter().find(|url| url.get_glob().is_some()) else { return Ok(table) };
    let refused = |why: &str| {
        Error::new(format!("cannot read `{name}` on a cluster: {why}")).hint("name the directory instead of a pattern")
    };
    let options = listing.options().clone();
    if !options.table_partition_cols.is_empty() {
        return Err(refused("directories with names like `year=2026` and a pattern cannot be combined").into());
    }
    let files = present::files(pattern);
    let files = files.iter().filter_map(|path| path.to_str()).filter(|path| path.ends_with(&options.file_extension));
    let urls: Vec<_> = files.map(ListingTableUrl::parse).collect::<Result<_>>()?;
    if urls.iter().any(|url| url.get_glob().is_some()) {
        return Err(refused("the name of a file has one of the characters *, ? and [").into());
    }
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
    Ok(Arc::new(ListingTable::try_new(config.with_schema(listing.schema()))?))
}

#[async_trait]
impl UrlTableFactory for Files {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        // On a cluster, names have this in front.
        let shown = name.strip_prefix("./").unwrap_or(name);
        let ending = Path::new(name).extension().map(|ending| ending.to_ascii_lowercase());
        if ending.is_some_and(|ending| ending == "npy" || ending == "npz") {
            return Ok(Some(Arc::new(NpyTable::new(shown, self.partitions)?)));
        }
        // Names that are patterns or addresses are left to DataFusion.
        let plain = !name.contains(['*', '?', '[', ':']);
        if plain && name.contains(['.', '/']) && !Path::new(name).exists() {
            let message = format!("cannot read `{shown}`: there is no such file");
            return Err(Error::new(message).hint("check the spelling of the path and the current directory").into());
        }
        match self.listing.try_new(name).await? {
            Some(table) if self.patterns == Patterns::Expanded => Ok(Some(expanded(shown, table)?)),
            Some(table) => Ok(Some(table)),
            None if Path::new(name).is_file() && name.contains(['*', '?', '[']) => {
                let message =
                    format!("cannot read `{shown}`: the characters *, ? and [ are a pattern, which no file matches");
                let pattern = shown.replace(['*', '[', ']'], "?");
                Err(Error::new(message).hint(format!("write ? instead of them: '{pattern}'")).into())
            }
            None if !plain || Path::new(name).exists() => {
                let message = format!("cannot read `{shown}` as a table");
                let hint = "name Parquet (.parquet), CSV (.csv), Arrow (.arrow), JSON (.json), NPY (.npy) or NPZ (.npz) files; a pattern must match at least one";
                Err(Error::new(message).hint(hint).into())
            }
            None => Ok(None),
        }
    }
}
