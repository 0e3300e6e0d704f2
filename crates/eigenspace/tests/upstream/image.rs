//! Decoders of image 0.25.

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageFormat};

#[test]
#[ignore = "shows a fault of a dependency"]
fn a_jpeg_that_is_cut_in_half_is_decoded_without_an_error() {
    let pixels: Vec<u8> = (0..128 * 128).map(|i| (i * i % 251) as u8).collect();
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, 90).encode(&pixels, 128, 128, ExtendedColorType::L8).unwrap();
    let half = &bytes[..bytes.len() / 2];
    let image = image::load_from_memory_with_format(half, ImageFormat::Jpeg).unwrap().into_luma8();
    let last = &image.as_raw()[127 * 128..];
    let gray = last.iter().all(|pixel| *pixel == last[0]);
    println!("{} of {} bytes; the last row is one gray: {gray}", half.len(), bytes.len());
    assert!(gray);
}

#[test]
#[ignore = "shows a fault of a dependency"]
fn a_pam_file_of_two_bytes_per_value_is_read_one_byte_at_a_time() {
    // Two pixels of 16 bits. Without TUPLTYPE, which is optional, they are read as 8 bits each.
    let bytes = b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 65535\nENDHDR\n\x12\x34\x56\x78";
    let image = image::load_from_memory_with_format(bytes, ImageFormat::Pnm).unwrap();
    println!("{:?}: {:?}", image.color(), image.as_bytes());
    assert_eq!(image.color().bytes_per_pixel(), 1);
}
