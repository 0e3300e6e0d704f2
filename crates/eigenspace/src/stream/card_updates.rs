//! Updates of a stream on a card. They either succeed as a whole or leave the stream as it was.

use ndarray::Axis;

use crate::device_error::DeviceError;
use crate::error::Error;
use crate::linalg::{self, RowsOnCard};
use crate::rows::block::Block;
use crate::stream::buffer::RowBuffer;
use crate::stream::eigenspace_stream::{EigenspaceStream, cut_of, rule_of};
use crate::stream::forgetting::Forgetting;
use crate::stream::on_card::{Flushed, OnCard};
use crate::stream::pending::Source;
use crate::stream::plan::Engine;
use crate::stream::state::StreamState;

impl EigenspaceStream {
    /// Absorbs rows that are in the memory of the card of this stream.
    #[doc(hidden)]
    pub fn update_from_card(&mut self, rows: RowsOnCard) -> Result<(), Error> {
        let Some(on_card) = &self.on_card else {
            return Err(DeviceError::NotOnDevice { address: rows.address, bytes: rows.bytes() }.into());
        };
        if rows.columns != self.features() {
            return Err(Error::WidthMismatch { expected: self.features(), found: rows.columns });
        }
        on_card.check(rows)?;
        linalg::inside(|| self.absorb_source(&Source::Card(rows)))
    }

    /// Like `absorb`, for dense rows of a stream on a card.
    pub(crate) fn absorb_on_card(&mut self, block: Block<'_>) -> Result<(), Error> {
        self.absorb_source(&Source::Host(block))
    }

    fn absorb_source(&mut self, source: &Source<'_>) -> Result<(), Error> {
        let (clock, pending) = (self.state.clock, self.state.buffer.pending());
        let mut before = Before(None);
        let result = self.absorb_rows(source, &mut before);
        if result.is_err() {
            // What is on the card may be half done.
            self.leave_card();
            if let Some(before) = before.0 {
                self.state = before;
            }
            self.state.buffer.forget_after(pending);
            self.state.clock = clock;
        } else if let (Some(before), Some(on_card)) = (before.0, &mut self.on_card) {
            on_card.reuse(before);
        }
        result
    }

    fn absorb_rows(&mut self, source: &Source<'_>, before: &mut Before) -> Result<(), Error> {
        let selected = source.admit(self.features(), self.options.missing)?;
        let added: f64 = selected.iter().map(|&row| source.weight(row)).sum();
        self.begin_update(selected.len(), added)?;
        if !selected.is_empty() && self.state.buffer.pending() > 0 && self.state.buffer.is_sparse() {
            before.keep(&self.state);
            self.flush()?;
        }
        let mut update = Update { source, rest: &selected[..], absent: &[] };
        while !update.rest.is_empty() || !update.absent.is_empty() {
            let free = self.free_rows();
            if free > 0 && update.absent.is_empty() {
                let (which, later) = update.rest.split_at(free.min(update.rest.len()));
                let absent = which.len() == free && self.append_only_on_card(source, which)?;
                if !absent {
                    self.append_on_card(source, which, free)?;
                }
                (update.rest, update.absent) = (later, if absent { which } else { &[] });
            } else {
                self.flush_on_card(&mut update, before)?;
            }
        }
        Ok(())
    }

    /// Appends rows to the buffer, and sends them to the card.
    fn append_on_card(&mut self, source: &Source<'_>, which: &[usize], free: usize) -> Result<(), Error> {
        let Some(on_card) = &mut self.on_card else { return Ok(()) };
        let (clock, forgetting) = (self.state.clock, self.options.forgetting);
        let times = forgetting.times(clock);
        let buffer = &mut self.state.buffer;
        match source {
            Source::Host(block) => buffer.append(block, which, false, free, times),
            Source::Card(rows) => {
                let copy = on_card.downloaded(rows.part(which))?;
                let all: Vec<usize> = (0..which.len()).collect();
                buffer.append(&Block::from(&copy), &all, false, free, times);
            }
        }
        let new = buffer.pending() - which.len()..buffer.pending();
        source.check(linalg::rows_of(buffer.raw(), new), which)?;
        self.state.clock = forgetting.after_rows(clock, which.len());
        on_card.send_ahead(buffer, buffer.pending() + free - which.len());
        Ok(())
    }

    /// Appends rows that fill the buffer and are compressed at once, without a copy on the host.
    /// Returns whether it has.
    fn append_only_on_card(&mut self, source: &Source<'_>, which: &[usize]) -> Result<bool, Error> {
        let forgetting = self.options.forgetting;
        let known = self.plan.engine == Engine::Factor && self.plan.max_rank.is_some();
        let absorbed = self.state.moments().weight().value() >= 1.0;
        let plain = forgetting == Forgetting::Never && absorbed && known;
        let StreamState { buffer, clock, .. } = &mut self.state;
        let (Some(on_card), true) = (&mut self.on_card, source.is_eager() && plain && buffer.pending() == 0) else {
            return Ok(false);
        };
        let Some(room) = buffer.room_mut(which.len()) else { return Ok(false) };
        let (card, mut incoming) = on_card.beside();
        incoming.fill(&*card, source, which, room, false)?;
        on_card.commit(incoming);
        buffer.adopt(which, |row| source.weight(row), forgetting.times(*clock));
        *clock = forgetting.after_rows(*clock, which.len());
        Ok(true)
    }

