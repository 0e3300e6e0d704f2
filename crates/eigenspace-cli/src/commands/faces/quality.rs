//! Compression and denoising: how well k scores represent a face.
//!
//! ```text
//! z = V_k (x − μ), rounded to 32 bits     x̂ = μ + V_kᵀz          4 k bytes instead of an image
//! x + noise  ─►  z  ─►  x̂                 the part outside the components, most of the noise, is removed
//! ```

use std::path::Path;

use eigenspace::faces::{Split, psnr, ssim};
use eigenspace::internal::{People, add_noise};
use eigenspace::{EigenspaceModel, Truncation};
use ndarray::{Array2, ArrayView2, Axis};
use serde_json::{Value, json};

use crate::commands::faces::plots::{self, decibels, drawn};
use crate::draw::{self, ImageSize, Range, Strip, StripRow};
use crate::output;
use crate::table::table;

/// Numbers of components to try.
const STEPS: [usize; 6] = [5, 10, 20, 50, 100, 200];

/// The mean PSNR and SSIM of images compared with their originals.
#[derive(Clone, Copy)]
struct Similarity {
    psnr: f64,
    ssim: f64,
}

fn similarity(originals: ArrayView2<'_, f64>, others: ArrayView2<'_, f64>, width: usize, range: f64) -> Similarity {
    let n = (originals.nrows() as f64).max(1.0);
    let pairs = || originals.rows().into_iter().zip(others.rows());
    Similarity {
        psnr: pairs().map(|(x, y)| psnr(x, y, range)).sum::<f64>() / n,
        ssim: pairs().map(|(x, y)| ssim(x, y, width, range)).sum::<f64>() / n,
    }
}

/// A model of the training images, and both sets of images.
struct ImageSets {
    model: EigenspaceModel,
    learned: Array2<f64>,
    new: Array2<f64>,
    size: (usize, usize),
    steps: Vec<usize>,
    /// The largest value that a pixel can have.
    largest: f64,
}

impl ImageSets {
    fn new(read: &People, split: &Split) -> anyhow::Result<Self> {
        let (learned, new) = (read.rows.select(Axis(0), &split.train), read.rows.select(Axis(0), &split.test));
        let most = STEPS[STEPS.len() - 1];
        let model = EigenspaceModel::fit(learned.view())?.truncate(Truncation::Rank(most))?;
        let mut steps: Vec<usize> = STEPS.iter().map(|&k| k.min(model.rank())).filter(|k| *k > 0).collect();
        steps.dedup();
        Ok(Self { model, learned, new, size: read.size, steps, largest: read.largest() })
    }

    /// Images reconstructed from their first k scores, each stored in 32 bits.
    fn through(&self, rows: &Array2<f64>, k: usize) -> anyhow::Result<Array2<f64>> {
        let model = self.model.with_components(k)?;
        let kept = model.project(rows.view())?.mapv(|z| f64::from(z as f32));
        Ok(model.reconstruct(kept.view())?)
    }

    fn range(&self) -> Range {
        Range::Unit(0.0, self.largest)
    }

    /// Rows of images over the number of components.
    fn strip(&self, rows: Vec<StripRow>) -> draw::Drawing {
        let columns: Vec<String> = self.steps.iter().map(|k| format!("k = {k}")).collect();
        let size = ImageSize { width: self.size.0, height: self.size.1, channels: 1 };
        draw::strip(&Strip { title: "", columns: &columns, rows: &rows, size })
    }
}

/// The first row.
fn first(rows: &Array2<f64>) -> Vec<f64> {
    rows.row(0).to_vec()
}

