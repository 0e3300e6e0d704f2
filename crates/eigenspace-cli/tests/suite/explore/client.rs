//! A server of this test, and a small blocking client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Directory;

/// Nothing here may wait longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A server that is asked to end gives open connections half a second. On a busy machine it may
/// need longer.
const ENDING: Duration = Duration::from_secs(10);

/// A running server.
pub(super) struct Server {
    pub(super) child: Child,
    pub(super) url: String,
    pub(super) port: u16,
    pub(super) token: String,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}: {}", self.status, String::from_utf8_lossy(&self.body)))
    }
}

impl Server {
    pub(super) fn start(directory: &Directory, line: &str) -> Self {
        Self::run(&mut directory.command(&format!("explore {line} --no-open")))
    }

    /// A server that reads standard input, which begins like this.
    pub(super) fn start_reading(directory: &Directory, line: &str, first: &[u8]) -> Self {
        Self::run_with(&mut directory.command(&format!("explore {line} --no-open")), first)
    }

    /// Runs a command whose first line is the address.
    pub(super) fn run(command: &mut Command) -> Self {
        Self::run_with(command, b"")
    }

    fn run_with(command: &mut Command, first: &[u8]) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(first).unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        if url.is_empty() {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            child.wait().unwrap();
            panic!("no address: {said}");
        }
        let url = url.trim_end().to_owned();
        let rest = url.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once('/').unwrap();
        let (port, token) = (port.parse().unwrap(), token.trim_end_matches('/').to_owned());
        Self { child, url, port, token }
    }

    pub(super) fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().unwrap()
    }

    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends bytes and reads the answer to its end.
    pub(super) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        parsed(&bytes)
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_write_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Sends a request below the token with these headers.
    pub(super) fn request(&self, method: &str, below: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut text = format!("{method} /{}/{below} HTTP/1.1\r\nConnection: close\r\n", self.token);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text += &format!("Host: {}\r\n", self.host());
        }
        headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        if method != "GET" {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        text += "\r\n";
        self.raw(&[text.as_bytes(), body].concat())
    }

    pub(super) fn get(&self, below: &str) -> Answer {
        self.request("GET", below, &[], b"")
    }

    /// A question that must be answered with JSON.
    pub(super) fn ask(&self, below: &str) -> Value {
        let answer = self.get(&format!("api/{below}"));
        assert_eq!(answer.status, 200, "{below}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    pub(super) fn post(&self, below: &str, body: impl AsRef<[u8]>) -> Answer {
        self.request("POST", &format!("api/{below}"), &[], body.as_ref())
    }

    /// A request that must be refused with this status; returns the error.
    pub(super) fn refused(&self, below: &str, status: u16) -> String {
        let answer = self.get(&format!("api/{below}"));
        assert_eq!(answer.status, status, "{below}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()["error"].as_str().unwrap().to_owned()
    }

    /// Waits until the session is as expected.
    pub(super) fn wait_for(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let session = self.ask("session");
            if is(&session) {
                return session;
            }
            assert!(begun.elapsed() < LIMIT, "waited for {what}: {session:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Interrupts the server as Ctrl-C does, and returns its exit code and its messages.
    pub(super) fn interrupt(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(begun.elapsed() < ENDING, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (code, said)
    }

    /// A stream of events.
    pub(super) fn events(&self, headers: &[(&str, &str)], query: &str) -> Events {
        let mut stream = self.connect();
        let mut text = format!("GET /{}/api/stream{query} HTTP/1.1\r\nHost: {}\r\n", self.token, self.host());
        headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{text}\r\n").as_bytes()).unwrap();
        Events { lines: BufReader::new(stream) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One event.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) data: Value,
}

/// Events, one after the other.
pub(super) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    /// The next event; none at the end of the stream. Pieces of the chunked body are skipped over,
    /// because each event is in lines of its own.
    pub(super) fn next(&mut self) -> Option<Event> {
        let (mut id, mut name, mut data) = (None, None, None);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.parse().unwrap());
            } else if let Some(text) = line.strip_prefix("event: ") {
                name = Some(text.to_owned());
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(text).unwrap());
            } else if line.is_empty()
                && let Some(data) = data.take()
            {
                return Some(Event { id: id.unwrap(), name: name.unwrap(), data });
            }
        }
    }

    /// The next event of this kind.
    pub(super) fn next_of(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().unwrap_or_else(|| panic!("no {name}"));
            if event.name == name {
                return event;
            }
        }
    }
}

fn parsed(bytes: &[u8]) -> Answer {
    let end = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(bytes)));
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap_or((line, "")))
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect();
    let mut answer = Answer { status, headers, body: bytes[end + 4..].to_vec() };
    if answer.header("transfer-encoding") == Some("chunked") {
        answer.body = joined(&answer.body);
    }
    answer
}

/// The pieces of a chunked body.
fn joined(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = bytes.windows(2).position(|two| two == b"\r\n").expect("the body was cut short");
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return whole;
        }
        whole.extend(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
}
