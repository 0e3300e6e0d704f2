//! Plots of a model and of rows projected on it.

use std::path::PathBuf;

use eigenspace::io::source::{RowBlock, RowSource, Values};
use eigenspace::{Error, ImageShape, Missing};
use ndarray::{Array2, ArrayView1, Axis, Slice};

use crate::draw::{
    self, Biplot, Circle, Drawing, Gallery, ImageSize, Monitor, Range, Scatter, Scatter3, Scree, Strip, StripRow, Tile,
};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::options::Input;
use crate::{inputs, output, rows};

/// Largest number of components in a scree plot by default.
const BARS: usize = 50;

/// Opens rows that have the columns of a model.
type Open<'a> = dyn Fn(&Opened) -> anyhow::Result<Box<dyn RowSource>> + 'a;

/// Rows to draw.
pub(crate) struct Rows<'a> {
    open: Box<Open<'a>>,
    with_progress: bool,
}

/// The scores of rows, and their labels.
struct Points {
    scores: Vec<Vec<f64>>,
    labels: Option<Vec<String>>,
}

impl<'a> Rows<'a> {
    /// Rows named on the command line.
    pub(crate) fn named(data: &'a [PathBuf], input: &'a Input) -> Self {
        let open = |opened: &Opened| inputs::open_for(data, input, opened.metadata(), opened.raw().features());
        Self { open: Box::new(open), with_progress: true }
    }

    /// Rows that were read before.
    #[cfg(feature = "explore")]
    pub(crate) fn stored(open: impl Fn() -> Box<dyn RowSource> + 'a) -> Self {
        Self { open: Box::new(move |_| Ok(open())), with_progress: false }
    }

    /// Passes the rows to `each`, without those that the view skips.
    fn for_each(
        &self,
        what: &str,
        opened: &Opened,
        mut each: impl FnMut(&RowBlock) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let source = (self.open)(opened)?;
        let mut kept = |block: &RowBlock| each(&opened.without_skipped(block));
        match self.with_progress {
            true => rows::for_each(what, source, 0, kept)?,
            false => rows::for_each_quietly(source, &mut kept)?,
        };
        Ok(())
    }

    /// The scores of all rows along some components, counted from 0.
    fn points(&self, opened: &Opened, axes: &[usize]) -> anyhow::Result<Points> {
        let (mut scores, mut labels) = (Vec::new(), None::<Vec<String>>);
        self.for_each("project", opened, |block| {
            let projected = opened.project(&block.values)?.to_f64();
            scores.extend(projected.rows().into_iter().map(|row| axes.iter().map(|&i| row[i]).collect::<Vec<_>>()));
            if let Some(more) = &block.labels {
                labels.get_or_insert_default().extend(more.iter().cloned());
            }
            Ok(())
        })?;
        let labels = labels.filter(|labels| labels.len() == scores.len());
        Ok(Points { scores, labels })
    }
}

/// Components by their numbers from 1, as indices; at least two and at most `most`, which are
/// `expected`.
fn axes(opened: &Opened, numbers: &[usize], most: usize, expected: &'static str) -> anyhow::Result<Vec<usize>> {
    let (reported, rank) = (opened.model().n_components(), opened.model().rank());
    let wrong = |wanted| Failure::NoComponent { wanted, reported, rank };
    if numbers.len() < 2 || numbers.len() > most {
        return Err(Failure::Axes { expected, found: numbers.len() }.into());
    }
    if let Some(&number) =
        numbers.iter().enumerate().find_map(|(i, number)| numbers[..i].contains(number).then_some(number))
    {
        return Err(Failure::SameAxes { number }.into());
    }
    let index = |&number: &usize| if (1..=reported).contains(&number) { Ok(number - 1) } else { Err(wrong(number)) };
    Ok(numbers.iter().map(index).collect::<Result<_, _>>()?)
}

fn axis_title(opened: &Opened, component: usize) -> String {
    let ratio = opened.model().explained_variance_ratio().get(component).copied();
    draw::component_title(component + 1, ratio)
}

