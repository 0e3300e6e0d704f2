//! `eigenspace plot`: pictures of a model and of rows in it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum, ValueHint};
use eigenspace::AtomicFile;

use crate::args::{self, Holes, Input};
use crate::draw::Drawing;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::{output, pictures, rows};

/// Draw a model, or rows in it, as SVG or PNG.
#[derive(Args)]
#[command(after_help = "Kinds of pictures:
  scree    MODEL       shares of variance, one by one and together
  scatter  MODEL DATA  coordinates, colored by --label or class folder; in space with --axes 1,2,3
  gallery  MODEL       the mean and the components as pictures (eigenfaces)
  strip    MODEL DATA  one row: original, reconstruction and residual over the number of components
  biplot   MODEL DATA  coordinates, and the columns as arrows
  circle   MODEL       correlations of the columns with two components
  monitor  MODEL DATA  T² against Q, with their limits

Examples:
  eigenspace plot scree iris.safetensors -o scree.svg
  eigenspace plot scatter iris.safetensors iris.csv --label species -o scatter.png
  eigenspace plot gallery faces.safetensors -o eigenfaces.png
  eigenspace plot strip faces.safetensors faces/ --row 7 -o strip.png")]
pub(crate) struct Plot {
    /// The kind of picture.
    #[arg(value_name = "KIND")]
    kind: Kind,

    /// The model.
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Rows to show, for the kinds that show rows.
    #[arg(value_name = "DATA", value_hint = ValueHint::AnyPath)]
    data: Vec<PathBuf>,

    /// The picture to write: .svg or .png.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Components to show, instead of those that the model shows.
    #[arg(short = 'k', long, value_name = "K")]
    components: Option<String>,

    /// Components on the axes of scatter, biplot and circle, counted from 1; three make a picture in space.
    #[arg(long, value_name = "I,J[,K]", value_delimiter = ',', default_value = "1,2")]
    axes: Vec<usize>,

    /// The row to show in a strip, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    row: u64,

    /// Numbers of components in a strip.
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "5,10,20,50,100,200")]
    steps: Vec<usize>,

    /// Pictures in a gallery, the mean included.
    #[arg(long, value_name = "N", default_value_t = 16)]
    tiles: usize,

    /// The size of the pictures, where the model does not know it.
    #[arg(long, value_name = "WxH")]
    shape: Option<String>,

    /// The share of good rows that stay below the limits of T² and Q.
    #[arg(long, value_name = "SHARE", default_value_t = 0.99)]
    confidence: f64,

    /// The title, instead of none.
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,

    #[command(flatten)]
    holes: Holes,

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

impl Plot {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let format = Format::of(&self.output)?;
        rows::try_output(&self.output)?;
        let components = self.components.as_deref().map(args::components).transpose()?;
        let mut opened = Opened::load_with(&self.model, components)?;
        if let Some(shape) = &self.shape {
            opened.note.picture = Some(pictures::picture(args::size(shape)?, opened.raw.features())?);
        }
        if opened.model().rank() == 0 {
            return Err(Failure::NoVariance { path: self.model.clone() }.into());
        }
        let shows_rows = matches!(self.kind, Kind::Scatter | Kind::Strip | Kind::Biplot | Kind::Monitor);
        if shows_rows && self.data.is_empty() {
            return Err(Failure::NoData.into());
        }
        let title = self.title.as_str();
        let rows = pictures::Rows { data: &self.data, input: &self.input, missing: self.holes.missing };
        let drawing = match self.kind {
            Kind::Scree => pictures::scree(&opened, components.is_some(), title)?,
            Kind::Gallery => pictures::gallery(&opened, self.tiles, title)?,
            Kind::Circle => pictures::circle(&opened, &self.axes, title)?,
            Kind::Scatter => pictures::scatter(&opened, &rows, &self.axes, title)?,
            Kind::Biplot => pictures::biplot(&opened, &rows, &self.axes, title)?,
            Kind::Strip => pictures::strip(&opened, &rows, self.row, &self.steps, title)?,
            Kind::Monitor => pictures::monitor(&opened, &rows, self.confidence, title)?,
        };
        format.write(&drawing, &self.output)?;
        output::talk(&format!("`{}`", self.output.display()));
        Ok(())
    }
}

/// What a picture is written as.
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
            _ => Err(Failure::PictureFormat { path: path.to_owned() }.into()),
        }
    }

    pub(crate) fn write(self, drawing: &Drawing, path: &Path) -> anyhow::Result<()> {
        match self {
            Self::Svg => AtomicFile::write(path, drawing.svg().as_bytes())?,
            Self::Png => {
                AtomicFile::write(path, &drawing.png()?)?;
                tell_missing(drawing);
            }
        }
        Ok(())
    }
}

/// Says which characters no font has, once for all pictures of a command. Code points, because whoever lacks the font cannot read them
/// on the terminal either.
fn tell_missing(drawing: &Drawing) {
    /// More are counted only.
    const LISTED: usize = 6;
    static TOLD: AtomicBool = AtomicBool::new(false);
    let Some((characters, fonts)) = drawing.missing_characters() else { return };
    if TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut listed: Vec<String> =
        characters.iter().take(LISTED).map(|character| format!("U+{:04X}", u32::from(*character))).collect();
    if characters.len() > LISTED {
        listed.push(format!("and {} more", characters.len() - LISTED));
    }
    output::talk(&format!(
        "warning: no installed font has the characters {}; the PNG shows their code points instead\n\
         hint: install {fonts}, or write an .svg, which keeps the text",
        listed.join(", ")
    ));
}
