//! Accumulators: the rows of a case cut into partitions, merged in a random tree, some states
//! through bytes.

use eigenspace::{Accumulator, Error, Forgetting};

use crate::fits::{Fitted, Source, options};
use crate::random::Random;

/// Accumulators have a generator of their own, with this seed added, so that all other choices of a
/// case stay the same.
const SEED: u64 = 0x00AC_C0DE_0000_0000;

/// One in this number of cases has accumulators.
const EVERY: usize = 3;

/// The generator for the accumulators of a case, if it has some.
pub(crate) fn chosen(seed: u64, wide: bool) -> Option<Random> {
    let mut random = Random::new(seed ^ SEED);
    random.one_in(if wide { 4 * EVERY } else { EVERY }).then_some(random)
}

/// The model of these rows by accumulators.
pub(crate) fn accumulate(random: &mut Random, source: &Source, which: &[usize]) -> Result<Fitted, (String, Error)> {
    let (options, _, lossless) = options(random, source);
    let options = options.forgetting(Forgetting::Never);
    let parts = match random.below(4) {
        0 => 2,
        1 => random.within(2..=4),
        2 => random.within(2..=12),
        _ => which.len().min(40),
    };
    let how = format!("accumulate {} rows in {parts} partitions, {options:?}", which.len());
    let mut run = || {
        let mut level = partitions(random, which, parts)
            .iter()
            .map(|rows| {
                let mut part = options.accumulator()?;
                for some in rows.chunks(random.within(1..=rows.len().max(1))) {
                    source.with(some, |block| part.absorb(block))?;
                }
                Ok(part)
            })
            .collect::<Result<Vec<_>, Error>>()?;
        while level.len() > 1 {
            let at = random.below(level.len());
            let other = through_bytes(random, level.swap_remove(at));
            let into = random.below(level.len());
            level[into].merge(&other)?;
        }
        level.remove(0).finish()
    };
    match run() {
        Ok(model) => Ok(Fitted { model, rows: source.members(which), lossless, aged: false, how }),
        Err(error) => Err((how, error)),
    }
}

/// Rows cut at random places, with empty partitions and very unequal ones among them.
fn partitions<'a>(random: &mut Random, which: &'a [usize], parts: usize) -> Vec<&'a [usize]> {
    let skewed = random.one_in(3);
    let place = |random: &mut Random| {
        let end = if skewed { which.len().min(3) } else { which.len() };
        random.within(0..=end)
    };
    let mut places: Vec<usize> = (1..parts).map(|_| place(random)).chain([0, which.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|pair| &which[pair[0]..pair[1]]).collect()
}

fn through_bytes(random: &mut Random, state: Accumulator) -> Accumulator {
    if random.one_in(2) { Accumulator::from_bytes(&state.to_bytes()).expect("what was just written") } else { state }
}
