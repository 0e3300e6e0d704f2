//! Processes that end when a test ends, and files for them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::reference::{D, site};

/// Nothing takes longer than this, even on a busy machine.
pub(crate) const LONGEST: Duration = Duration::from_secs(300);

/// One cluster at a time: there may be only two cores.
static TURN: Mutex<()> = Mutex::new(());

/// A process. It is killed when this value is dropped, also if a test fails.
pub(crate) struct Process {
    child: Child,
    /// What it wrote to stderr.
    heard: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
}

impl Process {
    pub(crate) fn start(directory: &Path, words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenspace-sql"));
        command.args(words).current_dir(directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let heard = Arc::new(Mutex::new(String::new()));
        let (errors, text) = (child.stderr.take().unwrap(), Arc::clone(&heard));
        let listener = std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                *text.lock().unwrap() += &format!("{line}\n");
            }
        });
        Self { child, heard, listener: Some(listener) }
    }

    pub(crate) fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }

    /// Waits for a line with this text on stderr.
    pub(crate) fn line_with(&mut self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let heard = self.heard();
            if let Some(line) = heard.lines().find(|line| line.contains(text)) {
                return line.to_owned();
            }
            let over = self.has_ended() || start.elapsed() > LONGEST;
            assert!(!over, "no line with `{text}` in:\n{heard}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Kills the process at once (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end: the exit code, stdout and stderr.
    pub(crate) fn finish(&mut self) -> (Option<i32>, String, String) {
        let mut printed = self.child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            printed.read_to_string(&mut text).map(|_| text)
        });
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() > LONGEST {
                self.kill();
                panic!("no end within {LONGEST:?}; stderr:\n{}", self.heard());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let code = self.child.wait().unwrap().code();
        self.listener.take().map(JoinHandle::join);
        (code, reader.join().unwrap().unwrap(), self.heard())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A scheduler, executors with one thread each, and a directory.
pub(crate) struct Cluster {
    pub(crate) executors: Vec<Process>,
    pub(crate) scheduler: Process,
    /// HOST:PORT of the scheduler.
    pub(crate) address: String,
    place: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Cluster {
    /// The scheduler has these options.
    pub(crate) fn start(executors: usize, options: &[&str]) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let place = tempfile::tempdir().unwrap();
        let words = [&["scheduler", "--port", "0", "--timeout", "10"], options].concat();
        let mut scheduler = Process::start(place.path(), &words);
        let line = scheduler.line_with("scheduler listening on ");
        let address = line.rsplit(' ').next().unwrap().to_owned();
        let mut cluster = Self { executors: Vec::new(), scheduler, address, place, _turn: turn };
        for index in 0..executors {
            let work = format!("work{index}");
            let words = ["executor", "--scheduler", &cluster.address, "--threads", "1", "--work-dir", &work];
            let executor = Process::start(cluster.place(), &words);
            cluster.executors.push(executor);
        }
        cluster.wait_for_executors(executors);
        cluster
    }

    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Where an executor keeps its results.
    pub(crate) fn work_of(&self, executor: usize) -> PathBuf {
        self.place().join(format!("work{executor}"))
    }

    fn wait_for_executors(&self, count: usize) {
        let start = Instant::now();
        while count > 0 && !readiness(&self.address).contains(&format!("ready: {count} executors")) {
            assert!(start.elapsed() < LONGEST, "{}", readiness(&self.address));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts a query on the cluster.
    pub(crate) fn begin(&self, words: &[&str]) -> Process {
        Process::start(self.place(), &[&["--cluster", &self.address], words].concat())
    }

    /// The stdout of a query that succeeds.
    pub(crate) fn printed(&self, words: &[&str]) -> String {
        let (code, printed, heard) = self.begin(words).finish();
        assert_eq!(code, Some(0), "{words:?}: {heard}");
        printed
    }

    /// The stderr of a query that fails.
    pub(crate) fn failed(&self, words: &[&str]) -> String {
        let (code, printed, heard) = self.begin(words).finish();
        assert_eq!((code, printed.as_str()), (Some(1), ""), "{words:?}: {heard}");
        heard
    }
}

/// What the scheduler says about its executors.
fn readiness(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: scheduler\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The stdout of a command without a cluster.
pub(crate) fn printed_here(directory: &Path, words: &[&str]) -> String {
    let (code, printed, heard) = Process::start(directory, words).finish();
    assert_eq!(code, Some(0), "{words:?}: {heard}");
    printed
}

/// The rows in this many CSV files with the columns site, a, b, c and d in a directory.
pub(crate) fn write_csv(directory: &Path, rows: &[[f64; D]], files: usize) {
    fs::create_dir_all(directory).unwrap();
    let share = rows.len().div_ceil(files);
    for (file, part) in rows.chunks(share).enumerate() {
        let line =
            |(row, [a, b, c, d]): (usize, &[f64; D])| format!("{},{a:?},{b:?},{c:?},{d:?}\n", site(file * share + row));
        let lines: String = part.iter().enumerate().map(line).collect();
        fs::write(directory.join(format!("part{file:02}.csv")), format!("site,a,b,c,d\n{lines}")).unwrap();
    }
}

/// An NPY file of rows.
pub(crate) fn write_npy(path: &Path, width: usize, cells: &[f64]) {
    let shape = format!("({}, {width})", cells.len() / width);
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(cells.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}
