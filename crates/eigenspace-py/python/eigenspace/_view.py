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

from ._core import Model
from ._interrupt import READ_AT_MOST, decomposition, interruptibly, writing
from ._model import reconstructed
from ._rows import dense_pieces_of, is_sparse, pieces_of

Floats = NDArray[np.float64]


def fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only, because changing it would not change the model."""
    array.flags.writeable = False
    return array


class View:
    """The attributes of a model, each computed when it is first read."""

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
        self.narrow = narrow
        self.warned = False
        cost = decomposition(raw.rank, raw.features)
        self.scaled = interruptibly(raw.standardize, cost) if standardize else None
        self.model = raw if self.scaled is None else self.scaled.model()
        self.real = self.model.n_components
        self.features = raw.features
        if isinstance(n_components, float):
            self.shown = max(self.real, 1)
        else:
            rows = max(raw.count, int(raw.weight))  # a row of weight 2 counts as two rows
            self.shown = min(rows if n_components is None else n_components, self.features)

    def __getstate__(self) -> dict[str, Any]:
        standardize = self.scaled is not None
        settings = {"n_components": self.n_components, "standardize": standardize, "narrow": self.narrow}
        model = self.remembered
        data = interruptibly(lambda: model.to_bytes(""), writing(model.rank * self.features))
        return {"model": data, **settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings = dict(state)
        data = settings.pop("model")
        raw, _ = interruptibly(lambda: Model.from_bytes(data), writing(len(data) // 8))
        self.__init__(raw, **settings)  # type: ignore[misc]

    @cached_property
    def remembered(self) -> Model:
        """The model with all directions; `raw` may have only the components."""
        if self._whole is None:
            return self.raw
        return interruptibly(self._whole, decomposition(min(self.raw.count, READ_AT_MOST), self.features))

    @property
    def whole(self) -> Model:
        """The model with all directions, standardized if the estimator is."""
        return self.model if self.scaled is not None else self.remembered

    @cached_property
    def mean(self) -> Floats:
        return fixed(self.raw.mean())

    @cached_property
    def variance(self) -> Floats:
        return fixed(self.raw.feature_variance(0.0))

    @cached_property
    def scale(self) -> Floats:
        return fixed(np.ones(self.features) if self.scaled is None else 1.0 / self.scaled.scales())

    @cached_property
    def idle(self) -> Floats:
        """Directions without variance, orthogonal to the others."""
        return completion(self.model.basis()[: self.real], self.shown - self.real)

    @cached_property
    def components(self) -> NDArray[Any]:
        components = np.vstack([self.model.basis()[: self.real], self.idle])
        return fixed(components.astype(np.float32) if self.narrow else components)

    @cached_property
    def singular_values(self) -> Floats:
        return self._padded(self.model.singular_values()[: self.real])

    @cached_property
    def explained_variance(self) -> Floats:
        # A single row has no variance. Several rows of too little total weight raise an error.
        return self._padded(self.model.explained_variance(1.0) if self.raw.count > 1 else np.zeros(self.real))

    @cached_property
    def explained_variance_ratio(self) -> Floats:
        return self._padded(self.model.explained_variance_ratio())

    @cached_property
    def noise_variance(self) -> float:
        if self.shown == self.features or self.raw.count <= 1:
            return 0.0
        return self.model.noise_variance() * (self.features - self.real) / (self.features - self.shown)

    @cached_property
    def deviation(self) -> Floats:
        return np.sqrt(self.explained_variance)

    def _padded(self, values: Floats) -> Floats:
        return fixed(np.concatenate([values, np.zeros(self.shown - self.real)]))

    def project(self, X: Any, *, whiten: bool, missing: str) -> NDArray[Any]:
        """Return the scores of the rows of a checked array, in their precision.

        Rows with missing cells are filled first, or get NaN scores, depending on ``missing``.
        """
        engine = self.model if self.scaled is None else self.scaled
        narrow = X.dtype == np.float32
        Z = np.empty((X.shape[0], self.shown), dtype=np.float32 if narrow else np.float64)
        skipped = np.zeros(X.shape[0], dtype=bool)
        for start, end, rows in pieces_of(X):
            if missing != "refuse" and not isinstance(rows, tuple):
                rows, skipped[start:end] = self.filled(rows, missing)
            work = partial(engine.project, rows, start)
            Z[start:end, : self.real] = interruptibly(work, (end - start) * self.features * self.real)
            if self.real < self.shown:
                dense = X[start:end] if is_sparse(X) else rows
                turned = (self.idle / self.scale).T
                Z[start:end, self.real :] = dense @ turned - self.mean @ turned
        if whiten:
            deviation = self.deviation.astype(Z.dtype)
            Z = np.divide(Z, deviation, out=np.zeros_like(Z), where=deviation > 0)
        Z[skipped] = np.nan
        return Z

    def filled(self, rows: NDArray[Any], missing: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return rows without missing cells, and a mask of those to skip."""
        holes = np.isnan(rows).any(axis=1)
        if not holes.any():
            return rows, holes
        cost = len(rows) * self.real**2 * (self.features + self.real)
        whole = interruptibly(lambda: self.raw.fill_missing(np.asarray(rows, dtype=np.float64)), cost)
        return whole.astype(rows.dtype), holes & (missing == "skip")

    def readings(self, X: Any, missing: str) -> tuple[Floats, Floats]:
        """Return T² and Q of each row of a checked array, standardized if the estimator is."""
        hotelling, distance = np.empty(X.shape[0]), np.empty(X.shape[0])
        for start, end, rows in dense_pieces_of(X):
            skipped = np.zeros(len(rows), dtype=bool)
            if missing != "refuse":
                rows, skipped = self.filled(rows, missing)
            rows = rows / self.scale
            cost = (end - start) * self.features * self.real
            hotelling[start:end] = interruptibly(partial(self.model.hotelling, rows), cost)
            distance[start:end] = interruptibly(partial(self.model.squared_distance, rows), cost)
            hotelling[start:end][skipped] = distance[start:end][skipped] = np.nan
        return hotelling, distance

    def reconstruct(self, Z: Any, *, whiten: bool) -> NDArray[Any]:
        """Reconstruct rows from their scores, in the precision of the scores."""
        engine = self.model if self.scaled is None else self.scaled

        def reconstruct(Z: NDArray[Any]) -> NDArray[Any]:
            if whiten:
                Z = Z * self.deviation.astype(Z.dtype)
            rows = engine.reconstruct(Z[:, : self.real])
            if self.real < self.shown:
                rows += (Z[:, self.real :] @ (self.idle * self.scale)).astype(rows.dtype)
            return rows

        return reconstructed(reconstruct, Z, self.features)

    def covariance(self) -> Floats:
        def covariance() -> Floats:
            components = np.vstack([self.model.basis()[: self.real], self.idle])
            covariance: Floats = (components.T * (self.explained_variance - self.noise_variance)) @ components
            covariance.flat[:: self.features + 1] += self.noise_variance
            return covariance

        return interruptibly(covariance, self.features**2 * self.shown)

    def precision(self) -> Floats:
        return interruptibly(self.model.precision, self.features**2 * self.shown)

    def log_likelihood(self, X: Any, missing: str) -> Floats:
        """Return the log-likelihood of each row under a normal distribution (probabilistic PCA)."""
        hidden, noise = self.features - self.real, self.noise_variance
        if hidden and noise <= 0:
            self.precision()  # raises an error that gives the reason
        ranges, distance = self.readings(X, missing)
        logarithms = np.log(self.explained_variance[: self.real]).sum()
        if hidden:
            ranges += distance / noise
            logarithms += hidden * np.log(noise)
        likelihood: Floats = -0.5 * (self.features * np.log(2 * np.pi) + logarithms + ranges)
        return likelihood


def completion(basis: Floats, number: int) -> Floats:
    """Return orthonormal rows orthogonal to a basis, each as close as possible to one feature axis."""
    features = basis.shape[1]
    found = np.empty((number, features))
    outside = 1.0 - np.square(basis).sum(axis=0)
    for i in range(number):
        feature = int(np.argmax(outside))
        row = np.zeros(features)
        row[feature] = 1.0
        for _ in range(2):  # the second pass removes rounding error
            row -= basis.T @ (basis @ row)
            row -= found[:i].T @ (found[:i] @ row)
        found[i] = row / np.linalg.norm(row)
        outside -= np.square(found[i])
    return found
