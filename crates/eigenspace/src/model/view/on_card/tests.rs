//! Views on the stand-in, beside views on the CPU.

use std::sync::Arc;

use ndarray::{Array2, Axis};

use super::ViewOnCard;
use crate::device_error::DeviceError;
use crate::error::Error;
use crate::linalg::stand_in::StandIn;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::view::View;
use crate::rows::block::Block;

fn rows(count: usize, features: usize) -> Array2<f64> {
    Array2::from_shape_fn((count, features), |(i, j)| ((i * 31 + j * j * 7) % 97) as f64 + 500.0 * (j % 3) as f64)
}

/// A view on the CPU, and what computes the same on the stand-in.
fn both() -> (View, ViewOnCard, Arc<StandIn>) {
    let model = EigenspaceModel::fit(&rows(80, 40)).expect("finite");
    let card = Arc::new(StandIn::new());
    let view = View::raw(model).with_components(9).expect("a number");
    (view, ViewOnCard::new(Arc::clone(&card) as Arc<_>), card)
}

fn assert_close(one: &Array2<f64>, other: &Array2<f64>) {
    let largest = one.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    assert!(one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-13 * largest.max(1.0)));
}

#[test]
fn scores_and_rows_are_those_of_the_cpu() {
    let (view, on_card, card) = both();
    let data = rows(50, 40);
    for view in [view.clone(), view.clone().standardized(true).expect("rows"), view.at_least(12)] {
        let (on_card, basis) = (on_card.clone().emptied(), view.basis_of_rows());
        let onto = view.onto(basis.view(), 50);
        let scores = view.project(&data).expect("finite");
        assert_close(&scores, &on_card.scores(&onto, Block::from(&data)).expect("finite"));
        assert_close(&scores, &on_card.scores_from_card(&onto, card.put(&data)).expect("finite"));
        let narrow: Array2<f32> = on_card.scores(&onto, Block::from(&data.mapv(|x| x as f32))).expect("finite");
        assert_eq!(narrow, on_card.scores::<f64>(&onto, Block::from(&data)).expect("finite").mapv(|x| x as f32));
        let back = view.reconstruct(&scores).expect("finite");
        let mut found = Array2::zeros((50, 40));
        if view.scales().is_none() {
            let mean = view.raw_model().mean();
            on_card.combinations(scores.view(), mean, basis.view(), found.view_mut()).expect("finite");
            assert_close(&back, &found);
        }
    }
}

#[test]
fn invalid_cells_and_widths_are_named_as_on_the_cpu() {
    let (view, on_card, card) = both();
    let mut data = rows(50, 40);
    let basis = view.basis_of_rows();
    let onto = view.onto(basis.view(), 50);
    data[[30, 5]] = f64::NAN;
    let bad = |error: Error| matches!(error, Error::NonFinite { row: 30, column: 5, .. });
    assert!(bad(on_card.scores::<f64>(&onto, Block::from(&data)).expect_err("not a number")));
    assert!(bad(on_card.scores_from_card(&onto, card.put(&data)).expect_err("not a number")));
    let narrow = data.slice_axis(Axis(1), (..39).into()).to_owned();
    let wrong = |error: Error| matches!(error, Error::WidthMismatch { expected: 40, found: 39 });
    assert!(wrong(on_card.scores::<f64>(&onto, Block::from(&narrow)).expect_err("a column is missing")));
    assert!(wrong(on_card.scores_from_card(&onto, card.put(&narrow)).expect_err("a column is missing")));
}

#[test]
fn if_the_card_fails_the_cpu_computes_them() {
    let model = EigenspaceModel::fit(&rows(90, 1 << 14)).expect("finite");
    let (card, data) = (Arc::new(StandIn::new()), rows(256, 1 << 14));
    let cpu = View::raw(model);
    let mut view = cpu.clone();
    view.on_card = Some(ViewOnCard::new(Arc::clone(&card) as Arc<_>));
    let scores = cpu.project(&data).expect("finite");
    assert_close(&scores, &view.project(&data).expect("finite"));
    let used = card.operations();
    let mut back = Array2::zeros(data.dim());
    view.reconstruct_into(scores.view(), back.view_mut()).expect("finite");
    assert_close(&cpu.reconstruct(&scores).expect("finite"), &back);
    let on_card = view.on_card.as_ref().expect("a card");
    let pays = (on_card.pays(256, 1 << 14, 90), on_card.pays_for_rows(256, 1 << 14, 90));
    assert_eq!((used > 0, card.operations() > used), pays, "the card is used if it pays");
    card.fail(0, Some(DeviceError::OutOfMemory { needed: 1, free: 0 }));
    assert_eq!(scores, view.project(&data).expect("finite"));
    view.reconstruct_into(scores.view(), back.view_mut()).expect("finite");
    assert_eq!(cpu.reconstruct(&scores).expect("finite"), back);
}
