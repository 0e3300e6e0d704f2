//! `eigenspace plot`: plots of a model and of rows projected on it.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum, ValueHint};
use eigenspace::Missing;
use eigenspace::internal::AtomicFile;

use crate::draw::Drawing;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::options::{Input, MissingCells};
use crate::{applicable, destination, numbers, output, plots, table, warn};

/// Plot a model, or rows projected on it, as SVG or PNG.
#[derive(Args)]
#[command(mut_arg("weights", |argument| argument.hide(true)))]
#[command(after_help = "Kinds of plots:
  scree    MODEL       explained variance ratio of each component, and cumulative
  scatter  MODEL DATA  scores, colored by --label or class directory; in 3D with --axes 1,2,3
  gallery  MODEL       the mean and the components as images (eigenfaces)
  strip    MODEL DATA  one row, its reconstructions and their residuals
  biplot   MODEL DATA  scores, with the columns as arrows
  circle   MODEL       correlations of the columns with two components
  monitor  MODEL DATA  T² against Q, with their limits

Examples:
  eigenspace plot scree iris.safetensors -o scree.svg
  eigenspace plot scatter iris.safetensors iris.csv --label species -o scatter.png
  eigenspace plot gallery faces.safetensors -o eigenfaces.png
  eigenspace plot strip faces.safetensors faces/ --row 7 -o strip.png")]
pub(crate) struct Plot {
    /// Kind of plot.
    #[arg(value_name = "KIND")]
    kind: Kind,

    /// Model file.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Rows to plot, for the kinds that need them.
    #[arg(value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// Image file to write: .svg or .png.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Number of components: a number, a share of variance such as 0.95, or `all`; by default that
    /// of the model.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Components on the axes of scatter, biplot and circle, counted from 1; three components make
    /// a 3D scatter plot [default: 1,2]
    #[arg(long, value_name = "I,J[,K]", value_delimiter = ',', value_parser = numbers::listed_number)]
    axes: Option<Vec<usize>>,

    /// Row to draw in a strip, counted from 0 [default: 0]
    #[arg(long, value_name = "N", value_parser = numbers::whole_number::<u64>)]
    row: Option<u64>,

    /// Numbers of components in a strip [default: 5,10,20,50,100,200]
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = numbers::listed_number)]
    steps: Option<Vec<usize>>,

    /// Number of images in a gallery, including the mean [default: 16]
    #[arg(long, value_name = "N", value_parser = numbers::positive)]
    tiles: Option<NonZeroUsize>,

    /// Size of the images, if the model does not store it.
    #[arg(long, value_name = "WxH")]
    shape: Option<String>,

    /// Share of normally distributed rows that stay below each limit of T² and Q [default: 0.99]
    #[arg(long, value_name = "SHARE", value_parser = numbers::number)]
    confidence: Option<f64>,

    /// Title of the plot; none by default.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    title: String,

    #[command(flatten)]
    missing_cells: MissingCells,

    #[command(flatten)]
    input: Input,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
enum Kind {
    Scree,
    Scatter,
    Gallery,
    Strip,
    Biplot,
    Circle,
    Monitor,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Scree, Self::Scatter, Self::Gallery, Self::Strip, Self::Biplot, Self::Circle, Self::Monitor];

    /// The name on the command line.
    fn name(self) -> String {
        self.to_possible_value().expect("no kind is hidden").get_name().to_owned()
    }

    fn shows_rows(self) -> bool {
        matches!(self, Self::Scatter | Self::Strip | Self::Biplot | Self::Monitor)
    }
}

