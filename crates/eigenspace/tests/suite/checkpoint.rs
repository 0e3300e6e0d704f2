//! Streams that are saved and restored.

use eigenspace::{
    EigenspaceModel, EigenspaceStream, Engine, FitOptions, Forgetting, Missing, SparseRows, Truncation, io,
};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

use crate::support::{self, Random};

/// Options that reach every kind of state with few rows.
fn options() -> Vec<FitOptions> {
    let base = FitOptions::new().components(2);
    let factor = base.clone().engine(Engine::Factor);
    vec![
        FitOptions::new(),
        base.clone().engine(Engine::Scatter).block_rows(3).forgetting(Forgetting::HalfLife(5.0)),
        factor.clone().max_rank(4).block_rows(3),
        factor.clone().max_rank(4).block_rows(3).forgetting(Forgetting::PerRow(0.9)).missing(Missing::Impute),
        factor.clone().truncation(Truncation::FrequentDirections(5)).block_rows(4),
        factor.max_rank(3).block_rows(4).centered(false),
    ]
}

fn again(stream: &EigenspaceStream, options: &FitOptions) -> EigenspaceStream {
    let (restored, note) = EigenspaceStream::restore(&stream.checkpoint("row 7 of …"), options).unwrap();
    assert_eq!(note, "row 7 of …");
    restored
}

proptest! {
    #![proptest_config(support::cases(32))]

    #[test]
    fn a_stream_put_aside_anywhere_ends_with_the_same_bytes(
        seed in 0u64.., n in 1usize..50, d in 1usize..10, at in 0usize..50, narrow: bool, weighted: bool,
    ) {
        let mut random = Random::new(seed);
        let rows = random.matrix(n, d);
        let weights: Vec<f64> = (0..n).map(|_| 0.1 + random.uniform()).collect();
        let single = rows.mapv(|x| x as f32);
        let at = at.min(n);
        let feed = |stream: &mut EigenspaceStream, range: std::ops::Range<usize>| {
            for i in range {
                let row = (i..=i).into();
                let (row, single) = (rows.slice_axis(Axis(0), row), single.slice_axis(Axis(0), row));
                let weight = &weights[i..=i];
                match (narrow, weighted) {
                    (true, true) => stream.update(eigenspace::Block::from(single).weighted(weight)),
                    (true, false) => stream.update(single),
                    (false, true) => stream.update(eigenspace::Block::from(row).weighted(weight)),
                    (false, false) => stream.update(row),
                }.unwrap();
            }
        };
        for options in options() {
            let mut straight = options.stream(d).unwrap();
            feed(&mut straight, 0..n);
            let mut first = options.stream(d).unwrap();
            feed(&mut first, 0..at);
            let mut second = again(&first, &options);
            prop_assert_eq!(second.count(), first.count());
            feed(&mut second, at..n);
            prop_assert_eq!(second.model().unwrap().to_bytes(), straight.model().unwrap().to_bytes(), "{:?}", options);
        }
    }
}

#[test]
fn waiting_sparse_rows_are_put_aside_too() {
    let options = FitOptions::new().components(2).engine(Engine::Factor).max_rank(4).block_rows(3);
    let (offsets, indices, values) = ([0, 2, 3, 5], [0, 4, 2, 1, 3], [1.0, 2.0, -1.0, 4.0, 0.5]);
    let mut stream = options.stream(6).unwrap();
    for _ in 0..3 {
        let rows = SparseRows::new(6, &offsets, &indices, &values).unwrap();
        let mut restored = again(&stream, &options);
        stream.update(rows).unwrap();
        restored.update(rows).unwrap();
        assert_eq!(restored.model().unwrap(), stream.model().unwrap());
        assert_eq!(again(&stream, &options).model().unwrap(), stream.model().unwrap());
    }
}

#[test]
fn a_checkpoint_under_other_options_is_refused() {
    let options = FitOptions::new().components(2);
    let bytes = options.stream(3).unwrap().checkpoint("");
    let error = EigenspaceStream::restore(&bytes, &options.clone().components(3)).unwrap_err();
    assert!(matches!(error, io::Error::OptionsDiffer { .. }), "{error}");
    assert!(error.hint().unwrap().contains("options of the interrupted fit"));
}

#[test]
fn no_broken_checkpoint_is_taken_up() {
    let options = FitOptions::new().components(2).engine(Engine::Factor).max_rank(3).block_rows(2);
    let mut stream = options.stream(3).unwrap();
    stream.update(&Random::new(1).matrix(7, 3)).unwrap();
    let bytes = stream.checkpoint("note");
    for length in 0..bytes.len() {
        assert!(EigenspaceStream::restore(&bytes[..length], &options).is_err(), "{length} bytes");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(EigenspaceStream::restore(&flipped, &options).is_err(), "bit {bit}");
    }
    assert!(EigenspaceStream::restore(&[&bytes[..], &[0]].concat(), &options).is_err());
    assert!(EigenspaceStream::restore(&EigenspaceModel::empty(3).to_bytes(), &options).is_err());
}

#[test]
fn a_forged_checkpoint_with_a_right_checksum_neither_panics_nor_allocates() {
    use sha2::{Digest, Sha256};
    let options = FitOptions::new().components(2).engine(Engine::Factor).max_rank(3).block_rows(2);
    let mut stream = options.stream(3).unwrap();
    stream.update(&Array2::from_elem((5, 3), 1.5)).unwrap();
    let bytes = stream.checkpoint("");
    let head = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let body = &bytes[head + 32..];
    let forge = |body: &[u8]| {
        let forged = [&bytes[..head], &Sha256::digest(body), body].concat();
        let _ = EigenspaceStream::restore(&forged, &options)
            .map(|(stream, _)| stream.model().map(|model| model.to_bytes()));
    };
    for start in 0..body.len() - 7 {
        for value in [0, 1, 2, 7, u64::MAX, u64::MAX / 8, 1 << 40] {
            let mut other = body.to_vec();
            other[start..start + 8].copy_from_slice(&value.to_le_bytes());
            forge(&other);
        }
    }
}
