//! Rows that another library has put on the card, and rows that are only there until they are
//! compressed.

use std::sync::Arc;

use ndarray::{Array2, Axis};

use super::{assert_same_model, both, factor_options, rows};
use crate::device_error::DeviceError;
use crate::error::Error;
use crate::linalg::stand_in::StandIn;
use crate::stream::options::FitOptions;
use crate::stream::plan::Engine;

#[test]
fn rows_on_the_card_give_what_rows_of_the_host_give() {
    let data = rows(300, 60, 20);
    for options in [factor_options(), FitOptions::new().components(6).engine(Engine::Scatter).block_rows(32)] {
        for block in [7, 32, 45, 300] {
            let (mut cpu, mut on_card, card) = both(&options, 60);
            for rows in data.axis_chunks_iter(Axis(0), block) {
                cpu.update(rows).expect("finite");
                on_card.update_from_card(card.put(&rows.to_owned())).expect("finite");
            }
            assert_same_model(&cpu, &on_card);
        }
    }
}

#[test]
fn a_block_of_the_card_is_compressed_at_once_and_later_results_are_the_same() {
    let data = rows(42 + 4 * 32 + 5, 60, 21);
    let (mut host, mut on_card, card) = both(&factor_options(), 60);
    host.on_card = on_card.clone().on_card;
    let mut from = 0;
    for count in [42, 32, 64, 32] {
        let part = data.slice_axis(Axis(0), (from..from + count).into()).to_owned();
        host.update(&part).expect("finite");
        on_card.update_from_card(card.put(&part)).expect("finite");
        from += count;
        // The first rows are exact until the next one arrives; later blocks are never kept.
        assert_eq!(on_card.state.buffer.pending(), if from == 42 { 42 } else { 0 });
        assert!(on_card.state.buffer.all().iter().all(|x| x.is_finite()), "the host has everything");
        assert_eq!(on_card.clone().model().expect("rows").count(), from as u64);
    }
    let last = data.slice_axis(Axis(0), (from..).into());
    host.update(last).expect("finite");
    on_card.update(last).expect("finite");
    assert_eq!(host.model().expect("rows").to_bytes(), on_card.model().expect("rows").to_bytes());
}

#[test]
fn a_failure_at_any_operation_leaves_the_stream_as_it_was() {
    let data = rows(42 + 96, 60, 22);
    let (first, second) = data.view().split_at(Axis(0), 50);
    let second = second.to_owned();
    let mut failures = 0;
    for after in 0.. {
        let (_, mut stream, card) = both(&factor_options(), 60);
        stream.update(first).expect("finite");
        let (before, theirs) = (stream.checkpoint(""), card.put(&second));
        card.fail(after, Some(DeviceError::OutOfMemory { needed: 1, free: 0 }));
        let result = stream.update_from_card(theirs);
        card.fail(0, None);
        if result.is_ok() {
            break;
        }
        failures += 1;
        assert_eq!(stream.checkpoint(""), before);
        stream.update_from_card(theirs).expect("repaired");
    }
    assert!(failures > 10, "{failures}");
}

#[test]
fn rows_that_are_only_on_the_card_return_if_an_eigenproblem_fails_its_check() {
    let data = rows(300, 60, 23);
    let mut cpu = factor_options().stream(60).expect("valid options");
    let card = Arc::new(StandIn::with_wrong_vectors());
    let mut on_card = cpu.clone().on(Some(Arc::clone(&card) as Arc<_>));
    let mut from_host = on_card.clone();
    cpu.update(&data).expect("finite");
    on_card.update_from_card(card.put(&data)).expect("finite");
    from_host.update(&data).expect("finite");
    assert_eq!(cpu.model().expect("rows").to_bytes(), on_card.model().expect("rows").to_bytes());
    assert_eq!(cpu.model().expect("rows").to_bytes(), from_host.model().expect("rows").to_bytes());
}

#[test]
fn an_invalid_cell_is_named_although_its_row_is_only_on_the_card() {
    for place in [0, 100, 250, 299] {
        let mut data: Array2<f64> = rows(300, 60, 24);
        data[[place, 7]] = f64::NAN;
        let (_, mut stream, card) = both(&factor_options(), 60);
        let error = stream.update_from_card(card.put(&data)).expect_err("a cell is not a number");
        assert!(matches!(error, Error::NonFinite { row, column: 7, .. } if row == place), "{error}");
        let error = stream.update(&data).expect_err("a cell is not a number");
        assert!(matches!(error, Error::NonFinite { row, column: 7, .. } if row == place), "{error}");
    }
}
