"""The eigenspace model: everything that is remembered of a set of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _html
from ._core import Certificate, Model, NotAPartError, Stream
from ._errors import refusal, with_hint
from ._interrupt import decomposition, interruptibly, writing
from ._note import check_names, check_same_columns, columns_of, names_of, note_of
from ._rows import (
    array_of,
    dense_pieces_of,
    is_sparse,
    numbers_of,
    pieces_of,
    rows_of,
    weights_of,
    whole_of,
)
from ._warn import warn

Floats = NDArray[np.float64]

TALL_CELLS = 1 << 26
"""Cells from which rows that are more than their features are added up in pieces instead of being copied."""


class EigenspaceModel:
    """A PCA model that can absorb rows, merge, split, and say how exact it is.

    A model is a value: its operations return a new one and change nothing. It keeps ``rank`` directions and shows
    ``n_components`` of them; coordinates and pictures use those that are shown, merging and splitting all.

    >>> import numpy as np
    >>> from eigenspace import EigenspaceModel
    >>> monday = EigenspaceModel.from_rows([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    >>> tuesday = EigenspaceModel.from_rows([[0.0, 1.0], [9.0, 7.0]])
    >>> both = monday + tuesday
    >>> both.count
    5
    >>> np.allclose((both - tuesday).mean, monday.mean)
    True
    """

    __slots__ = ("_core", "_note")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, n_features: int) -> None:
        """The model of no rows, the neutral element of ``merge``; ``from_rows`` makes others."""
        self._core = Model.empty(n_features)
        self._note = ""

    @classmethod
    def _of(cls, core: Model, note: str = "") -> EigenspaceModel:
        model = cls.__new__(cls)
        model._core, model._note = core, note
        return model

    @classmethod
    def from_rows(
        cls, X: Any, max_rank: int | None = None, weights: Any = None, *, method: str = "auto"
    ) -> EigenspaceModel:
        """Batch PCA of rows that are all there.

        Parameters
        ----------
        X : array-like or sparse matrix, one observation per row
        max_rank : directions to keep; all by default
        weights : a number >= 0 for each row
        method : 'auto', 'svd', 'covariance' or 'gram'
        """
        note = note_of(names_of(X), standardize=False)
        X = array_of(X)
        weights = weights_of(weights, X.shape[0])
        rule = _rule(max_rank)
        cells = X.shape[0] * X.shape[1]
        # Sparse rows, and many more rows than features, go into the scatter matrix in pieces.
        fits = 0 < X.shape[1] <= 8192 and X.shape[0] > X.shape[1]
        if method == "auto" and fits and (is_sparse(X) or cells > TALL_CELLS):
            stream = Stream(X.shape[1], settings(engine="scatter"))
            cost = X.shape[1] ** 3
            for start, end, rows in pieces_of(X):
                part = None if weights is None else weights[start:end]
                interruptibly(partial(stream.update, rows, part, start), cost)
            return cls._of(interruptibly(lambda: stream.model().truncate(rule), cost), note)
        rows = rows_of(X)
        work = partial(Model.batch, rows, weights, method, rule)
        return cls._of(interruptibly(work, decomposition(*X.shape)), note)

    @classmethod
    def merge_all(cls, models: Iterable[EigenspaceModel], max_rank: int | None = None) -> EigenspaceModel:
        """The model of the rows of all, merged as a balanced tree."""
        models = [model_of(model, "a model to merge") for model in models]
        for model in models[1:]:
            check_same_columns(models[0]._note, model._note, model.n_features)
        cores, rule = [model._core for model in models], _rule(max_rank)
        cost = len(cores) * max((_cost(core.rank * 2, core) for core in cores), default=0)
        core = interruptibly(lambda: Model.merge_all(cores, rule), cost)
        return cls._of(core, models[0]._note)  # an empty list was refused

    def update(self, X: Any, max_rank: int | None = None, weights: Any = None) -> EigenspaceModel:
        """The model of the rows before and these. For many small blocks use :class:`IncrementalPCA`."""
        X = self._rows(X)
        weights = weights_of(weights, X.shape[0])
        rows, rule = rows_of(X), _rule(max_rank)
        cost = _cost(X.shape[0] + self.rank, self._core)
        return self._with(interruptibly(lambda: self._core.update(rows, weights, rule), cost))

    def merge(self, other: EigenspaceModel, max_rank: int | None = None) -> EigenspaceModel:
        """The model of the rows of both."""
        check_same_columns(self._note, model_of(other, "other")._note, self.n_features)
        rule, cost = _rule(max_rank), _cost(self.rank + other.rank, self._core)
        return self._with(interruptibly(lambda: self._core.merge(other._core, rule), cost))

    def split(self, part: EigenspaceModel) -> EigenspaceModel:
        """The model of the rows that are not in the part, which must have been in this one."""
        check_same_columns(self._note, model_of(part, "part")._note, self.n_features)
        cost = _cost(self.rank + part.rank, self._core)
        return self._with(interruptibly(lambda: self._core.split(part._core), cost))

    def remove(self, X: Any, weights: Any = None) -> EigenspaceModel:
        """The model of the rows before without these."""
        X = self._rows(X)
        weights = weights_of(weights, X.shape[0])
        n = X.shape[0] if weights is None else int(np.count_nonzero(weights))
        if n > self.count:
            error = NotAPartError(f"cannot remove {n} rows from a model of {self.count}")
            raise with_hint(error, "remove only rows that were added before")
        rows, cost = rows_of(X), _cost(X.shape[0] + self.rank, self._core)
        return self._with(interruptibly(lambda: self._core.remove(rows, weights), cost))

    def truncate(self, max_rank: int | str) -> EigenspaceModel:
        """The same model with fewer directions: a number, or a rule such as 'energy:0.99'."""
        rule = max_rank if isinstance(max_rank, str) else _rule(max_rank)
        return self._with(interruptibly(lambda: self._core.truncate(rule), self.rank * self.n_features))

    def forget(self, factor: float) -> EigenspaceModel:
        """The same model in which every row so far weighs this factor as much."""
        return self._with(interruptibly(lambda: self._core.forget(factor), self.rank * self.n_features))

    def with_components(self, n_components: int | float | None) -> EigenspaceModel:
        """The same model showing another number of components: a number, a share such as 0.95, or all (None)."""
        asked = components_of(n_components)
        model = self._with(interruptibly(lambda: self._core.with_components(asked), self.rank * self.n_features))
        if isinstance(asked, int) and model.n_components < asked and self.count > 0:
            kept = "the model keeps no more directions"
            warn(f"{asked} components were asked for and {model.n_components} came out: {kept}.")
        return model

    def _rows(self, X: Any) -> Any:
        """A checked array of rows, whose columns are the model's if both have names."""
        check_names(self._note, X, self.n_features)
        return array_of(X)

    def _with(self, core: Model) -> EigenspaceModel:
        return type(self)._of(core, self._note)

    def __add__(self, other: object) -> EigenspaceModel:
        return self.merge(other) if isinstance(other, EigenspaceModel) else NotImplemented

    def __radd__(self, other: object) -> EigenspaceModel:
        # sum() begins with 0, the number of rows of no model.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, part: object) -> EigenspaceModel:
        return self.split(part) if isinstance(part, EigenspaceModel) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._core == other._core if isinstance(other, EigenspaceModel) else NotImplemented

    @property
    def count(self) -> int:
        """Rows ever absorbed."""
        return self._core.count

    @property
    def weight(self) -> float:
        """The effective number of rows: the count, unless rows were weighted or forgotten."""
        return self._core.weight

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        return self._core.features

    @property
    def rank(self) -> int:
        """Directions kept."""
        return self._core.rank

    @property
    def n_components(self) -> int:
        """Directions shown."""
        return self._core.n_components

    @property
    def mean(self) -> Floats:
        """The mean row."""
        return self._core.mean()

    @property
    def components(self) -> Floats:
        """The directions shown, one per row, orthonormal; in each the entry of largest magnitude is positive."""
        return self._core.basis()[: self.n_components]

    @property
    def basis(self) -> Floats:
        """All directions kept."""
        return self._core.basis()

    @property
    def singular_values(self) -> Floats:
        """The singular values of the centered rows along the directions shown."""
        return self._core.singular_values()[: self.n_components]

    @property
    def feature_scatter(self) -> Floats:
        """The sum of squared deviations of each feature, exact whatever was truncated."""
        return self._core.feature_scatter()

    @property
    def total_variance(self) -> float:
        """The variance of all features together (ddof = 1), exact whatever was truncated."""
        return self._core.total_variance(1.0)

    @property
    def noise_variance(self) -> float:
        """The average variance along the directions that are not shown."""
        return self._core.noise_variance()

    @property
    def is_centered(self) -> bool:
        """False for a model about the origin, whose mean is zero."""
        return self._core.is_centered

    @property
    def imputed(self) -> int:
        """Missing cells that were filled by estimates."""
        return self._core.imputed

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the columns, if they are known: from a data frame, or from a table that the command read."""
        return columns_of(self._note, self.n_features)

    @property
    def note(self) -> str:
        """The text kept with the model in its file; the command keeps the names of columns there."""
        return self._note

    def explained_variance(self, ddof: float = 1) -> Floats:
        """The variance of each component shown."""
        return self._core.explained_variance(ddof)

    def explained_variance_ratio(self) -> Floats:
        """The share of the total variance of each component shown."""
        return self._core.explained_variance_ratio()

    def feature_variance(self, ddof: float = 1) -> Floats:
        """The variance of each feature, exact whatever was truncated."""
        return self._core.feature_variance(ddof)

    def variance_along(self, direction: Any, ddof: float = 1) -> float:
        """The variance of the rows along a direction of any length."""
        direction = numbers_of(np.asarray(direction), "the direction")
        if direction.ndim != 1:
            words = f"the direction has {direction.ndim} dimensions, expected a number for each feature"
            raise refusal(words, "pass one row, such as model.components[0]")
        return self._core.variance_along(np.array(direction, dtype=np.float64), ddof)

    def covariance(self) -> Floats:
        """The covariance of the features as the model knows it, with noise along what is not shown."""
        return interruptibly(self._core.covariance, self.n_features**2 * self.n_components)

    def precision(self) -> Floats:
        """The inverse of the covariance."""
        return interruptibly(self._core.precision, self.n_features**2 * self.n_components)

    def certificate(self) -> Certificate:
        """How exact the model is."""
        return self._core.certificate()

    def orthogonality_loss(self) -> float:
        """The largest entry of ``abs(V @ V.T - I)``."""
        return interruptibly(self._core.orthogonality_loss, self.rank**2 * self.n_features)

    def transform(self, X: Any, *, whiten: bool = False) -> NDArray[Any]:
        """The coordinates of rows, in the precision of the rows."""
        X = self._rows(X)
        coordinates = np.empty(
            (X.shape[0], self.n_components), dtype=np.float32 if X.dtype == np.float32 else np.float64
        )
        for start, end, rows in pieces_of(X):
            cost = (end - start) * self.n_features * self.n_components
            coordinates[start:end] = interruptibly(partial(self._core.project, rows, start), cost)
        if whiten:
            coordinates /= np.sqrt(self.explained_variance()).astype(coordinates.dtype)
        return coordinates

    def inverse_transform(self, coordinates: Any, *, whiten: bool = False) -> NDArray[Any]:
        """The rows that have these coordinates; fewer columns than components are taken as the first ones."""
        Z = array_of(coordinates, "the coordinates")
        if not whiten:
            return reconstructed(self._core.reconstruct, Z, self.n_features)
        if Z.shape[1] > self.n_components:
            words = f"the coordinates have {Z.shape[1]} columns, there are {self.n_components} components"
            raise refusal(words, "pass coordinates as transform gives them")
        deviation = np.sqrt(self.explained_variance())[: Z.shape[1]]
        return reconstructed(lambda Z: self._core.reconstruct(Z * deviation.astype(Z.dtype)), Z, self.n_features)

    def hotelling(self, X: Any) -> Floats:
        """T² of each row: how unusual it is inside the subspace."""
        return self._of_each_row(self._core.hotelling, X)

    def squared_distance(self, X: Any) -> Floats:
        """Q of each row: its squared distance to the subspace."""
        return self._of_each_row(self._core.squared_distance, X)

    def _of_each_row(self, measure: Callable[[Floats], Floats], X: Any) -> Floats:
        X = self._rows(X)
        if X.shape[0] == 0:
            measure(np.empty(X.shape))  # the width is looked at all the same
        values = np.empty(X.shape[0])
        for start, end, rows in dense_pieces_of(X):
            cost = (end - start) * self.n_features * self.n_components
            values[start:end] = interruptibly(partial(measure, rows), cost)
        return values

    def limits(self, confidence: float = 0.99) -> tuple[float, float]:
        """The limits of T² and Q that this share of good rows stays below."""
        return self._core.limits(confidence)

    def fill_missing(self, X: Any) -> Floats:
        """A copy of the rows in which cells that are not a number hold the model's estimate."""
        X = self._rows(X)
        if X.shape[0] == 0:
            return self._core.fill_missing(np.empty(X.shape))
        filled = np.empty(X.shape)
        for start, end, rows in dense_pieces_of(X):
            cost = (end - start) * self.n_components**2 * (self.n_features + self.n_components)
            filled[start:end] = interruptibly(partial(self._core.fill_missing, rows), cost)
        return filled

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return interruptibly(lambda: self._core.to_bytes(self._note), writing(self.rank * self.n_features))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> EigenspaceModel:
        """The model of these bytes."""
        copy = bytes(memoryview(data))
        return cls._of(*interruptibly(lambda: Model.from_bytes(copy), writing(len(copy) // 8)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file (safetensors), whole or not at all. Ctrl-C is heard when it is written."""
        self._core.save(os.fspath(path), self._note)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EigenspaceModel:
        """The model of a file."""
        path = os.fspath(path)
        try:
            size = os.path.getsize(path)
        except (OSError, TypeError, ValueError):
            size = 0  # the native part says what is wrong
        return cls._of(*interruptibly(lambda: Model.load(path), writing(size // 8)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __copy__(self) -> EigenspaceModel:
        return self

    def __deepcopy__(self, memo: object) -> EigenspaceModel:
        return self

    def __repr__(self) -> str:
        if self.count == 0:
            return f"EigenspaceModel(no rows, {self.n_features} features)"
        exact = "exact" if self.certificate().is_exact else f"error bound {self.certificate().relative_error_bound:.1e}"
        exact += f" for {self.imputed} cells as they were filled" if self.imputed else ""
        share = float(self.explained_variance_ratio().sum())
        return (
            f"EigenspaceModel({self.count} rows, {self.n_features} features, rank {self.rank}, "
            f"{self.n_components} components hold {share:.2%}, {exact})"
        )

    def _repr_html_(self) -> str:
        return _html.of(self)


def reconstructed(reconstruct: Callable[[NDArray[Any]], NDArray[Any]], Z: Any, features: int) -> NDArray[Any]:
    """The rows of coordinates, in the precision of the coordinates."""
    Z = Z.toarray() if is_sparse(Z) else Z
    return interruptibly(lambda: reconstruct(rows_of(Z)), Z.shape[0] * Z.shape[1] * features)


def model_of(model: Any, name: str) -> EigenspaceModel:
    """A model, or the estimator's where one was passed in its place."""
    if not isinstance(model, EigenspaceModel):
        error = TypeError(f"{name} must be an EigenspaceModel, and this is {type(model).__name__}")
        ours = hasattr(model, "model_")
        raise with_hint(error, "pass its model_" if ours else "make one with EigenspaceModel.from_rows")
    return model


def _cost(rows: int, core: Model) -> int:
    """Multiplications of a decomposition of rows as wide as the model's."""
    return decomposition(rows, core.features)


def _rule(max_rank: int | None) -> str:
    return "none" if max_rank is None else f"rank:{whole_of(max_rank, 'max_rank')}"


def components_of(n_components: Any) -> int | float | None:
    """The setting as the native part takes it; 1 and 1.0 are different things."""
    if n_components is None:
        return None
    if isinstance(n_components, (float, np.floating)):
        return float(n_components)
    try:
        return whole_of(n_components, "n_components")
    except TypeError:
        what = "a whole number, a share of variance such as 0.95, or None"
        error = TypeError(f"n_components={n_components!r} must be {what}")
        mle = isinstance(n_components, str) and n_components == "mle"
        raise with_hint(error, "'mle' is for eigenspace.PCA" if mle else "pass None for all components") from None


def settings(
    components: int | float | None = None,
    max_rank: int | str | None = None,
    truncation: str | None = None,
    engine: str = "auto",
    forgetting: float | str | None = None,
    missing: str = "refuse",
    standardize: bool = False,
    weight_kind: str = "frequency",
) -> dict[str, Any]:
    """The settings of a stream, in the words of the native part."""
    return {
        "components": components,
        "max_rank": rank_of(max_rank),
        "truncation": "none" if truncation is None else truncation,
        "engine": engine,
        "block_rows": None,
        "forgetting": "never" if forgetting is None else str(forgetting),
        "missing": missing,
        "centered": True,
        "standardize": standardize,
        "weight_kind": weight_kind,
    }


def rank_of(max_rank: Any) -> int | None:
    """A rank to keep as the native part takes it: the largest number means all."""
    if max_rank is None:
        return None
    most = (1 << 64) - 1
    if isinstance(max_rank, str):
        if max_rank == "all":
            return most
        raise refusal(f"max_rank={max_rank!r} must be a whole number, 'all' or None", "pass 'all' to drop nothing")
    return min(whole_of(max_rank, "max_rank"), most)
