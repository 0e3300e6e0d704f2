//! The shelf: merge, split, forget rows, add rows, remove and save models.

use std::io::Write;
use std::path::{Component, Path};
use std::sync::Arc;

use anyhow::Context;
use eigenspace::internal::open_array;
use eigenspace::io::Error;
use eigenspace::io::source::SourceError;
use eigenspace::{Block, EigenspaceModel, Truncation};
use serde_json::json;

use crate::explore::lock::locked;
use crate::explore::query::{body, text, whole, wholes};
use crate::explore::reply::{Refusal, Reply};
use crate::explore::session::Session;
use crate::explore::shelf::{Entry, Made};
use crate::memory;
use crate::opened::Opened;

/// The ending of model files.
const ENDING: &str = ".safetensors";
/// Largest number of rows that are forgotten at once.
const MOST_ROWS: usize = 100_000;

/// Adds a model and answers with it.
fn add(
    session: &Session,
    name: String,
    model: EigenspaceModel,
    made: Made,
    parents: &[&Entry],
) -> anyhow::Result<Reply> {
    let opened = Opened::new(Path::new(&name), model)?.viewed(false, session.settings.missing);
    // What is made from the model of a recognizer takes its pixels.
    let opened = match parents.first() {
        Some(parent) => opened.with_pixels_of(&parent.opened),
        None => opened,
    };
    let parents = parents.iter().map(|entry| entry.id).collect();
    let entry = session.shelf.add(name, opened, made, parents);
    session.changed();
    Ok(Reply::Json(session.describe(&entry)))
}

/// Merges models of different rows.
pub(super) fn merge(session: &Session, bytes: &[u8]) -> anyhow::Result<Reply> {
    let request = body(bytes)?;
    let ids = wholes(&request, "models")?;
    let entries = ids.iter().map(|id| session.shelf.get(*id)).collect::<Result<Vec<_>, _>>()?;
    let [first, others @ ..] = &entries[..] else {
        return Err(Refusal::bad("cannot merge: no model is chosen", "").into());
    };
    if others.is_empty() {
        return Err(Refusal::bad("cannot merge one model", "choose two or more models").into());
    }
    others.iter().try_for_each(|other| first.opened.same_columns(&other.opened))?;
    memory::for_merge(entries.iter().map(|entry| entry.opened.raw()))?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let merged = EigenspaceModel::merge_all(entries.iter().map(|entry| entry.opened.raw()), Truncation::None);
    let merged = merged.with_context(|| format!("cannot merge `{}`", names.join("`, `")))?;
    let merged = merged.with_components(first.opened.raw().n_components_setting())?;
    let name =
        request["name"].as_str().filter(|name| !name.is_empty()).map_or_else(|| names.join(" + "), str::to_owned);
    let parents: Vec<&Entry> = entries.iter().map(Arc::as_ref).collect();
    add(session, name, merged, Made::Merge, &parents)
}

/// Removes the rows of one model from another.
pub(super) fn split(session: &Session, bytes: &[u8]) -> anyhow::Result<Reply> {
    let request = body(bytes)?;
    let (whole, part) = (session.shelf.get(whole(&request, "whole")?)?, session.shelf.get(whole(&request, "part")?)?);
    whole.opened.same_columns(&part.opened)?;
    let (all, some) = (whole.opened.raw(), part.opened.raw());
    memory::for_split(all, some)?;
    let rest = all.split(some).with_context(|| format!("cannot split `{}` from `{}`", part.name, whole.name))?;
    add(session, format!("{} − {}", whole.name, part.name), rest, Made::Split, &[&whole, &part])
}

