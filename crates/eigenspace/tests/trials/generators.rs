//! Test rows: a family, then shifted, scaled, or modified in some features.

use ndarray::{Array1, Array2};

use crate::random::Random;

/// Rows of more features take another path through the library.
pub(crate) const WIDE: usize = 128;

/// What the rows are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Gaussian,
    Decaying,
    LowRank,
    Binary,
    OneHot,
    GroupedOneHot,
    Signs,
    Levels,
    Images,
    AxisAligned,
    Multiples,
    Repeated,
    NearDuplicates,
    EqualEigenvalues,
    Sorted,
    StrongThenWeak,
    SparseSigns,
    Drifting,
}

use Family::{
    AxisAligned, Binary, Decaying, Drifting, EqualEigenvalues, Gaussian, GroupedOneHot, Images, Levels, LowRank,
    Multiples, NearDuplicates, OneHot, Repeated, Signs, Sorted, SparseSigns, StrongThenWeak,
};

pub(crate) const FAMILIES: [Family; 18] = [
    Gaussian,
    Decaying,
    LowRank,
    Binary,
    OneHot,
    GroupedOneHot,
    Signs,
    Levels,
    Images,
    AxisAligned,
    Multiples,
    Repeated,
    NearDuplicates,
    EqualEigenvalues,
    Sorted,
    StrongThenWeak,
    SparseSigns,
    Drifting,
];

/// Those that decompositions of wide rows find hard.
const CLUSTERED: [Family; 7] = [OneHot, GroupedOneHot, Multiples, Repeated, SparseSigns, AxisAligned, EqualEigenvalues];

/// What was done to the rows of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Twist {
    Plain,
    /// Mean up to 1e8 times the spread.
    Offset,
    /// Mean up to 1e15 times the spread.
    FarOffset,
    /// A scale of 1e-8 to 1e8 for every feature.
    ColumnScales,
    /// One scale for all.
    Scale,
    /// Some features that never vary.
    Constant,
    /// Some features that hardly vary.
    NearlyConstant,
}

/// A matrix of rows and what it is.
pub(crate) struct Data {
    pub(crate) family: Family,
    pub(crate) twist: Twist,
    pub(crate) rows: Array2<f64>,
}

/// Rows by the thousand are rare, and so are wide ones, because they take as long as all the
/// others.
pub(crate) fn generate(random: &mut Random) -> Data {
    let (n, d, family) = match random.below(1000) {
        0..8 => (random.within(90..=220), random.within(129..=200), random.pick(&CLUSTERED)),
        8..10 => (random.within(2..=700), random.within(129..=260), random.pick(&FAMILIES)),
        10..47 => (random.within(513..=1600), random.within(2..=40), random.pick(&FAMILIES)),
        47..120 => (random.within(2..=300), random.within(2..=40), random.pick(&FAMILIES)),
        _ => (random.within(1..=70), random.within(2..=12), random.pick(&FAMILIES)),
    };
    let mut rows = of_family(random, family, n, d);
    let twist = match random.below(100) {
        _ if d > WIDE && !random.one_in(3) => Twist::Plain,
        0..20 => Twist::Offset,
        20..24 => Twist::FarOffset,
        24..38 => Twist::ColumnScales,
        38..48 => Twist::Scale,
        48..56 => Twist::Constant,
        56..63 => Twist::NearlyConstant,
        _ => Twist::Plain,
    };
    apply(random, twist, &mut rows);
    Data { family, twist, rows }
}

