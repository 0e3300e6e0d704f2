//! How far the work is: a bar for people, quiet lines for logs.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output;

/// Time between two lines in a log.
const QUIET: Duration = Duration::from_secs(10);

/// Rows done, of rows known.
pub(crate) struct Progress {
    what: String,
    unit: &'static str,
    bar: Option<ProgressBar>,
    start: Instant,
    said: Instant,
    first: u64,
    rows: u64,
    total: Option<u64>,
}

impl Progress {
    /// Begins at row `first` of `total`, where that is known.
    pub(crate) fn new(what: &str, first: u64, total: Option<u64>) -> Self {
        Self::of("rows", what, first, total)
    }

    /// The same of other things than rows.
    pub(crate) fn of(unit: &'static str, what: &str, first: u64, total: Option<u64>) -> Self {
        let now = Instant::now();
        let bar = output::is_watched().then(|| {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let known = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}  {{rate}}  {{eta}} left");
            let unknown = format!("{{msg}} {{spinner}} {{human_pos}} {unit}  {{rate}}  {{elapsed}}");
            // A template of ours is always valid.
            if let Ok(style) = ProgressStyle::with_template(if total.is_some() { &known } else { &unknown }) {
                let rate = move |state: &ProgressState, out: &mut dyn Write| {
                    let _ = write!(out, "{:.0} {unit}/s", state.per_sec());
                };
                bar.set_style(style.with_key("rate", rate));
            }
            bar.set_message(eigenspace::printable(what).into_owned());
            bar.set_position(first);
            bar.reset_eta();
            bar
        });
        Self { what: what.into(), unit, bar, start: now, said: now, first, rows: first, total }
    }

    pub(crate) fn add(&mut self, rows: u64) {
        self.rows += rows;
        match &self.bar {
            Some(bar) => bar.set_position(self.rows),
            None if self.said.elapsed() >= QUIET => {
                self.said = Instant::now();
                output::talk(&self.line());
            }
            None => {}
        }
    }

    /// Takes the bar away.
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
