//! Checks that the files of a query are there when it is planned for execution.
//!
//! DataFusion lists the files of a table at that moment, and a table without files has no rows: a
//! file that was removed after the query was written, or that the machine of a scheduler does not
//! have, would give a result without its rows.

use std::path::{Path, PathBuf};

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::{ListingTable, ListingTableUrl};
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::object_store::path::Path as ObjectPath;
use datafusion::optimizer::AnalyzerRule;

use crate::error::Error;

/// An error for every table that has no files on this machine.
#[derive(Debug)]
pub(crate) struct FilesArePresent {
    /// Where they are missed, for the message: empty, or ` on the machine of the scheduler`.
    pub(crate) place: &'static str,
}

impl AnalyzerRule for FilesArePresent {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Ok(table) = source_as_provider(&scan.source)
                && let Some(table) = table.downcast_ref::<ListingTable>()
                && let Some(missing) = table.table_paths().iter().find(|url| !is_present(url))
            {
                let message = format!("cannot read `{}`: there is no such file{}", shown(missing), self.place);
                let hint =
                    "check that the file has not been moved, and on a cluster, that all machines find it at this path";
                return Err(Error::new(message).hint(hint).into());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(plan)
    }

    fn name(&self) -> &'static str {
        "files_are_present"
    }
}

fn shown(url: &ListingTableUrl) -> String {
    let pattern = url.get_glob().as_ref().map(|glob| format!("/{glob}")).unwrap_or_default();
    format!("/{}{pattern}", url.prefix())
}

/// Whether there is a file. Addresses of other machines are not checked.
fn is_present(url: &ListingTableUrl) -> bool {
    let place = PathBuf::from(format!("/{}", url.prefix()));
    cfg!(windows) || url.scheme() != "file" || place.is_file() || !files(url).is_empty()
}

/// The files of a directory, or of a pattern, in a fixed order.
pub(crate) fn files(url: &ListingTableUrl) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&PathBuf::from(format!("/{}", url.prefix())), url, &mut found);
    found.sort_unstable();
    found
}

fn collect(directory: &Path, url: &ListingTableUrl, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
        // As DataFusion does: only files of the directory itself, and of those named like
        // `year=2026`.
        let known = path.to_str().and_then(|path| ObjectPath::parse(path).ok());
        if path.is_dir() {
            collect(&path, url, found);
        } else if known.is_some_and(|known| url.contains(&known, true)) {
            found.push(path);
        }
    }
}
