//! Recognition: a desk that enrolls, forgets and recognizes, on a copy in memory.
//!
//! A matcher borrows its recognizer and takes a while to learn, so one thread owns both. It learns
//! again when images were enrolled or forgotten, and answers requests in between.

use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};

use eigenspace::faces::{Faces, Matcher, Recognizer, Verdict};
use ndarray::Array2;
use serde_json::json;

use crate::explore::face_desk::{Answer, Clerk, FaceDesk, Request};
use crate::explore::images;
use crate::explore::lock::locked;
use crate::explore::query::{Query, body, text};
use crate::explore::reply::{Refusal, Reply};
use crate::explore::session::Session;

/// Number of matches in an answer.
const MATCHES: usize = 5;

/// Replaces the copy in memory, and tells every page.
fn change(session: &Session, desk: &FaceDesk, recognizer: Arc<Recognizer>) -> anyhow::Result<Reply> {
    desk.replace(recognizer)?;
    session.changed();
    Ok(Reply::Json(desk.described()))
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
    change(session, desk, Arc::new(after))
}

/// Removes a person from the copy in memory.
pub(super) fn forget(session: &Session, bytes: &[u8]) -> anyhow::Result<Reply> {
    let desk = desk(session)?;
    let request = body(bytes)?;
    let after = desk.recognizer().forget(text(&request, "person")?)?;
    change(session, desk, Arc::new(after))
}

/// Returns to the recognizer of the file.
pub(super) fn restore(session: &Session) -> anyhow::Result<Reply> {
    let desk = desk(session)?;
    change(session, desk, Arc::clone(&desk.file))
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
