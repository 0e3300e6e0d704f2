//! Images that are damaged, or that differ in size or depth.

use insta::assert_snapshot;

use crate::files::pgm;
use crate::support::Directory;

#[test]
fn an_image_that_was_converted_as_text() {
    let image = pgm(4, 3, |at| if at % 5 == 0 { b'\n' } else { 7 });
    let header = b"P5\n4 3\n255\n".len();
    let mut converted = image[..header].to_vec();
    for &byte in &image[header..] {
        converted.extend(if byte == b'\n' { &b"\r\n"[..] } else { &[7][..] });
    }
    let directory = Directory::with("faces/1.pgm", &image);
    directory.write("faces/2.pgm", converted);
    assert_snapshot!(directory.refused("fit faces -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/2.pgm`
      cause: its header says 12 bytes of pixels, but it has 15

    hint: use the original file: the newlines of this one were probably converted, or something was appended
    ");
    directory.write("faces/2.pgm", &image[..image.len() - 3]);
    assert_snapshot!(directory.refused("fit faces -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/2.pgm`
      cause: its header says 12 bytes of pixels, but it has 9

    hint: use the original file: this one is incomplete, or its newlines were converted
    ");
}

#[test]
fn images_of_two_sizes() {
    let directory = Directory::with("faces/1.pgm", pgm(4, 3, |at| at as u8));
    directory.write("faces/2.pgm", pgm(3, 4, |at| at as u8));
    assert_snapshot!(directory.refused("fit faces -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/2.pgm`
      cause: the image is 3x4, expected 4x3

    hint: resize all images to one size with --resize 4x3
    ");
    directory.done("fit faces --resize 2x2 -o m.safetensors -q");
    directory.write("other/1.pgm", pgm(1, 4, |at| at as u8));
    assert_snapshot!(directory.refused("project m.safetensors other"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `other/1.pgm`
      cause: the image is 1x4, expected 2x2

    hint: resize all images to one size with --resize 2x2
    ");
}

/// A gray image of 16 bits per value.
fn deep(width: usize, height: usize, pixel: impl Fn(usize) -> u16) -> Vec<u8> {
    let mut bytes = format!("P5\n{width} {height}\n65535\n").into_bytes();
    bytes.extend((0..width * height).flat_map(|at| pixel(at).to_be_bytes()));
    bytes
}

#[test]
fn images_of_another_depth_than_the_model() {
    let directory = Directory::new();
    for i in 0..4_u16 {
        directory.write(&format!("byte/{i}.pgm"), pgm(3, 2, |at| (at as u16 * 7 * (i + 1) % 251) as u8));
        directory.write(&format!("deep/{i}.pgm"), deep(3, 2, |at| at as u16 * 1999 * (i + 1)));
    }
    directory.done("fit byte -o byte.m -q");
    directory.done("fit deep -o deep.m -q");
    directory.done("update byte.m byte -o more.m -q");
    assert_snapshot!(directory.refused("project byte.m deep"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `deep/0.pgm`
      cause: the image has 16 bits per value, expected 8

    hint: convert the images to 8 bits per value, or fit or train again on images of 16 bits
    ");
    for line in ["update byte.m deep", "project deep.m byte", "update deep.m byte", "fit byte deep -o m"] {
        let said = directory.refused(line);
        assert!(said.err.contains("bits per value, expected "), "{line}\n{said}");
    }
    assert_snapshot!(directory.refused("merge byte.m deep.m -o m"), @"
    exit: 2
    ----- stderr -----
    error: cannot use `byte.m` with `deep.m`: the first was fitted on images of 8 bits per value, the second on images of 16

    hint: convert all images to the same number of bits per value, and fit both models again
    ");
    for line in ["merge deep.m byte.m -o m", "split byte.m deep.m -o m", "compare byte.m deep.m"] {
        let said = directory.refused(line);
        assert!(said.err.contains(": the first was fitted on images of "), "{line}\n{said}");
    }
}

#[test]
fn images_in_color_for_a_model_of_gray_ones() {
    let directory = Directory::with("faces/1.pgm", pgm(4, 3, |at| at as u8));
    directory.write("faces/2.pgm", pgm(4, 3, |at| (at * at) as u8));
    directory.done("fit faces -o gray.m -q");
    directory.done("fit faces --color -o color.m -q");
    assert_snapshot!(directory.refused("project gray.m faces --color"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/1.pgm`
      cause: the image was read in color, expected gray

    hint: leave out --color
    ");
    assert_snapshot!(directory.refused("project color.m faces"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/1.pgm`
      cause: the image was read as gray, expected color

    hint: read the images in color with --color
    ");
}
