//! CSV and TSV.

use std::io::Write;
use std::path::{Path, PathBuf};

use eigenspace::io::Error;
use eigenspace::io::source::{self, Format, Notice, ReadOptions, SourceError};

use super::{anew, directory, list, names, read, read_after, refusal, rows_of, told};

const NAN: f64 = f64::NAN;

fn written(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    anew(&path, text.as_ref());
    path
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn plain() -> ReadOptions {
    ReadOptions::default()
}

#[test]
fn a_first_line_of_numbers_is_a_row_and_one_of_names_is_not() {
    let directory = directory();
    let bare = written(directory.path(), "bare.csv", "1,2\n3,4\n");
    assert_eq!(read(&bare, &plain()).rows, rows_of(&[&[1.0, 2.0], &[3.0, 4.0]]));
    assert_eq!(names(&bare, &plain()), None);
    let named = written(directory.path(), "named.csv", "x, y \n1,2\n3,4");
    assert_eq!(read(&named, &plain()).rows, rows_of(&[&[1.0, 2.0], &[3.0, 4.0]]));
    assert_eq!(names(&named, &plain()), Some(list(&["x", "y"])));
}

#[test]
fn the_options_decide_what_the_first_line_is() {
    let directory = directory();
    let years = written(directory.path(), "years.csv", "2023,2024\n1,2\n");
    let with = plain().header(true);
    assert_eq!(names(&years, &with), Some(list(&["2023", "2024"])));
    assert_eq!(read(&years, &with).rows, rows_of(&[&[1.0, 2.0]]));
    let iris = written(directory.path(), "iris.csv", "5.1,3.5,setosa\n7,3.2,versicolor\n");
    let without = plain().header(false).label("2");
    let all = read(&iris, &without);
    assert_eq!(all.rows, rows_of(&[&[5.1, 3.5], &[7.0, 3.2]]));
    assert_eq!(all.labels, ["setosa", "versicolor"]);
}

#[test]
fn tabs_and_other_delimiters_separate_cells() {
    let directory = directory();
    let expected = rows_of(&[&[1.0, 2.5]]);
    assert_eq!(read(&written(directory.path(), "a.tsv", "1\t2.5\n"), &plain()).rows, expected);
    let semicolon = plain().delimiter(b';');
    assert_eq!(read(&written(directory.path(), "a.csv", "1;2.5\n"), &semicolon).rows, expected);
    let told = plain().format(Format::Tsv);
    assert_eq!(read(&written(directory.path(), "a.data", "1\t2.5\n"), &told).rows, expected);
}

#[test]
fn marks_quotes_carriage_returns_empty_lines_and_spaces_do_not_change_the_rows() {
    let directory = directory();
    let text = "\u{feff}\"x, in m\",\"say \"\"y\"\"\",z\r\n 1 ,\"2\",3\r\n\r\n\"4\",\t5,\"6\"\r\n   \r\n7,8,9";
    let path = written(directory.path(), "odd.csv", text);
    assert_eq!(names(&path, &plain()), Some(list(&["x, in m", "say \"y\"", "z"])));
    assert_eq!(read(&path, &plain()).rows, rows_of(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]]));
    let only_numbers = written(directory.path(), "mark.csv", "\u{feff}1,2\r\n3,4\r\n");
    assert_eq!(read(&only_numbers, &plain()).rows, rows_of(&[&[1.0, 2.0], &[3.0, 4.0]]));
}

#[test]
fn every_missing_cell_is_nan_and_infinity_is_itself() {
    let directory = directory();
    let path = written(directory.path(), "holes.csv", "a,b,c\n,NA,n/a\nNaN,null,None\n?, ,-inf\n");
    assert_eq!(
        read(&path, &plain()).rows,
        rows_of(&[&[NAN, NAN, NAN], &[NAN, NAN, NAN], &[NAN, NAN, f64::NEG_INFINITY]])
    );
}

