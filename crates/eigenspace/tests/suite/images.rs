//! Directories of images as rows. The images are generated here; the ORL faces are read too.

use std::path::{Path, PathBuf};

use eigenspace::ImageShape;
use eigenspace::io::Error;
use eigenspace::io::source::{Columns, Notice, ReadOptions, RowBlock, SourceError, open};
use image::{DynamicImage, GrayImage, ImageFormat, Luma, LumaA, Rgb, Rgba};
use ndarray::Array2;
use tempfile::TempDir;

/// Files in a temporary directory, which is removed at the end of the test.
struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn bytes(self, file: &str, bytes: &[u8]) -> Self {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    fn image(self, file: &str, image: impl Into<DynamicImage>) -> Self {
        self.bytes(file, &encoded(file, image))
    }
}

fn encoded(file: &str, image: impl Into<DynamicImage>) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, ImageFormat::from_path(file).unwrap()).unwrap();
    bytes.into_inner()
}

/// A small gray image whose pixels count up from `first`.
fn gray(first: u8) -> GrayImage {
    GrayImage::from_fn(3, 2, |x, y| Luma([first + (3 * y + x) as u8]))
}

/// An image with something to compress.
fn waves(width: u32, height: u32) -> image::RgbImage {
    let wave = |t: u32| (127.0 + 120.0 * (f64::from(t) * 0.7).sin()) as u8;
    image::RgbImage::from_fn(width, height, |x, y| Rgb([wave(x), wave(y), wave(x + 2 * y)]))
}

struct Read {
    columns: Columns,
    rows: Option<u64>,
    values: Array2<f64>,
    labels: Option<Vec<String>>,
    names: Vec<String>,
}

fn all(path: &Path, options: &ReadOptions, block_rows: usize) -> Result<Read, Error> {
    let mut source = open(&[path], options)?;
    let (columns, rows) = (source.columns().clone(), source.rows());
    let mut blocks: Vec<RowBlock> = Vec::new();
    while let Some(block) = source.next_block(block_rows)? {
        let so_far: usize = blocks.iter().map(RowBlock::rows).sum();
        assert!(block.rows() <= block_rows && block.origin.first == so_far as u64);
        blocks.push(block);
    }
    let values: Vec<f64> = blocks.iter().flat_map(|block| block.values.to_f64().into_iter()).collect();
    let labels = blocks.iter().map(|block| block.labels.clone()).collect::<Option<Vec<_>>>().map(|all| all.concat());
    let names: Vec<String> = blocks.iter().flat_map(|block| block.origin.names.clone().unwrap()).collect();
    let values = Array2::from_shape_vec((names.len(), columns.count), values).unwrap();
    Ok(Read { columns, rows, values, labels, names })
}

fn plain(path: &Path) -> Result<Read, Error> {
    all(path, &ReadOptions::default(), 2)
}

/// The problem, which must be placed in this file.
fn refused(result: Result<Read, Error>, file: &Path) -> SourceError {
    match result.err().expect("a refusal") {
        Error::Source { path, source } => {
            assert_eq!(path, file, "{source}");
            source
        }
        other => panic!("{other}"),
    }
}

#[test]
fn class_directories_come_in_natural_order_with_their_names_as_labels() {
    let directory = Directory::new()
        .image("s10/1.pgm", gray(60))
        .image("s2/10.png", gray(40))
        .image("s2/9.pgm", gray(20))
        .image("s1/deeper/3.pgm", gray(10))
        .image("s1/7.pgm", gray(0));
    let read = plain(directory.0.path()).unwrap();
    assert_eq!(read.names, ["s1/7.pgm", "s1/deeper/3.pgm", "s2/9.pgm", "s2/10.png", "s10/1.pgm"]);
    assert_eq!(read.labels.unwrap(), ["s1", "deeper", "s2", "s2", "s10"]);
    assert_eq!(read.rows, Some(5));
    assert_eq!(read.columns.image, Some(ImageShape::new(3, 2, 1).with_depth(8)));
    assert_eq!(read.columns.count, 6);
    let firsts = [0.0, 10.0, 20.0, 40.0, 60.0];
    assert_eq!(read.values, Array2::from_shape_fn((5, 6), |(i, j)| firsts[i] + j as f64));
}

