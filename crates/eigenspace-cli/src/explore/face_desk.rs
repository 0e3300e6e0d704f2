//! A recognizer that enrolls and forgets on a copy in memory, and the requests to it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use eigenspace::ImageShape;
use eigenspace::faces::{Recognition, Recognizer, Thresholds};
use eigenspace::internal::image_row;
use eigenspace::io::Error;
use ndarray::Array2;
use serde_json::{Value, json};

use crate::explore::lock::locked;
use crate::explore::reply::Refusal;

/// What errors call an image that was sent.
const SENT: &str = "the image";

/// A recognizer that can be changed in memory.
pub(super) struct FaceDesk {
    /// The model of the file, on the shelf.
    model: u64,
    pub(super) file: Arc<Recognizer>,
    pub(super) now: Mutex<Now>,
    pub(super) requests: Mutex<Sender<Request>>,
}

/// The recognizer as it is now.
pub(super) struct Now {
    pub(super) recognizer: Arc<Recognizer>,
    pub(super) revision: u64,
    /// Known once the matcher has learned them.
    pub(super) thresholds: Option<Thresholds>,
}

/// What was recognized, and the thresholds that were applied.
pub(super) type Answer = anyhow::Result<(Recognition, Thresholds)>;

/// A request to the worker.
pub(super) enum Request {
    Recognize(Array2<f64>, Sender<Answer>),
    /// The recognizer changed.
    Learn,
}

/// The worker that answers the requests of a desk, on a thread of its own.
pub(super) struct Clerk(pub(super) Receiver<Request>);

impl FaceDesk {
    /// A desk for a recognizer, and the worker that answers its requests; call [`Clerk::work`] on a
    /// thread of its own.
    pub(super) fn new(model: u64, recognizer: Recognizer) -> (Self, Clerk) {
        let file = Arc::new(recognizer);
        let (sender, requests) = channel();
        let now = Now { recognizer: Arc::clone(&file), revision: 1, thresholds: None };
        (Self { model, file, now: Mutex::new(now), requests: Mutex::new(sender) }, Clerk(requests))
    }

    pub(super) fn recognizer(&self) -> Arc<Recognizer> {
        Arc::clone(&locked(&self.now).recognizer)
    }

    /// What the page shows of the recognizer.
    pub(super) fn described(&self) -> Value {
        let now = locked(&self.now);
        let (recognizer, options) = (&now.recognizer, now.recognizer.options());
        let image = recognizer.model().metadata().image();
        json!({
            "model": self.model,
            "people": recognizer.people(),
            "images": recognizer.images().len(),
            "image": image.map(|i| json!({ "width": i.width(), "height": i.height(), "channels": i.channels() })),
            "unknown": now.thresholds.and_then(|thresholds| thresholds.unknown),
            "not_a_face": now.thresholds.and_then(|thresholds| thresholds.not_a_face),
            "metric": options.get_metric().to_string(),
            "classifier": options.get_classifier().to_string(),
            "changed": !Arc::ptr_eq(&now.recognizer, &self.file),
            "ready": now.thresholds.is_some(),
            "revision": now.revision,
        })
    }

    /// Replaces the copy in memory.
    pub(super) fn replace(&self, recognizer: Arc<Recognizer>) -> anyhow::Result<()> {
        let mut now = locked(&self.now);
        now.recognizer = recognizer;
        now.revision += 1;
        now.thresholds = None;
        drop(now);
        Ok(locked(&self.requests).send(Request::Learn)?)
    }

    pub(super) fn shape(&self) -> anyhow::Result<ImageShape> {
        let none = || Refusal::conflict("the recognizer does not store the size of its images", "");
        Ok(self.recognizer().model().metadata().image().ok_or_else(none)?)
    }

    /// The pixels of an image that was sent.
    pub(super) fn pixels(&self, bytes: &[u8]) -> anyhow::Result<Array2<f64>> {
        let resized = self.recognizer().options().get_resized();
        let sent = |source| Error::Source { path: PathBuf::from(SENT), source };
        let row = image_row(bytes, self.shape()?, resized).map_err(sent)?;
        Ok(Array2::from_shape_vec((1, row.len()), row)?)
    }
}
