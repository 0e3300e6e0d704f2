//! Reads a text file while it grows.
//!
//! ```text
//! end of the file reached: wait, look again, and continue, until asked to stop
//! ```
//!
//! A line is a row once its end has arrived. A file that becomes shorter is an error, because what
//! it had may have changed.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::io::error::{Error, at};
use crate::io::source::{Format, ReadOptions, RowSource, SourceError, csv};

/// Time between two looks at a file that has not grown.
const PAUSE: Duration = Duration::from_millis(50);

/// Opens a text file whose rows end only when `stop` is set. Waits for its first line.
pub fn follow(path: &Path, options: &ReadOptions, stop: Arc<AtomicBool>) -> Result<Box<dyn RowSource>, Error> {
    let format = options.format.or_else(|| Format::of(path)).ok_or_else(|| at(path)(SourceError::UnknownFormat))?;
    if !matches!(format, Format::Csv | Format::Tsv) {
        return Err(at(path)(SourceError::CannotFollow));
    }
    let file = File::open(path).map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })?;
    csv::from_reader(Box::new(Growing { file, read: 0, stop }), path, format, options)
}

/// A file that ends only when `stop` is set.
struct Growing {
    file: File,
    /// Number of bytes read so far.
    read: u64,
    stop: Arc<AtomicBool>,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, IoError> {
        loop {
            let count = self.file.read(buffer)?;
            self.read += count as u64;
            if count > 0 || self.stop.load(Ordering::Relaxed) {
                return Ok(count);
            }
            if self.file.metadata()?.len() < self.read {
                return Err(IoError::new(ErrorKind::InvalidData, "it became shorter while it was read"));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn rows_arrive_while_the_file_grows_and_a_shorter_file_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("rows.csv");
        let mut file = File::create(&path).expect("a file");
        file.write_all(b"a,b\n1,2\n3,").expect("written");
        let stop = Arc::new(AtomicBool::new(false));
        let mut rows = follow(&path, &ReadOptions::new(), Arc::clone(&stop)).expect("text");
        let mut next = move || {
            rows.next_block(1).map(|block| block.map(|block| block.values.to_f64().into_raw_vec_and_offset().0))
        };
        assert_eq!(next().expect("a row"), Some(vec![1.0, 2.0]));
        let later = std::thread::spawn(move || {
            std::thread::sleep(3 * PAUSE);
            file.write_all(b"4\n5,6\n").expect("written");
            file
        });
        assert_eq!(next().expect("a row"), Some(vec![3.0, 4.0]));
        assert_eq!(next().expect("a row"), Some(vec![5.0, 6.0]));
        later.join().expect("a file").set_len(4).expect("cut");
        assert!(next().expect_err("shorter").to_string().contains("rows.csv"));
        stop.store(true, Ordering::Relaxed);
        let mut ended = follow(&path, &ReadOptions::new(), stop).expect("the header is still there");
        assert!(ended.next_block(1).expect("the end").is_none());
        let array = follow(Path::new("x.npy"), &ReadOptions::new(), Arc::default());
        assert!(matches!(array.err(), Some(Error::Source { source: SourceError::CannotFollow, .. })));
    }
}
