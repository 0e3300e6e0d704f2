//! Images and a recognizer.

use image::GrayImage;
use serde_json::json;

use crate::people::{HEIGHT, WIDTH, image, pixels, write};
use crate::support::{Directory, near};

use super::{ready, whole};

/// Three people, four images of each, a recognizer of them and a model of the images.
fn world() -> Directory {
    let directory = Directory::new();
    write(&directory, "known", 5, 1..=6);
    directory.done("faces train known -o people.safetensors -q");
    directory.done("fit known -k 8 -o faces.safetensors -q");
    directory
}

fn decoded(bytes: &[u8]) -> GrayImage {
    let image = image::load_from_memory_with_format(bytes, image::ImageFormat::Png).unwrap();
    image.into_luma8()
}

#[test]
fn a_row_that_is_an_image_is_shown_with_its_reconstruction() {
    let directory = world();
    let server = ready(&directory, "faces.safetensors known");
    let session = server.ask("session");
    assert_eq!(session["data"]["image"], json!({ "width": WIDTH, "height": HEIGHT, "channels": 1 }));
    assert_eq!(session["data"]["row_names"], true);
    let row = server.ask("models/0/rows/8");
    assert_eq!(
        (&row["name"], &row["label"], &row["values"]),
        (&"ben/3.pgm".into(), &"ben".into(), &serde_json::Value::Null)
    );
    let png = server.get("api/models/0/rows/8/original.png?revision=1");
    assert_eq!(png.header("content-type"), Some("image/png"));
    assert_eq!(decoded(&png.body).into_raw(), pixels(1, 3));
    // All directions give the image back; its residual is gray.
    let rank = whole(&session["models"][0]["rank"]);
    let again = server.get(&format!("api/models/0/rows/8/reconstruction.png?k={rank}"));
    assert_eq!(decoded(&again.body).into_raw(), pixels(1, 3));
    let mut last = 0.0;
    for k in [1, 4, 16, rank] {
        let found = server.ask(&format!("models/0/rows/8/reconstruction?k={k}"));
        let psnr = found["psnr"].as_f64().unwrap_or(f64::INFINITY);
        assert!(psnr > last, "{k}: {psnr} {last}");
        last = psnr;
    }
    for below in ["rows/8/residual.png?k=2", "components/1.png", "walk.png?component=2&t=-2", "walk.png?t=0"] {
        let png = decoded(&server.get(&format!("api/models/0/{below}")).body);
        assert_eq!(png.dimensions(), (WIDTH as u32, HEIGHT as u32), "{below}");
    }
    directory.done("plot strip faces.safetensors known --row 8 -o strip.png -q");
    assert!(server.get("api/models/0/plot/strip.png?row=8").body == directory.read("strip.png"));
    directory.done("plot gallery faces.safetensors -o gallery.svg -q");
    assert!(server.get("api/models/0/plot/gallery.svg").body == directory.read("gallery.svg"));
    server.refused("recognizer/images/0.png", 404);
    assert_eq!(server.post("recognize", image(0, 1)).status, 404);
}

