"""Laws of the results: components, variances, scores, and the certificate."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import EPS, assert_model, assert_subspaces, cut_tables, norm, sine, soak, tables, truth

from eigenspace import (
    PCA,
    EigenspaceModel,
    IncrementalPCA,
    principal_angles,
    reconstruction_error,
    subspace_distance,
)


def both(rows, n_components, **params):
    return [
        PCA(n_components=n_components, **params).fit(rows),
        IncrementalPCA(n_components=n_components, **params).fit(rows),
    ]


@given(tables(min_rows=2), st.data())
@soak(100)
def test_a_number_of_components_gives_that_many(rows, data):
    n, d = rows.shape
    k = data.draw(st.integers(1, d))
    expected = truth(rows)
    allowed, divisor = expected.rounding(2), n - 1
    for pca in both(rows, k):
        assert pca.n_components_ == k
        assert pca.components_.shape == (k, d)
        assert norm(pca.components_ @ pca.components_.T - np.eye(k)) <= 16 * EPS * (16 + d)
        assert_subspaces(pca.components_, expected, allowed)
        assert (np.abs(pca.singular_values_**2 - expected.eigenvalues[:k]) <= allowed).all()
        assert (np.abs(pca.explained_variance_ - expected.eigenvalues[:k] / divisor) <= allowed / divisor).all()
        ratio = expected.eigenvalues[:k] / expected.total if expected.total else np.zeros(k)
        assert (np.abs(pca.explained_variance_ratio_ - ratio) * expected.total <= 2 * k * allowed).all()
        assert (np.abs(pca.mean_ - expected.mean) <= 8 * EPS * np.abs(rows).max(axis=0)).all()
        assert (np.abs(pca.var_ - np.square(expected.centered).mean(axis=0)) <= allowed / n).all()
        assert (pca.var_[np.ptp(rows, axis=0) == 0] == 0).all()  # a constant feature is constant to the last bit
        noise = expected.eigenvalues[k:].sum() / (d - k) / divisor if k < d else 0.0
        assert abs(pca.noise_variance_ - noise) <= 2 * d * allowed / divisor
        weak = expected.eigenvalues[:k] / divisor - noise
        covariance = (expected.directions[:k].T * weak) @ expected.directions[:k] + noise * np.eye(d)
        if expected.gap(k) > 100 * allowed:
            turned = 2 * allowed / expected.gap(k) * expected.eigenvalues[0] / divisor
            assert norm(pca.get_covariance() - covariance) <= 4 * (turned + 2 * d * allowed / divisor)


@given(tables(min_rows=2), st.floats(0.01, 1.0))
@soak(80)
def test_a_ratio_gives_the_fewest_components_that_reach_it(rows, share):
    expected = truth(rows)
    assume(expected.total > 0)
    shares = np.cumsum(expected.eigenvalues) / expected.total
    doubt = 4 * expected.features * expected.rounding(2) / expected.total
    assume((np.abs(shares - share) > doubt).all() or share == 1.0)
    for pca in both(rows, share):
        if share < 1.0:
            assert pca.n_components_ == int(np.searchsorted(shares, share)) + 1
        else:
            assert pca.explained_variance_ratio_.sum() >= 1 - doubt


@given(tables(min_rows=1))
@soak(40)
def test_none_gives_all_directions(rows):
    for pca in both(rows, None):
        assert pca.n_components_ == min(rows.shape)
        assert_model(pca.model_, truth(rows), steps=2)


@given(cut_tables(min_rows=2, max_rows=30), st.data())
@soak(60)
def test_the_number_of_components_can_be_changed_at_any_time(table, data):
    rows, blocks = table
    settings = st.one_of(st.none(), st.integers(1, rows.shape[1]), st.floats(0.1, 1.0))
    changing = IncrementalPCA()
    for block in blocks:
        last = data.draw(settings)
        changing.set_params(n_components=last).partial_fit(block)
    plain = IncrementalPCA(n_components=last).fit(rows)
    assert changing.n_components_ == plain.n_components_
    assert changing.components_.tobytes() == plain.components_.tobytes()
    assert changing.model_ == plain.model_
    model = EigenspaceModel.fit(rows)
    assert model.with_components(last).with_components(None) == model


@given(tables(min_rows=2), st.data(), st.booleans())
@soak(100)
def test_scores_are_products_with_the_components(rows, data, whiten):
    n, d = rows.shape
    k = data.draw(st.integers(1, d))
    size = float(np.linalg.norm(np.abs(rows).max(axis=0)))
    for pca in both(rows, k, whiten=whiten):
        Z = (rows.astype(np.longdouble) - pca.mean_).astype(np.float64) @ pca.components_.T
        deviation = np.sqrt(pca.explained_variance_)
        rounding = np.full(k, 8 * EPS * (16 + d) * (size + norm(rows - pca.mean_)))
        if whiten:
            dead = deviation == 0
            Z = np.where(dead, 0.0, Z / np.where(dead, 1.0, deviation))
            rounding = np.where(dead, 0.0, rounding / np.where(dead, 1.0, deviation))
        found = pca.transform(rows)
        assert (np.abs(found - Z) <= rounding).all()
        scaled = found * deviation if whiten else found
        expected = (scaled @ pca.components_).astype(np.longdouble) + pca.mean_
        again = pca.inverse_transform(found)
        assert (np.abs(again - expected) <= 8 * EPS * (16 + d) * (size + norm(rows - pca.mean_))).all()
        if k == d and not (whiten and (deviation == 0).any()):
            assert norm(again - rows) <= 16 * EPS * (16 + d) * np.sqrt(n) * (size + norm(rows - pca.mean_))


@given(tables(min_rows=2), st.data())
@soak(60)
def test_a_model_projects_and_reconstructs(rows, data):
    model = EigenspaceModel.fit(rows)
    assume(model.rank > 0)
    model = model.with_components(data.draw(st.integers(1, model.rank)))
    size = float(np.linalg.norm(np.abs(rows).max(axis=0))) + norm(rows - model.mean)
    rounding = 8 * EPS * (16 + rows.shape[1]) * size
    Z = (rows.astype(np.longdouble) - model.mean).astype(np.float64) @ model.components.T
    assert (np.abs(model.project(rows) - Z) <= rounding).all()
    again = (Z @ model.components).astype(np.longdouble) + model.mean
    assert (np.abs(model.reconstruct(Z) - again) <= rounding).all()
    outside = np.linalg.norm((rows - again).astype(np.float64))
    assert abs(reconstruction_error(rows, model) - outside) <= np.sqrt(rows.size) * 2 * rounding
    assert abs(reconstruction_error(rows, model, kind="rmse") - outside / np.sqrt(rows.size)) <= 2 * rounding


@given(tables(min_rows=3), st.integers(1, 8), st.data())
@soak(150)
def test_certificates_of_truncated_models_hold(rows, rank, data):
    how = data.draw(st.sampled_from(["batch", "merge", "update", "truncate", "fd", "energy", "split"]))
    cut = data.draw(st.integers(1, len(rows) - 1))
    one, two = EigenspaceModel.fit(rows[:cut]), EigenspaceModel.fit(rows[cut:])
    inside = rows
    if how == "batch":
        model = EigenspaceModel.fit(rows, max_rank=rank)
    elif how == "merge":
        model = one.truncate(rank).merge(two, max_rank=rank)
    elif how == "update":
        model = one.update(rows[cut:], max_rank=rank).update(rows[:1], max_rank=rank)
        inside = np.vstack([rows, rows[:1]])
    elif how == "split":
        model, inside = (one + two).truncate(rank) - one.truncate(rank), rows[cut:]
    else:
        rule = {"truncate": rank, "fd": f"fd:{rank}", "energy": "energy:0.7"}[how]
        model = (one + two).truncate(rule)
    assert_certificate(model, truth(inside), truth(rows).rounding(4) * len(rows))


def assert_certificate(model, expected, slack):
    """Assert that the bounds on the scatter hold, up to rounding, which they do not include."""
    certificate = model.certificate()
    bounds = certificate.eigenvalue_bounds()
    true = expected.eigenvalues[: len(bounds)]
    assert (bounds[:, 0] - slack <= true).all(), "an eigenvalue is smaller"
    assert (true <= bounds[:, 1] + slack).all(), "an eigenvalue is larger"
    for k in range(1, model.rank + 1):
        if expected.gap(k) > 10 * slack:
            angle = sine(model.basis[:k], expected.directions[:k])
            assert angle <= certificate.angle_bound(k) + 4 * slack / expected.gap(k), f"the angle of {k}"
        low, high = certificate.captured_bounds(k)
        loose = 4 * k * slack / max(expected.total, 1e-300)
        assert low - loose <= expected.share(k) <= high + loose or expected.total <= slack, f"the share of {k}"
    left = np.square(model.basis @ expected.centered.T).sum() if model.rank else 0.0
    assert expected.total - left >= -slack


@cache
def wide_truth(dtype):
    rng = np.random.default_rng(7)
    strong = rng.normal(size=(600, 10)) * np.array([60, 50, 40, 30, 20, 10, 5, 2, 1, 0.5])
    rows = strong @ rng.normal(size=(10, 1030)) / 30 + 0.05 * rng.normal(size=(600, 1030)) + 7
    return truth(rows.astype(dtype)), rows.astype(dtype)


@pytest.mark.parametrize("params", [{"max_rank": 12}, {"max_rank": 40}, {"truncation": "fd:20"}, {}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_certificates_of_a_wide_stream_hold(params, dtype):
    """More than 1,024 features, so that a stream keeps directions and drops some."""
    expected, rows = wide_truth(dtype)
    pca = IncrementalPCA(n_components=5, **params)
    for block in np.split(rows, [1, 1, 30, 31, 500, 555]):
        pca.partial_fit(block)
    slack = expected.rounding(8)
    assert_certificate(pca.model_, expected, slack)
    assert sine(pca.components_.astype(np.float64), expected.directions[:5]) < 1e-2
    assert pca.explained_variance_ratio_.sum() == pytest.approx(expected.share(5), abs=1e-2)


def test_a_wide_stream_that_keeps_all_is_batch_pca():
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(560, 1030)) * np.linspace(3, 1, 1030) + 100
    for params in [{}, {"max_rank": "all", "n_components": 4}]:
        pca = IncrementalPCA(**params)
        for block in np.split(rows, [1, 100, 513, 514]):
            pca.partial_fit(block)
        assert_model(pca.model_, truth(rows), steps=8)
        assert pca.certificate_.is_exact


@given(st.integers(1, 40), st.data(), st.integers(0, 10**6), st.sampled_from([0.0, 1e-12, 1e-6, 0.1, 1.0]))
@soak(100)
def test_angles_are_those_of_numpy(width, data, seed, tilt):
    rng = np.random.default_rng(seed)
    p = data.draw(st.integers(1, width))
    q = data.draw(st.integers(1, width))
    large = np.linalg.qr(rng.normal(size=(width, width)))[0].T
    # The second space is tilted away from the first, so that angles of all sizes occur.
    small = np.linalg.qr((large[:q] + tilt * rng.normal(size=(q, width))).T)[0].T
    large = large[:p]
    mixed = [rng.normal(size=(len(rows), len(rows))) * 10.0 ** rng.integers(-3, 4) for rows in (large, small)]
    condition = max(np.linalg.cond(matrix) for matrix in mixed)
    A, B = mixed[0] @ large, mixed[1] @ small
    more, fewer = (large, small) if p >= q else (small, large)
    rounding = 16 * EPS * (16 + width) * condition
    sines = np.linalg.svd(fewer - (fewer @ more.T) @ more, compute_uv=False)[::-1]
    angles = principal_angles(A, B)
    assert angles.shape == (min(p, q),)
    assert (np.diff(angles) >= 0).all()
    assert (np.abs(np.sin(angles) - sines) <= rounding).all()
    assert abs(subspace_distance(A, B) - sines[-1]) <= rounding
    assert subspace_distance(A, A) <= rounding
    assert subspace_distance(large, small) == pytest.approx(sines[-1], abs=16 * EPS * (16 + width))


@given(cut_tables(max_rows=20))
@soak(30)
def test_a_copy_of_an_estimator_is_independent(table):
    rows, blocks = table
    pca = IncrementalPCA().fit(rows)
    before = pca.model_
    for copied in [copy.copy(pca), copy.deepcopy(pca)]:
        for block in blocks:
            copied.partial_fit(block)
        assert copied.n_samples_seen_ == 2 * len(rows)
        assert pca.model_ == before
        assert pca.n_samples_seen_ == len(rows)
        assert_model(copied.model_, truth(np.vstack([rows, rows])), steps=3)
        assert pca.partial_fit(rows[:0]).model_ == before


@pytest.mark.parametrize("features", [300, 2000])  # a scatter, a factor
def test_components_and_model_agree(features):
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((400, 120)) * 0.95 ** np.arange(120) @ rng.standard_normal((120, features)) + 3.0
    pca = IncrementalPCA(n_components=10)
    for start in range(0, 400, 50):
        pca.partial_fit(rows[start : start + 50])
        if start > 100:
            pca.components_  # noqa: B018  reading in between changes nothing
    fresh = IncrementalPCA(n_components=10).fit(rows)
    centered = rows - rows.mean(axis=0)
    _, values, directions = np.linalg.svd(centered, full_matrices=False)
    signs = np.sign(np.sum(pca.components_ * directions[:10], axis=1))[:, None]
    assert np.abs(pca.components_ - signs * directions[:10]).max() < 1e-10
    assert np.abs(pca.singular_values_ / values[:10] - 1).max() < 1e-12
    hidden = np.square(values[10:]).sum() / 399 / (features - 10)
    assert abs(pca.noise_variance_ / hidden - 1) < 1e-10
    model = pca.model_
    assert model.rank == 120
    assert pca.certificate_.is_exact
    assert model == fresh.model_
    assert np.abs(model.basis[:10] - pca.components_).max() < 1e-10
    assert np.abs(model.project(rows)[:, :10] - pca.transform(rows)).max() < 1e-9 * values[0]
    assert pca.limits() == fresh.limits()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weights", [None, np.arange(200) % 3])
def test_batch_pca_of_wide_rows_shows_what_it_remembers(dtype, weights):
    rng = np.random.default_rng(8)
    rows = rng.standard_normal((200, 150)) * 0.9 ** np.arange(150) @ rng.standard_normal((150, 3000)) + 3.0
    rows = rows.astype(dtype)
    pca = PCA(n_components=10).fit(rows, sample_weight=weights)
    repeated = (rows if weights is None else np.repeat(rows, weights, axis=0)).astype(np.float64)
    _, values, directions = np.linalg.svd(repeated - repeated.mean(axis=0), full_matrices=False)
    signs = np.sign(np.sum(pca.components_ * directions[:10], axis=1))[:, None]
    rounding = 1e-10 if dtype == np.float64 else np.finfo(np.float32).eps
    assert np.abs(pca.components_ - signs * directions[:10]).max() < rounding
    assert np.abs(pca.singular_values_ / values[:10] - 1).max() < 1e-12
    assert pca.n_samples_ == (200 if weights is None else np.count_nonzero(weights))
    assert pca.certificate_.is_exact
    whole = EigenspaceModel.fit(rows, weights=weights)
    assert pca.model_.rank == whole.rank > 100
    assert np.abs(pca.model_.with_components(None).singular_values / whole.singular_values - 1).max() < 1e-9
    assert np.abs(pca.model_.mean - repeated.mean(axis=0)).max() < 1e-12
    again = pickle.loads(pickle.dumps(pca))
    assert again.model_ == pca.model_
    assert np.abs(again.transform(rows) - pca.transform(rows)).max() < 1e3 * rounding * values[0]
    # Changing the array afterward does not change the fitted model.
    before = pca.components_.copy()
    rows[:] = 0
    assert np.array_equal(pca.components_, before)
    assert pca.model_.singular_values[0] == whole.singular_values[0]
