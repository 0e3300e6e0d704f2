//! Help texts, completions and manual pages.

use insta::assert_snapshot;

use crate::support::Directory;

/// Every command, and the options that its help must explain.
const OPTIONS: [(&str, &str); 20] = [
    ("fit", "--components --output --standardize --uncentered --weight-kind --passes --checkpoint --every --json"),
    ("update", "--components --output --json"),
    ("merge", "--components --output --max-rank --truncation --json"),
    ("split", "--output --json"),
    ("project", "--components --output --whiten --distances --missing --device"),
    ("reconstruct", "--output --components --whiten --device"),
    ("inspect", "--json --all --components --loadings"),
    ("compare", "--components --within --json"),
    ("plot", "--components --output --axes --row --steps --tiles --shape --confidence --title --missing"),
    (
        "explore",
        "--components --standardize --watch --port --no-open --write --state --bind --allow-host --json --missing",
    ),
    ("faces train", "--output --resize --pixels --max-rank --json"),
    ("faces recognize", "--resize --matches --output --json"),
    ("faces enroll", "--person --resize --output --json"),
    ("faces forget", "--image --output --json"),
    ("faces list", "--images --json"),
    (
        "faces evaluate",
        "--protocol --accept --classifier --metric --components --pixels --repeats --seed --resize --compression --denoising --output --json",
    ),
    ("data orl", "--check"),
    ("demo", "--output --faces --synthetic"),
    ("completions", ""),
    ("man", ""),
];
const INPUT: &str = "--columns --exclude --label --weight-column --header --no-header --delimiter --decimal --na --keep-index --key \
                     --resize --color --format";
const RECOGNIZER: &str = "--components --classifier --metric --unknown --not-a-face --accept --seed";
const MODEL: &str = "--max-rank --truncation --engine --block-rows --device --forgetting --half-life --missing";

#[test]
fn the_help_shows_every_command() {
    let said = Directory::new().run("--help");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_snapshot!(said.out, @"
    Incremental PCA models that you can update, merge and split without the old data, with error bounds

    Usage: eigenspace [OPTIONS] <COMMAND>

    Commands:
      fit          Fit a model to the rows of files, directories, patterns, or standard input (`-`)
      update       Add rows to a model, without the rows it was fitted on
      merge        Merge models of different rows into one model of all rows
      split        Remove the rows of one model from another model that contains them
      project      Compute the scores of rows: their coordinates along the components of a model
      reconstruct  Reconstruct rows from their scores
      inspect      Print a summary of a model: rows, rank, variances and certificate
      compare      Compare two models: angles between their subspaces, variances and means
      plot         Plot a model, or rows projected on it, as SVG or PNG
      explore      Explore models and rows on a page in the browser
      faces        Recognize faces: train a recognizer, enroll and forget people, and measure accuracy
      data         Fetch example data
      demo         Run a demo on 400 faces: stream, merge, split, recognize and plot
      completions  Print a completion script for a shell
      man          Write the manual pages into a directory
      help         Print this message or the help of the given subcommand(s)

    Options:
          --threads <N>  Number of threads; results do not depend on it
      -q, --quiet        Print only errors on standard error
          --licenses     Print the licenses of everything that this program contains
      -h, --help         Print help
      -V, --version      Print version

    Exit codes: 0 success, 1 the models differ (compare --within), 2 error, 130 interrupted.
    To see an example, run: eigenspace demo
    ");
}

#[test]
fn the_help_of_every_command_explains_its_options() {
    let directory = Directory::new();
    for (command, own) in OPTIONS {
        let help = directory.done(&format!("{command} --help"));
        let input = if ["fit", "update", "project", "reconstruct", "inspect", "plot", "explore"].contains(&command) {
            INPUT
        } else {
            ""
        };
        // Weights do not change scores, reconstructed rows or plots.
        let weights = if ["fit", "update", "explore"].contains(&command) { "--weights" } else { "" };
        let model = if ["fit", "update"].contains(&command) { MODEL } else { "" };
        let recognizer = if ["faces train", "faces recognize"].contains(&command) { RECOGNIZER } else { "" };
        let mut expected: Vec<&str> = [own, input, weights, model, recognizer, "--help --quiet --threads"]
            .iter()
            .flat_map(|options| options.split_whitespace())
            .collect();
        expected.sort_unstable();
        let mut found: Vec<&str> = help
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .filter_map(|line| line.split([' ', ',']).find(|word| word.starts_with("--")))
            .collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expected, "{command}");
        assert!(help.lines().next().is_some_and(|line| line.len() > 10), "{help}");
    }
}

#[test]
fn a_command_is_needed() {
    let said = Directory::new().run("");
    assert_eq!((said.code, said.out.is_empty()), (Some(2), true));
    assert!(said.err.contains("Usage: eigenspace [OPTIONS] <COMMAND>"), "{said}");
    assert_snapshot!(Directory::new().run("fitt"), @"
    exit: 2
    ----- stderr -----
    error: unrecognized subcommand 'fitt'

      tip: a similar subcommand exists: 'fit'

    Usage: eigenspace [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn the_version_is_that_of_the_crate() {
    assert_eq!(Directory::new().done("--version"), concat!("eigenspace ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_licenses_of_everything_embedded_are_printed() {
    let directory = Directory::new();
    let licenses = directory.done("--licenses");
    for text in ["ndarray ", "notosans ", "SIL OPEN FONT LICENSE", "Apache License", "Permission is hereby granted"] {
        assert!(licenses.contains(text), "{text}");
    }
    assert_eq!(directory.run("--licenses fit").code, Some(2), "it is not an option of other commands");
}

#[test]
fn shells_are_told_every_command_and_option() {
    let directory = Directory::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = directory.done(&format!("completions {shell}"));
        for (command, options) in OPTIONS {
            let words = command.split_whitespace().chain(options.split_whitespace().map(|o| o.trim_start_matches('-')));
            for word in words {
                assert!(script.contains(word), "{shell} does not know {word}");
            }
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let directory = Directory::new();
    assert_eq!(directory.done("man pages/of/mine"), "");
    for (command, options) in OPTIONS {
        let name = format!("pages/of/mine/eigenspace-{}.1", command.replace(' ', "-"));
        let page = directory.text(&name).replace("\\-", "-");
        assert!(page.contains(".SH NAME"), "{page}");
        for option in options.split_whitespace() {
            assert!(page.contains(option), "{name} does not mention {option}");
        }
    }
    assert!(directory.text("pages/of/mine/eigenspace.1").contains(".SH SUBCOMMANDS"));
}
