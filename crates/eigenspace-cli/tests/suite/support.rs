//! A temporary directory for each test, in which the command runs.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Names and bytes of files, directories with a slash at the end.
pub(crate) type Listing = BTreeMap<String, Vec<u8>>;

/// A temporary directory.
pub(crate) struct Directory(TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// With one file in it.
    pub(crate) fn with(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let directory = Self::new();
        directory.write(name, bytes);
        directory
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the directories that it is in.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// All that is in the directory.
    pub(crate) fn listing(&self) -> Listing {
        let mut found = Listing::new();
        list(self.0.path(), "", &mut found);
        found
    }

    /// The command with these words, in this directory.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenspace"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "RAYON_NUM_THREADS"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the command to its end, with nothing on standard input.
    pub(crate) fn run(&self, line: &str) -> Said {
        self.run_with(line, b"")
    }

    /// Runs the command to its end, with these bytes on standard input.
    pub(crate) fn run_with(&self, line: &str, input: &[u8]) -> Said {
        finish(&mut self.command(line), input)
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub(crate) fn done(&self, line: &str) -> String {
        let said = self.run(line);
        assert_eq!(said.code, Some(0), "{line}\n{said}");
        said.out
    }

    /// Runs a command that must succeed and print JSON.
    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.done(line)).unwrap()
    }

    /// Runs a command that must fail, and leave all files as they are.
    pub(crate) fn refused(&self, line: &str) -> Said {
        self.refused_with(line, b"")
    }

    pub(crate) fn refused_with(&self, line: &str, input: &[u8]) -> Said {
        let before = self.listing();
        let said = self.run_with(line, input);
        assert_eq!(said.code, Some(2), "{line}\n{said}");
        same_files(&before, &self.listing());
        said
    }
}

/// No file came, went or changed.
pub(crate) fn same_files(before: &Listing, after: &Listing) {
    let names = |listing: &Listing| listing.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(before), names(after), "files came or went");
    for (name, bytes) in before {
        assert!(*bytes == after[name], "`{name}` was changed");
    }
}

/// Gives the bytes to a command and waits for it.
pub(crate) fn finish(command: &mut Command, input: &[u8]) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A command that does not want it may be gone already.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    output.into()
}

fn list(directory: &Path, prefix: &str, found: &mut Listing) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            list(&path, &format!("{name}/"), found);
            found.insert(format!("{name}/"), Vec::new());
        } else {
            found.insert(name, fs::read(path).unwrap());
        }
    }
}

/// How a command ended, and all that it said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit: {code}")?,
            None => writeln!(f, "exit: by a signal")?,
        }
        for (name, text) in [("stdout", &self.out), ("stderr", &self.err)] {
            if !text.is_empty() {
                write!(f, "----- {name} -----\n{text}")?;
            }
        }
        Ok(())
    }
}

/// The numbers of a list in JSON.
pub(crate) fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// Within `tolerance` of each other, entry by entry.
pub(crate) fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} against {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

/// A number with thousands separators, as messages show it.
pub(crate) fn grouped(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", grouped(number / 1000), number % 1000) }
}
