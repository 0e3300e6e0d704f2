//! Errors of recognizers, which leave all files unchanged.

use insta::assert_snapshot;

use crate::files::pgm;
use crate::people;
use crate::support::{Directory, grouped};

fn directory() -> Directory {
    let directory = Directory::new();
    people::write(&directory, "known", 3, 1..=3);
    directory
}

fn trained() -> Directory {
    let directory = directory();
    directory.done("faces train known -k 4 -o r.safetensors -q");
    directory
}

#[test]
fn images_of_another_size_are_refused_and_resized_when_told() {
    let directory = trained();
    directory.write("large/1.pgm", pgm(18, 16, |at| (at % 251) as u8));
    assert_snapshot!(directory.refused("faces recognize r.safetensors large/1.pgm"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `large/1.pgm`
      cause: the image is 18x16, expected 9x8

    hint: resize all images to one size with --resize 9x8
    ");
    assert_snapshot!(directory.refused("faces enroll r.safetensors large --person eva"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `large/1.pgm`
      cause: the image is 18x16, expected 9x8

    hint: resize all images to one size with --resize 9x8
    ");
    directory.done("faces recognize r.safetensors large/1.pgm --resize 9x8 -q");
    directory.done("faces enroll r.safetensors large --person eva --resize 9x8 -q");
    directory.write("known/ada/9.pgm", pgm(18, 16, |at| (at % 251) as u8));
    assert_snapshot!(directory.refused("faces train known -o s.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `known/ada/9.pgm`
      cause: the image is 18x16, expected 9x8

    hint: resize all images to one size with --resize 9x8
    ");
    directory.done("faces train known --resize 9x8 -o s.safetensors -q");
}

#[test]
fn damaged_images() {
    let directory = trained();
    let whole = people::image(0, 9);
    directory.write("new/ada/9.pgm", &whole[..whole.len() - 5]);
    assert_snapshot!(directory.refused("faces enroll r.safetensors new"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `new/ada/9.pgm`
      cause: its header says 72 bytes of pixels, but it has 67

    hint: use the original file: this one is incomplete, or its newlines were converted
    ");
    directory.write("new/ada/9.pgm", b"no image at all");
    assert_snapshot!(directory.refused("faces recognize r.safetensors new/ada/9.pgm"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `new/ada/9.pgm`
      cause: not a valid image: it does not start like a PNG, JPEG, PGM, PPM or PBM file

    hint: check that the file is complete and has the format that its name suggests
    ");
}

#[test]
fn directories_without_people() {
    let directory = directory();
    directory.write("empty/nothing.txt", "");
    assert_snapshot!(directory.refused("faces train empty -o r.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `empty`
      cause: found no files in a supported format

    hint: add a subdirectory of images for each person to this directory
    ");
    assert_snapshot!(directory.refused("faces train known/ada -o r.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot find people in `known/ada`: expected a subdirectory of images for each person

    hint: arrange the images as person/image.pgm, with each directory named after the person
    ");
    directory.write("known/stray.pgm", people::image(5, 1));
    assert_snapshot!(directory.refused("faces train known -o r.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot tell whose image `known/stray.pgm` is: it is not in a person's directory

    hint: move it into a directory named after the person, or add it later with `faces enroll --person`
    ");
    assert_snapshot!(directory.refused("faces train nowhere -o r.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `nowhere`
      cause: No such file or directory (os error 2)

    hint: check the spelling of the path and the current directory
    ");
}

#[test]
fn people_who_are_not_there_or_there_already() {
    let directory = trained();
    assert_snapshot!(directory.refused("faces forget r.safetensors zoe"), @"
    exit: 2
    ----- stderr -----
    error: cannot remove `zoe` from `r.safetensors`
      cause: unknown person `zoe`

    hint: choose one of: `ada`, `ben`, `cleo`
    ");
    assert_snapshot!(directory.refused("faces forget r.safetensors ada --image 7.pgm"), @"
    exit: 2
    ----- stderr -----
    error: cannot remove `ada` from `r.safetensors`
      cause: `ada` has no image named `7.pgm`

    hint: choose one of: `1.pgm`, `2.pgm`, `3.pgm`
    ");
    assert_snapshot!(directory.refused("faces forget r.safetensors ada ben ada"), @"
    exit: 2
    ----- stderr -----
    error: cannot forget `ada` twice

    hint: name each person once
    ");
    assert_snapshot!(directory.refused("faces forget r.safetensors ada ben cleo"), @"
    exit: 2
    ----- stderr -----
    error: cannot remove `cleo` from `r.safetensors`
      cause: cannot forget the last person

    hint: delete the recognizer file instead: a recognizer has at least one person
    ");
    assert_snapshot!(directory.refused("faces enroll r.safetensors known/ben"), @"
    exit: 2
    ----- stderr -----
    error: cannot enroll `known/ben` in `r.safetensors`
      cause: the image `1.pgm` of `ben` is already enrolled

    hint: leave it out, or forget the enrolled one first: every image can be enrolled only once
    ");
    assert_snapshot!(directory.refused("faces enroll r.safetensors known/ben/1.pgm --person zoe"), @"
    exit: 2
    ----- stderr -----
    error: cannot enroll `known/ben/1.pgm` in `r.safetensors`
      cause: the image `1.pgm` of `zoe` is already enrolled, as `1.pgm` of `ben`

    hint: leave it out, or forget the enrolled one first: every image can be enrolled only once
    ");
    directory.write("loose.pgm", people::image(4, 1));
    assert_snapshot!(directory.refused("faces enroll r.safetensors loose.pgm"), @"
    exit: 2
    ----- stderr -----
    error: cannot tell whose image `loose.pgm` is: it was passed as a single file

    hint: name the person with --person
    ");
    directory.write("eve/9.pgm", people::image(4, 1));
    let said = directory.refused("faces enroll r.safetensors eve/9.pgm");
    assert!(said.err.ends_with("hint: name the person with --person; if it is eve, add --person eve\n"), "{said}");
    let said = directory.refused("faces train known known/ada/1.pgm -o s.safetensors");
    assert!(
        said.err.contains("`known/ada/1.pgm` is: it was passed as a single file, together with directories\n"),
        "{said}"
    );
    let hint =
        "hint: leave out this file, or move it into a person's directory: all images in the directories are read\n";
    assert!(said.err.ends_with(hint), "{said}");
}

#[test]
fn one_image_of_each_and_one_person_only() {
    let directory = Directory::new();
    people::write(&directory, "single", 3, 1..=1);
    assert_snapshot!(directory.done("faces train single -o r.safetensors -q"), @"
    recognizer   r.safetensors
    people       3
    images       3 of 9x8
    components   2 reported, 2 directions kept
    explained    100.00 % of the variance
    certificate  exact: nothing was dropped
    classifier   svm, cosine distance, raw pixels
    unknown      never: too few images to learn from
    not a face   beyond 397.745 from face space, learned
    strangers    about 100 % accepted, estimated by leaving people out
    ");
    assert_snapshot!(directory.refused("faces evaluate single --protocol first-1"), @"
    exit: 2
    ----- stderr -----
    error: cannot evaluate recognition on `single`
      cause: the protocol first-1 needs 2 images of each person, and `ada` has 1

    hint: add images of this person, or leave the person out
    ");
    people::write(&directory, "lonely", 1, 1..=4);
    directory.done("faces train lonely -o one.safetensors -q");
    assert_snapshot!(directory.refused("faces evaluate lonely --protocol first-2"), @"
    exit: 2
    ----- stderr -----
    error: cannot evaluate recognition on `lonely`
      cause: cannot evaluate with images of only one person

    hint: add images of at least one other person
    ");
}

#[test]
fn settings_that_mean_nothing() {
    let directory = trained();
    assert_snapshot!(directory.refused("faces train known --classifier forest -o s.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: invalid classifier `forest`: expected knn, centroid, svm, svm-rbf, perceptron or subspace

    hint: use, for example, knn:3, svm:10 (C), svm-rbf:10,0.5 (C, γ) or perceptron:50,3 (epochs, margin), with 1 to 1000 neighbors and 1 to 10000 epochs
    ");
    assert_snapshot!(directory.refused("faces recognize r.safetensors known --metric taxicab"), @"
    exit: 2
    ----- stderr -----
    error: invalid metric `taxicab`: expected euclidean, cosine, mahalanobis or mahalanobis-cosine

    hint: use, for example, cosine
    ");
    assert_snapshot!(directory.refused("faces recognize r.safetensors known --unknown -3"), @"
    exit: 2
    ----- stderr -----
    error: invalid threshold `-3`: expected a number of 0 or more, `learned` or `none`

    hint: use, for example, learned
    ");
    assert_snapshot!(directory.refused("faces train known --accept 2 -o s.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot learn the faces in `known`
      cause: invalid share of faces to accept `2`: expected a number above 0 and at most 1

    hint: use, for example, 0.95
    ");
    assert_snapshot!(directory.refused("faces evaluate known --protocol sixth"), @"
    exit: 2
    ----- stderr -----
    error: invalid protocol `sixth`: expected first-N, random-N, leave-one-out or incremental

    hint: use, for example, first-5; the number is that of the training images of each person
    ");
    assert_snapshot!(directory.refused("faces evaluate known --protocol first-2 --denoising=-1"), @"
    exit: 2
    ----- stderr -----
    error: invalid noise deviation -1: expected a number of at least 0, in gray values

    hint: try --denoising 25
    ");
    assert_snapshot!(directory.refused("faces recognize r.safetensors known -o near.jpg"), @"
    exit: 2
    ----- stderr -----
    error: cannot infer the image format of `near.jpg` from its name

    hint: use a name that ends in .svg or .png
    ");
}

#[test]
fn files_that_are_no_recognizers() {
    let directory = trained();
    let mut bytes = directory.read("r.safetensors");
    let middle = bytes.len() - 9;
    bytes[middle] ^= 1;
    directory.write("turned.safetensors", &bytes);
    assert_snapshot!(directory.refused("faces list turned.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `turned.safetensors` as a model
      cause: the checksum does not match: the file was changed after it was written

    hint: copy the file again from its source
    ");
    directory.write("short.safetensors", &bytes[..bytes.len() / 2]);
    let said = directory.refused("faces recognize short.safetensors known");
    let cut = format!("it has {} bytes, expected at least {}", grouped(bytes.len() / 2), grouped(bytes.len()));
    assert!(said.err.contains(&cut), "{said}");
    assert!(directory.refused("faces forget known/ada/1.pgm ada").err.contains("as a recognizer"));
}

#[test]
fn forgetting_what_was_dropped() {
    let directory = directory();
    directory.done("faces train known --max-rank 2 -o r.safetensors -q");
    assert_snapshot!(directory.refused("faces forget r.safetensors ada"), @"
    exit: 2
    ----- stderr -----
    error: cannot remove `ada` from `r.safetensors`
      cause: cannot forget the image `1.pgm` of `ada`: directions that it contributed to were dropped

    hint: train again on the remaining images; without --max-rank nothing is dropped, and any person can be forgotten
    ");
}

#[test]
fn models_over_recognizers() {
    let directory = trained();
    directory.done("fit known -o m.safetensors -q");
    directory.done("fit known/ada -o part.safetensors -q");
    for line in [
        "fit known -o r.safetensors",
        "update m.safetensors known/ben -o r.safetensors",
        "merge m.safetensors part.safetensors -o r.safetensors",
        "split m.safetensors part.safetensors -o r.safetensors",
    ] {
        let said = directory.refused(line);
        assert!(
            said.err
                .contains("cannot write a model to `r.safetensors`: it is a recognizer, and its people would be lost"),
            "{line}: {said}"
        );
    }
    directory.done("merge r.safetensors part.safetensors -o m.safetensors -q");
}

#[test]
fn output_over_what_is_read() {
    let directory = trained();
    std::fs::copy(directory.path("r.safetensors"), directory.path("r.png")).unwrap();
    std::fs::copy(directory.path("known/ada/1.pgm"), directory.path("probe.png")).unwrap();
    for line in [
        "faces train known -o known/ada/1.pgm",
        "faces train known -o ./known/../known/ada/1.pgm",
        "faces enroll r.safetensors probe.png --person eva -o probe.png",
        "faces recognize r.safetensors probe.png -o probe.png",
        "faces recognize r.png known -o r.png",
    ] {
        let said = directory.refused(line);
        assert!(said.err.contains("the same command reads it"), "{line}: {said}");
    }
}

#[test]
fn of_those_who_write_at_once_none_is_lost() {
    let directory = trained();
    let names = ["dov", "eva", "finn"];
    for (i, name) in names.iter().enumerate() {
        directory.write(&format!("late/{name}/1.pgm"), people::image(3 + i, 1));
    }
    for _ in 0..4 {
        std::fs::copy(directory.path("r.safetensors"), directory.path("s.safetensors")).unwrap();
        let start = |name: &&str| {
            let mut command = directory.command(&format!("faces enroll s.safetensors late/{name}"));
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        };
        let started: Vec<_> = names.iter().map(start).collect();
        for child in started {
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        let listed = directory.json("faces list s.safetensors --json");
        let found: Vec<&str> =
            listed["people"].as_array().unwrap().iter().map(|person| person["person"].as_str().unwrap()).collect();
        assert_eq!(found, ["ada", "ben", "cleo", "dov", "eva", "finn"]);
    }
}

#[test]
fn directories_in_directories_of_people() {
    let directory = trained();
    directory.write("yr/ann/2020/1.pgm", people::image(0, 7));
    directory.write("yr/bob/2020/4.pgm", people::image(1, 7));
    assert_snapshot!(directory.refused("faces train yr -o s.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot tell whose image `yr/ann/2020/1.pgm` is: it is two or more directories below `yr`

    hint: arrange the images as person/image.pgm, or pass the directory that directly contains the directories of the people
    ");
    assert!(
        directory.refused("faces enroll r.safetensors yr").err.contains("it is two or more directories below `yr`")
    );
    // Who they show can be asked wherever they lie.
    directory.done("faces recognize r.safetensors yr -q");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let directory = directory();
    let name = std::ffi::OsStr::from_bytes(b"known/b\xffd");
    std::fs::create_dir(directory.path("").join(name)).unwrap();
    std::fs::write(directory.path("").join(name).join("1.pgm"), people::image(4, 1)).unwrap();
    let said = directory.run("faces train known -o r.safetensors");
    assert!(said.code == Some(2) && said.err.contains("is not UTF-8"), "{said}");
    directory.write("two/a\nb/1.pgm", people::image(4, 1));
    assert!(directory.run("faces train two -o r.safetensors").err.contains("contains control characters"));
}

/// The same image in 16 bits.
fn deep(person: usize, number: usize) -> Vec<u8> {
    let mut bytes = format!("P5\n{} {}\n65535\n", people::WIDTH, people::HEIGHT).into_bytes();
    bytes.extend(people::pixels(person, number).iter().flat_map(|pixel| [*pixel, *pixel]));
    bytes
}

#[test]
fn images_of_another_depth() {
    let directory = trained();
    directory.write("deep/eva/1.pgm", deep(4, 1));
    assert_snapshot!(directory.refused("faces enroll r.safetensors deep"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `deep/eva/1.pgm`
      cause: the image has 16 bits per value, expected 8

    hint: convert the images to 8 bits per value, or fit or train again on images of 16 bits
    ");
    assert!(directory.refused("faces recognize r.safetensors deep").err.contains("image has 16 bits per value"));
    // Among themselves they are recognized, and measured in their own range.
    let both = |name: &str, image: &dyn Fn(usize, usize) -> Vec<u8>| {
        for person in 0..3 {
            for number in 1..=4 {
                directory.write(&format!("{name}/p{person}/{number}.pgm"), image(person, number));
            }
        }
        directory.json(&format!("faces evaluate {name} --protocol first-2 --classifier knn --compression --json -q"))
    };
    let [flat, deep] =
        [both("flat", &people::image), both("deeper", &deep)].map(|found| found["compression"][0].clone());
    let header = format!("P5\n{} {}\n65535\n", people::WIDTH, people::HEIGHT).len();
    assert_eq!(deep["pgm_bytes"], header + 2 * people::WIDTH * people::HEIGHT);
    let psnr = |row: &serde_json::Value| row["new"]["psnr"].as_f64().unwrap();
    assert!((psnr(&flat) - psnr(&deep)).abs() < 1e-6, "{flat} {deep}");
    directory.write("known/ada/9.pgm", self::deep(0, 9));
    assert!(directory.refused("faces train known -o s.safetensors").err.contains("16 bits per value"));
    assert!(directory.refused("faces train flat deep -o s.safetensors").err.contains("image has 16 bits per value"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_does_not_deny_what_was_done() {
    let directory = trained();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ended = directory.command("faces forget r.safetensors ada -q").stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2));
    assert!(said.contains("cannot write to standard output") && !said.contains("nothing was changed"), "{said}");
    assert!(!directory.done("faces list r.safetensors").contains("ada"));
}

#[test]
fn nothing_and_too_much() {
    let directory = trained();
    let mut command = directory.command("faces evaluate known --protocol first-2");
    let ended = command.args(["--classifier", " "]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("invalid list of classifiers: expected at least one"));
    assert!(
        directory
            .refused("faces recognize r.safetensors known --matches 11")
            .err
            .contains("expected a whole number from 0 to 10")
    );
    assert!(
        directory
            .refused("faces recognize r.safetensors known --classifier knn:1000000")
            .err
            .contains("1 to 1000 neighbors")
    );
}

#[test]
fn fewer_components_than_requested_are_a_warning() {
    let directory = directory();
    let said = directory.run("faces train known -k 99 -o r.safetensors");
    let warning = "warning: 99 components were requested, but the model has 8: 9 rows span at most 8 directions\n";
    assert!(said.code == Some(0) && said.err.contains(warning), "{said}");
    // The default is not a request.
    assert!(!directory.run("faces train known -o r.safetensors").err.contains("warning"));
    assert!(directory.run("faces recognize r.safetensors known -k 99").err.contains(warning));
}

#[test]
fn a_protocol_for_fewer_images_is_suggested() {
    let said = directory().refused("faces evaluate known --protocol random-9");
    assert!(said.err.ends_with(", or try --protocol random-2\n"), "{said}");
}

#[test]
fn a_person_cannot_be_called_as_strangers_are() {
    for name in ["unknown", "Not a face"] {
        let directory = Directory::new();
        people::write(&directory, "people", 2, 1..=2);
        directory.write(&format!("people/{name}/1.pgm"), people::image(5, 1));
        let said = directory.refused("faces train people -o m");
        assert!(said.err.contains(&format!("invalid person name `{name}`: it is reserved")), "{said}");
    }
}
