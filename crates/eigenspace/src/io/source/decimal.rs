//! Converts decimal numbers to the nearest f64, with the same bits as the standard library.
//!
//! ```text
//! digits · 10^e  =  w · 5^e · 2^e          w = digits, as an integer below 10^19
//! ```
//!
//! The first 128 bits of 5^e are multiplied by w, which leaves an error below two units in the last of 128 bits. The 54th bit
//! and those after it decide how to round, unless the error could change them. In that case, if w ≤ 2^53 and |e| ≤ 22, then
//! w and 10^|e| are numbers of the type f64, and one multiplication or division rounds correctly. All other numbers, among
//! them those with more digits and with larger exponents, are left to the standard library.

/// Largest number of decimal digits that every u64 can hold.
const MAX_DIGITS: usize = 19;
/// Largest power of ten that is an f64.
const MAX_EXACT_POWER: usize = 22;
/// Largest power of five below 2^128.
const MAX_POWER: usize = 55;

/// 10^0 to 10^22.
const TENS: [f64; MAX_EXACT_POWER + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// 10^0 to 10^8.
const SMALL_TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The first 128 bits of a power of five: `bits · 2^scale`, rounded down, with the highest bit set.
#[derive(Clone, Copy)]
struct Power {
    bits: u128,
    scale: i32,
}

/// 5^e for e from -55 to 55.
static FIVES: [Power; 2 * MAX_POWER + 1] = fives();

const fn fives() -> [Power; 2 * MAX_POWER + 1] {
    let mut powers = [Power { bits: 1 << 127, scale: -127 }; 2 * MAX_POWER + 1];
    let mut five = 1_u128;
    let mut e = 1;
    while e <= MAX_POWER {
        five *= 5;
        let free = five.leading_zeros();
        powers[MAX_POWER + e] = Power { bits: five << free, scale: -(free as i32) };
        // 2^k / 5^e is between 2^127 and 2^128.
        let k = 255 - free;
        powers[MAX_POWER - e] = Power { bits: quotient(k, five), scale: -(k as i32) };
        e += 1;
    }
    powers
}

/// 2^k / divisor, rounded down, one binary digit at a time. The divisor is above 1, and the quotient below 2^128.
const fn quotient(k: u32, divisor: u128) -> u128 {
    let (mut quotient, mut remainder, mut digits) = (0, 1_u128, 0);
    while digits < k {
        let carried = remainder >> 127 == 1;
        remainder <<= 1;
        quotient <<= 1;
        if carried || remainder >= divisor {
            remainder = remainder.wrapping_sub(divisor);
            quotient |= 1;
        }
        digits += 1;
    }
    quotient
}

/// The number at the start of a text, and its length in bytes. The number ends before the first byte that cannot be part
/// of it. `None` if there is none, or if it takes more than the methods above to round it.
#[inline]
pub(super) fn leading_number(text: &[u8], mark: u8) -> Option<(f64, usize)> {
    let first = *text.first()?;
    let start = usize::from(first == b'-' || first == b'+');
    let mut digits = 0;
    let mut at = digits_from(text, start, &mut digits);
    let mut count = at - start;
    let mut exponent = 0;
    if text.get(at) == Some(&mark) {
        let end = digits_from(text, at + 1, &mut digits);
        let decimals = end - (at + 1);
        count += decimals;
        exponent = -i64::try_from(decimals).ok()?;
        at = end;
    }
    if count == 0 || count > MAX_DIGITS && count - leading_zeros(&text[start..at], mark) > MAX_DIGITS {
        return None;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let sign = text.get(at + 1).filter(|&&sign| sign == b'-' || sign == b'+');
        let from = at + 1 + usize::from(sign.is_some());
        let mut power = 0;
        at = digits_from(text, from, &mut power);
        if !(1..=4).contains(&(at - from)) {
            return None;
        }
        let power = i64::try_from(power).ok()?;
        exponent += if sign == Some(&b'-') { -power } else { power };
    }
    let number = nearest(digits, exponent)?;
    let sign = u64::from(first == b'-') << (u64::BITS - 1);
    Some((f64::from_bits(number.to_bits() | sign), at))
}

/// Number of zeros before the first other digit.
#[cold]
fn leading_zeros(number: &[u8], mark: u8) -> usize {
    number.iter().filter(|&&byte| byte != mark).take_while(|&&byte| byte == b'0').count()
}

/// Appends the digits from a position on to a number, modulo 2^64, and returns the position of their end.
#[inline]
fn digits_from(text: &[u8], from: usize, number: &mut u64) -> usize {
    let mut at = from;
    while let Some(&[first, second, third]) = text.get(at..).and_then(|text| text.as_chunks().0.first_chunk()) {
        let first = Digits::of(first, 8);
        first.append(number, &mut at);
        if first.count < 8 {
            return at;
        }
        // A number with many digits has 15 to 19 of them, in an order that no processor predicts: there are no branches here.
        let second = Digits::of(second, 8);
        second.append(number, &mut at);
        let third = Digits::of(third, if second.count == 8 { 8 } else { 0 });
        third.append(number, &mut at);
        if third.count < 8 {
            return at;
        }
    }
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// The digits at the start of eight bytes.
#[derive(Clone, Copy)]
struct Digits {
    number: u64,
    count: usize,
}

impl Digits {
    #[inline]
    fn of(bytes: [u8; 8], most: usize) -> Self {
        let bytes = u64::from_le_bytes(bytes);
        let count = digits_at_start(bytes).min(most);
        // The digits move to the end, with zeros before them; in two steps, because 64 bits cannot be shifted by 64.
        let digits = ((bytes ^ 0x3030_3030_3030_3030) << (32 - 4 * count)) << (32 - 4 * count);
        Self { number: eight_digits(digits), count }
    }

    #[inline]
    fn append(self, number: &mut u64, at: &mut usize) {
        *number = number.wrapping_mul(SMALL_TENS[self.count]).wrapping_add(self.number);
        *at += self.count;
    }
}

/// How many of eight bytes, from the lowest on, are digits before the first that is not.
#[inline]
fn digits_at_start(bytes: u64) -> usize {
    // The high half of a digit is 3, also after adding 6. A carry only reaches the bytes after one that is no digit.
    let high = |bytes: u64| (bytes & 0xf0f0_f0f0_f0f0_f0f0) ^ 0x3030_3030_3030_3030;
    let others = high(bytes) | high(bytes.wrapping_add(0x0606_0606_0606_0606));
    others.trailing_zeros() as usize / 8
}

/// The number that eight digits form, the first in the lowest byte: pairs, then fours, then all eight.
#[inline]
fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours * 10_000 + (fours >> 32)) & 0xffff_ffff
}

