"""Ctrl-C in the middle of one long decomposition."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

LONG = 1 << 23
"""Cells from which a decomposition is long enough to be interrupted."""


def interruptibly(work: Callable[[], Result], cells: int) -> Result:
    """The result of a call that can be interrupted by hand.

    Signals are heard by the main thread alone, and only between two steps of Python. So the work goes on in another
    thread while this one waits. When it is interrupted the exception comes at once; what was begun ends by itself and
    is forgotten.
    """
    if cells < LONG or threading.current_thread() is not threading.main_thread():
        return work()
    outcome: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True, name="eigenspace")
    thread.start()
    thread.join()
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]