#[test]
fn gzip_is_recognized_by_its_bytes_and_may_have_several_parts() {
    let directory = directory();
    let mut bytes = packed(b"\xef\xbb\xbfx,y\n1,2\n3,");
    bytes.extend(packed(b"4\n5,6\n"));
    for name in ["table.csv.gz", "table.csv"] {
        let path = written(directory.path(), name, &bytes);
        assert_eq!(read(&path, &plain()).rows, rows_of(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0]]));
        assert_eq!(names(&path, &plain()), Some(list(&["x", "y"])));
    }
    let plain_text = written(directory.path(), "not_packed.csv.gz", "1,2\n");
    assert_eq!(read(&plain_text, &plain()).rows, rows_of(&[&[1.0, 2.0]]));
}

#[test]
fn columns_are_chosen_by_name_number_and_range() {
    let directory = directory();
    let path = written(directory.path(), "wide.csv", "id,a,b,c,kind,w\n7,1,2,3,cat,0.5\n8,4,5,6, dog ,2\n");
    let others = plain().label("kind").weight("5");
    let options = others.clone().columns(list(&["c", "1-2"]));
    let all = read(&path, &options);
    assert_eq!(names(&path, &options), Some(list(&["c", "a", "b"])));
    assert_eq!(all.rows, rows_of(&[&[3.0, 1.0, 2.0], &[6.0, 4.0, 5.0]]));
    assert_eq!(all.labels, ["cat", "dog"]);
    assert_eq!(all.weights, [0.5_f64.to_bits(), 2.0_f64.to_bits()]);
    let rest = others.exclude(list(&["id", "3"]));
    assert_eq!(names(&path, &rest), Some(list(&["a", "b"])));
    assert_eq!(read(&path, &rest).rows, rows_of(&[&[1.0, 2.0], &[4.0, 5.0]]));
}

#[test]
fn columns_without_names_keep_the_numbers_of_the_file_when_some_are_left_out() {
    let directory = directory();
    let path = written(directory.path(), "bare.csv", "1,2,3\n4,5,x\n");
    let options = plain().exclude(list(&["0"]));
    assert_eq!(names(&path, &options), Some(list(&["1", "2"])));
    assert_eq!(
        refusal(&path, &options),
        "line 2, column 2: `x` is not a number\nleave out the column 2, or use it as the label"
    );
}

#[test]
fn columns_that_are_not_there_are_refused_with_a_list_of_those_that_are() {
    let directory = directory();
    let path = written(directory.path(), "small.csv", "x,y\n1,2\n");
    let with = |columns: &[&str]| plain().columns(list(columns));
    assert_eq!(refusal(&path, &with(&["z"])), "there is no column `z`\nthe columns are: `x`, `y`");
    assert_eq!(
        refusal(&path, &with(&["1-2"])),
        "there is no column `1-2`\nthe columns are: `x`, `y`; their numbers are 0 to 1"
    );
    assert_eq!(refusal(&path, &with(&["x", "0"])), "the column `x` is requested twice\nname each column once");
    let none = plain().exclude(list(&["0-1"]));
    assert_eq!(refusal(&path, &none), "no column is left to read\nkeep at least one of these columns: `x`, `y`");
    let label = plain().label("kind");
    assert_eq!(refusal(&path, &label), "there is no column `kind`\nthe columns are: `x`, `y`");
}

