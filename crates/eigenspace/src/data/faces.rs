//! Directories of faces: verifies one, or writes a complete one.

use std::fs;
use std::path::Path;

use crate::data::error::DataError;
use crate::data::repair::Face;

/// Verifies every face. The error names the first that is not the original.
pub(crate) fn verify(directory: &Path, faces: &[Face<'_>]) -> Result<(), DataError> {
    for face in faces {
        let path = directory.join(face.file);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => DataError::FaceMissing { path: path.clone() },
            _ => DataError::io("read", path.as_path())(error),
        })?;
        if !face.is(&bytes) {
            return Err(DataError::FaceDiffers { path });
        }
    }
    Ok(())
}

/// Whether a directory can be written here without a loss: it is missing or empty.
pub(crate) fn is_free(directory: &Path) -> Result<bool, DataError> {
    match fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(DataError::io("read", directory)(error)),
    }
}

/// Restores every face from a copy and writes them to a new directory, which appears in one step.
///
/// `copy` returns the bytes of a face by name. Nothing is written before all faces are verified.
pub(crate) fn restore(
    mut copy: impl FnMut(&str) -> Result<Vec<u8>, DataError>,
    destination: &Path,
    faces: &[Face<'_>],
) -> Result<(), DataError> {
    let mut images = Vec::with_capacity(faces.len());
    for face in faces {
        let restored = face.restore(copy(face.file)?);
        images.push((face.file, restored.ok_or_else(|| DataError::FaceDiffers { path: face.file.into() })?));
    }
    let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(DataError::io("create", parent))?;
    // On the same file system as the destination, so that renaming is one step. One level down,
    // because other users cannot read the scratch directory itself, which is removed when this
    // function returns.
    let scratch = tempfile::Builder::new().prefix(".orl-").tempdir_in(parent);
    // Without the name of the scratch directory, which means nothing to the user.
    let scratch = scratch.map_err(|error| DataError::io("write to", parent)(error.kind().into()))?;
    let whole = scratch.path().join("faces");
    for (file, bytes) in images {
        let path = whole.join(file);
        let directory = path.parent().unwrap_or(&whole);
        fs::create_dir_all(directory).map_err(DataError::io("create", directory))?;
        fs::write(&path, bytes).map_err(DataError::io("write", path.as_path()))?;
    }
    // This removes an empty directory and fails for any other.
    match fs::remove_dir(destination) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(DataError::io("replace", destination)(error));
        }
        _ => {}
    }
    fs::rename(&whole, destination).map_err(DataError::io("create", destination))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::repair::Edit;

    /// SHA-256 of the four bytes `P5\n` CR.
    const SUM: &str = "bb586cd1666cdd8453ac07f44b636c9172d0671461261ecf2577e7d562ba0017";
    const DAMAGED: &[u8] = b"P5\r\n\r\n";

    fn faces() -> [Face<'static>; 1] {
        [Face { file: "s1/1.pgm", sha256: SUM, edits: vec![Edit::Set(3)] }]
    }

    fn restored(bytes: &[u8], destination: &Path) -> Result<(), DataError> {
        restore(|_| Ok(bytes.to_vec()), destination, &faces())
    }

    fn entries(directory: &Path) -> usize {
        fs::read_dir(directory).expect("there").count()
    }

    #[test]
    fn a_damaged_face_is_restored_into_a_new_or_empty_directory_that_verifies() {
        let scratch = tempfile::tempdir().expect("a new directory");
        fs::create_dir(scratch.path().join("empty")).expect("a new directory");
        for name in ["deep/er", "empty"] {
            let destination = scratch.path().join(name);
            restored(DAMAGED, &destination).expect("restorable");
            verify(&destination, &faces()).expect("the original");
        }
        assert_eq!(entries(scratch.path()), 2, "nothing else is left");
    }

    #[test]
    fn a_face_with_a_wrong_checksum_is_refused_and_nothing_is_written() {
        let scratch = tempfile::tempdir().expect("a new directory");
        let error = restored(b"P5\r\n\r\n and more", &scratch.path().join("to")).expect_err("not the original");
        assert_eq!(error.to_string(), "cannot use the face `s1/1.pgm`: its SHA-256 is not that of the original");
        assert_eq!(entries(scratch.path()), 0);
    }

    #[test]
    fn a_directory_with_something_in_it_is_never_replaced() {
        let scratch = tempfile::tempdir().expect("a new directory");
        let destination = scratch.path().join("to");
        fs::create_dir(&destination).expect("a new directory");
        fs::write(destination.join("old"), "").expect("a new file");
        assert!(!is_free(&destination).expect("readable"));
        assert!(restored(DAMAGED, &destination).is_err());
        assert!(destination.join("old").exists());
        assert_eq!(entries(scratch.path()), 1, "the scratch directory is gone");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_that_cannot_be_written_is_named_without_the_scratch_directory() {
        let error = restored(DAMAGED, Path::new("/proc/faces")).expect_err("nobody can write there");
        assert_eq!(error.to_string(), "cannot write to `/proc`");
        let source = std::error::Error::source(&error).expect("from the system").to_string();
        assert!(!source.contains(".orl-") && error.hint().is_some(), "{source}");
    }

    #[test]
    fn a_missing_face_is_named() {
        let scratch = tempfile::tempdir().expect("a new directory");
        let message = verify(scratch.path(), &faces()).expect_err("no s1").to_string();
        assert!(message.starts_with("cannot find the face `") && message.ends_with("1.pgm`"), "{message}");
    }
}