/// The f64 nearest to `digits · 10^exponent`, if it can be told.
#[inline]
fn nearest(digits: u64, exponent: i64) -> Option<f64> {
    let power = exponent.checked_add(MAX_POWER as i64).and_then(|power| usize::try_from(power).ok());
    let (Some(five), true) = (power.and_then(|power| FIVES.get(power)), digits > 0) else {
        return exact(digits, exponent);
    };
    let shift = digits.leading_zeros();
    let shifted = u128::from(digits << shift);
    // The first 128 of 192 bits of the product. The true product is at least this and less than this + 2.
    let product = shifted * (five.bits >> 64) + ((shifted * (five.bits & u128::from(u64::MAX))) >> 64);
    let (high, low) = ((product >> 64) as u64, product as u64);
    let dropped = u64::BITS - high.leading_zeros() - (f64::MANTISSA_DIGITS + 1);
    let ones = (1 << dropped) - 1;
    let rest = high & ones;
    if rest == 0 && low == 0 || rest == ones && low >= u64::MAX - 1 {
        return exact(digits, exponent);
    }
    // There is a rest, so it is not a tie.
    let rounded = ((high >> dropped) + 1) >> 1;
    let scale = i64::from(dropped) + 1 + 128 + i64::from(five.scale) - i64::from(shift) + exponent;
    Some(rounded as f64 * f64::from_bits(((scale + 1023) as u64) << (f64::MANTISSA_DIGITS - 1)))
}

