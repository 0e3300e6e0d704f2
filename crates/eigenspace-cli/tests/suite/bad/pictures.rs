//! Images that are damaged, or that differ in size or depth.

use insta::assert_snapshot;

use crate::files::pgm;
use crate::support::Folder;

#[test]
fn a_picture_that_was_converted_as_text() {
    let picture = pgm(4, 3, |at| if at % 5 == 0 { b'\n' } else { 7 });
    let header = b"P5\n4 3\n255\n".len();
    let mut converted = picture[..header].to_vec();
    for &byte in &picture[header..] {
        converted.extend(if byte == b'\n' { &b"\r\n"[..] } else { &[7][..] });
    }
    let folder = Folder::with("faces/1.pgm", &picture);
    folder.write("faces/2.pgm", converted);
    assert_snapshot!(folder.refused("fit faces -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/2.pgm`
      cause: it announces 12 bytes of pixels but has 15

    hint: its newlines were probably converted, or something was appended; use the original file
    ");
    folder.write("faces/2.pgm", &picture[..picture.len() - 3]);
    assert_snapshot!(folder.refused("fit faces -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/2.pgm`
      cause: it announces 12 bytes of pixels but has 9

    hint: it was cut short, or its newlines were converted; use the original file
    ");
}

#[test]
fn pictures_of_two_sizes() {
    let folder = Folder::with("faces/1.pgm", pgm(4, 3, |at| at as u8));
    folder.write("faces/2.pgm", pgm(3, 4, |at| at as u8));
    assert_snapshot!(folder.refused("fit faces -o m.safetensors -q"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `faces/2.pgm`
      cause: the image is 3x4, but the images before it are 4x3

    hint: resize all images to one size with --resize 4x3
    ");
    folder.done("fit faces --resize 2x2 -o m.safetensors -q");
    folder.write("other/1.pgm", pgm(1, 4, |at| at as u8));
    assert_snapshot!(folder.refused("project m.safetensors other"), @"
    exit: 2
    ----- stderr -----
    error: cannot read rows from `other`
      cause: the image is 1x4, but the images before it are 2x2

    hint: resize all images to one size with --resize 2x2
    ");
}
