//! A stream put aside and taken up again, to the last bit.
//!
//! ```text
//! restore(checkpoint(stream)) goes on exactly as the stream would have
//! ```
//!
//! A checkpoint is the whole state (factor, raw rows, scatter, clocks) as plain little-endian numbers, the
//! options it was made with, and a note of the caller's, under a SHA-256. It is meant for the program that
//! wrote it; models are what is kept and exchanged. The state is described once, in `tape`, for both
//! directions.

use ndarray::Array2;
use sha2::{Digest, Sha256};

use crate::io::error::{Error, FormatError};
use crate::model::bound::Bound;
use crate::model::moments::Moments;
use crate::model::scatter::Scatter;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::factor::{Factor, Note};
use crate::stream::options::FitOptions;

/// How a checkpoint begins.
const MAGIC: &[u8] = b"eigenspace checkpoint 2\n";
/// Bytes of a SHA-256.
const SUM: usize = 32;

impl EigenspaceStream {
    /// The stream as it stands, with a note of the caller's, for example what has been read so far.
    pub fn checkpoint(&self, note: &str) -> Vec<u8> {
        let mut tape = Tape::Write(Vec::new());
        let (mut note, mut options) = (note.to_owned(), format!("{:?}", self.options().clone().standardize(false)));
        let mut copy = self.clone();
        // Writing visits the fields and changes nothing, so it cannot fail.
        let _ = tape.text(&mut note).and_then(|()| tape.text(&mut options)).and_then(|()| state(&mut tape, &mut copy));
        let Tape::Write(bytes) = tape else { return Vec::new() };
        [MAGIC, &Sha256::digest(&bytes), &bytes].concat()
    }

    /// The stream that a checkpoint holds, and the note. The options must be those it was made with.
    pub fn restore(bytes: &[u8], options: &FitOptions) -> Result<(Self, String), Error> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(FormatError::NoCheckpoint)?;
        let (sum, rest) = rest.split_at_checked(SUM).ok_or(FormatError::NoCheckpoint)?;
        if !cfg!(fuzzing) && Sha256::digest(rest)[..] != *sum {
            return Err(FormatError::Checksum.into());
        }
        let mut tape = Tape::Read(rest);
        let (mut note, mut made_with) = (String::new(), String::new());
        tape.text(&mut note)?;
        tape.text(&mut made_with)?;
        // How the model will be looked at is no part of the state.
        if made_with != format!("{:?}", options.clone().standardize(false)) {
            return Err(Error::OptionsDiffer);
        }
        // The width comes first, so that the stream can be made.
        let mut peek = tape.clone();
        let mut features = 0;
        peek.length(&mut features, 16)?;
        let mut stream = options.stream(features)?;
        state(&mut tape, &mut stream)?;
        stream.follow_engine();
        match tape {
            Tape::Read([]) => Ok((stream, note)),
            _ => Err(FormatError::NoCheckpoint.into()),
        }
    }
}

/// Numbers on their way out of a state, or back into one.
#[derive(Clone)]
enum Tape<'a> {
    Write(Vec<u8>),
    Read(&'a [u8]),
}

impl Tape<'_> {
    fn bytes(&mut self, value: &mut [u8]) -> Result<(), FormatError> {
        match self {
            Self::Write(bytes) => bytes.extend_from_slice(value),
            Self::Read(bytes) => {
                let (head, rest) = bytes.split_at_checked(value.len()).ok_or(FormatError::NoCheckpoint)?;
                value.copy_from_slice(head);
                *bytes = rest;
            }
        }
        Ok(())
    }

    fn integer(&mut self, value: &mut u64) -> Result<(), FormatError> {
        let mut bytes = value.to_le_bytes();
        self.bytes(&mut bytes)?;
        *value = u64::from_le_bytes(bytes);
        Ok(())
    }

    fn size(&mut self, value: &mut usize) -> Result<(), FormatError> {
        let mut wide = *value as u64;
        self.integer(&mut wide)?;
        *value = usize::try_from(wide).map_err(|_| FormatError::NoCheckpoint)?;
        Ok(())
    }

    /// The length of a list of elements that take at least `width` bytes each.
    fn length(&mut self, value: &mut usize, width: usize) -> Result<(), FormatError> {
        self.size(value)?;
        match self {
            Self::Read(bytes) if value.checked_mul(width).is_none_or(|needed| needed > bytes.len()) => {
                Err(FormatError::NoCheckpoint)
            }
            _ => Ok(()),
        }
    }

    fn flag(&mut self, value: &mut bool) -> Result<(), FormatError> {
        let mut wide = u64::from(*value);
        self.integer(&mut wide)?;
        *value = wide != 0;
        Ok(())
    }

    fn number(&mut self, value: &mut f64) -> Result<(), FormatError> {
        let mut bytes = value.to_le_bytes();
        self.bytes(&mut bytes)?;
        *value = f64::from_le_bytes(bytes);
        Ok(())
    }

    fn text(&mut self, value: &mut String) -> Result<(), FormatError> {
        let mut length = value.len();
        self.length(&mut length, 1)?;
        let mut bytes = std::mem::take(value).into_bytes();
        bytes.resize(length, 0);
        self.bytes(&mut bytes)?;
        *value = String::from_utf8(bytes).map_err(|_| FormatError::NoCheckpoint)?;
        Ok(())
    }

    fn numbers<'v>(&mut self, values: impl Iterator<Item = &'v mut f64>) -> Result<(), FormatError> {
        values.into_iter().try_for_each(|value| self.number(value))
    }

    fn list<T: Clone + Default>(
        &mut self,
        values: &mut Vec<T>,
        each: impl Fn(&mut Self, &mut T) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let mut length = values.len();
        self.length(&mut length, 8)?;
        values.resize(length, T::default());
        values.iter_mut().try_for_each(|value| each(self, value))
    }

    /// The first `rows` rows of a matrix.
    fn matrix(&mut self, values: &mut Array2<f64>, rows: usize, columns: usize) -> Result<(), FormatError> {
        let expected = rows.checked_mul(columns).ok_or(FormatError::NoCheckpoint)?;
        let mut cells = expected;
        self.length(&mut cells, size_of::<f64>())?;
        if cells != expected {
            return Err(FormatError::NoCheckpoint);
        }
        if let Self::Read(_) = self {
            *values = Array2::zeros((rows, columns));
        }
        values.iter_mut().take(cells).try_for_each(|value| self.number(value))
    }
}

