"""Errors for arguments of the wrong type, invalid model bytes and invalid paths name the problem."""

import os
import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from odd import before, fitted, model, portrait, refused
from oracle import soak

from eigenspace import (
    PCA,
    EigenspaceError,
    EigenspaceModel,
    FormatError,
    IncrementalPCA,
    Metadata,
    principal_angles,
    reconstruction_error,
    set_threads,
    subspace_distance,
)

ROWS = before(4)
N = len(ROWS)
NAN = float("nan")

WEIGHTS = {
    "too few": (np.ones(N - 1), f"the number of weights is {N - 1}, but"),
    "too many": (np.ones(N + 1), f"the number of weights is {N + 1}, but"),
    "a column": (np.ones((N, 1)), "2 dimensions"),
    "negative": (np.where(np.arange(N) == 3, -1.0, 1.0), "row 3: the weight is -1"),
    "not a number": (np.where(np.arange(N) == 3, NAN, 1.0), "row 3: the weight is NaN"),
    "infinite": (np.where(np.arange(N) == 3, np.inf, 1.0), "row 3: the weight is inf"),
    "too large": (np.full(N, 1e200), "row 0: the weight is 1e200"),
    "words": (["a"] * N, "weight|convert"),
    "a word": ("balanced", "weight|convert"),
    "a mapping": ({"a": 1}, "weight|dict"),
    "an object": (object(), "weight|object"),
    "ragged": ([[1.0], [1.0, 2.0]], "weight|inhomogeneous"),
    "sparse": (sp.csr_array(np.ones((1, N))), "weight|sequence|sparse"),
    "complex": (np.full(N, 1 + 1j), "complex"),
    "dates": (np.full(N, "2020-01-01", dtype="M8[D]"), "datetime|weight"),
    "masked": (np.ma.array(np.ones(N), mask=np.arange(N) == 3), "mask|weight"),
}


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
def test_invalid_weights_are_rejected(kind):
    weights, words = WEIGHTS[kind]
    pca, batch, estimators = fitted(4), PCA().fit(ROWS), []
    estimators = [(pca, pca.partial_fit), (pca, pca.fit), (batch, batch.fit)]
    for estimator, verb in estimators:
        is_before = portrait(estimator)
        error = refused(lambda verb=verb: verb(ROWS, sample_weight=weights))
        assert re.search(words, str(error)), f"{type(error).__name__}: {error}"
        assert portrait(estimator) == is_before
    for verb in [EigenspaceModel.fit, model(4).update, model(4).remove]:
        assert re.search(words, str(refused(lambda verb=verb: verb(ROWS, weights=weights))))


@pytest.mark.parametrize("zeros", [0, 0.0, np.zeros(N), [0] * N])
def test_rows_of_zero_weight_are_ignored(zeros):
    words = f"cannot fit {N} rows: each has a weight of zero or a missing cell"
    assert words in str(refused(lambda: PCA().fit(ROWS, sample_weight=zeros)))
    assert words in str(refused(lambda: IncrementalPCA().fit(ROWS, sample_weight=zeros)))
    pca = fitted(4)
    is_before = pca.model_
    assert pca.partial_fit(ROWS, sample_weight=zeros).model_ == is_before


WIDTHS = [np.ones((3, 3)), np.ones((3, 5)), sp.csr_array(np.ones((3, 5))), np.ones((3, 1)), np.ones((0, 3))]


@pytest.mark.parametrize("rows", WIDTHS, ids=lambda rows: f"{type(rows).__name__} {rows.shape}")
def test_the_error_for_rows_of_another_width_names_both_widths(rows):
    width = rows.shape[1]
    pca = fitted(4)
    is_before = portrait(pca)
    verbs = [pca.partial_fit, pca.transform, pca.inverse_transform]
    for verb in [*verbs, pca.score_samples] if rows.shape[0] else verbs:  # score_samples needs at least one row
        error = str(refused(lambda verb=verb: verb(rows)))
        assert str(width) in error, error
        assert "4" in error, error
    assert re.search(f"{width}.*4", str(refused(lambda: pca.partial_fit(rows, check_input=False))))
    assert portrait(pca) == is_before
    known = model(4)
    for verb in [known.update, known.remove, known.project, known.hotelling, known.squared_distance]:
        assert re.search(f"{width}.*4", str(refused(lambda verb=verb: verb(rows))))
    other = EigenspaceModel(width)
    for verb in [known.merge, known.split]:
        assert re.search(f"4.*{width}", str(refused(lambda verb=verb: verb(other))))


