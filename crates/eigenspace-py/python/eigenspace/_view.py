"""The attributes of an estimator, computed from its model.

    z = ((x - mean_) / scale_) components_ᵀ          scale_ is 1 unless standardized

scikit-learn's estimators always have as many components as requested, even if the rows vary in
fewer directions. Here the extra components are orthogonal to the others and have no variance: their
singular values and their whitened scores are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Model
from ._cuda import load_libraries, rows_at_a_time, rows_on_card
from ._interrupt import READ_AT_MOST, decomposition, interruptibly, writing
from ._model import reconstructed
from ._rows import dense_pieces_of, piece_rows, pieces_of, rows_of

Floats = NDArray[np.float64]


def fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only, because changing it would not change the model."""
    array.flags.writeable = False
    return array


class View:
    """The attributes of a model, each computed by the library when it is first read."""

    def __init__(
        self,
        raw: Model,
        n_components: int | float | None,
        *,
        standardize: bool,
        narrow: bool,
        whole: Callable[[], Model] | None = None,
    ) -> None:
        self.raw = raw
        self._whole = whole
        self.n_components = n_components
        self.standardize = standardize
        self.narrow = narrow
        self.warned = False
        self._on: tuple[str, _core.View] | None = None
        self.features = raw.features
        cost = decomposition(raw.rank, raw.features)
        native = interruptibly(lambda: _core.View(raw, standardize), cost)
        self.real = native.n_components
        if isinstance(n_components, float):
            self.reported = max(self.real, 1)
        else:
            rows = max(raw.count, int(raw.weight))  # a row of weight 2 counts as two rows
            self.reported = min(rows if n_components is None else n_components, self.features)
        self.native = native.at_least(self.reported)

    def __getstate__(self) -> dict[str, Any]:
        settings = {"n_components": self.n_components, "standardize": self.standardize, "narrow": self.narrow}
        model = self.remembered
        data = interruptibly(model.to_bytes, writing(model.rank * self.features))
        return {"model": data, **settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings = dict(state)
        data = settings.pop("model")
        raw = interruptibly(lambda: Model.from_bytes(data), writing(len(data) // 8))
        self.__init__(raw, **settings)  # type: ignore[misc]

    @cached_property
    def remembered(self) -> Model:
        """The model with all directions; `raw` may have only the components."""
        if self._whole is None:
            return self.raw
        return interruptibly(self._whole, decomposition(min(self.raw.count, READ_AT_MOST), self.features))

    @cached_property
    def whole(self) -> Model:
        """The model with all directions, standardized if the estimator is."""
        return self.native.model() if self.standardize else self.remembered

    @cached_property
    def mean(self) -> Floats:
        return fixed(self.raw.mean())

    @cached_property
    def variance(self) -> Floats:
        return fixed(self.raw.feature_variance(0.0))

    @cached_property
    def scale(self) -> Floats:
        scales = self.native.scales()
        return fixed(np.ones(self.features) if scales is None else 1.0 / scales)

    @cached_property
    def components(self) -> NDArray[Any]:
        components = interruptibly(self.native.components, self.reported**2 * self.features)
        return fixed(components.astype(np.float32) if self.narrow else components)

    @cached_property
    def singular_values(self) -> Floats:
        return fixed(self.native.singular_values())

    @cached_property
    def explained_variance(self) -> Floats:
        return fixed(self.native.explained_variance())

    @cached_property
    def explained_variance_ratio(self) -> Floats:
        return fixed(self.native.explained_variance_ratio())

    @cached_property
    def noise_variance(self) -> float:
        return self.native.noise_variance()

    def on(self, device: str) -> _core.View:
        """Return the native view that computes on a device."""
        if device == "cpu":
            return self.native
        if self._on is None or self._on[0] != device:
            load_libraries()
            self._on = (device, self.native.on(device))
        return self._on[1]

    def project_from_card(self, X: Any, device: str, *, whiten: bool) -> NDArray[Any]:
        """Return the scores of rows in the memory of a CUDA device, in their precision."""
        address, n, features, narrow = rows_on_card(X)
        Z = self.on(device).project_from_card(address, n, features, narrow, bool(whiten))
        return Z.astype(np.float32) if narrow else Z

    def project(self, X: Any, *, whiten: bool, missing: str, device: str = "cpu") -> NDArray[Any]:
        """Return the scores of the rows of a checked array, in their precision.

        Rows with missing cells are filled first, or get NaN scores, depending on ``missing``.
        """
        n, native = X.shape[0], self.on(device)
        size = piece_rows(X, in_place=missing == "refuse") if device == "cpu" else rows_at_a_time(X)
        if n <= size:
            rows = rows_of(X)
            work = partial(native.project, rows, bool(whiten), missing)
            return interruptibly(work, n * self.features * self.reported)
        Z = np.empty((n, self.reported), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        for start, end, rows in pieces_of(X, size):
            work = partial(native.project, rows, bool(whiten), missing, start)
            Z[start:end] = interruptibly(work, (end - start) * self.features * self.reported)
        return Z

    def left_singular_vectors(self, X: Any, missing: str) -> NDArray[Any]:
        """Return the left singular vectors of the rows of a checked array, in their precision."""
        U = np.empty((X.shape[0], self.reported), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        for start, end, rows in pieces_of(X):
            work = partial(self.native.left_singular_vectors, rows, missing, start)
            U[start:end] = interruptibly(work, (end - start) * self.features * self.reported)
        return U

    def readings(self, X: Any, missing: str) -> tuple[Floats, Floats]:
        """Return T² and Q of each row of a checked array, standardized if the estimator is."""
        hotelling, distance = np.empty(X.shape[0]), np.empty(X.shape[0])
        for start, end, rows in dense_pieces_of(X):
            work = partial(self.native.readings, rows, missing)
            cost = (end - start) * self.features * self.real
            hotelling[start:end], distance[start:end] = interruptibly(work, cost)
        return hotelling, distance

    def reconstruct(self, Z: Any, *, whiten: bool, device: str = "cpu") -> NDArray[Any]:
        """Reconstruct rows from their scores, in the precision of the scores."""
        return reconstructed(partial(self.on(device).reconstruct, whiten=bool(whiten)), Z, self.features)

    def covariance(self) -> Floats:
        return interruptibly(self.native.covariance, self.features**2 * self.reported)

    def precision(self) -> Floats:
        return interruptibly(self.native.precision, self.features**2 * self.reported)

    def log_likelihood(self, X: Any, missing: str) -> Floats:
        """Return the log-likelihood of each row under a normal distribution (probabilistic PCA)."""
        likelihood = np.empty(X.shape[0])
        for start, end, rows in dense_pieces_of(X):
            work = partial(self.native.log_likelihood, rows, missing)
            likelihood[start:end] = interruptibly(work, (end - start) * self.features * self.real)
        return likelihood
