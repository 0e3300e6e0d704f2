//! Runs the examples of `docs/SQL.md`. A block that begins with ```` ```csv NAME ```` is a file; in
//! a `console` block, a line with `$` is a command, and the lines below it are its output, stderr
//! first.

use std::process::Command;

/// A command and its output.
struct Example {
    command: String,
    printed: String,
}

#[test]
fn the_examples_of_the_page_print_what_it_says() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SQL.md")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut examples: Vec<Example> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some(name) = kind.strip_prefix("csv ") {
            std::fs::write(directory.path().join(name), body.join("\n") + "\n").unwrap();
        }
        for line in body.iter().filter(|_| kind == "console") {
            match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push(Example { command: command.into(), printed: String::new() }),
                (None, Some(example)) if example.command.ends_with('\\') => {
                    example.command = format!("{}\n{line}", example.command);
                }
                (None, Some(example)) => example.printed += &format!("{line}\n"),
                (None, None) => panic!("a block without a command"),
            }
        }
    }
    examples.retain(|example| example.command.starts_with("eigenspace-sql "));
    assert!(examples.len() >= 5, "{}", examples.len());
    for example in examples {
        // A shell, as on the page; the program is found by its name.
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_eigenspace-sql"));
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh")
            .args(["-c", &example.command])
            .env("PATH", path)
            .current_dir(&directory)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, example.printed, "$ {}", example.command);
    }
}
