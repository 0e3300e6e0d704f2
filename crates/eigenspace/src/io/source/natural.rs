//! Natural order: `s2` before `s10`.

use std::cmp::Ordering;

/// Compares two names, with runs of digits as numbers. Equal numbers with leading zeros are
/// compared by their length.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    while let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) {
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (m, rest_left) = number(left);
            let (n, rest_right) = number(right);
            let order = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
            if order.is_ne() {
                return order;
            }
            (left, right) = (rest_left, rest_right);
        } else if x != y {
            return x.cmp(&y);
        } else {
            (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The leading digits of a name, without leading zeros, and the rest.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::natural;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names = ["s10/1.pgm", "s2/10.pgm", "s2/9.pgm", "s1/1.pgm", "s02/9.pgm", "a", "s"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "s", "s1/1.pgm", "s02/9.pgm", "s2/9.pgm", "s2/10.pgm", "s10/1.pgm"]);
    }

    #[test]
    fn numbers_may_be_longer_than_any_integer_type() {
        assert!(natural("x99999999999999999999999999998", "x99999999999999999999999999999").is_lt());
    }
}
