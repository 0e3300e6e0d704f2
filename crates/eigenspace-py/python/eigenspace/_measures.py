"""Angles between subspaces, reconstruction errors of rows, and how well distances between rows are preserved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import refusal, with_hint
from ._interrupt import decomposition, interruptibly
from ._model import EigenspaceModel
from ._rows import array_of, is_sparse, pieces_of, rows_of


def principal_angles(A: Any, B: Any) -> NDArray[np.float64]:
    """Return the principal angles between two subspaces in radians, smallest first.

    A and B are matrices whose rows span the subspaces, fitted estimators, or models.
    """
    a, b = _directions(A, "A"), _directions(B, "B")
    return interruptibly(lambda: _core.principal_angles(a, b), decomposition(len(a) + len(b), a.shape[1]))


def subspace_distance(A: Any, B: Any) -> float:
    """Return the sine of the largest principal angle between two subspaces.

    It is 0 for equal subspaces, and 1 if one subspace has a direction orthogonal to the other.
    A and B are matrices whose rows span the subspaces, fitted estimators, or models.
    """
    a, b = _directions(A, "A"), _directions(B, "B")
    return interruptibly(lambda: _core.subspace_distance(a, b), decomposition(len(a) + len(b), a.shape[1]))


def reconstruction_error(X: Any, other: Any, *, kind: str = "frobenius") -> float:
    """Return the error of a reconstruction of rows.

    Parameters
    ----------
    X : the rows
    other : their reconstruction, or the fitted estimator or model that computes it
    kind : 'frobenius' for the root of the sum of squares, 'rmse' for the root of their mean
    """
    if kind not in ("frobenius", "rmse"):
        words = f"invalid kind of error `{kind}`: expected 'frobenius' or 'rmse'"
        raise refusal(words, "omit `kind` to get the root of the sum of squares")
    if _reconstruction(X) is not None:
        error = TypeError("invalid X: expected rows first, and the model that reconstructs them second")
        raise with_hint(error, "swap the two arguments")
    X = array_of(X)
    reconstruct = _reconstruction(other)
    if reconstruct is None:
        other = array_of(other, "the reconstruction")
        if other.shape != X.shape:
            hint = "pass the reconstruction of these rows, or the model that computes it"
            words = f"cannot compare rows of shape {X.shape} with a reconstruction of shape {other.shape}"
            raise refusal(words, hint)
    total, largest = 0.0, 0.0
    for start, end, _ in pieces_of(X):
        rows = X[start:end].toarray() if is_sparse(X) else np.asarray(X[start:end])
        if reconstruct is not None:
            again = reconstruct(rows)
        else:
            again = other[start:end].toarray() if is_sparse(other) else np.asarray(other[start:end])
        with np.errstate(over="ignore"):
            rows, again = np.asarray(rows, dtype=np.float64), np.asarray(again, dtype=np.float64)
        for table, name in ((rows, "X"), (again, "the reconstruction")):
            bad = np.argwhere(~np.isfinite(table))
            if len(bad):
                row, column = bad[0]
                value = table[row, column]
                words = f"row {start + row}, column {column} of {name}: the value is {value}, expected a finite number"
                raise refusal(words, "remove such rows, or fill their cells with model.fill_missing")
        lost = np.abs(rows - again)
        most = float(lost.max(initial=0.0))
        if most > largest:  # errors are scaled to at most 1 before squaring, to avoid overflow
            total *= (largest / most) ** 2
            largest = most
        if largest > 0:
            total += float(np.square(lost / largest).sum())
    cells = X.shape[0] * X.shape[1]
    return float(largest * np.sqrt(total / cells if kind == "rmse" and cells else total))


def _reconstruction(of: Any) -> Callable[[Any], Any] | None:
    """Return the function by which a model or an estimator reconstructs rows; None if it is neither."""
    if isinstance(of, EigenspaceModel):
        return lambda rows: of.reconstruct(of.project(rows))
    if hasattr(of, "inverse_transform"):
        return lambda rows: of.inverse_transform(of.transform(rows))
    return None


class DistancesKept(NamedTuple):
    """How well a projection on components preserves the distances between rows.

    All values except ``pairs`` are 1 if no distance changes.
    """

    pairs: int
    """Number of pairs of different rows."""
    share: float
    """The sum of the squared distances between scores, divided by the same sum for rows."""
    mean: float
    """The mean, over all pairs, of the ratio of the distance between the scores to the distance between the rows."""
    least: float
    """The smallest of these ratios."""
    correlation: float
    """The correlation between the distances of scores and those of rows."""


def distances_kept(X: Any, of: Any) -> DistancesKept:
    """Return how well the components preserve the distances between all pairs of rows.

    A projection shortens distances. ``share`` equals the explained variance ratio for the rows that
    the model was fitted on; the other values show whether some distances become much shorter. For n
    rows, this takes n² n_features / 2 operations, so pass a random subset if there are many rows.

    Parameters
    ----------
    X : the rows
    of : the fitted estimator or model whose components are used; the rows are standardized if the estimator does so
    """
    if isinstance(of, EigenspaceModel):
        native = _core.View(of._core, standardize=False)
    elif hasattr(of, "_view"):
        native = of._view().native
    else:
        error = TypeError(f"invalid argument `of`: expected a fitted estimator or a model, found {type(of).__name__}")
        raise with_hint(error, "pass rows first, and the estimator or model second")
    X = array_of(X)
    rows = np.asarray(rows_of(X.toarray() if is_sparse(X) else X), dtype=np.float64)
    return DistancesKept(*interruptibly(lambda: native.distances_kept(rows), rows.shape[0] ** 2 * rows.shape[1]))


def _directions(of: Any, name: str) -> NDArray[np.float64]:
    if isinstance(of, EigenspaceModel):
        return of.components
    of = getattr(of, "components_", of)
    if is_sparse(of):
        of = of.toarray()
    return np.asarray(rows_of(array_of(of, name)), dtype=np.float64)