M = model(4)
WRONG = {
    "merge": (M.merge, [None, 3, "a", ROWS, PCA().fit(ROWS)], "EigenspaceModel|model"),
    "split": (M.split, [None, 3, "a", ROWS, PCA().fit(ROWS)], "EigenspaceModel|model"),
    "+": (lambda x: M + x, [None, 0, 1, "a", ROWS], "unsupported|model"),
    "-": (lambda x: M - x, [None, 0, 1, "a", ROWS], "unsupported|model"),
    "sum": (lambda x: x + M, [None, 1, 0.5, "a"], "unsupported|concatenate|model"),
    "merge_all": (EigenspaceModel.merge_all, [None, 3, M, [M, None], [M, "a"], []], "model|iterable"),
    "max_rank": (lambda x: M.merge(M, max_rank=x), ["a", -1, 0, object(), [2], NAN, 2.7], "rank|max_rank"),
    "max_rank of rows": (lambda x: EigenspaceModel.fit(ROWS, x), ["a", -1, 0, object(), NAN], "rank|max_rank"),
    "truncate": (
        M.truncate,
        [None, True, 2.7, "a", "rank:x", -1, 0, object(), "energy:2", "tolerance:-1", "fd:0"],
        "rank|rule|share|tol",
    ),
    "forget": (M.forget, [None, "0.5", 0, -1, 1.1, NAN, object()], "forgetting|number"),
    "with_components": (M.with_components, ["a", 0, -1, 1.5, NAN, object(), True, [1]], "component|share"),
    "method": (lambda x: EigenspaceModel.fit(ROWS, method=x), [None, 3, "a", object()], "method|str"),
    "ddof": (M.explained_variance, [None, "a", N, NAN, object()], "ddof|number"),
    "feature ddof": (M.feature_variance, [None, "a", N, NAN, object()], "ddof|number"),
    "direction": (
        M.variance_along,
        [None, "a", np.zeros(4), np.ones(3), np.full(4, NAN), np.ones((2, 2)), [1j] * 4, object(), {}],
        "direction|column|number|complex|dimension|string",
    ),
    "limits": (M.limits, [None, "a", 0, 1, -1, NAN, object()], "confidence|number"),
    "n_features": (EigenspaceModel, [None, "a", 0, -1, 1.5, object(), 10**30, 2**62], "integer|column|feature|memory"),
    "from_bytes": (EigenspaceModel.from_bytes, [None, "a", 3, object(), [1, 2]], "bytes"),
    "load": (EigenspaceModel.load, [None, 3, object(), [], ""], "str|path|read|director"),
    "save": (M.save, [None, 3, object(), [], ""], "str|path|write|director"),
    "from_model": (IncrementalPCA.from_model, [None, 3, "a", PCA().fit(ROWS)], "EigenspaceModel|model"),
    "angle_bound": (M.certificate().angle_bound, [None, "a", 1.5, -1], "^invalid k(: expected an integer| -1)"),
    "captured_bounds": (M.certificate().captured_bounds, [None, "a", 1.5, -1], "^invalid k(: expected an integer| -1)"),
    "angles": (lambda x: principal_angles(x, ROWS), [None, "a", 3, {}, object(), PCA()], "A[ :]|fitted"),
    "distance": (lambda x: subspace_distance(ROWS, x), [None, "a", 3, {}, object(), IncrementalPCA()], "B[ :]|fitted"),
    "kind": (lambda x: reconstruction_error(ROWS, M, kind=x), [None, 3, "mse", object()], "kind of error"),
    "reconstruction": (lambda x: reconstruction_error(ROWS, x), [None, 3, "a", {}, object(), PCA()], "recons|fitted"),
    "threads": (set_threads, [0, -1, 1.5, "a", object(), 10**6], "threads|integer"),
    "score of no rows": (fitted(4, n_components=2).score, [np.zeros((0, 4))], "row|sample"),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_error_for_an_argument_of_the_wrong_type_names_it(what):
    work, values, words = WRONG[what]
    bytes_before, unclear = M.to_bytes(), []
    for value in values:
        try:
            error = refused(lambda value=value: work(value))
        except Exception as other:
            unclear.append(f"{value!r}: {type(other).__name__}: {other}")
        else:
            if not re.search(words, str(error)):
                unclear.append(f"{value!r}: {type(error).__name__}: {error}")
    assert not unclear, "\n".join(unclear)
    assert M.to_bytes() == bytes_before


SETTINGS = {
    "n_components": (["a", 0, -1, 1.5, NAN, object(), True, [1], 5, 10**30], "n_components|component|share"),
    "max_rank": (["a", 0, -1, 1.5, NAN, object(), [1]], "max_rank|rank"),
    "batch_size": (["a", 0, -1, 2.5, NAN, object(), [1]], "batch_size"),
    "truncation": (["a", 3, object(), "rank:0", "rank:-1", "energy:0"], "truncation|rank|share"),
    "forgetting": (["a", 0, -1, 1.5, NAN, object(), "block:2", "half-life:-1", "half-life:0"], "forget|half-life"),
    "missing": (["a", None, 3, object()], "missing"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_error_for_an_invalid_setting_names_it(name):
    values, words = SETTINGS[name]
    unclear = []
    for value in values:
        fresh, used = IncrementalPCA(**{name: value}), fitted(4).set_params(**{name: value})
        for verb in [fresh.fit, fresh.partial_fit, used.partial_fit]:
            is_before = {**vars(verb.__self__)}
            try:
                error = refused(lambda verb=verb: verb(ROWS))
            except Exception as other:
                unclear.append(f"{value!r}: {type(other).__name__}: {other}")
            else:
                if not re.search(words, str(error)):
                    unclear.append(f"{value!r}: {type(error).__name__}: {error}")
                assert vars(verb.__self__) == is_before
        seen = used.n_samples_seen_
        assert used.set_params(**{name: getattr(IncrementalPCA(), name)}).partial_fit(ROWS).n_samples_seen_ == seen + N
    assert not unclear, "\n".join(unclear)


@pytest.mark.parametrize("kept", [1, 3])
def test_every_truncation_of_the_bytes_is_rejected(kept):
    data = model(4).truncate(kept).to_bytes()
    for end in range(len(data)):
        with pytest.raises(FormatError, match=r"not a valid model: ."):
            EigenspaceModel.from_bytes(data[:end])
    for more in [b"\0", b"x" * 100]:
        with pytest.raises(FormatError, match=r"not a valid model: ."):
            EigenspaceModel.from_bytes(data + more)


def test_every_flipped_bit_is_rejected():
    data = model(2).to_bytes()
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            with pytest.raises(FormatError, match=r"not a valid model: ."):
                EigenspaceModel.from_bytes(bytes(flipped))


@given(st.binary(max_size=300), st.integers(0, 2**64 - 1))
@soak(200)
def test_random_bytes_are_rejected(data, length):
    for candidate in [data, length.to_bytes(8, "little") + data, model(2).to_bytes()[:200] + data]:
        with pytest.raises(FormatError, match=r"not a valid model: ."):
            EigenspaceModel.from_bytes(candidate)


def test_invalid_paths_are_rejected(tmp_path):
    known = model(4)
    missing = tmp_path / "missing" / "model.esm"
    # The words are those of Python's own errors, with the number and the path once.
    words = f"[Errno 2] No such file or directory: {str(missing)!r}"
    with pytest.raises(FileNotFoundError) as caught:
        EigenspaceModel.load(missing)
    assert (caught.value.filename, str(caught.value)) == (str(missing), words)
    with pytest.raises(FileNotFoundError) as caught:
        known.save(missing)
    assert (caught.value.filename, str(caught.value)) == (str(missing), words)
    with pytest.raises(IsADirectoryError, match=r"^\[Errno 21\] Is a directory: '"):
        EigenspaceModel.load(tmp_path)
    with pytest.raises(OSError, match="directory"):
        known.save(tmp_path)
    for bad in ["a\0b", "x" * 5000]:
        with pytest.raises((OSError, ValueError), match=r"cannot|null|NUL|File name too long"):
            EigenspaceModel.load(bad)
        with pytest.raises((OSError, ValueError), match=r"cannot|null|NUL|File name too long"):
            known.save(bad)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(FormatError, match=r"cannot read .*empty` as a model"):
        EigenspaceModel.load(tmp_path / "empty")
    (tmp_path / "text").write_text("rows, columns\n1, 2\n")
    with pytest.raises(FormatError, match=r"cannot read .*text` as a model"):
        EigenspaceModel.load(str(tmp_path / "text"))
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("empty", "text")] == []


def test_files_without_permission_are_rejected(tmp_path):
    known = model(4)
    path = tmp_path / "model.esm"
    known.save(path)
    assert EigenspaceModel.load(path) == known
    assert EigenspaceModel.load(str(path)) == known
    path.chmod(0)
    if os.geteuid() != 0:  # root may read anything
        with pytest.raises(PermissionError, match="Permission denied: '"):
            EigenspaceModel.load(path)
    path.chmod(0o600)
    if sys.platform == "linux":
        with pytest.raises(OSError, match=r"'/proc/model\.esm'"):
            known.save("/proc/model.esm")
        with pytest.raises((OSError, FormatError), match=r"valid model|cannot read"):
            EigenspaceModel.load("/dev/null")
    # A failed save leaves the file unchanged.
    with pytest.raises(NotADirectoryError, match="Not a directory: '"):
        known.save(path / "below")
    assert EigenspaceModel.load(path) == known


@pytest.mark.parametrize("rank", [2**63, 2**64, 10**30])
def test_a_rank_beyond_every_integer_is_refused_alike_everywhere(rank):
    part = EigenspaceModel.fit(ROWS)
    for work in [
        lambda: EigenspaceModel.fit(ROWS, max_rank=rank),
        lambda: EigenspaceModel.fit(ROWS, max_rank=rank, method="svd"),
        lambda: part.update(ROWS, max_rank=rank),
        lambda: part.merge(part, max_rank=rank),
        lambda: EigenspaceModel.merge_all([part, part], max_rank=rank),
    ]:
        with pytest.raises(EigenspaceError, match=f"invalid max_rank={rank}: expected at most {sys.maxsize}"):
            work()


def test_a_table_in_memory_is_no_list_of_models_or_names():
    table = memoryview(np.ones((2, 2)))
    with pytest.raises(TypeError, match="invalid model to merge: expected an EigenspaceModel, found memoryview"):
        EigenspaceModel.merge_all(table)
    with pytest.raises(TypeError, match="expected a list of strings"):
        Metadata(table)
    with pytest.raises(TypeError, match="expected a list of strings"):
        Metadata(component_labels=table)


def test_a_value_and_a_weight_that_are_too_large_together_are_named_as_they_are():
    with pytest.raises(EigenspaceError, match=r"the value 1e138 is too large; the limit is 1e137 for a row of this"):
        EigenspaceModel.fit(np.full((3, 1), 1e138), weights=[1e6, 1.0, 1.0])
    with pytest.raises(EigenspaceError, match=r"the total weight would be 1\.04e140; the limit is 1e140"):
        EigenspaceModel.fit(ROWS[:4], weights=np.full(4, 2.6e139))


def test_what_was_forgotten_can_be_read_back_or_is_refused():
    model = EigenspaceModel.fit(ROWS)
    for factor in (1e-305, 1e-320):
        with pytest.raises(EigenspaceError, match="cannot forget so much"):
            model.forget(factor)


def test_another_pass_over_rows_of_any_magnitude_has_a_finite_certificate():
    X = np.random.default_rng(0).normal(size=(400, 40))
    for magnitude in (1e80, 1e-90):
        fitted = IncrementalPCA(3, max_rank=5, engine="factor", passes=2).fit(X * magnitude)
        assert np.isfinite(fitted.certificate_.lost)
        assert EigenspaceModel.from_bytes(fitted.model_.to_bytes()).rank == fitted.model_.rank
