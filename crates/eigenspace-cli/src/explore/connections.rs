//! Connections that end when the other side stops taking the answer.
//!
//! A download is written by one of a few threads while it is sent. A browser that keeps its
//! connection open without reading would hold that thread for ever, and a few of them would leave
//! none to answer anybody.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};

/// Accepts connections, and waits for so long until some of an answer is taken.
pub(super) struct Connections {
    pub(super) listener: TcpListener,
    pub(super) patience: Duration,
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (Connection { stream, patience: self.patience, waiting: None }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// One connection.
pub(super) struct Connection {
    stream: TcpStream,
    patience: Duration,
    /// Runs while there is something to send that nobody takes.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    /// What became of an attempt to send, or an error if the last successful one was too long ago.
    fn in_time<T>(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.waiting = None;
            return sent;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        waiting.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, to)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.in_time(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::mpsc::channel;

    use axum::Router;
    use axum::routing::get;

    use super::*;
    use crate::explore::server::streamed;

    /// Nothing here may wait longer.
    const LIMIT: Duration = Duration::from_secs(60);
    const WORKERS: usize = 2;

    /// As many downloads as there are threads, none of which is read, and then a question.
    #[test]
    fn downloads_that_nobody_reads_end_and_leave_room_for_answers() {
        let (port, ports) = channel();
        let (ended, ends) = channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(WORKERS).build();
            let runtime = runtime.expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
                port.send(listener.local_addr().expect("an address").port()).expect("the test");
                let endless = move || {
                    let ended = ended.clone();
                    async move {
                        streamed(Box::new(move |out| {
                            let error = loop {
                                if let Err(error) = out.write_all(&[0; 4096]) {
                                    break error;
                                }
                            };
                            let _ = ended.send(error.kind());
                            Err(error.into())
                        }))
                    }
                };
                let answered = || async { tokio::task::spawn_blocking(|| "answered").await.expect("an answer") };
                let router = Router::new().route("/endless", get(endless)).route("/question", get(answered));
                let connections = Connections { listener, patience: Duration::from_millis(100) };
                axum::serve(connections, router).await.expect("to serve");
            });
        });
        let port = ports.recv_timeout(LIMIT).expect("a port");
        let ask = |path: &str| {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
            stream.set_read_timeout(Some(LIMIT)).expect("a limit");
            write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("to ask");
            stream
        };
        let unread: Vec<_> = (0..WORKERS).map(|_| ask("/endless")).collect();
        let mut answer = String::new();
        ask("/question").read_to_string(&mut answer).expect("an answer");
        assert!(answer.ends_with("answered"), "{answer}");
        // All of them first: a download that has not ended yet would continue as soon as it is read.
        for _ in 0..WORKERS {
            assert_eq!(ends.recv_timeout(LIMIT), Ok(io::ErrorKind::BrokenPipe));
        }
        for mut stream in unread {
            // What was on its way comes, and then the end instead of the last, empty piece.
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            assert!(!bytes.ends_with(b"0\r\n\r\n"));
        }
    }
}
