//! Text files with one row per line: CSV and TSV, also compressed with gzip.
//!
//! Unless the options say otherwise, the first line is a header if any of its cells is neither a
//! number nor missing, or if it is an empty cell followed by 0, 1, 2, …, which pandas writes above
//! an array without names. Cells may be quoted, lines may end with CR LF, numbers may have spaces
//! around them, and empty lines are ignored. Cells of columns that are not read may contain
//! anything.
//!
//! Only LF ends a line, and a CR before it is treated as a space, so that line numbers are exact
//! for both kinds of files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::ByteRecord;
use ndarray::Array2;

use crate::io::error::Error;
use crate::io::error::{at, of_weights};
use crate::io::source::block::name_or_number;
use crate::io::source::cell::{NoNumber, Notation};
use crate::io::source::choice::Choice;
use crate::io::source::diagnosis;
use crate::io::source::lines::Lines;
use crate::io::source::plain::{Plain, Rows};
use crate::io::source::{
    Columns, Format, Notice, Origin, Place, ReadOptions, RowBlock, RowSource, SourceError, Values,
};

/// Number of rows for which memory is reserved in advance.
const EXPECTED_ROWS: usize = 1024;

/// Opens a file.
pub(super) fn open(path: &Path, format: Format, options: &ReadOptions) -> Result<Box<dyn RowSource>, Error> {
    let file = File::open(path).map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })?;
    from_reader(Box::new(file), path, format, options)
}

/// Reads text from any reader.
pub(super) fn from_reader(
    reader: Box<dyn Read + Send>,
    path: &Path,
    format: Format,
    options: &ReadOptions,
) -> Result<Box<dyn RowSource>, Error> {
    Ok(Box::new(text(reader, path, format, options)?))
}

fn text(reader: Box<dyn Read + Send>, path: &Path, format: Format, options: &ReadOptions) -> Result<Text, Error> {
    let (name, separator) = if format == Format::Tsv { ("TSV file", b'\t') } else { ("CSV file", b',') };
    let separator = if options.decimal == Some(separator) { b';' } else { separator };
    let delimiter = options.delimiter.unwrap_or(separator);
    let notation = Notation::new(options, delimiter).map_err(at(path))?;
    let mut lines = Lines::open(reader, path, name, delimiter)?;
    if !lines.advance()? {
        return Err(at(path)(SourceError::Empty));
    }
    let has_header = match options.header {
        Some(has_header) => has_header,
        None => numbers_columns(&lines.record) || !lines.record.iter().all(|cell| notation.is_number(cell)),
    };
    let count = lines.record.len();
    let names = if has_header { Some(header(&lines)?) } else { None };
    let choice = Choice::new(count, names.as_deref(), options).map_err(at(path))?;
    let mut columns = Columns { notices: choice.notices(), ..columns(&choice, count, names.as_deref()) };
    let numbers = lines.record.iter().filter(|cell| !cell.trim_ascii().is_empty() && notation.is_number(cell));
    let numbers = numbers.count();
    if has_header && options.header.is_none() && !numbers_columns(&lines.record) && 2 * numbers >= count {
        columns.notices.push(Notice::NumbersInHeader { numbers, cells: count });
    }
    if !has_header && options.header.is_none() && may_be_names(&lines.record) {
        columns.notices.push(Notice::OnlyNumbersInFirstLine);
    }
    let plain = Plain::new(&choice, count, &notation, delimiter);
    columns.of_model = options.model_features.is_some();
    columns.weight = choice.weight.map(|column| name_or_number(names.as_deref(), column, column));
    let options = options.clone();
    Ok(Text { lines, notation, plain, delimiter, count, names, choice, options, columns, held: !has_header, row: 0 })
}

/// Whether a line is an empty cell followed by 0, 1, 2, …: the header of an index and of unnamed
/// columns.
fn numbers_columns(record: &ByteRecord) -> bool {
    let mut cells = record.iter().map(<[u8]>::trim_ascii);
    cells.next().is_some_and(<[u8]>::is_empty)
        && record.len() > 2
        && cells.enumerate().all(|(number, cell)| cell == number.to_string().as_bytes())
}

/// Whether a line is 0, 1, 2, … or increasing years: numbers that are often the names of columns.
fn may_be_names(record: &ByteRecord) -> bool {
    let cells = || record.iter().map(<[u8]>::trim_ascii);
    let years: Option<Vec<u16>> = cells().map(|cell| std::str::from_utf8(cell).ok()?.parse().ok()).collect();
    let are_years = |years: &[u16]| {
        years.len() > 1
            && years.iter().all(|year| (1800..2200).contains(year))
            && years.windows(2).all(|pair| pair[0] < pair[1])
    };
    let counted = record.len() > 2 && cells().enumerate().all(|(number, cell)| cell == number.to_string().as_bytes());
    counted || years.is_some_and(|years| are_years(&years))
}

/// The names in the first line.
fn header(lines: &Lines) -> Result<Vec<String>, Error> {
    let mut names = Vec::with_capacity(lines.record.len());
    for cell in lines.record.iter().map(<[u8]>::trim_ascii) {
        if cell.iter().enumerate().any(|(i, &byte)| byte == b'\r' && cell.get(i + 1) != Some(&b'\n')) {
            return Err(lines.line_endings());
        }
        names.push(lines.utf8(cell)?.to_owned());
    }
    Ok(names)
}

/// The names of the chosen columns. If the file has no names and not all columns are read in order,
/// their numbers in the file become their names, so that messages refer to the columns of the file.
fn columns(choice: &Choice, count: usize, names: Option<&[String]>) -> Columns {
    match names {
        Some(names) => Columns {
            numbers: choice.features.clone(),
            ..Columns::named(choice.features.iter().map(|&column| names[column].clone()).collect())
        },
        None if choice.features.iter().copied().eq(0..count) => Columns::unnamed(count),
        None => Columns { numbered: true, ..Columns::named(choice.features.iter().map(ToString::to_string).collect()) },
    }
}

