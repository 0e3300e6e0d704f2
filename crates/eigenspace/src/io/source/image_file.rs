//! Reads an image file as a row of numbers.
//!
//! Values are those in the file: 0 to 255, or 0 to 65535 if the file has 16 bits. If a PGM or PPM
//! file has another largest value, values are scaled so that this value becomes white: 15 of 15 is
//! read as 255, 1 of 100 as 2.55. Gray is `(2126 R + 7152 G + 722 B) / 10000` (the luma of Rec.
//! 709), not rounded, so that a gray image saved in color gives the same numbers. An alpha channel
//! is ignored: the color of a pixel counts even if it is transparent. An image is rotated according
//! to its EXIF orientation, as in an image viewer.

use std::io::{BufRead, BufReader, Cursor, Seek};
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits};

use crate::io::error::Error;
use crate::io::error::at;
use crate::io::source::resize::resize;
use crate::io::source::{SourceError, jpeg, pgm};
use crate::io::source_error::IMAGE_FORMATS;
use crate::model::metadata::ImageShape;

/// Largest number of pixels of an image: 1 GiB of gray values as f64.
const MAX_PIXELS: usize = 1 << 27;
/// Memory limit of a decoder in bytes: the largest image with four channels of 16 bits.
const MAX_DECODER_BYTES: u64 = 8 * MAX_PIXELS as u64;

/// The header of an image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Width and height, after the rotation.
    pub(super) size: (usize, usize),
    /// The rotation of the pixels in the file.
    pub(super) orientation: Orientation,
    /// Bits per value: 8 or 16.
    pub(super) bits: u8,
}

/// The shape of all images of a source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The header of the first image, which the others must match.
    pub(super) header: Header,
    /// The width and height to resize to; then images may have different sizes.
    pub(super) resize: Option<(usize, usize)>,
    /// 1 for gray, 3 for red, green, blue.
    pub(super) channels: usize,
}

/// Reads only the header.
pub(super) fn header(path: &Path) -> Result<Header, Error> {
    let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let file = BufReader::new(std::fs::File::open(path).map_err(failed)?);
    let reader = ImageReader::new(file).with_guessed_format().map_err(failed)?;
    let format = reader.format();
    let header = known(format).and_then(|format| start(reader, format).map(|(header, _)| header));
    header.map_err(at(path))
}

/// Rejects sizes without pixels, or with more than [`MAX_PIXELS`].
pub(super) fn check_size(size: (usize, usize)) -> Result<(), SourceError> {
    match size.0.checked_mul(size.1) {
        Some(1..=MAX_PIXELS) => Ok(()),
        _ => Err(SourceError::ImageLimit { size, limit: MAX_PIXELS }),
    }
}

impl Shape {
    /// Width and height of every row.
    pub(super) fn size(&self) -> (usize, usize) {
        self.resize.unwrap_or(self.header.size)
    }

