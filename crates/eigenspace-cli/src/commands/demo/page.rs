//! The plots of the demo, and the page that shows them.

use std::path::{Path, PathBuf};

use eigenspace::internal::AtomicFile;
use eigenspace::io::source::Values;
use ndarray::{Axis, Slice};

use crate::commands::demo::faces::Faces;
use crate::commands::demo::story::{Block, Story, legend};
use crate::commands::plot::Format;
use crate::draw::{self, Drawing, Lines, Monitor, Page, Scatter, Series};
use crate::{output, plots};

/// Number of people in the scatter plot: the legend of more would be too long.
const PEOPLE: usize = 10;
/// Numbers of components in the strip.
const STEPS: [usize; 6] = [5, 10, 20, 50, 100, 200];

/// Writes the plots and the page, and returns the path of the page.
pub(super) fn write(faces: &Faces, story: &Story, directory: &Path) -> anyhow::Result<PathBuf> {
    let whole = &story.whole;
    let mut drawings = vec![
        (
            "eigenfaces",
            plots::gallery(whole, 24, "")?,
            "The mean face and the directions in which faces differ most, with their explained variance ratios.",
        ),
        (
            "scree",
            plots::scree(whole, false, "")?,
            "The variance that each component explains, and the cumulative sum.",
        ),
        ("strip", strip(faces, story)?, "One face reconstructed from 5, 10, 20 … scores, and the residual."),
        (
            "scatter",
            scatter(faces, story)?,
            "Ten people, by their first two scores: images of one person are close together.",
        ),
        (
            "error",
            error_over_k(faces, story)?,
            "The reconstruction error of all faces, in gray values per pixel, against the number of components.",
        ),
        (
            "monitor",
            monitor(faces, story)?,
            "T² measures how unusual a face is within face space, Q how far it is from face space. One in a hundred normally distributed rows exceeds each dashed line; faces are not quite normally distributed.",
        ),
        ("time", times(story), "Time to add a block and read the model, compared with a batch PCA of all rows so far."),
    ];
    if let Some(probes) = &story.probes {
        drawings.push((
            "recognized",
            probes.clone(),
            "Held-out faces with the person recognized, their reconstructions, and the nearest training images with their distances.",
        ));
    }
    let headings: Vec<String> = Block::HEADINGS.map(String::from).to_vec();
    let rows: Vec<Vec<String>> = story.blocks.iter().map(Block::cells).collect();
    let mut page = Page::new("eigenspace demo: faces")
        .text(&format!("{} images: {}. All numbers were measured while this page was generated.", faces.rows.nrows(), faces.name))
        .section("Streaming")
        .text("The images arrive in blocks. After each block, the model is read and compared with a batch PCA of all rows so far.")
        .table(&headings, &rows)
        .text(&legend(story.whole.model().n_components()));
    for (heading, text) in &story.findings {
        page = page.section(heading).text(text);
    }
    page = page.section("Plots");
    for (name, drawing, caption) in &drawings {
        Format::Svg.write(drawing, &directory.join(format!("{name}.svg")))?;
        Format::Png.write(drawing, &directory.join(format!("{name}.png")))?;
        page = page.drawing(drawing, caption);
    }
    let path = directory.join("index.html");
    AtomicFile::write(&path, page.html().as_bytes())?;
    let names: Vec<&str> = drawings.iter().map(|(name, ..)| *name).collect();
    let names = names.join(", ");
    output::data(&format!("\n{}. Plots. {names}, as .svg and .png.", story.findings.len() + 2))?;
    Ok(path)
}

fn strip(faces: &Faces, story: &Story) -> anyhow::Result<Drawing> {
    let row = faces.rows.slice_axis(Axis(0), Slice::from(..1)).to_owned();
    plots::strip_of(&story.whole, &Values::from(row), &STEPS, "")
}

fn scatter(faces: &Faces, story: &Story) -> anyhow::Result<Drawing> {
    let model = story.whole.model();
    let coordinates = model.project(faces.rows.view())?;
    let mut known: Vec<&String> = faces.people.iter().collect();
    known.dedup();
    known.truncate(PEOPLE);
    let chosen: Vec<usize> = (0..faces.people.len()).filter(|&i| known.contains(&&faces.people[i])).collect();
    let points: Vec<(f64, f64)> = chosen.iter().map(|&i| (coordinates[[i, 0]], coordinates[[i, 1]])).collect();
    let labels: Vec<String> = chosen.iter().map(|&i| faces.people[i].clone()).collect();
    let ratios = model.explained_variance_ratio();
    let [x, y] = [0, 1].map(|i| draw::component_title(i + 1, ratios.get(i).copied()));
    let scatter = Scatter { points: &points, labels: Some(&labels), x_title: &x, y_title: &y, ..Scatter::default() };
    Ok(draw::scatter(&scatter))
}

/// RMSE of all faces for k = 1, 2, 4 … components, from the singular values alone.
fn error_over_k(faces: &Faces, story: &Story) -> anyhow::Result<Drawing> {
    let all = story.whole.with_components(story.whole.raw().rank())?;
    let model = all.model();
    let total: f64 = model.feature_scatter().sum();
    let cells = faces.rows.len() as f64;
    let mut left = total;
    let mut points = vec![(0.0, (total / cells).sqrt())];
    for (i, s) in model.all_singular_values().iter().enumerate() {
        left -= s * s;
        points.push(((i + 1) as f64, (left.max(0.0) / cells).sqrt()));
    }
    let series = [Series { name: "all faces".into(), points, dashed: false }];
    let titles = ("components", "error per pixel (RMSE)");
    Ok(draw::lines(&Lines { series: &series, x_title: titles.0, y_title: titles.1, ..Lines::default() }))
}

fn monitor(faces: &Faces, story: &Story) -> anyhow::Result<Drawing> {
    let limits = story.whole.model().limits(0.99)?;
    let readings = story.whole.monitor(&Values::from(faces.rows.clone()), limits)?;
    let (t2, q) = (readings.hotelling.to_vec(), readings.squared_distance.to_vec());
    let limits = Some((limits.hotelling, limits.squared_distance));
    let mut images = 0;
    let names: Vec<String> = (0..faces.people.len())
        .map(|i| {
            let same = i > 0 && faces.people[i] == faces.people[i - 1];
            images = if same { images + 1 } else { 1 };
            format!("{} image {images}", faces.people[i])
        })
        .collect();
    Ok(draw::monitor(&Monitor { t2: &t2, q: &q, limits, level: "99 %", names: Some(&names), ..Monitor::default() }))
}

fn times(story: &Story) -> Drawing {
    let series = |name: &str, seconds: fn(&Block) -> f64, dashed: bool| Series {
        name: name.into(),
        points: story.blocks.iter().map(|block| (block.rows as f64, 1e3 * seconds(block))).collect(),
        dashed,
    };
    let series =
        [series("update and read", |b| b.update, false), series("batch SVD of all rows", |b| b.recompute, true)];
    draw::lines(&Lines {
        series: &series,
        x_title: "rows so far",
        y_title: "milliseconds",
        log_y: true,
        ..Lines::default()
    })
}
