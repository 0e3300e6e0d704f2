"""Handling of Ctrl-C during long native computations."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

LONG = 1 << 27
"""Computations with at least this many multiplications (0.1 s on a slow machine) can be interrupted."""

READ_AT_MOST = 1024
"""Approximate number of rows and directions that a stream of many features holds."""


UNCHANGED = "eigenspace: interrupted; the estimator or model is as it was before the call"


def decomposition(rows: int, features: int) -> int:
    """Return the number of multiplications of a decomposition."""
    return rows * features * min(rows, features)


def writing(cells: int) -> int:
    """Return the cost, in multiplications, of serializing or reading this many cells with a checksum."""
    return 32 * cells


def explained(interrupt: KeyboardInterrupt) -> KeyboardInterrupt:
    """Add a note that says what the interruption has left, and return the exception."""
    if UNCHANGED not in getattr(interrupt, "__notes__", []):
        interrupt.add_note(UNCHANGED)
    return interrupt


def interruptibly(work: Callable[[], Result], cost: int) -> Result:
    """Run a call so that Ctrl-C can interrupt it; ``cost`` is its approximate number of multiplications.

    Python handles signals only in the main thread, and only between two bytecode instructions. A
    long call therefore runs in another thread while the main thread waits. On Ctrl-C the exception
    is raised at once; the call finishes in the background and its result is discarded. The call
    must therefore not change anything that is visible elsewhere.
    """
    if cost < LONG or threading.current_thread() is not threading.main_thread():
        return work()
    outcome: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True, name="eigenspace")
    try:
        try:
            thread.start()
        except RuntimeError:  # the system cannot start another thread
            return work()
        while not outcome:
            thread.join(0.1)  # in steps, because on some systems a signal does not end the wait
    except KeyboardInterrupt as interrupt:
        raise explained(interrupt) from None
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]
