"""Incremental PCA, by scikit-learn's conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._core import EigenspaceError, Stream
from ._estimator import Estimator, nothing_to_fit
from ._model import EigenspaceModel, model_of, rank_of, settings
from ._note import is_standardized
from ._rows import array_of, piece_rows, pieces_of, weights_of, whole_of
from ._seen import Seen
from ._view import View


class IncrementalPCA(Estimator):
    """PCA of rows that keep coming, in blocks of any size.

    A drop-in for scikit-learn's class of the same name. Until more rows have come than fit the budget (``max_rank``)
    nothing is dropped and the result equals batch PCA to rounding, however the rows were cut; after that
    ``certificate_`` says how far off it can be. With up to 1,024 features nothing is ever dropped.

    Parameters
    ----------
    n_components : int, float or None
        Components to show: a number, a share of the variance such as 0.95, or all. It can be changed between two calls
        of ``partial_fit``, and is seen from the next one on.
    whiten : bool
        Whether coordinates are divided by their standard deviation.
    copy : bool
        For scikit-learn's sake: the rows are never written to.
    batch_size : int or None
        Rows taken at a time by ``fit``. It makes no difference to the result, unless blocks are forgotten.
    max_rank : int, 'all' or None
        Directions kept from block to block; by default 2 n_components + 32. ``max_rank=n_components`` is the cheapest.
    truncation : str
        Which directions are dropped: 'none', 'rank:100', 'energy:0.99', 'tolerance:1e-6' or 'fd:100'
        (Frequent Directions, with a guarantee on any input).
    standardize : bool
        Whether features are divided by their standard deviation (correlation PCA). The deviations follow the rows.
    forgetting : float, str or None
        How old rows lose weight: 0.99 for each row after them, 'block:0.9' for each block, 'half-life:500' rows.
    missing : str
        What is done with cells that are not a number: 'refuse', 'skip' their rows, or 'impute' from the model.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, var_, noise_variance_,
    n_components_, n_samples_seen_, batch_size_, n_features_in_ : as scikit-learn has them
    model_ : EigenspaceModel
        All that is remembered of the rows; it can be merged, split and saved.
    certificate_ : Certificate
        How exact the components are.
    scale_ : array
        What features are divided by.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenspace import IncrementalPCA
    >>> X = np.random.default_rng(0).normal(size=(1000, 20)) * np.arange(1, 21)
    >>> pca = IncrementalPCA(n_components=3)
    >>> for block in np.array_split(X, 7):
    ...     pca = pca.partial_fit(block)
    >>> pca.transform(X[:2]).shape
    (2, 3)
    >>> pca.certificate_.is_exact
    True
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        max_rank: int | str | None = None,
        truncation: str = "none",
        standardize: bool = False,
        forgetting: float | str | None = None,
        missing: str = "refuse",
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.max_rank = max_rank
        self.truncation = truncation
        self.standardize = standardize
        self.forgetting = forgetting
        self.missing = missing

    @classmethod
    def from_model(cls, model: EigenspaceModel, **params: Any) -> IncrementalPCA:
        """An estimator that goes on from a model, for example a saved one.

        It shows as many components as the model, and is standardised if the command that wrote the model was told so.

        >>> import numpy as np
        >>> from eigenspace import EigenspaceModel, IncrementalPCA
        >>> model = EigenspaceModel.from_rows(np.eye(4))
        >>> IncrementalPCA.from_model(model, n_components=2).partial_fit(np.ones((1, 4))).n_samples_seen_
        5
        """
        params.setdefault("n_components", model_of(model, "model")._core.shown)
        params.setdefault("standardize", is_standardized(model.note))
        estimator = cls(**params)
        chosen = estimator._settings(model.n_features)
        estimator.n_features_in_ = model.n_features
        if model.feature_names is not None:
            estimator.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
        estimator.batch_size_ = estimator._batch_size(model.n_features)
        estimator._seen = Seen(Stream.resume(model._core, chosen), chosen, narrow=False)
        estimator.n_samples_seen_ = model.count
        return estimator

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> IncrementalPCA:
        """Fits to these rows alone; what was seen before is forgotten.

        X is an array of any layout, a memory-mapped one, a data frame, or a sparse matrix, which is not made dense.
        """
        with self._all_or_nothing():
            self.__dict__.pop("_seen", None)
            X = self._checked(X, reset=True, least=1)
            self._absorb(X, sample_weight, whole=False)
            if self.n_samples_seen_ == 0:
                raise nothing_to_fit(X.shape[0])
            return self

    def partial_fit(
        self, X: Any, y: Any = None, check_input: bool = True, sample_weight: ArrayLike | None = None
    ) -> IncrementalPCA:
        """Adds rows: any number, from the first call on."""
        first = not hasattr(self, "_seen")
        with self._all_or_nothing():
            X = self._checked(X, reset=first) if check_input or first else array_of(X)
            return self._absorb(X, sample_weight, whole=True)

    def _absorb(self, X: Any, sample_weight: ArrayLike | None, *, whole: bool) -> IncrementalPCA:
        """Adds checked rows, all or none; they are one block if they are the whole of a call."""
        n, features = X.shape
        weights = weights_of(sample_weight, n)
        chosen = self._settings(features)
        self.batch_size_ = self._batch_size(features)
        seen: Seen | None = getattr(self, "_seen", None)
        if seen is None:
            stream = Stream(features, chosen)
        else:
            stream = seen.stream if seen.settings == chosen else seen.stream.with_settings(chosen)
        size = piece_rows(X)
        if str(self.forgetting).startswith("block:"):
            size = max(n, 1) if whole else self.batch_size_
        if seen is not None and stream is seen.stream and n > size:
            stream = stream.copy()
        for start, end, rows in pieces_of(X, size):
            stream.update(rows, None if weights is None else weights[start:end], start)
        self._seen = Seen(stream, chosen, narrow=X.dtype == np.float32 and (seen is None or seen.narrow))
        self.n_samples_seen_ = stream.count
        return self

    def _view(self) -> View:
        seen: Seen | None = getattr(self, "_seen", None)
        if seen is None or seen.stream.count == 0:
            raise self._not_fitted()
        return seen.view(self.standardize)

    def _settings(self, features: int) -> dict[str, Any]:
        n_components = self._components(features)
        max_rank = rank_of(self.max_rank)
        if isinstance(n_components, int) and max_rank is not None and max_rank < n_components:
            raise EigenspaceError(f"max_rank={self.max_rank} keeps fewer directions than n_components={n_components}")
        return settings(n_components, self.max_rank, self.truncation, forgetting=self.forgetting, missing=self.missing)

    def _batch_size(self, features: int) -> int:
        if self.batch_size is None:
            return 5 * features
        return whole_of(self.batch_size, "batch_size")

    def __copy__(self) -> IncrementalPCA:
        """A copy that goes its own way."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if hasattr(self, "_seen"):
            twin._seen = Seen(self._seen.stream.copy(), self._seen.settings, self._seen.narrow)
        return twin
