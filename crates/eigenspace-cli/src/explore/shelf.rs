//! The models of the session, each with a revision that grows when it changes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use eigenspace::internal::signs_like;
use serde_json::{Value, json};

use crate::explore::lock::locked;
use crate::explore::reply::Refusal;
use crate::explore::scored::{Measured, Scored, kept_components};
use crate::explore::store::RowStore;
use crate::opened::Opened;

/// Where a model comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Made {
    File,
    Fitted,
    Merge,
    Split,
    Forget,
    Update,
    Stream,
}

impl Made {
    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Fitted => "fitted",
            Self::Merge => "merge",
            Self::Split => "split",
            Self::Forget => "forget",
            Self::Update => "update",
            Self::Stream => "stream",
        }
    }
}

/// A model of the session, and what was computed with it.
pub(super) struct Entry {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) revision: u64,
    pub(super) opened: Opened,
    pub(super) made: Made,
    pub(super) parents: Vec<u64>,
    /// For each direction, 1 or −1: what the page shows is multiplied by it, so that the directions
    /// of a model that is computed again do not jump to the other side.
    signs: Vec<f64>,
    pub(super) saved: Mutex<Option<PathBuf>>,
    scored: Mutex<Option<Arc<Scored>>>,
    measured: Mutex<Option<Arc<Measured>>>,
}

impl Entry {
    /// The model reporting k components; its own number if k is not given.
    pub(super) fn at(&self, k: Option<usize>) -> anyhow::Result<Opened> {
        let (own, rank) = (self.opened.model().n_components(), self.opened.model().rank());
        let k = k.unwrap_or(own);
        if k > rank || (k == 0 && rank > 0) {
            let error = format!("cannot use {k} components: the model `{}` keeps {rank} directions", self.name);
            return Err(Refusal::bad(error, "use a number from 1 to the number of directions").into());
        }
        self.opened.with_components(k)
    }

    /// What scores and loadings along a component, counted from 0, are multiplied by on the page.
    pub(super) fn sign(&self, component: usize) -> f64 {
        self.signs.get(component).copied().unwrap_or(1.0)
    }

    /// Checks that these rows have the columns of this model.
    pub(super) fn fits(&self, store: &RowStore) -> anyhow::Result<()> {
        let (expected, found) = (self.opened.raw().features(), store.features());
        if expected != found {
            let error = format!("the rows have {found} columns, and the model `{}` has {expected}", self.name);
            return Err(Refusal::conflict(error, "choose a model that was fitted on such rows").into());
        }
        Ok(())
    }

    /// The scores of all rows that there are now.
    pub(super) fn scored(&self, store: &RowStore) -> anyhow::Result<Arc<Scored>> {
        self.fits(store)?;
        let mut scored = locked(&self.scored);
        match &*scored {
            Some(there) if there.rows() == store.rows() => Ok(Arc::clone(there)),
            _ => {
                *scored = None; // frees its file first
                Ok(Arc::clone(scored.insert(Arc::new(Scored::new(&self.opened, store)?))))
            }
        }
    }

    /// Whether the scores of so many rows are there already.
    pub(super) fn is_scored(&self, rows: usize) -> bool {
        self.scored.try_lock().is_ok_and(|scored| scored.as_ref().is_some_and(|there| there.rows() == rows))
    }

    /// T² and Q of all rows that there are now, for k components.
    pub(super) fn measured(&self, store: &RowStore, k: usize) -> anyhow::Result<Arc<Measured>> {
        self.fits(store)?;
        let mut measured = locked(&self.measured);
        match &*measured {
            Some(there) if there.is_of(store.rows(), k) => Ok(Arc::clone(there)),
            _ => Ok(Arc::clone(measured.insert(Arc::new(Measured::new(&self.at(Some(k))?, store)?)))),
        }
    }

