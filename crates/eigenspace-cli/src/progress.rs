//! Progress: a bar on a terminal, an occasional line in a log.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output;

/// Time between two lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Counts the rows processed, and their total if known.
pub(crate) struct Progress {
    what: String,
    unit: &'static str,
    bar: Option<ProgressBar>,
    start: Instant,
    last_line: Instant,
    first: u64,
    rows: u64,
    total: Option<u64>,
}

impl Progress {
    /// Starts at row `first` of `total`, which may be unknown.
    pub(crate) fn new(what: &str, first: u64, total: Option<u64>) -> Self {
        Self::of("rows", what, first, total)
    }

    /// The same for units other than rows.
    pub(crate) fn of(unit: &'static str, what: &str, first: u64, total: Option<u64>) -> Self {
        let now = Instant::now();
        let bar = output::is_interactive().then(|| {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let known = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}  {{rate}}  {{eta}} left");
            let unknown = format!("{{msg}} {{spinner}} {{human_pos}} {unit}  {{rate}}  {{elapsed}}");
            // These templates are always valid.
            if let Ok(style) = ProgressStyle::with_template(if total.is_some() { &known } else { &unknown }) {
                let rate = move |state: &ProgressState, out: &mut dyn Write| {
                    let _ = write!(out, "{:.0} {unit}/s", state.per_sec());
                };
                bar.set_style(style.with_key("rate", rate));
            }
            bar.set_message(eigenspace::internal::printable(what).into_owned());
            bar.set_position(first);
            bar.reset_eta();
            bar
        });
        Self { what: what.into(), unit, bar, start: now, last_line: now, first, rows: first, total }
    }

    pub(crate) fn add(&mut self, rows: u64) {
        self.rows += rows;
        match &self.bar {
            Some(bar) => bar.set_position(self.rows),
            None if self.last_line.elapsed() >= LOG_INTERVAL => {
                self.last_line = Instant::now();
                output::message(&self.line());
            }
            None => {}
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self) -> String {
        let rate = (self.rows - self.first) as f64 / self.start.elapsed().as_secs_f64();
        let Self { what, unit, rows, .. } = self;
        match self.total {
            Some(total) => {
                let left = total.saturating_sub(*rows) as f64 / rate.max(1e-9);
                format!("{what}: {rows} of {total} {unit}, {rate:.0} {unit}/s, {left:.0} s left")
            }
            None => format!("{what}: {rows} {unit}, {rate:.0} {unit}/s"),
        }
    }
}
