//! Mistakes on the command line must not destroy data or models, or mix up columns.

use crate::support::Directory;

const TABLE: &str = "a,b,c\n1,2,4\n3,1,0\n2,5,7\n6,4,1\n";
const OVER: &str = "the same command reads it";

fn fitted() -> Directory {
    let directory = Directory::with("t.csv", TABLE);
    directory.done("fit t.csv -o m --quiet");
    directory.done("project m t.csv -o z.csv --quiet");
    directory
}

#[cfg(unix)]
#[test]
fn what_is_read_is_never_written_over() {
    let directory = fitted();
    directory.write("w.csv", "1\n2\n1\n1\n");
    std::os::unix::fs::symlink("t.csv", directory.path("link.csv")).unwrap();
    let there = directory.path("t.csv");
    for line in [
        "fit t.csv -o t.csv",
        "fit t.csv -o ./t.csv",
        "fit t.csv -o link.csv",
        &format!("fit t.csv -o {}", there.display()),
        "fit *.csv -o t.csv",
        "fit t.csv --weights w.csv -o w.csv",
        "fit t.csv -o n --checkpoint t.csv",
        "fit t.csv --weights w.csv -o n --checkpoint w.csv",
        "update m t.csv -o t.csv",
        "project m t.csv -o t.csv",
        "reconstruct m z.csv -o z.csv",
    ] {
        let said = directory.refused(line);
        assert!(said.err.contains(OVER), "{line}\n{said}");
    }
    directory.done("fit t.csv -o m.npy --quiet");
    assert!(directory.refused("project m.npy t.csv -o m.npy").err.contains(OVER));
    assert!(directory.refused("reconstruct m.npy z.csv -o m.npy").err.contains(OVER));
    let said = directory.refused("fit t.csv -o n --checkpoint n");
    assert!(said.err.starts_with("error: cannot use `n` for both the checkpoint and the model\n"), "{said}");
    for line in ["fit t.csv -o n --checkpoint t.csv", "fit t.csv -o n --checkpoint n", "fit t.csv -o n --checkpoint m"]
    {
        let said = directory.refused(line);
        assert!(said.err.ends_with("hint: use another file with --checkpoint; nothing was changed\n"), "{said}");
    }
}

#[test]
fn what_cannot_be_written_is_known_before_the_work() {
    let directory = fitted();
    for line in ["fit t.csv -o none/m", "fit t.csv -o m --checkpoint none/c", "fit t.csv -o -", "merge m m -o none/m"] {
        let said = directory.refused(line);
        assert!(said.out.is_empty() && !said.err.contains("scatter engine"), "{line}\n{said}");
    }
}

#[test]
fn models_of_other_columns_are_not_mixed() {
    let directory = fitted();
    directory.write("u.csv", "b,a,c\n1,2,4\n3,1,0\n2,5,7\n");
    directory.done("fit u.csv -o n --quiet");
    let said = "error: cannot use `m` with `n`: their columns are in a different order: column 0 is `a` in the first and `b` in \
                the second\n\nhint: fit both models on the same columns in the same order; set the order with --columns\n";
    for line in ["merge m n -o x", "split m n -o x", "compare m n"] {
        assert_eq!(directory.refused(line).err, said, "{line}");
    }
}

#[test]
fn a_file_that_is_cut_in_another_way_is_told_from_one_with_text_in_it() {
    let directory = Directory::with("t.csv", "a;b\n1;2\n3;4\n");
    let said = directory.refused("fit t.csv -o m");
    assert!(said.err.ends_with("hint: use --delimiter ';', which seems to separate the cells\n"), "{said}");
    directory.done("fit t.csv --delimiter ; -o m");
}

#[test]
fn coordinates_are_found_by_their_names() {
    let directory = Directory::with("t.csv", format!("who,{}", TABLE.replace('\n', "\nx,")).trim_end_matches("x,"));
    directory.done("fit t.csv --label who -o m --quiet");
    let back = |line: &str| -> Vec<f64> {
        let text = directory.done(&format!("reconstruct m {line}"));
        text.lines()
            .skip(1)
            .flat_map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>())
            .collect()
    };
    let rows = [1.0, 2.0, 4.0, 3.0, 1.0, 0.0, 2.0, 5.0, 7.0, 6.0, 4.0, 1.0];
    let close = |found: Vec<f64>| found.len() == 12 && found.iter().zip(rows).all(|(a, b)| (a - b).abs() < 1e-12);
    directory.done("project m t.csv --label who -o z.csv --quiet");
    assert!(close(back("z.csv")), "labels are left out");
    let turned: String = directory
        .text("z.csv")
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n")
        .collect();
    directory.write("turned.csv", turned);
    assert!(close(back("turned.csv")), "the order of the columns does not matter");
    directory.done("project m t.csv --whiten -o w.csv --quiet");
    assert!(close(back("w.csv")), "whitened scores are recognized by their names");
    directory.done("project m t.csv --whiten -o w.npy --quiet");
    assert!(close(back("w.npy --whiten")));
    directory.done("project m t.csv -k 2 --distances -o d.csv --quiet");
    directory.done("project m t.csv -k 2 -o e.csv --quiet");
    assert_eq!(back("d.csv"), back("e.csv"), "distances are not scores");
}

#[test]
fn a_command_that_is_told_to_end_leaves_nothing_behind() {
    let directory = Directory::new();
    let row = (0..400).map(|j| (j % 7).to_string()).collect::<Vec<_>>().join(",");
    directory.write("t.csv", format!("{row}\n").repeat(4000) + &row.replace('3', "4") + "\n");
    directory.done("fit t.csv --no-header -o m --quiet");
    let before = directory.listing();
    // Standard input that never ends keeps the command at work with its output begun.
    let mut command = directory.command("project m - --no-header -o z.csv");
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    // Ours until the end: waiting for a child closes what it still holds, and then the work would
    // be complete.
    let mut input = child.stdin.take().unwrap();
    let begun = || std::fs::read_dir(directory.path("")).unwrap().count() > before.len();
    let started = std::time::Instant::now();
    while !begun() && started.elapsed().as_secs() < 60 {
        std::io::Write::write_all(&mut input, format!("{row}\n").as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(begun(), "the output was never begun");
    let ended = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(ended.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
    crate::support::same_files(&before, &directory.listing());
}

#[test]
fn a_model_does_not_replace_a_file_of_another_kind() {
    let directory = fitted();
    directory.write("precious.csv", TABLE);
    directory.write("notes.txt", "do not lose this");
    directory.write("x", "1");
    for line in [
        "fit t.csv -o precious.csv",
        "fit t.csv -o notes.txt",
        "fit t.csv -o x",
        "update m t.csv -o notes.txt",
        "merge m m -o precious.csv",
        "split m m -o notes.txt",
    ] {
        let said = directory.refused(line);
        assert!(said.err.contains("the file exists and is not a model"), "{line}\n{said}");
    }
    assert_eq!(std::fs::read_to_string(directory.path("precious.csv")).unwrap(), TABLE);
    assert_eq!(std::fs::read_to_string(directory.path("notes.txt")).unwrap(), "do not lose this");
    // A model and an empty file are replaced.
    directory.write("empty", "");
    directory.done("fit t.csv -o empty --quiet");
    directory.done("fit t.csv -o m --quiet");
}
