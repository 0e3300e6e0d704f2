//! Invalid options.

use insta::assert_snapshot;

use crate::files::{csv, npy, npz, pgm};
use crate::oracle::table;
use crate::support::Directory;

fn directory() -> Directory {
    let directory = Directory::with("t.csv", csv(&table(20, 3, 71)));
    directory.done("fit t.csv -o m.safetensors -q");
    directory
}

#[test]
fn numbers_of_components() {
    let directory = directory();
    assert_snapshot!(directory.refused("fit t.csv -k some -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid number of components `some`: expected a whole number, a share of variance or `all`

    hint: use, for example, -k 50, -k 0.95 or -k all
    ");
    for text in ["0", "1.5", "0.0", "-1", "nan", "", "2x", "1e400", "0.5.5"] {
        directory.refused(&format!("fit t.csv -o m.safetensors --components={text}"));
    }
    assert_snapshot!(directory.refused("fit t.csv -k 0 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid number of components 0: expected at least 1

    hint: use 1 or more, or leave out the setting to use its default
    ");
    assert_snapshot!(directory.refused("fit t.csv -k 1.5 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid share of variance 1.5: expected a number above 0 and at most 1

    hint: use a share between 0 and 1, for example 0.95; for a number of components, use a whole number
    ");
    assert_snapshot!(directory.refused("project m.safetensors t.csv -k x"), @"
    exit: 2
    ----- stderr -----
    error: invalid number of components `x`: expected a whole number, a share of variance or `all`

    hint: use, for example, -k 50, -k 0.95 or -k all
    ");
    assert_snapshot!(directory.refused("fit t.csv --max-rank 0 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid rank 0: expected at least 1

    hint: use 1 or more, or leave out the setting to use its default
    ");
}

#[test]
fn rules_of_truncation() {
    let directory = directory();
    assert_snapshot!(directory.refused("fit t.csv --truncation half -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid truncation rule `half`: expected none, rank:N, energy:SHARE, tolerance:T or fd:N

    hint: use, for example, rank:100, energy:0.99, tolerance:1e-6 or fd:100
    ");
    assert_snapshot!(directory.refused("fit t.csv --truncation energy:2 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid share of variance 2: expected a number above 0 and at most 1

    hint: use a share between 0 and 1, for example 0.99; to keep a number of directions, use the rule rank:2
    ");
    assert_snapshot!(directory.refused("fit t.csv --truncation tolerance:-1 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid tolerance -1: expected a number of at least 0 and below 1

    hint: try 1e-6, which drops directions whose singular value is below a millionth of the largest
    ");
    for rule in ["rank:", "rank:x", "rank:0", "fd:0", "energy:nan", "none:1", ":", "rank:-3", "tolerance:1"] {
        directory.refused(&format!("fit t.csv --truncation {rule} -o m.safetensors"));
    }
}

#[test]
fn sizes_and_delimiters() {
    let directory = directory();
    assert_snapshot!(directory.refused("fit t.csv --resize 92 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid image size `92`: expected WIDTHxHEIGHT in pixels

    hint: use, for example, 92x112
    ");
    assert_snapshot!(directory.refused("fit t.csv --delimiter ;; -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid delimiter `;;`: expected one character or `tab`

    hint: use, for example, --delimiter ';' or --delimiter tab
    ");
    for size in ["0x5", "5x0", "axb", "x", "-1x5", "5x5x5"] {
        directory.refused(&format!("fit t.csv --resize={size} -o m.safetensors"));
    }
}

#[test]
fn forgetting() {
    let directory = directory();
    assert_snapshot!(directory.refused("fit t.csv --forgetting 1.5 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid forgetting factor 1.5: expected a number above 0 and at most 1

    hint: try 0.99, which remembers roughly the last 100 rows if it is applied at each row; 1 forgets nothing
    ");
    assert_snapshot!(directory.refused("fit t.csv --half-life=-1 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid half-life -1: expected a number of rows above 0

    hint: try 100, which halves the weight of a row after 100 later rows
    ");
    for option in ["--half-life=0", "--half-life=nan", "--forgetting=0", "--forgetting=nan"] {
        directory.refused(&format!("fit t.csv {option} -o m.safetensors"));
    }
}

#[test]
fn options_that_clap_refuses() {
    let directory = directory();
    assert_snapshot!(directory.refused("fit t.csv --half-life 5 --forgetting 0.5 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: the argument '--half-life <ROWS>' cannot be used with '--forgetting <FACTOR>'

    Usage: eigenspace fit --output <FILE> --half-life <ROWS> <DATA>...

    For more information, try '--help'.
    ");
    assert_snapshot!(directory.refused("fit t.csv --every 5 -o m.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: the following required arguments were not provided:
      --checkpoint <FILE>

    Usage: eigenspace fit --output <FILE> --checkpoint <FILE> --every <ROWS> <DATA>...

    For more information, try '--help'.
    ");
    assert_snapshot!(directory.refused("fit t.csv"), @"
    exit: 2
    ----- stderr -----
    error: the following required arguments were not provided:
      --output <FILE>

    Usage: eigenspace fit --output <FILE> <DATA>...

    For more information, try '--help'.
    ");
    assert_snapshot!(directory.refused("merge m.safetensors -o n.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: 2 values required by '<MODEL> <MODEL>...'; only 1 was provided

    Usage: eigenspace merge [OPTIONS] --output <FILE> <MODEL> <MODEL>...

    For more information, try '--help'.
    ");
    assert_snapshot!(directory.refused("inspect m.safetensors --threads 0"), @"
    exit: 2
    ----- stderr -----
    error: invalid value '0' for '--threads <N>': expected a whole number from 1 to 1024

    For more information, try '--help'.
    ");
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let directory = Directory::with("t.csv", csv(&table(20, 4, 71)));
    directory.write("w.csv", "1\n".repeat(20));
    directory.done("fit t.csv -o m -q");
    let reason = |line: &str| {
        let said = directory.refused(line);
        said.err.lines().next().unwrap().to_owned()
    };
    assert_snapshot!(reason("fit t.csv -o n --header --no-header"), @"error: the argument '--header' cannot be used with '--no-header'");
    assert_snapshot!(reason("fit t.csv -o n --checkpoint c --every 0"), @"error: invalid value '0' for '--every <ROWS>': expected a whole number of at least 1");
    assert_snapshot!(reason("fit t.csv -o n --passes 0"), @"error: invalid value '0' for '--passes <N>': expected a whole number of at least 1");
    assert_snapshot!(reason("fit t.csv -o n --passes 2 --checkpoint c"), @"error: the argument '--passes <N>' cannot be used with '--checkpoint <FILE>'");
    assert_snapshot!(reason("fit t.csv -o n --passes 2 --half-life 5"), @"error: the argument '--passes <N>' cannot be used with '--half-life <ROWS>'");
    assert_snapshot!(reason("fit - -o n --passes 2"), @"error: cannot use --passes with standard input: it cannot be read again");
    assert_snapshot!(reason("fit t.csv -o n --passes 2 --missing impute"), @"error: cannot use --passes with --missing impute: each pass would fill the cells with different numbers");
    assert_snapshot!(reason("plot scatter m t.csv --axes 1,1 -o s.svg"), @"error: invalid axes: component 1 is chosen twice");
    assert_snapshot!(reason("plot scree m --row 3 -o s.svg"), @"error: cannot draw a scree plot with --row: only strip uses it");
    assert_snapshot!(reason("plot scatter m t.csv --confidence 0.9 -o s.svg"), @"error: cannot draw a scatter plot with --confidence: only monitor uses it");
    assert_snapshot!(reason("plot circle m t.csv -o s.svg"), @"error: cannot draw a circle plot with DATA: only scatter, strip, biplot and monitor use it");
    assert_snapshot!(reason("project m t.csv --label a -o z.npy"), @"error: cannot write labels to `z.npy`: a NumPy array holds only numbers");
    assert_snapshot!(reason("project m t.csv --weights w.csv -o z.csv"), @"error: cannot use weights here: they do not change the scores of a row");
    assert_snapshot!(reason("plot scatter m t.csv --weights w.csv -o s.svg"), @"error: cannot use weights here: they do not change a plot");
    assert!(directory.refused("project m t.csv --weights w.csv").err.ends_with("\nhint: leave out --weights\n"));
    assert_snapshot!(reason("plot scree m --label a -o s.svg"), @"error: cannot draw a scree plot with --label: only scatter, strip, biplot and monitor use it");
    assert_snapshot!(reason("inspect m --label a"), @"error: cannot use --label without DATA");
    assert_snapshot!(reason("inspect m --key x --delimiter ;"), @"error: cannot use --delimiter without DATA");
    let hint = "\nhint: leave out --label, or pass rows after the model\n";
    assert!(directory.refused("inspect m --label a").err.ends_with(hint));
    assert_snapshot!(reason("plot gallery m --format csv --shape 2x2 -o s.svg"), @"error: cannot draw a gallery plot with --format: only scatter, strip, biplot and monitor use it");
    assert_snapshot!(reason("plot circle m --missing skip -o s.svg"), @"error: cannot draw a circle plot with --missing: only scatter, strip, biplot and monitor use it");
    assert_snapshot!(reason("plot biplot m t.csv --axes 1,2,3 -o s.svg"), @"error: invalid axes: expected two components for a biplot, found 3");
    assert_snapshot!(reason("plot gallery m --tiles 0 -o s.svg"), @"error: invalid value '0' for '--tiles <N>': expected a whole number of at least 1");
    assert_snapshot!(reason("plot scatter m t.csv --axes a,b -o s.svg"), @"error: invalid value 'a' for '--axes <I,J[,K]>': expected whole numbers, for example 1,2");
    assert_snapshot!(reason("plot strip m t.csv --steps 5,x -o s.svg"), @"error: invalid value 'x' for '--steps <K,…>': expected whole numbers, for example 1,2");
    assert_snapshot!(reason("fit t.csv --half-life abc -o n"), @"error: invalid value 'abc' for '--half-life <ROWS>': expected a number");
    assert_snapshot!(reason("fit t.csv --block-rows x -o n"), @"error: invalid value 'x' for '--block-rows <N>': expected a whole number");
    assert_snapshot!(reason("fit t.csv --decimal x -o n"), @"error: invalid value 'x' for '--decimal <CHAR>': expected a comma or a point");
    assert_snapshot!(reason("compare m m --within nan"), @"error: invalid value 'nan' for '--within <SINE>': expected a number that is 0 or more, such as 1e-6");
    assert_snapshot!(reason("plot monitor m t.csv --confidence 1e-300 -o s.svg"), @"error: invalid confidence 1e-300: expected a share from 0.001 to 0.999999999");
}

#[test]
fn a_negative_number_reaches_its_option() {
    let directory = Directory::with("t.csv", csv(&table(20, 4, 71)));
    directory.done("fit t.csv -o m -q");
    for (line, about) in [
        ("fit t.csv -o n -k -1", "invalid number of components `-1`"),
        ("fit t.csv -o n --max-rank -3", "invalid rank `-3`"),
        ("fit t.csv -o n --forgetting -0.5", "invalid forgetting factor -0.5"),
        ("compare m m --within -1", "'-1' for '--within"),
        ("plot monitor m t.csv --confidence -1 -o s.svg", "invalid confidence -1"),
        ("inspect m --threads -2", "'-2' for '--threads"),
    ] {
        let said = directory.refused(line);
        assert!(said.err.contains(about), "{line}\n{said}");
    }
}

#[test]
fn a_flag_takes_no_value() {
    let directory = directory();
    assert_snapshot!(directory.refused("fit t.csv --header=maybe -o n"), @"
    exit: 2
    ----- stderr -----
    error: cannot set --header to `maybe`: it takes no value

    hint: use --header without a value, or leave it out
    ");
    for line in
        ["fit t.csv --standardize=yes -o n", "inspect m.safetensors --json=false", "inspect m.safetensors --quiet=1"]
    {
        let said = directory.refused(line);
        assert!(said.err.contains(": it takes no value\n\nhint: use --"), "{line}\n{said}");
    }
}

#[test]
fn standardizing_is_a_setting_of_fit() {
    assert_snapshot!(directory().refused("update m.safetensors t.csv --standardize"), @"
    exit: 2
    ----- stderr -----
    error: cannot use --standardize here

    hint: set it with `eigenspace fit --standardize`; all other commands use the setting of the model
    ");
}

#[test]
fn plots_that_need_more_components_or_rows_than_the_model_has() {
    let directory = Directory::with("two.csv", "a,b,c\n1,2,5\n1,3,9\n");
    directory.done("fit two.csv -o two -q");
    assert_snapshot!(directory.refused("plot monitor two two.csv -o s.svg"), @"
    exit: 2
    ----- stderr -----
    error: cannot compute the limit of T²: it needs more than 2 rows, and the model has 2

    hint: add rows with `eigenspace update`
    ");
    assert_snapshot!(directory.refused("plot biplot two two.csv -o s.svg"), @"
    exit: 2
    ----- stderr -----
    error: cannot use component 2: the model reports 1 component

    hint: the model keeps only 1 direction; choose another kind of plot, or fit a model with more columns and rows
    ");
    directory.write("t.csv", csv(&table(20, 4, 71)));
    directory.done("fit t.csv -k 1 -o m -q");
    let said = directory.refused("plot scatter m t.csv -o s.svg");
    assert!(said.err.ends_with("hint: use -k 2\n"), "{said}");
    directory.done("plot scatter m t.csv -k 2 -o s.svg");
}

#[test]
fn options_of_other_formats() {
    let directory = Directory::with("t.csv", csv(&table(20, 4, 71)));
    directory.write("t.npy", npy(&table(20, 4, 71), "<f8", false));
    directory.write("t.npz", npz(&[("x", npy(&table(20, 4, 71), "<f8", false))]));
    directory.write("faces/1.pgm", pgm(2, 2, |at| at as u8));
    directory.write("faces/2.pgm", pgm(2, 2, |at| at as u8 + 3));
    directory.done("fit t.csv -o m -q");
    assert_snapshot!(directory.refused("fit t.npy --delimiter ; -o n"), @"
    exit: 2
    ----- stderr -----
    error: cannot use --delimiter with .npy files: it is for CSV and TSV files only

    hint: leave out --delimiter; if the format was inferred wrongly from the file name, set it with --format
    ");
    assert_snapshot!(directory.refused("fit faces --columns 0 -o n"), @"
    exit: 2
    ----- stderr -----
    error: cannot use --columns with image files: it is for CSV, TSV, Parquet and Arrow files only

    hint: leave out --columns; if the format was inferred wrongly from the file name, set it with --format
    ");
    assert_snapshot!(directory.refused("fit t.csv --format npy --label a -o n"), @"
    exit: 2
    ----- stderr -----
    error: cannot use --label with .npy files: it is for CSV, TSV, Parquet and Arrow files only

    hint: leave out --label, or leave out --format npy to infer the format from the file name
    ");
    for (option, formats) in [
        ("--columns 0", "t.npy t.npz faces"),
        ("--exclude 0", "t.npy t.npz faces"),
        ("--label 0", "t.npy t.npz faces"),
        ("--weight-column 0", "t.npy t.npz faces"),
        ("--keep-index", "t.npy t.npz faces"),
        ("--header", "t.npy t.npz faces"),
        ("--no-header", "t.npy t.npz faces"),
        ("--decimal ,", "t.npy t.npz faces"),
        ("--na x", "t.npy t.npz faces"),
        ("--key x", "t.csv t.npy faces"),
        ("--resize 2x2", "t.csv t.npy t.npz"),
        ("--color", "t.csv t.npy t.npz"),
    ] {
        for file in formats.split(' ') {
            let name = option.split(' ').next().unwrap();
            let said = directory.refused(&format!("fit {file} {option} -o n"));
            assert!(said.err.starts_with(&format!("error: cannot use {name} with ")), "{file} {option}\n{said}");
        }
    }
    for line in ["project m t.npy --columns 0-3", "update m t.npy --label 0", "plot scatter m t.npy --label 0 -o s.svg"]
    {
        let said = directory.refused(line);
        assert!(
            said.err.contains("with .npy files: it is for CSV, TSV, Parquet and Arrow files only"),
            "{line}\n{said}"
        );
    }
    // An option that concerns one of the inputs is used for that one.
    directory.done("fit t.npz t.npy --key x -o n -q");
    directory.done("fit t.csv --format csv --delimiter , -o n -q");
}

#[test]
fn values_of_options_are_told_in_our_words() {
    let directory = Directory::with("t.csv", "a,b\n1,2\n3,5\n4,4\n");
    for (line, words) in [
        #[cfg(feature = "explore")]
        ("explore t.csv --port 80x", "'80x' for '--port <N>': expected a whole number from 0 to 65535\n"),
        #[cfg(feature = "explore")]
        (
            "explore t.csv --bind x --allow-host y",
            "'x' for '--bind <ADDRESS>': expected the IP address of this machine",
        ),
        ("fit t.csv --device x -o m", "'x' for '--device <DEVICE>': expected `cpu`, `cuda`"),
        ("fit t.csv --weight-kind x -o m", "'x' for '--weight-kind <KIND>': expected `frequency` or `reliability`\n"),
    ] {
        let said = directory.refused(line);
        assert!(said.err.starts_with(&format!("error: invalid value {words}")), "{said}");
    }
    #[cfg(feature = "explore")]
    assert_snapshot!(directory.refused("explore t.csv --write models --no-open"), @"
    exit: 2
    ----- stderr -----
    error: cannot save models in `models`: there is no such directory

    hint: make the directory first: mkdir -p models
    ");
    #[cfg(feature = "explore")]
    assert_snapshot!(directory.refused("explore t.csv --state foo --no-open"), @"
    exit: 2
    ----- stderr -----
    error: invalid view `foo`: expected a view as copied from the page, which begins with `#`

    hint: put the view in quotation marks, or leave out --state
    ");
}
