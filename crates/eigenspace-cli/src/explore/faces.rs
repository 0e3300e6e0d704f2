//! Recognition: a desk that enrolls, forgets and recognizes, on a copy in memory.
//!
//! A matcher borrows its recognizer and takes a while to learn, so one thread owns both. It learns
//! again when images were enrolled or forgotten, and answers requests in between.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};

use eigenspace::ImageShape;
use eigenspace::faces::{Faces, Matcher, Recognition, Recognizer, Thresholds, Verdict};
use eigenspace::internal::image_row;
use eigenspace::io::Error;
use ndarray::Array2;
use serde_json::{Value, json};

use crate::explore::images;
use crate::explore::query::{Query, body, text};
use crate::explore::reply::{Refusal, Reply};
use crate::explore::session::Session;
use crate::explore::shelf::locked;

/// Number of matches in an answer.
const MATCHES: usize = 5;
/// What errors call an image that was sent.
const SENT: &str = "the image";

/// A recognizer that can be changed in memory.
pub(super) struct FaceDesk {
    /// The model of the file, on the shelf.
    model: u64,
    file: Arc<Recognizer>,
    now: Mutex<Now>,
    requests: Mutex<Sender<Request>>,
}

struct Now {
    recognizer: Arc<Recognizer>,
    revision: u64,
    /// Known once the matcher has learned them.
    thresholds: Option<Thresholds>,
}

type Answer = anyhow::Result<(Recognition, Thresholds)>;

enum Request {
    Recognize(Array2<f64>, Sender<Answer>),
    /// The recognizer changed.
    Learn,
}

impl FaceDesk {
    /// A desk for a recognizer, and the worker that answers its requests; call [`Clerk::work`] on a
    /// thread of its own.
    pub(super) fn new(model: u64, recognizer: Recognizer) -> (Self, Clerk) {
        let file = Arc::new(recognizer);
        let (sender, requests) = channel();
        let now = Now { recognizer: Arc::clone(&file), revision: 1, thresholds: None };
        (Self { model, file, now: Mutex::new(now), requests: Mutex::new(sender) }, Clerk(requests))
    }