#[test]
fn text_where_a_number_should_be_is_told_with_its_line() {
    let directory = directory();
    let hint = "leave out the column `y`, or use it as the label";
    for (name, text, line) in [
        ("lf.csv", "x,y\n1,2\n3,four\n", 3),
        ("crlf.csv", "x,y\r\n1,2\r\n3,four\r\n", 3),
        ("empty_lines.csv", "x,y\r\n\r\n1,2\n\n\n3,four\n5,6\n", 6),
        ("no_end.csv", "x,y\n1,2\n3,four", 3),
        ("quoted.csv", "\"x\",\"y\"\n\"\n1\",2\n3,\"four\"\n", 4),
    ] {
        let expected = format!("line {line}, column `y`: `four` is not a number\n{hint}");
        assert_eq!(refusal(&written(directory.path(), name, text), &plain()), expected, "{name}");
    }
    let weight = plain().weight("y");
    assert!(refusal(&directory.path().join("lf.csv"), &weight).starts_with("line 3, column `y`"));
    let model = plain().model_columns(list(&["x", "y"])).model_features(2);
    let hint = "correct the cells that are not numbers, or leave out their rows; the model needs the column";
    assert!(refusal(&directory.path().join("lf.csv"), &model).ends_with(&format!("\n{hint}")));
    let header = written(directory.path(), "header.csv", "x,y\n1,2\nx,y\n");
    assert!(
        refusal(&header, &model).ends_with("\ncorrect this line; if it repeats the names of the columns, remove it")
    );
    let model = plain().model_columns(list(&["x", "y", "z"])).model_features(3);
    let both = written(directory.path(), "both.csv", "x,y,z\n1,2,3\nthree,four,5\n");
    assert!(refusal(&both, &model).ends_with(&format!("\n{hint}s")));
}

#[test]
fn what_is_not_read_may_hold_anything() {
    let directory = directory();
    let path = written(directory.path(), "latin.csv", b"name,x\nM\xfcller,1\n,2\n");
    let options = plain().exclude(list(&["name"]));
    assert_eq!(read(&path, &options).rows, rows_of(&[&[1.0], &[2.0]]));
    assert_eq!(refusal(&path, &plain()), "not a valid CSV file: line 2 is not UTF-8\nsave the file as UTF-8 text");
    let label = plain().label("name");
    assert_eq!(refusal(&path, &label), "not a valid CSV file: line 2 is not UTF-8\nsave the file as UTF-8 text");
}

#[test]
fn a_row_of_another_width_is_told_with_its_line() {
    let directory = directory();
    let path = written(directory.path(), "ragged.csv", "x,y\n1,2\n3,4,5\n");
    let expected = "line 3 has 3 columns, expected 2\n\
                    all rows must have 2 columns, like the first; put cells that contain the delimiter in quotation marks";
    assert_eq!(refusal(&path, &plain()), expected);
    let skipped = read_after(&[&path], &plain(), 2, 5).expect_err("skipped rows are looked at too");
    assert_eq!(told(&skipped), expected);
}

#[test]
fn a_text_without_anything_is_refused_and_a_header_alone_has_no_rows() {
    let directory = directory();
    for (name, bytes) in [("a.csv", vec![]), ("b.csv", b"\n\r\n  \n".to_vec()), ("c.csv", packed(b""))] {
        assert_eq!(refusal(&written(directory.path(), name, bytes), &plain()), "it has no rows", "{name}");
    }
    let header = written(directory.path(), "header.csv", "x,y\n");
    assert!(read(&header, &plain()).rows.is_empty());
    assert_eq!(names(&header, &plain()), Some(list(&["x", "y"])));
}

#[test]
fn files_that_are_no_text_of_ours_are_told_apart() {
    let directory = directory();
    let wide = written(directory.path(), "wide.csv", b"\xff\xfe1\0,\x002\0\n\0");
    assert_eq!(
        refusal(&wide, &plain()),
        "not a valid CSV file: it is UTF-16, expected UTF-8\nsave the file as UTF-8 text"
    );
    let mac = written(directory.path(), "mac.csv", "x,y\r1,2\r3,4\r");
    let expected =
        "not a valid CSV file: its lines end in CR alone, expected LF or CR LF\nconvert the line endings to LF or CRLF";
    assert_eq!(refusal(&mac, &plain()), expected);
    let absent = source::open(&[directory.path().join("absent.csv")], &plain()).err().unwrap();
    assert!(matches!(absent, Error::Io { .. }));
}

