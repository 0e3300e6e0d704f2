//! Compares rows with a model while they arrive.
//!
//! ```text
//! growing file or standard input → rows of the session, T² and Q → events
//!                                ↘ a model of the rows that arrived → its angle to the reference model
//! ```

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use eigenspace::io::source::{Columns, RowBlock, RowSource};
use eigenspace::{EigenspaceStream, FitOptions};

use crate::explore::events::Happened;
use crate::explore::load::complete;
use crate::explore::lock::locked;
use crate::explore::reply;
use crate::explore::row::{CONFIDENCE, limits};
use crate::explore::session::{Data, Readings, Session, Stage, Watched};
use crate::explore::shelf::{Entry, Made};
use crate::explore::store::RowStore;
use crate::opened::Opened;
use crate::options::Input;
use crate::{inputs, report, rows};

/// Time between two events.
const PAUSE: Duration = Duration::from_millis(200);
/// Largest number of rows of one event.
const MOST: usize = 5000;
/// The model of the rows that arrived is computed at most every so often, and for at most a tenth
/// of the time.
const MODEL_PAUSE: Duration = Duration::from_secs(1);

/// Watches an input until it ends. Errors are shown on the page.
pub(super) fn watch(session: &Session, watched: &Watched, path: &Path, input: &Input) {
    let ended = report::without_panics(|| follow(session, watched, path, input));
    let mut progress = locked(&watched.progress);
    progress.state = if ended.is_ok() { "ended" } else { "failed" };
    if let Err(error) = &ended {
        report::error(error);
        progress.error = Some(reply::described(error));
    }
    drop(progress);
    session.changed();
}

/// The first model, once there is one and the other rows are read.
fn reference(session: &Session) -> anyhow::Result<Arc<Entry>> {
    loop {
        let stage = session.data().map(|data| locked(&data.stage).clone());
        match (stage, session.shelf.all().into_iter().next()) {
            (None | Some(Stage::Ready), Some(entry)) => return Ok(entry),
            (Some(Stage::Failed(_)), _) => {
                anyhow::bail!("cannot watch the input: the rows to compare with could not be read")
            }
            _ => std::thread::sleep(PAUSE),
        }
    }
}

fn follow(session: &Session, watched: &Watched, path: &Path, input: &Input) -> anyhow::Result<()> {
    let reference = reference(session)?;
    let raw = reference.opened.raw();
    let stop = Arc::new(AtomicBool::new(false));
    let source = inputs::follow_for(path, input, reference.opened.metadata(), raw.features(), stop)?;
    let columns = source.columns().clone();
    let store = store(session, &watched.source, &columns)?;
    locked(&watched.progress).first = store.rows() as u64;
    locked(&watched.progress).state = "reading";
    session.changed();
    let mut live = Live::new(session, &reference)?;
    let mut arriving = read_ahead(source);
    let tell = |first: usize, t2: Vec<f64>, q: Vec<f64>, angle: Option<f64>| {
        let readings = Readings {
            model: reference.id,
            first: first as u64,
            angles: vec![angle; t2.len()],
            t2,
            q,
            limits: limits(&reference.opened, CONFIDENCE),
            angle,
            rows: locked(&watched.progress).rows,
        };
        watched.remember(&readings);
        session.events.publish(Happened::Readings(Arc::new(readings.described())));
    };
    loop {
        let block = match arriving.next(live.due())? {
            Next::Rows(block) => block,
            Next::Nothing => {
                live.read(session, &reference)?;
                tell(store.rows(), Vec::new(), Vec::new(), live.angle);
                continue;
            }
            Next::End => break,
        };
        let begun = Instant::now();
        let kept = complete(&block, session.settings.missing);
        let located = |error: anyhow::Error| rows::located(error, &block, &columns);
        if kept.rows() > 0 {
            let measured = reference.opened.readings(&kept.values).map_err(|error| located(error.into()))?;
            let first = store.rows();
            store.append(&kept)?;
            live.absorb(session, &reference, &kept).map_err(located)?;
            locked(&watched.progress).rows += kept.rows() as u64;
            tell(first, measured.hotelling.to_vec(), measured.squared_distance.to_vec(), live.angle);
        }
        std::thread::sleep(PAUSE.saturating_sub(begun.elapsed()));
    }
    live.read(session, &reference)?;
    tell(store.rows(), Vec::new(), Vec::new(), live.angle);
    Ok(())
}

