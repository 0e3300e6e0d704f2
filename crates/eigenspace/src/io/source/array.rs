//! Converts Arrow arrays to numbers and labels.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait};
use arrow_schema::DataType;

/// Whether values of this type can be read as numbers. A column of type null has only missing
/// numbers.
pub(super) fn is_number(dtype: &DataType) -> bool {
    dtype.is_numeric() || matches!(dtype, DataType::Boolean | DataType::Null)
}

/// Whether values of this type fit into f32.
pub(super) fn is_narrow(dtype: &DataType) -> bool {
    matches!(dtype, DataType::Float16 | DataType::Float32)
}

/// Whether values of this type can be labels.
pub(super) fn is_label(dtype: &DataType) -> bool {
    match dtype {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_label(values),
        other => is_number(other),
    }
}

/// Passes the numbers of some rows, with their index from 0, to `put`; a null is NaN. False if the
/// type is not a number.
pub(super) fn numbers(array: &dyn Array, rows: Range<usize>, mut put: impl FnMut(usize, f64)) -> bool {
    match array.data_type() {
        DataType::Int8 => each::<Int8Type>(array, rows, f64::from, put),
        DataType::Int16 => each::<Int16Type>(array, rows, f64::from, put),
        DataType::Int32 => each::<Int32Type>(array, rows, f64::from, put),
        DataType::Int64 => each::<Int64Type>(array, rows, |value| value as f64, put),
        DataType::UInt8 => each::<UInt8Type>(array, rows, f64::from, put),
        DataType::UInt16 => each::<UInt16Type>(array, rows, f64::from, put),
        DataType::UInt32 => each::<UInt32Type>(array, rows, f64::from, put),
        DataType::UInt64 => each::<UInt64Type>(array, rows, |value| value as f64, put),
        DataType::Float16 => each::<Float16Type>(array, rows, |value| value.to_f64(), put),
        DataType::Float32 => each::<Float32Type>(array, rows, f64::from, put),
        DataType::Float64 => each::<Float64Type>(array, rows, |value| value, put),
        &DataType::Decimal32(_, scale) => each::<Decimal32Type>(array, rows, |value| decimal(value, scale), put),
        &DataType::Decimal64(_, scale) => each::<Decimal64Type>(array, rows, |value| decimal(value, scale), put),
        &DataType::Decimal128(_, scale) => each::<Decimal128Type>(array, rows, |value| decimal(value, scale), put),
        &DataType::Decimal256(_, scale) => each::<Decimal256Type>(array, rows, |value| decimal(value, scale), put),
        DataType::Boolean => {
            let Some(array) = array.as_boolean_opt() else { return false };
            for (place, row) in rows.enumerate() {
                put(place, if array.is_null(row) { f64::NAN } else { f64::from(u8::from(array.value(row))) });
            }
            true
        }
        DataType::Null => {
            (0..rows.len()).for_each(|place| put(place, f64::NAN));
            true
        }
        _ => false,
    }
}

fn each<T: ArrowPrimitiveType>(
    array: &dyn Array,
    rows: Range<usize>,
    number: impl Fn(T::Native) -> f64,
    mut put: impl FnMut(usize, f64),
) -> bool {
    let Some(array) = array.as_primitive_opt::<T>() else { return false };
    let Some(values) = array.values().get(rows.clone()) else { return false };
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => values.iter().enumerate().for_each(|(place, value)| put(place, number(*value))),
        Some(nulls) => {
            for (place, (value, row)) in values.iter().zip(rows).enumerate() {
                put(place, if nulls.is_null(row) { f64::NAN } else { number(*value) });
            }
        }
    }
    true
}

