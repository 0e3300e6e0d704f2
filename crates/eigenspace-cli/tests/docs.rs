//! Runs the examples in the documents.
//!
//! A block that begins with ```` ```csv NAME ```` is a file. In a `console` block, a line with `$`
//! is a command, a line `? N` is its exit code if that is not 0, and the other lines are its
//! output, stderr first. A line `...` matches any number of lines. Commands of other programs are
//! skipped. `orl_faces` is the directory named by `EIGENSPACE_ORL`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::process::Command;

/// A command in a document, with its expected exit code and output.
struct Example {
    line: usize,
    command: String,
    code: i32,
    printed: Vec<String>,
}

/// Writes the files of a document into a directory, and returns its examples.
fn read(document: &str, directory: &Path) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let body: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        if let Some(name) = kind.strip_prefix("csv ") {
            let text: String = body.iter().map(|(_, line)| format!("{line}\n")).collect();
            std::fs::write(directory.join(name), text).unwrap();
        }
        if kind != "console" {
            continue;
        }
        for (number, line) in body {
            if let Some(command) = line.strip_prefix("$ ") {
                examples.push(Example { line: number + 1, command: command.into(), code: 0, printed: Vec::new() });
            } else if let Some(example) = examples.last_mut() {
                match line.strip_prefix("? ") {
                    Some(code) => example.code = code.parse().unwrap(),
                    None => example.printed.push(line.trim_end().into()),
                }
            }
        }
    }
    examples
}

/// Splits at spaces, except inside single quotation marks.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (i, part) in command.split('\'').enumerate() {
        if i % 2 == 1 {
            words.last_mut().unwrap().push_str(part);
            continue;
        }
        let mut pieces = part.split(' ');
        words.last_mut().unwrap().push_str(pieces.next().unwrap());
        words.extend(pieces.map(String::from));
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether lines match the expected ones, where `...` matches any number of lines.
fn matches(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == "..." => (0..=found.len()).any(|skip| matches(rest, &found[skip..])),
        Some((first, rest)) => found.first() == Some(first) && matches(rest, &found[1..]),
    }
}

/// Copies a directory recursively.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// Runs every example in a document, and returns their number.
fn check(document: &str) -> usize {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    if text.contains("orl_faces") {
        let faces = std::env::var("EIGENSPACE_ORL").expect("set EIGENSPACE_ORL to the directory of the ORL faces");
        copy(Path::new(&faces), &directory.path().join("orl_faces"));
    }
    let mut run = 0;
    for example in read(&text, directory.path()) {
        let words = words(&example.command);
        if words[0] != "eigenspace" {
            continue;
        }
        let bare: String = example.command.split('\'').step_by(2).collect();
        let special = bare.contains([';', '|', '&', '<', '>', '*', '?', '$', '(', '#']);
        assert!(
            !special,
            "{document}, line {}: quote special characters for a shell: {}",
            example.line, example.command
        );
        run += 1;
        let output =
            Command::new(env!("CARGO_BIN_EXE_eigenspace")).args(&words[1..]).current_dir(&directory).output().unwrap();
        let text = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        let found: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        assert!(
            matches(&example.printed, &found) && output.status.code() == Some(example.code),
            "{document}, line {}: `{}` ended with {} and printed\n{text}",
            example.line,
            example.command,
            output.status
        );
    }
    run
}

#[test]
fn the_examples_of_the_command_page_do_what_it_says() {
    assert!(check("docs/COMMAND.md") >= 18);
}

#[test]
fn the_examples_of_the_page_on_faces_do_what_it_says() {
    assert!(check("docs/FACES.md") >= 12);
}

#[test]
fn the_examples_of_the_readme_do_what_it_says() {
    assert!(check("README.md") >= 4);
}

#[test]
fn a_line_of_dots_stands_for_any_lines_and_nothing_else_does() {
    let lines = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
    assert!(matches(&lines("a ... d"), &lines("a b c d")));
    assert!(matches(&lines("a ... b"), &lines("a b")));
    assert!(!matches(&lines("a ... c"), &lines("a b")));
    assert!(!matches(&lines("a"), &lines("a b")));
}