    /// Reads an image into a row.
    pub(super) fn read(&self, path: &Path, row: &mut [f64]) -> Result<(), Error> {
        let failed = |source| Error::Io { action: "read", path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(failed)?;
        self.read_bytes(&bytes, row).map_err(at(path))
    }

    /// Reads the bytes of an image file into a row.
    fn read_bytes(&self, bytes: &[u8], row: &mut [f64]) -> Result<(), SourceError> {
        let (size, image, white) = self.decode(bytes)?;
        if size == self.size() {
            write_pixels(&image, self.channels, row);
        } else {
            let mut pixels = vec![0.0; size.0 * size.1 * self.channels];
            write_pixels(&image, self.channels, &mut pixels);
            row.copy_from_slice(&resize(&pixels, self.channels, size, self.size()));
        }
        if white != 1.0 {
            row.iter_mut().for_each(|value| *value *= white);
        }
        Ok(())
    }

    /// The size, the pixels, and the factor that scales the largest value to white.
    fn decode(&self, bytes: &[u8]) -> Result<((usize, usize), DynamicImage, f64), SourceError> {
        let format = known(image::guess_format(bytes).ok())?;
        let mut largest = None;
        match format {
            // Bitmaps are read as black and white, as in other formats.
            ImageFormat::Pnm => largest = Some(pgm::check(bytes)?).filter(|largest| *largest > 1),
            ImageFormat::Jpeg if !jpeg::is_whole(bytes) => return Err(malformed(format, "it ends too early")),
            _ => {}
        }
        let (header, decoder) = start(ImageReader::with_format(Cursor::new(bytes), format), format)?;
        let (expected, found) = (self.header, header);
        if format == ImageFormat::Jpeg && found.size.0 * found.size.1 > jpeg::most_pixels(bytes.len()) {
            return Err(malformed(format, "it ends too early"));
        }
        if expected.size != found.size && self.resize.is_none() {
            return Err(SourceError::ImageSize { expected: expected.size, found: found.size });
        }
        if expected.bits != found.bits {
            return Err(SourceError::ImageDepth { expected: expected.bits, found: found.bits });
        }
        let mut image = decoder_error(format, DynamicImage::from_decoder(decoder))?;
        image.apply_orientation(found.orientation);
        let white = largest.map_or(1.0, |largest| unscale(&mut image, largest));
        Ok((found.size, image, white))
    }
}

/// Largest number of pixels of an image that does not come from a file of the user.
const MAX_RECEIVED_PIXELS: usize = 1 << 24;

/// Reads the bytes of an image file as a row of this shape. Without `resize`, the image must have
/// that size.
pub fn image_row(bytes: &[u8], shape: ImageShape, resize: bool) -> Result<Vec<f64>, SourceError> {
    let format = known(image::guess_format(bytes).ok())?;
    let (found, _) = start(ImageReader::with_format(Cursor::new(bytes), format), format)?;
    if found.size.0 * found.size.1 > MAX_RECEIVED_PIXELS {
        return Err(SourceError::ImageLimit { size: found.size, limit: MAX_RECEIVED_PIXELS });
    }
    let size = (shape.width(), shape.height());
    let header = Header { size, bits: shape.depth().unwrap_or(found.bits), ..found };
    let shape = Shape { header, resize: resize.then_some(size), channels: shape.channels() };
    let mut row = vec![0.0; size.0 * size.1 * shape.channels];
    shape.read_bytes(bytes, &mut row)?;
    Ok(row)
}

/// Reads the header without allocating memory for the pixels.
fn start<'a, R: BufRead + Seek + 'a>(
    mut reader: ImageReader<R>,
    format: ImageFormat,
) -> Result<(Header, impl ImageDecoder + 'a), SourceError> {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    let mut decoder = decoder_error(format, reader.into_decoder())?;
    let (width, height) = decoder.dimensions();
    check_size((width as usize, height as usize))?;
    // Invalid EXIF data is no reason to reject the image.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    let on_its_side = matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH);
    let (width, height) = if on_its_side { (height, width) } else { (width, height) };
    let size = (width as usize, height as usize);
    let colors = decoder.color_type();
    let bits = if colors.bytes_per_pixel() > colors.channel_count() { 16 } else { 8 };
    Ok((Header { size, orientation, bits }, decoder))
}

fn known(format: Option<ImageFormat>) -> Result<ImageFormat, SourceError> {
    match format {
        Some(known @ (ImageFormat::Pnm | ImageFormat::Png | ImageFormat::Jpeg)) => Ok(known),
        Some(other) => Err(SourceError::ImageFormat { format: format!("{other:?}") }),
        None => {
            let problem = format!("it does not start like a {IMAGE_FORMATS} file");
            Err(SourceError::Malformed { format: "image", problem })
        }
    }
}

fn malformed(format: ImageFormat, problem: &str) -> SourceError {
    let format = match format {
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Png => "PNG",
        _ => "PNM",
    };
    SourceError::Malformed { format, problem: problem.to_owned() }
}

/// Converts an error of a decoder.
fn decoder_error<T>(format: ImageFormat, result: ImageResult<T>) -> Result<T, SourceError> {
    result.map_err(|error| match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            malformed(format, "it ends too early")
        }
        error => malformed(format, &error.to_string()),
    })
}