impl Plot {
    /// Rejects options that this kind of plot does not use.
    fn check_options(&self) -> Result<(), Failure> {
        type Uses = fn(Kind) -> bool;
        let about_rows = applicable::given(&self.input);
        let skips_or_fills = self.missing_cells.missing != Missing::Refuse;
        let given: [(&'static str, bool, Uses); 9] = [
            ("DATA", !self.data.is_empty(), Kind::shows_rows),
            (about_rows.unwrap_or_default(), about_rows.is_some(), Kind::shows_rows),
            ("--missing", skips_or_fills, Kind::shows_rows),
            ("--axes", self.axes.is_some(), |kind| matches!(kind, Kind::Scatter | Kind::Biplot | Kind::Circle)),
            ("--row", self.row.is_some(), |kind| kind == Kind::Strip),
            ("--steps", self.steps.is_some(), |kind| kind == Kind::Strip),
            ("--tiles", self.tiles.is_some(), |kind| kind == Kind::Gallery),
            ("--shape", self.shape.is_some(), |kind| matches!(kind, Kind::Gallery | Kind::Strip)),
            ("--confidence", self.confidence.is_some(), |kind| kind == Kind::Monitor),
        ];
        match given.into_iter().find(|(_, given, uses)| *given && !uses(self.kind)) {
            None => Ok(()),
            Some((option, _, uses)) => {
                let kinds: Vec<String> = Kind::ALL.into_iter().filter(|&kind| uses(kind)).map(Kind::name).collect();
                Err(Failure::OptionOfOtherPlots { option, kind: self.kind.name(), kinds: table::list(&kinds) })
            }
        }
    }

    pub(crate) fn run(self) -> anyhow::Result<()> {
        self.check_options()?;
        self.input.refuse_weights("a plot")?;
        let format = Format::of(&self.output)?;
        destination::try_output(&self.output)?;
        let components = self.components.as_deref().map(numbers::components).transpose()?;
        let mut opened = Opened::load_before(&self.model, components, &self.data)?;
        if let Some(shape) = &self.shape {
            let given = numbers::size(shape)?;
            let stored = opened.metadata().image().map(|image| (image.width(), image.height()));
            if let Some(stored) = stored.filter(|stored| *stored != given) {
                return Err(Failure::OtherShape { given, stored }.into());
            }
            let shape = plots::image_shape(given, opened.raw().features())?;
            opened = opened.showing_images(shape)?;
        }
        let opened = opened.viewed(false, self.missing_cells.missing);
        if opened.model().rank() == 0 {
            return Err(Failure::NoVariance { path: self.model.clone() }.into());
        }
        if self.kind.shows_rows() && self.data.is_empty() {
            return Err(Failure::NoData { kind: self.kind.name() }.into());
        }
        let title = self.title.as_str();
        let axes = self.axes.as_deref().unwrap_or(&[1, 2]);
        let rows = plots::Rows::named(&self.data, &self.input);
        let drawing = match self.kind {
            Kind::Scree => plots::scree(&opened, components.is_some(), title)?,
            Kind::Gallery => plots::gallery(&opened, self.tiles.map_or(16, NonZeroUsize::get), title)?,
            Kind::Circle => plots::circle(&opened, axes, title)?,
            Kind::Scatter => plots::scatter(&opened, &rows, axes, title)?,
            Kind::Biplot => plots::biplot(&opened, &rows, axes, title)?,
            Kind::Strip => {
                if let Some(&most) = self.steps.as_ref().and_then(|steps| steps.iter().max()) {
                    warn::of_fewer_components(&opened.raw().clone().with_components(most)?);
                }
                let steps = self.steps.as_deref().unwrap_or(&[5, 10, 20, 50, 100, 200]);
                plots::strip(&opened, &rows, self.row.unwrap_or(0), steps, title)?
            }
            Kind::Monitor => plots::monitor(&opened, &rows, self.confidence.unwrap_or(0.99), title)?,
        };
        format.write(&drawing, &self.output)?;
        output::message(&format!("wrote `{}`", self.output.display()));
        Ok(())
    }
}

/// The file format of a plot.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Svg,
    Png,
}

impl Format {
    pub(crate) fn of(path: &Path) -> anyhow::Result<Self> {
        match path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Failure::PlotFormat { path: path.to_owned() }.into()),
        }
    }

    pub(crate) fn write(self, drawing: &Drawing, path: &Path) -> anyhow::Result<()> {
        match self {
            Self::Svg => AtomicFile::write(path, drawing.svg().as_bytes())?,
            Self::Png => {
                AtomicFile::write(path, &drawing.png()?)?;
                warn_about_missing_characters(drawing);
            }
        }
        Ok(())
    }
}

/// Warns once about characters that no font has. The warning lists code points, because a terminal
/// without the font cannot display the characters either.
fn warn_about_missing_characters(drawing: &Drawing) {
    /// Largest number of characters listed; the others are only counted.
    const LISTED: usize = 6;
    static WARNED: AtomicBool = AtomicBool::new(false);
    let Some((characters, fonts)) = drawing.missing_characters() else { return };
    if WARNED.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut listed: Vec<String> =
        characters.iter().take(LISTED).map(|character| format!("U+{:04X}", u32::from(*character))).collect();
    if characters.len() > LISTED {
        listed.push(format!("and {} more", characters.len() - LISTED));
    }
    let listed = listed.join(", ");
    output::message(&format!(
        "warning: no installed font has the characters {listed}; the PNG shows their code points instead"
    ));
    output::message(&format!("hint: install {fonts}, or write an .svg file, which keeps the text"));
}
