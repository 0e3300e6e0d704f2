//! Streams on the stand-in, beside streams on the CPU with the same plan.

use std::sync::Arc;

use ndarray::{Array2, Axis};

use crate::device_error::DeviceError;
use crate::error::Error;
use crate::linalg::stand_in::StandIn;
use crate::model::truncation::Truncation;
use crate::rows::block::Block;
use crate::rows::missing::Missing;
use crate::stream::eigenspace_stream::EigenspaceStream;
use crate::stream::options::FitOptions;
use crate::stream::plan::Engine;

mod reads;
mod rows_on_card;

/// Rows with a decreasing spectrum and a mean far from zero.
fn rows(count: usize, features: usize, seed: u64) -> Array2<f64> {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let scores = Array2::from_shape_fn((count, 12), |(_, k)| random() * 8.0 / (k + 1) as f64);
    let directions = Array2::from_shape_fn((12, features), |_| random());
    scores.dot(&directions)
        + &Array2::from_shape_fn((count, features), |(_, j)| 0.01 * random() + (j % 7) as f64 * 100.0)
}

/// A stream on the CPU, and one with the same plan on the stand-in.
fn both(options: &FitOptions, features: usize) -> (EigenspaceStream, EigenspaceStream, Arc<StandIn>) {
    let card = Arc::new(StandIn::new());
    let cpu = options.stream(features).expect("valid options");
    let on_card = cpu.clone().on(Some(Arc::clone(&card) as Arc<_>));
    (cpu, on_card, card)
}

fn factor_options() -> FitOptions {
    FitOptions::new().components(6).max_rank(10).engine(Engine::Factor).block_rows(32)
}

fn assert_same_model(cpu: &EigenspaceStream, card: &EigenspaceStream) {
    let (cpu, card) = (cpu.model().expect("rows"), card.model().expect("rows"));
    assert_eq!(cpu.count(), card.count());
    assert_eq!(cpu.moments.mean(), card.moments.mean(), "the mean is the same to the bit");
    assert_eq!(cpu.moments.mean_low(), card.moments.mean_low());
    assert_eq!(cpu.moments.scatter(), card.moments.scatter(), "so is the scatter of each feature");
    let largest = cpu.singular_values()[0];
    for (one, other) in cpu.singular_values().iter().zip(card.singular_values()) {
        assert!((one - other).abs() <= 1e-12 * largest, "{one} and {other}");
    }
    let distance = crate::subspace_distance(cpu.components(), card.components()).expect("same features");
    assert!(distance < 1e-9, "{distance}");
    let (one, other) = (cpu.certificate(), card.certificate());
    assert!((one.lost() - other.lost()).abs() <= 1e-9 * largest * largest);
}

#[test]
fn a_stream_says_that_it_computes_on_a_card() {
    let (cpu, card, device) = both(&factor_options(), 60);
    assert_eq!(cpu.card_note(), None);
    let note = "computing on a stand-in: equal to the CPU up to rounding, for the same engine and rows per block";
    assert_eq!(card.card_note().as_deref(), Some(note));
    // Missing cells are filled on the CPU.
    let filled = factor_options().missing(Missing::Impute).stream(60).expect("valid options").on(Some(device));
    assert_eq!(filled.card_note(), None);
}

#[test]
fn any_division_into_blocks_gives_what_the_cpu_gives() {
    let data = rows(300, 60, 1);
    for block in [1, 7, 32, 45, 300] {
        let (mut cpu, mut card, _) = both(&factor_options(), 60);
        for rows in data.axis_chunks_iter(Axis(0), block) {
            cpu.update(rows).expect("finite");
            card.update(rows).expect("finite");
        }
        assert_same_model(&cpu, &card);
    }
}

#[test]
fn the_division_into_blocks_does_not_change_a_bit() {
    let data = rows(300, 60, 2);
    let bytes = |block: usize| {
        let (_, mut card, _) = both(&factor_options(), 60);
        data.axis_chunks_iter(Axis(0), block).for_each(|rows| card.update(rows).expect("finite"));
        card.model().expect("rows").to_bytes()
    };
    assert_eq!(bytes(1), bytes(300));
    assert_eq!(bytes(45), bytes(300));
}

#[test]
fn numbers_that_travel_as_f32_give_the_same_bytes() {
    let narrow = rows(300, 60, 10).mapv(|x| x as f32);
    let bytes = narrow.mapv(|x| (x.abs() % 200.0) as u8);
    for options in [factor_options(), FitOptions::new().components(6).engine(Engine::Scatter).block_rows(32)] {
        let model = |block: Block<'_>| {
            let (_, mut card, _) = both(&options, 60);
            card.update(block).expect("finite");
            card.model().expect("rows").to_bytes()
        };
        assert_eq!(model(Block::from(&narrow)), model(Block::from(&narrow.mapv(f64::from))));
        assert_eq!(model(Block::from(&bytes)), model(Block::from(&bytes.mapv(f64::from))));
        let transposed = narrow.t().as_standard_layout().into_owned();
        assert_eq!(model(Block::from(transposed.t())), model(Block::from(&narrow)), "rows that are not contiguous");
    }
    let mut bad = narrow;
    bad[[250, 7]] = f32::INFINITY;
    let (_, mut card, _) = both(&factor_options(), 60);
    let error = card.update(&bad).expect_err("a cell is infinite");
    assert!(matches!(error, Error::NonFinite { row: 250, column: 7, .. }), "{error}");
}