/// The kept directions up to a limit, with a mark at the number of reported components. If that
/// number was given on the command line, only the reported components.
pub(crate) fn scree(opened: &Opened, asked: bool, title: &str) -> anyhow::Result<Drawing> {
    let reported = opened.model().n_components();
    let bars = if asked { reported } else { opened.model().rank().min(BARS.max(reported)) };
    let wider = opened.with_components(bars)?;
    let ratios = wider.view().explained_variance_ratio().to_vec();
    let bounds = wider.view().explained_variance_ratio_bounds();
    let bounds = (!wider.model().certificate().is_exact()).then_some(&bounds[..]);
    let reported = (reported < bars).then_some(reported);
    Ok(draw::scree(&Scree { title, ratios: &ratios, bounds, reported }))
}

pub(crate) fn scatter(opened: &Opened, rows: &Rows<'_>, numbers: &[usize], title: &str) -> anyhow::Result<Drawing> {
    let axes = axes(opened, numbers, 3, "two or three components")?;
    let points = rows.points(opened, &axes)?;
    let titles: Vec<String> = axes.iter().map(|&i| axis_title(opened, i)).collect();
    let labels = points.labels.as_deref();
    if let [x, y, z] = &titles[..] {
        let points: Vec<[f64; 3]> = points.scores.iter().map(|p| [p[0], p[1], p[2]]).collect();
        return Ok(draw::scatter3(&Scatter3 { title, points: &points, labels, titles: [x, y, z] }));
    }
    let points: Vec<(f64, f64)> = points.scores.iter().map(|p| (p[0], p[1])).collect();
    Ok(draw::scatter(&Scatter { title, points: &points, labels, x_title: &titles[0], y_title: &titles[1] }))
}

pub(crate) fn biplot(opened: &Opened, rows: &Rows<'_>, numbers: &[usize], title: &str) -> anyhow::Result<Drawing> {
    let axes = axes(opened, numbers, 2, "two components for a biplot")?;
    let arrows = loadings(opened, &axes, false)?;
    let points = rows.points(opened, &axes)?;
    let [x, y] = [axis_title(opened, axes[0]), axis_title(opened, axes[1])];
    let plane: Vec<(f64, f64)> = points.scores.iter().map(|p| (p[0], p[1])).collect();
    let scatter = Scatter { title, points: &plane, labels: points.labels.as_deref(), x_title: &x, y_title: &y };
    Ok(draw::biplot(&Biplot { scatter, arrows: &arrows }))
}

pub(crate) fn circle(opened: &Opened, numbers: &[usize], title: &str) -> anyhow::Result<Drawing> {
    let axes = axes(opened, numbers, 2, "two components for a circle plot")?;
    let arrows = loadings(opened, &axes, true)?;
    let [x, y] = [axis_title(opened, axes[0]), axis_title(opened, axes[1])];
    Ok(draw::circle(&Circle { title, arrows: &arrows, x_title: &x, y_title: &y }))
}

/// The name of each column, and its loadings on two components, or its correlations with them.
fn loadings(opened: &Opened, axes: &[usize], correlations: bool) -> anyhow::Result<Vec<(String, f64, f64)>> {
    let names = opened.metadata().feature_names().ok_or(Failure::NoNames)?;
    let view = opened.view();
    let loadings = if correlations { view.correlations()? } else { view.loadings()? };
    Ok(names.iter().zip(loadings.rows()).map(|(name, row)| (name.clone(), row[axes[0]], row[axes[1]])).collect())
}

pub(crate) fn monitor(opened: &Opened, rows: &Rows<'_>, confidence: f64, title: &str) -> anyhow::Result<Drawing> {
    let model = opened.model();
    let limits = model.limits(confidence)?;
    if model.n_components() == model.rank() && model.certificate().is_exact() {
        output::message("all directions are reported, so Q is only rounding error; report fewer with -k");
    }
    let (mut t2, mut q, mut labels, mut names) = (Vec::new(), Vec::new(), None::<Vec<String>>, None::<Vec<String>>);
    rows.for_each("monitor", opened, |block| {
        let readings = opened.monitor(&block.values, limits)?;
        t2.extend(readings.hotelling);
        q.extend(readings.squared_distance);
        if let Some(more) = &block.labels {
            labels.get_or_insert_default().extend(more.iter().cloned());
        }
        if let Some(more) = &block.origin.names {
            names.get_or_insert_default().extend(more.iter().cloned());
        }
        Ok(())
    })?;
    let level = format!("{} %", 100.0 * confidence);
    let limits = Some((limits.hotelling, limits.squared_distance));
    let (labels, names) = (labels.as_deref(), names.as_deref());
    Ok(draw::monitor(&Monitor { title, t2: &t2, q: &q, limits, level: &level, labels, names }))
}

