"""One lock for each estimator, so that threads that share one change it in turn.

Locks are kept here and not in the estimator: they cannot be pickled or copied, and an estimator's attributes are its
parameters and what it has learned.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_making = threading.Lock()


def lock_of(estimator: Any) -> Any:
    """The lock of an estimator, which the thread that holds it may take again."""
    lock = _locks.get(estimator)
    if lock is None:
        with _making:
            lock = _locks.setdefault(estimator, threading.RLock())
    return lock


def _begin_anew() -> None:
    """In a forked child: locks that other threads of the parent held would never be released."""
    global _locks, _making
    _locks, _making = WeakKeyDictionary(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
