//! Maps numbers to positions on an axis, and chooses round tick values.

use indicatif::HumanCount;

use super::drawable;

/// The format of the numbers along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Number,
    /// Counts: no tick between two whole numbers.
    Whole,
    /// Fractions of one, written in percent.
    Percent,
}

/// The range of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
    pub(super) format: Format,
}

/// A position on an axis and its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) text: String,
}

/// Smallest and largest of the numbers that can be drawn.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|v| drawable(*v)).fold(None, |seen, v| match seen {
        None => Some((v, v)),
        Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
    })
}

impl Scale {
    pub(super) fn fixed(low: f64, high: f64, format: Format) -> Self {
        Self { low, high, log: false, format }
    }

    /// All values, with a margin of the given fraction on both sides.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, margin: f64) -> Self {
        let (mut low, mut high) = extent(values).unwrap_or((0.0, 1.0));
        let size = low.abs().max(high.abs());
        if high - low <= 1e-12 * size || high - low < 1e-290 {
            let room = if size < 1e-280 { 1.0 } else { 0.1 * size };
            (low, high) = (low - room, high + room);
        }
        let margin = margin * (high - low);
        Self::fixed(low - margin, high + margin, Format::Number)
    }

    /// A logarithmic axis over the positive values, at most `decades` below the largest.
    pub(super) fn logarithmic(values: impl IntoIterator<Item = f64>, decades: f64) -> Self {
        let (low, high) = extent(values.into_iter().filter(|v| *v > 1e-290)).unwrap_or((0.1, 1.0));
        let (top, bottom) = (high.log10(), low.log10());
        let bottom = bottom.max(top - decades);
        let margin = (0.05 * (top - bottom)).max(0.1);
        Self { low: 10f64.powf(bottom - margin), high: 10f64.powf(top + margin), log: true, format: Format::Number }
    }

    /// The position of a value between the ends: 0 at the low end, 1 at the high end.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.log {
            let value = value.max(self.low);
            (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Whether this value can be drawn on this axis.
    pub(super) fn shows(&self, value: f64) -> bool {
        drawable(value) && (!self.log || value > 0.0)
    }

    /// About `wanted` round numbers inside the range.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        if self.log { self.log_ticks(wanted) } else { self.linear_ticks(wanted) }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<Tick> {
        let mut step = round_step((self.high - self.low) / wanted.max(1) as f64);
        if self.format == Format::Whole {
            step = step.max(1.0);
        }
        let (first, last) = ((self.low / step - 1e-9).ceil(), (self.high / step + 1e-9).floor());
        let count = if first.is_finite() && last >= first { (last - first).min(200.0) as usize + 1 } else { 0 };
        let values = (0..count).map(|i| (first + i as f64) * step);
        values.map(|at| Tick { at, text: self.text(at, step) }).collect()
    }

    fn text(&self, value: f64, step: f64) -> String {
        match self.format {
            Format::Percent => format!("{} %", plain(100.0 * value, 100.0 * step)),
            Format::Number | Format::Whole => {
                let largest = self.low.abs().max(self.high.abs());
                if largest < 1e6 && step >= 1e-4 { plain(value, step) } else { scientific(value, step) }
            }
        }
    }

    fn log_ticks(&self, wanted: usize) -> Vec<Tick> {
        let (bottom, top) = (self.low.log10(), self.high.log10());
        let steps: &[f64] = match top - bottom {
            span if span < 1.2 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            span if span < 3.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = ((top - bottom) / wanted.max(1) as f64).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for exponent in bottom.floor() as i32..=top.ceil() as i32 {
            for step in steps.iter().filter(|_| exponent.rem_euclid(every) == 0) {
                let at = step * 10f64.powi(exponent);
                if at >= self.low && at <= self.high {
                    let text = if (1e-3..1e5).contains(&at) { plain(at, at) } else { scientific(at, at) };
                    ticks.push(Tick { at, text });
                }
            }
        }
        ticks
    }
}

/// The nearest larger of 1, 2, 2.5, 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|f| f * power >= rough * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * power
}

/// A count with thousands separators: `12,345`.
pub(super) fn thousands(count: usize) -> String {
    HumanCount(count as u64).to_string()
}

/// As many decimals as the step has, with a minus sign (U+2212) and thousands separators.
fn plain(value: f64, step: f64) -> String {
    let digit = step.abs().log10().floor();
    let halves = (step / 10f64.powf(digit) - 2.5).abs() < 1e-6;
    let decimals = (f64::from(u8::from(halves)) - digit).clamp(0.0, 12.0) as usize;
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    // Larger numbers are written as powers of ten.
    out.push_str(&whole.parse().map_or_else(|_| whole.to_owned(), |whole| HumanCount(whole).to_string()));
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A number as `1.2×10⁷`, with the decimals that the step needs.
fn scientific(value: f64, step: f64) -> String {
    if value.abs() < 0.5 * step.abs() {
        return "0".to_owned();
    }
    let mut exponent = value.abs().log10().floor();
    let mut mantissa = value / 10f64.powf(exponent);
    if mantissa.abs() > 9.999_999_9 {
        (mantissa, exponent) = (mantissa / 10.0, exponent + 1.0);
    }
    let mantissa = plain(mantissa, 10f64.powf((step.abs().log10() - exponent).clamp(-4.0, 0.0)));
    let raised: String = format!("{exponent:.0}")
        .chars()
        .map(|c| {
            if c == '-' {
                '⁻'
            } else {
                ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][(c as usize - '0' as usize).min(9)]
            }
        })
        .collect();
    match mantissa.as_str() {
        "1" => format!("10{raised}"),
        "−1" => format!("−10{raised}"),
        _ => format!("{mantissa}×10{raised}"),
    }
}
