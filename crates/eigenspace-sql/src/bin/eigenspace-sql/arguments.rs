//! The command line of a query.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use crate::output::Failure;
use crate::words::{Words, is_option, usage};

const HELP: &str = "\
Fit, merge and use PCA models in SQL, over Parquet, CSV, Arrow, JSON and NPY files

usage: eigenspace-sql [OPTIONS] QUERY
       eigenspace-sql scheduler [OPTIONS]
       eigenspace-sql executor --scheduler HOST:PORT [OPTIONS]

  QUERY                 a SQL query; a file in quotes is a table; `-` reads the query from stdin
  scheduler, executor   the processes of a cluster; `eigenspace-sql scheduler --help`

  --output FILE         write the result to FILE (.csv or .parquet) instead of printing it
  --models DIR          write each model to a file in DIR, named by the other columns of its row
  --partitions N        compute in N partitions; the default is one for each core, or 16 on a
                        cluster. With 1, the same query gives the same bytes every time
  --cluster HOST:PORT   run the query on the cluster with this scheduler
  --wait SECONDS        how long to wait for an executor of the cluster; the default is 60
  -h, --help            print this help
  -V, --version         print the version

examples:
  eigenspace-sql \"SELECT site, pca(features, 10) AS model FROM 'data/*.parquet' GROUP BY site\"
  eigenspace-sql --models models \"SELECT site, pca(a, b, c, 2) FROM 'data.csv' GROUP BY site\"

docs/SQL.md lists the functions.
";

/// What the user asked for.
pub(crate) enum Request {
    Query(Arguments),
    #[cfg(feature = "cluster")]
    Server(crate::servers::Server),
    Print(String),
}

/// A query, and where its result goes.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    query: Option<String>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) models: Option<PathBuf>,
    pub(crate) partitions: Option<usize>,
    #[cfg(feature = "cluster")]
    pub(crate) cluster: Option<eigenspace_sql::cluster::Address>,
    /// Seconds to wait for an executor.
    #[cfg(feature = "cluster")]
    pub(crate) wait: Option<u64>,
}

impl Arguments {
    pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
        let mut words = words.peekable();
        if let Some(server) = words.next_if(|word| word == "scheduler" || word == "executor") {
            return server_of(server == "scheduler", words);
        }
        let mut arguments = Self::default();
        let mut words = Words::new(words);
        while let Some(word) = words.next() {
            match word.as_str() {
                "-h" | "--help" => return Ok(Request::Print(HELP.into())),
                "-V" | "--version" => {
                    return Ok(Request::Print(format!("eigenspace-sql {}", env!("CARGO_PKG_VERSION"))));
                }
                "--output" => arguments.output = Some(words.value()?.into()),
                "--models" => arguments.models = Some(words.value()?.into()),
                "--partitions" => {
                    let number = words.parsed("number of partitions", "at least 1", |&number: &usize| number > 0)?;
                    arguments.partitions = Some(number);
                }
                #[cfg(feature = "cluster")]
                "--cluster" => arguments.cluster = Some(words.text()?.parse()?),
                #[cfg(feature = "cluster")]
                "--wait" => arguments.wait = Some(words.parsed("time", "a number of seconds", |_| true)?),
                #[cfg(not(feature = "cluster"))]
                "--cluster" | "--wait" => return Err(without_clusters()),
                option if is_option(option) => return Err(usage(format!("unknown option `{option}`"))),
                _ if arguments.query.is_some() => {
                    return Err(usage(format!("unexpected argument `{word}`")).hint("put the whole query in quotes"));
                }
                _ => arguments.query = Some(word),
            }
        }
        if arguments.query.is_none() {
            return Err(usage("there is no query".into()));
        }
        Ok(Request::Query(arguments))
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

#[cfg(feature = "cluster")]
fn server_of(is_scheduler: bool, words: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
    if is_scheduler { crate::servers::scheduler(words) } else { crate::servers::executor(words) }
}

#[cfg(not(feature = "cluster"))]
fn server_of(_: bool, _: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
    Err(without_clusters())
}

#[cfg(not(feature = "cluster"))]
fn without_clusters() -> Failure {
    Failure::new("this eigenspace-sql was built without clusters").hint("build it with the feature `cluster`")
}
