//! Undoes a newline conversion in images.
//!
//! The package that contains the faces once went through a conversion that wrote every line end (CR
//! LF, CR or LF) as CR LF, and treated 152 of the 400 images as text. Converting CR LF to LF
//! restores all bytes except those that were a CR. `data/orl_repair.csv` lists these by their
//! offset after that step. If the image itself contained CR LF, the CR is lost and is inserted
//! again.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::data::error::DataError;

const SUMS: &str = include_str!("../../data/orl_sha256.txt");
const EDITS: &str = include_str!("../../data/orl_repair.csv");
const HEADING: &str = "file,offset_after_crlf_to_lf,op";
const CR: u8 = 13;

/// One byte to restore, by its offset in the image after CR LF was converted to LF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    Set(usize),
    Insert(usize),
}

/// A face image: its path in the data set, the SHA-256 of the original, and the edits that repair a
/// damaged copy.
#[derive(Debug)]
pub(crate) struct Face<'a> {
    pub(crate) file: &'a str,
    pub(crate) sha256: &'a str,
    pub(crate) edits: Vec<Edit>,
}

/// The 400 faces, as listed in `data`.
pub(crate) fn catalog() -> Result<Vec<Face<'static>>, DataError> {
    parse(SUMS, EDITS)
}

fn parse<'a>(sums: &'a str, edits: &'a str) -> Result<Vec<Face<'a>>, DataError> {
    let mut by_file = read_edits(edits)?;
    let mut faces = Vec::new();
    for (index, line) in sums.lines().enumerate() {
        let (sha256, file) =
            line.split_once("  ").ok_or(DataError::List { list: "orl_sha256.txt", line: index + 1 })?;
        let edits = by_file.remove(file).map_or_else(Vec::new, |(_, edits)| edits);
        faces.push(Face { file, sha256, edits });
    }
    // An edit of an image without a checksum could never be verified.
    match by_file.into_values().map(|(line, _)| line).min() {
        Some(line) => Err(DataError::List { list: "orl_repair.csv", line }),
        None => Ok(faces),
    }
}

/// The edits of each file, with the line of its first one.
fn read_edits(text: &str) -> Result<HashMap<&str, (usize, Vec<Edit>)>, DataError> {
    let mut by_file = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let wrong = DataError::List { list: "orl_repair.csv", line: index + 1 };
        if index == 0 {
            if line != HEADING {
                return Err(wrong);
            }
            continue;
        }
        let mut cells = line.split(',');
        let (file, offset, op) = (cells.next(), cells.next(), cells.next());
        let offset = offset.and_then(|text| text.parse().ok());
        let (file, edit) = match (file, offset, op) {
            (Some(file), Some(offset), Some("set13")) => (file, Edit::Set(offset)),
            (Some(file), Some(offset), Some("insert13")) => (file, Edit::Insert(offset)),
            _ => return Err(wrong),
        };
        let (_, edits) = by_file.entry(file).or_insert_with(|| (index + 1, Vec::new()));
        edits.push(edit);
    }
    Ok(by_file)
}

impl Face<'_> {
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        let hash = Sha256::digest(bytes);
        let text: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        text == self.sha256
    }

    /// The original image from an intact or damaged copy, or `None` for a copy of something else.
    pub(crate) fn restore(&self, copy: Vec<u8>) -> Option<Vec<u8>> {
        if self.is(&copy) {
            return Some(copy);
        }
        let mut bytes = without_cr_before_lf(&copy);
        // Offsets count bytes before any insertion, so the last edit is applied first. An offset
        // out of range means another file: it is skipped, and the checksum rejects the result.
        let mut edits = self.edits.clone();
        edits.sort_by_key(|&(Edit::Set(offset) | Edit::Insert(offset))| offset);
        for edit in edits.into_iter().rev() {
            match edit {
                Edit::Set(offset) => {
                    if let Some(byte) = bytes.get_mut(offset) {
                        *byte = CR;
                    }
                }
                Edit::Insert(offset) => {
                    if offset <= bytes.len() {
                        bytes.insert(offset, CR);
                    }
                }
            }
        }
        self.is(&bytes).then_some(bytes)
    }
}

fn without_cr_before_lf(bytes: &[u8]) -> Vec<u8> {
    let next = bytes.iter().skip(1).map(Some).chain([None]);
    let pairs = bytes.iter().zip(next);
    let kept = pairs.filter(|&(&byte, next)| byte != CR || next != Some(&b'\n'));
    kept.map(|(&byte, _)| byte).collect()
}

#[cfg(test)]
mod tests;
