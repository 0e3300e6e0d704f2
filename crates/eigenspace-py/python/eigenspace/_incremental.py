"""Incremental PCA with scikit-learn's interface."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import Metadata, Model, Stream
from ._cuda import check_device, is_on_card, load_libraries, rows_at_a_time, rows_on_card
from ._errors import refusal
from ._estimator import Estimator, nothing_to_fit
from ._interrupt import LONG, decomposition, interruptibly
from ._lock import lock_of
from ._model import EigenspaceModel, model_of, refined
from ._rows import array_of, is_dask, is_sparse, piece_rows, pieces_of, rows_of, truth_of, weights_of, whole_of
from ._settings import rank_of, settings
from ._stream_state import StreamState
from ._view import View
from ._warn import warn

FEW = 8
"""At most this many rows are projected without the components, right after other rows were added."""


class IncrementalPCA(Estimator):
    """Incremental PCA with scikit-learn's interface, for blocks of any size.

    A drop-in replacement for scikit-learn's class of the same name. Until directions are dropped
    (see ``max_rank``), the result equals batch PCA up to rounding, however the rows are divided
    into blocks. After that, ``certificate_`` bounds the error. With up to 1,024 features nothing is
    ever dropped (see ``engine``).

    Parameters
    ----------
    n_components : int, float or None
        Number of components, explained variance ratio to reach (such as 0.95), or None for all. A
        change takes effect at the next call of ``partial_fit``.
    whiten : bool
        Divide scores by their standard deviation.
    copy : bool
        Accepted for compatibility with scikit-learn. The rows are never modified.
    batch_size : int or None
        Number of rows in each block of ``fit``. It affects the result only if ``forgetting`` is per
        block.
    max_rank : int, 'all' or None
        Number of directions to keep between blocks; by default 2 k + 32 for k components, or all if
        n_components is None, or if n_components is an integer and ``truncation`` is set.
        ``max_rank=n_components`` is the fastest. It applies only to the factor engine; a warning is
        raised if it has no effect.
    truncation : str
        Which directions to drop: 'none', 'rank:100', 'energy:0.99', 'tolerance:1e-6' or 'fd:100'
        (Frequent Directions, which bounds the error for any rows). Like ``max_rank``, it applies
        only to the factor engine.
    standardize : bool
        Divide features by their standard deviation (correlation PCA). The standard deviations are
        updated with every block.
    forgetting : float, str or None
        How the weight of earlier rows decreases. 0.99: each new row multiplies it by 0.99.
        'block:0.9': each new block multiplies it by 0.9. 'half-life:500': it halves every 500 rows.
    missing : str
        What to do with cells that are NaN: 'refuse' raises an error, 'skip' skips their rows
        (``transform`` returns NaN for them), 'impute' fills them with the model's estimates.
    engine : str
        What is kept between blocks: 'scatter' (the products of all pairs of features, so nothing is
        ever dropped), 'factor' (at most ``max_rank`` directions), or 'auto' (scatter for up to
        1,024 features, or 4,096 on a GPU, otherwise factor).
    weight_kind : str
        Meaning of ``sample_weight``. 'frequency': a weight of 3 counts as three equal rows.
        'reliability': a weight says how much to trust a row relative to the others (use this also
        for weights that sum to one).
    device : str
        Where to compute: 'cpu', 'cuda' or 'cuda:1' (an NVIDIA GPU), or 'auto' (the first GPU if
        there is one and the rows have at least 1,024 features, otherwise the CPU). See docs/GPU.md.
    passes : int
        Number of times that ``fit`` reads the rows. The first pass drops directions on the way. If
        the variances of the directions decrease slowly, as for word counts, the components are then
        inaccurate (see ``certificate_``), and every further pass brings them closer to batch PCA.
        Each pass takes about as long as the first. If nothing was dropped, the rows are read only
        once. ``partial_fit`` sees its rows once; use ``EigenspaceModel.refine`` for another pass.

    Attributes
    ----------
    components_, singular_values_, mean_, var_ : as in scikit-learn
        Components, their singular values, and the mean and variance of each feature.
    explained_variance_, explained_variance_ratio_, noise_variance_ : as in scikit-learn
        Variance and share of the total variance along each component, and the average variance
        along all other directions.
    n_components_, n_samples_seen_, batch_size_, n_features_in_ : as in scikit-learn
        Numbers of components, rows and features.
    model_ : EigenspaceModel
        The model of the rows; it can be updated, merged, split and saved.
    certificate_ : Certificate
        Bounds on the error of the components.
    scale_ : array
        The divisor of each feature.

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
        engine: str = "auto",
        weight_kind: str = "frequency",
        device: str = "cpu",
        passes: int = 1,
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
        self.engine = engine
        self.weight_kind = weight_kind
        self.device = device
        self.passes = passes

    @classmethod
    def from_model(cls, model: EigenspaceModel, **params: Any) -> IncrementalPCA:
        """Create an estimator that continues from a model, for example a saved one.

        By default it has as many components as the model, the same ``weight_kind``, and the same
        setting of ``standardize``. If the model is not centered, new rows are not centered either,
        until the next call of ``fit``.

        >>> import numpy as np
        >>> from eigenspace import EigenspaceModel, IncrementalPCA
        >>> model = EigenspaceModel.fit(np.eye(4))
        >>> IncrementalPCA.from_model(model, n_components=2).partial_fit(np.ones((1, 4))).n_samples_seen_
        5
        """
        params.setdefault("n_components", model_of(model, "model")._core.n_components_setting)
        params.setdefault("standardize", model.metadata.standardize)
        params.setdefault("weight_kind", model.weight_kind)
        estimator = cls(**params)
        chosen = estimator._settings(model.n_features) | {"centered": model.is_centered}
        estimator.n_features_in_ = model.n_features
        if model.feature_names is not None:
            estimator.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
        estimator.batch_size_ = estimator._batch_size(model.n_features)
        stream = interruptibly(
            lambda: Stream.resume(model._core, chosen), decomposition(model._core.rank, model.n_features)
        )
        estimator._warn_if_ignored(stream, model.n_features)
        estimator._stream_state = StreamState(stream, model.n_features, chosen, narrow=False)
        return estimator

    @property
    def n_samples_seen_(self) -> int:
        """Rows absorbed so far."""
        state: StreamState | None = getattr(self, "_stream_state", None)
        if state is None:
            raise self._not_fitted()
        return state.stream.count

    @n_samples_seen_.setter
    def n_samples_seen_(self, count: float) -> None:
        """Ignore the value. Programs written for scikit-learn set it; here the rows are counted."""

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> IncrementalPCA:
        """Fit the model to these rows alone; rows of earlier calls are discarded.

        X is an array of any layout, a memory-mapped array, a data frame, or a sparse matrix, which
        is not made dense. It can also be a Dask array or data frame, whose blocks are absorbed where
        they are and merged (see eigenspace.dask).
        """
        self._check_flags()
        with self._all_or_nothing():
            passes = self._passes()
            if passes > 1 and (is_dask(X) or is_on_card(X)):
                words = f"cannot read the rows {passes} times: they are in Dask blocks or on a CUDA device"
                raise refusal(words, "set passes=1, or pass a numpy array")
            if is_dask(X):
                self._stream_state = self._merged(X, sample_weight)
                return self
            if is_on_card(X):
                self._stream_state = self._absorbed_on_card(None, X, sample_weight, whole=False)
                return self
            X = self._checked(X, reset=True, least=1)
            self._stream_state = self._absorbed(None, X, sample_weight, whole=False)
            if self.n_samples_seen_ == 0:
                raise nothing_to_fit(X.shape[0], self.missing)
            if self.missing == "impute":
                self._view()  # raises an error if a column has no value that its cells can be filled with
            if passes > 1:
                self._stream_state = self._refined(self._stream_state, X, sample_weight, passes)
            return self

    def partial_fit(
        self, X: Any, y: Any = None, check_input: bool = True, sample_weight: ArrayLike | None = None
    ) -> IncrementalPCA:
        """Add any number of rows to the model.

        The blocks of a Dask array or data frame are absorbed where they are, and their model is merged with this one.
        """
        with self._all_or_nothing():
            state: StreamState | None = getattr(self, "_stream_state", None)
            if is_dask(X):
                self._stream_state = self._merged(X, sample_weight, state)
                return self
            if is_on_card(X):
                self._stream_state = self._absorbed_on_card(state, X, sample_weight, whole=True)
                return self
            X = self._checked(X, reset=state is None) if check_input or state is None else array_of(X)
            self._stream_state = self._absorbed(state, X, sample_weight, whole=True)
            return self

    def _absorbed(
        self, state: StreamState | None, X: Any, sample_weight: ArrayLike | None, *, whole: bool
    ) -> StreamState:
        """Absorb checked rows, all or none. If ``whole``, the rows of the call are one block."""
        n, features = X.shape
        weights = weights_of(sample_weight, n)
        chosen = self._settings(features) | ({} if state is None else {"centered": state.settings["centered"]})
        self.batch_size_ = self._batch_size(features)
        size = piece_rows(X) if self.device == "cpu" else rows_at_a_time(X)
        if str(self.forgetting).startswith("block:"):
            size = max(n, 1) if whole else self.batch_size_
        # A card takes less time than starting a thread, and its updates succeed or fail as a whole.
        cost = decomposition(min(n, size), features) if self.device == "cpu" else 0
        if state is None:
            at_hand = 0 if whole or is_sparse(X) else n
            if not whole and is_sparse(X) and Stream.iterates(n, features, True, chosen):
                return self._at_once(X, weights, chosen)
            stream = Stream(features, chosen, at_hand).with_metadata(self._metadata())
            self._warn_if_ignored(stream, features)
        elif state.settings != chosen:
            held = decomposition(min(state.stream.count, state.held), features)
            stream = interruptibly(lambda: state.stream.with_settings(chosen), held)
            self._warn_if_ignored(stream, features)
        elif n > size or cost >= LONG:
            stream = state.stream.copy()  # an interruption must leave the original unchanged
        else:
            stream = state.stream
        for start, end, rows in pieces_of(X, size):
            part = None if weights is None else weights[start:end]
            interruptibly(partial(stream.update, rows, part, start), cost)
        return StreamState(stream, features, chosen, narrow=X.dtype == np.float32 and (state is None or state.narrow))

    def _absorbed_on_card(
        self, state: StreamState | None, X: Any, sample_weight: ArrayLike | None, *, whole: bool
    ) -> StreamState:
        """Absorb rows that are in the memory of a CUDA device, all or none."""
        check_device(self.device)
        if sample_weight is not None:
            raise refusal("rows on a CUDA device cannot have weights", "move the rows to the CPU to use sample_weight")
        address, n, features, narrow = rows_on_card(X)
        if state is None:
            self.n_features_in_ = features
        elif features != state.features:
            words = (
                f"X has {features} features, but {type(self).__name__} is expecting {state.features} features as input"
            )
            raise refusal(words, f"pass rows with exactly {state.features} columns")
        chosen = self._settings(features) | ({} if state is None else {"centered": state.settings["centered"]})
        self.batch_size_ = self._batch_size(features)
        if state is None:
            stream = Stream(features, chosen, 0 if whole else n).with_metadata(self._metadata())
            self._warn_if_ignored(stream, features)
        else:
            stream = state.stream if state.settings == chosen else state.stream.with_settings(chosen)
        stream.update_from_card(address, n, features, narrow)
        return StreamState(stream, features, chosen, narrow=narrow and (state is None or state.narrow))

    def _passes(self) -> int:
        """Return the number of passes after checking it."""
        passes = whole_of(self.passes, "passes")
        if passes > 1 and self.forgetting not in (None, "never", 1):
            words = f"cannot read the rows {passes} times with forgetting: their weights depend on the order"
            raise refusal(words, "set passes=1, or omit forgetting")
        if passes > 1 and self.missing == "impute":
            reason = "each pass would fill in different numbers"
            words = f"cannot read the rows {passes} times with missing='impute': {reason}"
            raise refusal(words, "set passes=1, or missing='skip'")
        return passes

    def _refined(self, state: StreamState, X: Any, sample_weight: ArrayLike | None, passes: int) -> StreamState:
        """Read the rows again, and continue from the more accurate model."""
        weights = weights_of(sample_weight, X.shape[0])
        if state.stream.engine == "scatter":
            return state  # nothing is ever dropped
        cost = decomposition(min(X.shape[0], state.held), state.features)
        # A copy, because a stream whose model was read once answers all later reads from it.
        model = interruptibly(state.stream.copy().model, cost)
        if model.certificate().is_exact or not model.certificate().is_proven:
            return state  # nothing was dropped, or the rows were read until the components had converged
        for _ in range(passes - 1):
            model = refined(model, X, weights, self.missing)
        stream = Stream.resume(model, state.settings).with_metadata(self._metadata())
        return StreamState(stream, state.features, state.settings, narrow=state.narrow)

    def _at_once(self, X: Any, weights: Any, chosen: dict[str, Any]) -> StreamState:
        """Fit sparse rows that are available as a whole iteratively: one pass would not find the directions."""
        rows, metadata = rows_of(X), self._metadata()
        work = partial(Model.fit_at_once, rows, weights, chosen, metadata)
        model = interruptibly(work, decomposition(1000, X.shape[1]))
        stream = Stream.resume(model, chosen).with_metadata(metadata)
        return StreamState(stream, X.shape[1], chosen, narrow=X.dtype == np.float32)

    def _merged(self, X: Any, sample_weight: Any, state: StreamState | None = None) -> StreamState:
        """Fit the blocks of a Dask collection where they are, and add the rows of the state."""
        if self.forgetting not in (None, "never", 1):
            words = "forgetting is not available for Dask collections, because it depends on the order of all rows"
            raise refusal(words, "compute the blocks one after another, and pass each to partial_fit")
        if state is not None and not state.settings["centered"]:
            words = "cannot add the blocks of a Dask collection to a model that is not centered: blocks are centered"
            raise refusal(words, "compute the blocks one after another, and pass each to partial_fit")
        names = ("max_rank", "truncation", "standardize", "missing", "engine", "weight_kind")
        options = {name: getattr(self, name) for name in names}
        model = self._of_dask(X, sample_weight, reset=state is None, **options)
        features = self.n_features_in_
        self.batch_size_ = self._batch_size(features)
        chosen = self._settings(features)
        narrow = hasattr(X, "dtype") and X.dtype == np.float32
        if state is not None and state.stream.count > 0:
            cost = decomposition(min(state.stream.count, state.held), features)
            model = EigenspaceModel._of(interruptibly(state.stream.model, cost)).merge(model)
            narrow = narrow and state.narrow
        stream = Stream.resume(model._core, chosen).with_metadata(self._metadata())
        return StreamState(stream, features, chosen, narrow=narrow)

    def _view(self) -> View:
        state: StreamState | None = getattr(self, "_stream_state", None)
        if state is None or state.stream.count == 0:
            raise self._not_fitted()
        view = state.view(truth_of(self.standardize, "standardize"))
        self._warn_if_fewer(view)
        return view

    def _scores_of_few(self, X: Any) -> NDArray[Any] | None:
        state: StreamState | None = getattr(self, "_stream_state", None)
        if state is None or self.standardize or self.whiten or self.missing != "refuse":
            return None
        plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float64, np.float32)
        if not plain or not 0 < len(X) <= FEW or X.shape[1] != state.features or hasattr(self, "feature_names_in_"):
            return None  # columns are compared with names, and rows checked, on the usual path
        return state.scores_of_few(X)

    def _warn_if_ignored(self, stream: Stream, features: int) -> None:
        """Warn about settings that the scatter engine ignores because it drops nothing."""
        if stream.engine != "scatter":
            return
        rank = rank_of(self.max_rank)
        ignored = [f"max_rank={self.max_rank}"] if isinstance(rank, int) and rank < features else []
        if self.truncation not in (None, "none"):
            ignored.append(f"truncation={self.truncation!r}")
        if ignored:
            have = "have" if len(ignored) > 1 else "has"
            warn(
                f"{' and '.join(ignored)} {have} no effect: the scatter engine is used, which never drops a direction. "
                "Pass engine='factor' to limit the number of directions."
            )

    def _settings(self, features: int) -> dict[str, Any]:
        self._check_flags()
        if self.device != "cpu":
            load_libraries()
        n_components = self._components(features)
        max_rank = rank_of(self.max_rank)
        if isinstance(n_components, int) and isinstance(max_rank, int) and max_rank < n_components:
            words = f"invalid max_rank={self.max_rank}: expected at least n_components={n_components}"
            raise refusal(words, f"pass max_rank={n_components} or more, or a smaller n_components")
        return settings(
            n_components,
            self.max_rank,
            self.truncation,
            engine=self.engine,
            forgetting=self.forgetting,
            missing=self.missing,
            standardize=bool(self.standardize),
            weight_kind=self.weight_kind,
            device=self.device,
        )

    def _metadata(self) -> Metadata:
        """Return the metadata of the models of a new stream."""
        return Metadata(self._column_names(), standardize=bool(self.standardize))

    def _batch_size(self, features: int) -> int:
        if self.batch_size is None:
            return 5 * features
        return whole_of(self.batch_size, "batch_size")

    def __copy__(self) -> IncrementalPCA:
        """Return an independent copy."""
        with lock_of(self):
            twin = type(self).__new__(type(self))
            twin.__dict__.update(self.__dict__)
            if hasattr(self, "_stream_state"):
                state = self._stream_state
                twin._stream_state = StreamState(state.stream.copy(), state.features, state.settings, state.narrow)
            return twin
