//! The most likely number of components, by Minka's evidence.
//!
//! | symbol | in the code | |
//! |---|---|---|
//! | λ | `variances` | all D of them, largest first, relative to the largest |
//! | n | `rows` | weight of the rows; for reliability weights w² / Σw², how many equal weights tell as much |
//! | v | `noise` | average of the variances beyond the first k |
//!
//! Laplace's method gives, up to a number that is the same for all k,
//!
//! ```text
//! log p(D | k) ≈ log p(U) − n/2 Σ_{i≤k} log λ_i − n (D−k)/2 log v + (m+k)/2 log 2π − 1/2 log |A| − k/2 log n
//! log p(U) = −k log 2 + Σ_{i≤k} log Γ(d_i) − d_i log π,    d_i = (D−i+1)/2,    m = Dk − k(k+1)/2
//! log |A| = Σ_{i≤k} Σ_{j>i} log( (λ_i − λ_j) (1/λ'_j − 1/λ'_i) n ),    λ' = λ up to k, then v
//! ```
//!
//! The sums over pairs are kept from one k to the next, so evaluating all k costs D² instead of D³.
//! After Minka, *Automatic choice of dimensionality for PCA*, NIPS 13, 598-604, 2000.

use std::f64::consts::{LN_2, PI};

use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::weight::WeightKind;

/// Variances below this share of the largest are rounding.
const SMALLEST_VARIANCE: f64 = 1e-15;

/// The number of components with the largest evidence: at least 1, and fewer than the features.
///
/// It needs a model of at least as many rows as features that has all directions.
pub fn likeliest_components(model: &EigenspaceModel) -> usize {
    let evidence = log_evidence(model);
    // The first of several that are equal.
    let best = (0..evidence.len()).reduce(|best, k| if evidence[k] > evidence[best] { k } else { best });
    best.map_or(1, |best| best + 1)
}

/// The log evidence of 1 to D − 1 components, each smaller by the same number. Empty if the rows do
/// not vary, or have one feature.
pub fn log_evidence(model: &EigenspaceModel) -> Vec<f64> {
    let singular_values = model.all_singular_values();
    let (largest, rows) = (singular_values.first().copied().unwrap_or(0.0), equal_rows(model));
    if model.features() < 2 || largest <= 0.0 || rows <= 1.0 {
        return Vec::new();
    }
    let mut variances: Vec<f64> = singular_values.iter().map(|s| (s / largest).powi(2)).collect();
    variances.resize(model.features(), 0.0);
    evidence_of(&variances, rows)
}

/// The number of rows of weight 1 that tell as much as the rows of the model.
fn equal_rows(model: &EigenspaceModel) -> f64 {
    let weight = model.weight();
    match model.weight_kind() {
        WeightKind::Frequency => weight,
        // In this order, because the square of the weight may overflow.
        WeightKind::Reliability => weight / model.moments.squared_weight() * weight,
    }
}

/// The log evidence of 1 to D − 1 components, from the variances relative to the largest.
fn evidence_of(variances: &[f64], rows: f64) -> Vec<f64> {
    let features = variances.len();
    let floored: Vec<f64> = variances.iter().map(|variance| variance.max(SMALLEST_VARIANCE)).collect();
    let logs: Vec<f64> = floored.iter().map(|variance| variance.ln()).collect();
    let log_difference = |i: usize, j: usize| (variances[i] - variances[j]).max(SMALLEST_VARIANCE * floored[i]).ln();
    let log_gamma = log_gamma_of_halves(features);
    let mut beyond: Vec<f64> = variances.to_vec();
    for j in (0..features - 1).rev() {
        beyond[j] += beyond[j + 1];
    }

    let (mut subspace, mut log_sum, mut inside, mut across) = (0.0, 0.0, 0.0, 0.0);
    let mut found = Vec::with_capacity(features - 1);
    for k in 1..features {
        let last = k - 1;
        let (before, after) = (last as f64, (features - k) as f64);
        let degrees = (features - last) as f64 / 2.0;
        subspace += log_gamma[features - last] - LN_2 - degrees * PI.ln();
        // Pairs of the new direction with those before it, and with those behind it.
        let above: f64 = (0..last).map(|i| log_difference(i, last)).sum();
        inside += 2.0 * above - log_sum - before * logs[last] + before * rows.ln();
        across += (k..features).map(|j| log_difference(last, j)).sum::<f64>() - above;
        log_sum += logs[last];
        if variances[last] < SMALLEST_VARIANCE {
            found.push(f64::NEG_INFINITY);
            continue;
        }
        let noise = (beyond[k] / after).max(SMALLEST_VARIANCE);
        let gap = |variance: &f64| (noise.recip() - variance.recip()).max(SMALLEST_VARIANCE / noise).ln();
        let outside = across + after * (floored[..k].iter().map(gap).sum::<f64>() + k as f64 * rows.ln());
        let parameters = (features * k) as f64 - (k * (k + 1)) as f64 / 2.0;
        let fit = -rows / 2.0 * (log_sum + after * noise.ln());
        let volume = (parameters + k as f64) / 2.0 * (2.0 * PI).ln();
        found.push(subspace + fit + volume - (inside + outside) / 2.0 - k as f64 / 2.0 * rows.ln());
    }
    found
}

