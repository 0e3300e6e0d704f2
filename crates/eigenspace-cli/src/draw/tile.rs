//! Converts numbers to one gray or color image.

#[cfg(feature = "explore")]
use image::ExtendedColorType;

use super::color::diverging;
use super::scene::Bitmap;

/// Longest side of a stored image; larger images are averaged down.
const STORED: usize = 320;
/// Longest side of an image in the plot.
const SIDE: usize = 112;

/// The size of every image in a plot: 1 channel for gray, 3 for red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageSize {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) channels: usize,
}

/// An image by rows, with the channels of a pixel side by side, and its caption.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tile {
    pub(crate) pixels: Vec<f64>,
    pub(crate) caption: String,
}

/// The numbers that are drawn black and white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Range {
    /// The first number is black, the second white, in every image.
    Unit(f64, f64),
    /// The smallest number of an image is black, its largest white.
    Own,
    /// Symmetric around zero up to the given magnitude, or up to the largest of the image. One
    /// channel goes from blue over white to red; three channels are centered at middle gray.
    Signed(Option<f64>),
}

impl ImageSize {
    fn samples(self) -> usize {
        if self.channels == 3 { 3 } else { 1 }
    }

    /// The size of an image in the plot. A small image is scaled by a whole number, so that every
    /// pixel is a sharp square; a large one has a fixed longest side.
    pub(super) fn shown(self) -> (f64, f64) {
        let longest = self.width.max(self.height).max(1);
        let factor = if longest <= SIDE { (SIDE / longest) as f64 } else { (SIDE as f64 / longest as f64).max(0.05) };
        // Two pixels of a PNG are one unit, so half units are sharp as well.
        let half = |length: usize| (2.0 * factor * length as f64).round().max(2.0) / 2.0;
        (half(self.width), half(self.height))
    }
}

/// The image as the bytes of a PNG file.
#[cfg(feature = "explore")]
pub(crate) fn image_png(pixels: &[f64], size: ImageSize, range: Range) -> anyhow::Result<Vec<u8>> {
    let image = bitmap(pixels, size, range);
    let color = if image.gray { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
    super::raster::encode(&image.bytes, image.width, image.height, color)
}

/// The image in eight bits. Pixels that are missing or not finite are black, or zero if signed.
pub(super) fn bitmap(pixels: &[f64], size: ImageSize, range: Range) -> Bitmap {
    let (pixels, width, height) = reduced(pixels, size);
    let samples = size.samples();
    let (low, high) = bounds(&pixels, range);
    let place = |value: f64| {
        let value = if value.is_finite() { value } else { 0.0 };
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    };
    let gray = |value: f64| if value.is_finite() { (255.0 * place(value)).round() as u8 } else { 0 };
    let signed = matches!(range, Range::Signed(_));
    let bytes: Vec<u8> = match (signed, samples) {
        (false, _) => pixels.iter().map(|v| gray(*v)).collect(),
        (true, 3) => pixels.iter().map(|v| (255.0 * place(*v)).round() as u8).collect(),
        (true, _) => pixels.iter().map(|v| diverging(2.0 * place(*v) - 1.0)).flat_map(|c| [c.0, c.1, c.2]).collect(),
    };
    Bitmap { width, height, gray: !signed && samples == 1, bytes }
}

/// The numbers at the two ends of the range.
pub(super) fn bounds(pixels: &[f64], range: Range) -> (f64, f64) {
    let finite = || pixels.iter().copied().filter(|v| super::drawable(*v));
    match range {
        Range::Unit(low, high) => (low, high),
        Range::Own => super::scale::extent(finite()).unwrap_or((0.0, 1.0)),
        Range::Signed(size) => {
            let size = size.unwrap_or_else(|| finite().map(f64::abs).fold(0.0, f64::max));
            let size = if size > 0.0 && super::drawable(size) { size } else { 1.0 };
            (-size, size)
        }
    }
}

/// The image unchanged, or a large one averaged over squares of pixels.
fn reduced(pixels: &[f64], size: ImageSize) -> (Vec<f64>, usize, usize) {
    let samples = size.samples();
    let block = size.width.max(size.height).div_ceil(STORED).max(1);
    let (width, height) = (size.width.div_ceil(block), size.height.div_ceil(block));
    let value = |x: usize, y: usize, channel: usize| {
        pixels.get((y * size.width + x) * samples + channel).copied().unwrap_or(f64::NAN)
    };
    let mut out = Vec::with_capacity(width * height * samples);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..samples {
                let (mut sum, mut count) = (0.0, 0.0);
                for row in y * block..((y + 1) * block).min(size.height) {
                    for column in x * block..((x + 1) * block).min(size.width) {
                        sum += value(column, row, channel);
                        count += 1.0;
                    }
                }
                out.push(sum / count);
            }
        }
    }
    (out, width, height)
}
