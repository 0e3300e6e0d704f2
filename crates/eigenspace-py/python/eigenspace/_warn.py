"""Warnings that point at the line of the user's program."""

from __future__ import annotations

import sys
import warnings

INSIDE = {__package__, "sklearn"}
"""Packages whose lines are not the user's: scikit-learn wraps some of our methods."""


def warn(words: str) -> None:
    """A `UserWarning` at the nearest caller who is the user."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(words, UserWarning, stacklevel=level)
