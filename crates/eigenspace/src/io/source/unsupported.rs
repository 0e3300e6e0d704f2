//! Files that are not read, recognized by their names, so that errors and notices can name their
//! format.

use std::path::Path;

/// The format of an image that is not read, according to its name.
pub(super) fn other_image(path: &Path) -> Option<&'static str> {
    Some(match path.extension()?.to_string_lossy().to_lowercase().as_str() {
        "gif" => "GIF",
        "bmp" | "dib" => "BMP",
        "webp" => "WebP",
        "tif" | "tiff" => "TIFF",
        "heic" | "heif" => "HEIF",
        "avif" => "AVIF",
        "jp2" | "j2k" | "jpx" => "JPEG 2000",
        "jxl" => "JPEG XL",
        "svg" => "SVG",
        "ico" => "ICO",
        "tga" => "TGA",
        "psd" => "Photoshop",
        "exr" => "OpenEXR",
        "hdr" => "HDR",
        "qoi" => "QOI",
        "dds" => "DDS",
        "dng" | "cr2" | "cr3" | "nef" | "arw" | "raf" => "raw camera",
        _ => return None,
    })
}

/// The format of a file of rows that is not read, according to its name.
pub(super) fn other_format(path: &Path) -> Option<&'static str> {
    Some(match path.extension()?.to_string_lossy().to_lowercase().as_str() {
        "xls" | "xlsx" | "xlsm" | "xlsb" => "Excel spreadsheets",
        "ods" => "OpenDocument spreadsheets",
        "json" | "jsonl" | "ndjson" => "JSON files",
        "xml" => "XML files",
        "h5" | "hdf5" => "HDF5 files",
        "mat" => "MATLAB files",
        "pkl" | "pickle" => "pickle files",
        "rds" | "rda" | "rdata" => "R data files",
        "sav" => "SPSS files",
        "dta" => "Stata files",
        "sas7bdat" => "SAS files",
        "orc" => "ORC files",
        "avro" => "Avro files",
        "sqlite" | "sqlite3" => "SQLite databases",
        _ => return None,
    })
}
