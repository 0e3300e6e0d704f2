//! Images and files contain the right pixels.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, GenericImageView};

use super::super::color::diverging;
use super::super::*;
use super::{number, sound};

fn embedded(drawing: &Drawing) -> Vec<DynamicImage> {
    let document = sound(drawing);
    let images = document.descendants().filter(|n| n.has_tag_name("image"));
    images
        .map(|n| {
            let data = n.attribute("href").unwrap().strip_prefix("data:image/png;base64,").unwrap();
            image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap()
        })
        .collect()
}

fn one(pixels: Vec<f64>, size: ImageSize, range: Range) -> Vec<u8> {
    let tiles = [Tile { pixels, caption: "c".into() }];
    let drawing = gallery(&Gallery { title: "", tiles: &tiles, size, columns: 4, range });
    embedded(&drawing).remove(0).into_bytes()
}

const GRAY: ImageSize = ImageSize { width: 3, height: 2, channels: 1 };

#[test]
fn a_common_range_keeps_the_values_and_clips_what_lies_outside() {
    let bytes = one(vec![0.0, 51.0, 255.0, 300.0, -4.0, f64::NAN], GRAY, Range::Unit(0.0, 255.0));
    assert_eq!(bytes, [0, 51, 255, 255, 0, 0]);
}

#[test]
fn an_own_range_goes_from_black_to_white() {
    let bytes = one(vec![-1.0, 0.0, 1.0, 2.0, 3.0, 4.0], GRAY, Range::Own);
    assert_eq!(bytes, [0, 51, 102, 153, 204, 255]);
    assert_eq!(one(vec![7.0; 6], GRAY, Range::Own), [128; 6], "a constant image is middle gray");
}

#[test]
fn a_signed_range_is_blue_below_zero_white_at_zero_and_red_above() {
    let bytes = one(vec![-2.0, 0.0, 1.0, 2.0, f64::NAN, 0.0], GRAY, Range::Signed(None));
    let pixels: Vec<_> = bytes.chunks(3).map(|p| color::Rgb(p[0], p[1], p[2])).collect();
    assert_eq!(pixels, [-1.0, 0.0, 0.5, 1.0, 0.0, 0.0].map(diverging));
    let (blue, white, red) = (pixels[0], pixels[1], pixels[3]);
    assert!(blue.2 > 120 && blue.0 < 60 && red.0 > 120 && red.2 < 60 && white.0.min(white.1).min(white.2) > 230);
}

#[test]
fn three_channels_are_red_green_blue() {
    let size = ImageSize { width: 2, height: 1, channels: 3 };
    let bytes = one(vec![1.0, 0.0, 0.2, 0.0, 1.0, 0.4], size, Range::Unit(0.0, 1.0));
    assert_eq!(bytes, [255, 0, 51, 0, 255, 102]);
    let bytes = one(vec![-1.0, 0.0, 1.0, 0.0, 0.0, 0.0], size, Range::Signed(None));
    assert_eq!(bytes, [0, 128, 255, 128, 128, 128]);
}

#[test]
fn a_large_image_is_averaged_down() {
    let size = ImageSize { width: 640, height: 2, channels: 1 };
    let bytes = one((0..1280).map(|i| f64::from(i % 2) * 200.0).collect(), size, Range::Unit(0.0, 255.0));
    assert_eq!(bytes, [100; 320]);
}

#[test]
fn residuals_of_a_strip_share_one_range() {
    let rows = [
        StripRow { heading: "original".into(), tiles: vec![vec![1.0; 6]], range: Range::Unit(0.0, 1.0) },
        StripRow { heading: "residual".into(), tiles: vec![vec![-4.0; 6], vec![2.0; 6]], range: Range::Signed(None) },
    ];
    let columns = ["k = 5", "k = 10"].map(str::to_owned);
    let drawing = strip(&Strip { title: "t", columns: &columns, rows: &rows, size: GRAY });
    let images = embedded(&drawing);
    assert_eq!(images.len(), 4, "and the scale of colors");
    assert_eq!(images[0].as_bytes(), [255; 6]);
    let first = |i: usize| color::Rgb(images[i].as_bytes()[0], images[i].as_bytes()[1], images[i].as_bytes()[2]);
    assert_eq!((first(1), first(2)), (diverging(-1.0), diverging(0.5)));
}

#[test]
fn a_png_has_twice_the_units_and_shows_the_pixels_of_an_image_sharply() {
    let tiles = [Tile { pixels: vec![0.0, 1.0, 0.5, 1.0, 0.0, 0.25], caption: String::new() }];
    let drawing = gallery(&Gallery { title: "t", tiles: &tiles, size: GRAY, columns: 1, range: Range::Unit(0.0, 1.0) });
    let png = image::load_from_memory(&drawing.png().unwrap()).unwrap();
    let (width, height) = drawing.size();
    assert_eq!((f64::from(png.width()), f64::from(png.height())), (2.0 * width, 2.0 * height));
    let document = sound(&drawing);
    let image = document.descendants().find(|n| n.has_tag_name("image")).unwrap();
    let side = 2.0 * number(image, "width") / 3.0;
    for (i, wanted) in [0, 255, 128, 255, 0, 64].into_iter().enumerate() {
        // The corners of the square of a pixel, just inside.
        for (dx, dy) in [(0.0, 0.0), (side - 1.0, 0.0), (0.0, side - 1.0), (side - 1.0, side - 1.0)] {
            let x = 2.0 * number(image, "x") + side * (i % 3) as f64 + dx;
            let y = 2.0 * number(image, "y") + side * (i / 3) as f64 + dy;
            assert_eq!(png.get_pixel(x as u32, y as u32).0[0], wanted);
        }
    }
}

#[test]
fn a_png_shows_text_and_data_without_any_font_of_the_machine() {
    let with = |title: &str| {
        let drawing = scatter(&Scatter { title, points: &[(1.0, 2.0), (3.0, 4.0)], ..Scatter::default() });
        let png = image::load_from_memory(&drawing.png().unwrap()).unwrap();
        let (width, height) = drawing.size();
        assert_eq!((png.width(), png.height()), ((2.0 * width) as u32, (2.0 * height) as u32));
        let dark = |y: std::ops::Range<u32>| {
            let rgb = png.to_rgb8();
            rgb.enumerate_pixels().filter(|(_, row, p)| y.contains(row) && p.0.iter().all(|v| *v < 120)).count()
        };
        (dark(30..80), dark(1130..1200), dark(0..1200))
    };
    let titled = with("Wine ∎ λ");
    assert!(titled.0 > 300, "the title is painted");
    assert!(titled.2 > titled.0, "so are the ticks");
}
