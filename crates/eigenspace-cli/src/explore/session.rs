//! What the page shows: models, rows, a recognizer and a watched input.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use eigenspace::Missing;
use serde_json::{Value, json};

use crate::explore::events::{Events, Happened};
use crate::explore::face_desk::FaceDesk;
use crate::explore::lock::locked;
use crate::explore::reply::Refusal;
use crate::explore::shelf::{Entry, Shelf};
use crate::explore::store::RowStore;

/// The state of one run.
#[derive(Default)]
pub(super) struct Session {
    pub(super) shelf: Shelf,
    pub(super) events: Events,
    pub(super) data: Mutex<Option<Arc<Data>>>,
    pub(super) faces: Option<FaceDesk>,
    pub(super) watch: Option<Watched>,
    pub(super) settings: Settings,
}

/// What was asked for on the command line.
#[derive(Default)]
pub(super) struct Settings {
    /// The command, without the token and without --state.
    pub(super) command: String,
    pub(super) state: Option<String>,
    /// The only directory that models may be saved to.
    pub(super) write: Option<PathBuf>,
    pub(super) missing: Missing,
}

/// The rows, and how far reading and fitting them is.
pub(super) struct Data {
    pub(super) name: String,
    pub(super) store: Arc<RowStore>,
    pub(super) total: Option<u64>,
    pub(super) stage: Mutex<Stage>,
}

/// What happens to the rows.
#[derive(Clone)]
pub(super) enum Stage {
    Reading,
    Fitting,
    Ready,
    Failed(Value),
}

/// An input that is read while it grows.
pub(super) struct Watched {
    pub(super) source: String,
    pub(super) progress: Mutex<Watching>,
    /// The last readings, for pages that are opened later.
    history: Mutex<Readings>,
}

/// T² and Q of rows that arrived one after the other, compared with a model.
#[derive(Clone, Default)]
pub(super) struct Readings {
    pub(super) model: u64,
    /// The row of the data that the first reading is of.
    pub(super) first: u64,
    pub(super) t2: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) limits: [Option<f64>; 2],
    /// The largest angle between the components of the rows that arrived and those of the model,
    /// now and when each of the rows arrived.
    pub(super) angle: Option<f64>,
    pub(super) angles: Vec<Option<f64>>,
    /// All rows that arrived so far.
    pub(super) rows: u64,
}

impl Readings {
    /// What the page gets.
    pub(super) fn described(&self) -> Value {
        let [t2_limit, q_limit] = self.limits;
        json!({
            "model": self.model,
            "first": self.first,
            "t2": self.t2,
            "q": self.q,
            "t2_limit": t2_limit,
            "q_limit": q_limit,
            "angle": self.angle,
            "angles": self.angles,
            "rows": self.rows,
        })
    }
}

/// How far the watched input was read.
#[derive(Clone)]
pub(super) struct Watching {
    pub(super) rows: u64,
    /// The row of the data that was the first to arrive here.
    pub(super) first: u64,
    pub(super) state: &'static str,
    pub(super) error: Option<Value>,
}

impl Session {
    /// The rows.
    pub(super) fn data(&self) -> Option<Arc<Data>> {
        locked(&self.data).clone()
    }

    /// The rows, for a request that needs them.
    pub(super) fn rows(&self) -> anyhow::Result<Arc<RowStore>> {
        let none = || {
            Refusal::missing("there are no rows", "pass the rows on the command line: eigenspace explore MODEL DATA")
        };
        Ok(Arc::clone(&self.data().ok_or_else(none)?.store))
    }

    /// Tells every page that something changed.
    pub(super) fn changed(&self) {
        self.events.publish(Happened::Session);
    }

    /// What the page shows of a model.
    pub(super) fn describe(&self, entry: &Entry) -> Value {
        entry.described(self.data().map_or(0, |data| data.store.rows()))
    }

    /// Everything that the page shows at the start.
    pub(super) fn described(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "command": self.settings.command,
            "state": self.settings.state,
            "write": self.settings.write.is_some(),
            "threads": rayon::current_num_threads(),
            "models": self.shelf.all().iter().map(|entry| self.describe(entry)).collect::<Vec<_>>(),
            "data": self.data().map(|data| data.described()),
            "recognizer": self.faces.as_ref().map(FaceDesk::described),
            "watch": self.watch.as_ref().map(Watched::described),
        })
    }
}

impl Data {
    pub(super) fn set(&self, stage: Stage) {
        *locked(&self.stage) = stage;
    }

    /// Whether the rows could not be read or fitted.
    pub(super) fn has_failed(&self) -> bool {
        matches!(*locked(&self.stage), Stage::Failed(_))
    }

    fn described(&self) -> Value {
        let columns = self.store.columns();
        let rows = self.store.rows();
        let (state, error) = match locked(&self.stage).clone() {
            Stage::Reading => ("reading", Value::Null),
            Stage::Fitting => ("fitting", Value::Null),
            Stage::Ready => ("ready", Value::Null),
            Stage::Failed(error) => ("failed", error),
        };
        json!({
            "name": self.name,
            "rows": rows,
            "features": columns.count,
            "labels": self.store.labels(),
            "columns": columns.names,
            "row_names": self.store.has_names(),
            "image": columns.image.map(|i| json!({ "width": i.width(), "height": i.height(), "channels": i.channels() })),
            "state": state,
            "done": rows,
            "total": self.total,
            "error": error,
        })
    }
}

impl Watched {
    pub(super) fn new(source: String) -> Self {
        let watching = Watching { rows: 0, first: 0, state: "waiting", error: None };
        Self { source, progress: Mutex::new(watching), history: Mutex::default() }
    }

    /// The model that the rows are compared with, once one arrived.
    pub(super) fn reference(&self) -> Option<u64> {
        let history = locked(&self.history);
        (!history.t2.is_empty()).then_some(history.model)
    }

    /// Appends readings to the history.
    pub(super) fn remember(&self, new: &Readings) {
        /// Number of readings that are kept.
        const KEPT: usize = 5000;
        let mut history = locked(&self.history);
        let Readings { first, mut t2, mut q, mut angles, .. } = std::mem::take(&mut *history);
        let first = if t2.is_empty() { new.first } else { first };
        t2.extend(&new.t2);
        q.extend(&new.q);
        angles.extend(&new.angles);
        let old = t2.len().saturating_sub(KEPT);
        t2.drain(..old);
        q.drain(..old);
        angles.drain(..old);
        if let Some(last) = angles.last_mut() {
            *last = new.angle; // a model that was computed after the last row
        }
        *history = Readings { first: first + old as u64, t2, q, angles, ..new.clone() };
    }

    /// The last readings as one, if there are any.
    pub(super) fn history(&self) -> Option<Value> {
        let history = locked(&self.history);
        (!history.t2.is_empty()).then(|| history.described())
    }

    fn described(&self) -> Value {
        let Watching { rows, first, state, error } = locked(&self.progress).clone();
        json!({ "source": self.source, "rows": rows, "first": first, "state": state, "error": error })
    }
}
