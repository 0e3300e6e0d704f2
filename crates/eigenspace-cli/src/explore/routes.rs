//! Which address is answered by what.

use std::sync::Arc;

use axum::http::Method;

use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply};
use crate::explore::session::{Session, Watched};
use crate::explore::shelf::Entry;
use crate::explore::{directions, export, faces, monitor, points, row, spectrum, workbench};

/// A request below `/{token}/api/`.
pub(super) struct Request {
    pub(super) method: Method,
    /// The address below `api/`, without the query.
    pub(super) path: String,
    pub(super) query: Query,
    pub(super) body: Vec<u8>,
}

/// Answers a request.
pub(super) fn answer(session: &Session, request: &Request) -> anyhow::Result<Reply> {
    let Request { method, path, query, body } = request;
    let parts: Vec<&str> = path.split('/').collect();
    match (method, &parts[..]) {
        (&Method::GET, ["session"]) => Ok(Reply::Json(session.described())),
        (&Method::GET, ["rows"]) => points::search(session, query),
        (&Method::POST, ["merge"]) => workbench::merge(session, body),
        (&Method::POST, ["split"]) => workbench::split(session, body),
        (&Method::POST, ["recognize"]) => faces::answer(session, query, body),
        (&Method::POST, ["enroll"]) => faces::enroll(session, query, body),
        (&Method::POST, ["forget"]) => faces::forget(session, body),
        (&Method::DELETE, ["recognizer", "changes"]) => faces::restore(session),
        (&Method::GET, ["recognizer", "images", file]) => {
            faces::image(session, number(file.strip_suffix(".png").unwrap_or(file))?)
        }
        (&Method::GET, ["watch", "rows", number_of, "contributions"]) => {
            let none = || Refusal::missing("nothing is watched", "start with --watch FILE");
            let reference = session.watch.as_ref().and_then(Watched::reference).ok_or_else(none)?;
            row::contributions(session, &*session.shelf.get(reference)?, number(number_of)?, query)
        }
        (_, ["models", id, rest @ ..]) => {
            let entry = session.shelf.get(number(id)?)?;
            if let Some(expected) = query.number::<u64>("revision")?
                && expected != entry.revision
            {
                let error =
                    format!("the model `{}` has changed: revision {}, not {expected}", entry.name, entry.revision);
                return Err(Refusal::conflict(error, "load it again").into());
            }
            match (method, rest) {
                (&Method::DELETE, []) => workbench::remove(session, entry.id),
                (&Method::POST, ["forget"]) => workbench::forget(session, &entry, body),
                (&Method::POST, ["rows"]) => workbench::update(session, &entry, body),
                (&Method::POST, ["save"]) => workbench::save(session, &entry, body),
                (&Method::GET, rest) => about(session, &entry, rest, query),
                _ => Err(Refusal::method().into()),
            }
        }
        (_, ["session" | "rows" | "merge" | "split" | "recognize" | "enroll" | "forget"]) => {
            Err(Refusal::method().into())
        }
        _ => Err(nothing().into()),
    }
}

/// Answers a question about a model.
fn about(session: &Session, entry: &Arc<Entry>, path: &[&str], query: &Query) -> anyhow::Result<Reply> {
    match *path {
        [] => Ok(Reply::Json(session.describe(entry))),
        ["spectrum"] => spectrum::spectrum(entry, query),
        ["points"] => points::points(session, entry, query),
        ["column"] => points::column(session, entry, query),
        ["rows", number_of] => row::row(session, entry, number(number_of)?, query),
        ["rows", number_of, "reconstruction"] => row::reconstruction(session, entry, number(number_of)?, query),
        ["rows", number_of, "contributions"] => row::contributions(session, entry, number(number_of)?, query),
        ["rows", number_of, file @ ("original.png" | "reconstruction.png" | "residual.png")] => {
            row::image(session, entry, number(number_of)?, file.trim_end_matches(".png"), query)
        }
        ["walk"] => directions::walk(entry, query),
        ["walk.png"] => directions::walk_image(entry, query),
        ["components", file] => match file.strip_suffix(".png") {
            Some(component) => directions::component_image(entry, number(component)?),
            None => directions::component(entry, number(file)?),
        },
        ["features"] => directions::features(entry, query),
        ["monitor"] => monitor::monitor(session, entry, query),
        ["angles", other] => spectrum::angles(entry, &*session.shelf.get(number(other)?)?, query),
        ["plot", kind] => export::plot(session, entry, kind, query),
        ["scores.csv"] => export::scores(session, entry, query),
        ["loadings.csv"] => export::loadings(entry, query),
        ["variance.csv"] => export::variance(entry),
        ["model.safetensors"] => Ok(export::model(entry)),
        _ => Err(nothing().into()),
    }
}

/// A number in an address.
fn number<T: std::str::FromStr>(text: &str) -> anyhow::Result<T> {
    Ok(text.parse().map_err(|_| Refusal::missing(format!("`{text}` is not a number"), ""))?)
}

fn nothing() -> Refusal {
    Refusal::missing("there is nothing at this address", "")
}
