//! The share of the machine's matrix-product rate that the engine reaches.
//!
//! Each share is the ratio of two medians of one run in which all cases are interleaved, so that
//! other load on the machine affects both. The number of operations of each case is the smallest
//! that its algorithm needs: symmetric products count half; r vectors of an eigenproblem of size q
//! count 4/3 q³ to reach tridiagonal form and 2 q² r to rotate the vectors back.
#![allow(missing_docs, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use eigenspace::{EigenspaceModel, Engine, FitOptions};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};
use ndarray::Array2;

const ROUNDS: usize = 9;
/// Features, rows kept, and new rows.
const COMPRESSIONS: [(usize, usize, usize); 5] =
    [(4_096, 132, 132), (10_304, 132, 132), (10_304, 50, 64), (10_304, 100, 512), (100_000, 100, 128)];

/// The seconds and the number of operations of one call.
struct Case {
    name: String,
    operations: f64,
    single: bool,
    run: Box<dyn FnMut() -> f64>,
}

fn noise(rows: usize, columns: usize) -> Array2<f64> {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    // Some strong directions, for truncation to keep.
    let factors = Array2::from_shape_simple_fn((rows, 20), &mut next);
    let loadings = Array2::from_shape_simple_fn((20, columns), &mut next);
    factors.dot(&loadings) + Array2::from_shape_simple_fn((rows, columns), next)
}

fn seconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

fn product<T: faer::traits::RealField + Copy + 'static>(threads: usize, value: T, single: bool) -> Case {
    let n = 1536;
    let (a, b) = (Mat::from_fn(n, n, |_, _| value), Mat::from_fn(n, n, |_, _| value));
    let mut c = Mat::zeros(n, n);
    let run = move || {
        seconds(|| {
            matmul(
                c.as_mut(),
                Accum::Replace,
                a.as_ref(),
                b.as_ref(),
                faer::traits::math_utils::one::<T>(),
                Par::rayon(threads),
            )
        })
    };
    Case { name: "product".into(), operations: 2.0 * (n as f64).powi(3), single, run: Box::new(run) }
}

/// Rows absorbed into the D × D scatter.
fn scatter(features: usize, single: bool) -> Case {
    let rows = 512 * 8;
    let data = noise(rows, features);
    let narrow = data.mapv(|x| x as f32);
    let options = FitOptions::new().components(50).engine(Engine::Scatter);
    let run = move || {
        let mut stream = options.stream(features).expect("valid options");
        // Warm: the first block allocates the scatter.
        let head = data.slice_axis(ndarray::Axis(0), (..513).into());
        if single { stream.update(head.mapv(|x| x as f32).view()) } else { stream.update(head) }.expect("finite rows");
        seconds(|| if single { stream.update(narrow.view()) } else { stream.update(data.view()) })
    };
    let name = format!("scatter D={features} {}", if single { "f32" } else { "f64" });
    let d = features as f64;
    Case { name, operations: rows as f64 * d * (d + 1.0), single, run: Box::new(run) }
}

/// Compressions of [ r kept ; m new rows ] to r rows.
fn compression((features, rank, block): (usize, usize, usize)) -> Case {
    let turns = (2048 / block).max(2);
    let data = noise(rank + block + 1 + turns * block, features);
    let options = FitOptions::new().components(rank / 2).max_rank(rank).engine(Engine::Factor).block_rows(block);
    let run = move || {
        let mut stream = options.stream(features).expect("valid options");
        let mut add = |rows: std::ops::Range<usize>| {
            stream.update(data.slice_axis(ndarray::Axis(0), rows.into())).expect("finite rows");
        };
        let head = rank + block + 1;
        add(0..head);
        // Fills the buffer, and then adds the row that causes a compression.
        (0..turns)
            .map(|turn| {
                let (start, end) = (head + turn * block, head + (turn + 1) * block);
                add(start..end - 1);
                seconds(|| add(end - 1..end))
            })
            .sum()
    };
    let (d, r, m, q) = (features as f64, rank as f64, block as f64, (rank + block) as f64);
    // Products of the new rows with the kept and with each other, r vectors of an eigenproblem, r
    // rows turned.
    let eigenproblem = 4.0 / 3.0 * q.powi(3) + 2.0 * q * q * r;
    let operations = turns as f64 * ((m * (m + 1.0) + 2.0 * m * r) * d + eigenproblem + 2.0 * r * q * d);
    let name = format!("compression D={features} r={rank} m={block} f64");
    Case { name, operations, single: false, run: Box::new(run) }
}

