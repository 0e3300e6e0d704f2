//! The rows whose scores are nearest to those of a row.
//!
//! ```text
//! d_j² = Σ_i (z_ij − z_i)²        summed component by component
//! ```

/// Adds the squared differences between one score of each row and the same score of a given row.
pub fn add_squared_differences(distances: &mut [f64], scores: &[f32], score: f32) {
    for (distance, other) in distances.iter_mut().zip(scores) {
        let difference = f64::from(*other) - f64::from(score);
        *distance += difference * difference;
    }
}

/// The rows with the smallest squared distances, nearest first, with their distances. Rows without
/// a distance are left out, and so is `row` itself.
pub fn nearest(squared: &[f64], row: usize, most: usize) -> Vec<(usize, f64)> {
    let mut found: Vec<(usize, f64)> = Vec::with_capacity(most + 1);
    for (i, distance) in squared.iter().copied().enumerate() {
        let farthest = found.last().filter(|_| found.len() == most).map_or(f64::INFINITY, |last| last.1);
        if i != row && distance < farthest {
            let place = found.partition_point(|other| other.1 <= distance);
            found.insert(place, (i, distance));
            found.truncate(most);
        }
    }
    found.into_iter().map(|(i, distance)| (i, distance.sqrt())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rows_are_those_of_a_sorted_list() {
        let scores: Vec<Vec<f32>> =
            (0..3).map(|i| (0..200).map(|j| ((j * j * 7 + 31 * i * j) % 53) as f32).collect()).collect();
        for row in [0, 17, 199] {
            let mut squared = vec![0.0; 200];
            for column in &scores {
                add_squared_differences(&mut squared, column, column[row]);
            }
            let mut sorted: Vec<(usize, f64)> =
                (0..200).filter(|j| *j != row).map(|j| (j, squared[j].sqrt())).collect();
            sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            assert_eq!(nearest(&squared, row, 8), sorted[..8]);
        }
        assert_eq!(nearest(&[0.0, f64::NAN, 4.0], 0, 8), [(2, 2.0)]);
        assert_eq!(nearest(&[0.0], 0, 8), []);
    }
}
