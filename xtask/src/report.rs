//! The report: experiments, figures and the PDF.
//!
//! ```text
//! experiments ─► report/results/*.json ─► numbers.tex, tables, report/figures/*.pdf ─► report/report.pdf
//! ```
//!
//! The experiments run in a separate environment with a release wheel. Everything after the results
//! can be generated from the stored results alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::step::{Runner, Step, answers};
use crate::{orl, python, rust};

/// The directory, relative to the workspace root.
const DIRECTORY: &str = "report";
/// The Debian packages with the programs and fonts that the text needs.
const LATEX: &str = "apt install texlive-latex-base texlive-latex-recommended texlive-fonts-recommended lmodern";
/// Number of LaTeX runs needed to resolve all references.
const RUNS: usize = 3;

/// Generates everything, including the experiments.
pub(crate) fn all(runner: &mut Runner) -> Result<(), Error> {
    // Checked before the experiments, which take minutes.
    needs_latex()?;
    let faces = orl::available(runner)?;
    let python = environment(runner)?;
    package(runner, &python)?;
    specification(runner, &python, &faces)?;
    let command = rust::build_command(runner)?;
    runner.run(build(&python).variable("EIGENSPACE_ORL", faces).variable("EIGENSPACE", command))?;
    pdf(runner, &python)
}

/// Measures the specification's comparison if the benchmark has not: the report reads its times
/// from there.
fn specification(runner: &mut Runner, python: &Path, faces: &Path) -> Result<(), Error> {
    if runner.root.join("bench/results/S1.json").exists() {
        return Ok(());
    }
    let measure = Step::new("specification's comparison", python).with(["bench/run.py", "S1"]);
    let measure = measure.with(["--threads", "1", "--cases", "ten faces"]);
    runner.run(measure.variable("EIGENSPACE_ORL", faces))
}

/// Generates figures and PDF from the stored results. Figures with faces are generated only if the
/// faces are available.
pub(crate) fn kept(runner: &mut Runner) -> Result<(), Error> {
    needs_latex()?;
    let python = environment(runner)?;
    if !answers(&python, &["-c", "import eigenspace"]) {
        package(runner, &python)?;
    }
    runner.run(build(&python).with(["--kept"]))?;
    pdf(runner, &python)
}

/// The check that all numbers in the text come from results.
pub(crate) fn text(python: &Path) -> Step {
    let step = Step::new("report text", python).with([format!("{DIRECTORY}/check.py")]);
    step.advice("take numbers from the experiments, by their keys in report/results/numbers.tex")
}

fn build(python: &Path) -> Step {
    Step::new("report results", python).with([format!("{DIRECTORY}/build.py")])
}

fn environment(runner: &mut Runner) -> Result<PathBuf, Error> {
    python::environment(runner, "venv-report", &format!("{DIRECTORY}/requirements.txt"))
}

/// Installs the release build of the package.
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

/// Typesets the text, and copies the PDF next to it only if it is complete.
fn pdf(runner: &mut Runner, python: &Path) -> Result<(), Error> {
    runner.run(text(python))?;
    let made = runner.target().join(DIRECTORY);
    fs::create_dir_all(&made).map_err(Error::io("create", made.as_path()))?;
    for _ in 0..RUNS {
        let set = Step::new("pdflatex", "pdflatex").with(["-interaction=nonstopmode", "-halt-on-error"]);
        let set = set.with(["-output-directory"]).with([&made]).with([format!("{DIRECTORY}/report.tex")]);
        // Makes the output independent of the date.
        let set = set.variable("SOURCE_DATE_EPOCH", "0").variable("TEXINPUTS", format!("{DIRECTORY}:"));
        runner.run(set.silent().advice(LATEX_LOG))?;
    }
    let (from, to) = (made.join("report.pdf"), runner.root.join(DIRECTORY).join("report.pdf"));
    fs::copy(&from, &to).map_err(Error::io("copy", from.as_path()))?;
    Ok(())
}

const LATEX_LOG: &str = "see target/report/report.log; for a missing .sty or font, install the Debian packages \
                         texlive-latex-recommended, texlive-fonts-recommended and lmodern";
