//! Rows, components and residuals as PNG images.

use eigenspace::ImageShape;
use eigenspace::faces::Pixels;

use crate::draw::{ImageSize, Range, image_png};
use crate::explore::reply::{Refusal, Reply};
use crate::opened::Opened;

/// The shape of the images of a model.
pub(super) fn shape(opened: &Opened) -> anyhow::Result<ImageShape> {
    let none = || Refusal::conflict("the rows of this model are not images", "");
    Ok(opened.metadata().image().ok_or_else(none)?)
}

/// The largest value of a pixel.
pub(super) fn white(shape: ImageShape) -> f64 {
    if shape.depth() == Some(16) { 65535.0 } else { 255.0 }
}

/// Pixels between black and white; those that a recognizer has standardized, between their
/// extremes.
pub(super) fn photograph(shape: ImageShape, pixels: &[f64], kind: Pixels) -> anyhow::Result<Reply> {
    let range = if kind == Pixels::Raw { Range::Unit(0.0, white(shape)) } else { Range::Own };
    drawn(shape, pixels, range)
}

/// Differences: zero is middle gray, the largest is black or white.
pub(super) fn difference(shape: ImageShape, pixels: &[f64]) -> anyhow::Result<Reply> {
    let largest = pixels.iter().fold(0.0_f64, |largest, x| largest.max(x.abs())).max(f64::MIN_POSITIVE);
    drawn(shape, pixels, Range::Unit(-largest, largest))
}

/// A direction, between its extremes.
pub(super) fn direction(shape: ImageShape, pixels: &[f64]) -> anyhow::Result<Reply> {
    drawn(shape, pixels, Range::Own)
}

fn drawn(shape: ImageShape, pixels: &[f64], range: Range) -> anyhow::Result<Reply> {
    let size = ImageSize { width: shape.width(), height: shape.height(), channels: shape.channels() };
    Ok(Reply::Bytes("image/png", image_png(pixels, size, range)?))
}