fn of_family(random: &mut Random, family: Family, n: usize, d: usize) -> Array2<f64> {
    let shape = (n, d);
    match family {
        Gaussian => Array2::from_shape_simple_fn(shape, || random.normal()),
        Decaying => {
            let ratio = random.magnitude(-2.0, -0.02);
            let spectrum: Vec<f64> = (0..d).map(|j| ratio.powi(j as i32).max(1e-9)).collect();
            product(random, n, d, &spectrum)
        }
        LowRank => {
            let rank = random.within(1..=d.min(4));
            let spectrum: Vec<f64> = (0..rank).map(|_| random.magnitude(-2.0, 1.0)).collect();
            product(random, n, d, &spectrum)
        }
        Binary => {
            let share = random.uniform();
            Array2::from_shape_simple_fn(shape, || f64::from(u8::from(random.uniform() < share)))
        }
        OneHot => by_row(shape, |row| row[random.below(d)] = 1.0),
        GroupedOneHot => {
            let group = random.within(2..=7.min(d));
            by_row(shape, |row| {
                for start in (0..d).step_by(group) {
                    row[start + random.below(group.min(d - start))] = 1.0;
                }
            })
        }
        Signs => Array2::from_shape_simple_fn(shape, || random.pick(&[-1.0, 1.0])),
        SparseSigns => {
            let share = random.within(2..=12);
            Array2::from_shape_simple_fn(shape, || if random.one_in(share) { random.pick(&[-1.0, 1.0]) } else { 0.0 })
        }
        Levels => {
            let (levels, step) = (random.within(3..=6), random.pick(&[1.0, 0.5, 0.1, 1.0 / 3.0]));
            Array2::from_shape_simple_fn(shape, || step * random.below(levels) as f64)
        }
        Images => {
            let height = 0.5 * random.uniform();
            by_row(shape, |row| {
                let (center, width) = (random.uniform(), random.between(0.1, 0.4));
                for (j, x) in row.iter_mut().enumerate() {
                    let at = (j as f64 + 0.5) / d as f64;
                    *x = (255.0 * (height + (1.0 - height) * (-((at - center) / width).powi(2)).exp())).round();
                }
            })
        }
        AxisAligned => by_row(shape, |row| row[random.below(d)] = random.normal()),
        Multiples => {
            let direction = Array1::from_shape_simple_fn(d, || random.normal());
            by_row(shape, |row| row.assign(&(&direction * random.pick(&[1.0, 2.0, 3.0]))))
        }
        Repeated | NearDuplicates => {
            let kinds = random.within(1..=8);
            let distinct = Array2::from_shape_simple_fn((kinds, d), || random.normal());
            let noise = if family == NearDuplicates { random.magnitude(-15.0, -9.0) } else { 0.0 };
            by_row(shape, |row| {
                row.assign(&distinct.row(random.below(kinds)));
                row.mapv_inplace(|x| x + if noise > 0.0 { noise * random.normal() } else { 0.0 });
            })
        }
        EqualEigenvalues => {
            let turned = random.one_in(2);
            let axes = if turned { product_basis(random, d, d) } else { Array2::eye(d) };
            let scale = random.pick(&[1.0, 0.1, 3.0]);
            let mut i = 0;
            by_row(shape, |row| {
                let sign = if (i / d).is_multiple_of(2) { scale } else { -scale };
                row.assign(&(&axes.row(i % d) * sign));
                i += 1;
            })
        }
        Sorted => {
            let mut rows = Array2::from_shape_simple_fn(shape, || random.normal());
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&i, &j| rows[[i, 0]].total_cmp(&rows[[j, 0]]));
            let turns = random.below(2);
            if turns == 1 {
                order.reverse();
            }
            rows = rows.select(ndarray::Axis(0), &order);
            rows
        }
        StrongThenWeak => {
            let (weak, early) = (random.magnitude(-4.0, 0.0), random.within(1..=n));
            let hidden = random.below(d);
            let mut i = 0;
            by_row(shape, |row| {
                if i < early {
                    row.iter_mut().for_each(|x| *x = random.normal());
                    row[hidden] = 0.0;
                } else {
                    row[hidden] = weak * if i % 2 == 0 { 1.0 } else { -1.0 };
                }
                i += 1;
            })
        }
        Drifting => {
            let direction = Array1::from_shape_simple_fn(d, || random.normal());
            let pace = random.magnitude(-2.0, 1.0);
            let mut i = 0.0;
            by_row(shape, |row| {
                row.iter_mut().for_each(|x| *x = random.normal());
                row.scaled_add(pace * i, &direction);
                i += 1.0;
            })
        }
    }
}

/// Rows of zeros, each given to a function.
fn by_row(shape: (usize, usize), mut each: impl FnMut(&mut ndarray::ArrayViewMut1<'_, f64>)) -> Array2<f64> {
    let mut rows = Array2::zeros(shape);
    rows.rows_mut().into_iter().for_each(|mut row| each(&mut row));
    rows
}

/// Gaussian rows with these standard deviations along orthonormal directions.
fn product(random: &mut Random, n: usize, d: usize, spectrum: &[f64]) -> Array2<f64> {
    let basis = product_basis(random, spectrum.len(), d);
    let scores = Array2::from_shape_fn((n, spectrum.len()), |(_, j)| spectrum[j] * random.normal());
    scores.dot(&basis)
}

/// Orthonormal rows by Gram and Schmidt.
fn product_basis(random: &mut Random, k: usize, d: usize) -> Array2<f64> {
    let mut basis = Array2::from_shape_simple_fn((k, d), || random.normal());
    for i in 0..k {
        for _ in 0..2 {
            for j in 0..i {
                let (along, other) = (basis.row(i).dot(&basis.row(j)), basis.row(j).to_owned());
                basis.row_mut(i).scaled_add(-along, &other);
            }
        }
        let length = basis.row(i).dot(&basis.row(i)).sqrt();
        basis.row_mut(i).mapv_inplace(|x| x / length);
    }
    basis
}

fn apply(random: &mut Random, twist: Twist, rows: &mut Array2<f64>) {
    let d = rows.ncols();
    match twist {
        Twist::Plain => {}
        Twist::Offset | Twist::FarOffset => {
            let (low, high) = if twist == Twist::Offset { (0.0, 8.0) } else { (8.0, 15.5) };
            let (common, each) = (random.magnitude(low, high), random.one_in(2));
            for mut column in rows.columns_mut() {
                let offset = if each { random.magnitude(low, high) * random.pick(&[-1.0, 1.0]) } else { common };
                column += offset;
            }
        }
        Twist::ColumnScales => {
            let reach = random.between(1.0, 8.0);
            rows.columns_mut().into_iter().for_each(|mut column| column *= random.magnitude(-reach, reach));
        }
        Twist::Scale => {
            *rows *= if random.one_in(8) { random.magnitude(-60.0, 60.0) } else { random.magnitude(-8.0, 8.0) }
        }
        Twist::Constant | Twist::NearlyConstant => {
            for _ in 0..random.within(1..=d.div_ceil(3)) {
                let value = random.pick(&[0.0, 1.0, 0.1, 1e8, -3.7, 1e17, 255.0]);
                let spread = random.magnitude(-16.0, -4.0);
                let mut column = rows.column_mut(random.below(d));
                if twist == Twist::Constant {
                    column.fill(value);
                } else {
                    let (base, one) = (if value == 0.0 { 1.0 } else { value }, random.one_in(2));
                    let odd = random.below(column.len());
                    column.indexed_iter_mut().for_each(|(i, x)| {
                        let moved = if one { f64::from(u8::from(i == odd)) } else { *x };
                        *x = base * (1.0 + spread * moved);
                    });
                }
            }
        }
    }
}