    /// What the page shows of the model, in a session with so many rows.
    pub(super) fn described(&self, rows: usize) -> Value {
        let model = self.opened.model();
        let image = self.opened.metadata().image();
        json!({
            "id": self.id,
            "name": self.name,
            "revision": self.revision,
            "rows": model.count(),
            "weight": model.weight(),
            "features": model.features(),
            "rank": model.rank(),
            "n_components": model.n_components(),
            "axes": kept_components(&self.opened, rows),
            "standardize": self.opened.metadata().standardize(),
            "image": image.map(|i| json!({ "width": i.width(), "height": i.height(), "channels": i.channels() })),
            "names": self.opened.metadata().feature_names().is_some(),
            "certificate": self.certificate(),
            "origin": self.made.name(),
            "parents": self.parents,
            "saved": locked(&self.saved).as_ref().map(|path| path.to_string_lossy()),
        })
    }

    /// The certificate for the reported components, in numbers and in words.
    pub(super) fn certificate(&self) -> Value {
        let model = self.opened.model();
        let (k, certificate) = (model.n_components(), model.certificate());
        let (low, high) = certificate.captured_bounds(k);
        let angle = certificate.angle_bound(k);
        let exact = certificate.is_exact();
        let text = if exact {
            "exact".to_owned()
        } else {
            let angle = if angle < 1.0 { format!("angle ≤ {angle:.2}") } else { "angle not bounded".into() };
            format!("captured {:.1}–{:.1} %, {angle}", 100.0 * low, 100.0 * high)
        };
        json!({
            "exact": exact,
            "text": text,
            "captured": [low, high],
            "angle_bound": (angle < 1.0).then_some(angle),
            "confidence": (!certificate.is_proven()).then(|| certificate.confidence()),
        })
    }
}

/// All models, in the order in which they came.
#[derive(Default)]
pub(super) struct Shelf(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    entries: Vec<Arc<Entry>>,
    next: u64,
}

impl Shelf {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        locked(&self.0)
    }

    /// Adds a model.
    pub(super) fn add(&self, name: String, opened: Opened, made: Made, parents: Vec<u64>) -> Arc<Entry> {
        let mut inner = self.inner();
        let entry = Arc::new(entry(inner.next, 1, name, opened, made, parents));
        inner.next += 1;
        inner.entries.push(Arc::clone(&entry));
        entry
    }

    /// Puts a newer model in the place of an entry; nothing happens if the entry was removed.
    pub(super) fn renew(&self, id: u64, opened: Opened) {
        let mut inner = self.inner();
        if let Some(old) = inner.entries.iter_mut().find(|old| old.id == id) {
            let mut new = entry(id, old.revision + 1, old.name.clone(), opened, old.made, old.parents.clone());
            new.signs = signs_like(old.opened.model().basis(), &old.signs, new.opened.model().basis());
            *old = Arc::new(new);
        }
    }

    /// A model by its number.
    pub(super) fn get(&self, id: u64) -> anyhow::Result<Arc<Entry>> {
        let found = self.inner().entries.iter().find(|entry| entry.id == id).cloned();
        Ok(found.ok_or_else(|| {
            Refusal::missing(format!("there is no model {id}"), "reload the page: the model may have been removed")
        })?)
    }

    /// Removes a model from the session; its file stays.
    pub(super) fn remove(&self, id: u64) -> anyhow::Result<()> {
        self.get(id)?;
        let mut inner = self.inner();
        if inner.entries.len() == 1 {
            return Err(Refusal::conflict("cannot remove the only model", "").into());
        }
        inner.entries.retain(|entry| entry.id != id);
        Ok(())
    }

    pub(super) fn all(&self) -> Vec<Arc<Entry>> {
        self.inner().entries.clone()
    }
}

fn entry(id: u64, revision: u64, name: String, opened: Opened, made: Made, parents: Vec<u64>) -> Entry {
    let (saved, signs) = (Mutex::new(None), vec![1.0; opened.model().rank()]);
    let (scored, measured) = Default::default();
    Entry { id, name, revision, opened, made, parents, signs, saved, scored, measured }
}
