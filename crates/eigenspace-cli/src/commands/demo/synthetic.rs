//! Synthetic faces: forty people, each with ten expressions and lightings.
//!
//! Each face is a set of soft ellipses: head, hair, eyes, brows, nose and mouth. Their positions,
//! sizes and grays depend on the person; rotation, light and noise depend on the image.

use std::path::Path;

use eigenspace::internal::{AtomicFile, Random};
use eigenspace::io::Error;

const WIDTH: usize = 92;
const HEIGHT: usize = 112;
const PEOPLE: u64 = 40;
const IMAGES: u64 = 10;

/// A number between -1 and 1.
fn signed(random: &mut Random) -> f64 {
    2.0 * random.uniform() - 1.0
}

fn many<const N: usize>(seed: u64) -> [f64; N] {
    let mut random = Random::new(seed);
    std::array::from_fn(|_| signed(&mut random))
}

/// A soft ellipse: center, half axes, gray.
struct Spot(f64, f64, f64, f64, f64);

/// Writes all images as `sN/M.pgm`.
pub(super) fn write(directory: &Path) -> Result<(), Error> {
    for person in 1..=PEOPLE {
        let own = directory.join(format!("s{person}"));
        std::fs::create_dir_all(&own).map_err(|source| Error::Io { action: "create", path: own.clone(), source })?;
        for image in 1..=IMAGES {
            let mut bytes = format!("P5\n{WIDTH} {HEIGHT}\n255\n").into_bytes();
            bytes.extend(pixels(person, image));
            AtomicFile::write(own.join(format!("{image}.pgm")), &bytes)?;
        }
    }
    Ok(())
}

fn pixels(person: u64, image: u64) -> Vec<u8> {
    let [skin, hair, wide, tall, eyes, apart, brow, nose, lips, back] = many::<10>(person * 1_000_003);
    let [turn, nod, light, smile, blink, bright] = many::<6>(person * 7919 + image * 104_729);
    let (x, y) = (46.0 + 5.0 * turn, 58.0 + 4.0 * nod);
    let (w, h) = (29.0 + 5.0 * wide, 40.0 + 6.0 * tall);
    let (eye, gap) = (3.4 + eyes, 12.0 + 2.5 * apart);
    let tone = 165.0 + 45.0 * skin;
    let shift = 4.0 * turn;
    let mut spots = vec![
        Spot(x, y - 16.0, w + 5.0, h - 4.0, 70.0 + 60.0 * hair),
        Spot(x, y + 4.0, w, h, tone),
        Spot(x + shift, y + 9.0, 4.0 + nose, 9.0 + 2.0 * nose, tone - 22.0),
        Spot(x + shift, y + 26.0 - smile, 9.0 + 3.0 * lips + 2.0 * smile, 2.6 + 1.2 * smile.abs(), tone - 75.0),
    ];
    for side in [-1.0, 1.0] {
        let place = x + side * gap + shift;
        spots.push(Spot(place, y - 6.0, eye + 2.0, (eye - 0.6) * (0.75 + 0.25 * blink), 235.0));
        spots.push(Spot(place + turn, y - 6.0, eye - 1.2, eye - 1.4, 35.0));
        spots.push(Spot(place, y - 14.0 - brow, 7.5, 1.6 + 0.5 * brow, tone - 85.0));
    }
    let mut noise = Random::new(person * 31 + image);
    let mut image = Vec::with_capacity(WIDTH * HEIGHT);
    for row in 0..HEIGHT {
        for column in 0..WIDTH {
            let (i, j) = (column as f64, row as f64);
            let mut gray = 95.0 + 35.0 * back + 0.2 * j;
            for Spot(x, y, a, b, tone) in &spots {
                let inside = 1.0 - ((i - x) / a).powi(2) - ((j - y) / b).powi(2);
                let cover = 1.0 / (1.0 + (-6.0 * inside).exp());
                gray += cover * (tone - gray);
            }
            gray += 0.5 * light * (i - 46.0) + 14.0 * bright + 3.0 * signed(&mut noise);
            image.push(gray.clamp(0.0, 255.0) as u8);
        }
    }
    image
}