/// `digits · 10^exponent`, if one operation with numbers of the type f64 computes it.
fn exact(digits: u64, exponent: i64) -> Option<f64> {
    let ten = usize::try_from(exponent.unsigned_abs()).ok().and_then(|power| TENS.get(power));
    match ten {
        _ if digits == 0 => Some(0.0),
        Some(ten) if digits <= 1 << f64::MANTISSA_DIGITS => {
            let digits = digits as f64;
            Some(if exponent < 0 { digits / ten } else { digits * ten })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::leading_number;
    use proptest::prelude::*;

    /// Compares with the standard library. Returns whether the number was converted here.
    fn compare(text: &str) -> bool {
        let mut converted = None;
        for after in ["", ",", ",1234567890123456789012345", "\n", " x"] {
            let found = leading_number(format!("{text}{after}").as_bytes(), b'.');
            let found = found.map(|(number, length)| (number.to_bits(), length));
            if let Some(found) = found {
                assert_eq!(Ok(found), text.parse().map(|number: f64| (number.to_bits(), text.len())), "{text}");
            }
            assert!(converted.is_none_or(|converted| converted == found), "{text}");
            converted = Some(found);
        }
        converted.flatten().is_some()
    }

    #[test]
    fn numbers_as_they_are_usually_written_are_converted() {
        for text in [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "0.1",
            "-1.5e3",
            "1E-5",
            "00000000000000000000000012.5",
            "0.000000000000000000001",
            "9999999999999999999",
            "1e22",
            "123456789e-22",
            "1.234567890123456789e-05",
            "1e0005",
            "0.30000000000000004",
            "-17.976931348623157",
            "1e55",
            "1e-55",
        ] {
            assert!(compare(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_or_hard_to_round_is_left_to_others() {
        for text in ["", "-", ".", "-.", "e5", "inf", "nan", "1e", "1e+", "1e-x", "1e99999", "1e56", "1e-56", "x1"] {
            assert_eq!(leading_number(text.as_bytes(), b'.'), None, "{text}");
        }
        // Exactly between two numbers.
        assert_eq!(leading_number(b"9007199254740993", b'.'), None);
        assert_eq!(leading_number(b"9007199254740993.0", b'.'), None);
        // Twenty digits.
        assert_eq!(leading_number(b"0.12345678901234567890", b'.'), None);
    }

    #[test]
    fn the_number_ends_before_the_first_byte_that_is_not_part_of_it() {
        assert_eq!(leading_number(b"1,5", b'.'), Some((1.0, 1)));
        assert_eq!(leading_number(b"1,5", b','), Some((1.5, 3)));
        assert_eq!(leading_number(b"1.5.2", b'.'), Some((1.5, 3)));
        assert_eq!(leading_number(b"12345678901\xff345678", b'.'), Some((12_345_678_901.0, 11)));
        for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit() && !b".eE".contains(byte)) {
            for digits in 1..18 {
                let mut text = [b'7'; 30];
                text[digits] = byte;
                let expected = "7".repeat(digits).parse().expect("a number");
                assert_eq!(leading_number(&text, b'.'), Some((expected, digits)), "{byte} after {digits}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_bits_are_those_of_the_standard_library(
            bits in any::<u64>(), scale in -60_i32..60, digits in any::<u64>(), decimals in 0_usize..20, zeros in 0_usize..9,
        ) {
            let number = f64::from_bits(bits);
            let near = (number.abs() % 8.0) * 10_f64.powi(scale);
            if number.is_finite() {
                for text in [
                    format!("{number:e}"), format!("{near:e}"), format!("{near}"), format!("{near:.18e}"), format!("{near:.17}"),
                    format!("{near:.decimals$}"),
                ] {
                    compare(&text);
                }
            }
            let digits = (digits >> (decimals * 3)).to_string();
            compare(&format!("{digits}e{scale}"));
            compare(&format!("-{}{digits}.{digits:.decimals$}e{scale}", "0".repeat(zeros)));
            compare(&format!("0.{}{digits}", "0".repeat(zeros)));
        }

        /// Numbers halfway between two neighbors, and those next to them.
        #[test]
        fn ties_are_rounded_as_in_the_standard_library(odd in any::<u64>(), shift in 0_u32..10, power in 0_u32..12) {
            let half: u64 = ((1 << 53) + 2 * (odd % (1 << 52)) + 1) << shift;
            let ten = 10_u128.pow(power);
            for digits in [u128::from(half) * ten - 1, u128::from(half) * ten, u128::from(half) * ten + 1] {
                compare(&format!("{digits}e-{power}"));
                compare(&format!("{digits}"));
            }
        }
    }
}
