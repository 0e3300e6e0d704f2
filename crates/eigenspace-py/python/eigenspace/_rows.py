"""Conversion of rows of any kind to arrays that the native code reads in place.

float64, float32      unchanged, in any memory layout
other numbers         converted to float64, one piece at a time
sparse                compressed sparse rows, never made dense
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import EigenspaceError
from ._cuda import check_host
from ._errors import refusal, with_hint
from ._frames import KINDS, check_kinds

CELLS = 1 << 22
"""Cells in a piece (32 MiB of float64), which limits memory use and lets Ctrl-C act between pieces."""
IN_PLACE_CELLS = 1 << 26
"""The same for operations that copy nothing, which can then use all threads for longer."""

TABLE = "pass a table of numbers, with one row for each observation and one column for each feature"
ROWS = "pass at least one row"
REAL = "pass the real and the imaginary parts as separate features"
FILE = "read the file first, for example with numpy.loadtxt or pandas.read_csv"
WEIGHTS = "pass an array with one weight for each row"
NUMBERS = "remove columns that are not numbers, or encode them as numbers"


def is_sparse(X: Any) -> bool:
    """Return whether X is a SciPy sparse matrix or array, without importing SciPy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array or data frame, without importing Dask."""
    if not (hasattr(X, "__dask_graph__") and hasattr(X, "shape")):
        return False
    # Arrays of xarray have this method too, and it returns None if they are in memory.
    return type(X).__module__.startswith("dask") or X.__dask_graph__() is not None


def check_table(X: Any, name: str = "X") -> None:
    """Raise an error if rows are the name of a file, or on a CUDA device, where the CPU cannot read them."""
    if isinstance(X, (str, bytes, os.PathLike)):
        found = {str: "a string", bytes: "bytes"}.get(type(X), "a path")
        raise refusal(f"invalid {name}: expected a table of numbers, found {found}", FILE)
    check_host(X, name)


def array_of(X: Any, name: str = "X") -> Any:
    """Return a 2-d array of real numbers or compressed sparse rows, copying only if necessary."""
    check_table(X, name)
    given = X
    try:
        X = numbers_of(X.tocsr() if is_sparse(X) else np.asarray(unmasked(X)), name)
    except EigenspaceError:
        check_kinds(given)
        raise
    except ValueError as error:  # for example rows of different lengths
        raise refusal(f"{name} is not a table: {error}", TABLE) from None
    if X.ndim != 2:
        words = f"invalid {name}: expected 2 dimensions (one row per observation), found {X.ndim}"
        raise refusal(words, reshaped(name, X.ndim))
    return X


def reshaped(name: str, dimensions: int) -> str:
    """Return the hint for an array that does not have 2 dimensions."""
    if dimensions == 0 or not name.isidentifier():
        return "pass a table with one row for each observation"
    if dimensions == 1:
        return f"for a single row, pass {name}.reshape(1, -1)"
    row = "one row of pixels for each image" if name == "images" else "one row for each image or observation"
    return f"pass {name}.reshape(len({name}), -1), {row}"


def numbers_of(X: Any, name: str, hint: str = NUMBERS) -> Any:
    """Return an array of real numbers, or raise an error that says why it is not one."""
    if X.dtype.kind == "O":
        try:
            X = _with_nan(X).astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            contains = "contain" if name.endswith("s") else "contains"
            raise refusal(f"{name} {contains} a value that is not a number: {error}", hint) from None
    if X.dtype.kind == "c":
        words = f"{name} is complex, expected real numbers. Complex data not supported"
        raise refusal(words, REAL)
    if X.dtype.kind not in "fiub":
        found = KINDS.get(X.dtype.kind, str(X.dtype))
        raise refusal(f"invalid {name}: expected numbers, found {found}", hint)
    return X


def _with_nan(X: Any) -> Any:
    """Replace pandas.NA, which is not a number, by NaN."""
    missing = np.asarray(np.frompyfunc(lambda cell: type(cell).__name__ == "NAType", 1, 1)(X), dtype=bool)
    return np.where(missing, np.nan, X) if missing.any() else X


def unmasked(X: Any) -> Any:
    """Replace the masked cells of a masked array by NaN."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype.kind not in "fiubO" or not np.ma.is_masked(X):
        return X.data
    if X.dtype.kind == "O":
        return np.ma.filled(X, np.nan)
    return np.ma.filled(X.astype(np.float32 if X.dtype == np.float32 else np.float64), np.nan)