#[test]
fn a_gzip_cut_anywhere_or_changed_anywhere_is_an_error_or_the_same_rows() {
    let directory = directory();
    let text: String = (0..200).map(|i| format!("{},{}\n", i * 37 % 101, f64::from(i).sqrt())).collect();
    let bytes = packed(text.as_bytes());
    let path = written(directory.path(), "whole.csv.gz", &bytes);
    let whole = read(&path, &plain());
    for length in 2..bytes.len() {
        let path = written(directory.path(), "cut.csv.gz", &bytes[..length]);
        let error = read_after(&[&path], &plain(), 0, 1000).expect_err("rows are missing");
        assert_eq!(
            told(&error),
            "not a valid CSV file: its gzip data is incomplete\ncheck that the file is complete and has the format that its name suggests",
            "{length}"
        );
    }
    for place in 12..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        match read_after(&[&written(directory.path(), "bad.csv.gz", &changed)], &plain(), 0, 1000) {
            Ok(same) => assert_eq!(same.rows, whole.rows),
            Err(error) => assert!(matches!(error, Error::Source { .. }), "{error:?}"),
        }
    }
}

#[test]
fn a_row_knows_its_line_whatever_stands_between() {
    let directory = directory();
    let path = written(directory.path(), "gaps.csv", "x,y\n1,2\n\n\"\n3\",4\n5,\n");
    let mut source = source::open(&[&path], &plain()).unwrap();
    let block = source.next_block(10).unwrap().unwrap();
    assert_eq!(block.origin.lines, Some(vec![2, 4, 6]));
    let missing = eigenspace::Error::NonFinite { row: 2, column: 1, value: NAN };
    let told = told(&block.origin.locate(missing, source.columns()));
    assert!(
        told.starts_with("line 6, column `y`: the value is missing (an empty cell or a word such as NA)\n"),
        "{told}"
    );
}

#[test]
fn decimal_commas_are_read_where_they_are_told() {
    let directory = directory();
    let path = written(directory.path(), "europe.csv", "x;y\n1,5;2\n-0,25;\n");
    let comma = plain().decimal(b',');
    assert_eq!(read(&path, &comma).rows, rows_of(&[&[1.5, 2.0], &[-0.25, NAN]]));
    let tabs = written(directory.path(), "europe.tsv", "x\ty\n1,5\t2\n");
    assert_eq!(read(&tabs, &comma).rows, rows_of(&[&[1.5, 2.0]]));
    let both = comma.delimiter(b',');
    assert!(refusal(&path, &both).starts_with("`,` cannot be both the delimiter and the decimal mark\n"));
    // Without being told, the line is cut at its commas, and the message says what may be wrong.
    let told = refusal(&path, &plain());
    assert!(
        told.starts_with("line 2 has 2 columns, expected 1\nset the delimiter: the cells seem to be separated by `;`"),
        "{told}"
    );
}

#[test]
fn spreadsheet_words_and_booleans_are_read() {
    let directory = directory();
    let path = written(directory.path(), "words.csv", "a,b,c\n#N/A,True,<NA>\n-999,false,1\n");
    let words = plain().missing_words(list(&["-999"]));
    assert_eq!(read(&path, &words).rows, rows_of(&[&[NAN, 1.0, NAN], &[NAN, 0.0, 1.0]]));
    assert_eq!(read(&path, &plain()).rows[1][0], (-999.0_f64).to_bits());
}

