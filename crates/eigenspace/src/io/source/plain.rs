//! Reads plain lines of text, in parallel and directly into the rows.
//!
//! ```text
//! 0.5,-1.25e-3,,setosa            a plain line: every cell is valid, and there are as many as there should be
//! ```
//!
//! A cell is plain if it has no quotation marks around it, or nothing but text without quotation
//! marks in between. Lines that are not plain, among them all that cause errors, are left to the
//! reader in `lines.rs`, which knows all the rules. Both give the same rows; a test below compares
//! them.

use memchr::memchr;
use rayon::prelude::*;

use crate::io::source::cell::Notation;
use crate::io::source::choice::Choice;

/// Delimiters that can be neither part of a number nor a quotation mark or the end of a line.
const DELIMITERS: &[u8] = b",;\t|: ";
/// Number of bytes from which on lines are divided among threads.
const PARALLEL_BYTES: usize = 1 << 16;
/// Number of parts for each thread.
const PARTS_PER_THREAD: usize = 4;
/// Largest number of lines that are left to the other reader before the next attempt.
const MAX_PAUSE: usize = 63;
/// Factor by which the number of lines of an attempt grows.
const GROWTH: usize = 4;

/// The rows of a block, one after the other.
pub(super) struct Rows {
    pub(super) values: Vec<f64>,
    pub(super) labels: Option<Vec<String>>,
    pub(super) weights: Option<Vec<f64>>,
    /// The number of the line of each row.
    pub(super) lines: Vec<u64>,
}

/// What the cells of a column are used for.
#[derive(Clone, Default)]
struct Use {
    /// The index of the feature.
    feature: Option<usize>,
    label: bool,
    weight: bool,
}

/// Reads plain lines.
pub(super) struct Plain {
    notation: Notation,
    delimiter: u8,
    columns: Vec<Use>,
    width: usize,
    attempts: Attempts,
}

impl Plain {
    /// A reader of lines with `count` cells. `None` if no line with this delimiter is plain.
    pub(super) fn new(choice: &Choice, count: usize, notation: &Notation, delimiter: u8) -> Option<Self> {
        if !DELIMITERS.contains(&delimiter) {
            return None;
        }
        let mut columns = vec![Use::default(); count];
        for (feature, &column) in choice.features.iter().enumerate() {
            columns.get_mut(column)?.feature = Some(feature);
        }
        if let Some(column) = choice.label {
            columns.get_mut(column)?.label = true;
        }
        if let Some(column) = choice.weight {
            columns.get_mut(column)?.weight = true;
        }
        let (notation, width, attempts) = (notation.clone(), choice.features.len(), Attempts::default());
        Some(Self { notation, delimiter, columns, width, attempts })
    }

    /// Number of lines to read with [`read`](Self::read), at most `most`. If it is 0, the next line
    /// should be left to the other reader.
    pub(super) fn lines_to_try(&mut self, most: usize) -> usize {
        self.attempts.next(most)
    }

    /// Appends the rows of lines, up to the first that is not plain, and returns their number.
    /// `ends` are the positions after the lines in the text.
    pub(super) fn read(&mut self, text: &[u8], ends: &[usize], rows: &mut Rows) -> usize {
        let old = rows.values.len();
        rows.values.resize(old + ends.len() * self.width, 0.0);
        let values = &mut rows.values[old..];
        let threads = rayon::current_num_threads();
        let parts = match ends.last() {
            Some(&bytes) if threads > 1 && bytes > PARALLEL_BYTES && self.width > 0 => {
                let lines = ends.len().div_ceil(PARTS_PER_THREAD * threads);
                let starts = |part: usize| if part == 0 { 0 } else { ends[part * lines - 1] };
                let parts = ends.par_chunks(lines).zip(values.par_chunks_mut(lines * self.width)).enumerate();
                parts.map(|(part, (ends, values))| self.part(text, starts(part), ends, values)).collect()
            }
            _ => vec![self.part(text, 0, ends, values)],
        };
        let mut count = 0;
        for part in parts {
            count += part.lines;
            if let Some(labels) = &mut rows.labels {
                labels.extend(part.labels);
            }
            if let Some(weights) = &mut rows.weights {
                weights.extend(part.weights);
            }
            if !part.complete {
                break;
            }
        }
        rows.values.truncate(old + count * self.width);
        self.attempts.learn(count, ends.len());
        count
    }