/// The image that this many features form.
pub(crate) fn image_shape((width, height): (usize, usize), features: usize) -> anyhow::Result<ImageShape> {
    let pixels = width.checked_mul(height).filter(|pixels| *pixels > 0);
    match pixels.map(|pixels| (features / pixels, features % pixels)) {
        Some((channels @ (1 | 3), 0)) => Ok(ImageShape::new(width, height, channels)),
        _ => Err(Failure::Shape { width, height, features }.into()),
    }
}

fn size_of(opened: &Opened) -> anyhow::Result<ImageSize> {
    let image = opened.metadata().image().ok_or(Failure::NoImages)?;
    Ok(ImageSize { width: image.width(), height: image.height(), channels: image.channels() })
}

pub(crate) fn gallery(opened: &Opened, tiles: usize, title: &str) -> anyhow::Result<Drawing> {
    let (size, model) = (size_of(opened)?, opened.model());
    let ratios = model.explained_variance_ratio();
    let pixels = |row: ArrayView1<'_, f64>| row.to_vec();
    let mean = Tile { pixels: pixels(opened.raw().mean()), caption: "mean".into() };
    let components = model.components();
    let others =
        components.rows().into_iter().zip(&ratios).enumerate().map(|(i, (row, ratio))| Tile {
            pixels: pixels(row),
            caption: format!("{} ({:.1} %)", i + 1, 100.0 * ratio),
        });
    let tiles: Vec<Tile> = std::iter::once(mean).chain(others).take(tiles).collect();
    let columns = tiles.len().min(8);
    Ok(draw::gallery(&Gallery { title, tiles: &tiles, size, columns, range: Range::Own }))
}

pub(crate) fn strip(
    opened: &Opened,
    rows: &Rows<'_>,
    row: u64,
    steps: &[usize],
    title: &str,
) -> anyhow::Result<Drawing> {
    let mut source = (rows.open)(opened)?;
    source.skip(row)?;
    let block = source.next_block(1)?.ok_or(Failure::NoRow { row, rows: source.rows() })?;
    strip_of(opened, &block.values, steps, title).map_err(|error| match error.downcast::<Error>() {
        Ok(error) => block.origin.locate(error, source.columns()).into(),
        Err(other) => other,
    })
}

/// The strip of one row that was already read.
pub(crate) fn strip_of(opened: &Opened, row: &Values, steps: &[usize], title: &str) -> anyhow::Result<Drawing> {
    let size = size_of(opened)?;
    let all = opened.with_components(opened.raw().rank())?.viewed(false, Missing::Refuse);
    let scores = all.project(row)?.to_f64();
    let original = opened.preprocessed(row).to_f64();
    let mut kept: Vec<usize> = steps.iter().map(|&k| k.min(scores.ncols())).collect();
    kept.dedup();
    let mut columns = Vec::new();
    let (mut originals, mut rebuilt, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
    for k in kept {
        let first: Array2<f64> = scores.slice_axis(Axis(1), Slice::from(..k)).to_owned();
        columns.push(format!("k = {k}"));
        originals.push(original.row(0).to_vec());
        rebuilt.push(all.reconstruct(&Values::F64(first))?.to_f64().row(0).to_vec());
        residuals.push(all.with_components(k)?.view().residuals(&original)?.row(0).to_vec());
    }
    let low = original.iter().copied().fold(f64::INFINITY, f64::min);
    let high = original.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rows = [
        StripRow { heading: "original".into(), tiles: originals, range: Range::Unit(low, high) },
        StripRow { heading: "reconstruction".into(), tiles: rebuilt, range: Range::Unit(low, high) },
        StripRow { heading: "residual".into(), tiles: residuals, range: Range::Signed(None) },
    ];
    Ok(draw::strip(&Strip { title, columns: &columns, rows: &rows, size }))
}
