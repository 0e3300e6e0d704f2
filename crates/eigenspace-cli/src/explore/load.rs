//! Reads the rows behind the open page, and fits a model to them if there is none.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eigenspace::io::source::{RowBlock, RowSource};
use eigenspace::{EigenspaceModel, FitOptions, Metadata, Missing};
use serde_json::json;

use crate::explore::events::Happened;
use crate::explore::reply;
use crate::explore::session::{Data, Session, Stage};
use crate::explore::shelf::Made;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::{advice, report};
use crate::{output, rows, table};

/// Time between two reports of progress.
const PAUSE: Duration = Duration::from_millis(300);

/// How to fit a model to the rows.
pub(super) struct Fit {
    pub(super) options: FitOptions,
    pub(super) metadata: Metadata,
}

/// Reads all rows of a source, and fits a model if asked to. Errors are shown on the page.
pub(super) fn load(session: &Session, data: &Data, source: Box<dyn RowSource>, fit: Option<Fit>) {
    let loaded = report::without_panics(|| read(session, data, source, fit));
    match loaded {
        Ok(()) => {
            data.set(Stage::Ready);
            session.changed();
            // The map asks for scores next. What fails here fails there too, and is told there.
            if let Some(entry) = session.shelf.all().first() {
                let _ = report::without_panics(|| entry.scored(&data.store));
            }
            return;
        }
        Err(error) => {
            report::error(&error);
            output::message("the page is still open; press Ctrl-C, and run the command again");
            data.set(Stage::Failed(reply::described(&error)));
        }
    }
    session.changed();
}

fn read(session: &Session, data: &Data, source: Box<dyn RowSource>, fit: Option<Fit>) -> anyhow::Result<()> {
    let (missing, total) = (session.settings.missing, source.rows());
    let mut stream =
        fit.map(|fit| fit.options.stream(source.columns().count)?.with_metadata(fit.metadata)).transpose()?;
    // One component is enough to check every cell.
    let check =
        if stream.is_none() { session.shelf.all().first().map(|entry| entry.at(Some(1))).transpose()? } else { None };
    let mut told = Instant::now();
    let mut left_out = 0;
    rows::for_each_quietly(source, |block| {
        if let Some(stream) = &mut stream {
            stream.update(block.as_block())?;
        }
        let kept = complete(block, missing);
        left_out += (block.rows() - kept.rows()) as u64;
        if let Some(model) = &check {
            model.project(&kept.values)?;
        }
        data.store.append(&kept)?;
        if told.elapsed() >= PAUSE {
            told = Instant::now();
            let progress = json!({ "what": "reading", "done": data.store.rows(), "total": total });
            session.events.publish(Happened::Progress(progress));
        }
        Ok(())
    })?;
    if left_out > 0 {
        output::message(&format!("left out {} with missing cells", table::counted(left_out, "row")));
    }
    let Some(stream) = stream else { return Ok(()) };
    if stream.count() == 0 {
        let input = format!("`{}` has", data.name);
        let skipped = Failure::AllLeftOut { reason: format!("{input} no complete rows"), hint: rows::ALL_SKIPPED };
        let empty = Failure::NoRows { input, hint: advice::EMPTY_FILE };
        return Err(if left_out > 0 { skipped } else { empty }.into());
    }
    data.set(Stage::Fitting);
    let progress = json!({ "what": "fitting", "done": data.store.rows(), "total": data.store.rows() });
    session.events.publish(Happened::Progress(progress));
    let model = stream.model()?;
    drop(stream);
    let model = Arc::unwrap_or_clone(model);
    add_fitted(session, &data.name, model)
}

/// Adds a model that was fitted here.
fn add_fitted(session: &Session, name: &str, model: EigenspaceModel) -> anyhow::Result<()> {
    let opened = Opened::new(Path::new(name), model)?.viewed(false, session.settings.missing);
    session.shelf.add(stem(name), opened, Made::Fitted, Vec::new());
    Ok(())
}

/// The name of a file without its directories and its ending.
pub(super) fn stem(name: &str) -> String {
    let path = Path::new(name);
    path.file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// A block without rows that have missing cells, if those are to be skipped.
pub(super) fn complete(block: &RowBlock, missing: Missing) -> Cow<'_, RowBlock> {
    if missing != Missing::Skip {
        return Cow::Borrowed(block);
    }
    let rows = block.complete_rows();
    if rows.len() == block.rows() {
        return Cow::Borrowed(block);
    }
    Cow::Owned(block.select(&rows))
}
