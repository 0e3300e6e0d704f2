"""Columns of a data frame that are not numbers, or probably not what was meant."""

from __future__ import annotations

import datetime
from collections import Counter
from typing import Any

import numpy as np

from ._errors import refusal
from ._warn import warn

INDEX_NAMES = ("", "Unnamed: 0")
"""Names that the index of a data frame has after it was written to a CSV file and read again."""

KINDS = {"U": "text", "S": "text", "T": "text", "M": "dates", "m": "durations"}
"""What the cells of an array are, by the kind of its type."""

TYPES = (((str, bytes), "text"), ((datetime.date, datetime.time), "dates"), (datetime.timedelta, "durations"))
"""What cells of Python are; a timestamp of pandas is a date."""


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


def check_kinds(X: Any) -> None:
    """Raise an error that names the first column of a data frame that does not hold numbers, if there is one."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return
    kinds = [_kind(X.iloc[:, i] if hasattr(X, "iloc") else X[name]) for i, name in enumerate(columns)]
    wrong = [(name, kind) for name, kind in zip(columns, kinds, strict=True) if kind is not None]
    if not wrong:
        return
    name, kind = wrong[0]
    if not hasattr(X, "iloc"):
        hint = f"leave it out: X.drop({name!r})"
    elif len(wrong) == 1:
        hint = f"leave it out: X.drop(columns={name!r})"
    else:
        hint = "leave out all columns that are not numbers: X.select_dtypes('number')"
    raise refusal(f"the column `{name}` holds {kind}, expected numbers", hint) from None


def _kind(column: Any) -> str | None:
    """Return what a column holds that is not numbers, or None."""
    cells = np.asarray(column)
    if cells.dtype.kind in "fiubc":
        return None
    found = KINDS.get(cells.dtype.kind)
    if found is None:
        wrong = next((cell for cell in cells.ravel().tolist() if not _is_number(cell)), None)
        if wrong is None:
            return None
        found = next((kind for types, kind in TYPES if isinstance(wrong, types)), f"values of {type(wrong).__name__}")
    return "categories" if str(getattr(column, "dtype", "")).lower().startswith(("categor", "enum")) else found


def _is_number(cell: Any) -> bool:
    """Return whether a cell can be converted to a number; a missing one can."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
