//! Writes to memory past the cache: numbers that are not needed soon would only push others out of
//! it.

use bytemuck::Pod;
use cudarc::driver::DeviceRepr;

use crate::linalg::card::CONVERTED;

/// Numbers that travel to a card.
pub(super) trait Staged: DeviceRepr + Pod + Send + Sync {
    /// Writes them to memory in f64; at most [`CONVERTED`] at a time.
    fn keep(numbers: &[Self], to: &mut [f64]);
}

impl Staged for f64 {
    fn keep(numbers: &[Self], to: &mut [f64]) {
        copy_past_cache(numbers, to);
    }
}

impl Staged for f32 {
    fn keep(numbers: &[Self], to: &mut [f64]) {
        let mut wide = [0.0; CONVERTED];
        wide.iter_mut().zip(numbers).for_each(|(to, from)| *to = f64::from(*from));
        copy_past_cache(&wide[..numbers.len()], to);
    }
}

/// Copies numbers to as much memory.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(super) fn copy_past_cache(from: &[f64], to: &mut [f64]) {
    use std::arch::x86_64::{_mm_loadu_pd, _mm_sfence, _mm_stream_pd};
    let head = to.as_ptr().align_offset(16).min(to.len());
    let ((from_head, from), (to_head, to)) = (from.split_at(head), to.split_at_mut(head));
    to_head.copy_from_slice(from_head);
    let ((from, from_tail), (to, to_tail)) = (from.as_chunks::<2>(), to.as_chunks_mut::<2>());
    for (from, to) in from.iter().zip(to) {
        // SAFETY: every x86-64 processor has these instructions. Both places have two numbers, and
        // the second begins at a multiple of 16 bytes.
        unsafe { _mm_stream_pd(to.as_mut_ptr(), _mm_loadu_pd(from.as_ptr())) };
    }
    to_tail.copy_from_slice(from_tail);
    // SAFETY: as above. Other threads see these writes after it, as they see any others.
    unsafe { _mm_sfence() };
}

/// Copies numbers to as much memory.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy_past_cache(from: &[f64], to: &mut [f64]) {
    to.copy_from_slice(from);
}

#[cfg(test)]
mod tests {
    use super::{CONVERTED, Staged, copy_past_cache};

    #[test]
    fn copies_of_any_length_from_and_to_any_place() {
        let from: Vec<f64> = (0..70).map(f64::from).collect();
        for (start, end) in [(0, 70), (1, 70), (1, 2), (3, 3), (2, 69)] {
            for shift in [0, 1] {
                let mut to = vec![-1.0; 80];
                copy_past_cache(&from[start..end], &mut to[shift..shift + end - start]);
                assert_eq!(to[shift..shift + end - start], from[start..end]);
                assert!(to[..shift].iter().chain(&to[shift + end - start..]).all(|x| *x == -1.0), "nothing else");
            }
        }
    }

    #[test]
    fn narrow_numbers_become_wide_ones() {
        let from: Vec<f32> = (0..CONVERTED as u16).map(|i| f32::from(i) * 0.1).collect();
        let mut to = vec![0.0; CONVERTED - 1];
        f32::keep(&from[1..], &mut to);
        assert!(to.iter().zip(&from[1..]).all(|(to, from)| *to == f64::from(*from)));
    }
}
