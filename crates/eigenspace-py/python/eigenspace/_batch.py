"""Batch PCA, by scikit-learn's conventions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._core import Model, Stream
from ._errors import refusal
from ._estimator import Estimator, nothing_to_fit
from ._interrupt import decomposition, interruptibly
from ._minka import dimension
from ._model import EigenspaceModel, settings
from ._rows import is_sparse, pieces_of, weights_of
from ._seen import Seen
from ._view import View

WIDE = 1024
"""Features from which a decomposition costs more than looking at the rows."""

MLE = "mle"
SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
"""scikit-learn's words for the way to the answer."""


class PCA(Estimator):
    """PCA of rows that are all there.

    Parameters
    ----------
    n_components : int, float, 'mle' or None
        Components to show: a number, a share of the variance such as 0.95, the number with the largest evidence by
        Minka's method ('mle', for at least as many rows as features), or all.
    whiten : bool
        Whether coordinates are divided by their standard deviation.
    copy : bool
        For scikit-learn's sake: the rows are never written to.
    method : str
        'auto', 'svd' (thin singular value decomposition), 'covariance' (eigenproblem of the features), or
        'gram' (eigenproblem of the rows, for fewer rows than features). All give the same answer, and none is random.
    standardize : bool
        Whether features are divided by their standard deviation (correlation PCA).
    weight_kind : str
        What ``sample_weight`` means: 'frequency', a weight of 3 is three equal rows, or 'reliability', how much a row
        is to be trusted beside the others (also for weights that sum to one).
    svd_solver : str
        For scikit-learn's sake, any of its words: the answer is always that of a full decomposition. The way it is
        found is ``method``.
    tol, iterated_power, n_oversamples, power_iteration_normalizer, random_state
        For scikit-learn's sake: settings of solvers that approximate or are random, and none here is.

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
        n_components: int | float | str | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        method: str = "auto",
        standardize: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        weight_kind: str = "frequency",
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.method = method
        self.standardize = standardize
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.weight_kind = weight_kind

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> PCA:
        """Fits to these rows."""
        if self.svd_solver not in SOLVERS:
            words = f"invalid svd_solver {self.svd_solver!r}: expected one of {', '.join(SOLVERS)}"
            raise refusal(words, "leave it out: it has no effect on the answer")
        with self._all_or_nothing():
            X = self._checked(X, reset=True, least=1)
            rows, features = X.shape
            shown = self._components(features)
            wide = features > WIDE and 2 * rows <= features and not is_sparse(X)
            if wide and isinstance(shown, int) and self.method == "auto" and not self.standardize:
                view = self._held(X, shown, sample_weight)
            else:
                model = EigenspaceModel.from_rows(X, weights=sample_weight, method=self.method)._core
                model = model.with_weight_kind(self.weight_kind)
                if model.count == 0:
                    raise nothing_to_fit(rows)
                shown = self._likeliest(model) if self.n_components == MLE else shown
                model = model.with_components(shown)
                view = View(model, shown, standardize=self.standardize, narrow=X.dtype == np.float32)
            self._fitted = view
            self.n_samples_ = view.raw.count
            self._warn_if_fewer(view)
        return self

    def _components(self, features: int) -> int | float | None:
        if isinstance(self.n_components, str) and self.n_components == MLE:
            return None
        return super()._components(features)

    def _likeliest(self, model: Model) -> int:
        """The number of components with the largest evidence."""
        rows, features = model.count, model.features
        if rows < features:
            words = f"n_components='mle' is only supported if n_samples >= n_features: {rows} rows, {features} features"
            raise refusal(words, "pass a number, or a share of the variance such as 0.95")
        if model.weight <= 1:
            return 1
        if self.standardize:
            model = model.standardize().model()
        variances = np.zeros(features)
        variances[: model.rank] = model.singular_values() ** 2 / (model.weight - 1)
        return dimension(variances, model.weight)

    def _held(self, X: Any, shown: int, sample_weight: ArrayLike | None) -> View:
        """The view of few wide rows: they are held as they are until somebody asks for all of their directions."""
        chosen = settings(shown, "all", engine="factor", weight_kind=self.weight_kind) | {
            "block_rows": max(X.shape[0], 1)
        }
        weights = weights_of(sample_weight, X.shape[0])
        rows, features = X.shape
        stream = Stream(features, chosen)
        for start, end, piece in pieces_of(X):
            part = None if weights is None else weights[start:end]
            interruptibly(partial(stream.update, piece, part, start), decomposition(end - start, features))
        if stream.count == 0:
            raise nothing_to_fit(rows)
        return Seen(stream, features, chosen, narrow=X.dtype == np.float32).view(standardize=False)

    def _view(self) -> View:
        view: View | None = getattr(self, "_fitted", None)
        if view is None:
            raise self._not_fitted()
        return view
