"""Batch PCA with scikit-learn's interface."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._core import Metadata, Model, Stream
from ._core import View as NativeView
from ._errors import refusal
from ._estimator import Estimator, nothing_to_fit
from ._interrupt import decomposition, interruptibly
from ._metadata import described
from ._model import EigenspaceModel
from ._rows import is_dask, is_sparse, pieces_of, weights_of, word_of
from ._settings import settings
from ._stream_state import StreamState
from ._view import View

MLE = "mle"
SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
"""scikit-learn's names of its solvers."""


class PCA(Estimator):
    """Batch PCA with scikit-learn's interface.

    Parameters
    ----------
    n_components : int, float, 'mle' or None
        Number of components, explained variance ratio to reach (such as 0.95), or None for all.
        'mle' chooses the number with the largest evidence by Minka's method and needs at least as
        many rows as features.
    whiten : bool
        Divide scores by their standard deviation.
    copy : bool
        Accepted for compatibility with scikit-learn. The rows are never modified.
    method : str
        'auto', 'svd' (thin singular value decomposition), 'covariance' (eigendecomposition of the
        feature covariance), 'gram' (eigendecomposition of the inner products of the rows, for
        fewer rows than features), or 'iterative' (block Lanczos, for far fewer components than
        rows and features; sparse rows stay sparse). All give the same components up to very
        small errors, and every run gives identical results. 'auto' selects 'iterative' for sparse
        rows, and for dense rows if it is faster. After an iterative fit, ``model_`` keeps only the
        requested components, and the certificate states the probability that its bounds hold.
    standardize : bool
        Divide features by their standard deviation (correlation PCA).
    weight_kind : str
        Meaning of ``sample_weight``. 'frequency': a weight of 3 counts as three equal rows.
        'reliability': a weight says how much to trust a row relative to the others (use this also
        for weights that sum to one).
    svd_solver : str
        Any of scikit-learn's values, accepted for compatibility. It has no effect; ``method``
        selects the algorithm.
    tol, iterated_power, n_oversamples, power_iteration_normalizer, random_state
        Accepted for compatibility with scikit-learn and ignored: they configure solvers that do
        not exist here.

    Attributes
    ----------
    components_, singular_values_, mean_ : as in scikit-learn
        Components, their singular values, and the mean of each feature.
    explained_variance_, explained_variance_ratio_, noise_variance_ : as in scikit-learn
        Variance and share of the total variance along each component, and the average variance
        along all other directions.
    n_components_, n_samples_, n_features_in_ : as in scikit-learn
        Numbers of components, rows and features.
    model_ : EigenspaceModel
        The fitted model, with all directions unless it was fitted iteratively. It can be updated,
        merged, split and saved.

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
        """Fit the model to these rows.

        X is an array of any layout, a data frame, a sparse matrix, or a Dask array or data frame. The blocks of
        Dask are absorbed where they are and merged, and nothing is dropped: with n rows and more than 1,024 features,
        what is sent and merged has min(n, n_features) rows.
        """
        self._check_flags()
        if self.svd_solver not in SOLVERS:
            words = f"invalid svd_solver {self.svd_solver!r}: expected one of {', '.join(SOLVERS)}"
            raise refusal(words, "omit svd_solver: it has no effect on the result")
        with self._all_or_nothing():
            if is_dask(X):
                self._fitted = self._merged(X, sample_weight)
                self.n_samples_ = self._fitted.raw.count
                self._warn_if_fewer(self._fitted)
                return self
            X = self._checked(X, reset=True, least=1)
            rows, features = X.shape
            components = self._components(features)
            rank = self._few(rows, features, components, is_sparse(X))
            held = self.method == "auto" and not self.standardize and Model.is_held(rows, features, is_sparse(X))
            if rank is None and held and isinstance(components, int):
                view = self._held(X, components, sample_weight)
            else:
                method, names = word_of(self.method, "method"), self._column_names()
                model = EigenspaceModel._fitted(X, names, rank, sample_weight, method)._core
                model = model.with_weight_kind(word_of(self.weight_kind, "weight_kind"))
                if model.count == 0:
                    raise nothing_to_fit(rows)
                components = self._likeliest(model) if self.n_components == MLE else components
                model = described(
                    model.with_components(components), self._column_names(), standardize=bool(self.standardize)
                )
                view = View(model, components, standardize=self.standardize, narrow=X.dtype == np.float32)
            self._fitted = view
            self.n_samples_ = view.raw.count
            self._warn_if_fewer(view)
        return self

    def _merged(self, X: Any, sample_weight: Any) -> View:
        """Fit the blocks of a Dask collection where they are."""
        if self.method not in ("auto", "covariance"):
            words = f"method={self.method!r} is not available for Dask collections"
            raise refusal(words, "omit the method, or compute the rows first")
        options: dict[str, Any] = {"standardize": bool(self.standardize), "weight_kind": self.weight_kind}
        # Accumulators that know the number of components drop directions.
        model = self._of_dask(X, sample_weight, every=True, **options)._core
        components = self._likeliest(model) if self.n_components == MLE else self._components(self.n_features_in_)
        model = described(model.with_components(components), self._column_names(), standardize=bool(self.standardize))
        return View(model, components, standardize=self.standardize, narrow=getattr(X, "dtype", None) == np.float32)

    def _few(self, rows: int, features: int, components: Any, sparse: bool) -> int | None:
        """Return the number of directions of an iterative fit; None if all directions are computed."""
        if not isinstance(components, int) or self.standardize or self.n_components == MLE:
            return None
        if self.method == "iterative":
            return components
        return components if self.method == "auto" and Model.iterates(rows, features, components, sparse) else None

    def _components(self, features: int) -> int | float | None:
        if isinstance(self.n_components, str) and self.n_components == MLE:
            return None
        return super()._components(features)

    def _likeliest(self, model: Model) -> int:
        """Return the number of components with the largest evidence."""
        rows, features = model.count, model.features
        if rows < features:
            words = f"n_components='mle' is only supported if n_samples >= n_features: {rows} rows, {features} features"
            raise refusal(words, "pass a number, or an explained variance ratio such as 0.95")
        if self.standardize:
            model = NativeView(model, standardize=True).model()
        return interruptibly(model.likeliest_components, 8 * features**2)

    def _held(self, X: Any, components: int, sample_weight: ArrayLike | None) -> View:
        """Return the view of a few wide rows, which are kept as they are until all directions are needed."""
        chosen = settings(components, "all", engine="factor", weight_kind=self.weight_kind) | {
            "block_rows": max(X.shape[0], 1)
        }
        weights = weights_of(sample_weight, X.shape[0])
        rows, features = X.shape
        stream = Stream(features, chosen).with_metadata(Metadata(self._column_names()))
        for start, end, piece in pieces_of(X):
            part = None if weights is None else weights[start:end]
            interruptibly(partial(stream.update, piece, part, start), decomposition(end - start, features))
        if stream.count == 0:
            raise nothing_to_fit(rows)
        return StreamState(stream, features, chosen, narrow=X.dtype == np.float32).view(False, once=True)

    def _view(self) -> View:
        view: View | None = getattr(self, "_fitted", None)
        if view is None:
            raise self._not_fitted()
        return view
