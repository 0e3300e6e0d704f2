//! The repair, on bytes made up here.

use super::*;

/// All the ways a line end can be written, next to one another and at both ends.
const ORIGINAL: &[u8] = b"\rP5\n1\r2\r\n3\n\r4\n\n5\r\r6\r\n7\r";

/// The conversion that did the damage: every line end becomes CR LF.
fn damaged(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).expect("the test data is ASCII");
    let joined = text.replace("\r\n", "\n").replace('\r', "\n");
    joined.replace('\n', "\r\n").into_bytes()
}

/// The edits for an original, by walking over it: what the list in `data` holds for the faces.
fn edits_for(original: &[u8]) -> Vec<Edit> {
    let (mut edits, mut place) = (Vec::new(), 0);
    for (index, &byte) in original.iter().enumerate() {
        if byte == CR && original.get(index + 1) == Some(&b'\n') {
            edits.push(Edit::Insert(place));
            continue;
        }
        if byte == CR {
            edits.push(Edit::Set(place));
        }
        place += 1;
    }
    edits
}

fn sum(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_kind_of_line_end_comes_back_where_it_was() {
    let (sha256, edits) = (sum(ORIGINAL), edits_for(ORIGINAL));
    assert!(edits.iter().any(|edit| matches!(edit, Edit::Insert(_))));
    let face = Face { file: "s1/1.pgm", sha256: &sha256, edits };
    assert_eq!(face.restore(damaged(ORIGINAL)).as_deref(), Some(ORIGINAL));
}

#[test]
fn a_picture_that_was_never_damaged_is_left_alone() {
    let (sha256, edits) = (sum(ORIGINAL), vec![Edit::Set(2)]);
    let face = Face { file: "s1/1.pgm", sha256: &sha256, edits };
    assert_eq!(face.restore(ORIGINAL.to_vec()).as_deref(), Some(ORIGINAL));
}

#[test]
fn another_picture_is_refused_even_when_the_edits_lie_outside_it() {
    let (sha256, edits) = (sum(ORIGINAL), vec![Edit::Set(900), Edit::Insert(901)]);
    let face = Face { file: "s1/1.pgm", sha256: &sha256, edits };
    assert_eq!(face.restore(b"P5\r\n".to_vec()), None);
}

#[test]
fn the_lists_name_four_hundred_faces_and_the_bytes_to_bring_back() {
    let faces = catalog().expect("the lists are in their format");
    let mut expected: Vec<String> = Vec::new();
    for person in 1..=40 {
        expected.extend((1..=10).map(|view| format!("s{person}/{view}.pgm")));
    }
    assert!(expected.iter().all(|file| faces.iter().any(|face| face.file == file)));
    assert_eq!(faces.len(), 400);
    let edits: Vec<Edit> = faces.iter().flat_map(|face| face.edits.clone()).collect();
    let inserted = edits.iter().filter(|edit| matches!(edit, Edit::Insert(_)));
    assert_eq!((edits.len(), inserted.count()), (344, 2));
}

#[test]
fn a_line_that_is_no_edit_is_named() {
    let message = |edits: &str| parse("aa  s1/1.pgm\n", edits).err().map(|e| e.to_string());
    let third = "internal error in data/orl_repair.csv, line 3; please report this";
    let wrong = format!("{HEADING}\ns1/1.pgm,4,set13\ns1/1.pgm,5,set10\n");
    assert_eq!(message(&wrong).as_deref(), Some(third));
    let stranger = format!("{HEADING}\ns1/1.pgm,4,set13\ns9/9.pgm,5,set13\n");
    assert_eq!(message(&stranger).as_deref(), Some(third));
}