fn state(tape: &mut Tape<'_>, stream: &mut EigenspaceStream) -> Result<(), FormatError> {
    let mut features = stream.features();
    tape.size(&mut features)?;
    tape.integer(&mut stream.clock)?;
    tape.integer(&mut stream.settled)?;
    tape.list(&mut stream.unseen, Tape::flag)?;
    if !stream.unseen.is_empty() && stream.unseen.len() != features {
        return Err(FormatError::NoCheckpoint);
    }
    factor_state(tape, &mut stream.factor)?;
    let mut has_scatter = stream.scatter.is_some();
    tape.flag(&mut has_scatter)?;
    if has_scatter {
        crate::stream::plan::check_scatter(features).map_err(|_| FormatError::NoCheckpoint)?;
        let nothing = stream.options.nothing(features);
        let scatter = stream.scatter.get_or_insert_with(|| Scatter::empty(nothing));
        moments_state(tape, &mut scatter.moments)?;
        bound_state(tape, &mut scatter.bound)?;
        tape.matrix(&mut scatter.matrix, features, features)?;
        tape.matrix(&mut scatter.low, features, features)?;
    }
    let youngest = youngest(&stream.factor);
    if stream.settled.max(youngest) <= stream.clock { Ok(()) } else { Err(FormatError::NoCheckpoint) }
}

fn youngest(factor: &Factor) -> u64 {
    factor.notes.iter().map(|note| note.birth).max().unwrap_or(0)
}

fn factor_state(tape: &mut Tape<'_>, factor: &mut Factor) -> Result<(), FormatError> {
    moments_state(tape, &mut factor.moments)?;
    bound_state(tape, &mut factor.bound)?;
    tape.size(&mut factor.kept)?;
    tape.integer(&mut factor.compressions)?;
    tape.size(&mut factor.rows)?;
    let features = factor.moments.features();
    tape.matrix(&mut factor.data, factor.rows, features)?;
    tape.list(&mut factor.sparse.offsets, Tape::size)?;
    tape.list(&mut factor.sparse.columns, Tape::size)?;
    tape.list(&mut factor.sparse.values, Tape::number)?;
    tape.list(&mut factor.notes, |tape, note: &mut Note| {
        tape.number(&mut note.weight)?;
        tape.integer(&mut note.birth)
    })?;
    let sparse = &factor.sparse;
    let fits = factor.kept <= factor.rows
        && factor.pending() == factor.notes.len()
        && factor.moments.count.checked_add(factor.notes.len() as u64).is_some()
        && sparse.columns.len() == sparse.values.len()
        && sparse.columns.iter().all(|&column| column < features)
        && sparse.offsets.is_sorted()
        && sparse.offsets.last().is_none_or(|&last| last <= sparse.values.len());
    if fits { Ok(()) } else { Err(FormatError::NoCheckpoint) }
}

fn moments_state(tape: &mut Tape<'_>, moments: &mut Moments) -> Result<(), FormatError> {
    tape.integer(&mut moments.count)?;
    tape.integer(&mut moments.imputed)?;
    tape.flag(&mut moments.about_origin)?;
    tape.number(&mut moments.weight)?;
    tape.number(&mut moments.squared_weight)?;
    tape.numbers(moments.mean.iter_mut())?;
    tape.numbers(moments.mean_low.iter_mut())?;
    tape.numbers(moments.scatter.iter_mut())
}

fn bound_state(tape: &mut Tape<'_>, bound: &mut Bound) -> Result<(), FormatError> {
    tape.number(&mut bound.noise)?;
    let Bound { lost, surplus, feature_noise, mean_noise, scatter_noise, .. } = bound;
    [lost, surplus, feature_noise, mean_noise, scatter_noise]
        .into_iter()
        .try_for_each(|limits| tape.numbers(limits.iter_mut()))
}
