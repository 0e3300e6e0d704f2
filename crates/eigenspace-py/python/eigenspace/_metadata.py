"""Names of columns: from data frames to the metadata of models."""

from __future__ import annotations

from typing import Any

from ._core import EigenspaceError, Metadata, Model
from ._errors import refusal


def names_of(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None if not all of them are strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return list(columns)


def check_names(model: Model, X: Any) -> None:
    """Raise an error if the columns of a data frame differ from the model's, in name or in order."""
    names = names_of(X)
    if names is not None and len(names) == model.features:
        try:
            model.check_feature_names(names)
        except EigenspaceError as error:
            if sorted(names) != sorted(model.metadata.feature_names or []):
                raise
            raise refusal(str(error), "reorder the columns: X[model.feature_names]") from None


def described(model: Model, names: list[str] | None, *, standardize: bool) -> Model:
    """Return the model with these feature names, reported standardized or not. It is copied only if they differ."""
    known = model.metadata
    metadata = Metadata(
        names,
        standardize=standardize,
        image=known.image,
        component_labels=known.component_labels,
        values=known.values,
    )
    return model.with_metadata(metadata)
