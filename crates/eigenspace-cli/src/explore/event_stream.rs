//! Server-sent events: what changed, for every page that is open.
//!
//! ```text
//! publish → log of the last events, each with a number → every stream, at most ten a second
//! ```
//!
//! A stream that reconnects says which number it saw last and continues there, as long as the log
//! reaches back so far. Otherwise it starts with the whole session. Of several changes of the
//! session, and of several steps of progress, only the last is sent.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::explore::events::Happened;
use crate::explore::query::Query;
use crate::explore::session::{Session, Watched};

/// Time between two events of a stream.
const PAUSE: Duration = Duration::from_millis(100);
/// Time between two signs of life of a stream on which nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream of events for one page.
pub(super) fn stream(session: Arc<Session>, headers: &HeaderMap, query: &Query) -> Response {
    // A page that opens a new stream, instead of letting the browser reconnect, can only say it in
    // the address.
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let seen = header.or_else(|| query.get("last")).and_then(|text| text.parse::<u64>().ok());
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move { feed(&session, seen, &sender).await });
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

type Sender = mpsc::Sender<Result<Event, Infallible>>;

/// Sends events until the page or the server ends.
async fn feed(session: &Arc<Session>, seen: Option<u64>, sender: &Sender) {
    let mut changed = session.events.last.subscribe();
    let mut ended = session.events.end.subscribe();
    let mut seen = match seen.filter(|seen| session.events.reaches(*seen)) {
        Some(seen) => seen,
        None => {
            let last = *changed.borrow_and_update();
            if !send(sender, last, "session", &session.described()).await {
                return;
            }
            if let Some(history) = session.watch.as_ref().and_then(Watched::history)
                && !send(sender, last, "readings", &history).await
            {
                return;
            }
            last
        }
    };
    loop {
        for (number, happened) in session.events.after(seen) {
            let sent = match happened {
                Happened::Session => send(sender, number, "session", &session.described()).await,
                Happened::Progress(value) => send(sender, number, "progress", &value).await,
                Happened::Readings(value) => send(sender, number, "readings", &value).await,
            };
            if !sent {
                return;
            }
            seen = number;
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = ended.changed() => break,
            }
        }
        let reason = *ended.borrow_and_update();
        if let Some(reason) = reason {
            send(sender, seen, "end", &json!({ "reason": reason })).await;
            return;
        }
        tokio::select! {
            _ = changed.changed() => {}
            _ = ended.changed() => {}
            () = sender.closed() => return,
        }
    }
}

/// Sends one event; false if the page is gone.
async fn send(sender: &Sender, number: u64, name: &str, data: &Value) -> bool {
    let event = Event::default().id(number.to_string()).event(name).data(data.to_string());
    sender.send(Ok(event)).await.is_ok()
}
