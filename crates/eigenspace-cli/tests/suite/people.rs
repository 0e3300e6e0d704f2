//! Generated images of people, the same on every machine.

use crate::files::pgm;
use crate::support::Directory;

pub(crate) const WIDTH: usize = 9;
pub(crate) const HEIGHT: usize = 8;

/// A byte that looks random.
fn mixed(a: usize, b: usize, c: usize) -> usize {
    let mut x = (a as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (b as u64 + 7).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    x ^= (c as u64 + 3).wrapping_mul(0x1656_67B1_9E37_79F9);
    x ^= x >> 29;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((x >> 32) & 255) as usize
}

/// The pixels of an image of a person: their own, and some that change from image to image.
pub(crate) fn pixels(person: usize, image: usize) -> Vec<u8> {
    let pixel = |at: usize| {
        let own = mixed(person, 1000, at) / 2;
        (60 + own + mixed(person, image, at) / 8) as u8
    };
    (0..WIDTH * HEIGHT).map(pixel).collect()
}

/// The same as a file.
pub(crate) fn image(person: usize, image: usize) -> Vec<u8> {
    let pixels = pixels(person, image);
    pgm(WIDTH, HEIGHT, |at| pixels[at])
}

/// `directory/ada/1.pgm` and so on, for the first so many people.
pub(crate) fn write(directory: &Directory, root: &str, people: usize, images: std::ops::RangeInclusive<usize>) {
    for (person, name) in NAMES.iter().enumerate().take(people) {
        for number in images.clone() {
            directory.write(&format!("{root}/{name}/{number}.pgm"), image(person, number));
        }
    }
}

pub(crate) const NAMES: [&str; 6] = ["ada", "ben", "cleo", "dov", "eva", "finn"];