    /// Adds the full buffer to the scatter or compresses it, while the next rows of the update are
    /// copied and appended.
    fn flush_on_card(&mut self, update: &mut Update<'_>, before: &mut Before) -> Result<(), Error> {
        let (source, rest) = (update.source, update.rest);
        self.cache.clear();
        let (plan, options, now) = (self.plan, &self.options, self.state.clock);
        let fade = options.forgetting.weight(now - self.state.engine_clock);
        let weights = self.state.buffer.weights(options.forgetting, now);
        let StreamState { engine, buffer, .. } = &self.state;
        let suits = fade == 1.0 && OnCard::suits(plan.engine, buffer, options.standardize);
        let (Some(on_card), true) = (&mut self.on_card, suits) else {
            return self.flush_on_host(update, before);
        };
        // Afterward, the buffer has room for a block. How much more depends on the rank, if that is
        // not known.
        let known = plan.engine == Engine::Scatter || plan.max_rank.is_some();
        let which = if known { &rest[..plan.block_rows.min(rest.len())] } else { &[] };
        let reserved = OnCard::reserved_rows(plan, buffer);
        let mut memory = on_card.memory_of(reserved + plan.block_rows, buffer.features());
        let (home, room) = memory.view_mut().split_at(Axis(0), reserved);
        let (card, mut incoming) = on_card.beside();
        // If more rows of this update follow, the scatter stays on the card. If that fails, so does
        // the update.
        let complete = which.len() == rest.len() || options.forgetting != Forgetting::Never;
        // Rows that are compressed in this update need not be on the host, unless one of them is
        // the first center.
        let full = which.len() == plan.block_rows && plan.engine == Engine::Factor;
        let compressed_soon = full && (which.len() < rest.len() || source.is_eager());
        let plain = options.forgetting == Forgetting::Never && weights.is_none() && source.is_unweighted(which);
        let keep = !(compressed_soon && plain && known);
        let flush = || match plan.engine {
            Engine::Scatter => on_card.add_to_scatter(engine, options, buffer, weights.as_deref(), complete).map(Some),
            _ => {
                let cut = cut_of(plan, options);
                on_card.compress(engine, buffer, weights.as_deref(), &rule_of(plan, options, &cut), home)
            }
        };
        let (flushed, filled) = rayon::join(flush, || incoming.fill(&*card, source, which, room, keep));
        filled?;
        let Some(Flushed { engine, kept }) = flushed? else {
            // The eigenproblem failed its check.
            return self.flush_on_host(update, before);
        };
        on_card.commit(incoming);
        let next = RowBuffer::ending_with(memory, reserved, kept);
        let old = self.state.replaced(engine, next, now);
        if let Some(unneeded) = before.keep_instead(old) {
            on_card.reuse(unneeded);
        }
        let forgetting = options.forgetting;
        self.state.buffer.adopt(which, |row| source.weight(row), forgetting.times(now));
        self.state.clock = forgetting.after_rows(now, which.len());
        update.rest = &rest[which.len()..];
        update.absent = if keep { &[] } else { which };
        Ok(())
    }

    /// The same on the CPU, which needs all pending rows.
    fn flush_on_host(&mut self, update: &mut Update<'_>, before: &mut Before) -> Result<(), Error> {
        before.keep(&self.state);
        if let (Some(on_card), false) = (&self.on_card, update.absent.is_empty()) {
            update.source.write(on_card.card(), update.absent, self.state.buffer.raw_mut())?;
        }
        update.absent = &[];
        self.flush()
    }
}

/// The rows of an update that are not compressed yet.
struct Update<'a> {
    source: &'a Source<'a>,
    /// Rows that are not in the buffer.
    rest: &'a [usize],
    /// Pending rows of the buffer that are only on the card, all of them or none.
    absent: &'a [usize],
}

/// The state before the first compression of an update, to return to if the update fails later.
struct Before(Option<StreamState>);

impl Before {
    /// Keeps a copy of the state, unless an earlier one is kept.
    fn keep(&mut self, state: &StreamState) {
        if self.0.is_none() {
            self.0 = Some(state.clone());
        }
    }

    /// Keeps a state that was replaced, or returns it if an earlier one is kept.
    fn keep_instead(&mut self, old: StreamState) -> Option<StreamState> {
        if self.0.is_some() {
            return Some(old);
        }
        self.0 = Some(old);
        None
    }
}
