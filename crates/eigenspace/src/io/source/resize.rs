//! Resizes images.
//!
//! A new pixel is a weighted mean of old ones, with triangular weights around its position. The
//! triangle extends one old pixel to each side, or one new pixel if that is larger. So enlarging is
//! linear interpolation, and reducing uses every old pixel, which avoids aliasing. A mean stays in
//! the range of the values, unlike the results of sharper filters. The result is f64 and not
//! rounded.
//!
//! We keep our own because the filters of the crate `image` work in f32 and round each channel to
//! the integer type of the image, which makes features coarser than the pixels they came from.

/// The old pixels that contribute to a new one: the first of them, and their weights, which sum to
/// 1.
struct PixelWeights {
    first: usize,
    weights: Vec<f64>,
}

/// Resizes pixels, given row by row from the top with interleaved channels, from one width and
/// height to another.
pub(super) fn resize(pixels: &[f64], channels: usize, from: (usize, usize), to: (usize, usize)) -> Vec<f64> {
    let across = pixel_weights(from.0, to.0);
    let down = pixel_weights(from.1, to.1);
    let mut narrow: Vec<f64> = Vec::with_capacity(to.0 * from.1 * channels);
    for row in pixels.chunks_exact(from.0 * channels) {
        for pixel in &across {
            for channel in 0..channels {
                let old = row.iter().skip(pixel.first * channels + channel).step_by(channels);
                narrow.push(pixel.weights.iter().zip(old).map(|(weight, value)| weight * value).sum());
            }
        }
    }
    let length = to.0 * channels;
    let mut result: Vec<f64> = Vec::with_capacity(length * to.1);
    for pixel in &down {
        let start = result.len();
        result.resize(start + length, 0.0);
        for (weight, old) in pixel.weights.iter().zip(narrow.chunks_exact(length).skip(pixel.first)) {
            result[start..].iter_mut().zip(old).for_each(|(sum, value)| *sum += weight * value);
        }
    }
    result
}

/// The weights of each of `to` new pixels along a side of `from` old ones.
fn pixel_weights(from: usize, to: usize) -> Vec<PixelWeights> {
    let ratio = from as f64 / to as f64;
    let radius = ratio.max(1.0);
    let pixel = |new: usize| {
        // Pixels are squares: the center of the first is half a pixel from the border.
        let center = (new as f64 + 0.5) * ratio - 0.5;
        let first = (center - radius).ceil().max(0.0) as usize;
        let last = ((center + radius).floor() as usize).min(from - 1);
        let weight = |old: usize| (1.0 - (old as f64 - center).abs() / radius).max(0.0);
        let mut weights: Vec<f64> = (first..=last).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        PixelWeights { first, weights }
    };
    (0..to).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::resize;

    #[test]
    fn the_same_size_gives_the_same_image() {
        let pixels: Vec<f64> = (0..24).map(f64::from).collect();
        assert_eq!(resize(&pixels, 3, (4, 2), (4, 2)), pixels);
    }

    #[test]
    fn twice_the_width_is_linear_interpolation() {
        assert_eq!(resize(&[0.0, 8.0], 1, (2, 1), (4, 1)), [0.0, 2.0, 6.0, 8.0]);
        assert_eq!(resize(&[0.0, 8.0], 1, (1, 2), (1, 4)), [0.0, 2.0, 6.0, 8.0]);
    }

    #[test]
    fn a_plain_image_stays_plain_in_every_channel_at_every_size() {
        let pixels: Vec<f64> = [10.0, 20.0, 65535.0].repeat(7 * 5);
        for to in [(1, 1), (3, 2), (7, 5), (20, 1), (13, 31)] {
            let result = resize(&pixels, 3, (7, 5), to);
            assert_eq!(result.len(), 3 * to.0 * to.1);
            let worst = result.iter().zip([10.0, 20.0, 65535.0].iter().cycle()).map(|(a, b)| (a / b - 1.0).abs());
            assert!(worst.fold(0.0, f64::max) < 1e-14, "{to:?}");
        }
    }

    #[test]
    fn reducing_stripes_to_half_gives_their_mean_away_from_the_border() {
        let stripes: Vec<f64> = [0.0, 100.0].repeat(8);
        let half = resize(&stripes, 1, (16, 1), (8, 1));
        assert!(half[1..7].iter().all(|value| (value - 50.0).abs() < 1e-12), "{half:?}");
    }
}