/// The same compressions, with the checking and copying of rows, in calls of so many rows.
fn stream((features, rank, block): (usize, usize, usize), call: usize) -> Case {
    let turns = (2048 / block).max(2);
    let head = rank + block;
    let data = noise(head + turns * block + 1, features);
    let options = FitOptions::new().components(rank / 2).max_rank(rank).engine(Engine::Factor).block_rows(block);
    let run = move || {
        let mut stream = options.stream(features).expect("valid options");
        let part = |rows: std::ops::Range<usize>| data.slice_axis(ndarray::Axis(0), rows.into());
        stream.update(part(0..head + 1)).expect("finite rows");
        let rest = part(head + 1..data.nrows());
        seconds(|| rest.axis_chunks_iter(ndarray::Axis(0), call).try_for_each(|rows| stream.update(rows)))
    };
    let (d, r, m, q) = (features as f64, rank as f64, block as f64, (rank + block) as f64);
    let eigenproblem = 4.0 / 3.0 * q.powi(3) + 2.0 * q * q * r;
    let operations = turns as f64 * ((m * (m + 1.0) + 2.0 * m * r) * d + eigenproblem + 2.0 * r * q * d);
    let name = format!("stream D={features} r={rank} m={block} calls={call}");
    Case { name, operations, single: false, run: Box::new(run) }
}

/// The products of the same compressions alone, in panels that fit in the cache.
fn products<T: faer::traits::RealField + Copy + 'static>(
    (features, rank, block): (usize, usize, usize),
    value: T,
    single: bool,
) -> Case {
    const PANEL: usize = 480;
    let (turns, one) = ((2048 / block).max(2), faer::traits::math_utils::one::<T>());
    let a = Mat::from_fn(PANEL, rank + block, |_, _| value);
    let u = Mat::from_fn(rank + block, rank, |_, _| value);
    let (mut g, mut turned) = (Mat::zeros(block, rank + block), Mat::zeros(PANEL, rank));
    let run = move || {
        let whole = BlockStructure::Rectangular;
        let new = a.as_ref().subcols(rank, block);
        seconds(|| {
            for _ in 0..turns * features.div_ceil(PANEL) {
                let (beside, own) = g.as_mut().split_at_col_mut(rank);
                matmul(beside, Accum::Add, new.transpose(), a.as_ref().subcols(0, rank), one, Par::Seq);
                let lower = BlockStructure::TriangularLower;
                triangular::matmul(own, lower, Accum::Add, new.transpose(), whole, new, whole, one, Par::Seq);
                matmul(turned.as_mut(), Accum::Replace, a.as_ref(), u.as_ref(), one, Par::Seq);
            }
        })
    };
    let (d, r, m) = (features as f64, rank as f64, block as f64);
    let operations = turns as f64 * ((m * (m + 1.0) + 2.0 * m * r) * d + 2.0 * r * (r + m) * d);
    let precision = if single { "f32" } else { "f64" };
    let name = format!("products    D={features} r={rank} m={block} {precision}");
    Case { name, operations, single, run: Box::new(run) }
}

/// The same products in f32 with a rounding that could be proven to be small: rows are narrowed, at
/// most CHAIN products are summed in f32 before they are added in f64, the factor is multiplied
/// with itself (its rows are orthogonal only up to the rounding of f32), and the diagonal of the
/// rotation stays in f64. See docs/METHOD.md.
fn proven_products((features, rank, block): (usize, usize, usize)) -> Case {
    const PANEL: usize = 480;
    const CHAIN: usize = 96;
    let turns = (2048 / block).max(2);
    let rows = rank + block;
    let a = Mat::from_fn(PANEL, rows, |i, j| ((i + 3 * j) % 7) as f64);
    let u = Mat::from_fn(rows, rank, |_, _| 0.5_f32);
    let (mut narrow, mut turned) = (Mat::<f32>::zeros(PANEL, rows), Mat::<f32>::zeros(PANEL, rank));
    let (mut single, mut gram) = (Mat::<f32>::zeros(rows, rows), Mat::<f64>::zeros(rows, rows));
    let mut out = Mat::<f64>::zeros(PANEL, rank);
    let narrowed = move |to: &mut Mat<f32>| {
        for j in 0..rows {
            let (to, from) = (to.col_as_slice_mut(j), a.col_as_slice(j));
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || to.iter_mut().zip(from).for_each(|(to, x)| *to = (x * 0.25) as f32),
            );
        }
    };
    let run = move || {
        let whole = BlockStructure::Rectangular;
        seconds(|| {
            for _ in 0..turns * features.div_ceil(PANEL) {
                narrowed(&mut narrow);
                for start in (0..PANEL).step_by(CHAIN) {
                    let panel = narrow.as_ref().subrows(start, CHAIN);
                    let lower = BlockStructure::TriangularLower;
                    let to = single.as_mut();
                    triangular::matmul(
                        to,
                        lower,
                        Accum::Replace,
                        panel.transpose(),
                        whole,
                        panel,
                        whole,
                        1.0,
                        Par::Seq,
                    );
                    for j in 0..rows {
                        let (sums, more) = (gram.col_as_slice_mut(j), single.col_as_slice(j));
                        pulp::Arch::new().dispatch(
                            #[inline(always)]
                            || sums[j..].iter_mut().zip(&more[j..]).for_each(|(sum, x)| *sum += f64::from(*x)),
                        );
                    }
                }
                // The second pass over the rows, after the eigenproblem.
                narrowed(&mut narrow);
                matmul(turned.as_mut(), Accum::Replace, narrow.as_ref(), u.as_ref(), 1.0, Par::Seq);
                for j in 0..rank {
                    let (to, x) = (out.col_as_slice_mut(j), turned.col_as_slice(j));
                    pulp::Arch::new().dispatch(
                        #[inline(always)]
                        || to.iter_mut().zip(x).for_each(|(to, x)| *to = 0.5 * *to + f64::from(*x)),
                    );
                }
            }
        })
    };
    let (d, r, m) = (features as f64, rank as f64, block as f64);
    let operations = turns as f64 * ((m * (m + 1.0) + 2.0 * m * r) * d + 2.0 * r * (r + m) * d);
    let name = format!("products    D={features} r={rank} m={block} proven f32");
    Case { name, operations, single: true, run: Box::new(run) }
}

