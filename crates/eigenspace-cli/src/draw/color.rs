//! Colors for classes, distinguishable with any kind of color vision, and for signed numbers.

/// Red, green and blue, eight bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl Rgb {
    pub(super) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// This color at share `1 - t`, `other` at share `t`.
    pub(super) fn mix(self, other: Self, t: f64) -> Self {
        let one = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * t).round().clamp(0.0, 255.0) as u8;
        Self(one(self.0, other.0), one(self.1, other.1), one(self.2, other.2))
    }
}

pub(super) const BLUE: Rgb = Rgb(0x00, 0x72, 0xb2);
pub(super) const VERMILION: Rgb = Rgb(0xd5, 0x5e, 0x00);
/// For points without a class.
pub(super) const NEUTRAL: Rgb = Rgb(0xa6, 0xa6, 0xa6);

/// The colors of Okabe and Ito, which people with any kind of color vision can distinguish. Yellow
/// is a little darker here, to be visible on white, and black is a dark gray.
pub(super) const CLASSES: [Rgb; 8] = [
    BLUE,
    VERMILION,
    Rgb(0x00, 0x9e, 0x73),
    Rgb(0xcc, 0x79, 0xa7),
    Rgb(0xe6, 0x9f, 0x00),
    Rgb(0x56, 0xb4, 0xe9),
    Rgb(0x40, 0x40, 0x40),
    Rgb(0xe3, 0xd6, 0x2b),
];

/// The color of class `index`. There are eight colors; classes with the same color must differ in
/// shape.
pub(super) fn class(index: usize) -> Rgb {
    CLASSES[index % CLASSES.len()]
}

/// Blue for -1, nearly white for 0, red for 1.
///
/// Lightness falls equally on both sides, so the map shows no edges that are not in the data. In
/// gray it still shows the magnitude, but not the sign.
pub(super) fn diverging(value: f64) -> Rgb {
    let t = value.abs().min(1.0);
    let chroma = 0.36 * t * (1.0 - 0.52 * t);
    oklch(0.97 - 0.53 * t, chroma, if value < 0.0 { 252.0 } else { 28.0 })
}

/// A color from Ottosson's Oklab, given by lightness, chroma and hue in degrees.
fn oklch(lightness: f64, chroma: f64, hue: f64) -> Rgb {
    let (sin, cos) = hue.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let encode = |linear: f64| {
        let curve =
            if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.max(0.0).powf(1.0 / 2.4) - 0.055 };
        (255.0 * curve).round().clamp(0.0, 255.0) as u8
    };
    Rgb(
        encode(4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s),
        encode(-1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s),
        encode(-0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s),
    )
}
