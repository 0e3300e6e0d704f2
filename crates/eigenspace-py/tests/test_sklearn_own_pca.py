"""scikit-learn's own tests of its PCA, run against ours; see test_sklearn_own.py for those of its IncrementalPCA."""

import numpy as np
import pytest
from sklearn.decomposition.tests import test_pca as theirs

import eigenspace

DIFFERENT = {
    "test_n_components_none": "arpack omits the last component, and ours does not",
    "test_n_components_mle_error": "'mle' works with any svd_solver",
    "test_pca_svd_solver_auto": "there is one solver, so no attribute says which was chosen",
    "test_pca_validation": "the features, not the rows, limit the components, with any svd_solver",
    "test_sparse_pca_solver_error": "sparse rows work with any svd_solver",
    "test_pca_n_components_mostly_explained_variance_ratio": "a ratio that is reached exactly is enough",
    "test_pca_score": "the likelihood does not depend on whitening",
    "test_pca_score3": "there is at least one component",
    "test_pca_zero_noise_variance_edge_cases": "a singular covariance has no likelihood",
}
"""Differences, all in docs/FROM_SCIKIT_LEARN.md. These tests must fail."""
FOR_SOME = {"test_n_components_none", "test_pca_validation"}
"""These tests must fail only for some of their parameters."""

theirs.PCA = eigenspace.PCA

for name in dir(theirs):
    if name.startswith("test_"):
        test = getattr(theirs, name)
        if name in DIFFERENT:
            expected = (pytest.fail.Exception, AssertionError, AttributeError, eigenspace.EigenspaceError)
            strict = name not in FOR_SOME
            test = pytest.mark.xfail(reason=DIFFERENT[name], strict=strict, raises=expected)(test)
        globals()[name] = test


@pytest.fixture(params=range(2))
def global_random_seed(request):
    """Replace a fixture of scikit-learn's pytest plugin, which is not in the wheel."""
    return request.param


@pytest.fixture
def global_dtype():
    """Replace a fixture of scikit-learn's pytest plugin, which is not in the wheel."""
    return np.float64


def test_every_difference_is_still_one_of_theirs():
    assert [name for name in DIFFERENT if not hasattr(theirs, name)] == []
