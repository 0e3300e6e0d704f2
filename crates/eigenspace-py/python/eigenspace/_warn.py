"""Warnings that point to the line of the user's program."""

from __future__ import annotations

import sys
import warnings

INSIDE = {__package__, "sklearn"}
"""Packages to skip when looking for the user's line: scikit-learn wraps some of our methods."""


def warn(words: str) -> None:
    """Issue a `UserWarning` for the nearest caller outside these packages."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(words, UserWarning, stacklevel=level)
