//! Messages of Ballista and DataFusion, on stderr. A message that repeats is printed once.

use std::sync::Mutex;

use log::{LevelFilter, Log, Metadata, Record};

use crate::output::message;

/// What is printed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Level {
    /// Warnings and errors.
    #[default]
    Warnings,
    /// What the process does, too.
    Verbose,
}

/// What a scheduler says when an executor asks for its policy, as every executor does once.
const EXPECTED: [&str; 2] = ["Received invalid executor poll_work request", "Poll work interface is not supported"];

struct Printer {
    last: Mutex<String>,
}

static PRINTER: Printer = Printer { last: Mutex::new(String::new()) };

/// Prints messages from now on.
pub(crate) fn start(level: Level) {
    let level = match level {
        Level::Warnings => LevelFilter::Warn,
        Level::Verbose => LevelFilter::Info,
    };
    // Fails only if it was called before.
    if log::set_logger(&PRINTER).is_ok() {
        log::set_max_level(level);
    }
}

impl Log for Printer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        if EXPECTED.iter().any(|start| text.starts_with(start)) {
            return;
        }
        let text = format!("{}: {text}", record.level().as_str().to_lowercase());
        let Ok(mut last) = self.last.lock() else { return };
        if *last != text {
            message(&text);
            *last = text;
        }
    }

    fn flush(&self) {}
}