def is_read_in_place(X: Any) -> bool:
    """Return whether the native code reads a checked array without a copy."""
    kind = isinstance(X, np.ndarray) and X.dtype in (np.float64, np.float32) and X.dtype.isnative
    return kind and X.flags.aligned and not any(stride % X.itemsize for stride in X.strides)


def rows_of(X: Any) -> Any:
    """Convert a checked array to the form that the native code expects."""
    if is_sparse(X):
        return (
            X.shape[1],
            np.asarray(X.indptr, dtype=np.int64),
            np.asarray(X.indices, dtype=np.int64),
            np.asarray(X.data, dtype=np.float64),
        )
    if X.dtype != np.float32:
        X = np.asarray(X, dtype=np.float64)  # copies only if not already float64
    X = np.asarray(X)  # turns a memory map or a matrix into a plain array
    if not is_read_in_place(X):
        X = np.array(X, dtype=X.dtype.newbyteorder("="))
    return X


def piece_rows(X: Any, *, in_place: bool = False) -> int:
    """Return the number of rows in a piece of a checked array.

    If the operation reads rows ``in_place``, a piece can be larger, unless the array has to be converted.
    """
    cells = IN_PLACE_CELLS if in_place and is_read_in_place(X) else CELLS
    columns = X.nnz // max(X.shape[0], 1) + 1 if is_sparse(X) else X.shape[1]
    return max(1, cells // max(int(columns), 1))


def pieces_of(X: Any, size: int | None = None) -> Iterator[tuple[int, int, Any]]:
    """Yield start, end and rows of each piece of a checked array."""
    n = X.shape[0]
    step = piece_rows(X) if size is None else size
    if n <= step:
        yield 0, n, rows_of(X)
        return
    for start in range(0, n, step):
        end = min(n, start + step)
        yield start, end, rows_of(X[start:end])


def dense_pieces_of(X: Any) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Yield dense float64 pieces, for operations that do not support sparse rows."""
    step = max(1, CELLS // max(X.shape[1], 1))
    for start in range(0, X.shape[0], step):
        end = min(X.shape[0], start + step)
        rows = X[start:end].toarray() if is_sparse(X) else X[start:end]
        yield start, end, np.asarray(rows_of(np.asarray(rows)), dtype=np.float64)


def weights_of(weights: Any, n: int) -> NDArray[np.float64] | None:
    """Return the weights as an array with one number for each row."""
    if weights is None:
        return None
    weights = numbers_of(np.asarray(unmasked(weights)), "sample_weight", WEIGHTS).astype(np.float64, copy=False)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.ndim != 1:
        raise refusal(f"the weights have {weights.ndim} dimensions, expected one number for each row", WEIGHTS)
    if len(weights) != n:
        raise refusal(
            f"the number of weights is {len(weights)}, but the number of rows is {n}", "pass one weight for each row"
        )
    return np.ascontiguousarray(weights)


def whole_of(value: Any, name: str, least: int = 1) -> int:
    """Return an integer that is at least ``least``, or raise an error."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        error = TypeError(f"invalid {name}={value!r}: expected an integer")
        raise with_hint(error, f"pass {least} or more") from None
    if number < least:
        raise refusal(f"invalid {name}={number}: expected at least {least}", f"pass {least} or more")
    return number


def truth_of(value: Any, name: str) -> bool:
    """Return a setting that is True or False, or raise an error."""
    if not isinstance(value, (bool, np.bool_)):
        raise with_hint(TypeError(f"invalid {name}={value!r}: expected True or False"), "pass True or False")
    return bool(value)


def word_of(value: Any, name: str, example: str | None = None) -> str:
    """Return a setting that is a string, or raise an error; an argument without a default has an example."""
    if not isinstance(value, str):
        hint = f"omit {name} for the default" if example is None else f"pass one name, for example {name}={example!r}"
        raise with_hint(TypeError(f"invalid {name}={value!r}: expected a string"), hint)
    return value
