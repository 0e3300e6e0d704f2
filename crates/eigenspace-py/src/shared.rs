//! A value that several Python threads may use: calls take turns.

use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use pyo3::prelude::*;

/// How long to wait for another thread before checking for signals.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A value behind a lock.
pub(crate) struct Shared<T>(Mutex<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Mutex::new(value))
    }
}

impl<T: Send> Shared<T> {
    /// Locks the value. While waiting, it releases the interpreter lock, because the thread that
    /// holds the value may need it, and it handles signals.
    pub(crate) fn hold(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, T>> {
        loop {
            if let Some(value) = self.0.try_lock() {
                return Ok(value);
            }
            if let Some(value) = py.detach(|| self.0.try_lock_for(SIGNAL_CHECK_INTERVAL)) {
                return Ok(value);
            }
            py.check_signals()?;
        }
    }
}
