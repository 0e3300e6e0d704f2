//! Answers to requests, and refusals with a status and a hint.

use std::io::Write;

use serde_json::{Value, json};

use crate::report;

/// Writes a download that may not fit into memory.
pub(super) type Writer = Box<dyn FnOnce(&mut dyn Write) -> anyhow::Result<()> + Send>;

/// The answer to a request.
pub(super) enum Reply {
    Json(Value),
    /// Bytes of a media type.
    Bytes(&'static str, Vec<u8>),
    /// A file to save under this name.
    Download {
        kind: &'static str,
        name: String,
        write: Writer,
    },
    /// Done, with nothing to say.
    Nothing,
}

/// A request that is refused with this status.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(super) struct Refusal {
    status: u16,
    error: String,
    hint: Option<String>,
}

impl Refusal {
    fn new(status: u16, error: impl Into<String>, hint: &str) -> Self {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Self { status, error: error.into(), hint }
    }

    /// The request itself is wrong.
    pub(super) fn bad(error: impl Into<String>, hint: &str) -> Self {
        Self::new(400, error, hint)
    }

    /// Not allowed in this session.
    pub(super) fn forbidden(error: impl Into<String>, hint: &str) -> Self {
        Self::new(403, error, hint)
    }

    /// What the request names does not exist.
    pub(super) fn missing(error: impl Into<String>, hint: &str) -> Self {
        Self::new(404, error, hint)
    }

    /// The method does not fit the address.
    pub(super) fn method() -> Self {
        Self::new(405, "this address does not accept this method", "")
    }

    /// The request does not fit the present state.
    pub(super) fn conflict(error: impl Into<String>, hint: &str) -> Self {
        Self::new(409, error, hint)
    }

    /// The body is too large.
    pub(super) fn too_large(limit: usize) -> Self {
        Self::new(413, format!("the request is larger than {} MiB", limit >> 20), "send a smaller file")
    }

    /// Our own mistake.
    pub(super) fn internal() -> Self {
        Self::new(
            500,
            "internal error; please report this",
            "include what you did in the report and, if you can, the data",
        )
    }
}

/// The status of an error, and what the page shows.
pub(super) fn refusal(error: &anyhow::Error) -> (u16, Value) {
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        return (refusal.status, json!({ "error": refusal.error, "hint": refusal.hint }));
    }
    (422, described(error))
}

/// An error with its causes, and its hint.
pub(super) fn described(error: &anyhow::Error) -> Value {
    let words: Vec<String> = error.chain().map(ToString::to_string).collect();
    json!({ "error": words.join(": "), "hint": error.chain().find_map(report::hint) })
}
