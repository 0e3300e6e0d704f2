"""Every error has a `hint`, which is None if there is no advice."""

import pickle

import numpy as np
import pytest
from odd import before, fitted, model

from eigenspace import (
    PCA,
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
    "too many coordinates": lambda: model(4).inverse_transform(np.ones((1, 5)), whiten=True),
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