/// A text file as rows of numbers.
struct Text {
    lines: Lines,
    notation: Notation,
    plain: Option<Plain>,
    delimiter: u8,
    /// Number of cells in a line.
    count: usize,
    /// The names of all columns, including those that are not read.
    names: Option<Vec<String>>,
    choice: Choice,
    options: ReadOptions,
    columns: Columns,
    /// Whether the first line was read in advance and is still to be returned as a row.
    held: bool,
    row: u64,
}

impl Text {
    /// Reads the next row into the record. False at the end.
    fn advance(&mut self) -> Result<bool, Error> {
        if !std::mem::take(&mut self.held) && !self.lines.advance()? {
            return Ok(false);
        }
        let found = self.lines.record.len();
        if found != self.count {
            let place = Place { row: self.row, line: Some(self.lines.line()), file: None };
            let problem = SourceError::Width { place, expected: self.count, found, delimiter: self.better_delimiter() };
            return Err(at(self.lines.path.as_ref())(problem));
        }
        self.row += 1;
        Ok(true)
    }

    /// Another delimiter with which this line could be read.
    fn better_delimiter(&self) -> Option<char> {
        diagnosis::better_delimiter(self.delimiter, self.names.as_deref()?, &self.lines.record, &self.notation)
    }

    /// The error for text in a column of the record. It names all columns that have text.
    fn no_number(&self, column: usize, text: String) -> SourceError {
        let (record, later) = (&self.lines.record, self.lines.waiting());
        let with_text = diagnosis::text_columns(record, later, self.delimiter, &self.notation);
        let others = self.choice.features.iter().filter(|&&other| other != column && with_text[other]);
        SourceError::NotANumber {
            line: self.lines.line(),
            first: self.row <= 1,
            column: self.name(column),
            text,
            needed: self.options.needed(self.names.as_ref().map(|names| names[column].as_str())),
            others: others.map(|&other| self.name(other)).collect(),
            all: self.choice.features.iter().all(|&other| with_text[other]),
            delimiter: self.better_delimiter(),
        }
    }

    /// Appends the rows of plain lines, at most `most`, and returns their number.
    fn plain_rows(&mut self, most: usize, rows: &mut Rows) -> usize {
        let Some(plain) = self.plain.as_mut().filter(|_| !self.held) else { return 0 };
        let (mut count, mut ends) = (0, Vec::new());
        while count < most {
            let (text, line) = self.lines.find_plain(plain.lines_to_try(most - count), &mut ends);
            if ends.is_empty() {
                break;
            }
            let read = plain.read(text, &ends, rows);
            rows.lines.extend(line..line + read as u64);
            self.lines.pass_plain(read, read.checked_sub(1).map_or(0, |last| ends[last]));
            self.row += read as u64;
            count += read;
            if read < ends.len() {
                break;
            }
        }
        count
    }

    /// Appends the row in the record.
    fn append(&self, rows: &mut Rows) -> Result<(), Error> {
        for &column in &self.choice.features {
            rows.values.push(self.number(column)?);
        }
        if let (Some(column), Some(labels)) = (self.choice.label, &mut rows.labels) {
            let cell = self.cell(column);
            labels.push(self.lines.utf8(cell.trim_ascii())?.to_owned());
        }
        if let (Some(column), Some(weights)) = (self.choice.weight, &mut rows.weights) {
            weights.push(self.number(column).map_err(of_weights)?);
        }
        rows.lines.push(self.lines.line());
        Ok(())
    }

    /// The cell in a column of the record.
    fn cell(&self, column: usize) -> &[u8] {
        self.lines.record.get(column).expect("the width of the record was checked")
    }

    /// The number in a column of the record.
    fn number(&self, column: usize) -> Result<f64, Error> {
        self.notation.number(self.cell(column)).map_err(|problem| match problem {
            NoNumber::Encoding => self.lines.encoding(),
            NoNumber::Text(text) => at(self.lines.path.as_ref())(self.no_number(column, text)),
            NoNumber::TooLarge(text) => {
                let (line, column) = (self.lines.line(), self.name(column));
                at(self.lines.path.as_ref())(SourceError::CellTooLarge { line, column, text })
            }
        })
    }

    /// How a message calls a column of the file.
    fn name(&self, column: usize) -> String {
        name_or_number(self.names.as_deref(), column, column)
    }
}

impl RowSource for Text {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn next_block(&mut self, rows: usize) -> Result<Option<RowBlock>, Error> {
        let (first, wanted, width) = (self.row, rows.max(1), self.choice.features.len());
        let mut rows = Rows {
            values: Vec::with_capacity(wanted.min(EXPECTED_ROWS).saturating_mul(width)),
            labels: self.choice.label.map(|_| Vec::new()),
            weights: self.choice.weight.map(|_| Vec::new()),
            lines: Vec::new(),
        };
        let mut count = 0;
        loop {
            count += self.plain_rows(wanted - count, &mut rows);
            if count == wanted || !self.advance()? {
                break;
            }
            self.append(&mut rows)?;
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        let Rows { values, labels, weights, lines } = rows;
        let values = Array2::from_shape_vec((count, width), values);
        let values = Values::F64(values.map_err(|error| self.lines.malformed(error.to_string()))?);
        let origin = Origin { path: self.lines.path.clone(), first, lines: Some(lines), names: None };
        Ok(Some(RowBlock { values, weights, labels, origin }))
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let mut skipped = 0;
        while skipped < rows && self.advance()? {
            skipped += 1;
        }
        Ok(skipped)
    }
}

#[cfg(test)]
mod tests;