#[test]
fn the_index_that_pandas_writes_is_left_out_and_told() {
    let directory = directory();
    for (name, text) in [
        ("named.csv", ",a,b\n0,1.5,2\n1,3,4\n"),
        ("again.csv", "Unnamed: 0,a,b\n0,1.5,2\n1,3,4\n"),
        ("numbered.csv", ",0,1\n0,1.5,2\n1,3,4\n"),
    ] {
        let path = written(directory.path(), name, text);
        assert_eq!(read(&path, &plain()).rows, rows_of(&[&[1.5, 2.0], &[3.0, 4.0]]), "{name}");
        let notices = source::open(&[&path], &plain()).unwrap().columns().notices.clone();
        assert!(matches!(&notices[..], [Notice::IndexColumn { .. }]), "{name}: {notices:?}");
        let keep = plain().keep_index(true);
        assert_eq!(read(&path, &keep).rows, rows_of(&[&[0.0, 1.5, 2.0], &[1.0, 3.0, 4.0]]), "{name}");
        assert!(source::open(&[&path], &keep).unwrap().columns().notices.is_empty());
    }
    // An empty cell in a row is no header.
    let hole = written(directory.path(), "hole.csv", ",1,2\n3,4,5\n");
    assert_eq!(read(&hole, &plain()).rows, rows_of(&[&[NAN, 1.0, 2.0], &[3.0, 4.0, 5.0]]));
}

#[test]
fn several_files_are_one_stream_in_natural_order_and_rows_know_their_file() {
    let directory = directory();
    for part in [1, 2, 10] {
        written(directory.path(), &format!("part{part}.csv"), format!("x,y\n{part},0\n{part},1\n"));
    }
    written(directory.path(), "part3.csv", "x,y\n");
    let all = read_after(&[directory.path().join("part*.csv")], &plain(), 0, 1000).unwrap();
    let firsts: Vec<f64> = all.rows.iter().map(|row| f64::from_bits(row[0])).collect();
    assert_eq!(firsts, [1.0, 1.0, 2.0, 2.0, 10.0, 10.0]);
    assert_eq!(all.places[4], ("part10.csv".into(), 0));
    assert_eq!(read_after(&[directory.path()], &plain(), 0, 1).unwrap(), all);
    assert_eq!(read_after(&[directory.path()], &plain(), 3, 7).unwrap(), all.after(3));
}

#[test]
fn files_with_other_columns_than_the_first_are_refused_by_name() {
    let directory = directory();
    let first = written(directory.path(), "1.csv", "x,y\n1,2\n");
    let swapped = written(directory.path(), "2.csv", "y,x\n3,4\n");
    let error = read_after(&[&first, &swapped], &plain(), 0, 10).expect_err("columns differ");
    assert!(
        matches!(&error, Error::Source { path, source: SourceError::ColumnName { column: 0, .. } } if *path == swapped)
    );
    assert_eq!(
        told(&error),
        "column 0 is named `y`, expected `x` as in the earlier files\nchoose columns by name, so that their order does not matter"
    );
    let other = written(directory.path(), "3.csv", "y,z\n3,4\n");
    assert_eq!(
        told(&read_after(&[&first, &other], &plain(), 0, 10).expect_err("a column is missing")),
        "it has no column `x`, which the earlier files have\nuse only columns that all files have; this file has: `y`, `z`"
    );
    let by_name = plain().columns(list(&["x", "y"]));
    let all = read_after(&[&first, &swapped], &by_name, 0, 10).unwrap();
    assert_eq!(all.rows, rows_of(&[&[1.0, 2.0], &[4.0, 3.0]]));
}

#[test]
fn a_header_that_is_half_numbers_is_read_with_a_notice() {
    let directory = directory();
    let notices = |text: &str, options: &ReadOptions| {
        let path = written(directory.path(), "a.csv", text);
        source::open(&[path], options).unwrap().columns().notices.clone()
    };
    let doubtful = [Notice::NumbersInHeader { numbers: 2, cells: 3 }];
    assert_eq!(notices("1,2,-\n1,2,3\n", &plain()), doubtful);
    assert_eq!(notices("1,2,-\n1,2,3\n", &plain().header(true)), []);
    assert_eq!(notices("year,2023,total\n1,2,3\n", &plain()), []);
}
