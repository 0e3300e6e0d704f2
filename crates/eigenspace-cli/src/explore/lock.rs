//! Locks of what several requests share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panic in another request does not make useless.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
