//! Principal angles, small and large.

use eigenspace::{EigenspaceModel, principal_angles, subspace_distance};
use ndarray::{Array2, array};

use crate::support::{Random, gram_schmidt};

#[test]
fn angles_of_known_planes_are_found_from_1e_minus_15_to_a_right_angle() {
    for angle in [1e-15_f64, 1e-12, 1e-8, 1e-4, 0.3, 0.785, 1.2, 1.57, std::f64::consts::FRAC_PI_2] {
        let flat = array![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
        let turned = array![[angle.cos(), 0.0, angle.sin(), 0.0], [0.0, 1.0, 0.0, 0.0]];
        let found = principal_angles(flat.view(), turned.view()).unwrap();
        assert!(found[0].abs() <= 1e-15);
        assert!((found[1] - angle).abs() <= 1e-15 * (1.0 + angle), "{angle}: {}", found[1]);
        let distance = subspace_distance(flat.view(), turned.view()).unwrap();
        assert!((distance - angle.sin()).abs() <= 2e-15, "{angle}: {distance}");
    }
}

#[test]
fn any_rows_that_span_the_same_space_have_no_angle() {
    let mut random = Random::new(1);
    let basis = random.matrix(4, 30);
    let mixed = random.matrix(9, 4).dot(&basis);
    assert!(subspace_distance(basis.view(), mixed.view()).unwrap() < 1e-12);
    let rotated = gram_schmidt(random.matrix(4, 4)).dot(&basis);
    assert!(subspace_distance(rotated.view(), basis.view()).unwrap() < 1e-13);
}

#[test]
fn a_smaller_space_inside_a_larger_one_has_no_angle() {
    let mut random = Random::new(2);
    let large = random.matrix(6, 20);
    let small = random.matrix(2, 6).dot(&large);
    let angles = principal_angles(small.view(), large.view()).unwrap();
    assert_eq!(angles.len(), 2);
    assert!(angles.iter().all(|a| *a < 1e-13));
}

#[test]
fn models_are_compared_by_what_they_show() {
    let rows = Random::new(3).matrix(50, 10);
    let model = EigenspaceModel::fit(rows.view()).unwrap();
    let (three, five) = (model.with_components(3).unwrap(), model.with_components(5).unwrap());
    assert!(three.subspace_distance(&five).unwrap() < 1e-14);
    assert_eq!(three.angles(&five).unwrap().len(), 3);
    let other = EigenspaceModel::fit(Random::new(4).matrix(50, 10).view()).unwrap().with_components(3).unwrap();
    assert!(three.subspace_distance(&other).unwrap() > 0.1);
    let nothing = EigenspaceModel::empty(10);
    assert_eq!(nothing.subspace_distance(&model).unwrap(), 0.0);
}

#[test]
fn bases_of_different_width_are_refused() {
    let (a, b) = (Array2::<f64>::eye(3), Array2::<f64>::eye(4));
    let error = principal_angles(a.view(), b.view()).unwrap_err();
    assert_eq!(error.to_string(), "the numbers of features differ: 3 and 4");
}

#[test]
fn the_first_directions_of_two_models_are_compared() {
    let mut random = Random::new(6);
    let [a, b] = [5, 3].map(|rank| {
        let rows = random.with_spectrum(40, 8, &[9.0, 7.0, 5.0, 3.0, 1.0][..rank]);
        EigenspaceModel::fit(&rows).unwrap().with_components(1).unwrap()
    });
    for k in 1..=6 {
        let first = |model: &EigenspaceModel| model.with_components(k.min(model.rank())).unwrap();
        let expected = principal_angles(first(&a).components(), first(&b).components()).unwrap();
        assert_eq!(a.angles_of_first(&b, k).unwrap(), expected);
    }
    assert_eq!(a.angles_of_first(&b, 1).unwrap(), a.angles(&b).unwrap());
    assert_eq!(a.angles_of_first(&b, 0).unwrap().len(), 0);
}