#[test]
fn bare_images_have_no_labels_and_a_single_image_is_one_row() {
    let directory = Directory::new().image("2.png", gray(1)).image("10.PNG", gray(9));
    let read = plain(directory.0.path()).unwrap();
    assert_eq!((read.names, read.labels), (vec!["2.png".into(), "10.PNG".into()], None));
    let one = plain(&directory.path("10.PNG")).unwrap();
    assert_eq!((one.rows, one.names, one.labels), (Some(1), vec!["10.PNG".into()], None));
    assert_eq!(one.values[[0, 0]], 9.0);
}

/// A JPEG with an EXIF orientation.
fn held(image: &image::RgbImage, orientation: u8) -> Vec<u8> {
    let whole = encoded("x.jpg", image.clone());
    let mut note = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01".to_vec();
    // One entry: the tag 0x0112, a short, one of them, its value; then no further directory.
    note.extend([1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]);
    let length = (note.len() as u16 + 2).to_be_bytes();
    [&whole[..2], &[0xFF, 0xE1], &length, &note, &whole[2..]].concat()
}

#[test]
fn an_image_is_turned_upright_as_its_camera_noted() {
    let image = waves(5, 3);
    let directory = Directory::new().bytes("plain.jpg", &encoded("x.jpg", image.clone()));
    let flat = plain(&directory.path("plain.jpg")).unwrap().values;
    let flat = flat.to_shape((3, 5)).unwrap();
    let upside_down = Array2::from_shape_fn((3, 5), |(y, x)| flat[[2 - y, 4 - x]]);
    let clockwise = Array2::from_shape_fn((5, 3), |(y, x)| flat[[2 - x, y]]);
    let counterclockwise = Array2::from_shape_fn((5, 3), |(y, x)| flat[[x, 4 - y]]);
    for (orientation, upright) in [(1, flat.to_owned()), (3, upside_down), (6, clockwise), (8, counterclockwise)] {
        let directory = Directory::new().bytes("held.jpg", &held(&image, orientation));
        let read = plain(&directory.path("held.jpg")).unwrap();
        let (height, width) = upright.dim();
        assert_eq!(read.columns.image, Some(ImageShape::new(width, height, 1).with_depth(8)), "{orientation}");
        assert_eq!(read.values.to_shape((height, width)).unwrap(), upright, "{orientation}");
    }
}

#[test]
fn formats_that_are_not_read_are_called_by_their_names() {
    let gif = b"GIF89a\x01\0\x01\0\0\0\0;";
    let directory = Directory::new().bytes("photo.webp", b"RIFF").bytes("renamed.png", gif).bytes("many/a.gif", gif);
    for (file, format) in [("photo.webp", "WEBP"), ("renamed.png", "GIF"), ("many", "GIF")] {
        let problem = refused(plain(&directory.path(file)), &directory.path(file));
        assert_eq!(problem.to_string(), format!("{format} images are not supported"));
        assert_eq!(problem.hint().unwrap(), "convert them to PNG, JPEG, PGM, PPM or PBM");
    }
    let directory = directory.bytes("many/b.TIFF", b"").bytes("many/notes.md", b"").image("many/c.png", gray(1));
    let read = plain(&directory.path("many")).unwrap();
    assert_eq!(read.names, ["c.png"]);
    assert_eq!(read.columns.notices, [Notice::OtherImages { count: 2, formats: vec!["GIF", "TIFF"] }]);
}

#[test]
fn images_beside_class_directories_are_labeled_with_the_directory_they_lie_in() {
    let directory = Directory::new().image("set/x.png", gray(1)).image("set/a/y.png", gray(9));
    assert_eq!(plain(&directory.path("set")).unwrap().labels.unwrap(), ["set", "a"]);
}