/// Writes the pixels as numbers, one or three per pixel.
fn write_pixels(image: &DynamicImage, channels: usize, row: &mut [f64]) {
    match image {
        DynamicImage::ImageLuma8(p) => copy::<_, 1>(p.as_raw(), channels, row),
        DynamicImage::ImageLumaA8(p) => copy::<_, 2>(p.as_raw(), channels, row),
        DynamicImage::ImageRgb8(p) => copy::<_, 3>(p.as_raw(), channels, row),
        DynamicImage::ImageRgba8(p) => copy::<_, 4>(p.as_raw(), channels, row),
        DynamicImage::ImageLuma16(p) => copy::<_, 1>(p.as_raw(), channels, row),
        DynamicImage::ImageLumaA16(p) => copy::<_, 2>(p.as_raw(), channels, row),
        DynamicImage::ImageRgb16(p) => copy::<_, 3>(p.as_raw(), channels, row),
        DynamicImage::ImageRgba16(p) => copy::<_, 4>(p.as_raw(), channels, row),
        // Formats with pixels of another kind are not read here.
        other => copy::<_, 3>(other.to_rgb16().as_raw(), channels, row),
    }
}

/// Recovers the values that the PNM decoder has scaled to 255 or 65535 and rounded. This is exact,
/// because scaling up keeps them distinct. Returns the factor by which to scale them without
/// rounding.
fn unscale(image: &mut DynamicImage, largest: u16) -> f64 {
    let full = if largest > 255 { 65_535.0 } else { 255.0 };
    if f64::from(largest) == full {
        return 1.0;
    }
    let scaled = |value: f64| (value * f64::from(largest) / full).round();
    let bytes = |values: &mut [u8]| values.iter_mut().for_each(|value| *value = scaled((*value).into()) as u8);
    let words = |values: &mut [u16]| values.iter_mut().for_each(|value| *value = scaled((*value).into()) as u16);
    match image {
        DynamicImage::ImageLuma8(p) => bytes(p),
        DynamicImage::ImageLumaA8(p) => bytes(p),
        DynamicImage::ImageRgb8(p) => bytes(p),
        DynamicImage::ImageRgba8(p) => bytes(p),
        DynamicImage::ImageLuma16(p) => words(p),
        DynamicImage::ImageLumaA16(p) => words(p),
        DynamicImage::ImageRgb16(p) => words(p),
        DynamicImage::ImageRgba16(p) => words(p),
        _ => {}
    }
    full / f64::from(largest)
}

/// Copies pixels of `STORED` values each; the last of two or four values is the alpha channel.
fn copy<T: Copy + Into<f64>, const STORED: usize>(values: &[T], channels: usize, row: &mut [f64]) {
    for (pixel, out) in values.as_chunks::<STORED>().0.iter().zip(row.chunks_exact_mut(channels)) {
        match (*pixel).map(Into::into).as_slice() {
            [red, green, blue, ..] if channels == 3 => out.copy_from_slice(&[*red, *green, *blue]),
            [red, green, blue, ..] => out.fill((2126.0 * red + 7152.0 * green + 722.0 * blue) / 10_000.0),
            [gray, ..] => out.fill(*gray),
            [] => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use image::metadata::Orientation;
    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

    use super::{Header, Shape};

    #[test]
    fn no_turned_bit_and_no_cut_makes_a_decoder_panic() {
        let image = DynamicImage::from(RgbImage::from_fn(17, 11, |x, y| Rgb([x, y, 3 * x * y].map(|v| v as u8))));
        let header = Header { size: (17, 11), orientation: Orientation::NoTransforms, bits: 8 };
        let shape = Shape { header, resize: None, channels: 1 };
        let any_size = Shape { resize: Some((5, 5)), ..shape };
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Pnm] {
            let mut whole = std::io::Cursor::new(Vec::new());
            image.write_to(&mut whole, format).expect("an image");
            let whole = whole.into_inner();
            assert_eq!(shape.decode(&whole).expect("whole").0, header.size);
            for place in 0..whole.len() {
                let _ = shape.decode(&whole[..place]);
                for bit in 0..8 {
                    let mut bytes = whole.clone();
                    bytes[place] ^= 1 << bit;
                    if let Ok((size, ..)) = shape.decode(&bytes) {
                        assert_eq!(size, header.size);
                    }
                    // Continues if the flipped bit was in the width or height.
                    let _ = any_size.decode(&bytes);
                }
            }
        }
    }
}
