"""Exceptions of the Python part, with advice as those of the native part have it."""

from __future__ import annotations

from typing import TypeVar

from ._core import EigenspaceError

Kind = TypeVar("Kind", bound=Exception)


def refusal(words: str, hint: str) -> EigenspaceError:
    """The exception for what is refused: `hint` says what to do, to programs and under the traceback."""
    return with_hint(EigenspaceError(words), hint)


def with_hint(error: Kind, hint: str) -> Kind:
    """The same exception with advice."""
    error.hint = hint  # type: ignore[attr-defined]
    error.add_note(f"hint: {hint}")
    return error
