//! The words of the command line: options with values, as `--name value` or `--name=value`, and
//! other words.

use std::ffi::OsString;
use std::str::FromStr;

use crate::output::Failure;

/// Words that have not been read, and the option that was read last.
pub(crate) struct Words<I> {
    rest: I,
    option: String,
    joined: Option<OsString>,
}

impl<I: Iterator<Item = OsString>> Words<I> {
    pub(crate) fn new(rest: I) -> Self {
        Self { rest, option: String::new(), joined: None }
    }

    /// The next option, without its value, or the next word.
    pub(crate) fn next(&mut self) -> Option<String> {
        let text = self.rest.next()?.to_string_lossy().into_owned();
        let parts =
            text.split_once('=').filter(|(name, _)| name.starts_with("--") && !name.contains(char::is_whitespace));
        let (option, joined) = match parts {
            Some((name, value)) => (name.to_owned(), Some(OsString::from(value))),
            None => (text, None),
        };
        (self.option, self.joined) = (option.clone(), joined);
        Some(option)
    }

    /// The value of the option.
    pub(crate) fn value(&mut self) -> Result<OsString, Failure> {
        let value = self.joined.take().or_else(|| self.rest.next());
        value.ok_or_else(|| usage(format!("`{}` needs a value", self.option)))
    }

    /// The value of the option as text.
    pub(crate) fn text(&mut self) -> Result<String, Failure> {
        Ok(self.value()?.to_string_lossy().into_owned())
    }

    /// The value of the option, which must pass a check. The error says what was expected.
    pub(crate) fn parsed<T: FromStr>(
        &mut self,
        name: &str,
        expected: &str,
        check: impl Fn(&T) -> bool,
    ) -> Result<T, Failure> {
        let value = self.text()?;
        let parsed = value.parse().ok().filter(check);
        parsed.ok_or_else(|| usage(format!("invalid {name} `{value}`: expected {expected}")))
    }
}

pub(crate) fn usage(message: String) -> Failure {
    Failure::new(message).hint("run `eigenspace-sql --help`")
}

/// Whether a word is an option. A query can start with a comment.
pub(crate) fn is_option(word: &str) -> bool {
    word.starts_with('-') && word != "-" && !word.starts_with("-- ")
}
