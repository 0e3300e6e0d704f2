//! The command line.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use crate::output::Failure;

const HELP: &str = "\
Fit, merge and use PCA models in SQL, over Parquet, CSV, Arrow, JSON and NPY files

usage: eigenspace-sql [OPTIONS] QUERY

  QUERY                 a SQL query; a file in quotes is a table; `-` reads the query from stdin

  --output FILE         write the result to FILE (.csv or .parquet) instead of printing it
  --models DIR          write each model to a file in DIR, named by the other columns of its row
  --partitions N        compute in N partitions; the default is one for each core.
                        With 1, the same query gives the same bytes every time
  -h, --help            print this help
  -V, --version         print the version

examples:
  eigenspace-sql \"SELECT site, pca(features, 10) AS model FROM 'data/*.parquet' GROUP BY site\"
  eigenspace-sql --models models \"SELECT site, pca(a, b, c, 2) FROM 'data.csv' GROUP BY site\"

docs/SQL.md lists the functions.
";

/// What the user asked for.
pub(crate) enum Request {
    Run(Arguments),
    Print(String),
}

/// A query, and where its result goes.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    query: Option<String>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) models: Option<PathBuf>,
    pub(crate) partitions: Option<usize>,
}

impl Arguments {
    pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
        let mut arguments = Self::default();
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            let (flag, joined) = match text.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(OsString::from(value))),
                _ => (text.clone(), None),
            };
            let mut value = || {
                let value = joined.clone().or_else(|| words.next());
                value.ok_or_else(|| usage(format!("`{flag}` needs a value")))
            };
            match flag.as_str() {
                "-h" | "--help" => return Ok(Request::Print(HELP.into())),
                "-V" | "--version" => {
                    return Ok(Request::Print(format!("eigenspace-sql {}", env!("CARGO_PKG_VERSION"))));
                }
                "--output" => arguments.output = Some(value()?.into()),
                "--models" => arguments.models = Some(value()?.into()),
                "--partitions" => {
                    let value = value()?.to_string_lossy().into_owned();
                    let number = value.parse().ok().filter(|&number| number > 0);
                    let invalid = || usage(format!("invalid number of partitions `{value}`: expected at least 1"));
                    arguments.partitions = Some(number.ok_or_else(invalid)?);
                }
                other if other.starts_with('-') && other != "-" && !other.starts_with("-- ") => {
                    return Err(usage(format!("unknown option `{other}`")));
                }
                _ if arguments.query.is_some() => {
                    return Err(usage(format!("unexpected argument `{text}`")).hint("put the whole query in quotes"));
                }
                _ => arguments.query = Some(text),
            }
        }
        if arguments.query.is_none() {
            return Err(usage("there is no query".into()));
        }
        Ok(Request::Run(arguments))
    }

    /// The text of the query.
    pub(crate) fn query(&self) -> Result<String, Failure> {
        let query = self.query.as_deref().unwrap_or_default();
        if query != "-" {
            return Ok(query.to_owned());
        }
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| Failure::io("read the query from stdin", &error))?;
        Ok(text)
    }
}

fn usage(message: String) -> Failure {
    Failure::new(message).hint("run `eigenspace-sql --help`")
}
