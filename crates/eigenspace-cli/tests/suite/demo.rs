//! The demo.

use crate::support::{Directory, finish};

/// Lines of the live table: a number of rows, and seven more cells.
fn table(printed: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
    let rows = printed
        .lines()
        .map(cells)
        .filter(|cells| cells.len() > 8 && cells[0].parse::<u64>().is_ok() && cells[1].parse::<u64>().is_ok());
    rows.collect()
}

fn check(directory: &Directory, printed: &str) {
    let counts: Vec<u64> = table(printed).iter().map(|cells| cells[0].parse().unwrap()).collect();
    assert_eq!(counts, (1..=20).map(|batch| 20 * batch).collect::<Vec<_>>(), "{printed}");
    for word in ["Merging", "Splitting", "Recognizing", "Forgetting", "Plots", "Done in", "Try next"] {
        assert!(printed.contains(word), "{word}:\n{printed}");
    }
    for name in ["eigenfaces", "scree", "strip", "scatter", "error", "monitor", "time", "recognized"] {
        assert!(
            directory.exists(&format!("demo/{name}.svg")) && directory.exists(&format!("demo/{name}.png")),
            "{name}"
        );
    }
    let page = directory.text("demo/index.html");
    assert!(page.contains("<svg") && page.contains("eigenspace"));
    let outside = ["src=\"http", "href=\"http", "@import", "<script"];
    assert!(outside.iter().all(|word| !page.contains(word)), "the page needs nothing from elsewhere");
    for part in page.split("href=\"").skip(1).chain(page.split("src=\"").skip(1)) {
        let target = part.split('"').next().unwrap();
        let here =
            target.starts_with('#') || target.starts_with("data:") || directory.exists(&format!("demo/{target}"));
        assert!(here, "a link to `{target}`");
    }
    // Everybody is in the recognizer, with the images that were learned.
    let people = directory.json("faces list demo/people.safetensors --json")["people"].as_array().unwrap().len();
    assert_eq!(people, 40);
    let flat = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("The remaining recognizer makes the same decisions as one that was trained without"),
        "{printed}"
    );
    assert!(flat.contains("the recognizer makes the same decisions as before"), "{printed}");
    let last = printed.trim_end().lines().last().unwrap();
    assert!(last.contains("explore demo/people.safetensors demo/whole.safetensors "), "{last}");
    // What it says next works.
    let model = "demo/whole.safetensors";
    directory.done(&format!("inspect {model}"));
    directory.done(&format!("split {model} demo/person.safetensors -o again.safetensors --quiet"));
    directory.done("compare again.safetensors demo/without.safetensors --within 1e-9");
}

#[test]
fn the_demo_streams_merges_splits_and_draws_the_orl_faces() {
    let faces = std::env::var("EIGENSPACE_ORL").expect("EIGENSPACE_ORL names the directory of the ORL faces");
    let directory = Directory::new();
    let said = directory.run(&format!("demo --faces {faces}"));
    assert_eq!(said.code, Some(0), "{said}");
    check(&directory, &said.out);
    // Until 100 directions are full nothing is dropped, and the stream is the batch PCA.
    for cells in table(&said.out).iter().take(6) {
        assert!(cells.contains(&"exact".to_owned()), "{cells:?}");
    }
    assert!(table(&said.out)[19].contains(&"within".to_owned()), "{said}");
}

#[test]
fn without_python_or_a_network_the_demo_draws_faces_of_its_own_and_says_so() {
    let directory = Directory::new();
    let said = finish(directory.command("demo").env("PATH", ""), b"");
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.err.contains("could not fetch the ORL faces: cannot run pip: Python is not installed"), "{said}");
    assert!(said.out.contains("generated faces, not the ORL faces"), "{said}");
    check(&directory, &said.out);
}

#[test]
fn a_directory_without_people_is_refused() {
    let directory = Directory::new();
    directory.write("faces/1.pgm", b"P5\n1 1\n255\nx");
    let said = directory.run("demo --faces faces");
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("found 1 image\n"), "{said}");
}
