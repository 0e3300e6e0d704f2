"""Rows in odd dress give the answer of a plain copy of them, or a refusal that names what is wrong."""

import decimal
import fractions
import re

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from odd import DOORS, FITTING, before, fitted, portrait, refused

from eigenspace import IncrementalPCA

EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)
PLAIN = np.random.default_rng(42).integers(-40, 41, size=(12, 4)) / 8.0  # numbers that float16 has
WHOLE = np.random.default_rng(43).integers(0, 100, size=(12, 4))


def unaligned(rows):
    raw = np.zeros(rows.nbytes + 1, dtype=np.uint8)
    found = raw[1:].view(rows.dtype).reshape(rows.shape)
    found[:] = rows
    assert not found.flags.aligned
    return found


def field(rows):
    """A field of a packed record: strides that are no multiple of its size."""
    packed = np.zeros(rows.shape, dtype=np.dtype([("tag", "u1"), ("value", "f8")]))
    packed["value"] = rows
    return packed["value"]


def read_only(rows):
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


def mapped(rows, folder):
    path = folder / "rows.npy"
    np.save(path, rows)
    return np.load(path, mmap_mode="r")


def unsorted(rows):
    """Indices of a row in falling order, and each number as a sum of two halves."""
    n, d = rows.shape
    columns = np.tile(np.repeat(np.arange(d)[::-1], 2), n)
    values = np.repeat(rows[:, ::-1].ravel(), 2) / 2
    return sp.csr_matrix((values, columns, np.arange(0, 2 * n * d + 1, 2 * d)), shape=rows.shape)


def long_indices(rows):
    sparse = sp.csr_matrix(rows)
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    return sparse


class Dressed:
    """Something that is no array and knows how to become one."""

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
    "something that becomes an array": Dressed,
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
    """The rows with one bad cell."""
    rows = PLAIN.astype(kind or np.float64)
    rows[1, 2] = value
    return rows


def plain_copy(rows):
    rows = rows.toarray() if sp.issparse(rows) else rows
    return np.array(np.asarray(rows).tolist(), dtype=np.float64)


def agrees(found, expected, eps):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    # One door multiplies up to three matrices of these sizes.
    allowed = 256 * eps * np.abs(expected).max(initial=0.0)
    assert np.isfinite(found).all()
    assert np.abs(found - expected).max(initial=0.0) <= allowed


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("dress", GOOD)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_rows_in_odd_dress_are_rows(dress, door, tmp_path):
    rows = GOOD[dress]()
    plain = plain_copy(rows)
    work = DOORS[door]
    expected = said(lambda: work(plain, plain))
    found = said(lambda: work(rows, plain))
    if isinstance(expected, str):
        assert found == expected  # what is refused plain is refused in any dress, with the same words
    elif isinstance(found, str):
        # Two kinds of dress may be refused, by their names.
        assert dress == "matrix" or dress.startswith("sparse"), found
        assert re.search(r"np\.matrix|sparse", found), found
    else:
        agrees(found, expected, EPS32 if "float32" in dress else EPS)


def said(work):
    """What comes of it: numbers, or the words of a refusal."""
    try:
        return work()
    except (ValueError, TypeError) as error:
        return str(error)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, ">f8"])
def test_mapped_rows_are_rows(door, dtype, tmp_path):
    rows = mapped(WHOLE.astype(dtype), tmp_path)
    agrees(DOORS[door](rows, plain_copy(rows)), DOORS[door](plain_copy(rows), plain_copy(rows)), EPS32)


BAD = {
    "a number": (lambda: np.array(3.0), "dimension|0D|scalar|1D|2D"),
    "one dimension": (lambda: PLAIN[0], "1 dimensions|1D array|reshape"),
    "three dimensions": (lambda: PLAIN.reshape(2, 6, 4), "3 dim|dim 3"),
    "no columns": (lambda: np.zeros((12, 0)), r"no columns|0 feature|0 columns|has 0|\(12, 0\)"),
    "words": (lambda: np.full((12, 4), "a"), "string|str|<U1|bytes|convert"),
    "bytes": (lambda: np.full((12, 4), b"a"), "string|bytes|S1|convert"),
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
    "a data frame with words": (lambda: pd.DataFrame(PLAIN).assign(**{"3": "x"}), "not a number|convert|str"),
    "a polars null": (
        lambda: pl.DataFrame(spoilt(None, object).tolist(), schema=list("abcd"), orient="row"),
        "NaN|finite|nan|null",
    ),
    "polars words": (
        lambda: pl.DataFrame(PLAIN, schema=list("abcd")).with_columns(d=pl.lit("x")),
        "not a number|convert",
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
    # Missing cells are there to be filled.
    **{("EigenspaceModel.fill_missing", kind): "filled" for kind in MISSING},
    # No coordinates are the first none of them.
    ("EigenspaceModel.inverse_transform", "no columns"): "the mean",
    ("EigenspaceModel.inverse_transform whitened", "no columns"): "the mean",
    # The distance of two tables is a number as long as its cells are.
    ("reconstruction_error of", "too large"): "a number",
}
"""What a door takes by its nature, and what comes of it."""


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_table_of_numbers_is_refused_by_name(kind, door):
    make, words = BAD[kind]
    if (door, kind) in ALLOWED:
        found = said(lambda: DOORS[door](make(), PLAIN))
        if isinstance(found, str):
            assert re.search(words, found), found
        else:
            assert np.isfinite(found).all()
        return
    error = refused(lambda: DOORS[door](make(), PLAIN))
    assert re.search(words, str(error)), f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "transform", "inverse_transform", "score", "fit_transform"])
def test_an_estimator_that_refused_is_what_it_was(kind, verb):
    make, _ = BAD[kind]
    for estimator in [fitted(4), fitted(4, standardize=True, n_components=2), IncrementalPCA(n_components=2)]:
        is_before = portrait(estimator)
        refused(lambda estimator=estimator: getattr(estimator, verb)(make()))
        assert portrait(estimator) == is_before
        estimator.partial_fit(before(4))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_cell_that_is_no_number_is_refused_wherever_it_is(door, value, dtype):
    for row, column in [(0, 0), (0, 3), (5, 1), (11, 3)]:
        rows = PLAIN.astype(dtype)
        rows[row, column] = value
        if door == "EigenspaceModel.fill_missing" and np.isnan(value):
            assert np.isfinite(DOORS[door](rows, PLAIN)).all()
            continue
        error = refused(lambda rows=rows: DOORS[door](rows, PLAIN))
        assert re.search("nan|NaN|inf|finite", str(error)), str(error)
        if door in FITTING:
            assert f"row {row}, column {column}" in str(error)
