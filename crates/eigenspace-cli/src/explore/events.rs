//! What changed, in the order in which it happened: a log of the last events, each with a number.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::watch;

use crate::explore::lock::locked;

/// Number of events that are kept for streams that reconnect.
const KEPT: usize = 512;

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
    pub(super) last: watch::Sender<u64>,
    /// Why all streams end, once they should.
    pub(super) end: watch::Sender<Option<&'static str>>,
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
    pub(super) fn reaches(&self, seen: u64) -> bool {
        let log = locked(&self.log);
        seen + 1 >= log.first && seen < log.first + log.events.len() as u64
    }

    /// The events after a number, without those that a later one makes useless.
    pub(super) fn after(&self, seen: u64) -> Vec<(u64, Happened)> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
