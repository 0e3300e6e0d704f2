//! An executor: reads files, computes states and models, and keeps them for other executors and the
//! client.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::serde::protobuf::PollWorkParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};

use super::engine::Engine;
use super::{Address, LONGEST_MESSAGE, Policy, SILENCE, codec, config, probe, state};
use crate::error::Error;

/// How often an executor reports to a scheduler that pushes tasks.
const HEARTBEAT: Duration = Duration::from_secs(3);

/// How often a scheduler that does not answer is asked again.
const PAUSE: Duration = Duration::from_millis(250);

/// An executor that has not been started.
#[derive(Debug, Clone)]
pub struct Executor {
    scheduler: Address,
    bind: IpAddr,
    port: u16,
    /// `None` means one for each core.
    threads: Option<usize>,
    work_dir: Option<PathBuf>,
    patience: Duration,
}

impl Executor {
    /// An executor with the default options.
    pub fn new(scheduler: Address) -> Self {
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self { scheduler, bind, port: 0, threads: None, work_dir: None, patience: Duration::from_secs(60) }
    }

    /// The address on which it listens; 127.0.0.1 by default.
    pub fn bind(self, bind: IpAddr) -> Self {
        Self { bind, ..self }
    }

    /// The port from which others read results; 0 means any free one. The next port is for tasks
    /// that are pushed.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Number of tasks at a time; one for each core by default.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads.max(1)), ..self }
    }

    /// Where states and results are kept; by default a temporary directory, which is removed at the
    /// end.
    pub fn work_dir(self, work_dir: impl Into<PathBuf>) -> Self {
        Self { work_dir: Some(work_dir.into()), ..self }
    }

    /// How long to wait for the scheduler; 60 seconds by default.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Runs until the process is asked to end. `started` is told the address when the executor is
    /// about to start.
    pub async fn run(self, started: impl FnOnce(SocketAddr, Policy), tell: impl Fn(&str)) -> Result<(), Error> {
        self.wait(tell).await?;
        let policy = self.policy_of_scheduler().await?;
        let (results, tasks) = self.ports()?;
        let temporary = tempfile::tempdir().map_err(|error| cannot_write("a temporary directory", &error))?;
        let place = self.work_dir.clone().unwrap_or_else(|| temporary.path().to_owned());
        std::fs::create_dir_all(&place).map_err(|error| cannot_write(&place.display().to_string(), &error))?;
        let place = place.into_os_string().into_string();
        let place = place.map_err(|path| Error::new(format!("the directory {} is not UTF-8", path.display())))?;
        let registry = state(config()).map_err(|error| Error::new(error.to_string()))?;
        let process = ExecutorProcessConfig {
            bind_host: Address::bracketed(&self.bind.to_string()),
            // Otherwise the scheduler takes the address from which the executor connects.
            external_host: (!self.bind.is_unspecified()).then(|| Address::bracketed(&self.bind.to_string())),
            port: results,
            grpc_port: tasks,
            scheduler_host: Address::bracketed(self.scheduler.host()),
            scheduler_port: self.scheduler.port(),
            vcores: self.threads.unwrap_or(0),
            task_scheduling_policy: policy.of_ballista(),
            work_dir: Some(place),
            grpc_max_decoding_message_size: LONGEST_MESSAGE,
            grpc_max_encoding_message_size: LONGEST_MESSAGE,
            executor_heartbeat_interval_seconds: HEARTBEAT.as_secs(),
            override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&registry))),
            override_execution_engine: Some(Arc::new(Engine::default())),
            override_config_producer: Some(Arc::new(config)),
            override_logical_codec: Some(Arc::new(codec::Logical::default())),
            override_physical_codec: Some(Arc::new(codec::Physical::default())),
            ..ExecutorProcessConfig::default()
        };
        let asked = Arc::new(AtomicBool::new(false));
        tokio::spawn(note_signals(Arc::clone(&asked)));
        started(SocketAddr::new(self.bind, results), policy);
        let stopped = |error| Error::new(format!("the executor stopped: {error}"));
        start_executor_process(Arc::new(process)).await.map_err(stopped)?;
        if asked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let message = format!("the executor stopped, because the scheduler at {} ended or removed it", self.scheduler);
        Err(Error::new(message).hint("start the scheduler again if it is not running, then the executor"))
    }

    /// Waits until the scheduler answers.
    async fn wait(&self, tell: impl Fn(&str)) -> Result<(), Error> {
        let start = Instant::now();
        let mut told = false;
        loop {
            match probe::has_executors(&self.scheduler).await {
                Ok(_) => return Ok(()),
                Err(error) if start.elapsed() >= self.patience => return Err(error),
                Err(error) if !told => {
                    tell(&format!("{}; waiting up to {} seconds", error.message(), self.patience.as_secs()));
                    told = true;
                }
                Err(_) => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The policy of the scheduler: one that pushes tasks refuses all questions for tasks, one that
    /// does not refuses a question without a name.
    async fn policy_of_scheduler(&self) -> Result<Policy, Error> {
        let failed = |error: String| {
            Error::new(format!("cannot talk to the scheduler at {}: {error}", self.scheduler))
                .hint("use the same version of eigenspace-sql in all processes of a cluster")
        };
        let url = self.scheduler.url();
        let settings = ballista_core::utils::GrpcClientConfig::from(&config().ballista_config());
        let connected = ballista_core::utils::create_grpc_client_connection(url, &settings).await;
        let mut client = SchedulerGrpcClient::new(connected.map_err(|error| failed(crate::with_causes(&error)))?);
        let question = PollWorkParams { metadata: None, num_free_vcores: 0, task_status: Vec::new() };
        match tokio::time::timeout(SILENCE, client.poll_work(question)).await {
            Ok(Err(status)) if status.code() == tonic::Code::InvalidArgument => Ok(Policy::Pull),
            Ok(Err(status)) if status.code() == tonic::Code::FailedPrecondition => Ok(Policy::Push),
            Ok(Err(status)) => Err(failed(status.message().to_owned())),
            Ok(Ok(_)) => Err(failed("unexpected answer".into())),
            Err(_) => Err(failed("no answer".into())),
        }
    }

    /// Two free ports. They are closed again before the executor opens them, which reports a port
    /// that is in use.
    fn ports(&self) -> Result<(u16, u16), Error> {
        let open = |port: u16| {
            let listener = TcpListener::bind((self.bind, port)).map_err(|error| {
                let place = SocketAddr::new(self.bind, port);
                Error::new(format!("cannot listen on {place}: {error}")).hint("choose another --port, or --bind")
            })?;
            let port = listener.local_addr().map_or(port, |address| address.port());
            Ok((listener, port))
        };
        let (_first, results) = open(self.port)?;
        let next = if self.port == 0 { Some(0) } else { self.port.checked_add(1) };
        let next = next.ok_or_else(|| Error::new("port 65535 has no next port").hint("choose another --port"))?;
        let (_second, tasks) = open(next)?;
        Ok((results, tasks))
    }
}

fn cannot_write(place: &str, error: &std::io::Error) -> Error {
    Error::new(format!("cannot write to {place}: {error}")).hint("choose another --work-dir")
}

/// Notes that the process was asked to end; the executor handles the signals.
async fn note_signals(asked: Arc<AtomicBool>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
    asked.store(true, Ordering::Relaxed);
}
