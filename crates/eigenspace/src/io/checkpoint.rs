//! Checkpoints: the complete state of a stream, to continue from later with exactly the same
//! result.
//!
//! ```text
//! update(restore(checkpoint(stream)), rows)  =  update(stream, rows), bit for bit
//! ```
//!
//! A checkpoint consists of the state of the stream (engine, buffer, clock), its options and a text
//! from the caller. It is encoded by serde and postcard and ends in a SHA-256. Only the version of
//! the program that wrote it can read it; store and exchange models instead.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::io::error::{Error, FormatError};
use crate::io::file_kind::CHECKPOINT;
use crate::linalg::Device;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::options::FitOptions;
use crate::stream::state::StreamState;

/// The first bytes of a checkpoint of this version.
const MAGIC: &[u8] = b"eigenspace checkpoint 5\n";
/// Length of a SHA-256 in bytes.
const SUM: usize = 32;

/// The contents of a checkpoint.
#[derive(Serialize, Deserialize)]
struct Checkpoint<State> {
    progress: String,
    options: String,
    state: State,
}

impl EigenspaceStream {
    /// The current state of the stream as bytes, with a text from the caller, for example how much
    /// was read so far.
    pub fn checkpoint(&self, progress: &str) -> Vec<u8> {
        let mut state = self.state.clone();
        state.buffer.trim();
        let checkpoint = Checkpoint { progress: progress.to_owned(), options: described(&self.options), state };
        let bytes = postcard::to_allocvec(&checkpoint).expect("numbers, lists and text can always be encoded");
        [MAGIC, &Sha256::digest(&bytes), &bytes].concat()
    }

    /// The stream of a checkpoint, and the text. The options must be those of the checkpoint.
    pub fn restore(bytes: &[u8], options: &FitOptions) -> Result<(Self, String), Error> {
        if !bytes.starts_with(CHECKPOINT) {
            return Err(FormatError::NoCheckpoint.into());
        }
        let rest = bytes.strip_prefix(MAGIC).ok_or(FormatError::CheckpointVersion)?;
        let (sum, rest) = rest.split_at_checked(SUM).ok_or(FormatError::Checksum)?;
        if !cfg!(fuzzing) && Sha256::digest(rest)[..] != *sum {
            return Err(FormatError::Checksum.into());
        }
        let found: Result<(Checkpoint<StreamState>, &[u8]), _> = postcard::take_from_bytes(rest);
        let Ok((Checkpoint { progress, options: made_with, state }, [])) = found else {
            return Err(FormatError::CheckpointVersion.into());
        };
        if let Some(option) = first_difference(&made_with, &described(options)) {
            return Err(Error::OptionsDiffer { option });
        }
        if !state.is_consistent(state.buffer.features()) {
            return Err(FormatError::CheckpointVersion.into());
        }
        Ok((Self::restored(options, state)?, progress))
    }
}

/// The options as text, without `standardize` and the device, which do not affect the state.
fn described(options: &FitOptions) -> String {
    format!("{:?}", options.clone().standardize(false).device(Device::Cpu))
}

/// The name of the first option that differs between two descriptions.
fn first_difference(before: &str, now: &str) -> Option<String> {
    let equal = now.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
    if equal == now.len() && equal == before.len() {
        return None;
    }
    // The option starts after the last comma that is in no inner parentheses.
    let (mut depth, mut start) = (0_i32, 0);
    for (place, byte) in now.bytes().enumerate().take(equal) {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth -= 1,
            _ => {}
        }
        if matches!(byte, b'{' | b',') && depth == 1 {
            start = place + 1;
        }
    }
    let name = now[start..].split(':').next().unwrap_or_default().trim();
    Some(if name == "about_origin" { "centered" } else { name }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_differs_is_named() {
        let options = FitOptions::new;
        let difference = |now: FitOptions| first_difference(&described(&options()), &described(&now));
        assert_eq!(difference(options().standardize(true)), None);
        assert_eq!(difference(options().components(2)).as_deref(), Some("components"));
        assert_eq!(difference(options().block_rows(7)).as_deref(), Some("block_rows"));
        assert_eq!(difference(options().missing(crate::Missing::Skip)).as_deref(), Some("missing"));
        assert_eq!(difference(options().centered(false)).as_deref(), Some("centered"));
    }

    #[test]
    fn a_clock_that_could_overflow_is_refused() {
        let options = FitOptions::new().components(2);
        let mut stream = options.stream(3).expect("three features");
        stream.state.clock = u64::MAX;
        let error = EigenspaceStream::restore(&stream.checkpoint(""), &options).expect_err("no stream is so old");
        assert!(matches!(error, Error::Format(FormatError::CheckpointVersion)), "{error}");
    }

    #[test]
    fn another_file_and_another_version_are_different_errors() {
        let options = FitOptions::new().components(2);
        let error = |bytes: &[u8]| match EigenspaceStream::restore(bytes, &options).expect_err("not a checkpoint") {
            Error::Format(error) => error,
            other => panic!("{other}"),
        };
        assert_eq!(error(b"a,b\n1,2\n"), FormatError::NoCheckpoint);
        assert_eq!(error(b""), FormatError::NoCheckpoint);
        assert_eq!(error(b"eigenspace checkpoint 3\nabc"), FormatError::CheckpointVersion);
        assert_eq!(error(MAGIC), FormatError::Checksum);
    }
}