/// log Γ(i/2) for i up to `count`, by Γ(x + 1) = x Γ(x); the first entry is not used.
fn log_gamma_of_halves(count: usize) -> Vec<f64> {
    let mut values = vec![f64::INFINITY, PI.ln() / 2.0, 0.0];
    for i in 3..=count {
        values.push(values[i - 2] + ((i - 2) as f64 / 2.0).ln());
    }
    values
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::linalg::random::Random;
    use crate::rows::block::Block;

    /// The formula at the top of this file, term by term.
    fn term_by_term(variances: &[f64], rows: f64, k: usize) -> f64 {
        let d = variances.len();
        let noise = variances[k..].iter().sum::<f64>() / (d - k) as f64;
        let gamma = log_gamma_of_halves(d);
        let shrunk = |i: usize| if i < k { variances[i] } else { noise };
        let mut value = 0.0;
        for i in 0..k {
            value += gamma[d - i] - LN_2 - (d - i) as f64 / 2.0 * PI.ln() - rows / 2.0 * variances[i].ln();
            for j in i + 1..d {
                let gap = shrunk(j).recip() - shrunk(i).recip();
                value -= ((variances[i] - variances[j]) * gap * rows).ln() / 2.0;
            }
        }
        let parameters = (d * k - k * (k + 1) / 2 + k) as f64;
        value - rows * (d - k) as f64 / 2.0 * noise.ln() + parameters / 2.0 * (2.0 * PI).ln()
            - k as f64 / 2.0 * rows.ln()
    }

    #[test]
    fn the_evidence_is_that_of_the_formula() {
        for features in 2..12 {
            let variances: Vec<f64> = (0..features).map(|i| 0.6_f64.powi(i) + 0.01 / f64::from(i + 1)).collect();
            let variances: Vec<f64> = variances.iter().map(|variance| variance / variances[0]).collect();
            for (k, found) in (1..).zip(evidence_of(&variances, 200.0)) {
                let expected = term_by_term(&variances, 200.0, k);
                assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{k} of {features}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_gamma_function_of_halves() {
        let values = log_gamma_of_halves(10);
        assert!((values[10] - 24.0_f64.ln()).abs() < 1e-14, "Γ(5) = 24");
        assert!((values[5] - (0.75 * PI.sqrt()).ln()).abs() < 1e-14, "Γ(5/2) = 3/4 √π");
        assert_eq!(log_gamma_of_halves(2)[2], 0.0);
    }

    #[test]
    fn only_ratios_of_reliability_weights_matter() {
        let mut random = Random::new(3);
        let rows = Array2::from_shape_fn((60, 6), |(_, j)| random.normal() * if j < 2 { 9.0 } else { 1.0 });
        let weights: Vec<f64> = (0..60).map(|i| f64::from(1 + i % 3)).collect();
        let sum: f64 = weights.iter().sum();
        let evidence = |factor: f64| {
            let weights: Vec<f64> = weights.iter().map(|weight| weight * factor).collect();
            let model = EigenspaceModel::fit(Block::from(&rows).weighted(&weights)).expect("rows");
            let model = model.with_weight_kind(WeightKind::Reliability);
            (likeliest_components(&model), log_evidence(&model))
        };
        let (components, expected) = evidence(1.0);
        assert_eq!(components, 2);
        for factor in [sum.recip(), 1e-9, 1e9] {
            let (components, found) = evidence(factor);
            assert_eq!(components, 2);
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
            assert!(found.iter().zip(&expected).all(close), "{factor}: {found:?} {expected:?}");
        }
    }
}
