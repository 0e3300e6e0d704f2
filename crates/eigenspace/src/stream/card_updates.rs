//! Updates of a stream on a card. They either succeed as a whole or leave the stream as it was.

use ndarray::Axis;

use crate::error::Error;
use crate::rows::block::Block;
use crate::stream::buffer::RowBuffer;
use crate::stream::eigenspace_stream::{EigenspaceStream, cut_of, rule_of};
use crate::stream::on_card::{Flushed, OnCard};
use crate::stream::plan::Engine;
use crate::stream::state::StreamState;

impl EigenspaceStream {
    /// Like `absorb`, for dense rows of a stream on a card.
    pub(crate) fn absorb_on_card(&mut self, block: Block<'_>) -> Result<(), Error> {
        let mut update = Update { clock: self.state.clock, before: None, unchecked: false };
        let result = self.absorb_rows(block, &mut update);
        match (&result, update.before, &mut self.on_card) {
            (Ok(()), Some(before), Some(on_card)) => on_card.reuse(before),
            (Err(_), before, _) => {
                // What is on the card may be half done.
                self.leave_card();
                if let Some(before) = before {
                    self.state = before;
                }
                self.state.clock = update.clock;
            }
            _ => {}
        }
        result
    }

    fn absorb_rows(&mut self, block: Block<'_>, update: &mut Update) -> Result<(), Error> {
        let selected = block.admit(self.features(), self.options.missing)?;
        self.count().checked_add(selected.len() as u64).ok_or(Error::CountOverflow)?;
        if selected.is_empty() {
            return Ok(());
        }
        self.cache.outdate();
        self.state.clock += u64::from(!self.options.forgetting.by_row());
        if self.state.buffer.pending() > 0 && self.state.buffer.is_sparse() {
            update.keep(&self.state);
            self.flush()?;
        }
        let mut rest = &selected[..];
        while !rest.is_empty() {
            let free = self.free_rows();
            let taken = if free > 0 {
                let (which, _) = rest.split_at(free.min(rest.len()));
                self.append_on_card(&block, which, free);
                which.len()
            } else {
                self.flush_on_card(&block, rest, update)?
            };
            rest = &rest[taken..];
        }
        Ok(())
    }

    /// Appends rows to the buffer, and sends them to the card.
    fn append_on_card(&mut self, block: &Block<'_>, which: &[usize], free: usize) {
        let (clock, by_row) = (self.state.clock, self.options.forgetting.by_row());
        let time = |i: usize| if by_row { clock + 1 + i as u64 } else { clock };
        self.state.buffer.append(block, which, false, free, time);
        self.state.clock += if by_row { which.len() as u64 } else { 0 };
        let capacity = self.state.buffer.pending() + free - which.len();
        if let Some(on_card) = &mut self.on_card {
            on_card.send_ahead(&self.state.buffer, capacity);
        }
    }

    /// Adds the full buffer to the scatter or compresses it, while the next of these rows are copied. Returns the number of
    /// rows that were appended after it.
    fn flush_on_card(&mut self, block: &Block<'_>, rest: &[usize], update: &mut Update) -> Result<usize, Error> {
        self.cache.clear();
        let (plan, options, now) = (self.plan, &self.options, self.state.clock);
        let fade = options.forgetting.weight(now - self.state.settled);
        let weights = self.state.buffer.weights(options.forgetting, now);
        let StreamState { engine, buffer, .. } = &self.state;
        let suits = fade == 1.0 && OnCard::suits(plan.engine, buffer, options.standardize);
        let (Some(on_card), true) = (&mut self.on_card, suits) else {
            update.keep(&self.state);
            return self.flush().map(|()| 0);
        };
        // Afterwards, the buffer has room for a block. How much more depends on the rank, if that is not known.
        let known = plan.engine == Engine::Scatter || plan.max_rank.is_some();
        let which = if known { &rest[..plan.block_rows.min(rest.len())] } else { &[] };
        let reserved = OnCard::reserved_rows(plan, buffer);
        let mut memory = on_card.memory_of(reserved + plan.block_rows, buffer.features());
        let (home, room) = memory.view_mut().split_at(Axis(0), reserved);
        let (card, mut incoming) = on_card.beside();
        let flush = || match plan.engine {
            Engine::Scatter => on_card.add_to_scatter(engine, options, buffer, weights.as_deref()).map(Some),
            _ => on_card.compress(engine, buffer, weights.as_deref(), &rule_of(plan, options, &cut_of(plan, options)), home),
        };
        let (flushed, filled) = rayon::join(flush, || incoming.fill(&*card, block, which, update.unchecked, room));
        filled?;
        let Some(Flushed { engine, kept }) = flushed? else {
            // The eigenproblem failed its check.
            update.keep(&self.state);
            return self.flush().map(|()| 0);
        };
        on_card.commit(incoming);
        let next = RowBuffer::ending_with(memory, reserved, kept);
        let old = self.state.replaced(engine, next, now);
        if let Some(unneeded) = update.keep_instead(old) {
            on_card.reuse(unneeded);
        }
        let by_row = options.forgetting.by_row();
        let time = |i: usize| if by_row { now + 1 + i as u64 } else { now };
        self.state.buffer.adopt(block, which, time);
        self.state.clock += if by_row { which.len() as u64 } else { 0 };
        Ok(which.len())
    }
}

/// What is needed to undo an update that fails after some of its rows were absorbed.
struct Update {
    clock: u64,
    /// The state before the first compression.
    before: Option<StreamState>,
    /// Whether the values of the rows are checked when they are copied.
    unchecked: bool,
}

impl Update {
    /// Keeps a copy of the state, unless an earlier one is kept.
    fn keep(&mut self, state: &StreamState) {
        if self.before.is_none() {
            self.before = Some(state.clone());
        }
    }

    /// Keeps a state that was replaced, or returns it if an earlier one is kept.
    fn keep_instead(&mut self, old: StreamState) -> Option<StreamState> {
        if self.before.is_some() {
            return Some(old);
        }
        self.before = Some(old);
        None
    }
}
