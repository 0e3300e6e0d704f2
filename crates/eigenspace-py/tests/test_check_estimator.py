"""scikit-learn's estimator checks, for our estimators with many settings."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from eigenspace import PCA, IncrementalPCA

ESTIMATORS = [
    IncrementalPCA(),
    IncrementalPCA(n_components=2),
    IncrementalPCA(n_components=0.9, whiten=True),
    IncrementalPCA(n_components=1, max_rank=1, batch_size=3, engine="factor"),
    IncrementalPCA(n_components=1, truncation="fd:3", engine="factor"),
    IncrementalPCA(n_components=1, engine="scatter"),
    IncrementalPCA(n_components=2, standardize=True),
    IncrementalPCA(n_components=2, missing="impute"),
    IncrementalPCA(n_components=2, missing="skip"),
    IncrementalPCA(n_components=2, forgetting=1.0),
    IncrementalPCA(n_components=2, forgetting="block:1.0"),
    PCA(),
    PCA(n_components=2, whiten=True),
    PCA(n_components=0.9, standardize=True),
    PCA(n_components=1, method="svd"),
    PCA(n_components=2, svd_solver="randomized", random_state=0),
]

# The estimators do not claim to support the array API, so the check would skip itself.
NOT_CLAIMED = "check_array_api_input"


def cases():
    for estimator in ESTIMATORS:
        for one, check in estimator_checks_generator(estimator, legacy=True, mark=None):
            name = check.func.__name__
            if name != NOT_CLAIMED:
                yield pytest.param(one, check, id=f"{estimator}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
