"""The accumulator: the state of a fit that travels between processes and machines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ._core import Accumulator as Core
from ._core import Metadata
from ._errors import counted, in_partition, refusal, with_hint
from ._frames import check_columns
from ._interrupt import LONG, READ_AT_MOST, decomposition, interruptibly, writing
from ._lock import lock_of
from ._metadata import names_of
from ._model import EigenspaceModel
from ._rows import array_of, piece_rows, pieces_of, truth_of, weights_of, word_of
from ._settings import components_of, settings

FAN_IN = 8
"""Number of neighbors that one task of a cluster merges into one state."""

SCATTER_FEATURES = 1024
"""Up to this number of features, the scatter matrix is kept by default."""

OPTIONS = ("max_rank", "truncation", "standardize", "missing", "engine", "weight_kind")
"""What fits on a cluster can set, besides the number of components."""


def check_options(n_components: Any, options: dict[str, Any]) -> None:
    """Raise an error for invalid options of a fit on a cluster, before anything is computed."""
    if "forgetting" in options:
        words = "forgetting is not available on a cluster: the result would depend on the order of all rows"
        raise refusal(words, "leave the option out, or use IncrementalPCA on one machine")
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        error = TypeError(f"invalid option {unknown[0]!r}: expected one of {', '.join(OPTIONS)}")
        raise with_hint(error, "leave the option out")
    Accumulator(n_components, **options)


def group_order(values: Iterable[Hashable]) -> list[Any]:
    """Return the values of groups in their own order, or in that of their text if they cannot be compared."""
    values = list(values)
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def refuse_array(other: object) -> None:
    """Raise an error if an accumulator is added to an array of rows."""
    if isinstance(other, np.ndarray):
        raise with_hint(TypeError("cannot merge an accumulator with an array"), "use absorb to add rows")


class Accumulator:
    """The mergeable state of a fit: rows stay where they are, accumulators are sent and merged.

    Absorb the rows of each partition where they are, move the accumulators (they can be pickled),
    merge them, and finish. With up to 1,024 features an accumulator keeps the scatter matrix, so
    merging is an addition and nothing is ever dropped. With more features it keeps at most
    ``max_rank`` directions, and the certificate of the model bounds the error.

    The rows of each accumulator and the tree in which accumulators are merged determine the result
    to the last bit. Other trees give results that differ by rounding, and by which directions are
    dropped; the certificate covers both. Options whose result depends on the order of all rows
    (``missing="impute"``, forgetting) are not available.

    Parameters
    ----------
    n_components : int, float or None
        Number of components of the model, explained variance ratio to reach, or None for all.
    max_rank : int, 'all' or None
        Number of directions to keep if there are more than 1,024 features; by default 2 k + 32 for
        k components, or all if n_components is None, or if n_components is an integer and
        ``truncation`` is set.
    truncation : str
        Which directions to drop if there are more than 1,024 features, as in IncrementalPCA.
    standardize : bool
        Whether models are reported standardized (correlation PCA).
    missing : str
        What to do with cells that are NaN: 'refuse' raises an error, 'skip' skips their rows.
    engine : str
        What is kept: 'scatter', 'factor' or 'auto', as in IncrementalPCA.
    weight_kind : str
        Meaning of ``weights``: 'frequency' or 'reliability', as in IncrementalPCA.
    partition : str or None
        The name of the partition, which errors about its rows mention. It is not part of the state:
        merging, pickling and ``to_bytes`` do not keep it.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenspace import Accumulator
    >>> X = np.random.default_rng(0).normal(size=(1000, 20)) * np.arange(1, 21)
    >>> parts = [Accumulator(3).absorb(rows) for rows in np.array_split(X, 4)]
    >>> model = (parts[0] + parts[1] + (parts[2] + parts[3])).finish()
    >>> model.count, model.n_components, model.certificate().is_exact
    (1000, 3, True)
    """

    __array_ufunc__ = None  # numpy would add the accumulator to each number

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        max_rank: int | str | None = None,
        truncation: str = "none",
        standardize: bool = False,
        missing: str = "refuse",
        engine: str = "auto",
        weight_kind: str = "frequency",
        partition: str | None = None,
    ) -> None:
        chosen = settings(
            components_of(n_components),
            max_rank,
            truncation,
            engine=engine,
            missing=missing,
            standardize=truth_of(standardize, "standardize"),
            weight_kind=weight_kind,
        )
        self._core = Core(chosen, None if partition is None else word_of(partition, "partition"))

    @classmethod
    def _of(cls, core: Core) -> Accumulator:
        accumulator = cls.__new__(cls)
        accumulator._core = core
        return accumulator

    @property
    def count(self) -> int:
        """Rows absorbed."""
        return self._core.count

    @property
    def n_features(self) -> int | None:
        """Number of features, or None before the first row."""
        return self._core.features

    @property
    def metadata(self) -> Metadata:
        """What is known about the rows besides their values."""
        return self._core.metadata

    def absorb(self, X: Any, weights: Any = None) -> Accumulator:
        """Absorb rows, all or none, and return the accumulator itself.

        X is an array, a data frame or a sparse matrix with any number of rows; ``weights`` has a
        number >= 0 for each row. Column names of a data frame are remembered from the first row on,
        and other names are an error. Errors name the partition, and those about a cell also the row
        (counted from the first one that this accumulator has absorbed) and the column.
        """
        check_columns(X)
        names = names_of(X)
        with in_partition(self._core.partition):
            X = array_of(X)
            weights = weights_of(weights, X.shape[0])
        n, features = X.shape
        if n == 0:
            return self
        cost = decomposition(min(n, piece_rows(X)), features)
        with lock_of(self):
            core = self._core
            if names is not None or n > piece_rows(X) or cost >= LONG:
                core = core.copy()  # an error or an interruption must leave the original unchanged
            if names is not None:
                with in_partition(core.partition):
                    core.describe(names)
            for start, end, rows in pieces_of(X):
                part = None if weights is None else weights[start:end]
                interruptibly(partial(core.absorb, rows, part), cost)
            self._core = core
        return self

    def merge(self, other: Accumulator) -> Accumulator:
        """Add the rows of another accumulator, which must have the same options, and return this one.

        If the other one has no rows, nothing changes. If this one has no rows, it becomes a copy of
        the other one, which is never changed. See also ``+``, which returns a new accumulator.
        """
        if not isinstance(other, Accumulator):
            error = TypeError(f"invalid other: expected an Accumulator, found {type(other).__name__}")
            raise with_hint(error, "absorb rows, and merge accumulators")
        with lock_of(self):
            if self._is_long_to_merge():
                self._core = (self + other)._core  # an interruption must leave the original unchanged
            else:
                self._core.merge(other._core)
        return self

    def __add__(self, other: object) -> Accumulator:
        """Return the accumulator of the rows of both."""
        if not isinstance(other, Accumulator):
            refuse_array(other)
            return NotImplemented
        one, two = self._core, other._core

        def merged() -> Core:
            core = one.copy()
            core.merge(two)
            return core

        return self._of(interruptibly(merged, LONG) if self._is_long_to_merge() else merged())

    def _is_long_to_merge(self) -> bool:
        """Return whether merging takes long; the default for few features is an addition."""
        return (self.n_features or 0) > SCATTER_FEATURES

    def __radd__(self, other: object) -> Accumulator:
        """Return a copy if the other side is 0, where ``sum`` starts."""
        refuse_array(other)
        return self.__copy__() if isinstance(other, int) and other == 0 else NotImplemented

    def __iadd__(self, other: object) -> Accumulator:
        refuse_array(other)
        return self.merge(other) if isinstance(other, Accumulator) else NotImplemented

    def finish(self, n_components: int | float | None = None) -> EigenspaceModel:
        """Return the model of all rows so far, with this many components if a number is given.

        The accumulator can absorb and merge more rows afterward.
        """
        cost = decomposition(READ_AT_MOST, self.n_features or 0)
        model = EigenspaceModel._of(interruptibly(self._core.finish, cost))
        return model if n_components is None else model.with_components(n_components)

    def to_bytes(self) -> bytes:
        """Return the complete state as bytes."""
        return interruptibly(self._core.to_bytes, writing((self.n_features or 0) * READ_AT_MOST))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Accumulator:
        """Read an accumulator from the bytes of ``to_bytes``. It continues exactly as the original would."""
        copy = bytes(memoryview(data))
        return cls._of(interruptibly(lambda: Core.from_bytes(copy), writing(len(copy) // 8)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Accumulator:
        """Return an independent copy."""
        return self._of(self._core.copy())

    def __deepcopy__(self, memo: object) -> Accumulator:
        return self.__copy__()

    def __repr__(self) -> str:
        if self.count == 0:
            return "Accumulator(no rows)"
        return f"Accumulator({counted(self.count, 'row')}, {counted(self.n_features or 0, 'feature')})"
