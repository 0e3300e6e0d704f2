"""Laws of updates, merges and splits: the model is always batch PCA of the rows that are in it."""

import copy
import pickle
from functools import reduce

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracle import (
    EPS,
    assert_model,
    assert_subspaces,
    cut_tables,
    norm,
    scatter_of,
    soak,
    tables,
    truth,
)

from eigenspace import EigenspaceModel, IncrementalPCA, NotAPartError


@given(tables())
@soak(150)
def test_a_model_of_rows_is_batch_pca(rows):
    expected = truth(rows)
    for method in ["auto", "svd", "covariance", "gram"]:
        model = EigenspaceModel.fit(rows, method=method)
        assert_model(model, expected)
        assert_subspaces(model.basis, expected, expected.rounding())
        assert model.certificate().is_exact


@given(tables())
@soak(100)
def test_svd_resolves_singular_values_down_to_epsilon(rows):
    expected = truth(rows)
    values = EigenspaceModel.fit(rows, method="svd").singular_values
    padded = np.concatenate([values, np.zeros(expected.features)])[: expected.features]
    growth = 16 + 4 * np.sqrt(rows.size)
    assert (np.abs(padded - expected.values) <= EPS * growth * expected.values[0] + 4 * expected.far).all()


@pytest.mark.parametrize("method", ["auto", "svd", "covariance", "gram"])
def test_rows_on_a_line_have_its_direction(method):
    worst = 0.0
    for seed in range(2400, 2600):
        rng = np.random.default_rng(seed)
        along, line = rng.normal(size=20), rng.normal(size=40)
        rows = np.outer(along, line)
        expected = truth(rows)
        found = EigenspaceModel.fit(rows, method=method).components[0]
        away = np.linalg.norm(found - line * (found @ line) / (line @ line))
        # Householder's bidiagonalization of m x n cells is exact for rows that differ from these by c m n eps / 2 of
        # their norm at most (Higham, Accuracy and Stability of Numerical Algorithms, section 19.3), c a small number.
        worst = max(worst, away / (EPS * 2 * rows.size + 4 * expected.far / expected.values[0]))
    assert worst <= 1


@given(cut_tables())
@soak(100)
def test_updates_of_any_size_are_batch_pca(table):
    rows, blocks = table
    model = EigenspaceModel(rows.shape[1])
    for block in blocks:
        model = model.update(block)
    assert_model(model, truth(rows), steps=len(blocks))


@given(cut_tables(), st.randoms(use_true_random=False))
@soak(100)
def test_merges_in_any_order_are_batch_pca(table, random):
    rows, blocks = table
    models = [EigenspaceModel.fit(block) for block in blocks]
    expected, steps = truth(rows), len(models)
    assert_model(EigenspaceModel.merge_all(models), expected, steps=steps)
    assert_model(sum(models), expected, steps=steps)
    while len(models) > 1:
        random.shuffle(models)
        models.append(models.pop() + models.pop())
    assert_model(models[0], expected, steps=steps)


@given(cut_tables(max_rows=600, max_features=6))
@soak(40)
def test_blocks_of_any_size_through_partial_fit_are_batch_pca(table):
    rows, blocks = table
    expected = truth(rows)
    pca = IncrementalPCA()
    for block in blocks:
        pca.partial_fit(block)
    assert_model(pca.model_, expected, steps=len(blocks))
    once = IncrementalPCA().fit(rows)
    assert_model(once.model_, expected, steps=2)
    assert pca.n_samples_seen_ == once.n_samples_seen_ == len(rows)


@given(cut_tables(max_rows=30))
@soak(60)
def test_a_stream_is_bitwise_independent_of_the_blocks(table):
    rows, blocks = table
    pca = IncrementalPCA()
    for block in blocks:
        pca.partial_fit(block)
        if pca.n_samples_seen_ > 0:
            assert pca.model_.count == pca.n_samples_seen_  # reading changes nothing
    assert pca.model_ == IncrementalPCA().fit(rows).model_
    assert pca.model_ == IncrementalPCA(batch_size=1).fit(rows).model_


def test_single_rows_beyond_the_size_of_the_buffer():
    rows = np.random.default_rng(0).normal(size=(1100, 7)) * np.arange(1, 8) + 1e3
    pca = IncrementalPCA(n_components=3)
    for row in rows:
        pca.partial_fit(row[None])
    assert_model(pca.model_, truth(rows), steps=4)
    assert pca.model_ == IncrementalPCA(n_components=3).fit(rows).model_


@given(tables(min_rows=2), st.integers(0, 40))
@example(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), 2)
@example(np.array([[1.0, 2, -1, 0], [-1, -2, 1, 0], [1, 0, -1, 2], [-1, 0, 1, -2]]), 2)
@soak(100)
def test_merging_commutes_to_the_last_bit(rows, cut):
    cut = min(cut, len(rows))
    a, b = EigenspaceModel.fit(rows[:cut]), EigenspaceModel.fit(rows[cut:])
    assert a + b == b + a
    assert (a + b).to_bytes() == (b + a).to_bytes()
    assert a.merge(b, max_rank=1) == b.merge(a, max_rank=1)


