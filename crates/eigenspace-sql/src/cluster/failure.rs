//! Errors of other processes arrive as text, which is the debug form of an error in several
//! wrappers:
//!
//! ```text
//! Job … failed: … DataFusionError(External(EigenspaceSqlError { message: "pca: …", hint: Some("…") }))
//! ```

use crate::error::{Error, NAME};

/// Text inside of text inside of … is not searched further than this.
const DEEPEST: usize = 4;

/// The error of this crate that another process sent.
pub(super) fn sent(text: &str) -> Option<Error> {
    let mut text = text.to_owned();
    for _ in 0..DEEPEST {
        if let Some(error) = parsed(&text) {
            return Some(error);
        }
        if !text.contains(NAME) {
            break;
        }
        text = unescaped(&text);
    }
    // Errors of planning are sent as they are displayed.
    let (_, shown) = text.split_once("External error: ")?;
    Some(split_hint(shown))
}

/// Whether a query ended because the results of an executor are gone: the scheduler ended it, or
/// another executor or the client cannot read them.
pub(super) fn is_loss(text: &str) -> bool {
    let causes = [
        "failed: Cancelled",
        "all executors were lost",
        "has failed 1 times",
        "FetchFailed",
        "fetch partition",
        "GrpcConnectionError",
    ];
    causes.iter().any(|cause| text.contains(cause))
}

/// Whether the connection to the scheduler broke.
pub(super) fn is_disconnection(text: &str) -> bool {
    let causes =
        ["transport error", "Stream closed without job completing", "h2 protocol error", "error reading a body"];
    causes.iter().any(|cause| text.contains(cause))
}

/// An error that comes from the cluster and not from this crate, without its wrappers.
pub(super) fn of_cluster(text: &str) -> Option<Error> {
    if is_loss(text) {
        let message = "the cluster lost an executor during the query";
        return Some(Error::new(message).hint("run the query again"));
    }
    if let Some((_, status)) = text.split_once("Status { code: ") {
        // The scheduler refused the query.
        let message = status.split_once("message: ").and_then(|(_, rest)| literal(rest));
        let message = message.map_or_else(|| status.to_owned(), |(message, _)| message);
        return Some(Error::new(format!("the scheduler refused the query: {}", shortened(&message))));
    }
    let (_, cause) = text.split_once(" failed: ")?;
    let cause = cause.split_once("execution error: ").map_or(cause, |(_, cause)| cause);
    Some(Error::new(format!("the query failed on the cluster: {}", shortened(cause))))
}

/// The first lines of a message; some contain a whole plan.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 600;
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

fn split_hint(shown: &str) -> Error {
    match shown.trim_end().split_once("\nhint: ") {
        Some((message, hint)) => Error::new(message).hint(hint),
        None => Error::new(shown.trim_end()),
    }
}

/// The error in its debug form.
fn parsed(text: &str) -> Option<Error> {
    let start = format!("{NAME} {{ message: ");
    let (_, rest) = text.split_once(&start)?;
    let (message, rest) = literal(rest)?;
    let error = Error::new(message);
    Some(match rest.strip_prefix(", hint: Some(").and_then(literal) {
        Some((hint, _)) => error.hint(hint),
        None => error,
    })
}

/// A string in quotes, and the text after it.
fn literal(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = text.char_indices().find(|&(_, letter)| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    });
    let (end, _) = end?;
    Some((unescaped(&text[..end]), &text[end + 1..]))
}

/// Text without one level of escapes.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('0') => plain.push('\0'),
            Some('u') => {
                let code: String = letters.by_ref().skip(1).take_while(|&letter| letter != '}').collect();
                plain.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
            }
            Some(other) => plain.push(other),
            None => {}
        }
    }
    plain
}