#[test]
fn weights_forgetting_sparse_rows_standardizing_and_frequent_directions() {
    let data = rows(200, 60, 3);
    let weights: Vec<f64> = (0..200).map(|i| 0.5 + (i % 4) as f64).collect();
    let cases = [
        factor_options(),
        factor_options().forgetting("half-life:80".parse().expect("a rule")),
        factor_options().standardize(true),
        factor_options().truncation(Truncation::FrequentDirections(10)),
        factor_options().centered(false),
        FitOptions::new().components(6).engine(Engine::Scatter).block_rows(32),
        FitOptions::new().components(0.9).engine(Engine::Factor).block_rows(32),
        // More rows than features in a factor.
        FitOptions::new().engine(Engine::Factor).block_rows(90),
    ];
    for options in cases {
        let (mut cpu, mut card, _) = both(&options, 60);
        for stream in [&mut cpu, &mut card] {
            stream.update(Block::from(&data).weighted(&weights)).expect("finite");
            stream.update(data.slice_axis(Axis(0), (..50).into())).expect("finite");
        }
        assert_same_model(&cpu, &card);
    }
}

#[test]
fn a_copy_and_a_checkpoint_continue_alike() {
    let data = rows(300, 60, 4);
    let (first, second) = data.view().split_at(Axis(0), 170);
    for options in [factor_options(), FitOptions::new().engine(Engine::Scatter).block_rows(32)] {
        let (_, mut card, _) = both(&options, 60);
        card.update(first).expect("finite");
        let mut copy = card.clone();
        let (restored, _) = EigenspaceStream::restore(&card.checkpoint(""), &options).expect("its own checkpoint");
        let mut restored = restored.on(Some(Arc::new(StandIn::new())));
        let mut bytes = Vec::new();
        for stream in [&mut card, &mut copy, &mut restored] {
            stream.update(second).expect("finite");
            bytes.push(stream.model().expect("rows").to_bytes());
        }
        assert_eq!(bytes[0], bytes[1]);
        assert_eq!(bytes[0], bytes[2]);
    }
}

#[test]
fn a_card_that_fails_at_any_operation_leaves_the_stream_as_it_was() {
    let data = rows(400, 60, 5);
    let (before, after) = data.view().split_at(Axis(0), 130);
    let gone = DeviceError::Failed { reason: "the card has fallen off the bus".into() };
    let full = DeviceError::OutOfMemory { needed: 1 << 40, free: 1 << 30 };
    for options in [factor_options(), FitOptions::new().components(6).engine(Engine::Scatter).block_rows(32)] {
        let mut failures = 0;
        for operation in 0..200 {
            let (mut cpu, mut card, device) = both(&options, 60);
            card.update(before).expect("finite");
            cpu.update(before).expect("finite");
            let checkpoint = card.checkpoint("");
            let error = if operation % 2 == 0 { &gone } else { &full };
            device.fail(operation, Some(error.clone()));
            match card.update(after) {
                Ok(()) => continue, // fewer operations than this
                Err(Error::Device(found)) => assert_eq!(found, *error),
                Err(other) => panic!("{other}"),
            }
            failures += 1;
            assert_eq!(card.count(), 130);
            assert_eq!(card.checkpoint(""), checkpoint, "operation {operation}");
            card.model().expect("reading needs no card");
            // The card is there again, and the update succeeds.
            device.fail(0, None);
            card.update(after).expect("finite");
            cpu.update(after).expect("finite");
            assert_same_model(&cpu, &card);
        }
        assert!(failures > 20, "only {failures} operations can fail");
    }
}

#[test]
fn rows_with_an_invalid_cell_are_rejected_as_a_whole() {
    let mut data = rows(200, 60, 6);
    data[[190, 3]] = f64::NAN;
    let (_, mut card, _) = both(&factor_options(), 60);
    card.update(rows(100, 60, 7).view()).expect("finite");
    let checkpoint = card.checkpoint("");
    let error = card.update(&data).expect_err("a cell is not a number");
    assert!(matches!(error, Error::NonFinite { row: 190, column: 3, .. }), "{error}");
    assert_eq!(card.checkpoint(""), checkpoint);
}

#[test]
fn an_eigenproblem_that_fails_its_check_is_solved_on_the_cpu() {
    let data = rows(200, 60, 8);
    let mut cpu = factor_options().stream(60).expect("valid options");
    let mut card = cpu.clone().on(Some(Arc::new(StandIn::with_wrong_vectors())));
    cpu.update(&data).expect("finite");
    card.update(&data).expect("finite");
    assert_same_model(&cpu, &card);
}

#[test]
fn sparse_rows_between_dense_ones() {
    use crate::rows::sparse::SparseRows;
    let data = rows(100, 60, 9);
    let (offsets, columns, values) = ([0, 2, 3], [1, 59, 7], [500.0, -3.0, 2.0]);
    let (mut cpu, mut card, _) = both(&factor_options(), 60);
    for stream in [&mut cpu, &mut card] {
        stream.update(&data).expect("finite");
        stream.update(SparseRows::new(60, &offsets, &columns, &values).expect("valid")).expect("finite");
        stream.update(&data).expect("finite");
    }
    assert_same_model(&cpu, &card);
}