/// How many times as fast a compression would be if its products were computed in f32, on one
/// thread: at most, and with the work that a proven bound on their rounding needs.
fn f32_products(times: &[(String, f64)]) {
    println!("\nf32 products: how many times as fast a compression would be   at most   with a proven bound");
    let time = |name: String| times.iter().find(|(other, _)| *other == name).map(|(_, time)| *time);
    for (features, rank, block) in COMPRESSIONS {
        let shape = format!("D={features} r={rank} m={block}");
        let whole = time(format!("compression {shape} f64"));
        let products = ["f64", "f32", "proven f32"].map(|precision| time(format!("products    {shape} {precision}")));
        if let (Some(whole), [Some(double), Some(single), Some(proven)]) = (whole, products) {
            let gain = |products: f64| whole / (whole - double + products);
            println!("{shape:<58} {:>10.2} {:>21.2}", gain(single), gain(proven));
        }
    }
}

/// Rows projected on k components.
fn project(features: usize, k: usize, single: bool) -> Case {
    let rows = 2048;
    let data = noise(rows, features);
    let model = EigenspaceModel::fit(data.slice_axis(ndarray::Axis(0), (..k + 1).into())).expect("finite rows");
    let narrow = data.mapv(|x| x as f32);
    let run =
        move || if single { seconds(|| model.project(narrow.view())) } else { seconds(|| model.project(data.view())) };
    let name = format!("project D={features} k={k} {}", if single { "f32" } else { "f64" });
    Case { name, operations: 2.0 * (rows * features * k) as f64, single, run: Box::new(run) }
}

fn main() {
    let threads = std::env::var("EIGENSPACE_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("the first pool");
    let mut cases = vec![product::<f64>(threads, 0.5, false), product::<f32>(threads, 0.5, true)];
    for single in [false, true] {
        cases.push(scatter(256, single));
        cases.push(scatter(784, single));
        cases.push(project(10_304, 50, single));
    }
    for shape in COMPRESSIONS {
        cases.push(compression(shape));
        cases.push(products(shape, 0.5_f64, false));
        cases.push(products(shape, 0.5_f32, true));
        cases.push(proven_products(shape));
    }
    for shape in [(10_304, 132, 132), (10_304, 50, 64)] {
        for call in [shape.2, 1024] {
            cases.push(stream(shape, call));
        }
    }
    // `cargo bench --bench rates -- scatter` runs the products and the cases named so.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    cases.retain(|case| case.name == "product" || wanted.iter().all(|word| case.name.contains(word)));
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (case, times) in cases.iter_mut().zip(&mut times) {
            times.push((case.run)());
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let medians: Vec<f64> = times.iter_mut().map(median).collect();
    let rates: Vec<f64> = cases.iter().zip(&medians).map(|(case, time)| case.operations / time / 1e9).collect();
    println!("{threads} threads, {ROUNDS} interleaved rounds, medians");
    println!("{:<40} {:>10} {:>18}", "case", "GFLOP/s", "share of product");
    for (case, rate) in cases.iter().zip(&rates) {
        let best = rates[usize::from(case.single)];
        println!("{:<40} {rate:>10.1} {:>17.0}%", case.name, 100.0 * rate / best);
    }
    if threads == 1 {
        f32_products(&cases.into_iter().map(|case| case.name).zip(medians).collect::<Vec<_>>());
    }
}
