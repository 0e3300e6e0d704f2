//! The server: checks every request, answers it on another thread, and ends when it is asked to.
//!
//! ```text
//! request → security.rs → page (assets.rs) · events (events.rs) · answers (routes.rs, in spawn_blocking)
//! ```

use std::io::{self, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use crate::explore::connections::Connections;
use crate::explore::query::Query;
use crate::explore::reply::{Refusal, Reply, Writer, refusal};
use crate::explore::security::{Gate, harden};
use crate::explore::session::Session;
use crate::explore::{assets, event_stream, routes};
use crate::report;

/// Largest body of a request.
pub(super) const BODY_LIMIT: usize = 16 << 20;
/// Number of requests that are computed at a time.
const WORKERS: usize = 4;
/// Time that open connections have to end.
const GRACE: Duration = Duration::from_millis(500);
/// A connection ends if none of an answer is taken for so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a piece of a download.
const PIECE: usize = 1 << 16;

/// Wakes the server when it should end.
static STOP: Notify = Notify::const_new();
static SERVING: AtomicBool = AtomicBool::new(false);

/// Asks the server to end. False if none is running, or if it was asked before.
pub(crate) fn stop() -> bool {
    let serving = SERVING.swap(false, Ordering::SeqCst);
    if serving {
        STOP.notify_one();
    }
    serving
}

/// What every request can see.
struct Site {
    gate: Gate,
    session: Arc<Session>,
}

/// Serves the session until [`stop`] is called.
pub(super) fn serve(listener: TcpListener, gate: Gate, session: &Arc<Session>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .build()
        .context("cannot start the server")?;
    SERVING.store(true, Ordering::SeqCst);
    let site = Arc::new(Site { gate, session: Arc::clone(session) });
    let served = runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = Connections { listener: tokio::net::TcpListener::from_std(listener)?, patience: PATIENCE };
        let router = Router::new().fallback(handle).with_state(site);
        let (ending, ended) = tokio::sync::oneshot::channel::<()>();
        let server = axum::serve(listener, router).with_graceful_shutdown(async { drop(ended.await) });
        let mut server = tokio::spawn(async move { server.await });
        tokio::select! {
            result = &mut server => return result.map_err(io::Error::other)?,
            () = STOP.notified() => {}
        }
        // Graceful shutdown waits for streams of events, so they end first.
        session.events.end("the server was stopped");
        let _ = ending.send(());
        let _ = tokio::time::timeout(GRACE, server).await;
        Ok(())
    });
    // Requests that are still computed are not waited for.
    runtime.shutdown_background();
    served.context("cannot serve the page")
}

/// Answers one request.
async fn handle(State(site): State<Arc<Site>>, request: Request) -> Response {
    let mut response = match site.gate.admit(request.method(), request.uri().path(), request.headers()) {
        Ok(below) => {
            let below = below.to_owned();
            admitted(&site, &below, request).await
        }
        Err(status) => plain(status),
    };
    harden(response.headers_mut());
    response
}

/// Answers a request of our own page.
async fn admitted(site: &Site, below: &str, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(path) = below.strip_prefix("api/") else {
        return match assets::find(below) {
            Some(_) if parts.method != Method::GET => plain(StatusCode::METHOD_NOT_ALLOWED),
            Some((kind, bytes)) => answer(StatusCode::OK, kind, Body::from(bytes)),
            None => plain(StatusCode::NOT_FOUND),
        };
    };
    let query = Query::new(parts.uri.query().unwrap_or_default());
    if path == "stream" && parts.method == Method::GET {
        return event_stream::stream(Arc::clone(&site.session), &parts.headers, &query);
    }
    let body = match received(&parts.headers, body).await {
        Ok(body) => body,
        Err(error) => return refused(&error.into()),
    };
    let request = routes::Request { method: parts.method, path: path.to_owned(), query, body };
    let session = Arc::clone(&site.session);
    let computed = tokio::task::spawn_blocking(move || report::without_panics(|| routes::answer(&session, &request)));
    match computed.await.unwrap_or_else(|_| Err(Refusal::internal().into())) {
        Ok(reply) => replied(reply),
        Err(error) => refused(&error),
    }
}

/// The body of a request, if it is not too large.
async fn received(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Refusal> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > BODY_LIMIT as u64) {
        return Err(Refusal::too_large(BODY_LIMIT));
    }
    to_bytes(body, BODY_LIMIT).await.map(|bytes| bytes.to_vec()).map_err(|_| Refusal::too_large(BODY_LIMIT))
}

fn replied(reply: Reply) -> Response {
    match reply {
        Reply::Json(value) => json(StatusCode::OK, &value),
        Reply::Bytes(kind, bytes) => answer(StatusCode::OK, kind, Body::from(bytes)),
        Reply::Nothing => answer(StatusCode::NO_CONTENT, "text/plain", Body::empty()),
        Reply::Download { kind, name, write } => {
            let mut response = answer(StatusCode::OK, kind, streamed(write));
            if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
                response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
            }
            response
        }
    }
}

fn refused(error: &anyhow::Error) -> Response {
    let (status, value) = refusal(error);
    json(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &value)
}

fn json(status: StatusCode, value: &Value) -> Response {
    answer(status, "application/json", Body::from(value.to_string()))
}

fn plain(status: StatusCode) -> Response {
    answer(status, "text/plain; charset=utf-8", Body::from(format!("{status}\n")))
}

fn answer(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A body that is written by another thread while it is sent.
pub(super) fn streamed(write: Writer) -> Body {
    let (sender, receiver) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        let mut pieces = Pieces { sender, piece: Vec::with_capacity(PIECE) };
        let written = report::without_panics(|| write(&mut pieces));
        let sent = written.and_then(|()| Ok(pieces.send()?));
        if let Err(error) = sent {
            // Cuts the download short, so that the browser does not take it for complete.
            let _ = pieces.sender.blocking_send(Err(io::Error::other(error.to_string())));
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}

/// Writes to the body in pieces.
struct Pieces {
    sender: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Pieces {
    fn send(&mut self) -> io::Result<()> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        if piece.is_empty() {
            return Ok(());
        }
        self.sender.blocking_send(Ok(piece.into())).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