#[test]
fn other_files_and_hidden_ones_are_passed_over() {
    let directory = Directory::new()
        .image("a/1.png", gray(1))
        .bytes("a/notes.txt", b"not 1 number")
        .bytes("README", b"about these images")
        .bytes("about.txt", b"more about them")
        .bytes("a/.2.png", b"left by an editor")
        .bytes(".cache/3.png", b"left by a viewer");
    assert_eq!(plain(directory.0.path()).unwrap().names, ["a/1.png"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_directory_is_followed_but_not_in_circles() {
    let directory = Directory::new().image("a/1.png", gray(1));
    std::os::unix::fs::symlink(directory.0.path(), directory.path("a/back")).unwrap();
    std::os::unix::fs::symlink(directory.path("a"), directory.path("b")).unwrap();
    assert_eq!(plain(directory.0.path()).unwrap().names, ["a/1.png", "b/1.png"]);
}

#[test]
fn a_directory_without_images_is_refused() {
    let directory = Directory::new().bytes("a/README", b"");
    assert!(matches!(refused(plain(directory.0.path()), directory.0.path()), SourceError::NoFiles));
}

#[test]
fn an_image_of_another_size_is_named_when_its_turn_comes() {
    let directory = Directory::new().image("1.png", gray(0)).image("2.png", gray(0)).image("3.png", waves(4, 2));
    let mut source = open(&[directory.0.path()], &ReadOptions::default()).unwrap();
    assert_eq!(source.next_block(2).unwrap().unwrap().rows(), 2);
    let problem = refused(plain(directory.0.path()), &directory.path("3.png"));
    assert!(matches!(problem, SourceError::ImageSize { expected: (3, 2), found: (4, 2) }), "{problem}");
    assert!(problem.hint().unwrap().contains("3x2"));
}

#[test]
fn images_of_all_sizes_are_brought_to_one() {
    let plain = GrayImage::from_pixel(40, 30, Luma([200]));
    let directory = Directory::new().image("1.png", gray(0)).image("2.png", waves(9, 31)).image("3.png", plain);
    let options = ReadOptions::new().resize((3, 2));
    let read = all(directory.0.path(), &options, 10).unwrap();
    assert_eq!(read.columns.image, Some(ImageShape::new(3, 2, 1).with_depth(8)));
    let own = read.values.row(0).to_vec();
    assert_eq!(own, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "of that size already: not touched");
    assert!(read.values.row(2).iter().all(|value| (value - 200.0).abs() < 1e-12));
}

#[test]
fn a_size_of_no_or_too_many_pixels_is_refused() {
    let directory = Directory::new().image("1.png", gray(0));
    for size in [(0, 5), (1 << 20, 1 << 20), (usize::MAX, 2)] {
        let options = ReadOptions::new().resize(size);
        let problem = refused(all(directory.0.path(), &options, 1), directory.0.path());
        assert!(matches!(problem, SourceError::ImageLimit { .. }), "{problem}");
    }
}

#[test]
fn colors_are_kept_on_request_and_otherwise_weighed_to_gray() {
    let pixel = Rgb([10, 20, 30]);
    let directory = Directory::new()
        .image("1.ppm", image::RgbImage::from_pixel(2, 1, pixel))
        .image("2.png", image::RgbaImage::from_pixel(2, 1, Rgba([10, 20, 30, 0])))
        .image("3.pgm", GrayImage::from_pixel(2, 1, Luma([77])))
        .image("4.png", image::GrayAlphaImage::from_pixel(2, 1, LumaA([77, 3])))
        .image("5.png", image::RgbImage::from_pixel(2, 1, Rgb([77; 3])));
    let options = ReadOptions::new().color(true);
    let color = all(directory.0.path(), &options, 10).unwrap();
    assert_eq!(color.columns.image, Some(ImageShape::new(2, 1, 3).with_depth(8)));
    let (first, last) = ([10.0, 20.0, 30.0, 10.0, 20.0, 30.0], [77.0; 6]);
    let expected: Vec<f64> = [first, first, last, last, last].concat();
    assert_eq!(color.values.into_raw_vec_and_offset().0, expected);
    let gray = plain(directory.0.path()).unwrap();
    let luma = 0.2126 * 10.0 + 0.7152 * 20.0 + 0.0722 * 30.0;
    assert!(gray.values.row(0).iter().chain(gray.values.row(1)).all(|value| (value - luma).abs() < 1e-12));
    assert!((2..5).all(|row| gray.values.row(row).to_vec() == [77.0, 77.0]), "gray is exact");
}

#[test]
fn sixteen_bits_are_kept_whole_and_never_mixed_with_eight() {
    let deep = || image::ImageBuffer::from_fn(3, 2, |x, y| Luma([40_000 + 257 * (3 * y + x) as u16]));
    let by_hand: Vec<u8> = deep().as_raw().iter().flat_map(|value: &u16| value.to_be_bytes()).collect();
    let by_hand = [b"P5 3 2 65535\n".as_slice(), &by_hand].concat();
    let directory = Directory::new().image("1.png", deep()).image("2.pgm", deep()).bytes("2b.pgm", &by_hand);
    let read = plain(directory.0.path()).unwrap();
    assert_eq!(read.values, Array2::from_shape_fn((3, 6), |(_, j)| 40_000.0 + 257.0 * j as f64));
    let directory = directory.image("3.png", gray(0));
    let problem = refused(plain(directory.0.path()), &directory.path("3.png"));
    assert!(matches!(problem, SourceError::ImageDepth { expected: 16, found: 8 }), "{problem}");
}

#[test]
fn text_and_bits_are_images_too() {
    let directory = Directory::new()
        .bytes("1.pgm", b"P2\n# by hand\n3 1\n255\n0 17\n255\n")
        .bytes("2.pgm", b"P2 3 1 15 0 1 15")
        .bytes("3.pbm", b"P1 3 1 1 0 1")
        .bytes("4.pbm", b"P4\n3 1\n\xA0");
    let read = plain(directory.0.path()).unwrap();
    let rows: Vec<Vec<f64>> = read.values.outer_iter().map(|row| row.to_vec()).collect();
    assert_eq!(rows[..2], [vec![0.0, 17.0, 255.0], vec![0.0, 17.0, 255.0]], "the largest value is white");
    assert_eq!(rows[2..], [vec![0.0, 255.0, 0.0], vec![0.0, 255.0, 0.0]], "a bit is ink");
}

/// A PGM whose pixels have every value, so line feeds and carriage returns too.
fn every_value() -> Vec<u8> {
    [b"P5\n16 16\n255\n".as_slice(), &(0..=255).collect::<Vec<u8>>()].concat()
}

#[test]
fn a_pgm_with_too_many_or_too_few_bytes_is_refused_though_it_could_be_decoded() {
    let whole = every_value();
    let replaced = |from: &[u8], to: &[u8]| -> Vec<u8> {
        let mut result = Vec::new();
        let mut rest = whole.as_slice();
        while let Some(byte) = rest.first() {
            let (piece, length) =
                if rest.starts_with(from) { (to, from.len()) } else { (std::slice::from_ref(byte), 1) };
            result.extend_from_slice(piece);
            rest = &rest[length..];
        }
        result
    };
    let to_crlf = replaced(b"\n", b"\r\n");
    assert!(image::load_from_memory(&to_crlf).is_ok(), "the decoder says nothing");
    let cases = [
        (to_crlf, 258, "newlines"),
        ([whole.as_slice(), b"\n"].concat(), 257, "appended"),
        (whole[..whole.len() - 3].to_vec(), 253, "incomplete"),
    ];
    for (bytes, count, word) in cases {
        let directory = Directory::new().bytes("a/1.pgm", &whole).bytes("a/2.pgm", &bytes);
        let problem = refused(plain(directory.0.path()), &directory.path("a/2.pgm"));
        match problem {
            SourceError::ImageBytes { expected: 256, found } => assert_eq!(found, count),
            ref other => panic!("{other}"),
        }
        assert!(problem.hint().unwrap().contains(word), "{problem}");
    }
}

#[test]
fn a_header_that_announces_an_absurd_image_is_refused_before_anything_is_allocated() {
    let mut huge = encoded("x.png", gray(0));
    huge[16..24].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]);
    let files: [(&str, &[u8]); 4] = [
        ("1.pgm", b"P5\n4000000000 4000000000\n255\nabc"),
        ("1.pgm", b"P2\n65535 65535\n255\n1 2 3"),
        ("1.pgm", b"P5\n0 7\n255\n"),
        ("1.png", &huge),
    ];
    for (name, bytes) in files {
        let directory = Directory::new().bytes(name, bytes);
        refused(plain(directory.0.path()), &directory.path(name));
    }
}

#[test]
fn a_cut_image_is_malformed_wherever_it_is_cut() {
    for name in ["1.png", "1.jpg", "1.ppm"] {
        let whole = encoded(name, waves(33, 21));
        // The last twelve bytes of a PNG only say that it ends.
        let needed = if name == "1.png" { whole.len() - 12 } else { whole.len() };
        for length in (0..needed).step_by(7).chain([needed - 1]) {
            let directory = Directory::new().bytes(name, &whole[..length]);
            let problem = refused(plain(directory.0.path()), &directory.path(name));
            let typed = matches!(problem, SourceError::Malformed { .. } | SourceError::ImageBytes { .. });
            assert!(typed, "{name} of {length} bytes: {problem}");
        }
    }
}

#[test]
fn turned_bits_never_panic_and_are_told_of_the_right_file() {
    for name in ["1.png", "1.jpg", "1.ppm", "1.pgm"] {
        let whole = if name == "1.pgm" { b"P2 3 2 255 1 2 3 4 5 6".to_vec() } else { encoded(name, waves(17, 11)) };
        let mut directory = Directory::new();
        // Every bit is turned in the tests of `image.rs`, where nothing goes over the disk.
        for place in (0..whole.len()).step_by(13) {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            directory = directory.bytes(name, &bytes);
            match plain(directory.0.path()) {
                Ok(read) => assert_eq!(read.rows, Some(1)),
                Err(Error::Source { path, .. }) => assert_eq!(path, directory.path(name)),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn the_content_tells_the_format_where_the_name_is_wrong() {
    let directory =
        Directory::new().bytes("1.jpg", &encoded("x.png", gray(5))).bytes("2.png", b"nothing that is known");
    assert_eq!(plain(&directory.path("1.jpg")).unwrap().values[[0, 0]], 5.0);
    let problem = refused(plain(&directory.path("2.png")), &directory.path("2.png"));
    assert!(matches!(problem, SourceError::Malformed { format: "image", .. }), "{problem}");
}

#[test]
fn skipped_images_are_not_read() {
    let directory = Directory::new().image("1.png", gray(0)).bytes("2.png", b"broken").image("3.png", gray(9));
    let mut source = open(&[directory.0.path()], &ReadOptions::default()).unwrap();
    assert_eq!(source.skip(2).unwrap(), 2);
    let block = source.next_block(5).unwrap().unwrap();
    assert_eq!((block.origin.first, block.origin.names.unwrap()), (2, vec!["3.png".to_owned()]));
    assert_eq!(source.skip(5).unwrap(), 0);
    assert!(source.next_block(5).unwrap().is_none());
}

#[test]
fn the_first_of_several_broken_images_is_the_one_that_is_named() {
    let mut directory = Directory::new().image("0.png", gray(0));
    for number in 1..40 {
        directory = directory.bytes(&format!("{number}.png"), b"broken");
    }
    refused(all(directory.0.path(), &ReadOptions::default(), 100), &directory.path("1.png"));
}

#[test]
fn the_orl_faces_are_the_bytes_in_their_files() {
    let directory = std::env::var_os("EIGENSPACE_ORL").map(PathBuf::from).expect("EIGENSPACE_ORL is not set");
    let read = all(&directory, &ReadOptions::default(), 64).unwrap();
    assert_eq!((read.rows, read.columns.count), (Some(400), 92 * 112));
    assert_eq!(read.columns.image, Some(ImageShape::new(92, 112, 1).with_depth(8)));
    let labels = read.labels.unwrap();
    let rows = read.values.outer_iter().zip(labels.iter().zip(&read.names)).enumerate();
    for (index, (row, (label, name))) in rows {
        let (person, image) = (index / 10 + 1, index % 10 + 1);
        assert_eq!((label, name), (&format!("s{person}"), &format!("s{person}/{image}.pgm")));
        let bytes = std::fs::read(directory.join(name)).unwrap();
        let pixels = bytes.strip_prefix(b"P5\n92 112\n255\n").unwrap();
        assert!(row.iter().eq(pixels.iter().map(|&pixel| f64::from(pixel)).collect::<Vec<_>>().iter()), "{name}");
    }
}

#[test]
fn the_largest_value_of_a_pgm_is_white_and_the_others_are_not_rounded() {
    let values = |text: &str| {
        let directory = Directory::new().bytes("a.pgm", text.as_bytes());
        plain(&directory.path("a.pgm")).map(|read| read.values.row(0).to_vec())
    };
    for largest in [1_u32, 2, 15, 100, 254, 255, 256, 1023, 65_534, 65_535] {
        let pixels = [0, 1, largest / 2, largest];
        let text = format!("P2\n2 2\n{largest}\n{} {} {} {}\n", pixels[0], pixels[1], pixels[2], pixels[3]);
        let white = if largest > 255 { 65_535.0 } else { 255.0 };
        for (found, pixel) in values(&text).unwrap().iter().zip(pixels) {
            let wanted = f64::from(pixel) * white / f64::from(largest);
            assert!((found - wanted).abs() <= 1e-12 * white, "{pixel} of {largest}: {found}");
        }
    }
    let directory = Directory::new().bytes("b.pgm", b"P5\n2 1\n100\n\x64\xc8");
    let problem = refused(plain(&directory.path("b.pgm")), &directory.path("b.pgm"));
    assert!(problem.to_string().contains("larger than the largest value"), "{problem}");
}
