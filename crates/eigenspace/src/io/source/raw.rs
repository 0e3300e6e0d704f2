//! Rows as bytes of this machine, for temporary files.

use ndarray::Array2;

use crate::linalg::Real;
use crate::rows::values::{Values, in_precision};

/// The numbers row by row, as f64 if `wide`, otherwise as f32.
pub fn to_raw(values: &Values, wide: bool) -> Vec<u8> {
    in_precision!(values, rows => match wide {
        true => rows.iter().flat_map(|x| x.widen().to_ne_bytes()).collect(),
        false => rows.iter().flat_map(|x| f32::narrow(x.widen()).to_ne_bytes()).collect(),
    })
}

/// One column as f32.
pub fn column_to_raw(values: &Values, column: usize) -> Vec<u8> {
    in_precision!(values, rows => {
        rows.column(column).iter().flat_map(|x| f32::narrow(x.widen()).to_ne_bytes()).collect()
    })
}

/// The rows of this many features that were written with [`to_raw`].
pub fn from_raw(bytes: &[u8], features: usize, wide: bool) -> Values {
    match wide {
        true => {
            let cells: Vec<f64> = bytes.as_chunks().0.iter().map(|cell| f64::from_ne_bytes(*cell)).collect();
            shaped(cells, features).into()
        }
        false => shaped(floats_from_raw(bytes), features).into(),
    }
}

/// Numbers that were written with [`column_to_raw`].
pub fn floats_from_raw(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|cell| f32::from_ne_bytes(*cell)).collect()
}

/// Whole rows; cells of a row that is not complete are left out.
fn shaped<T>(mut cells: Vec<T>, features: usize) -> Array2<T> {
    let rows = cells.len() / features.max(1);
    cells.truncate(rows * features);
    Array2::from_shape_vec((rows, features), cells).expect("rows times features cells")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let narrow = Values::F32(array![[0.1, -2.0], [f32::MAX, 0.0], [5.0, 6.0]]);
        let wide = Values::F64(array![[0.1, -2.0], [1e300, 0.0]]);
        assert_eq!(from_raw(&to_raw(&narrow, false), 2, false), narrow);
        assert_eq!(from_raw(&to_raw(&narrow, true), 2, true).to_f64(), narrow.to_f64());
        assert_eq!(from_raw(&to_raw(&wide, true), 2, true), wide);
        assert_eq!(from_raw(&to_raw(&wide, true)[..20], 2, true).dim(), (1, 2));
        assert_eq!(floats_from_raw(&column_to_raw(&narrow, 1)), [-2.0, 0.0, 6.0]);
        assert_eq!(floats_from_raw(&column_to_raw(&wide, 0)), [0.1, f32::INFINITY]);
    }
}
