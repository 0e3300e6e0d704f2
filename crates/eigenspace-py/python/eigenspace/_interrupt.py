"""Ctrl-C in the middle of one long computation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

LONG = 1 << 27
"""Multiplications from which a computation can be interrupted: a tenth of a second where they are slow."""

READ_AT_MOST = 1024
"""Rows and directions, more or less, that a stream of many features holds."""


def decomposition(rows: int, features: int) -> int:
    """Multiplications of a decomposition."""
    return rows * features * min(rows, features)


def writing(cells: int) -> int:
    """What turning numbers into bytes with a checksum costs, or the reverse, in multiplications."""
    return 32 * cells


def interruptibly(work: Callable[[], Result], cost: int) -> Result:
    """The result of a call that costs about so many multiplications, and can be interrupted by hand.

    Signals are heard by the main thread alone, and only between two steps of Python. So the work goes on in another
    thread while this one waits. When it is interrupted the exception comes at once; what was begun ends by itself and
    is forgotten. It must therefore change nothing that somebody else can see.
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
        thread.start()
    except RuntimeError:  # the system has no thread to give
        return work()
    while not outcome:
        thread.join(0.1)  # in steps: not every system lets a signal end the wait
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]