/// Removes rows of the session from a model.
pub(super) fn forget(session: &Session, entry: &Entry, bytes: &[u8]) -> anyhow::Result<Reply> {
    let request = body(bytes)?;
    let mut rows: Vec<usize> = wholes(&request, "rows")?.into_iter().map(usize::try_from).collect::<Result<_, _>>()?;
    rows.sort_unstable();
    rows.dedup();
    if rows.is_empty() || rows.len() > MOST_ROWS {
        return Err(Refusal::bad(format!("cannot forget {} rows: expected 1 to {MOST_ROWS}", rows.len()), "").into());
    }
    let store = session.rows()?;
    entry.fits(&store)?;
    memory::for_removal(entry.opened.raw(), rows.len())?;
    let (selected, weights) = store.select(&rows)?;
    let values = eigenspace::io::source::Values::from(selected);
    let cells = entry.opened.preprocessed(&values).to_f64();
    let block = weights.as_ref().map_or_else(|| Block::from(&cells), |weights| Block::from(&cells).weighted(weights));
    let rest = entry.opened.raw().remove(block).with_context(|| format!("cannot forget rows of `{}`", entry.name))?;
    let count = rows.len();
    let name = format!("{} − {count} {}", entry.name, if count == 1 { "row" } else { "rows" });
    add(session, name, rest, Made::Forget, &[entry])
}

/// Adds rows that were sent as a NumPy array.
pub(super) fn update(session: &Session, entry: &Entry, bytes: &[u8]) -> anyhow::Result<Reply> {
    let path = Path::new("the array");
    let mut source = open_array(bytes.to_vec(), path)?;
    let (expected, found) = (entry.opened.raw().features(), source.columns().count);
    if expected != found {
        let source = SourceError::ColumnCount { expected, found };
        return Err(Error::Source { path: path.to_owned(), source }.into());
    }
    let mut model = entry.opened.raw().clone();
    let columns = source.columns().clone();
    while let Some(block) = source.next_block(MOST_ROWS)? {
        let values = entry.opened.preprocessed(&block.values).to_f64();
        let updated = model.update(&values, Truncation::None);
        model = updated.map_err(|error| block.origin.locate(error, &columns))?;
    }
    let added = model.count() - entry.opened.raw().count();
    let name = format!("{} + {added} {}", entry.name, if added == 1 { "row" } else { "rows" });
    add(session, name, model, Made::Update, &[entry])
}

/// Removes a model from the shelf.
pub(super) fn remove(session: &Session, id: u64) -> anyhow::Result<Reply> {
    session.shelf.remove(id)?;
    session.changed();
    Ok(Reply::Nothing)
}

/// Writes a model into the directory of --write, never over another file.
pub(super) fn save(session: &Session, entry: &Entry, bytes: &[u8]) -> anyhow::Result<Reply> {
    let none = || Refusal::forbidden("cannot save: this session writes no files", "start it with --write DIR");
    let directory = session.settings.write.as_deref().ok_or_else(none)?;
    let request = body(bytes)?;
    let name = file_name(text(&request, "name")?)?;
    let path = directory.join(&name);
    let failed = |source| Error::Io { action: "write", path: path.clone(), source };
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    file.write_all(&entry.opened.raw().to_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist_noclobber(&path).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => anyhow::Error::from(Refusal::conflict(
            format!("cannot save `{name}`: a file with this name already exists"),
            "choose another name",
        )),
        _ => failed(error.error).into(),
    })?;
    *locked(&entry.saved) = Some(path.clone());
    session.changed();
    Ok(Reply::Json(json!({ "path": path.to_string_lossy() })))
}

/// A plain name of a file in one directory, with the ending of models.
fn file_name(name: &str) -> anyhow::Result<String> {
    let refused = || {
        let hint = "use a plain name such as model.safetensors, without directories";
        Refusal::bad(format!("cannot save as `{name}`"), hint)
    };
    let plain = |c: char| !c.is_control() && !"/\\:*?\"<>|".contains(c);
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    let single = matches!(parts[..], [Component::Normal(part)] if part == name);
    if !single || name.len() > 200 || name.starts_with('.') || !name.chars().all(plain) {
        return Err(refused().into());
    }
    Ok(if name.ends_with(ENDING) { name.to_owned() } else { format!("{name}{ENDING}") })
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_never_leave_the_directory() {
        for name in [
            "",
            ".",
            "..",
            "../x.safetensors",
            "/etc/x.safetensors",
            "a/b.safetensors",
            "a\\b.safetensors",
            "C:x",
            ".hidden",
            "a\u{0}b",
            "a\nb",
            "x/",
            &"y".repeat(300),
        ] {
            assert!(file_name(name).is_err(), "{name:?}");
        }
        assert_eq!(file_name("x").expect("a name"), "x.safetensors");
        assert_eq!(file_name("größe 2.safetensors").expect("a name"), "größe 2.safetensors");
    }
}