#[test]
fn people_are_recognized_enrolled_and_forgotten_in_memory() {
    let directory = world();
    let before = directory.listing();
    let server = ready(&directory, "people.safetensors known");
    let session = server.wait_for("the thresholds", |session| session["recognizer"]["ready"] == true);
    assert_eq!(session["recognizer"]["people"], json!(["ada", "ben", "cleo", "dov", "eva"]));
    assert_eq!(session["recognizer"]["images"], 30);
    let recognizer = eigenspace::faces::Recognizer::load(directory.path("people.safetensors")).unwrap();
    let matcher = recognizer.matcher().unwrap();
    let check = |found: &serde_json::Value, pixels: &[u8]| {
        let row = ndarray::Array2::from_shape_fn((1, WIDTH * HEIGHT), |(_, j)| f64::from(pixels[j]));
        let expected = matcher.recognize(&row).unwrap().remove(0);
        assert_eq!(found["person"].as_str(), expected.person());
        let numbers = [&found["distance"], &found["face_distance"]].map(|number| number.as_f64().unwrap());
        near(&numbers, &[expected.distance, expected.face_distance], 1e-9 * expected.face_distance);
        assert_eq!(found["matches"][0]["person"].as_str().unwrap(), expected.matches[0].person);
        near(&[found["unknown"].as_f64().unwrap()], &[matcher.thresholds().unknown.unwrap()], 1e-12);
    };
    for person in 0..5 {
        check(&server.post("recognize", image(person, 9)).json(), &pixels(person, 9));
    }
    let found = server.request("POST", "api/recognize?row=8", &[], b"").json();
    assert_eq!((&found["verdict"], &found["person"]), (&"known".into(), &"ben".into()));
    let nearest = whole(&found["matches"][0]["image"]);
    let png = server.get(&format!("api/recognizer/images/{nearest}.png"));
    assert_eq!(decoded(&png.body).into_raw(), pixels(1, 3), "the nearest image of an enrolled image is itself");

    let stranger = server.post("recognize", image(5, 1)).json();
    assert_ne!(stranger["verdict"], "known", "{stranger}");
    for number in 1..=4 {
        let enrolled = server.request("POST", "api/enroll?person=finn+f", &[], &image(5, number));
        assert_eq!(enrolled.status, 200, "{}", String::from_utf8_lossy(&enrolled.body));
        assert_eq!(whole(&enrolled.json()["images"]), 30 + number);
    }
    let now = server.post("recognize", image(5, 2)).json();
    assert_eq!((&now["verdict"], &now["person"]), (&"known".into(), &"finn f".into()));
    let twice = server.request("POST", "api/enroll?person=finn", &[], &image(5, 2));
    assert_eq!(twice.status, 422);
    assert_eq!(server.request("POST", "api/enroll", &[], &image(5, 6)).status, 400);
    let forgotten = server.post("forget", json!({ "person": "finn f" }).to_string()).json();
    assert_eq!((whole(&forgotten["images"]), &forgotten["changed"]), (30, &true.into()));
    assert_ne!(server.post("recognize", image(5, 1)).json()["verdict"], "known");
    assert_eq!(server.post("forget", json!({ "person": "nobody" }).to_string()).status, 422);
    let restored = server.request("DELETE", "api/recognizer/changes", &[], b"").json();
    assert_eq!((whole(&restored["images"]), &restored["changed"]), (30, &false.into()));
    check(&server.post("recognize", image(2, 9)).json(), &pixels(2, 9));
    drop(server);
    crate::support::same_files(&before, &directory.listing());
}

#[test]
fn images_that_are_no_faces_of_this_recognizer_are_refused() {
    let directory = world();
    let server = ready(&directory, "people.safetensors known");
    let wrong = server.post("recognize", crate::files::pgm(5, 5, |_| 9));
    assert_eq!(wrong.status, 422);
    assert!(wrong.json()["hint"].as_str().unwrap().contains(&format!("{WIDTH}x{HEIGHT}")), "{}", wrong.json());
    for body in [&b""[..], b"GIF89a", b"no image", &image(0, 1)[..40], b"P5\n100000 100000\n255\n", b"P5\n9 8\n65535\n"]
    {
        assert_eq!(server.post("recognize", body).status, 422, "{}", String::from_utf8_lossy(body));
    }
    // A small file with more pixels than are decoded.
    let white = image::GrayImage::from_pixel(4100, 4100, image::Luma([255]));
    let mut bomb = std::io::Cursor::new(Vec::new());
    white.write_to(&mut bomb, image::ImageFormat::Png).unwrap();
    let bomb = bomb.into_inner();
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    let refused = server.post("recognize", &bomb);
    assert_eq!(refused.status, 422);
    assert!(refused.json()["error"].as_str().unwrap().contains("4100"), "{}", refused.json());
    assert_eq!(server.get("").status, 200);
}
