"""PCA models that you can update with new rows, merge, split and trust, without keeping the old data.

===========================  ==============================================================
:class:`IncrementalPCA`      incremental PCA with scikit-learn's interface, any block size
:class:`PCA`                 batch PCA with scikit-learn's interface
:class:`EigenspaceModel`     a fitted model: update, merge, split, save
:class:`Accumulator`         the state of a fit of rows in many places: absorb, merge, finish
:func:`subspace_distance`    sine of the largest angle between two subspaces
:func:`distances_kept`       how well a projection preserves the distances between rows
:mod:`eigenspace.faces`      a face recognizer that enrolls and forgets people
:mod:`eigenspace.datasets`   images as rows, and the ORL faces
:mod:`eigenspace.plot`       plots (needs matplotlib)
:mod:`eigenspace.dask`       models of Dask collections (needs dask)
:mod:`eigenspace.spark`      models of Spark data frames (needs pyspark)
===========================  ==============================================================
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from ._accumulator import Accumulator
from ._core import (
    Certificate,
    EigenspaceError,
    FormatError,
    InternalError,
    Metadata,
    NotAPartError,
    __version__,
    set_threads,
    threads,
)
from ._measures import DistancesKept, distances_kept, principal_angles, reconstruction_error, subspace_distance
from ._model import EigenspaceModel

if TYPE_CHECKING:
    from ._batch import PCA
    from ._incremental import IncrementalPCA

_ESTIMATORS = {"IncrementalPCA": "._incremental", "PCA": "._batch"}
"""Modules of the estimators, imported on first use because importing scikit-learn is slow."""

__all__ = [
    "PCA",
    "Accumulator",
    "Certificate",
    "DistancesKept",
    "EigenspaceError",
    "EigenspaceModel",
    "FormatError",
    "IncrementalPCA",
    "InternalError",
    "Metadata",
    "NotAPartError",
    "__version__",
    "distances_kept",
    "principal_angles",
    "reconstruction_error",
    "set_threads",
    "subspace_distance",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name not in _ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    estimator = getattr(_import_module(_ESTIMATORS[name], __name__), name)
    globals()[name] = estimator
    return estimator


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
