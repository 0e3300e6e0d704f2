//! Fields that only some models have.

use ndarray::{Array1, array};

use super::*;
use crate::model::moments::Moments;
use crate::model::weight::Weight;

#[test]
fn a_probability_of_failure_is_written_only_if_there_is_one() {
    let proven = EigenspaceModel::empty(2);
    assert!(parse(&proven.to_bytes()).is_ok_and(|(_, _, file)| file.tensor("failure_probability").is_err()));
    for (failure_probability, expected) in [(1e-12, 1e-12), (1.0, 1.0), (1.5, 1.0)] {
        let bound = proven.bound.clone().with_failure_probability(failure_probability);
        let bytes = EigenspaceModel { bound, ..proven.clone() }.to_bytes();
        let (read, _, file) = parse(&bytes).expect("a model");
        assert!(file.tensor("failure_probability").is_ok());
        assert_eq!(read.bound.failure_probability(), expected);
    }
}

#[test]
fn a_basis_is_read_if_it_is_orthonormal_up_to_the_tolerance() {
    let tilted = |tilt: f64| {
        let moments = Moments::empty(2).with_rows(4, Weight::of(&[4.0]), 4.0).with_scatter(array![2.0, 2.0]);
        let model = EigenspaceModel {
            moments,
            basis: Basis::trusted(array![[1.0, tilt], [0.0, 1.0]]),
            spectrum: Spectrum::sorted(Array1::ones(2)),
            ..EigenspaceModel::empty(2)
        };
        EigenspaceModel::from_bytes(&model.to_bytes())
    };
    assert!(tilted(0.0).is_ok());
    assert!(tilted(FILE_ORTHONORMALITY_TOLERANCE).is_ok());
    let error = tilted(1.5 * FILE_ORTHONORMALITY_TOLERANCE).expect_err("not orthonormal");
    assert!(matches!(error, Error::Format(FormatError::NotOrthonormal { .. })), "{error:?}");
}