/// The rows of the session, to which those that arrive are appended.
fn store(session: &Session, name: &str, columns: &Columns) -> anyhow::Result<Arc<RowStore>> {
    if let Some(data) = session.data() {
        return Ok(Arc::clone(&data.store));
    }
    let store = Arc::new(RowStore::new(columns.clone())?);
    let data = Data { name: name.to_owned(), store: Arc::clone(&store), total: None, stage: Stage::Ready.into() };
    *locked(&session.data) = Some(Arc::new(data));
    Ok(store)
}

/// Reads rows one by one on another thread, each as soon as it is there.
fn read_ahead(mut source: Box<dyn RowSource>) -> Arriving {
    let (sender, arriving) = sync_channel(2 * MOST);
    std::thread::spawn(move || {
        loop {
            let block = match source.next_block(1) {
                Ok(None) => return,
                Ok(Some(block)) => Ok(block),
                Err(error) => Err(error.into()),
            };
            let failed = block.is_err();
            if sender.send(block).is_err() || failed {
                return;
            }
        }
    });
    Arriving { rows: arriving, error: None }
}

/// Rows on their way from the input.
struct Arriving {
    rows: Receiver<anyhow::Result<RowBlock>>,
    /// An error that came after rows that were not returned yet.
    error: Option<anyhow::Error>,
}

/// What comes next from the input.
enum Next {
    Rows(RowBlock),
    /// No row came in time.
    Nothing,
    End,
}

impl Arriving {
    /// All rows that are waiting, as one block; waits for the first, but not longer than for the
    /// time given.
    fn next(&mut self, patience: Option<Duration>) -> anyhow::Result<Next> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let first = match patience.map(|patience| self.rows.recv_timeout(patience)) {
            None => match self.rows.recv() {
                Ok(first) => first,
                Err(_) => return Ok(Next::End),
            },
            Some(Ok(first)) => first,
            Some(Err(RecvTimeoutError::Timeout)) => return Ok(Next::Nothing),
            Some(Err(RecvTimeoutError::Disconnected)) => return Ok(Next::End),
        };
        let (first, mut later) = (first?, Vec::new());
        while later.len() + 1 < MOST
            && self.error.is_none()
            && let Ok(block) = self.rows.try_recv()
        {
            match block {
                Ok(block) => later.push(block),
                Err(error) => self.error = Some(error),
            }
        }
        Ok(Next::Rows(first.concat(&later)?))
    }
}

/// The model of the rows that arrived.
struct Live {
    stream: EigenspaceStream,
    id: Option<u64>,
    /// When it may be computed again.
    next: Instant,
    /// Whether rows arrived since it was computed.
    behind: bool,
    /// The largest angle between its components and those of the reference.
    angle: Option<f64>,
}

impl Live {
    fn new(session: &Session, reference: &Entry) -> anyhow::Result<Self> {
        let raw = reference.opened.raw();
        let options = FitOptions::new().components(raw.n_components_setting()).centered(raw.is_centered());
        let options = options.missing(session.settings.missing);
        let metadata = raw.metadata().clone().with_component_labels(Vec::new());
        let stream = options.stream(raw.features())?.with_metadata(metadata)?;
        Ok(Self { stream, id: None, next: Instant::now() + MODEL_PAUSE, behind: false, angle: None })
    }

    fn absorb(&mut self, session: &Session, reference: &Entry, block: &RowBlock) -> anyhow::Result<()> {
        self.stream.update(&reference.opened.preprocessed(&block.values).to_f64())?;
        self.behind = true;
        if Instant::now() >= self.next {
            self.read(session, reference)?;
        }
        Ok(())
    }

    /// How long to wait for more rows before the model is computed; nothing if it is current.
    fn due(&self) -> Option<Duration> {
        self.behind.then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// Puts the model as it is now on the shelf.
    fn read(&mut self, session: &Session, reference: &Entry) -> anyhow::Result<()> {
        self.behind = false;
        if self.stream.count() < 2 {
            return Ok(());
        }
        let begun = Instant::now();
        let model = (*self.stream.model()?).clone();
        let name = "rows that arrived";
        let opened = Opened::new(Path::new(name), model)?.viewed(false, session.settings.missing);
        let opened = opened.with_pixels_of(&reference.opened);
        let (there, here) = (reference.opened.model(), opened.model());
        let k = there.n_components();
        self.angle = match here.rank() >= k && k > 0 {
            true => there.angles_of_first(here, k)?.last().copied(),
            false => None,
        };
        match self.id {
            Some(id) => session.shelf.renew(id, opened),
            None => self.id = Some(session.shelf.add(name.into(), opened, Made::Stream, vec![reference.id]).id),
        }
        self.next = Instant::now() + MODEL_PAUSE.max(10 * begun.elapsed());
        session.changed();
        Ok(())
    }
}
