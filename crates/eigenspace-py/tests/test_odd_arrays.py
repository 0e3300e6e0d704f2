"""Rows in unusual types and layouts give the result of a plain copy, or an error that names the problem."""

import decimal
import fractions
import re

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from odd import CALLS, FITTING, before, fitted, portrait, refused

from eigenspace import IncrementalPCA

EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)
PLAIN = np.random.default_rng(42).integers(-40, 41, size=(12, 4)) / 8.0  # exact in float16
WHOLE = np.random.default_rng(43).integers(0, 100, size=(12, 4))


def unaligned(rows):
    raw = np.zeros(rows.nbytes + 1, dtype=np.uint8)
    found = raw[1:].view(rows.dtype).reshape(rows.shape)
    found[:] = rows
    assert not found.flags.aligned
    return found


def field(rows):
    """Return a field of a packed record, whose strides are not multiples of its size."""
    packed = np.zeros(rows.shape, dtype=np.dtype([("tag", "u1"), ("value", "f8")]))
    packed["value"] = rows
    return packed["value"]


def read_only(rows):
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


def mapped(rows, directory):
    path = directory / "rows.npy"
    np.save(path, rows)
    return np.load(path, mmap_mode="r")


def unsorted(rows):
    """Return sparse rows with decreasing indices, and with each number as a sum of two halves."""
    n, d = rows.shape
    columns = np.tile(np.repeat(np.arange(d)[::-1], 2), n)
    values = np.repeat(rows[:, ::-1].ravel(), 2) / 2
    return sp.csr_matrix((values, columns, np.arange(0, 2 * n * d + 1, 2 * d)), shape=rows.shape)


def long_indices(rows):
    sparse = sp.csr_matrix(rows)
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    return sparse


class Convertible:
    """An object that is not an array but can be converted to one."""

    def __array__(self, dtype=None, copy=None):
        return np.array(PLAIN, dtype=dtype)


def boxed(rows, kind):
    return np.array([[kind(cell) for cell in row] for row in rows.tolist()], dtype=object)


GOOD = {
    "list": lambda: PLAIN.tolist(),
    "tuple of arrays": lambda: tuple(PLAIN),
    "Fortran order": lambda: np.asfortranarray(PLAIN),
    "rows reversed": lambda: PLAIN[::-1],
    "columns reversed": lambda: PLAIN[:, ::-1],
    "both reversed, transposed": lambda: np.asfortranarray(PLAIN)[::-1, ::-1],
    "every second row and column": lambda: np.repeat(np.repeat(PLAIN, 2, axis=0), 2, axis=1)[::2, ::2],
    "one row broadcast": lambda: np.broadcast_to(PLAIN[:1], (9, 4)),
    "one column broadcast": lambda: np.broadcast_to(PLAIN[:, :1], (12, 5)),
    "unaligned": lambda: unaligned(PLAIN),
    "unaligned float32": lambda: unaligned(PLAIN.astype(np.float32)),
    "field of a record": lambda: field(PLAIN),
    "bytes swapped": lambda: PLAIN.astype(">f8"),
    "float32 bytes swapped": lambda: PLAIN.astype(">f4"),
    "integers with bytes swapped": lambda: WHOLE.astype(">i4"),
    "read-only": lambda: read_only(PLAIN),
    "subclass": lambda: PLAIN.view(np.recarray),
    "matrix": lambda: np.asmatrix(PLAIN),
    "masked array with no mask": lambda: np.ma.array(PLAIN),
    "objects": lambda: PLAIN.astype(object),
    "objects of many kinds": lambda: np.array([[1, 2.5], [True, np.float32(3)], [np.int8(4), 5.0]], dtype=object),
    "Fractions": lambda: boxed(PLAIN, fractions.Fraction),
    "Decimals": lambda: boxed(PLAIN, decimal.Decimal),
    "truth values": lambda: WHOLE > 50,
    "float16": lambda: PLAIN.astype(np.float16),
    "float32": lambda: PLAIN.astype(np.float32),
    "float32 in Fortran order": lambda: np.asfortranarray(PLAIN.astype(np.float32)),
    "float32 reversed": lambda: PLAIN.astype(np.float32)[::-1, ::-1],
    "long double": lambda: PLAIN.astype(np.longdouble),
    **{f"{kind}": lambda kind=kind: WHOLE.astype(kind) for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]},
    "data frame": lambda: pd.DataFrame(PLAIN),
    "data frame of many kinds": lambda: pd.DataFrame(
        {"a": [1, 2, 5], "b": [0.5, 1.5, -1.0], "c": [True, False, True], "d": np.array([1, 2, 3], dtype=np.uint8)}
    ),
    "data frame of nullable integers": lambda: pd.DataFrame(WHOLE).astype("Int64"),
    "data frame of nullable floats": lambda: pd.DataFrame(PLAIN).astype("Float64"),
    "polars": lambda: pl.DataFrame(PLAIN, schema=list("abcd")),
    "polars of many kinds": lambda: pl.DataFrame({"a": [1, 2, 4], "b": [0.5, -1.0, 2.0], "c": [7, 7, 9]}),
    "dask": lambda: dask.array.from_array(PLAIN, chunks=5),
    "something that becomes an array": Convertible,
    "memory view": lambda: memoryview(PLAIN.copy()),
    "denormals": lambda: PLAIN * 1e-310,
    "tiny": lambda: PLAIN * 1e-160,
    "large": lambda: PLAIN * 1e130,
    "one row": lambda: PLAIN[:1],
    "one column": lambda: PLAIN[:, :1],
    **{
        f"sparse {kind} {form}": lambda kind=kind, form=form: getattr(sp, f"{form}_{kind}")(PLAIN)
        for kind in ["matrix", "array"]
        for form in ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]
    },
    "sparse with unsorted and repeated cells": lambda: unsorted(PLAIN),
    "sparse with long indices": lambda: long_indices(PLAIN),
    "sparse with stored zeros": lambda: sp.csr_array((np.zeros(4), [0, 1, 2, 3], [0, 2, 4]), shape=(2, 4)),
    "sparse with nothing stored": lambda: sp.csr_array((6, 4)),
    "sparse integers": lambda: sp.csr_array(WHOLE),
    "sparse truth values": lambda: sp.csr_array(WHOLE > 50),
    "sparse float32": lambda: sp.csr_array(PLAIN.astype(np.float32)),
}


