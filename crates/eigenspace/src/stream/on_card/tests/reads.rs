//! Reads of a scatter on the stand-in, which are large enough to be computed there.

use std::sync::Arc;

use super::{assert_same_model, both, rows};
use crate::device_error::DeviceError;
use crate::linalg::rows_of;
use crate::linalg::stand_in::StandIn;
use crate::model::angles::subspace_distance;
use crate::model::metadata::Metadata;
use crate::rows::block::Block;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::options::FitOptions;
use crate::stream::plan::Engine;

const FEATURES: usize = 530;

fn options() -> FitOptions {
    FitOptions::new().components(6).engine(Engine::Scatter).block_rows(64)
}

fn distance_of_previews(cpu: &EigenspaceStream, card: &EigenspaceStream) -> f64 {
    let (cpu, card) = (cpu.preview().expect("rows"), card.preview().expect("rows"));
    assert_eq!(cpu.n_components(), card.n_components());
    subspace_distance(cpu.components(), card.components()).expect("same features")
}

#[test]
fn a_read_on_the_card_gives_what_the_cpu_gives_and_the_same_bytes_twice() {
    let data = rows(200, FEATURES, 21);
    let weights: Vec<f64> = (0..200).map(|i| 0.5 + (i % 3) as f64).collect();
    // 8 of 200 rows are pending, 64 of 192 rows, and 1 of 65.
    for (count, weighted) in [(200, false), (192, false), (65, true)] {
        let (mut cpu, mut card, device) = both(&options(), FEATURES);
        let some = rows_of(data.view(), 0..count);
        for stream in [&mut cpu, &mut card] {
            let block = Block::from(some);
            stream.update(if weighted { block.weighted(&weights[..count]) } else { block }).expect("finite");
        }
        // A copy has nothing on the card, so everything is sent.
        let copy = card.clone();
        let before = device.operations();
        let bytes = card.model().expect("rows").to_bytes();
        assert!(device.operations() > before + 5, "the card has computed");
        assert_eq!(bytes, copy.model().expect("rows").to_bytes());
        assert_same_model(&cpu, &card);
        assert!(distance_of_previews(&cpu, &copy) < 1e-9);
    }
}

#[test]
fn a_read_does_not_change_the_stream() {
    let data = rows(300, FEATURES, 22);
    let (first, second) = data.view().split_at(ndarray::Axis(0), 150);
    let (_, mut read, _) = both(&options(), FEATURES);
    let (_, mut unread, _) = both(&options(), FEATURES);
    for stream in [&mut read, &mut unread] {
        stream.update(first).expect("finite");
    }
    let checkpoint = read.checkpoint("");
    read.preview().expect("rows");
    read.model().expect("rows");
    assert_eq!(read.checkpoint(""), checkpoint);
    for stream in [&mut read, &mut unread] {
        stream.update(second).expect("finite");
    }
    assert_eq!(read.model().expect("rows").to_bytes(), unread.model().expect("rows").to_bytes());
}

#[test]
fn constant_features_and_different_scales_are_decomposed_on_the_host() {
    let mut constant = rows(150, FEATURES, 23);
    constant.column_mut(3).fill(7.0);
    let mut scaled = rows(150, FEATURES, 24);
    scaled.column_mut(5).mapv_inplace(|x| x * 1e-6);
    for data in [constant, scaled] {
        let (mut cpu, mut card, _) = both(&options(), FEATURES);
        cpu.update(&data).expect("finite");
        card.update(&data).expect("finite");
        assert_same_model(&cpu, &card);
    }
}

#[test]
fn a_card_that_fails_during_a_read_leaves_it_to_the_cpu() {
    let data = rows(150, FEATURES, 25);
    let (mut cpu, mut card, device) = both(&options(), FEATURES);
    cpu.update(&data).expect("finite");
    card.update(&data).expect("finite");
    let mut read = 0;
    for operation in 0..60 {
        let before = device.operations();
        device.fail(operation, Some(DeviceError::OutOfMemory { needed: 1 << 40, free: 1 << 30 }));
        // Without the cache of reads.
        card = card.with_metadata(Metadata::new()).expect("no names");
        let model = card.model().expect("a read needs no card");
        assert_eq!(model.mean(), cpu.model().expect("rows").mean());
        if device.operations() - before <= operation {
            assert_same_model(&cpu, &card);
            break;
        }
        read += 1;
    }
    assert!((10..50).contains(&read), "{read} operations can fail");
}

#[test]
fn eigenvectors_that_fail_their_check_are_computed_on_the_cpu() {
    let data = rows(150, FEATURES, 26);
    let mut cpu = options().stream(FEATURES).expect("valid options");
    let mut card = cpu.clone().on(Some(Arc::new(StandIn::with_wrong_vectors())));
    cpu.update(&data).expect("finite");
    card.update(&data).expect("finite");
    assert_same_model(&cpu, &card);
}
