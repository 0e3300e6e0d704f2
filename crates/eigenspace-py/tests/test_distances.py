"""How far distances between rows are kept, and both sets of singular vectors, against numpy and SciPy."""

import json
import os
import subprocess

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from eigenspace import PCA, EigenspaceModel, IncrementalPCA, distances_kept

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 9)) * np.arange(1, 10) + 50


@pytest.mark.parametrize("standardize", [False, True])
def test_distances_are_those_that_scipy_computes(standardize):
    pca = IncrementalPCA(3, standardize=standardize).fit(X)
    rows, scores = pdist(X / pca.scale_), pdist(pca.transform(X))
    kept = distances_kept(X, pca)
    assert kept.pairs == len(rows)
    np.testing.assert_allclose(kept.share, np.square(scores).sum() / np.square(rows).sum())
    np.testing.assert_allclose(kept.share, pca.explained_variance_ratio_.sum())
    np.testing.assert_allclose([kept.mean, kept.least], [(scores / rows).mean(), (scores / rows).min()])
    np.testing.assert_allclose(kept.correlation, np.corrcoef(rows, scores)[0, 1])


def test_a_model_keeps_distances_as_the_estimator_does():
    pca = PCA(3).fit(X)
    assert distances_kept(X, pca.model_) == distances_kept(X, pca)
    with pytest.raises(TypeError, match="expected a fitted estimator or a model, found ndarray"):
        distances_kept(pca, X)


def test_the_command_measures_the_same(tmp_path):
    model = EigenspaceModel.fit(X).with_components(3)
    model.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", X)
    words = [os.environ["EIGENSPACE"], "inspect", tmp_path / "m.safetensors", tmp_path / "x.npy", "--json", "--quiet"]
    said = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["distances_kept"]
    kept = distances_kept(X, model)
    assert said["rows"] == len(X)
    np.testing.assert_allclose([said[name] for name in kept._fields], kept, rtol=1e-12)


def test_left_and_right_singular_vectors_are_numpys():
    centered = X - X.mean(axis=0)
    u, s, v = np.linalg.svd(centered, full_matrices=False)
    for of in (PCA(9).fit(X), IncrementalPCA(9).fit(X)):
        ours = of.left_singular_vectors(X)
        signs = np.sign((of.components_ * v).sum(axis=1))
        np.testing.assert_allclose(ours, u * signs, atol=1e-11)
        np.testing.assert_allclose((ours * of.singular_values_) @ of.components_, centered, atol=1e-10)
    model = EigenspaceModel.fit(X)
    np.testing.assert_allclose(model.left_singular_vectors(X).T @ model.left_singular_vectors(X), np.eye(9), atol=1e-12)
    # The scores of PCA are U s, so U also comes from fit_transform.
    np.testing.assert_allclose(model.left_singular_vectors(X) * s, model.project(X), atol=1e-10)


def test_scores_are_uncorrelated():
    scores = IncrementalPCA(9).fit(X).transform(X)
    correlations = np.corrcoef(scores.T)
    np.testing.assert_allclose(correlations, np.eye(9), atol=1e-11)
