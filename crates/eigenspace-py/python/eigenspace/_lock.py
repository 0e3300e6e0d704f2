"""One lock for each estimator, so that threads that share an estimator change it in turn.

The locks are stored here rather than in the estimator because they cannot be pickled or copied, and
because the attributes of an estimator should be its parameters and its results only.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_making = threading.Lock()


def lock_of(estimator: Any) -> Any:
    """Return the reentrant lock of an estimator."""
    lock = _locks.get(estimator)
    if lock is None:
        with _making:
            lock = _locks.setdefault(estimator, threading.RLock())
    return lock


def _reset_in_child() -> None:
    """Replace all locks in a forked child: those held by other threads would never be released."""
    global _locks, _making
    _locks, _making = WeakKeyDictionary(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)
