"""Batch PCA, by scikit-learn's conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._core import Stream
from ._estimator import Estimator, nothing_to_fit
from ._interrupt import interruptibly
from ._model import EigenspaceModel, settings
from ._rows import is_sparse, pieces_of, weights_of
from ._seen import Seen
from ._view import View

WIDE = 1024
"""Features from which a decomposition costs more than looking at the rows."""


class PCA(Estimator):
    """PCA of rows that are all there.

    Parameters
    ----------
    n_components : int, float or None
        Components to show: a number, a share of the variance such as 0.95, or all.
    whiten : bool
        Whether coordinates are divided by their standard deviation.
    copy : bool
        For scikit-learn's sake: the rows are never written to.
    method : str
        'auto', 'svd' (thin singular value decomposition), 'covariance' (eigenproblem of the features), or
        'gram' (eigenproblem of the rows, for fewer rows than features). All give the same answer, and none is random.
    standardize : bool
        Whether features are divided by their standard deviation (correlation PCA).

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, noise_variance_,
    n_components_, n_samples_, n_features_in_ : as scikit-learn has them
    model_ : EigenspaceModel
        All directions of the rows; it can be added to, merged, split and saved.

    Examples
    --------
    >>> from eigenspace import PCA
    >>> PCA(n_components=1).fit([[2.5, 2.4], [0.5, 0.7], [2.2, 2.9]]).components_.round(3)
    array([[0.681, 0.732]])
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        method: str = "auto",
        standardize: bool = False,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.method = method
        self.standardize = standardize

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> PCA:
        """Fits to these rows."""
        with self._all_or_nothing():
            X = self._checked(X, reset=True, least=1)
            shown = self._components(X.shape[1])
            rows, features = X.shape
            wide = features > WIDE and 2 * rows <= features and not is_sparse(X)
            if wide and isinstance(shown, int) and self.method == "auto" and not self.standardize:
                self._fitted = self._held(X, shown, sample_weight)
            else:
                model = EigenspaceModel.from_rows(X, weights=sample_weight, method=self.method).with_components(shown)
                if model.count == 0:
                    raise nothing_to_fit(rows)
                narrow = X.dtype == np.float32
                self._fitted = View(model._core, shown, standardize=self.standardize, narrow=narrow)
            self.n_samples_ = self._fitted.raw.count
        return self

    def _held(self, X: Any, shown: int, sample_weight: ArrayLike | None) -> View:
        """The view of few wide rows: they are held as they are until somebody asks for all of their directions."""
        chosen = settings(shown, "all", engine="factor") | {"block_rows": max(X.shape[0], 1)}
        weights = weights_of(sample_weight, X.shape[0])
        stream = Stream(X.shape[1], chosen)
        for start, end, rows in pieces_of(X):
            stream.update(rows, None if weights is None else weights[start:end], start)
        if stream.count == 0:
            raise nothing_to_fit(X.shape[0])
        seen = Seen(stream, chosen, narrow=X.dtype == np.float32)
        return interruptibly(lambda: seen.view(standardize=False), X.size)

    def _view(self) -> View:
        view: View | None = getattr(self, "_fitted", None)
        if view is None:
            raise self._not_fitted()
        return view
