"""What a model file remembers beside the model, in the words of the command: its columns, and how it is looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ._errors import refusal


def note_of(columns: Sequence[str] | None, *, standardize: bool) -> str:
    """The note for a model; none if there is nothing to say."""
    if columns is None and not standardize:
        return ""
    names = None if columns is None else [str(column) for column in columns]
    return json.dumps({"columns": names, "picture": None, "standardize": standardize}, ensure_ascii=False)


def columns_of(note: str, features: int) -> list[str] | None:
    """The names of the columns, if the note has them all."""
    columns = _read(note).get("columns")
    if not isinstance(columns, list) or len(columns) != features:
        return None
    return [str(column) for column in columns]


def is_standardized(note: str) -> bool:
    """Whether the model is looked at standardized; the model itself is always raw."""
    return _read(note).get("standardize") is True


def check_same_columns(left: str, right: str, features: int) -> None:
    """Refuses models that were fitted on other columns, or on the same in another order."""
    one, two = columns_of(left, features), columns_of(right, features)
    if one is None or two is None or one == two:
        return
    j = next(j for j in range(features) if one[j] != two[j])
    hint = "reorder or select the columns so that both are the same"
    raise refusal(f"column {j} is `{one[j]}` in one and `{two[j]}` in the other", hint)


def names_of(X: Any) -> list[str] | None:
    """The names of the columns of a data frame, if all of them are names."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return list(columns)


def check_names(note: str, X: Any, features: int) -> None:
    """Refuses a data frame with other columns than the model's, or with the same in another order."""
    names = names_of(X)
    if names is not None and len(names) == features:
        check_same_columns(note, note_of(names, standardize=False), features)


def _read(note: str) -> dict[str, Any]:
    """A note of somebody else's is no reason to refuse a model."""
    try:
        read = json.loads(note)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