/// value / 10^scale, rounded only once, by parsing its digits.
fn decimal(value: impl std::fmt::Display, scale: i8) -> f64 {
    format!("{value}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN)
}

/// A column of lists. The values of all lists are in one array; each row is a range of it, or null.
pub(super) enum Lists<'a> {
    /// Lists of a fixed length.
    Fixed(&'a arrow_array::FixedSizeListArray),
    /// Lists of different lengths, with 32-bit offsets.
    Small(&'a arrow_array::ListArray),
    /// Lists of different lengths, with 64-bit offsets.
    Large(&'a arrow_array::LargeListArray),
}

impl<'a> Lists<'a> {
    /// The lists in an array, if it contains lists.
    pub(super) fn of(array: &'a dyn Array) -> Option<Self> {
        let small = || array.as_list_opt().map(Self::Small);
        let large = || array.as_list_opt().map(Self::Large);
        array.as_fixed_size_list_opt().map(Self::Fixed).or_else(small).or_else(large)
    }

    /// The array with the values of all lists.
    pub(super) fn values(&self) -> &'a dyn Array {
        match self {
            Self::Fixed(lists) => lists.values(),
            Self::Small(lists) => lists.values(),
            Self::Large(lists) => lists.values(),
        }
    }

    /// The range of the values of a row; `None` for a null.
    pub(super) fn row(&self, row: usize) -> Option<Range<usize>> {
        match self {
            Self::Fixed(lists) => {
                let width = usize::try_from(lists.value_length()).unwrap_or(0);
                lists.is_valid(row).then(|| row * width..(row + 1) * width)
            }
            Self::Small(lists) => lists.is_valid(row).then(|| between(lists.value_offsets(), row)),
            Self::Large(lists) => lists.is_valid(row).then(|| between(lists.value_offsets(), row)),
        }
    }
}

fn between<O: OffsetSizeTrait>(offsets: &[O], row: usize) -> Range<usize> {
    offsets[row].as_usize()..offsets[row + 1].as_usize()
}

/// Appends the labels of some rows; a null is an empty label. False if the type cannot be a label.
pub(super) fn labels(array: &dyn Array, rows: Range<usize>, into: &mut Vec<String>) -> bool {
    let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
    match array.data_type() {
        DataType::Utf8 => {
            let Some(array) = array.as_string_opt::<i32>() else { return false };
            into.extend(rows.map(|row| text(array.is_valid(row).then(|| array.value(row)))));
        }
        DataType::LargeUtf8 => {
            let Some(array) = array.as_string_opt::<i64>() else { return false };
            into.extend(rows.map(|row| text(array.is_valid(row).then(|| array.value(row)))));
        }
        DataType::Utf8View => {
            let Some(array) = array.as_string_view_opt() else { return false };
            into.extend(rows.map(|row| text(array.is_valid(row).then(|| array.value(row)))));
        }
        DataType::Boolean => {
            let Some(array) = array.as_boolean_opt() else { return false };
            into.extend(
                rows.map(|row| text(array.is_valid(row).then(|| if array.value(row) { "true" } else { "false" }))),
            );
        }
        // The two integer types that f64 cannot represent exactly.
        DataType::Int64 => {
            let Some(array) = array.as_primitive_opt::<Int64Type>() else { return false };
            into.extend(rows.map(|row| if array.is_null(row) { String::new() } else { array.value(row).to_string() }));
        }
        DataType::UInt64 => {
            let Some(array) = array.as_primitive_opt::<UInt64Type>() else { return false };
            into.extend(rows.map(|row| if array.is_null(row) { String::new() } else { array.value(row).to_string() }));
        }
        DataType::Float32 => {
            let Some(array) = array.as_primitive_opt::<Float32Type>() else { return false };
            into.extend(rows.map(|row| if array.is_null(row) { String::new() } else { array.value(row).to_string() }));
        }
        DataType::Dictionary(_, _) => {
            let Some(dictionary) = array.as_any_dictionary_opt() else { return false };
            let mut known = true;
            let values = dictionary.values().as_ref();
            return numbers(dictionary.keys(), rows, |_, key| match key.is_nan() {
                true => into.push(String::new()),
                false if (key as usize) < values.len() => {
                    let key = key as usize;
                    known &= labels(values, key..key + 1, into);
                }
                false => known = false,
            }) && known;
        }
        _ => {
            return numbers(array, rows, |_, value| {
                into.push(if value.is_nan() { String::new() } else { value.to_string() });
            });
        }
    }
    true
}