@given(cut_tables())
@soak(60)
def test_merging_is_associative_to_rounding(table):
    rows, blocks = table
    models = [EigenspaceModel.fit(block) for block in blocks]
    left = reduce(lambda a, b: a + b, models)
    right = reduce(lambda a, b: b + a, reversed(models))
    expected = truth(rows)
    assert norm(scatter_of(left) - scatter_of(right)) <= 2 * expected.rounding(len(models))
    assert left.count == right.count == len(rows)


@given(tables())
@soak(60)
def test_the_empty_model_is_neutral(rows):
    model, empty = EigenspaceModel.fit(rows), EigenspaceModel(rows.shape[1])
    assert model + empty == model
    assert empty + model == model
    assert model - empty == model
    assert model.update(rows[:0]) == model
    assert EigenspaceModel.fit(rows[:0]) == empty
    assert sum([empty, model, empty]) == model
    assert empty + empty == empty
    assert (model - model).count == 0


def after_split(whole, part, rest):
    """Return the error allowed after a split: the rounding of the whole, with that of the mean enlarged.

    c = √(w₂ w₃ / w₁) (μ₃ − μ₂), so the rounding of a mean becomes √(w₂ / w₁) times as large.
    """
    worse = np.sqrt(part.weight / rest.weight)
    far = 4 * whole.far * max(worse, 1.0)
    length = max(whole.values[0], 1e-300)
    return 2 * whole.rounding() + 2 * length * far + far**2


@given(tables(min_rows=2), st.data())
@soak(150)
def test_split_undoes_merge(rows, data):
    cut = data.draw(st.integers(1, len(rows) - 1))
    one, two = truth(rows[:cut]), truth(rows[cut:])
    a, b = EigenspaceModel.fit(rows[:cut]), EigenspaceModel.fit(rows[cut:])
    whole = truth(rows)
    back = (a + b) - b
    allowed = after_split(whole, two, one)
    far = EPS * max(1.0, two.weight / one.weight)
    assert_split(back, one, allowed, far, whole)
    assert_split((a + b).remove(rows[:cut]), two, after_split(whole, one, two), EPS * (1 + one.weight), whole)


def assert_split(model, expected, allowed, far, whole):
    """Like `assert_model`, but the mean is as accurate as that of the whole model."""
    assert model.count == expected.count
    largest = np.abs(whole.rows).max(axis=0)
    assert (np.abs(model.mean - expected.mean) <= 16 * far * largest + 1e-300).all(), "the mean"
    error = norm(scatter_of(model) - expected.scatter)
    assert error <= allowed, "the scatter"
    assert error <= model.certificate().error_bound + whole.rounding(2), "the certificate"


@given(tables(min_rows=4, max_rows=30, offsets=(0.0, 1e3)), st.data())
@soak(60)
def test_any_sequence_of_merges_and_splits_is_batch_pca_of_the_remaining_rows(rows, data):
    blocks = np.array_split(rows, min(len(rows), 4))
    models = [EigenspaceModel.fit(block) for block in blocks]
    inside, model, steps = [], EigenspaceModel(rows.shape[1]), 0
    whole = truth(rows)
    for i in data.draw(st.lists(st.integers(0, len(blocks) - 1), max_size=8)):
        if i in inside:
            inside.remove(i)
            model = model - models[i]
        else:
            inside.append(i)
            model = model + models[i]
        steps += 1
    left = truth(np.concatenate([blocks[i] for i in inside]) if inside else rows[:0])
    assert model.count == left.count
    if inside:
        # The parts have about the same size, so at each step the error of a mean grows at most by
        # a factor of the number of parts.
        far = 4 * steps * len(blocks) * whole.far
        allowed = 4 * steps * whole.rounding() + 2 * whole.values[0] * far + far**2
        assert norm(scatter_of(model) - left.scatter) <= allowed


def test_splitting_off_rows_that_are_not_in_the_model_raises_an_error():
    rng = np.random.default_rng(3)
    whole = EigenspaceModel.fit(rng.normal(size=(50, 4)))
    with pytest.raises(NotAPartError, match="the model does not contain these rows"):
        whole - EigenspaceModel.fit(100 * rng.normal(size=(20, 4)))
    with pytest.raises(NotAPartError, match="cannot split 60 rows"):
        whole - EigenspaceModel.fit(rng.normal(size=(60, 4)))


@given(tables())
@soak(60)
def test_writing_and_reading_a_model_preserves_it(rows):
    model = EigenspaceModel.fit(rows).with_components(1)
    assert EigenspaceModel.from_bytes(model.to_bytes()) == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert copy.copy(model) == model
    assert copy.deepcopy(model) == model
    assert model != model.with_components(None) or model.rank == 0
    assert model != model.update(rows[:1])
    assert (model == 3) is False


@given(cut_tables(max_rows=30), st.sampled_from([{}, {"n_components": 2}, {"forgetting": 0.9}, {"standardize": True}]))
@soak(40)
def test_a_pickled_estimator_continues_to_the_same_bits(table, params):
    rows, blocks = table
    params = {**params, "n_components": 1} if rows.shape[1] < 2 else params
    one, other = IncrementalPCA(**params), IncrementalPCA(**params)
    for block in blocks:
        one.partial_fit(block)
        other = copy.deepcopy(pickle.loads(pickle.dumps(other.partial_fit(block))))
    assert one.model_ == other.model_
    assert one.transform(rows).tobytes() == other.transform(rows).tobytes()
