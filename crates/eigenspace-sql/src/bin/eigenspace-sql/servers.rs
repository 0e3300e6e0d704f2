//! The processes of a cluster: their command lines, and running them.

use std::ffi::OsString;
use std::net::IpAddr;
use std::time::Duration;

use eigenspace_sql::cluster::{Address, Cluster, Executor, Policy, Scheduler};

use crate::arguments::{Arguments, Request};
use crate::log::Level;
use crate::output::{Failure, message};
use crate::words::{Words, usage};

const SCHEDULER_HELP: &str = "\
Start the scheduler of a cluster

usage: eigenspace-sql scheduler [OPTIONS]

  --bind ADDRESS        listen on this address of this machine; the default is 127.0.0.1, which
                        only processes on this machine can reach
  --port N              listen on this port; the default is 50050, 0 means any free one
  --policy pull|push    pull: executors ask for tasks, which is the default.
                        push: the scheduler connects to executors and sends tasks
  --host NAME           the name or address by which executors reach this machine, if --bind is
                        0.0.0.0 and the policy is push
  --timeout SECONDS     give the tasks of an executor that has been silent for this long to others;
                        the default is 30, at least 10
  --verbose             print what it does

Anybody who can reach the scheduler can run queries on its cluster: there are no passwords.
";

const EXECUTOR_HELP: &str = "\
Start an executor of a cluster, which computes parts of queries

usage: eigenspace-sql executor --scheduler HOST:PORT [OPTIONS]

  --scheduler HOST:PORT the scheduler of the cluster
  --bind ADDRESS        listen on this address of this machine; the default is 127.0.0.1
  --port N              listen on this port and the next; the default is 0: any free ones
  --threads N           compute this many partitions at a time; the default is one for each core
  --work-dir DIR        keep intermediate results in DIR; the default is a temporary directory
  --wait SECONDS        how long to wait for the scheduler; the default is 60
  --verbose             print what it does

Executors read the files that queries name, so these must have the same path on all machines.
";

/// A process of a cluster.
pub(crate) struct Server {
    kind: Kind,
    bind: IpAddr,
    pub(crate) level: Level,
}

enum Kind {
    Scheduler(Scheduler),
    Executor(Executor),
}

const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

pub(crate) fn scheduler(words: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
    let mut words = Words::new(words);
    let (mut scheduler, mut bind, mut level) = (Scheduler::default(), LOOPBACK, Level::default());
    while let Some(word) = words.next() {
        match word.as_str() {
            "-h" | "--help" => return Ok(Request::Print(SCHEDULER_HELP.into())),
            "--bind" => bind = words.parsed("address", "an IP address such as 127.0.0.1", |_| true)?,
            "--port" => scheduler = scheduler.port(words.parsed("port", "a number up to 65535", |_| true)?),
            "--policy" => scheduler = scheduler.policy(words.text()?.parse()?),
            "--host" => scheduler = scheduler.host(words.text()?),
            "--timeout" => {
                let shortest = Scheduler::SHORTEST_TIMEOUT.as_secs();
                let expected = format!("at least {shortest} seconds");
                let seconds = words.parsed("timeout", &expected, |&seconds: &u64| seconds >= shortest)?;
                scheduler = scheduler.timeout(Duration::from_secs(seconds));
            }
            "--verbose" => level = Level::Verbose,
            _ => return Err(unknown(&word, "scheduler")),
        }
    }
    Ok(Request::Server(Server { kind: Kind::Scheduler(scheduler.bind(bind)), bind, level }))
}

pub(crate) fn executor(words: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
    let mut words = Words::new(words);
    let (mut address, mut bind, mut level) = (None, LOOPBACK, Level::default());
    let mut changes: Vec<Box<dyn FnOnce(Executor) -> Executor>> = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-h" | "--help" => return Ok(Request::Print(EXECUTOR_HELP.into())),
            "--scheduler" => address = Some(words.text()?.parse::<Address>()?),
            "--bind" => bind = words.parsed("address", "an IP address such as 127.0.0.1", |_| true)?,
            "--port" => {
                let port = words.parsed("port", "a number up to 65534", |&port: &u16| port < u16::MAX)?;
                changes.push(Box::new(move |executor| executor.port(port)));
            }
            "--threads" => {
                let threads = words.parsed("number of threads", "at least 1", |&threads: &usize| threads > 0)?;
                changes.push(Box::new(move |executor| executor.threads(threads)));
            }
            "--work-dir" => {
                let directory = words.value()?;
                changes.push(Box::new(move |executor| executor.work_dir(directory)));
            }
            "--wait" => {
                let seconds = words.parsed("time", "a number of seconds", |_| true)?;
                changes.push(Box::new(move |executor| executor.patience(Duration::from_secs(seconds))));
            }
            "--verbose" => level = Level::Verbose,
            _ => return Err(unknown(&word, "executor")),
        }
    }
    let address = address.ok_or_else(|| {
        usage("an executor needs a scheduler".into()).hint("use `eigenspace-sql executor --scheduler HOST:PORT`")
    })?;
    let executor = changes.into_iter().fold(Executor::new(address).bind(bind), |executor, change| change(executor));
    Ok(Request::Server(Server { kind: Kind::Executor(executor), bind, level }))
}

/// Runs a query on a cluster, from the beginning if an executor is lost.
pub(crate) async fn ask(arguments: &Arguments) -> Result<(), Failure> {
    let Some(address) = &arguments.cluster else { return Err(usage("there is no cluster".into())) };
    let patience = Duration::from_secs(arguments.wait.unwrap_or(60));
    let query = arguments.query()?;
    let mut attempt = 1;
    loop {
        let cluster = Cluster::connect(address.clone(), patience, message).await?;
        match ask_cluster(&cluster, arguments, &query).await {
            Ok(()) => return Ok(()),
            Err(failure) if attempt < Cluster::ATTEMPTS && failure.is_lost_executor(&cluster) => attempt += 1,
            Err(failure) => return Err(failure.explained_by(&cluster).await),
        }
        message(&format!("the cluster lost an executor; starting again, attempt {attempt} of {}", Cluster::ATTEMPTS));
    }
}

async fn ask_cluster(cluster: &Cluster, arguments: &Arguments, query: &str) -> Result<(), Failure> {
    let context = cluster.context(arguments.partitions)?;
    crate::deliver(cluster.sql(&context, query).await?, arguments).await
}

fn unknown(word: &str, command: &str) -> Failure {
    Failure::new(format!("unknown option `{word}`")).hint(format!("run `eigenspace-sql {command} --help`"))
}

impl Server {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        if !self.bind.is_loopback() {
            message(&format!(
                "warning: anybody who can connect to {} can run queries here, and read and write files that this process can read and write; there are no passwords",
                self.bind
            ));
        }
        match self.kind {
            Kind::Scheduler(scheduler) => {
                scheduler.run(|address| message(&format!("scheduler listening on {address}"))).await?;
            }
            Kind::Executor(executor) => {
                let started = |address, policy| {
                    let how = if policy == Policy::Push { "waits for tasks" } else { "asks for tasks" };
                    message(&format!("executor listening on {address}, {how}"));
                };
                executor.run(started, message).await?;
                message("executor stopped");
            }
        }
        Ok(())
    }
}