def spoilt(value, kind=None):
    """Return the rows with one bad cell."""
    rows = PLAIN.astype(kind or np.float64)
    rows[1, 2] = value
    return rows


def plain_copy(rows):
    rows = rows.toarray() if sp.issparse(rows) else rows
    return np.array(np.asarray(rows).tolist(), dtype=np.float64)


def agrees(found, expected, eps):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    # A call multiplies up to three matrices of these sizes.
    allowed = 256 * eps * np.abs(expected).max(initial=0.0)
    assert np.isfinite(found).all()
    assert np.abs(found - expected).max(initial=0.0) <= allowed


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("form", GOOD)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_unusual_rows_give_the_same_result(form, call, tmp_path):
    rows = GOOD[form]()
    plain = plain_copy(rows)
    work = CALLS[call]
    expected = outcome(lambda: work(plain, plain))
    found = outcome(lambda: work(rows, plain))
    if isinstance(expected, str):
        assert found == expected  # if plain rows raise an error, so do unusual ones, with the same message
    elif isinstance(found, str):
        # Two types may be rejected, and the error names them.
        assert form == "matrix" or form.startswith("sparse"), found
        assert re.search(r"np\.matrix|sparse", found), found
    else:
        agrees(found, expected, EPS32 if "float32" in form else EPS)


def outcome(work):
    """Return the result of a call: numbers, or the message of an error."""
    try:
        return work()
    except (ValueError, TypeError) as error:
        return str(error)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, ">f8"])
def test_memory_mapped_rows_give_the_same_result(call, dtype, tmp_path):
    rows = mapped(WHOLE.astype(dtype), tmp_path)
    agrees(CALLS[call](rows, plain_copy(rows)), CALLS[call](plain_copy(rows), plain_copy(rows)), EPS32)


