"""scikit-learn's checks of what an estimator must do, for every way of working that ours have."""

from eigenspace import PCA, IncrementalPCA
from sklearn.utils.estimator_checks import parametrize_with_checks

ESTIMATORS = [
    IncrementalPCA(),
    IncrementalPCA(n_components=2),
    IncrementalPCA(n_components=0.9, whiten=True),
    IncrementalPCA(n_components=1, max_rank=1, batch_size=3),
    IncrementalPCA(n_components=1, truncation="fd:3"),
    IncrementalPCA(n_components=2, standardize=True),
    IncrementalPCA(n_components=2, missing="impute"),
    IncrementalPCA(n_components=2, missing="skip"),
    IncrementalPCA(n_components=2, forgetting=1.0),
    PCA(),
    PCA(n_components=2, whiten=True),
    PCA(n_components=0.9, standardize=True),
    PCA(n_components=1, method="svd"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
