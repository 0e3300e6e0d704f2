"""Laws for weighted, forgotten, standardized, float32 and sparse rows."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import (
    EPS,
    assert_model,
    assert_subspaces,
    cut_tables,
    norm,
    scatter_of,
    soak,
    standardized,
    tables,
    truth,
)
from sklearn.base import clone

from eigenspace import PCA, EigenspaceModel, IncrementalPCA

EPS32 = float(np.finfo(np.float32).eps)


@given(tables(max_rows=20), st.data())
@soak(80)
def test_an_integer_weight_is_a_repeated_row(rows, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows))))
    repeated = truth(np.repeat(rows, weights, axis=0))
    model = EigenspaceModel.fit(rows, weights=weights)
    assert model.weight == repeated.weight
    assert model.count == (weights > 0).sum()  # a row of weight 2 counts as one row
    assert norm(scatter_of(model) - repeated.scatter) <= repeated.rounding(2)
    if weights.any():
        pca = IncrementalPCA().partial_fit(rows, sample_weight=weights)
        assert norm(scatter_of(pca.model_) - repeated.scatter) <= repeated.rounding(2)
        batch = PCA().fit(rows, sample_weight=weights)
        assert batch.model_ == model.with_components(None)
        divisor = max(repeated.weight - 1, 1)
        shown = min(rows.shape[1], batch.n_components_)
        gap = np.abs(batch.explained_variance_ - repeated.eigenvalues[:shown] / divisor)
        assert (gap <= repeated.rounding(2) / divisor).all()


@given(tables(), st.data())
@soak(60)
def test_any_weights_are_those_of_batch_pca_and_a_weight_of_zero_is_an_absent_row(rows, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    weights = np.where(rng.random(len(rows)) < 0.3, 0.0, 10.0 ** rng.uniform(-3, 3, len(rows)))
    expected = truth(rows, weights)
    model = EigenspaceModel.fit(rows, weights=weights)
    assert_model(model, expected, steps=2)
    present = weights > 0
    assert_model(EigenspaceModel.fit(rows[present], weights=weights[present]), expected, steps=2)
    assert_model(EigenspaceModel(rows.shape[1]).update(rows, weights=weights), expected, steps=2)
    if present.any():
        pca = IncrementalPCA().fit(rows, sample_weight=weights)
        assert_model(pca.model_, expected, steps=2)
        assert pca.model_ == IncrementalPCA().fit(rows[present], sample_weight=weights[present]).model_


@given(cut_tables(max_rows=30), st.sampled_from([0.5, 0.9, 0.999, 1.0]))
@soak(60)
def test_forgetting_by_rows_is_batch_pca_with_weights_of_their_age(table, factor):
    rows, blocks = table
    expected = truth(rows, factor ** np.arange(len(rows) - 1.0, -1.0, -1.0))
    pca = IncrementalPCA(forgetting=factor)
    for block in blocks:
        pca.partial_fit(block)
    assert_model(pca.model_, expected, steps=2)
    half = IncrementalPCA(forgetting=f"half-life:{-1 / np.log2(factor)}" if factor < 1 else "never").fit(rows)
    assert_model(half.model_, expected, steps=4)


def test_forgetting_continues_beyond_the_size_of_the_buffer():
    rows = np.random.default_rng(1).normal(size=(1500, 5)) + np.linspace(0, 4, 1500)[:, None]
    expected = truth(rows, 0.995 ** np.arange(1499.0, -1.0, -1.0))
    pca = IncrementalPCA(forgetting=0.995)
    for block in np.array_split(rows, 23):
        pca.partial_fit(block)
    assert pca.model_.weight == pytest.approx(expected.weight, rel=1e-12)
    assert_model(pca.model_, expected, steps=4)


@given(cut_tables(max_rows=30), st.sampled_from([0.5, 0.9]))
@soak(60)
def test_forgetting_by_blocks_counts_the_blocks_that_had_rows(table, factor):
    rows, blocks = table
    full = [block for block in blocks if len(block)]
    ages = np.repeat(np.arange(len(full) - 1.0, -1.0, -1.0), [len(block) for block in full])
    pca = IncrementalPCA(forgetting=f"block:{factor}")
    for block in blocks:
        pca.partial_fit(block)
    assert_model(pca.model_, truth(rows, factor**ages), steps=2)


@given(tables(min_rows=2), st.sampled_from([0.25, 0.9]), st.integers(1, 40))
@soak(60)
def test_a_model_forgets_by_a_factor(rows, factor, cut):
    old, new = rows[:cut], rows[cut:]
    model = EigenspaceModel.fit(old).forget(factor).update(new)
    weights = np.repeat([factor, 1.0], [len(old), len(new)])
    assert_model(model, truth(rows, weights), steps=3)


@given(tables(min_rows=2, offsets=(0.0, 1.0, 1e3)), st.integers(0, 1000))
@soak(100)
def test_standardized_is_pca_of_standardized_rows(rows, seed):
    rows = rows * 10.0 ** np.random.default_rng(seed).integers(-4, 5, rows.shape[1])
    raw = truth(rows)
    expected, scales = standardized(rows)
    # The standard deviation of a feature that varies only by the rounding of its mean is meaningless.
    varying = np.ptp(rows, axis=0) > 0
    assume((np.ptp(rows, axis=0) > 1e4 * EPS * np.abs(rows).max(axis=0))[varying].all())
    for pca in [PCA(standardize=True).fit(rows), IncrementalPCA(standardize=True).fit(rows)]:
        # The eigenproblem is solved in the original units, so its rounding error is scaled too.
        worst = float(np.max(scales[varying], initial=0.0)) ** 2
        allowed = 2 * expected.rounding(2) + 2 * raw.rounding(2) * worst
        deviations = 1.0 / scales
        assert (np.abs(pca.scale_ - deviations) <= 64 * EPS * len(rows) * deviations * rough(rows, raw)).all()
        assert (pca.scale_[~varying] == 1).all()
        values = pca.singular_values_**2
        assert (np.abs(values - expected.eigenvalues[: len(values)]) <= allowed).all()
        assert_subspaces(pca.components_, expected, allowed)
        # Models with an error of up to 1e-10 of the largest eigenvalue are called exact.
        bounds = pca.certificate_.eigenvalue_bounds()
        true = expected.eigenvalues[: len(bounds)]
        slack = expected.rounding(4) + 1e-10 * expected.eigenvalues[0]
        assert (bounds[:, 0] - slack <= true).all(), "the certificate"
        assert (true <= bounds[:, 1] + slack).all(), "the certificate"


def rough(rows, raw):
    """Return the loss of accuracy of a standard deviation by a mean far from zero, at least 1."""
    deviation = np.sqrt(np.square(raw.centered).mean(axis=0))
    return 1.0 + np.abs(rows).max(axis=0) / np.where(deviation > 0, deviation, np.inf)


@given(cut_tables(max_rows=600, max_features=6, offsets=(0.0, 1.0, 1e3), scales=(-2, 2)))
@soak(40)
def test_float32_rows_are_processed_in_float32(table):
    rows, blocks = table
    rows = rows.astype(np.float32)
    expected = truth(rows)
    pca = IncrementalPCA()
    for block in blocks:
        pca.partial_fit(block.astype(np.float32))
    assert pca.components_.dtype == np.float32
    assert pca.transform(rows).dtype == np.float32
    # Rows are centered in float64; their products are rounded to float32 and summed in float64.
    error = norm(scatter_of(pca.model_) - expected.scatter)
    assert error <= expected.rounding(2) + 8 * EPS32 * expected.eigenvalues[0]
    assert error <= pca.model_.certificate().error_bound + expected.rounding(2)


@given(tables(max_rows=500, max_features=6, offsets=(0.0, 1.0, 1e3), scales=(-2, 2)))
@soak(40)
def test_float32_rows_are_exact_while_they_are_kept(rows):
    rows = rows.astype(np.float32)
    assert_model(IncrementalPCA().fit(rows).model_, truth(rows), steps=2)
    assert_model(EigenspaceModel.fit(rows), truth(rows), steps=2)
    wide = EigenspaceModel.fit(rows.astype(np.float64))
    assert norm(scatter_of(EigenspaceModel.fit(rows)) - scatter_of(wide)) <= 2 * truth(rows).rounding()


def test_float32_rows_far_from_zero_keep_their_subspace():
    rng = np.random.default_rng(5)
    rows = (1e6 + rng.normal(size=(2000, 20)) * np.arange(20, 0, -1)).astype(np.float32)
    expected = truth(rows)
    pca = IncrementalPCA(n_components=3).fit(rows)
    allowed = 8 * EPS32 * expected.eigenvalues[0]
    assert norm(scatter_of(pca.model_) - expected.scatter) <= allowed
    assert_subspaces(pca.components_.astype(np.float64), expected, allowed + EPS32 * expected.gap(1))


@given(cut_tables(max_rows=40), st.sampled_from([0.0, 0.1, 0.6, 1.0]), st.booleans(), st.integers(0, 99))
@soak(80)
def test_sparse_rows_are_dense_rows(table, density, weighted, seed):
    rows, blocks = table
    rng = np.random.default_rng(seed)
    rows = rows * (rng.random(rows.shape) < density)
    weights = rng.uniform(0.5, 2.0, len(rows)) if weighted else None
    expected = truth(rows, weights)
    sparse = sp.csr_array(rows)
    model = EigenspaceModel.fit(sparse, weights=weights)
    assert_model(model, expected, steps=2)
    pca, start = IncrementalPCA(), 0
    for block in blocks:
        end = start + len(block)
        pca.partial_fit(sparse[start:end], sample_weight=None if weights is None else weights[start:end])
        start = end
    assert_model(pca.model_, expected, steps=2)
    dense = IncrementalPCA().fit(rows, sample_weight=weights)
    assert norm(pca.transform(sparse) - dense.transform(rows)) <= 64 * EPS * (1 + norm(rows)) * rows.size or (
        np.diff(expected.values).max(initial=-np.inf) > -1e-6 * expected.values[0]
    )
    assert norm(pca.transform(sparse) - pca.transform(rows)) <= 64 * EPS * norm(np.abs(rows) + np.abs(pca.mean_))


def test_weights_that_sum_to_one_are_rejected_or_treated_as_reliabilities():
    rows = np.random.default_rng(5).normal(size=(40, 3))
    weights = np.full(40, 1 / 40)
    plain = PCA().fit(rows).explained_variance_
    for estimator in (PCA(), IncrementalPCA()):
        with pytest.raises(ValueError, match="cannot compute variances") as error:
            _ = estimator.fit(rows, sample_weight=weights).explained_variance_
        assert "reliability" in error.value.hint
        reliable = clone(estimator).set_params(weight_kind="reliability").fit(rows, sample_weight=weights)
        np.testing.assert_allclose(reliable.explained_variance_, plain, rtol=1e-12)


def test_fit_of_an_array_is_exact_where_scikit_learn_is():
    rng = np.random.default_rng(6)
    for n, d in ((700, 1100), (1300, 1100)):
        rows = rng.normal(size=(n, d))
        ours = IncrementalPCA(n_components=5).fit(rows)
        assert ours.model_.certificate().is_exact
        values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:5]
        np.testing.assert_allclose(ours.singular_values_, values, rtol=1e-11)
        again = pickle.loads(pickle.dumps(ours)).partial_fit(rows[:3])
        np.testing.assert_array_equal(again.components_, ours.partial_fit(rows[:3]).components_)
