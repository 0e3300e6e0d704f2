"""The note in a model file: column names and standardization, in the format of the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ._errors import refusal


def note_of(columns: Sequence[str] | None, *, standardize: bool) -> str:
    """Return the note of a model; empty if there is nothing to record."""
    if columns is None and not standardize:
        return ""
    names = None if columns is None else [str(column) for column in columns]
    return json.dumps({"columns": names, "picture": None, "standardize": standardize}, ensure_ascii=False)


def columns_of(note: str, features: int) -> list[str] | None:
    """Return the column names, or None if the note does not have one for each feature."""
    columns = _read(note).get("columns")
    if not isinstance(columns, list) or len(columns) != features:
        return None
    return [str(column) for column in columns]


def is_standardized(note: str) -> bool:
    """Return whether the model is read standardized; the stored model is always in original units."""
    return _read(note).get("standardize") is True


def check_same_columns(left: str, right: str, features: int) -> None:
    """Raise an error if two models have different columns, or the same columns in a different order."""
    one, two = columns_of(left, features), columns_of(right, features)
    if one is None or two is None or one == two:
        return
    j = next(j for j in range(features) if one[j] != two[j])
    hint = "reorder or select the columns so that both are the same"
    raise refusal(f"the columns differ: column {j} is `{one[j]}` in one and `{two[j]}` in the other", hint)


def names_of(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None if not all of them are strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return list(columns)


def check_names(note: str, X: Any, features: int) -> None:
    """Raise an error if the columns of a data frame differ from the model's, in name or in order."""
    names = names_of(X)
    if names is not None and len(names) == features:
        check_same_columns(note, note_of(names, standardize=False), features)


def _read(note: str) -> dict[str, Any]:
    """Parse a note; one that is not in this format is treated as empty."""
    try:
        read = json.loads(note)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
