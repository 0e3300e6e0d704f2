//! `eigenspace data`, without a network: the faces are in the directory named by `EIGENSPACE_ORL`.

use insta::assert_snapshot;

use crate::files::pgm;
use crate::support::Directory;

fn faces() -> String {
    std::env::var("EIGENSPACE_ORL").expect("EIGENSPACE_ORL is not set: run `cargo xtask test`")
}

#[test]
fn faces_that_are_there_are_checked_and_their_directory_is_printed() {
    let (directory, faces) = (Directory::new(), faces());
    let said = directory.run(&format!("data orl {faces} --check"));
    assert_eq!(said.to_string(), format!("exit: 0\n----- stdout -----\n{faces}\n"));
    let said = directory.run(&format!("data orl {faces}"));
    assert_eq!((said.code, said.out), (Some(0), format!("{faces}\n")));
}

#[test]
fn the_faces_become_a_model_of_images() {
    let directory = Directory::new();
    let found = directory.json(&format!("fit {} -k 50 -o faces.safetensors --json -q", faces()));
    assert_eq!((&found["count"], &found["features"], &found["n_components"]), (&400.into(), &10304.into(), &50.into()));
    assert_eq!(found["image"], serde_json::json!({ "width": 92, "height": 112, "channels": 1, "depth": 8 }));
    assert_eq!(found["certificate"]["exact"], true);
    directory.done(&format!("project faces.safetensors {} -o c.csv -q", faces()));
    let text = directory.text("c.csv");
    assert_eq!(text.lines().count(), 401);
    assert!(
        text.lines().nth(11).is_some_and(|line| line.starts_with("s2,")),
        "labels are the names of the directories"
    );
}

#[test]
fn a_directory_of_something_else_is_refused_and_left_alone() {
    let directory = Directory::with("mine/s1/1.pgm", pgm(4, 3, |at| at as u8));
    assert_snapshot!(directory.refused("data orl mine --check"), @"
    exit: 2
    ----- stderr -----
    error: cannot use the face `mine/s1/1.pgm`: its SHA-256 is not that of the original

    hint: pass a directory that holds the original s1/1.pgm … s40/10.pgm; `eigenspace data orl` fetches them into a new directory
    ");
    assert_snapshot!(directory.refused("data orl none --check"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `none`
      cause: No such file or directory (os error 2)

    hint: check the spelling of the path and the current directory
    ");
    assert_snapshot!(directory.refused("data orl mine"), @"
    exit: 2
    ----- stderr -----
    error: cannot write the ORL faces to `mine`: the directory holds something else
      cause: cannot use the face `mine/s1/1.pgm`: its SHA-256 is not that of the original

    hint: choose a new directory; existing files are never overwritten
    ");
}
