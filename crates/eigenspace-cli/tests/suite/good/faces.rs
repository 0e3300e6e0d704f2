//! The commands for recognizers.

use insta::assert_snapshot;
use serde_json::Value;

use crate::people::{self, NAMES};
use crate::support::Directory;

/// Four people with four images each, and two new ones of each.
fn directory() -> Directory {
    let directory = Directory::new();
    people::write(&directory, "known", 4, 1..=4);
    people::write(&directory, "new", 4, 5..=6);
    directory
}

fn verdicts(found: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    found["images"].as_array().unwrap().iter().map(|p| (text(&p["image"]), text(&p["person"]))).collect()
}

#[test]
fn a_recognizer_is_trained_and_recognizes_new_images() {
    let directory = directory();
    assert_snapshot!(directory.run("faces train known -k 5 -o r.safetensors"), @"
    exit: 0
    ----- stdout -----
    recognizer   r.safetensors
    people       4
    images       16 of 9x8
    components   5 reported, 15 directions kept
    explained    95.69 % of the variance
    certificate  exact: nothing was dropped
    classifier   svm, cosine distance, raw pixels
    unknown      beyond 0.145047 from the nearest person, learned
    not a face   beyond 355.825 from face space, learned
    strangers    about 0 % accepted, estimated by leaving people out
    ");
    let found = directory.json("faces recognize r.safetensors new --json --unknown none --not-a-face none");
    for (image, person) in verdicts(&found) {
        assert_eq!(image.split('/').nth(1), Some(person.as_str()), "{image}");
    }
    assert_eq!(verdicts(&found).len(), 8);
    assert_snapshot!(directory.done("faces recognize r.safetensors new/ada/5.pgm known/ben/2.pgm --unknown none --not-a-face none"), @"
              image  person    score   distance  to face space                closest matches
      new/ada/5.pgm     ada  3.25184  0.0942226        85.0848  ada/2.pgm ada/1.pgm ada/3.pgm
    known/ben/2.pgm     ben  3.25232  0.0283962        54.6739  ben/2.pgm ben/4.pgm ben/3.pgm
    ");
    assert_snapshot!(directory.done("faces list r.safetensors --images"), @"
    person  images                    names
       ada       4  1.pgm 2.pgm 3.pgm 4.pgm
       ben       4  1.pgm 2.pgm 3.pgm 4.pgm
      cleo       4  1.pgm 2.pgm 3.pgm 4.pgm
       dov       4  1.pgm 2.pgm 3.pgm 4.pgm
    ");
}

#[test]
fn the_nearest_images_are_those_that_loops_find() {
    let directory = directory();
    directory.done("faces train known -k all --metric euclidean -o r.safetensors -q");
    let found = directory.json("faces recognize r.safetensors new --matches 10 --json");
    for probe in found["images"].as_array().unwrap() {
        let name = probe["image"].as_str().unwrap();
        let person = NAMES.iter().position(|person| name.contains(person)).unwrap();
        let number: usize = name.rsplit('/').next().unwrap().trim_end_matches(".pgm").parse().unwrap();
        let probe_pixels = people::pixels(person, number);
        // With all directions, distances in face space differ from those of pixels by the same part
        // outside of it.
        let outside = probe["face_distance"].as_f64().unwrap().powi(2);
        for near in probe["matches"].as_array().unwrap() {
            let who = NAMES.iter().position(|person| near["person"] == *person).unwrap();
            let which: usize = near["image"].as_str().unwrap().trim_end_matches(".pgm").parse().unwrap();
            let apart: f64 = probe_pixels
                .iter()
                .zip(people::pixels(who, which))
                .map(|(a, b)| (f64::from(*a) - f64::from(b)).powi(2))
                .sum();
            let distance = near["distance"].as_f64().unwrap();
            assert!((distance * distance + outside - apart).abs() < 1e-6 * apart, "{name} {near}");
        }
    }
}

#[test]
fn enrolling_and_forgetting_is_training_on_what_is_left() {
    let directory = directory();
    people::write(&directory, "all", 5, 1..=4);
    directory.done("faces train known -k 6 -o r.safetensors -q");
    // One that comes, in two ways; one that goes; one that comes back with one image less.
    directory.write("more/1.pgm", people::image(4, 1));
    directory.write("more/2.pgm", people::image(4, 2));
    let said = directory.run("faces enroll r.safetensors more/1.pgm more/2.pgm --person eva");
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.err.contains("enrolled 2 images"), "{said}");
    people::write(&directory, "late", 5, 3..=4);
    directory.done("faces enroll r.safetensors late/eva -q");
    directory.done("faces forget r.safetensors ben -q");
    directory.done("faces enroll r.safetensors known/ben -o back.safetensors -q");
    directory.done("faces forget back.safetensors ben --image 4.pgm -q");

    std::fs::remove_file(directory.path("all/ben/4.pgm")).unwrap();
    directory.done("faces train all -k 6 -o scratch.safetensors -q");
    directory.done("compare back.safetensors scratch.safetensors --within 1e-9");
    let people = |name: &str| directory.json(&format!("faces list {name}.safetensors --json"))["people"].clone();
    assert_eq!(people("back"), people("scratch"));
    for classifier in ["knn", "knn:3", "centroid", "subspace", "svm", "svm-rbf", "perceptron"] {
        let ask = |name: &str| {
            directory.json(&format!("faces recognize {name}.safetensors new late --classifier {classifier} --json"))
        };
        let (ours, theirs) = (ask("back"), ask("scratch"));
        assert_eq!(verdicts(&ours), verdicts(&theirs), "{classifier}");
        let threshold = |found: &Value| found["unknown"].as_f64().unwrap();
        assert!((threshold(&ours) - threshold(&theirs)).abs() < 1e-9, "{classifier}");
    }
    assert_eq!(people("r").as_array().unwrap().len(), 4, "-o leaves the first as it was");
}

#[test]
fn a_recognizer_is_a_model_and_update_does_not_take_its_people_away() {
    let directory = directory();
    directory.done("faces train known -k 5 -o r.safetensors -q");
    directory.done("plot gallery r.safetensors -o eigenfaces.png");
    directory.done("plot strip r.safetensors new --steps 5,10,20,50,100,200 -o strip.png");
    assert_eq!(directory.json("inspect r.safetensors --json")["image"]["width"], people::WIDTH);
    directory.done("update r.safetensors new -o model.safetensors -q");
    assert_eq!(directory.json("inspect model.safetensors --json")["count"], 24);
    assert_snapshot!(directory.refused("update r.safetensors new"), @"
    exit: 2
    ----- stderr -----
    error: cannot write a model to `r.safetensors`: it is a recognizer, and its people would be lost

    hint: add images with `eigenspace faces enroll`, or write the model to another file with -o
    ");
    assert_snapshot!(directory.refused("faces list model.safetensors"), @"
    exit: 2
    ----- stderr -----
    error: cannot read `model.safetensors` as a recognizer
      cause: it is a model without people

    hint: to train a recognizer, run: eigenspace faces train DIRECTORY -o RECOGNIZER
    ");
}

#[test]
fn the_closest_matches_of_a_probe_are_drawn() {
    let directory = directory();
    directory.done("faces train known -k 5 -o r.safetensors -q");
    let said = directory.run("faces recognize r.safetensors new -o near.png");
    assert!(said.code == Some(0) && said.err.contains("`near.png`"), "{said}");
    assert!(directory.read("near.png").starts_with(b"\x89PNG"));
    directory.done("faces recognize r.safetensors new/ada -o near.svg --matches 2 -q");
    // Two probes, each with what the components keep of it and two matches.
    assert_eq!(directory.text("near.svg").matches("<image").count(), 2 * 4);
}

#[test]
fn images_in_color_are_taken_as_gray_and_that_is_said() {
    let directory = directory();
    directory.done("faces train known -k 5 -o r.safetensors -q");
    let pixels = people::pixels(1, 2);
    let mut ppm = format!("P6\n{} {}\n255\n", people::WIDTH, people::HEIGHT).into_bytes();
    ppm.extend(pixels.iter().flat_map(|&pixel| [pixel; 3]));
    directory.write("red/1.ppm", ppm);
    let said = directory.run("faces recognize r.safetensors red/1.ppm --json");
    assert_eq!(said.err, "converted 1 of 1 images from color to gray\n");
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(found["images"][0]["matches"][0]["person"], "ben");
    assert!(found["images"][0]["matches"][0]["distance"].as_f64().unwrap() < 1e-9, "the same pixels");
}

#[test]
fn an_evaluation_with_a_seed_says_the_same_again() {
    let directory = directory();
    people::write(&directory, "known", 4, 5..=6);
    let line = "faces evaluate known --protocol first-3,random-3,leave-one-out,incremental-3 --repeats 3 -k 5 --seed 4 \
                --classifier knn;svm --json -q";
    let found = directory.json(line);
    assert_eq!(found, directory.json(line));
    let protocols = found["protocols"].as_array().unwrap();
    let names: Vec<&str> = protocols.iter().map(|p| p["protocol"].as_str().unwrap()).collect();
    assert_eq!(names, ["first-3", "random-3", "leave-one-out", "incremental-3"]);
    assert_eq!(protocols[1]["splits"].as_array().unwrap().len(), 3);
    assert_eq!(protocols[1]["splits"][0]["train"].as_array().unwrap().len(), 12);
    for setting in protocols[0]["settings"].as_array().unwrap() {
        let mistakes = setting["trials"][0]["mistakes"].as_array().unwrap().len();
        assert_eq!(setting["correct"].as_u64().unwrap() as usize + mistakes, 12);
        assert_eq!(setting["ranks"].as_array().unwrap().len(), 5);
        assert_eq!(setting["ranks"][3], 1.0, "there are four people");
        let open = &setting["open"];
        assert_eq!((&open["enrolled"], &open["strangers"], &open["trials"]), (&3.into(), &1.into(), &4.into()));
        let count = |name: &str, what: &str| open[name][what].as_u64().unwrap();
        // Everybody is a stranger once, with three new images, and known three times.
        assert_eq!((count("false_accepts", "tested"), count("false_rejects", "tested")), (12, 36));
        let known = ["identified", "misidentified", "false_rejects"].map(|name| count(name, "count"));
        assert_eq!(known.iter().sum::<u64>(), 36);
        for name in ["false_accepts", "false_rejects", "identified"] {
            let [low, share, high] = ["low", "share", "high"].map(|what| open[name][what].as_f64().unwrap());
            assert!(low <= share && share <= high && low < high, "{open}");
        }
    }
    assert!(protocols[2]["settings"][0]["open"].is_null(), "one image at a time says nothing of thresholds");
    let steps = protocols[3]["settings"][0]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert!(steps.iter().all(|step| step["differing"] == 0 && step["difference"].as_f64().unwrap() < 1e-9));
}

#[test]
fn an_evaluation_is_drawn_and_measures_compression_and_denoising() {
    let directory = directory();
    people::write(&directory, "known", 4, 5..=6);
    let out = directory.done(
        "faces evaluate known --protocol first-3,incremental-3 -k 5 --classifier knn;centroid --compression --denoising 10 -o drawn -q",
    );
    for word in [
        "first-3: 12 training images, 12 test images",
        "With strangers: 3 people enrolled, 1 left out, 4 trials",
        "strangers accepted",
        "incremental-3",
        "compression",
        "denoising",
    ] {
        assert!(out.contains(word), "{word}:\n{out}");
    }
    for name in ["first-3-ranks", "first-3-reject", "incremental-3", "compression-psnr", "compression-ssim"] {
        assert!(
            directory.exists(&format!("drawn/{name}.svg")) && directory.exists(&format!("drawn/{name}.png")),
            "{name}"
        );
    }
    for name in ["compression-strip", "denoising-psnr", "denoising-strip"] {
        assert!(directory.exists(&format!("drawn/{name}.svg")), "{name}");
    }
    let found = directory
        .json("faces evaluate known --protocol first-3 -k 5 --classifier knn --compression --denoising 10 --json -q");
    let rows = found["compression"].as_array().unwrap();
    assert_eq!(rows[0]["bytes"], 20);
    let header = format!("P5\n{} {}\n255\n", people::WIDTH, people::HEIGHT).len();
    assert_eq!(rows[0]["pgm_bytes"], header + people::WIDTH * people::HEIGHT);
    let psnr = |row: &Value| row["learned"]["psnr"].as_f64().unwrap();
    assert!(rows.windows(2).all(|pair| psnr(&pair[0]) < psnr(&pair[1])), "more numbers keep more");
    // Noise of deviation 10 has a PSNR of 20 log10(255 / 10) = 28.1 dB.
    let noisy = found["denoising"]["noisy"]["new"]["psnr"].as_f64().unwrap();
    assert!((noisy - 28.13).abs() < 0.5, "{noisy}");
}

#[test]
fn images_are_brought_to_the_size_that_those_before_were_brought_to() {
    let directory = directory();
    directory.done("faces train known --resize 5x4 -o r.safetensors -q");
    directory.done("faces recognize r.safetensors new -q");
    directory.done("faces enroll r.safetensors new -q");
    assert_eq!(directory.json("inspect r.safetensors --json")["count"], 24);
}

#[test]
fn one_image_is_one_image() {
    let directory = directory();
    directory.done("faces train known -o r.safetensors -q");
    let said = directory.run("faces enroll r.safetensors new/ada/5.pgm --person ada").err;
    assert!(said.contains("enrolled 1 image\n"), "{said}");
    let said = directory.run("faces forget r.safetensors ada --image 5.pgm").err;
    assert!(said.contains("forgot 1 image\n"), "{said}");
}

#[test]
fn standardized_images_are_drawn_as_the_recognizer_takes_them() {
    let directory = directory();
    directory.done("faces train known --pixels standardized -k 5 -o r.safetensors -q");
    let bright: Vec<u8> = people::pixels(0, 5).iter().map(|pixel| pixel + 30).collect();
    directory.write("bright.pgm", crate::files::pgm(people::WIDTH, people::HEIGHT, |at| bright[at]));
    // Light does not count, so both look the same to it.
    for (name, image) in [("plain", "new/ada/5.pgm"), ("bright", "bright.pgm")] {
        directory.done(&format!("faces recognize r.safetensors {image} -o {name}-matches.png -q"));
        directory.done(&format!("plot strip r.safetensors {image} -o {name}-strip.png"));
    }
    for drawing in ["matches", "strip"] {
        let [plain, bright] = ["plain", "bright"].map(|name| directory.read(&format!("{name}-{drawing}.png")));
        assert!(plain == bright, "{drawing}");
    }
}
