"""The eigenspace model: count, mean, directions, singular values and error bound of a set of rows."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _html
from ._core import Certificate, Metadata, Model, NotAPartError, Refinement, Stream, View
from ._errors import counted, refusal, with_hint
from ._frames import check_columns
from ._interrupt import decomposition, interruptibly, writing
from ._metadata import check_names, names_of
from ._rows import (
    array_of,
    dense_pieces_of,
    is_sparse,
    numbers_of,
    pieces_of,
    rows_of,
    truth_of,
    weights_of,
    whole_of,
    word_of,
)
from ._settings import LARGEST, components_of, settings
from ._warn import warn

Floats = NDArray[np.float64]


class EigenspaceModel:
    """A PCA model that can be updated, merged and split, and that bounds its own error.

    A model is immutable: its operations return a new model. It keeps ``rank`` directions and
    reports ``n_components`` of them as components. Scores and plots use the components; merging
    and splitting use all directions.

    >>> import numpy as np
    >>> from eigenspace import EigenspaceModel
    >>> monday = EigenspaceModel.fit([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    >>> tuesday = EigenspaceModel.fit([[0.0, 1.0], [9.0, 7.0]])
    >>> both = monday + tuesday
    >>> both.count
    5
    >>> np.allclose((both - tuesday).mean, monday.mean)
    True
    """

    __slots__ = ("_core",)
    __array_ufunc__ = None  # numpy would add the model to each number
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, n_features: int) -> None:
        """Create the model of no rows, the neutral element of ``merge``. See also ``fit``."""
        self._core = Model.empty(n_features)

    @classmethod
    def _of(cls, core: Model) -> EigenspaceModel:
        model = cls.__new__(cls)
        model._core = core
        return model

    @classmethod
    def fit(cls, X: Any, max_rank: int | None = None, weights: Any = None, *, method: str = "auto") -> EigenspaceModel:
        """Compute the model of these rows by batch PCA.

        Parameters
        ----------
        X : array-like or sparse matrix, one observation per row
        max_rank : number of directions to keep; all by default
        weights : a number >= 0 for each row
        method : 'auto', 'svd', 'covariance', 'gram' or 'iterative' (only with an integer max_rank)
        """
        word_of(method, "method")
        check_columns(X)
        names = names_of(X)
        return cls._fitted(array_of(X), names, max_rank, weights, method)

    @classmethod
    def _fitted(
        cls, X: Any, names: list[str] | None, max_rank: int | None, weights: Any, method: str
    ) -> EigenspaceModel:
        """Compute the model of a checked array."""
        metadata = Metadata(names)
        weights = weights_of(weights, X.shape[0])
        rule = _rule(max_rank)
        if method == "auto" and Model.is_in_pieces(X.shape[0], X.shape[1], max_rank, is_sparse(X)):
            stream = Stream(X.shape[1], settings(engine="scatter")).with_metadata(metadata)
            cost = X.shape[1] ** 3
            for start, end, rows in pieces_of(X):
                part = None if weights is None else weights[start:end]
                interruptibly(partial(stream.update, rows, part, start), cost)
            return cls._of(interruptibly(lambda: stream.model().truncate(rule), cost))
        rows = rows_of(X)
        work = partial(Model.fit, rows, weights, method, rule, metadata)
        return cls._of(interruptibly(work, decomposition(*X.shape)))

    @classmethod
    def merge_all(cls, models: Iterable[EigenspaceModel], max_rank: int | None = None) -> EigenspaceModel:
        """Merge all models in a balanced tree and return the model of all their rows."""
        # A memoryview of several dimensions cannot be iterated.
        each = [models] if isinstance(models, memoryview) else models
        models = [model_of(model, "model to merge") for model in each]
        cores, rule = [model._core for model in models], _rule(max_rank)
        cost = len(cores) * max((_cost(core.rank * 2, core) for core in cores), default=0)
        core = interruptibly(lambda: Model.merge_all(cores, rule), cost)
        return cls._of(core)

    def update(self, X: Any, max_rank: int | None = None, weights: Any = None) -> EigenspaceModel:
        """Add rows and return the new model. For many small blocks use :class:`IncrementalPCA`."""
        X = self._rows(X)
        weights = weights_of(weights, X.shape[0])
        rows, rule = rows_of(X), _rule(max_rank)
        cost = _cost(X.shape[0] + self.rank, self._core)
        return self._of(interruptibly(lambda: self._core.update(rows, weights, rule), cost))

    def merge(self, other: EigenspaceModel, max_rank: int | None = None) -> EigenspaceModel:
        """Return the model of the rows of both models."""
        core, rule = model_of(other, "other")._core, _rule(max_rank)
        cost = _cost(self.rank + core.rank, self._core)
        return self._of(interruptibly(lambda: self._core.merge(core, rule), cost))

    def split(self, part: EigenspaceModel) -> EigenspaceModel:
        """Return the model of the rows that are not in ``part``, whose rows must all be in this model."""
        core = model_of(part, "part")._core
        cost = _cost(self.rank + core.rank, self._core)
        return self._of(interruptibly(lambda: self._core.split(core), cost))

    def remove(self, X: Any, weights: Any = None) -> EigenspaceModel:
        """Remove rows that were added before and return the new model."""
        X = self._rows(X)
        weights = weights_of(weights, X.shape[0])
        n = X.shape[0] if weights is None else int(np.count_nonzero(weights))
        if n > self.count:
            error = NotAPartError(f"cannot remove {n} rows from a model of {self.count}")
            raise with_hint(error, "remove only rows that were added before")
        rows, cost = rows_of(X), _cost(X.shape[0] + self.rank, self._core)
        return self._of(interruptibly(lambda: self._core.remove(rows, weights), cost))

    def refine(self, X: Any, weights: Any = None) -> EigenspaceModel:
        """Read the same rows again and return a model with more accurate directions.

        A stream reads every row once and drops directions on the way. If the variances of the
        directions decrease slowly, the result is inaccurate, and the certificate says so. Each pass
        over the same rows, in any order, brings the directions closer to those of batch PCA.

        >>> import numpy as np
        >>> from eigenspace import EigenspaceModel, IncrementalPCA, subspace_distance
        >>> X = np.random.default_rng(0).normal(size=(900, 1200)) * 0.999 ** np.arange(1200)
        >>> once = IncrementalPCA(5, max_rank=20).fit(X).model_
        >>> exact = EigenspaceModel.fit(X).basis[:5]
        >>> error = [subspace_distance(model.basis[:5], exact) for model in (once, once.refine(X))]
        >>> bool(error[1] < error[0])
        True
        """
        X = self._rows(X)
        return self._of(refined(self._core, X, weights_of(weights, X.shape[0]), "refuse"))

    def truncate(self, truncation: int | str) -> EigenspaceModel:
        """Drop directions by a rule such as 'energy:0.99'; an integer is the number of directions to keep."""
        rule = _truncation_of(truncation)
        return self._of(interruptibly(lambda: self._core.truncate(rule), self.rank * self.n_features))

    def forget(self, factor: float) -> EigenspaceModel:
        """Multiply the weight of all rows so far by this factor."""
        return self._of(interruptibly(lambda: self._core.forget(factor), self.rank * self.n_features))

    def with_components(self, n_components: int | float | None) -> EigenspaceModel:
        """Change the number of components: a number, an explained variance ratio such as 0.95, or None for all."""
        asked = components_of(n_components)
        model = self._of(interruptibly(lambda: self._core.with_components(asked), self.rank * self.n_features))
        if isinstance(asked, float):
            warn_about_share(model._core, asked)
        if isinstance(asked, int) and model.n_components < asked and self.count > 0:
            kept = "the model keeps no more directions"
            warn(f"requested {asked} components, found only {model.n_components}: {kept}.")
        return model

    def _rows(self, X: Any) -> Any:
        """Validate rows and return them as an array; compare column names if both have them."""
        check_names(self._core, X)
        return array_of(X)

    def __add__(self, other: object) -> EigenspaceModel:
        if isinstance(other, np.ndarray):
            raise with_hint(TypeError("cannot merge a model with an array"), "use update to add rows")
        return self.merge(other) if isinstance(other, EigenspaceModel) else NotImplemented

    def __radd__(self, other: object) -> EigenspaceModel:
        if isinstance(other, np.ndarray):
            raise with_hint(TypeError("cannot merge an array with a model"), "use update to add rows")
        # sum() starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, part: object) -> EigenspaceModel:
        if isinstance(part, np.ndarray):
            raise with_hint(TypeError("cannot split an array off a model"), "use remove to remove rows")
        return self.split(part) if isinstance(part, EigenspaceModel) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._core == other._core if isinstance(other, EigenspaceModel) else NotImplemented

    @property
    def count(self) -> int:
        """The number of rows absorbed."""
        return self._core.count

    @property
    def weight(self) -> float:
        """The total weight of the rows; equal to the count unless rows are weighted or forgotten."""
        return self._core.weight

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self._core.features

    @property
    def rank(self) -> int:
        """The number of directions kept."""
        return self._core.rank

    @property
    def n_components(self) -> int:
        """The number of components, the directions that are reported."""
        return self._core.n_components

    @property
    def mean(self) -> Floats:
        """The mean row."""
        return self._core.mean()

    @property
    def components(self) -> Floats:
        """The components, one per row, orthonormal. In each, the entry of largest absolute value is positive."""
        return self._core.basis()[: self.n_components]

    @property
    def basis(self) -> Floats:
        """All directions kept, one per row of the array."""
        return self._core.basis()

    @property
    def singular_values(self) -> Floats:
        """The singular values of the centered rows along the components."""
        return self._core.all_singular_values()[: self.n_components]

    @property
    def all_singular_values(self) -> Floats:
        """The singular values along all directions kept."""
        return self._core.all_singular_values()

    @property
    def feature_scatter(self) -> Floats:
        """The sum of squared deviations of each feature; exact even after truncation."""
        return self._core.feature_scatter()

    @property
    def total_variance(self) -> float:
        """The sum of the variances of all features (ddof = 1); exact even after truncation."""
        return self._core.total_variance(1.0)

    @property
    def noise_variance(self) -> float:
        """The average variance along the directions that are not components."""
        return self._core.noise_variance()

    @property
    def is_centered(self) -> bool:
        """False for a model without centering, whose mean is zero."""
        return self._core.is_centered

    @property
    def weight_kind(self) -> str:
        """The meaning of the weights: 'frequency' or 'reliability'."""
        return self._core.weight_kind

    @property
    def imputed(self) -> int:
        """The number of missing cells that were filled with estimates."""
        return self._core.imputed

    @property
    def feature_names(self) -> list[str] | None:
        """The column names, from a data frame or from a table that the command read, or None."""
        return self._core.metadata.feature_names

    @property
    def metadata(self) -> Metadata:
        """Feature names, standardization, image shape, component labels and further values."""
        return self._core.metadata

    def with_metadata(self, metadata: Metadata) -> EigenspaceModel:
        """Return the same model with other metadata, which must fit its features."""
        if not isinstance(metadata, Metadata):
            error = TypeError(f"invalid metadata: expected a Metadata, found {type(metadata).__name__}")
            raise with_hint(error, "create one with eigenspace.Metadata")
        return self._of(interruptibly(lambda: self._core.with_metadata(metadata), self.rank * self.n_features))

    def explained_variance(self, ddof: float = 1) -> Floats:
        """Return the variance along each component."""
        return self._core.explained_variance(ddof)

    def explained_variance_ratio(self) -> Floats:
        """Return the share of the total variance along each component."""
        return self._core.explained_variance_ratio()

    def loadings(self) -> Floats:
        """Return the loadings, one row per feature: components times the deviations along them (ddof = 0)."""
        return interruptibly(View(self._core, standardize=False).loadings, self.n_features * self.n_components)

    def feature_variance(self, ddof: float = 1) -> Floats:
        """Return the variance of each feature; exact even after truncation."""
        return self._core.feature_variance(ddof)

    def variance_along(self, direction: Any, ddof: float = 1) -> float:
        """Return the variance of the rows along a direction, whose length does not matter."""
        direction = numbers_of(np.asarray(direction), "the direction")
        if direction.ndim != 1:
            words = f"the direction has {direction.ndim} dimensions, expected one number for each feature"
            raise refusal(words, "pass one row, such as model.components[0]")
        if len(direction) != self.n_features:
            words = f"the direction has {len(direction)} entries, but the model has {self.n_features} features"
            raise refusal(words, "pass one number for each feature, such as model.components[0]")
        return self._core.variance_along(np.array(direction, dtype=np.float64), ddof)

    def covariance(self) -> Floats:
        """Return the model's covariance of the features: components plus noise along all other directions."""
        return interruptibly(self._core.covariance, self.n_features**2 * self.n_components)

    def precision(self) -> Floats:
        """Return the inverse of the covariance."""
        return interruptibly(self._core.precision, self.n_features**2 * self.n_components)

    def certificate(self) -> Certificate:
        """Return bounds on the error of the model; exact if nothing was dropped."""
        return self._core.certificate()

    def orthogonality_loss(self) -> float:
        """Return the largest entry of ``abs(V @ V.T - I)``, where V holds the directions."""
        return interruptibly(self._core.orthogonality_loss, self.rank**2 * self.n_features)

    def project(self, X: Any, *, whiten: bool = False) -> NDArray[Any]:
        """Return the scores of rows, in the precision of the rows."""
        X, whiten = self._rows(X), truth_of(whiten, "whiten")
        view = View(self._core, standardize=False)
        scores = np.empty((X.shape[0], self.n_components), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        for start, end, rows in pieces_of(X):
            cost = (end - start) * self.n_features * self.n_components
            scores[start:end] = interruptibly(partial(view.project, rows, whiten, first=start), cost)
        return scores

    def left_singular_vectors(self, X: Any) -> NDArray[Any]:
        """Return U of the rows that the model was fitted on: ``X - mean = U @ diag(singular_values) @ components``.

        The columns of U are orthonormal. For other rows, these are their scores divided by the singular values.
        """
        X = self._rows(X)
        view = View(self._core, standardize=False)
        vectors = np.empty((X.shape[0], self.n_components), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        for start, end, rows in pieces_of(X):
            cost = (end - start) * self.n_features * self.n_components
            vectors[start:end] = interruptibly(partial(view.left_singular_vectors, rows, first=start), cost)
        return vectors

    def reconstruct(self, scores: Any, *, whiten: bool = False) -> NDArray[Any]:
        """Reconstruct rows from their scores along all components, or along the leading ones."""
        Z, whiten = array_of(scores, "scores"), truth_of(whiten, "whiten")
        if whiten and Z.shape[1] > self.n_components:
            have = f"the scores have {Z.shape[1]} columns, but the model has {self.n_components} components"
            raise refusal(f"cannot reconstruct rows: {have}", "pass scores as returned by project")
        view = View(self._core, standardize=False)
        return reconstructed(partial(view.reconstruct, whiten=whiten), Z, self.n_features)

    def hotelling(self, X: Any) -> Floats:
        """Return T² of each row: how unusual it is inside the subspace."""
        return self._readings(X)[0]

    def squared_distance(self, X: Any) -> Floats:
        """Return Q of each row: its squared distance to the subspace."""
        return self._readings(X)[1]

    def _readings(self, X: Any) -> tuple[Floats, Floats]:
        """Return T² and Q of each row."""
        X = self._rows(X)
        view = View(self._core, standardize=False)
        if X.shape[0] == 0:
            view.readings(np.empty(X.shape))  # check the number of columns even without rows
        hotelling, distance = np.empty(X.shape[0]), np.empty(X.shape[0])
        for start, end, rows in dense_pieces_of(X):
            cost = (end - start) * self.n_features * self.n_components
            hotelling[start:end], distance[start:end] = interruptibly(partial(view.readings, rows), cost)
        return hotelling, distance

    def limits(self, confidence: float = 0.99) -> tuple[float, float]:
        """Return a limit for T² and one for Q. If rows are normally distributed, a share ``confidence``
        of them stays below each limit.
        """
        return self._core.limits(confidence)

    def fill_missing(self, X: Any) -> Floats:
        """Return a copy of the rows in which NaN cells are replaced by the model's estimates."""
        X = self._rows(X)
        if X.shape[0] == 0:
            return self._core.fill_missing(np.empty(X.shape))
        filled = np.empty(X.shape)
        for start, end, rows in dense_pieces_of(X):
            cost = (end - start) * self.n_components**2 * (self.n_features + self.n_components)
            filled[start:end] = interruptibly(partial(self._core.fill_missing, rows), cost)
        return filled

    def to_bytes(self) -> bytes:
        """Return the bytes of the model file."""
        return interruptibly(self._core.to_bytes, writing(self.rank * self.n_features))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> EigenspaceModel:
        """Read a model from the bytes of a model file."""
        copy = bytes(memoryview(data))
        return cls._of(interruptibly(lambda: Model.from_bytes(copy), writing(len(copy) // 8)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file (safetensors), completely or not at all. Ctrl-C takes effect after the write.

        An existing model is replaced. A recognizer and a file of another kind are an error.
        """
        self._core.save(os.fsdecode(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EigenspaceModel:
        """Read a model from a file."""
        path = os.fsdecode(path)
        try:
            size = os.path.getsize(path)
        except (OSError, TypeError, ValueError):
            size = 0  # Model.load reports the error
        return cls._of(interruptibly(lambda: Model.load(path), writing(size // 8)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __copy__(self) -> EigenspaceModel:
        return self

    def __deepcopy__(self, memo: object) -> EigenspaceModel:
        return self

    def __repr__(self) -> str:
        if self.count == 0:
            return f"EigenspaceModel(no rows, {counted(self.n_features, 'feature')})"
        exact = "exact" if self.certificate().is_exact else f"error bound {self.certificate().relative_error_bound:.1e}"
        exact += f", {counted(self.imputed, 'cell')} imputed" if self.imputed else ""
        share = float(self.explained_variance_ratio().sum())
        return (
            f"EigenspaceModel({counted(self.count, 'row')}, {counted(self.n_features, 'feature')}, rank {self.rank}, "
            f"{self.n_components} {'component explains' if self.n_components == 1 else 'components explain'} "
            f"{share:.2%}, {exact})"
        )

    def _repr_html_(self) -> str:
        return _html.of(self)


def reconstructed(reconstruct: Callable[[NDArray[Any], NDArray[Any]], None], Z: Any, features: int) -> NDArray[Any]:
    """Reconstruct rows from their scores, in the precision of the scores.

    numpy allocates the result: it asks the system for large pages, which are faster to fill.
    """
    Z = rows_of(Z.toarray() if is_sparse(Z) else Z)
    try:
        out = np.empty((Z.shape[0], features), dtype=Z.dtype)
    except MemoryError:
        mib = Z.shape[0] * features * Z.itemsize / (1 << 20)
        error = MemoryError(f"cannot allocate {mib:.0f} MiB of memory")
        raise with_hint(error, "use smaller blocks of rows") from None
    interruptibly(lambda: reconstruct(Z, out), Z.shape[0] * Z.shape[1] * features)
    return out


def model_of(model: Any, name: str) -> EigenspaceModel:
    """Return the model, or raise an error if it is something else."""
    if not isinstance(model, EigenspaceModel):
        error = TypeError(f"invalid {name}: expected an EigenspaceModel, found {type(model).__name__}")
        ours = hasattr(model, "model_")
        raise with_hint(error, "pass its model_" if ours else "create one with EigenspaceModel.fit")
    return model


def warn_about_share(core: Model, asked: float) -> None:
    """Warn if the directions kept explain less variance than requested."""
    reached = core.share_below_request
    if reached is not None:
        warn(
            f"requested an explained variance ratio of {asked}, reached only {reached:.4g} with all {core.rank} "
            "directions that were kept. Fit again with a larger max_rank or another truncation."
        )


def _cost(rows: int, core: Model) -> int:
    """Return the number of multiplications of a decomposition of rows as wide as the model's."""
    return decomposition(rows, core.features)


def _rule(max_rank: int | None) -> str:
    """Return the truncation rule for a number of directions to keep."""
    if max_rank is None:
        return "none"
    rank = whole_of(max_rank, "max_rank")
    if rank > LARGEST:
        raise refusal(f"invalid max_rank={rank}: expected at most {LARGEST}", "omit max_rank to keep all directions")
    return f"rank:{rank}"


def _truncation_of(truncation: int | str) -> str:
    """Return the truncation rule, which an integer names by the rank."""
    if isinstance(truncation, str):
        return truncation
    try:
        if isinstance(truncation, (bool, np.bool_)):
            raise TypeError
        return f"rank:{operator.index(truncation)}"
    except TypeError:
        error = TypeError(f"invalid truncation={truncation!r}: expected a truncation rule or a rank")
        raise with_hint(error, "pass a rule such as 'energy:0.99', or the number of directions to keep") from None


def refined(core: Model, X: Any, weights: Floats | None, missing: str) -> Model:
    """Read the rows of a model again, in pieces, and return the model with more accurate directions."""
    refinement = Refinement(core, missing)
    for start, end, rows in pieces_of(X):
        part = None if weights is None else weights[start:end]
        interruptibly(partial(refinement.update, rows, part, start), _cost(core.rank, core))
    return interruptibly(lambda: refinement.finish(core), _cost(core.rank, core))
