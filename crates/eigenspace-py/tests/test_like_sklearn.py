"""The parameters and attributes of scikit-learn's PCA: the same result, or a documented difference."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA as Theirs
from sklearn.decomposition._pca import _assess_dimension

from eigenspace import PCA, IncrementalPCA

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(300, 3)) @ RNG.normal(size=(3, 9)) * 2 + RNG.normal(size=(300, 9)) + 5
FEW = RNG.normal(size=(20, 4)) @ RNG.normal(size=(4, 50)) + 0.3 * RNG.normal(size=(20, 50))


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
def test_every_solver_is_accepted_and_gives_the_full_decomposition(solver):
    params = {"svd_solver": solver, "random_state": 0, "tol": 1e-3, "iterated_power": 2, "n_oversamples": 3}
    ours = PCA(4, power_iteration_normalizer="QR", **params).fit(TALL)
    truth = Theirs(4, svd_solver="full").fit(TALL)
    np.testing.assert_allclose(ours.components_, truth.components_, atol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_, truth.explained_variance_, rtol=1e-12)


def test_all_parameters_of_scikit_learn_are_supported():
    theirs, ours = Theirs().get_params(), PCA().get_params()
    assert {name: ours.get(name, "missing") for name in theirs} == theirs


def test_an_unknown_solver_is_rejected():
    with pytest.raises(ValueError, match="invalid svd_solver 'best': expected one of auto, full"):
        PCA(svd_solver="best").fit(TALL)


@pytest.mark.parametrize("trial", range(30))
def test_mle_is_minkas_choice_as_in_scikit_learn(trial):
    rng = np.random.default_rng(trial)
    d = int(rng.integers(2, 20))
    n, k = int(rng.integers(d + 1, 150)), int(rng.integers(1, d))
    X = rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) * rng.uniform(0.5, 5) + rng.normal(size=(n, d))
    theirs, ours = Theirs("mle", svd_solver="full").fit(X), PCA("mle").fit(X)
    assert ours.n_components_ == theirs.n_components_
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-8)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    variances = Theirs().fit(X).explained_variance_
    truth = [_assess_dimension(variances, rank, n) for rank in range(1, d)]
    evidence = ours.model_._core.log_evidence()
    np.testing.assert_allclose(evidence - n * d / 2 * np.log(variances[0]), truth, rtol=1e-9)


def test_mle_finds_the_true_number_of_directions():
    X = RNG.normal(size=(400, 3)) @ RNG.normal(size=(3, 10)) * 3 + RNG.normal(size=(400, 10))
    assert PCA("mle").fit(X).n_components_ == 3
    assert PCA("mle").fit(X).get_params()["n_components"] == "mle"
    assert PCA("mle").fit(X * 1e-9).n_components_ == 3
    scaled = X * 10.0 ** np.arange(-5, 5)
    assert PCA("mle", standardize=True).fit(scaled).n_components_ == PCA("mle").fit(X / X.std(axis=0)).n_components_
    assert PCA("mle").fit(TALL[:, :1]).n_components_ == 1


def test_mle_counts_frequencies_as_rows_and_only_compares_reliabilities():
    X, weights = TALL[:80], RNG.integers(1, 4, size=80)
    expected = Theirs("mle", svd_solver="full").fit(np.repeat(X, weights, axis=0)).n_components_
    assert PCA("mle").fit(X, sample_weight=weights).n_components_ == expected
    for factor in (1 / weights.sum(), 1.0, 1e6):
        weighted = PCA("mle", weight_kind="reliability").fit(X, sample_weight=weights * factor)
        assert weighted.n_components_ == 3
    equal = PCA("mle", weight_kind="reliability").fit(X, sample_weight=np.full(80, 1 / 80))
    truth = PCA("mle").fit(X).model_._core.log_evidence()
    np.testing.assert_allclose(equal.model_._core.log_evidence(), truth, rtol=1e-9)


def test_mle_needs_as_many_rows_as_features_as_in_scikit_learn():
    for kind in (PCA, Theirs):
        with pytest.raises(ValueError, match="'mle' is only supported if n_samples >= n_features"):
            kind("mle").fit(FEW)
    with pytest.raises(TypeError, match="invalid n_components='mle': expected an integer"):
        IncrementalPCA("mle").fit(TALL)


@pytest.mark.parametrize("k", [1, 5, 8, 9])
def test_with_as_many_rows_as_features_noise_score_and_covariance_are_theirs(k):
    theirs = Theirs(k, svd_solver="full").fit(TALL)
    for ours in (PCA(k).fit(TALL), IncrementalPCA(k).fit(TALL)):
        np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-10)
        np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
        np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-10)
        np.testing.assert_allclose(ours.score_samples(TALL), theirs.score_samples(TALL), rtol=1e-9)


@pytest.mark.parametrize("k", [2, 10])
def test_with_fewer_rows_the_noise_is_spread_over_all_features(k):
    n, d = FEW.shape
    ours, theirs = PCA(k).fit(FEW), Theirs(k, svd_solver="full").fit(FEW)
    total = FEW.var(axis=0, ddof=1).sum()
    # Maximum likelihood (Tipping & Bishop 1999): the remaining variance divided by the d - k remaining directions.
    rest = total - ours.explained_variance_.sum()
    np.testing.assert_allclose(ours.noise_variance_, rest / (d - k), rtol=1e-10)
    np.testing.assert_allclose(np.trace(ours.get_covariance()), total, rtol=1e-10)
    # scikit-learn divides by n - k instead, so the covariance has more variance than the rows.
    np.testing.assert_allclose(theirs.noise_variance_, rest / (n - k), rtol=1e-10)
    assert np.trace(theirs.get_covariance()) > 1.01 * total
    normal = multivariate_normal(ours.mean_, ours.get_covariance())
    np.testing.assert_allclose(ours.score_samples(FEW), normal.logpdf(FEW), rtol=1e-8)
    assert ours.score(FEW) > theirs.score(FEW)  # ours is the maximum likelihood


def test_without_noise_there_is_no_likelihood():
    ours, theirs = PCA(19).fit(FEW), Theirs(20, svd_solver="full").fit(FEW)
    assert ours.noise_variance_ == theirs.noise_variance_ == 0
    with pytest.raises(ValueError, match="cannot invert the covariance"):
        ours.score(FEW)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:  # scikit-learn inverts a singular matrix
            score = theirs.score(FEW)
        except np.linalg.LinAlgError:
            return
    normal = multivariate_normal(theirs.mean_, theirs.get_covariance(), allow_singular=True)
    assert not np.isclose(score, normal.logpdf(FEW).mean(), rtol=1e-3)


@pytest.mark.parametrize("kind", [PCA, IncrementalPCA])
def test_the_covariance_does_not_depend_on_whitening(kind):
    plain, white = kind(5).fit(TALL), kind(5, whiten=True).fit(TALL)
    np.testing.assert_array_equal(white.get_covariance(), plain.get_covariance())
    np.testing.assert_array_equal(white.get_precision(), plain.get_precision())
    assert white.score(TALL) == plain.score(TALL)
    # scikit-learn multiplies the components by their variance a second time, which is not the covariance.
    theirs, truth = Theirs(5, whiten=True).fit(TALL), np.cov(TALL.T)
    assert np.trace(theirs.get_covariance()) > 1.5 * np.trace(truth)
    np.testing.assert_allclose(np.trace(white.get_covariance()), np.trace(truth), rtol=1e-10)
