"""Exceptions raised by the Python code, with hints like those of the native code, and numbers in messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from ._core import EigenspaceError

Kind = TypeVar("Kind", bound=Exception)


def refusal(words: str, hint: str) -> EigenspaceError:
    """Return an exception whose hint is both an attribute and a note under the traceback."""
    return with_hint(EigenspaceError(words), hint)


def with_hint(error: Kind, hint: str) -> Kind:
    """Add a hint to an exception and return it."""
    error.hint = hint  # type: ignore[attr-defined]
    error.add_note(f"hint: {hint}")
    return error


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, which is in the singular for 1."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


@contextmanager
def in_partition(name: str | None) -> Iterator[None]:
    """Add the name of the partition, if it has one, to errors about its rows."""
    try:
        yield
    except EigenspaceError as error:
        if name is None or str(error).startswith("partition `"):
            raise
        raise refusal(f"partition `{name}`: {error}", error.hint or "check the rows of this partition") from None
