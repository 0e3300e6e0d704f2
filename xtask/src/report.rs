//! The report: experiments, figures and the PDF.
//!
//! ```text
//! experiments ─► report/results/*.json ─► numbers.tex, tables, report/figures/*.pdf ─► report/report.pdf
//! ```
//!
//! The experiments run in an environment of their own, with a wheel that was built for speed. Everything after the
//! results can be made from the kept ones alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::step::{Runner, Step, answers};
use crate::{orl, python, rust};

/// The folder, from the workspace root.
const FOLDER: &str = "report";
/// What Debian calls the programs and fonts that the text needs.
const LATEX: &str = "apt install texlive-latex-base texlive-latex-recommended texlive-fonts-recommended lmodern";
/// The text refers to itself: the last run finds nothing new.
const RUNS: usize = 3;

/// Everything, from the experiments on.
pub(crate) fn all(runner: &mut Runner) -> Result<(), Error> {
    // Before the experiments, which take minutes.
    needs_latex()?;
    let faces = orl::available(runner)?;
    let python = environment(runner)?;
    package(runner, &python)?;
    let command = rust::build_command(runner)?;
    runner.run(build(&python).variable("EIGENSPACE_ORL", faces).variable("EIGENSPACE", command))?;
    pdf(runner, &python)
}

/// Figures and PDF from the kept results. A figure that shows faces is made again only where they are at hand.
pub(crate) fn kept(runner: &mut Runner) -> Result<(), Error> {
    needs_latex()?;
    let python = environment(runner)?;
    if !answers(&python, &["-c", "import eigenspace"]) {
        package(runner, &python)?;
    }
    runner.run(build(&python).with(["--kept"]))?;
    pdf(runner, &python)
}

/// The check that the text holds no number of its own.
pub(crate) fn text(python: &Path) -> Step {
    let step = Step::new("report text", python).with([format!("{FOLDER}/check.py")]);
    step.advice("numbers come from the experiments, by their keys in report/results/numbers.tex")
}

fn build(python: &Path) -> Step {
    Step::new("report results", python).with([format!("{FOLDER}/build.py")])
}

fn environment(runner: &mut Runner) -> Result<PathBuf, Error> {
    python::environment(runner, "venv-report", &format!("{FOLDER}/requirements.txt"))
}

/// The package as users have it.
fn package(runner: &mut Runner, python: &Path) -> Result<(), Error> {
    let wheel = python::wheel(runner, python, "wheels-release", &["--release"])?;
    python::install(runner, python, &wheel)
}

fn needs_latex() -> Result<(), Error> {
    if answers("pdflatex", &["--version"]) {
        return Ok(());
    }
    Err(Error::MissingTool { tool: "pdflatex", install: LATEX })
}

/// Sets the text, and puts the PDF beside it only when it is whole.
fn pdf(runner: &mut Runner, python: &Path) -> Result<(), Error> {
    runner.run(text(python))?;
    let made = runner.target().join(FOLDER);
    fs::create_dir_all(&made).map_err(Error::io("create", made.as_path()))?;
    for _ in 0..RUNS {
        let set = Step::new("pdflatex", "pdflatex").with(["-interaction=nonstopmode", "-halt-on-error"]);
        let set = set.with(["-output-directory"]).with([&made]).with([format!("{FOLDER}/report.tex")]);
        // The same text gives the same bytes on any day.
        let set = set.variable("SOURCE_DATE_EPOCH", "0").variable("TEXINPUTS", format!("{FOLDER}:"));
        runner.run(set.silent().advice(LATEX_LOG))?;
    }
    let (from, to) = (made.join("report.pdf"), runner.root.join(FOLDER).join("report.pdf"));
    fs::copy(&from, &to).map_err(Error::io("copy", from.as_path()))?;
    Ok(())
}

const LATEX_LOG: &str = "what LaTeX says is in target/report/report.log; a missing .sty or font is in Debian's \
                         texlive-latex-recommended, texlive-fonts-recommended or lmodern";
