"""Columns of a data frame that are probably not what was meant."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ._errors import refusal
from ._warn import warn

INDEX_NAMES = ("", "Unnamed: 0")
"""Names that the index of a data frame has after it was written to a CSV file and read again."""


def check_columns(X: Any, *, unique: bool = False) -> None:
    """Warn if the first column looks like an index, or if several columns have the same name.

    If ``unique``, columns of the same name are an error, as they are for scikit-learn.
    """
    columns = getattr(X, "columns", None)
    labels = [] if columns is None else list(columns)
    names = [label for label in labels if isinstance(label, str)]
    if names and labels[0] in INDEX_NAMES:
        called = f"is called `{labels[0]}`" if labels[0] else "has no name"
        warn(
            f"the first column {called} and is used as a feature, but looks like the index of a data frame. "
            "Drop the column, or read the file with pandas.read_csv(..., index_col=0)."
        )
    shared = [name for name, count in Counter(names).items() if count > 1]
    if shared:
        listed = ", ".join(f"`{name}`" for name in shared[:8]) + (", …" if len(shared) > 8 else "")
        words = f"several columns have the same name: {listed}"
        if unique:
            raise refusal(words, "give each column a name of its own, or pass an array without names")
        warn(f"{words}. Each is a separate feature, distinguished only by its position.")
