//! Server-sent events: what changed, for every page that is open.
//!
//! ```text
//! publish → log of the last events, each with a number → every stream, at most ten a second
//! ```
//!
//! A stream that reconnects says which number it saw last and continues there, as long as the log
//! reaches back so far. Otherwise it starts with the whole session. Of several changes of the
//! session, and of several steps of progress, only the last is sent.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use crate::explore::query::Query;
use crate::explore::session::{Session, Watched};
use crate::explore::shelf::locked;

/// Number of events that are kept for streams that reconnect.
const KEPT: usize = 512;
/// Time between two events of a stream.
const PAUSE: Duration = Duration::from_millis(100);
/// Time between two signs of life of a stream on which nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What happened.
#[derive(Clone)]
pub(super) enum Happened {
    /// Models, rows or the recognizer changed; the page gets the session as it is when the event is
    /// sent.
    Session,
    /// Rows were read, or a model is fitted.
    Progress(Value),
    /// Rows arrived in the watched input.
    Readings(Arc<Value>),
}

/// The events of this run.
pub(super) struct Events {
    log: Mutex<Log>,
    /// The number of the last event.
    last: watch::Sender<u64>,
    /// Why all streams end, once they should.
    end: watch::Sender<Option<&'static str>>,
}

struct Log {
    /// The number of the first event that is kept.
    first: u64,
    events: VecDeque<Happened>,
}

impl Default for Events {
    fn default() -> Self {
        let log = Log { first: 1, events: VecDeque::new() };
        Self { log: Mutex::new(log), last: watch::Sender::new(0), end: watch::Sender::new(None) }
    }
}

impl Events {
    /// Tells every open page.
    pub(super) fn publish(&self, happened: Happened) {
        let mut log = locked(&self.log);
        log.events.push_back(happened);
        if log.events.len() > KEPT {
            log.events.pop_front();
            log.first += 1;
        }
        let last = log.first + log.events.len() as u64 - 1;
        drop(log);
        self.last.send_replace(last);
    }

    /// Ends all streams.
    pub(super) fn end(&self, reason: &'static str) {
        self.end.send_replace(Some(reason));
    }

    /// Whether a stream that saw this number last can continue.
    fn reaches(&self, seen: u64) -> bool {
        let log = locked(&self.log);
        seen + 1 >= log.first && seen < log.first + log.events.len() as u64
    }

    /// The events after a number, without those that a later one makes useless.
    fn after(&self, seen: u64) -> Vec<(u64, Happened)> {
        let log = locked(&self.log);
        let numbered = (log.first..).zip(&log.events).filter(|(number, _)| *number > seen);
        let mut found: Vec<(u64, Happened)> = numbered.map(|(number, event)| (number, event.clone())).collect();
        let newest =
            |kind: fn(&Happened) -> bool| found.iter().rev().find(|(_, event)| kind(event)).map(|(number, _)| *number);
        let session = newest(|event| matches!(event, Happened::Session));
        let progress = newest(|event| matches!(event, Happened::Progress(_)));
        found.retain(|(number, event)| match event {
            Happened::Session => Some(*number) == session,
            Happened::Progress(_) => Some(*number) == progress,
            Happened::Readings(_) => true,
        });
        found
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_continues_after_what_it_saw_as_long_as_that_is_kept() {
        let events = Events::default();
        assert!(events.after(0).is_empty() && events.reaches(0) && !events.reaches(1));
        for step in 0..3 {
            events.publish(Happened::Session);
            events.publish(Happened::Progress(json!(step)));
            events.publish(Happened::Readings(Arc::new(json!(step))));
        }
        let numbers = |seen| events.after(seen).into_iter().map(|(number, _)| number).collect::<Vec<_>>();
        assert_eq!(numbers(0), [3, 6, 7, 8, 9]);
        assert_eq!(numbers(6), [7, 8, 9]);
        assert_eq!(numbers(9), [0; 0]);
        assert!(events.reaches(0) && events.reaches(9) && !events.reaches(10));
        for _ in 0..KEPT {
            events.publish(Happened::Progress(json!(0)));
        }
        assert!(!events.reaches(8) && events.reaches(9));
        assert_eq!(numbers(0), [9 + KEPT as u64]);
    }
}
