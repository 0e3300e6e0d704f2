use super::*;
use proptest::prelude::*;

/// Cells that follow some rule of text files, or break one.
const CELLS: [&str; 48] = [
    "1",
    "-2.5",
    "+3e2",
    "0",
    "-0",
    "1.",
    ".5",
    "-.5E-3",
    "0.1",
    "00012",
    "1e400",
    "-1e-400",
    "4.9e-324",
    "1e22",
    "9007199254740993",
    "123456789012345678901234567890",
    "0.30000000000000004",
    "-1.7976931348623157e308",
    "2.2250738585072011e-308",
    "0.000000000000000000000012345678901234567",
    "1.2345678901234567e-5",
    "",
    " ",
    " 7 ",
    "\t8",
    "NA",
    "nan",
    "-inf",
    "Infinity",
    "true",
    "FALSE",
    "?",
    "-999",
    "1,5",
    "1.5,5",
    "\"6\"",
    "\"7,5\"",
    "\"\"",
    "\"a \"\"b\"\"\"",
    "\"two\nlines\"",
    "\"open",
    "a\"b",
    "\"x\"y",
    "0x1F",
    "1_000",
    "e5",
    "--1",
    "ü",
];
/// Plain cells only.
const PLAIN: [&str; 7] = ["1", "-2.5", "3e-7", "0.30000000000000004", "", "\"7.5\"", "-1234567890.123456789"];

/// A reader that returns a few bytes at a time, at different places.
struct Few {
    bytes: Vec<u8>,
    at: usize,
    most: usize,
    /// Whether there is an error instead of an end.
    fails: bool,
}

impl Read for Few {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = (self.bytes.len() - self.at).min(buffer.len()).min(1 + self.at % self.most);
        buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        if count == 0 && self.fails { Err(std::io::Error::other("the disk is gone")) } else { Ok(count) }
    }
}

fn all_options() -> [ReadOptions; 8] {
    let plain = ReadOptions::default;
    [
        plain(),
        plain().header(false),
        plain().header(true).label("1"),
        plain().header(false).weight("0").missing_words(["-999", "x"]),
        plain().header(false).columns(["2", "0"]).label("0"),
        plain().header(false).decimal(b','),
        plain().header(false).delimiter(b';').exclude(["0"]),
        plain().header(false).delimiter(b'.'),
    ]
}

/// Everything that is read from a text: rows by bits, line numbers, and errors. Reading goes on
/// after an error.
fn outcome(bytes: &[u8], most: usize, options: &ReadOptions, rows: usize, plain: bool) -> Vec<String> {
    let fails = most.is_multiple_of(7);
    let reader = Box::new(Few { bytes: bytes.to_vec(), at: 0, most, fails });
    let mut text = match text(reader, Path::new("t.csv"), Format::Csv, options) {
        Ok(text) => text,
        Err(error) => return vec![format!("{error:?}")],
    };
    if !plain {
        text.plain = None;
    }
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let mut found = vec![format!("{:?}", text.columns)];
    loop {
        found.push(match text.next_block(rows) {
            Ok(None) => return found,
            Ok(Some(block)) => {
                let Values::F64(values) = &block.values else { panic!("text is read as f64") };
                let weights = block.weights.as_deref().map(bits);
                format!(
                    "{:?} {:?} {weights:?} {:?}",
                    bits(values.as_slice().expect("rows")),
                    block.labels,
                    block.origin
                )
            }
            Err(error) => format!("{:?}", without_lookahead(error)),
        });
    }
}

/// The error without what it says of other columns, which depends on how much of the text was read
/// in advance.
fn without_lookahead(mut error: Error) -> Error {
    if let Error::Source { source: SourceError::NotANumber { others, all, .. }, .. } = &mut error {
        others.clear();
        *all = false;
    }
    error
}

/// A text of lines with cells of their own choice.
fn joined(lines: &[(Vec<&str>, &str)], delimiter: &str) -> Vec<u8> {
    lines.iter().map(|(cells, end)| cells.join(delimiter) + end).collect::<String>().into_bytes()
}

proptest! {
    #[test]
    fn plain_lines_are_read_as_all_others_are(
        lines in prop::collection::vec((prop::collection::vec(prop::sample::select(&CELLS[..]), 1..5), 0_usize..8), 1..12),
        width in 1_usize..5,
        kind in 0_usize..8,
        most in 1_usize..100,
        rows in 1_usize..6,
        damaged in prop::option::weighted(0.1, 0_usize..200),
    ) {
        // Most lines have the same number of cells.
        let lines: Vec<(Vec<&str>, &str)> = lines.into_iter().map(|(mut cells, end)| {
            if end < 7 {
                cells.resize(width, "5.25");
            }
            (cells, ["\n", "\n", "\r\n", "\n\n", "\n", "\r\r\n", "\n", ""][end])
        }).collect();
        let options = &all_options()[kind];
        for delimiter in [",", ";"] {
            let mut bytes = joined(&lines, delimiter);
            if let Some(place) = damaged.filter(|&place| place < bytes.len()) {
                bytes[place] = 0xff;
            }
            let expected = outcome(&bytes, most, options, rows, false);
            prop_assert_eq!(outcome(&bytes, most, options, rows, true), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn many_lines_are_read_in_parallel_as_one_after_the_other(
        seed in 0_usize..1000,
        odd in prop::collection::vec((0_usize..9000, prop::sample::select(&CELLS[..])), 0..4),
        rows in prop::sample::select(&[1000_usize, 4096, 20_000][..]),
        kind in 0_usize..5,
    ) {
        let cell = |number: usize| PLAIN[(number * number + seed) % PLAIN.len()];
        let mut lines: Vec<(Vec<&str>, &str)> =
            (0..9000).map(|i| (vec!["1", cell(3 * i), cell(i / 7)], if i % 5 == seed % 5 { "\r\n" } else { "\n" })).collect();
        for (place, cell) in odd {
            lines[place].0[place % 3] = cell;
        }
        let bytes = joined(&lines, ",");
        let options = &all_options()[kind];
        let expected = outcome(&bytes, 1 << 16, options, rows, false);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let found = pool.install(|| outcome(&bytes, 1 << 16, options, rows, true));
            prop_assert!(found == expected, "{} threads", threads);
        }
    }
}

#[test]
fn most_lines_of_an_ordinary_file_are_plain() {
    let lines: Vec<(Vec<&str>, &str)> = (0..5000).map(|i| (PLAIN[i % 4..i % 4 + 4].to_vec(), "\n")).collect();
    let reader = Box::new(std::io::Cursor::new(joined(&lines, ",")));
    let options = ReadOptions::default().header(false);
    let mut text = text(reader, Path::new("t.csv"), Format::Csv, &options).expect("text");
    // The first line is always read to find out about the columns.
    text.next_block(1).expect("a row");
    let mut rows = Rows { values: Vec::new(), labels: None, weights: None, lines: Vec::new() };
    assert_eq!(text.plain_rows(10_000, &mut rows), 4999);
}
