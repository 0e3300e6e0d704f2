"""Rows in any dress, brought to what the native part reads where it is.

float64, float32      as they are, in any memory layout
other numbers         float64, a piece at a time
sparse                compressed sparse rows, never made dense
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import refusal, with_hint

CELLS = 1 << 22
"""Cells read at a time, 32 MiB of float64: memory stays small and Ctrl-C is heard between two pieces."""

NUMBERS = "leave out columns that are not numbers, or encode them as numbers"


def is_sparse(X: Any) -> bool:
    """Whether X is a matrix or array of SciPy's, which need not be installed."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def array_of(X: Any, name: str = "X") -> Any:
    """A two-dimensional array of real numbers, or compressed sparse rows; nothing is copied if it need not be."""
    X = X.tocsr() if is_sparse(X) else np.asarray(unmasked(X))
    X = numbers_of(X, name)
    if X.ndim != 2:
        hint = "one row is X.reshape(1, -1)" if X.ndim == 1 else "pass a table with one row for each observation"
        raise refusal(f"{name} has {X.ndim} dimensions, expected 2: a row for each observation", hint)
    return X


def numbers_of(X: Any, name: str) -> Any:
    """An array of real numbers, or the reason why it is none."""
    if X.dtype.kind == "O":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise refusal(f"{name} holds something that is not a number: {error}", NUMBERS) from None
    if X.dtype.kind == "c":
        words = f"{name} is complex, and PCA is for real numbers. Complex data not supported"
        raise refusal(words, "pass the real and the imaginary part as features of their own")
    if X.dtype.kind not in "fiub":
        raise refusal(f"{name} has the type {X.dtype}, expected numbers", NUMBERS)
    return X


def unmasked(X: Any) -> Any:
    """The masked cells of a masked array are missing."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X) or X.dtype.kind not in "fiub":
        return X.data
    return np.ma.filled(X.astype(np.float32 if X.dtype == np.float32 else np.float64), np.nan)


def rows_of(X: Any) -> Any:
    """A checked array as the native part takes it."""
    if is_sparse(X):
        return (
            X.shape[1],
            np.asarray(X.indptr, dtype=np.int64),
            np.asarray(X.indices, dtype=np.int64),
            np.asarray(X.data, dtype=np.float64),
        )
    if X.dtype != np.float32:
        X = np.asarray(X, dtype=np.float64)  # copies only what is not float64 already
    X = np.asarray(X)  # a plain array, also of a memory map or a matrix
    if not X.flags.aligned or not X.dtype.isnative or any(stride % X.itemsize for stride in X.strides):
        X = np.array(X, dtype=X.dtype.newbyteorder("="))
    return X


def piece_rows(X: Any) -> int:
    """Rows of a checked array that are read at a time."""
    columns = X.nnz // max(X.shape[0], 1) + 1 if is_sparse(X) else X.shape[1]
    return max(1, CELLS // max(int(columns), 1))


def pieces_of(X: Any, size: int | None = None) -> Iterator[tuple[int, int, Any]]:
    """Beginning, end and rows of each piece of a checked array."""
    n = X.shape[0]
    step = piece_rows(X) if size is None else size
    if n <= step:
        yield 0, n, rows_of(X)
        return
    for start in range(0, n, step):
        end = min(n, start + step)
        yield start, end, rows_of(X[start:end])


def dense_pieces_of(X: Any) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """The same with rows that are dense and float64, for what is not known for sparse ones."""
    step = max(1, CELLS // max(X.shape[1], 1))
    for start in range(0, X.shape[0], step):
        end = min(X.shape[0], start + step)
        rows = X[start:end].toarray() if is_sparse(X) else X[start:end]
        yield start, end, np.asarray(rows_of(np.asarray(rows)), dtype=np.float64)


def weights_of(weights: Any, n: int) -> NDArray[np.float64] | None:
    """One number for each row."""
    if weights is None:
        return None
    weights = numbers_of(np.asarray(unmasked(weights)), "sample_weight").astype(np.float64, copy=False)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.ndim != 1:
        hint = "pass an array with one weight for each row"
        raise refusal(f"the weights have {weights.ndim} dimensions, expected one number for each row", hint)
    if len(weights) != n:
        raise refusal(f"there are {len(weights)} weights for {n} rows", "pass one weight for each row")
    return np.ascontiguousarray(weights)


def whole_of(value: Any, name: str, least: int = 1) -> int:
    """A whole number that is not too small."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise with_hint(TypeError(f"{name}={value!r} must be a whole number"), f"pass {least} or more") from None
    if number < least:
        raise refusal(f"{name}={number} must be at least {least}", f"pass {least} or more")
    return number