BAD = {
    "a number": (lambda: np.array(3.0), "dimension|0D|scalar|1D|2D"),
    "one dimension": (lambda: PLAIN[0], "found 1$|1D array|reshape"),
    "three dimensions": (lambda: PLAIN.reshape(2, 6, 4), "found 3$|dim 3"),
    "no columns": (lambda: np.zeros((12, 0)), r"no columns|0 feature|0 columns|has 0|differ: 0 and|and 0$|\(12, 0\)"),
    "words": (lambda: np.full((12, 4), "a"), "string|str|<U1|bytes|convert|found text"),
    "bytes": (lambda: np.full((12, 4), b"a"), "string|bytes|S1|convert|found text"),
    "words as objects": (lambda: spoilt("a", object), "not a number|convert"),
    "None": (lambda: None, "None|NoneType|expected|dimensions|0 dim"),
    "None in a cell": (lambda: spoilt(None, object), "not a number|None|NaN|finite|nan"),
    "a mapping": (lambda: {"a": [1, 2]}, "dict|not a number|mapping|Expected 2D array"),
    "a set": (lambda: {1, 2}, "set|not a number|Expected 2D array"),
    "any object": (object, "object|not a number|Expected 2D array"),
    "a word": (lambda: "rows", "string|str|<U4|convert|dimensions|Expected 2D array"),
    "a type": (lambda: float, "type|not a number|expected|Expected 2D array"),
    "a generator": (lambda: (row for row in PLAIN), "generator|not a number|Expected 2D array"),
    "ragged lists": (lambda: [[1.0, 2.0], [3.0]], "inhomogeneous|ragged|sequence"),
    "complex": (lambda: PLAIN + 1j, "complex|Complex"),
    "complex sparse": (lambda: sp.csr_array(PLAIN + 1j), "complex|Complex"),
    "dates": (lambda: np.full((12, 4), "2020-01-01", dtype="M8[D]"), "datetime|numbers|convert"),
    "durations": (lambda: np.ones((12, 4), dtype="m8[s]"), "timedelta|numbers|convert"),
    "records": (lambda: np.zeros((12, 4), dtype=[("a", "f8")]), r"\('a'|void|numbers|record|not compatible"),
    "a masked cell": (lambda: np.ma.array(PLAIN, mask=PLAIN[1, 2] == PLAIN), "mask|NaN|nan|finite|missing"),
    "a missing integer": (lambda: pd.DataFrame(WHOLE).astype("Int64").mask(WHOLE[1, 2] == WHOLE), "NA|NaN|nan|finite"),
    "a data frame with words": (lambda: pd.DataFrame(PLAIN).assign(**{"3": "x"}), "holds text"),
    "a polars null": (
        lambda: pl.DataFrame(spoilt(None, object).tolist(), schema=list("abcd"), orient="row"),
        "NaN|finite|nan|null",
    ),
    "polars words": (
        lambda: pl.DataFrame(PLAIN, schema=list("abcd")).with_columns(d=pl.lit("x")),
        "holds text",
    ),
    "too large": (lambda: PLAIN * 1e200, "too large"),
    "a long double beyond double": (lambda: PLAIN.astype(np.longdouble) * np.longdouble("1e4000"), "inf|finite"),
    "an integer beyond double": (lambda: spoilt(10**400, object), "too large|not a number|int"),
    "sparse with a nan": (lambda: sp.csr_array(spoilt(np.nan)), "missing|NaN|finite|sparse"),
    "sparse with an infinity": (lambda: sp.csr_array(spoilt(np.inf)), "inf|finite|sparse"),
    "sparse in one dimension": (lambda: sp.coo_array(PLAIN[0]), "dim|1D|2D"),
}


MISSING = ["None in a cell", "a missing integer", "a polars null", "sparse with a nan", "a masked cell"]
ALLOWED = {
    # fill_missing accepts missing cells.
    **{("EigenspaceModel.fill_missing", kind): "filled" for kind in MISSING},
    # reconstruct accepts fewer scores than components, even none.
    ("EigenspaceModel.reconstruct", "no columns"): "the mean",
    ("EigenspaceModel.reconstruct whitened", "no columns"): "the mean",
    # The distance of two tables does not overflow.
    ("reconstruction_error of", "too large"): "a number",
}
"""Calls that accept such input on purpose, and their results."""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", BAD)
def test_the_error_for_invalid_rows_names_the_problem(kind, call):
    make, words = BAD[kind]
    if (call, kind) in ALLOWED:
        found = outcome(lambda: CALLS[call](make(), PLAIN))
        if isinstance(found, str):
            assert re.search(words, found), found
        else:
            assert np.isfinite(found).all()
        return
    error = refused(lambda: CALLS[call](make(), PLAIN))
    assert re.search(words, str(error)), f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "transform", "inverse_transform", "score", "fit_transform"])
def test_an_estimator_is_unchanged_after_an_error(kind, verb):
    make, _ = BAD[kind]
    for estimator in [fitted(4), fitted(4, standardize=True, n_components=2), IncrementalPCA(n_components=2)]:
        is_before = portrait(estimator)
        refused(lambda estimator=estimator: getattr(estimator, verb)(make()))
        assert portrait(estimator) == is_before
        estimator.partial_fit(before(4))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_cell_that_is_not_finite_is_rejected_anywhere(call, value, dtype):
    for row, column in [(0, 0), (0, 3), (5, 1), (11, 3)]:
        rows = PLAIN.astype(dtype)
        rows[row, column] = value
        if call == "EigenspaceModel.fill_missing" and np.isnan(value):
            assert np.isfinite(CALLS[call](rows, PLAIN)).all()
            continue
        error = refused(lambda rows=rows: CALLS[call](rows, PLAIN))
        assert re.search("nan|NaN|inf|finite", str(error)), str(error)
        if call in FITTING:
            assert f"row {row}, column {column}" in str(error)
