"""Columns of data frames that are probably not what was meant raise a warning."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from eigenspace import PCA, EigenspaceError, EigenspaceModel, IncrementalPCA

ROWS = np.random.default_rng(5).normal(size=(20, 3))
FITS = [
    lambda X: PCA().fit(X),
    lambda X: IncrementalPCA().fit(X),
    lambda X: IncrementalPCA().partial_fit(X),
    EigenspaceModel.fit,
]


def index_read_again(directory):
    """Return a frame that was written with its index and read as if it had none."""
    path = directory / "rows.csv"
    pd.DataFrame(ROWS, columns=list("abc")).to_csv(path)
    return path


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize(("read", "called"), [(pd.read_csv, "is called `Unnamed: 0`"), (pl.read_csv, "has no name")])
def test_the_index_of_a_frame_is_not_used_without_a_word(tmp_path, fit, read, called):
    with pytest.warns(UserWarning, match=f"the first column {called} .*index_col=0") as caught:
        fit(read(index_read_again(tmp_path)))
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("fit", FITS[:3])
def test_an_estimator_rejects_two_columns_of_one_name(fit):
    with pytest.raises(EigenspaceError, match="several columns have the same name: `a`") as caught:
        fit(pd.DataFrame(ROWS, columns=["a", "b", "a"]))
    assert "name of its own" in caught.value.hint


def test_two_columns_of_one_name_are_never_exchanged_for_others():
    frame = pd.DataFrame(ROWS, columns=["a", "b", "a"])
    with pytest.warns(UserWarning, match="several columns have the same name: `a`"):
        model = EigenspaceModel.fit(frame)
    np.testing.assert_array_equal(model.project(frame), model.project(ROWS))
    with pytest.raises(EigenspaceError, match="column 0 is `a` in one and `b` in the other"):
        model.project(frame.iloc[:, [1, 0, 2]])


def test_usual_columns_raise_no_warning(tmp_path):
    usual = [
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS, columns=list("abc")),
        pd.read_csv(index_read_again(tmp_path), index_col=0),
        pd.DataFrame(ROWS, columns=["a", "Unnamed: 0", "c"]),
        pl.DataFrame(ROWS, schema=list("abc")),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for frame in usual:
            for fit in FITS:
                fit(frame)


def test_cells_without_a_value_are_never_read_as_numbers():
    values = np.array([[1, 7], [3, 4]], dtype=object)
    masked = np.ma.array(values, mask=[[0, 1], [0, 0]])
    nullable = pd.DataFrame({"a": pd.array([1, 3], dtype="Int64"), "b": pd.array([None, 4], dtype="Int64")})
    for rows in (masked, nullable):
        column = "`b`" if rows is nullable else "1"
        for fit in FITS:
            with pytest.raises(EigenspaceError, match=f"row 0, column {column}: the value is NaN"):
                fit(rows)
        np.testing.assert_array_equal(IncrementalPCA(missing="skip").fit(rows).mean_, [3, 4])
