"""More passes over the same rows: closer to batch PCA by numpy, and only over the same rows."""

import numpy as np
import pytest
import scipy.sparse

from eigenspace import EigenspaceModel, IncrementalPCA

K = 5


def slowly_falling(n: int = 900, features: int = 1100, seed: int = 0) -> np.ndarray:
    """Return rows whose variances decrease so slowly that one pass with few directions misses some."""
    rng = np.random.default_rng(seed)
    rank = min(n, 300)
    left = np.linalg.qr(rng.normal(size=(n, rank)))[0]
    right = np.linalg.qr(rng.normal(size=(features, rank)))[0]
    return (left * 0.985 ** np.arange(rank)) @ right.T + 0.25


def exact(X: np.ndarray) -> np.ndarray:
    return np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:K]


def sine(components: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(truth - truth @ components.T @ components, 2))


def lean(**more) -> IncrementalPCA:
    return IncrementalPCA(K, max_rank=12, engine="factor", **more)


@pytest.mark.parametrize("sparse", [False, True])
def test_each_pass_is_closer_to_the_svd_of_all_rows(sparse):
    X = slowly_falling()
    if sparse:
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.7, 0.0, X)
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    truth = exact(X)
    errors = [sine(lean(passes=n).fit(rows).components_, truth) for n in (1, 2, 4)]
    assert errors[0] > 0.2, "one pass is enough for these rows"
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.5 * errors[0]


def test_passes_of_fit_are_those_of_refine():
    X = slowly_falling(seed=2)
    weights = np.random.default_rng(3).uniform(0.5, 2, len(X))
    by_hand = lean().fit(X, sample_weight=weights).model_.refine(X, weights)
    fitted = lean(passes=2).fit(X, sample_weight=weights)
    # The estimator decomposes the same directions once more.
    assert np.allclose(fitted.model_.singular_values, by_hand.singular_values, rtol=1e-12)
    assert sine(fitted.components_, by_hand.basis[:K]) < 1e-10
    assert fitted.n_samples_seen_ == len(X)
    values = np.linalg.eigvalsh(np.cov(X.T, aweights=weights, bias=True))[::-1] * weights.sum()
    low, high = by_hand.certificate().eigenvalue_bounds()[:K].T
    assert (low <= values[:K] * (1 + 1e-9)).all()
    assert (values[:K] <= high * (1 + 1e-9)).all()


def test_a_model_that_dropped_nothing_is_returned_as_it_is():
    X = slowly_falling(60, 1100)
    model = EigenspaceModel.fit(X)
    assert model.refine(X) == model
    assert np.array_equal(IncrementalPCA(K, passes=3).fit(X).components_, IncrementalPCA(K).fit(X).components_)


def test_rows_with_missing_cells_are_skipped_in_every_pass():
    X = slowly_falling(seed=4)
    X[5, 7] = np.nan
    whole = np.delete(X, 5, axis=0)
    twice = lean(passes=2, missing="skip").fit(X)
    assert twice.n_samples_seen_ == len(whole)
    assert np.array_equal(twice.components_, lean(passes=2).fit(whole).components_)


def test_other_rows_and_impossible_settings_are_refused():
    X = slowly_falling()
    model = lean().fit(X).model_
    with pytest.raises(ValueError, match="it has 900 rows, but this pass has only 899"):
        model.refine(X[:-1])
    with pytest.raises(ValueError, match="are not those of the model"):
        model.refine(X[::-1] + 1e-3)
    with pytest.raises(ValueError, match="invalid passes=0: expected at least 1"):
        lean(passes=0).fit(X)
    with pytest.raises(ValueError, match="with forgetting"):
        lean(passes=2, forgetting=0.99).fit(X)
    with pytest.raises(ValueError, match="with missing='impute'"):
        lean(passes=2, missing="impute").fit(X)
    assert sine(model.refine(X[::-1]).basis[:K], model.refine(X).basis[:K]) < 1e-9
