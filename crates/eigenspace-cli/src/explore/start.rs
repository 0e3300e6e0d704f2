//! Starts a session: opens models and rows, binds the port, and serves until it is stopped.

use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use eigenspace::internal::AtomicFile;
use eigenspace::{Components, FitOptions, Missing};
use serde_json::json;

use crate::answer::Answer;
use crate::explore::face_desk::FaceDesk;
use crate::explore::faces;
use crate::explore::load::{self, Fit, stem};
use crate::explore::security::{Gate, LOOPBACK};
use crate::explore::server;
use crate::explore::session::{Data, Session, Settings, Stage, Watched};
use crate::explore::shelf::{Made, Shelf};
use crate::explore::store::RowStore;
use crate::explore::{browser, watch};
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::opened::Opened;
use crate::options::Input;
use crate::{advice, inputs, memory, output};

/// What to show.
pub(crate) struct Plan {
    pub(crate) models: Vec<PathBuf>,
    pub(crate) data: Vec<PathBuf>,
    pub(crate) watch: Option<PathBuf>,
    pub(crate) components: Option<Components>,
    pub(crate) standardize: bool,
    pub(crate) missing: Missing,
    pub(crate) input: Input,
    /// The command, without --state.
    pub(crate) command: String,
    pub(crate) state: Option<String>,
    pub(crate) write: Option<PathBuf>,
}

/// Where to serve.
pub(crate) struct Address {
    pub(crate) bind: IpAddr,
    pub(crate) port: u16,
    /// Names under which browsers reach the server; those of this machine by default.
    pub(crate) hosts: Vec<String>,
    pub(crate) open: bool,
    pub(crate) json: bool,
}

/// Serves the page until it is stopped.
pub(crate) fn start(plan: Plan, address: &Address) -> anyhow::Result<Answer> {
    if let Some(directory) = &plan.write {
        AtomicFile::create(directory.join("model.safetensors"))?; // nothing stays of it
    }
    let shelf = Shelf::default();
    let mut recognizer = None;
    for path in &plan.models {
        let opened = Opened::load_with(path, plan.components)?.viewed(false, plan.missing);
        let is_recognizer = opened.is_recognizer();
        let entry = shelf.add(stem(&path.to_string_lossy()), opened, Made::File, Vec::new());
        if is_recognizer && recognizer.is_none() {
            recognizer = Some(FaceDesk::new(entry.id, faces::load(path)?));
        }
    }
    let loading = open_rows(&plan, &shelf)?;
    let (desk, clerk) = recognizer.unzip();
    let settings = Settings { command: plan.command, state: plan.state, write: plan.write, missing: plan.missing };
    let watched = plan.watch.as_ref().map(|path| Watched::new(path.to_string_lossy().into_owned()));
    let data = loading.as_ref().map(|loading| Arc::clone(&loading.data));
    let session = Session { shelf, faces: desk, watch: watched, settings, data: data.into(), ..Session::default() };
    let session = Arc::new(session);

    let failed = |source| Failure::Listen { address: address.bind, port: address.port, source };
    let listener = TcpListener::bind((address.bind, address.port)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let names = if address.hosts.is_empty() { LOOPBACK.map(String::from).to_vec() } else { address.hosts.clone() };
    let gate = Gate::new(&names, port)?;

    if let Some(clerk) = clerk {
        let session = Arc::downgrade(&session);
        std::thread::spawn(move || clerk.work(&session));
    }
    let url = gate.url();
    match address.json {
        true => output::data(&json!({ "url": url, "port": port }).to_string())?,
        false => output::data(&url)?,
    }
    let _file = if address.open { browser::open(&url) } else { None };
    output::message(if _file.is_some() {
        "opened the page in a browser; press Ctrl-C to stop"
    } else {
        "open this address in a browser; press Ctrl-C to stop"
    });
    // What these say follows the address.
    if let Some(loading) = loading {
        let session = Arc::clone(&session);
        std::thread::spawn(move || load::load(&session, &loading.data, loading.source, loading.fit));
    }
    if let Some(path) = plan.watch {
        let (session, input) = (Arc::clone(&session), plan.input);
        std::thread::spawn(move || {
            if let Some(watched) = &session.watch {
                watch::watch(&session, watched, &path, &input);
            }
        });
    }
    server::serve(listener, gate, &session)?;
    let failed = session.data().is_some_and(|data| data.has_failed());
    Ok(if failed { Answer::Failed } else { Answer::Yes })
}

/// Rows that are to be read, and how to fit a model to them.
struct Loading {
    data: Arc<Data>,
    source: Box<dyn eigenspace::io::source::RowSource>,
    fit: Option<Fit>,
}

/// Opens the rows that were named, so that mistakes are errors before the page opens.
fn open_rows(plan: &Plan, shelf: &Shelf) -> anyhow::Result<Option<Loading>> {
    let Some(first) = plan.data.first() else { return Ok(None) };
    let model = shelf.all().into_iter().next();
    let source = match &model {
        Some(entry) => {
            inputs::open_for(&plan.data, &plan.input, entry.opened.metadata(), entry.opened.raw().features())?
        }
        None => Inputs::find(&plan.data, &plan.input)?.open()?,
    };
    let columns = source.columns().clone();
    let fit = match model {
        Some(_) => None,
        None => {
            let options = FitOptions::new().components(plan.components.unwrap_or_default());
            let options = options.missing(plan.missing).standardize(plan.standardize);
            memory::for_stream(&options.plan(columns.count)?, columns.count, 0, source.rows())?;
            Some(Fit { options, metadata: columns.metadata().with_standardize(plan.standardize) })
        }
    };
    let more = plan.data.len() - 1;
    let name = if more == 0 { first.display().to_string() } else { format!("{} and {more} more", first.display()) };
    let store = Arc::new(RowStore::new(columns)?);
    let data = Data { name, store, total: source.rows(), stage: Stage::Reading.into() };
    if source.columns().count == 0 {
        return Err(Failure::NoRows { input: format!("`{}` has", data.name), hint: advice::EMPTY_FILE }.into());
    }
    Ok(Some(Loading { data: Arc::new(data), source, fit }))
}