/// Measures bytes per face and the quality of the reconstruction.
pub(super) fn compression(
    read: &People,
    split: &Split,
    directory: Option<&Path>,
    as_json: bool,
) -> anyhow::Result<Value> {
    let sets = ImageSets::new(read, split)?;
    let (width, height) = sets.size;
    let pgm = format!("P5\n{width} {height}\n{}\n", sets.largest).len()
        + width * height * if sets.largest > 255.0 { 2 } else { 1 };
    let (mut rows, mut values, mut rebuilt) = (Vec::new(), Vec::new(), Vec::new());
    for &k in &sets.steps {
        let new = sets.through(&sets.new, k)?;
        let old = sets.through(&sets.learned, k)?;
        let [old, fresh] = [(&sets.learned, &old), (&sets.new, &new)]
            .map(|(x, y)| similarity(x.view(), y.view(), width, sets.largest));
        let own = 4 * k;
        // The mean and the directions, shared by all images of the set.
        let shared = 4 * (k + 1) * width * height;
        let each = own as f64 + shared as f64 / read.rows.nrows() as f64;
        rows.push(vec![
            k.to_string(),
            own.to_string(),
            format!("{:.0}x", pgm as f64 / own as f64),
            format!("{each:.0}"),
            decibels(old.psnr),
            format!("{:.3}", old.ssim),
            decibels(fresh.psnr),
            format!("{:.3}", fresh.ssim),
        ]);
        values.push((k, own, each, old, fresh));
        rebuilt.push(first(&new));
    }
    if let Some(directory) = directory {
        let curve = |value: fn(&(usize, usize, f64, Similarity, Similarity)) -> f64| -> Vec<(f64, f64)> {
            values.iter().map(|point| (point.0 as f64, value(point))).collect()
        };
        let decibels =
            [("training faces", curve(|p| drawn(p.3.psnr)), true), ("new faces", curve(|p| drawn(p.4.psnr)), false)];
        plots::write(directory, "compression-psnr", &plots::over_k(&decibels, "PSNR, dB"))?;
        let alike = [("training faces", curve(|p| p.3.ssim), true), ("new faces", curve(|p| p.4.ssim), false)];
        plots::write(directory, "compression-ssim", &plots::over_k(&alike, "SSIM"))?;
        let original = first(&sets.new);
        let strip = vec![
            StripRow { heading: "new face".into(), tiles: vec![original; sets.steps.len()], range: sets.range() },
            StripRow { heading: "from k scores".into(), tiles: rebuilt, range: sets.range() },
        ];
        plots::write(directory, "compression-strip", &sets.strip(strip))?;
    }
    if as_json {
        let row = |(k, own, each, old, new): &(usize, usize, f64, Similarity, Similarity)| {
            json!({ "n_components": k, "bytes": own, "bytes_with_directions": each, "pgm_bytes": pgm,
                "learned": described(*old), "new": described(*new) })
        };
        return Ok(values.iter().map(row).collect());
    }
    let headings =
        ["k", "bytes", "vs PGM", "with directions", "PSNR training", "SSIM training", "PSNR new", "SSIM new"];
    output::data(&format!(
        "compression: {} training faces, {} new faces, {pgm} bytes each as PGM\n\n{}\n",
        sets.learned.nrows(),
        sets.new.nrows(),
        table(&headings, &rows)
    ))?;
    Ok(Value::Null)
}

/// Measures how much noise is removed from faces by projecting and reconstructing them.
pub(super) fn denoising(
    read: &People,
    split: &Split,
    deviation: f64,
    seed: u64,
    directory: Option<&Path>,
    as_json: bool,
) -> anyhow::Result<Value> {
    let sets = ImageSets::new(read, split)?;
    let width = sets.size.0;
    let noisy = |rows: &Array2<f64>, seed: u64| {
        let mut rows = rows.clone();
        add_noise(&mut rows, deviation, seed);
        rows
    };
    let (old, new) = (noisy(&sets.learned, seed), noisy(&sets.new, seed.wrapping_add(1)));
    let before =
        [(&sets.learned, &old), (&sets.new, &new)].map(|(x, y)| similarity(x.view(), y.view(), width, sets.largest));
    let line = |name: String, [old, new]: [Similarity; 2]| {
        vec![name, decibels(old.psnr), format!("{:.3}", old.ssim), decibels(new.psnr), format!("{:.3}", new.ssim)]
    };
    let mut rows = vec![line("noisy".into(), before)];
    let (mut values, mut cleaned) = (Vec::new(), Vec::new());
    for &k in &sets.steps {
        let clean = sets.through(&new, k)?;
        let after = [
            similarity(sets.learned.view(), sets.through(&old, k)?.view(), width, sets.largest),
            similarity(sets.new.view(), clean.view(), width, sets.largest),
        ];
        rows.push(line(k.to_string(), after));
        values.push((k, after));
        cleaned.push(first(&clean));
    }
    if let Some(directory) = directory {
        let curve = |value: &dyn Fn(&[Similarity; 2]) -> f64| -> Vec<(f64, f64)> {
            values.iter().map(|(k, after)| (*k as f64, value(after))).collect()
        };
        let series = [
            ("training faces", curve(&|after| drawn(after[0].psnr)), true),
            ("new faces", curve(&|after| drawn(after[1].psnr)), false),
            ("noisy", curve(&|_| before[1].psnr), true),
        ];
        plots::write(directory, "denoising-psnr", &plots::over_k(&series, "PSNR, dB"))?;
        let copies = |rows: &Array2<f64>| vec![first(rows); sets.steps.len()];
        let strip = vec![
            StripRow { heading: "new face".into(), tiles: copies(&sets.new), range: sets.range() },
            StripRow { heading: "with noise".into(), tiles: copies(&new), range: sets.range() },
            StripRow { heading: "from k scores".into(), tiles: cleaned, range: sets.range() },
        ];
        plots::write(directory, "denoising-strip", &sets.strip(strip))?;
    }
    if as_json {
        let row = |(k, [old, new]): &(usize, [Similarity; 2])| json!({ "n_components": k, "learned": described(*old), "new": described(*new) });
        return Ok(json!({
            "deviation": deviation,
            "noisy": { "learned": described(before[0]), "new": described(before[1]) },
            "components": values.iter().map(row).collect::<Vec<_>>(),
        }));
    }
    let headings = ["k", "PSNR training", "SSIM training", "PSNR new", "SSIM new"];
    output::data(&format!(
        "denoising: noise of deviation {deviation} on {} training faces and {} new faces\n\n{}\n",
        sets.learned.nrows(),
        sets.new.nrows(),
        table(&headings, &rows)
    ))?;
    Ok(Value::Null)
}

/// JSON; values that are not finite (of equal or very small images) become null.
fn described(similarity: Similarity) -> Value {
    json!({ "psnr": similarity.psnr, "ssim": similarity.ssim })
}
