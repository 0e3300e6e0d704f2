//! One command of a task. It is printed before it runs, so that it can be repeated by hand if it
//! fails.
//!
//! The printed line is generated from the command itself, so the two cannot differ.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::error::Error;
use crate::output;

/// Runs steps from the workspace root and counts those that passed.
pub(crate) struct Runner {
    pub(crate) root: PathBuf,
    /// The arguments after the name of the task.
    pub(crate) arguments: Vec<OsString>,
    /// The names of the steps that passed, and their seconds.
    passed: Vec<(&'static str, u64)>,
    /// Remarks for the last line.
    remarks: Vec<&'static str>,
    started: Instant,
}

/// Number of steps that the summary names.
const LONGEST: usize = 5;

impl Runner {
    pub(crate) fn new(arguments: Vec<OsString>) -> Self {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self {
            root: own.parent().unwrap_or(own).to_path_buf(),
            arguments,
            passed: Vec::new(),
            remarks: Vec::new(),
            started: Instant::now(),
        }
    }

    pub(crate) fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    pub(crate) fn run(&mut self, step: Step) -> Result<(), Error> {
        let line = step.line(&self.root);
        output::message(&format!("==> {}: {line}", step.name));
        let started = Instant::now();
        let mut command = Command::new(&step.program);
        command.args(&step.arguments).envs(step.variables.clone());
        if step.silent {
            command.stdout(Stdio::null());
        }
        let status = command.current_dir(&self.root).status().map_err(Error::io("start", &step.program))?;
        if !status.success() && (status.code().is_none_or(|code| !step.accepted.contains(&code))) {
            return Err(Error::Failed { step: step.name, code: status.code(), rerun: line, advice: step.advice });
        }
        self.passed.push((step.name, started.elapsed().as_secs()));
        Ok(())
    }

    /// Adds an important remark to the last line.
    pub(crate) fn remark(&mut self, remark: &'static str) {
        self.remarks.push(remark);
    }

    /// The number of steps, their time, and the steps that took longest.
    pub(crate) fn summary(&self) -> String {
        let (steps, seconds) = (self.passed.len(), self.started.elapsed().as_secs());
        let word = if steps == 1 { "step" } else { "steps" };
        let mut longest = self.passed.clone();
        longest.retain(|(_, seconds)| *seconds > 0);
        longest.sort_by_key(|(_, seconds)| std::cmp::Reverse(*seconds));
        let longest: Vec<_> =
            longest.iter().take(LONGEST).map(|(name, seconds)| format!("{name} {seconds} s")).collect();
        let longest = if longest.is_empty() { String::new() } else { format!(" (longest: {})", longest.join(", ")) };
        let remarks: String = self.remarks.iter().map(|remark| format!("; {remark}")).collect();
        format!("passed, {steps} {word} in {seconds} s{longest}{remarks}")
    }
}

pub(crate) struct Step {
    name: &'static str,
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    advice: Option<&'static str>,
    silent: bool,
    accepted: &'static [i32],
}

impl Step {
    pub(crate) fn new(name: &'static str, program: impl Into<OsString>) -> Self {
        Self {
            name,
            program: program.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
            advice: None,
            silent: false,
            accepted: &[],
        }
    }

    pub(crate) fn with<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Sets the hint for a failure of the step.
    pub(crate) fn advice(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }

    /// Discards the stdout of the step.
    pub(crate) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Also passes with these exit codes.
    pub(crate) fn accepting(mut self, codes: &'static [i32]) -> Self {
        self.accepted = codes;
        self
    }

    /// The step as a shell command, with paths relative to the workspace root.
    fn line(&self, root: &Path) -> String {
        let from_root = |word: &OsStr| {
            let path = Path::new(word);
            quoted(&path.strip_prefix(root).unwrap_or(path).to_string_lossy())
        };
        // Values of variables stay absolute, because the tests that read them run in another
        // directory.
        let variables =
            self.variables.iter().map(|(name, value)| format!("{name}={}", quoted(&value.to_string_lossy())));
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let words = words.map(|word| from_root(word));
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a program runs successfully with these arguments; used to detect missing tools.
pub(crate) fn answers(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null());
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_line_can_be_pasted_into_a_shell_at_the_root() {
        let step = Step::new("tests", "/w/target/venv/bin/python")
            .with(["-m", "it's"])
            .variable("RUSTDOCFLAGS", "-D warnings");
        let line = r"RUSTDOCFLAGS='-D warnings' target/venv/bin/python -m 'it'\''s'";
        assert_eq!(step.line(Path::new("/w")), line);
    }

    #[test]
    fn a_failing_step_names_itself_and_how_to_run_it_alone() {
        let mut runner = Runner::new(Vec::new());
        let error = runner.run(Step::new("no", "sh").with(["-c", "exit 3"])).expect_err("exit code 3 is a failure");
        assert_eq!(error.to_string(), "step `no` failed with exit code 3");
        assert!(error.hint().is_some_and(|hint| hint.ends_with("sh -c 'exit 3'")));
    }

    #[test]
    fn an_accepted_exit_code_passes_and_another_does_not() {
        let mut runner = Runner::new(Vec::new());
        let step = || Step::new("no", "sh").with(["-c", "exit 3"]);
        assert!(runner.run(step().accepting(&[2, 3])).is_ok());
        assert!(runner.run(step().accepting(&[2])).is_err());
    }

    #[test]
    fn the_summary_names_the_longest_steps() {
        let mut runner = Runner::new(Vec::new());
        runner.passed = vec![("format", 0), ("tests", 61), ("clippy", 90)];
        assert_eq!(runner.summary(), "passed, 3 steps in 0 s (longest: clippy 90 s, tests 61 s)");
    }

    #[test]
    fn a_program_that_does_not_exist_does_not_answer() {
        assert!(!answers("eigenspace-no-such-program", &["--version"]));
    }
}