    fn recognizer(&self) -> Arc<Recognizer> {
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
    fn change(&self, session: &Session, recognizer: Arc<Recognizer>) -> anyhow::Result<Reply> {
        let mut now = locked(&self.now);
        now.recognizer = recognizer;
        now.revision += 1;
        now.thresholds = None;
        drop(now);
        locked(&self.requests).send(Request::Learn)?;
        session.changed();
        Ok(Reply::Json(self.described()))
    }

    fn shape(&self) -> anyhow::Result<ImageShape> {
        let none = || Refusal::conflict("the recognizer does not store the size of its images", "");
        Ok(self.recognizer().model().metadata().image().ok_or_else(none)?)
    }

    /// The pixels of an image that was sent.
    fn pixels(&self, bytes: &[u8]) -> anyhow::Result<Array2<f64>> {
        let resized = self.recognizer().options().get_resized();
        let sent = |source| Error::Source { path: PathBuf::from(SENT), source };
        let row = image_row(bytes, self.shape()?, resized).map_err(sent)?;
        Ok(Array2::from_shape_vec((1, row.len()), row)?)
    }
}

/// The desk of the session.
fn desk(session: &Session) -> anyhow::Result<&FaceDesk> {
    let none = || {
        Refusal::missing(
            "there is no recognizer",
            "pass a recognizer on the command line; make one with `eigenspace faces train`",
        )
    };
    Ok(session.faces.as_ref().ok_or_else(none)?)
}

/// The thread that recognizes.
pub(super) struct Clerk(Receiver<Request>);

impl Clerk {
    /// Answers requests until the session ends.
    pub(super) fn work(self, session: &Weak<Session>) {
        while let Some(recognizer) =
            session.upgrade().and_then(|session| session.faces.as_ref().map(FaceDesk::recognizer))
        {
            let matcher = recognizer.matcher();
            if let Some(session) = session.upgrade() {
                if let (Some(desk), Ok(matcher)) = (&session.faces, &matcher) {
                    locked(&desk.now).thresholds = Some(matcher.thresholds());
                }
                session.changed();
            }
            loop {
                match self.0.recv() {
                    Ok(Request::Recognize(row, answer)) => drop(answer.send(recognize(matcher.as_ref(), &row))),
                    Ok(Request::Learn) => break,
                    Err(_) => return,
                }
            }
        }
    }
}

fn recognize(matcher: Result<&Matcher<'_>, &eigenspace::faces::Error>, row: &Array2<f64>) -> Answer {
    let matcher = matcher.map_err(|error| anyhow::anyhow!("cannot recognize faces: {error}"))?;
    let found = matcher.recognize(row)?.into_iter().next();
    Ok((found.ok_or_else(Refusal::internal)?, matcher.thresholds()))
}

/// Recognizes an image that was sent, or a row.
pub(super) fn answer(session: &Session, query: &Query, bytes: &[u8]) -> anyhow::Result<Reply> {
    let desk = desk(session)?;
    let row = match query.number("row")? {
        Some(row) => session.rows()?.row(row)?.to_f64(),
        None => desk.pixels(bytes)?,
    };
    let (sender, answer) = channel();
    locked(&desk.requests).send(Request::Recognize(row, sender))?;
    let (found, thresholds) = answer.recv().map_err(|_| Refusal::internal())??;
    let recognizer = desk.recognizer();
    let images: Vec<(String, String)> =
        recognizer.images().map(|(person, name)| (person.into(), name.into())).collect();
    let place = |person: &str, image: &str| images.iter().position(|(p, name)| p == person && name == image);
    let matches = found.matches.iter().take(MATCHES).map(|near| {
        json!({ "person": near.person, "name": near.image, "distance": near.distance, "image": place(&near.person, &near.image) })
    });
    let candidates = found.candidates.iter().take(MATCHES).map(
        |candidate| json!({ "person": candidate.person, "score": candidate.score, "distance": candidate.distance }),
    );
    Ok(Reply::Json(json!({
        "verdict": match found.verdict {
            Verdict::Person(_) => "known",
            Verdict::Unknown => "unknown",
            Verdict::NotAFace => "not a face",
        },
        "person": found.person(),
        "distance": found.distance,
        "face_distance": found.face_distance,
        "unknown": thresholds.unknown,
        "not_a_face": thresholds.not_a_face,
        "matches": matches.collect::<Vec<_>>(),
        "candidates": candidates.collect::<Vec<_>>(),
        "revision": locked(&desk.now).revision,
    })))
}

/// Adds an image of a person to the copy in memory.
pub(super) fn enroll(session: &Session, query: &Query, bytes: &[u8]) -> anyhow::Result<Reply> {
    let desk = desk(session)?;
    let person = query.get("person").map(str::trim).filter(|person| !person.is_empty());
    let person = person.ok_or_else(|| Refusal::bad("cannot enroll an image without the name of the person", ""))?;
    let rows = match query.number("row")? {
        Some(row) => session.rows()?.row(row)?.to_f64(),
        None => desk.pixels(bytes)?,
    };
    let before = desk.recognizer();
    let taken: Vec<&str> = before.images().filter(|(known, _)| *known == person).map(|(_, name)| name).collect();
    let free = (1..).map(|number| format!("page-{number}")).find(|name| !taken.contains(&name.as_str()));
    let name = free.expect("a finite number of names is taken");
    let after = before.enroll(Faces::new(&rows, &[person.to_owned()], &[name]))?;
    desk.change(session, Arc::new(after))
}

/// Removes a person from the copy in memory.
pub(super) fn forget(session: &Session, bytes: &[u8]) -> anyhow::Result<Reply> {
    let desk = desk(session)?;
    let request = body(bytes)?;
    let after = desk.recognizer().forget(text(&request, "person")?)?;
    desk.change(session, Arc::new(after))
}

/// Returns to the recognizer of the file.
pub(super) fn restore(session: &Session) -> anyhow::Result<Reply> {
    let desk = desk(session)?;
    desk.change(session, Arc::clone(&desk.file))
}

/// An enrolled image, reconstructed from its scores.
pub(super) fn image(session: &Session, number: usize) -> anyhow::Result<Reply> {
    let desk = desk(session)?;
    let recognizer = desk.recognizer();
    let found = recognizer.images().nth(number).map(|(person, name)| (person.to_owned(), name.to_owned()));
    let (person, name) = found.ok_or_else(|| Refusal::missing(format!("there is no enrolled image {number}"), ""))?;
    let pixels = recognizer.image(&person, &name)?;
    images::photograph(desk.shape()?, &pixels.to_vec(), recognizer.options().get_pixels())
}

/// A recognizer file, if this is one.
pub(super) fn load(path: &Path) -> anyhow::Result<Recognizer> {
    Ok(Recognizer::load(path)?)
}
