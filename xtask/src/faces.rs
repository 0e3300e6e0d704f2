//! Folders of faces: checking one, and writing one whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, FaceProblem};
use crate::repair::Face;

/// Checks every face; the error names the first that is not the original.
pub(crate) fn verify(folder: &Path, faces: &[Face<'_>]) -> Result<(), Error> {
    for face in faces {
        let bytes = read(folder, face)?;
        if !face.is(&bytes) {
            return Err(wrong(folder, face));
        }
    }
    Ok(())
}

/// Restores every face of `source` into a new `destination`, replacing an older one.
///
/// Nothing is written before all are checked, and the folder appears in one step.
pub(crate) fn restore(source: &Path, destination: &Path, faces: &[Face<'_>]) -> Result<(), Error> {
    let mut pictures = Vec::with_capacity(faces.len());
    for face in faces {
        let restored = face.restore(read(source, face)?);
        pictures.push((face.file, restored.ok_or_else(|| wrong(source, face))?));
    }
    let partial = destination.with_extension("partial");
    remove(&partial)?;
    for (file, bytes) in pictures {
        let path = partial.join(file);
        let folder = path.parent().unwrap_or(&partial);
        fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
        fs::write(&path, bytes).map_err(Error::io("write", path.as_path()))?;
    }
    remove(destination)?;
    fs::rename(&partial, destination).map_err(Error::io("make", destination))
}

/// The folder at or below `folder` that holds the faces, if there is one.
pub(crate) fn find(folder: &Path, faces: &[Face<'_>]) -> Result<Option<PathBuf>, Error> {
    if faces.iter().all(|face| folder.join(face.file).is_file()) {
        return Ok(Some(folder.to_path_buf()));
    }
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        if path.is_dir()
            && let Some(found) = find(&path, faces)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Removes a folder that may be missing.
pub(crate) fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

fn read(folder: &Path, face: &Face<'_>) -> Result<Vec<u8>, Error> {
    let path = folder.join(face.file);
    fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::Face { path, problem: FaceProblem::Missing },
        _ => Error::io("read", path)(error),
    })
}

fn wrong(folder: &Path, face: &Face<'_>) -> Error {
    Error::Face { path: folder.join(face.file), problem: FaceProblem::Checksum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::Edit;

    /// SHA-256 of the four bytes `P5\n` CR.
    const SUM: &str = "bb586cd1666cdd8453ac07f44b636c9172d0671461261ecf2577e7d562ba0017";

    /// A folder of its own for each test, gone at its end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let own = format!("eigenspace-xtask-{}-{name}", std::process::id());
            Self(std::env::temp_dir().join(own))
        }

        fn with(self, file: &str, bytes: &[u8]) -> Self {
            let path = self.0.join(file);
            fs::create_dir_all(path.parent().expect("inside the folder")).expect("a new folder");
            fs::write(path, bytes).expect("a new file");
            self
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn faces() -> [Face<'static>; 1] {
        [Face { file: "s1/1.pgm", sha256: SUM, edits: vec![Edit::Set(3)] }]
    }

    #[test]
    fn a_damaged_face_is_restored_into_a_folder_that_verifies() {
        let scratch = Scratch::new("restore").with("package/deep/s1/1.pgm", b"P5\r\n\r\n");
        let source = find(&scratch.0, &faces()).expect("readable").expect("there");
        assert_eq!(source, scratch.0.join("package/deep"));
        let destination = scratch.0.join("faces");
        restore(&source, &destination, &faces()).expect("restorable");
        verify(&destination, &faces()).expect("the original");
    }

    #[test]
    fn a_face_with_a_wrong_checksum_is_refused_and_nothing_is_written() {
        let scratch = Scratch::new("refuse").with("from/s1/1.pgm", b"P5\r\n\r\n and more");
        let error = restore(&scratch.0.join("from"), &scratch.0.join("to"), &faces());
        let message = error.expect_err("not the original").to_string();
        assert!(message.ends_with("s1/1.pgm` has the wrong SHA-256"), "{message}");
        let left: Vec<_> = fs::read_dir(&scratch.0).expect("there").collect();
        assert_eq!(left.len(), 1, "only the source: {left:?}");
    }

    #[test]
    fn an_older_folder_stays_when_the_new_faces_are_refused() {
        let scratch = Scratch::new("keep").with("from/s1/1.pgm", b"other").with("to/old", b"");
        assert!(restore(&scratch.0.join("from"), &scratch.0.join("to"), &faces()).is_err());
        assert!(scratch.0.join("to/old").exists());
    }

    #[test]
    fn a_missing_face_is_named() {
        let scratch = Scratch::new("missing").with("s2/1.pgm", b"");
        let message = verify(&scratch.0, &faces()).expect_err("no s1").to_string();
        assert!(message.ends_with("s1/1.pgm` is missing"), "{message}");
    }
}
