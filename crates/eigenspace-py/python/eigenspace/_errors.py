"""Exceptions raised by the Python code, with hints like those of the native code."""

from __future__ import annotations

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
