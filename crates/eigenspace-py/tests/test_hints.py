"""Every error has a `hint`, which is None if there is no advice."""

import pickle

import numpy as np
import pytest
from odd import before, fitted, model

from eigenspace import (
    PCA,
    Accumulator,
    EigenspaceError,
    EigenspaceModel,
    FormatError,
    IncrementalPCA,
    InternalError,
    NotAPartError,
    reconstruction_error,
    set_threads,
    subspace_distance,
)

ROWS = before(4)
N = len(ROWS)

REFUSED = {
    "one dimension": lambda: model(4).update(ROWS[0]),
    "three dimensions": lambda: model(4).update(ROWS[None]),
    "words": lambda: model(4).update([["a"] * 4]),
    "complex": lambda: model(4).update(ROWS * 1j),
    "dates": lambda: model(4).update(np.zeros((2, 4), dtype="M8[D]")),
    "too few weights": lambda: model(4).update(ROWS, weights=np.ones(N - 1)),
    "a table of weights": lambda: model(4).update(ROWS, weights=np.ones((N, 1))),
    "a negative rank": lambda: model(4).update(ROWS, max_rank=-1),
    "a broken rank": lambda: model(4).update(ROWS, max_rank=1.5),
    "too many rows to remove": lambda: model(4).remove(np.ones((N + 1, 4))),
    "no model": lambda: model(4).merge(3),
    "an estimator for a model": lambda: model(4).merge(fitted(4)),
    "a table for a direction": lambda: model(4).variance_along(ROWS),
    "too many coordinates": lambda: model(4).reconstruct(np.ones((1, 5)), whiten=True),
    "n_components in words": lambda: model(4).with_components("a"),
    "'mle' of a stream": lambda: IncrementalPCA("mle").fit(ROWS),
    "'mle' of few rows": lambda: PCA("mle").fit(ROWS[:3]),
    "svd_solver": lambda: PCA(svd_solver="best").fit(ROWS),
    "too many components": lambda: PCA(5).fit(ROWS),
    "max_rank in words": lambda: IncrementalPCA(max_rank="a").fit(ROWS),
    "max_rank below n_components": lambda: IncrementalPCA(3, max_rank=2).fit(ROWS),
    "engine": lambda: IncrementalPCA(engine="a").fit(ROWS),
    "coordinates of another width": lambda: fitted(4).inverse_transform(np.ones((1, 3))),
    "weights of zero": lambda: PCA().fit(ROWS, sample_weight=0.0),
    "kind of error": lambda: reconstruction_error(ROWS, model(4), kind="mse"),
    "another shape": lambda: reconstruction_error(ROWS, ROWS[1:]),
    "the wrong order": lambda: reconstruction_error(model(4), ROWS),
    "a reconstruction that is not finite": lambda: reconstruction_error(ROWS, ROWS * np.nan),
    "threads": lambda: set_threads(0),
    "memory": lambda: EigenspaceModel(10**15),
    "rows of another width": lambda: model(4).update(ROWS[:, :3]),
    "a part that is none": lambda: model(4).split(EigenspaceModel.fit(ROWS * 100)),
    "subspaces of other widths": lambda: subspace_distance(ROWS, ROWS[:, :3]),
    "an estimator that is not fitted": lambda: PCA().transform(ROWS),
    "columns of another number": lambda: fitted(4).transform(ROWS[:, :3]),
    "one dimension for an estimator": lambda: PCA().fit(ROWS[0]),
    "words for an estimator": lambda: PCA().fit([["a", "b"]]),
    "rows of different lengths": lambda: EigenspaceModel.fit([[1, 2], [3]]),
    "a setting that is not a word": lambda: IncrementalPCA(engine=None).fit(ROWS),
    "a kind of weights that is not a word": lambda: PCA(weight_kind=3).fit(ROWS),
    "threads in words": lambda: set_threads("all"),
    "a file that is not there": lambda: EigenspaceModel.load("no such file"),
    "a word for a flag": lambda: IncrementalPCA(2, standardize="no").fit(ROWS),
    "no rows for an estimator": lambda: PCA().fit(ROWS[:0]),
    "bytes of something else": lambda: EigenspaceModel.from_bytes(b"abc"),
    "a directory that is not there": lambda: model(4).save("no such directory/m"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_error_has_a_hint(what):
    with pytest.raises((ValueError, TypeError, MemoryError, OSError)) as caught:
        REFUSED[what]()
    error = caught.value
    assert isinstance(error.hint, str), f"{error}: {error.hint}"
    assert error.hint
    assert f"hint: {error.hint}" in error.__notes__


@pytest.mark.parametrize("kind", [EigenspaceError, FormatError, InternalError, NotAPartError])
def test_every_exception_class_has_the_attribute(kind):
    assert kind("raised elsewhere").hint is None


NOT_A_NUMBER = np.where(np.arange(ROWS.size).reshape(ROWS.shape) == 6, np.nan, ROWS)
HINTS = {
    "pass True or False": [
        lambda: IncrementalPCA(2, standardize="no").fit(ROWS),
        lambda: IncrementalPCA(2, whiten=1).partial_fit(ROWS),
        lambda: fitted(4).set_params(whiten="no").transform(ROWS),
        lambda: fitted(4).set_params(standardize="no").components_,
        lambda: PCA(2, whiten="no").fit(ROWS),
        lambda: PCA(2, standardize=None).fit(ROWS),
        lambda: PCA(2, copy="no").fit(ROWS),
        lambda: Accumulator(2, standardize="no"),
        lambda: model(4).project(ROWS, whiten="no"),
        lambda: model(4).reconstruct(ROWS, whiten="no"),
    ],
    "pass a number from 1 to 1024, or None for one thread per core": [
        lambda: set_threads("a"),
        lambda: set_threads(0),
        lambda: set_threads(-1),
        lambda: set_threads(1025),
    ],
    "drop row 1, leave out column 2, or replace the value, for example with `fill_missing` of a model; "
    "IncrementalPCA and Accumulator skip such rows with missing='skip'": [
        lambda: IncrementalPCA(2).fit(NOT_A_NUMBER),
        lambda: Accumulator(2).absorb(NOT_A_NUMBER),
        lambda: model(4).update(NOT_A_NUMBER),
    ],
    "drop row 1, leave out column 2, replace the value, or pass missing='skip'": [
        lambda: Accumulator(2, partition="a").absorb(NOT_A_NUMBER),
    ],
    "pass the real and the imaginary parts as separate features": [
        lambda: IncrementalPCA().fit(ROWS * 1j),
        lambda: EigenspaceModel.fit(ROWS * 1j),
    ],
    "pass at least one row": [lambda: IncrementalPCA().fit(ROWS[:0]), lambda: PCA().fit(ROWS[:0])],
    "pass at least one column": [lambda: PCA().fit(ROWS[:, :0])],
    "pass the bytes that `to_bytes` returned, unchanged": [
        lambda: EigenspaceModel.from_bytes(b"abc"),
        lambda: EigenspaceModel.from_bytes(model(4).to_bytes()[:-1]),
        lambda: Accumulator.from_bytes(b"abc"),
    ],
    "merge, split and compare only models, accumulators or subspaces of the same columns": [
        lambda: Accumulator(2).absorb(ROWS) + Accumulator(2).absorb(ROWS[:, :3]),
        lambda: model(4) + model(3),
    ],
}


@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_names_what_to_pass(hint):
    for call in HINTS[hint]:
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert caught.value.hint == hint, str(caught.value)


def test_flags_of_numpy_are_flags():
    X = ROWS * np.arange(1, 5)
    plain = IncrementalPCA(2, standardize=True, whiten=False).fit(X)
    same = IncrementalPCA(2, standardize=np.True_, whiten=np.False_).fit(X)
    assert np.array_equal(plain.transform(X), same.transform(X))
    with pytest.raises(TypeError) as caught:
        IncrementalPCA(2, standardize="no").fit(X)
    assert str(caught.value) == "invalid standardize='no': expected True or False"


def test_names_that_are_not_all_strings_have_a_hint():
    import pandas

    with pytest.raises(TypeError, match="string") as caught:
        IncrementalPCA().fit(pandas.DataFrame(ROWS, columns=["a", 1, "b", 2]))
    assert caught.value.hint == "convert all column names to strings"


def test_columns_in_a_different_order_are_rejected_with_a_hint():
    import pandas

    frame = pandas.DataFrame(ROWS, columns=list("abcd"))
    with pytest.raises(EigenspaceError, match="column 0 is `a`") as caught:
        EigenspaceModel.fit(frame).update(frame[list("dcba")])
    assert "reorder" in caught.value.hint


def test_a_hint_is_pickled_with_its_exception():
    with pytest.raises(EigenspaceError) as caught:
        PCA(5).fit(ROWS)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert (str(twin), twin.hint) == (str(caught.value), caught.value.hint)
