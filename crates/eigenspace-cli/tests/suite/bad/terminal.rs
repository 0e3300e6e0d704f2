//! Names with control sequences for the terminal, and hints that can be pasted.

use std::process::Command;

use eigenspace::internal::is_printable;

use crate::files::csv;
use crate::oracle::table;
use crate::support::{Directory, Said, finish};

/// An escape sequence, a C1 control, a bidirectional override, a line break.
const EVIL: &str = "a\u{1b}[31m\u{9b}2J\u{202e}\nb";
/// The same as it must be shown.
const SHOWN: &str = r"a\u001b[31m\u009b2J\u202e\nb";

/// Nothing that a terminal acts on but the lines of the command itself.
fn is_quiet(said: &Said) {
    for text in [&said.out, &said.err] {
        assert!(text.chars().all(|c| c == '\n' || is_printable(c)), "{text:?}");
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Rows under a header of these names; `first` is the cell in the first row of the last column.
fn with_names(names: &[&str], first: &str) -> Directory {
    let header: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let cells: Vec<&str> = (1..names.len()).map(|_| "1").chain([first]).collect();
    let mut text = header.join(",") + "\n" + &cells.join(",") + "\n";
    for row in 0..6_u32 {
        let cells: Vec<String> = (1..=names.len() as u32).map(|j| ((row * row * j + row) % 7).to_string()).collect();
        text += &(cells.join(",") + "\n");
    }
    Directory::with("t.csv", text)
}

#[test]
fn names_of_columns_are_shown_escaped_and_kept_as_they_are() {
    let directory = with_names(&["x", "y", EVIL], "1");
    for line in
        ["fit t.csv -o m", "inspect m --loadings", "inspect m --json", "update m t.csv", "project m t.csv -o z.csv"]
    {
        let said = directory.run(line);
        assert_eq!(said.code, Some(0), "{line}\n{said}");
        is_quiet(&said);
    }
    assert!(directory.done("inspect m").contains(&format!("features     3: x, y, {SHOWN}\n")));
    assert!(directory.done("inspect m --loadings").contains(&format!("{SHOWN}  ")));
    assert_eq!(directory.json("inspect m --json")["feature_names"][2], EVIL);
}

#[test]
fn names_in_errors_are_shown_escaped() {
    let directory = with_names(&["x", "y", EVIL], EVIL);
    let said = directory.refused("fit t.csv -o m");
    is_quiet(&said);
    assert!(said.err.contains(&format!("column `{SHOWN}`: ")), "{said}");
    let mut command = directory.command("fit -o m");
    let said = finish(command.arg(format!("{EVIL}.csv")), b"");
    assert_eq!(said.code, Some(2));
    is_quiet(&said);
    assert!(said.err.contains(&format!("{SHOWN}.csv")), "{said}");
    // What clap refuses: an option, a value, a command.
    for words in [
        vec!["inspect", "\u{1b}[31m--x"],
        vec!["inspect", "--\u{1b}\u{202e}"],
        vec!["fit", "--threads", EVIL],
        vec![EVIL],
    ] {
        let said = finish(directory.command("").args(words), b"");
        assert_eq!(said.code, Some(2));
        is_quiet(&said);
    }
    // A model and an image of such a name.
    directory.write("u.csv", csv(&table(9, 3, 5)));
    let mut command = directory.command("fit u.csv -o");
    let said = finish(command.arg(EVIL), b"");
    assert_eq!(said.code, Some(0), "{said}");
    is_quiet(&said);
    assert!(said.out.contains(&format!("model        {SHOWN}\n")), "{said}");
}

#[test]
fn a_hint_can_be_pasted_into_a_shell() {
    for name in ["species", "a|b", "it's", "two words", "x,y", "say \"yes\"", "$HOME", "-x", "--all", "`id`", "*", EVIL]
    {
        let directory = with_names(&["x", "y", name], "oak");
        let said = directory.refused("fit t.csv -o m");
        is_quiet(&said);
        let hint = said.err.split("hint: if the model does not need the column, leave it out with ").nth(1).unwrap();
        let (exclude, label) = hint.split_once(", or use it as the label with ").unwrap();
        for option in [exclude, label.trim_end()] {
            let line = format!("\"$0\" fit t.csv -o m -q {option}");
            let mut bash = Command::new("bash");
            bash.args(["-c", &line, env!("CARGO_BIN_EXE_eigenspace")]).current_dir(directory.path("."));
            let said = finish(&mut bash, b"");
            assert_eq!(said.code, Some(0), "{line}\n{said}");
            assert_eq!(directory.json("inspect m --json")["feature_names"], serde_json::json!(["x", "y"]), "{line}");
        }
    }
}

#[test]
fn the_hint_for_all_components_can_be_pasted_too() {
    let directory = Directory::with("t.csv", csv(&table(40, 12, 3)));
    let mut command = directory.command("fit t.csv -q -o");
    let said = finish(command.arg("it's m"), b"");
    assert!(said.out.ends_with("… and 2 more: eigenspace inspect 'it'\\''s m' --all\n"), "{said}");
}

#[test]
fn a_name_with_a_comma_is_chosen_in_quotes() {
    let directory = with_names(&["x,y", "b", "c"], "1");
    let mut command = directory.command("fit t.csv -o m -q --columns");
    assert_eq!(finish(command.arg("c,\"x,y\""), b"").code, Some(0));
    assert_eq!(directory.json("inspect m --json")["feature_names"], serde_json::json!(["c", "x,y"]));
}

#[test]
fn plots_hold_no_control_characters() {
    let directory = with_names(&["x", "y", EVIL], "1");
    directory.done("fit t.csv -o m -q");
    let mut command = directory.command("plot circle m -o c.svg --title");
    assert_eq!(finish(command.arg(EVIL), b"").code, Some(0));
    let svg = directory.text("c.svg");
    assert!(svg.contains("[31m"), "the name is there");
    assert!(svg.chars().all(|c| c == '\n' || is_printable(c)), "{svg}");
    roxmltree::Document::parse(&svg).unwrap();
}