    /// Reads some lines. The first begins at `start`.
    fn part(&self, text: &[u8], mut start: usize, ends: &[usize], values: &mut [f64]) -> Part {
        let mut part = Part { lines: 0, complete: true, labels: Vec::new(), weights: Vec::new() };
        let mut rest = values;
        for &end in ends {
            let (row, later) = rest.split_at_mut(self.width.min(rest.len()));
            // Without LF, and without CR before it.
            let line = &text[start..end - 1];
            let length = line.strip_suffix(b"\r").unwrap_or(line).len();
            if self.line(&text[start..], length, row, &mut part).is_none() {
                part.complete = false;
                part.labels.truncate(part.lines);
                part.weights.truncate(part.lines);
                break;
            }
            part.lines += 1;
            (start, rest) = (end, later);
        }
        part
    }

    /// Reads a line into a row. The text goes on after the line. `None` if it is not plain.
    #[inline]
    fn line(&self, text: &[u8], length: usize, row: &mut [f64], part: &mut Part) -> Option<()> {
        let mut start = 0;
        for (column, used) in self.columns.iter().enumerate() {
            let last = column + 1 == self.columns.len();
            if let (Some(feature), false, false) = (used.feature, used.label, used.weight)
                && let Some((value, read)) = self.notation.leading_number(&text[start..])
                && (if last { start + read == length } else { text.get(start + read) == Some(&self.delimiter) })
            {
                *row.get_mut(feature)? = value;
                start += read + 1;
                continue;
            }
            // A line with a single cell may be an empty one.
            if self.columns.len() == 1 {
                return None;
            }
            let (cell, end) = self.cell(text.get(start..length)?)?;
            if last != (start + end == length) {
                return None;
            }
            if let Some(feature) = used.feature {
                *row.get_mut(feature)? = self.notation.number(cell).ok()?;
            }
            if used.label {
                part.labels.push(std::str::from_utf8(cell.trim_ascii()).ok()?.to_owned());
            }
            if used.weight {
                part.weights.push(self.notation.number(cell).ok()?);
            }
            start += end + 1;
        }
        Some(())
    }

    /// The cell at the start of the rest of a line, without quotation marks, and the position of
    /// the delimiter after it, or of the end.
    fn cell<'a>(&self, rest: &'a [u8]) -> Option<(&'a [u8], usize)> {
        match rest.strip_prefix(b"\"") {
            None => {
                let end = memchr(self.delimiter, rest).unwrap_or(rest.len());
                Some((&rest[..end], end))
            }
            Some(quoted) => {
                let length = memchr(b'"', quoted)?;
                let end = length + 2;
                rest.get(end).is_none_or(|&next| next == self.delimiter).then_some((&quoted[..length], end))
            }
        }
    }
}

/// What was read from some lines, besides the features.
struct Part {
    /// Number of lines before the first that is not plain.
    lines: usize,
    /// Whether these are all.
    complete: bool,
    labels: Vec<String>,
    weights: Vec<f64>,
}

/// How many lines to read at a time: many as long as all are plain, few after one that is not, and
/// none for a while if there are many of those.
struct Attempts {
    lines: usize,
    /// Number of lines to leave to the other reader, now and after the next failure.
    pause: usize,
    next_pause: usize,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { lines: usize::MAX, pause: 0, next_pause: 0 }
    }
}

impl Attempts {
    fn next(&mut self, most: usize) -> usize {
        if self.pause > 0 {
            self.pause -= 1;
            return 0;
        }
        self.lines.min(most)
    }

    /// Some lines were plain, and then one that was not, unless these were all.
    fn learn(&mut self, plain: usize, tried: usize) {
        if plain == tried {
            (self.lines, self.next_pause) = (self.lines.saturating_mul(GROWTH), 0);
            return;
        }
        self.lines = 1;
        self.next_pause = if plain > 0 { 0 } else { MAX_PAUSE.min(2 * self.next_pause + 1) };
        self.pause = self.next_pause;
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempts, MAX_PAUSE};

    #[test]
    fn where_no_line_is_plain_few_are_tried_and_where_all_are_plain_again_all_are() {
        let mut attempts = Attempts::default();
        assert_eq!(attempts.next(1000), 1000);
        let mut tried = 0;
        for _ in 0..10_000 {
            if attempts.next(1000) > 0 {
                attempts.learn(0, 1);
                tried += 1;
            }
        }
        assert!(tried <= 10_000 / MAX_PAUSE + 6, "{tried}");
        let mut lines = 0;
        while attempts.next(usize::MAX) == 0 {
            lines += 1;
        }
        assert!(lines <= MAX_PAUSE);
        for _ in 0..5 {
            let next = attempts.next(usize::MAX);
            attempts.learn(next, next);
        }
        assert_eq!(attempts.next(1000), 1000);
    }
}
